//! Writes the page of a hand-made run to standard output: `cargo run -p knee-report --example page`.
//!
//! Arguments: samples a cell (100), then `two` for a second run laid over the first, `alike` for lines that
//! lie on each other, `pipetest` or
//! `pipetest-two` for runs with their points down and a map, `foreign` for a table of somebody else, `dead` for an axis from zero on,
//! `lock` for multiples and waiting times, `lock-model` with a prediction laid over it, `model` for it alone, `build` or `build-cpus` for averages,
//! `profile` or `profile-two` for profiles of as many subjects as the first argument says, `profile-forks` of a trajectory,
//! `profile-lone` of one cell,
//! `trajectory` or `trajectory-two` for every call timed; these take rounds (5) and subjects (5) too.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use fixture::trajectory::{self, Size};
use fixture::{build, dead, locks, pipetest, profile};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let samples = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(100);
    let kind = arguments.next();
    let mut number = |usual| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let size = Size { calls: samples as u64, rounds: number(5), subjects: number(5) as usize };
    let runs = match kind.as_deref() {
        Some("alike") => vec![fixture::alike(samples)],
        Some("two") => vec![fixture::realistic(samples), fixture::slower(samples)],
        Some("pipetest") => vec![pipetest::pipetest(samples)],
        Some("pipetest-two") => vec![pipetest::pipetest(samples), pipetest::slower(samples)],
        Some("trajectory") => vec![trajectory::before(size)],
        Some("trajectory-two") => vec![trajectory::before(size), trajectory::after(size)],
        Some("dead") => vec![dead::dead(samples)],
        Some("lock") => vec![locks::locks(5)],
        Some("lock-model") => vec![locks::locks(5), locks::predicted(5)],
        Some("model") => vec![locks::predicted(5)],
        Some("build") => vec![build::build(&[2])],
        Some("build-cpus") => vec![build::build(&[1, 2])],
        Some("profile") => vec![profile::profiled(samples)],
        Some("profile-two") => vec![profile::profiled(samples), profile::slower(samples)],
        Some("profile-forks") => vec![profile::forks()],
        Some("profile-lone") => vec![profile::lone()],
        Some("foreign") => vec![pipetest::foreign()],
        _ => vec![fixture::realistic(samples)],
    };
    println!("{}", report::html::page(&runs));
}
