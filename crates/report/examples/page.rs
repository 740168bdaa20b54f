//! Writes the page of a hand-made run to standard output: `cargo run -p report --example page`.
//!
//! Arguments: samples a cell (100), then `two` for a second run laid over the first.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let samples = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(100);
    let mut runs = vec![fixture::realistic(samples)];
    if arguments.next().as_deref() == Some("two") {
        runs.push(fixture::slower(samples));
    }
    println!("{}", report::html::page(&runs));
}
