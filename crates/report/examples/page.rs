//! Writes the page of a hand-made run to standard output: `cargo run -p report --example page`.
//!
//! Arguments: samples a cell (100), then `two` for a second run laid over the first, `pipetest` or
//! `pipetest-two` for runs with their points down and a map, `foreign` for a table of somebody else.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use fixture::pipetest;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let samples = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(100);
    let runs = match arguments.next().as_deref() {
        Some("two") => vec![fixture::realistic(samples), fixture::slower(samples)],
        Some("pipetest") => vec![pipetest::pipetest(samples)],
        Some("pipetest-two") => vec![pipetest::pipetest(samples), pipetest::slower(samples)],
        Some("foreign") => vec![pipetest::foreign()],
        _ => vec![fixture::realistic(samples)],
    };
    println!("{}", report::html::page(&runs));
}
