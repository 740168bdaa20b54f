//! How figures, classes and lists are written: one place, so that a table, a finding and a chart agree.

pub use analysis::words::*;

use analysis::{Estimate, Shares};

pub use analysis::trust::widths::length as duration;

/// The 95 % CI of an estimate behind its figure: ` (95 % 8.10 to 9.00)`; nothing where there is none.
pub fn interval(of: Estimate, figure: fn(f64) -> String) -> String {
    if of.low < of.high {
        format!(" (95 % {} to {})", figure(of.low), figure(of.high))
    } else {
        String::new()
    }
}

/// A ratio with its word: `83 % active`, or `1.2 per CPU`.
pub fn share(shares: &Shares, ratio: f64) -> String {
    let figure = if shares.multiple { multiple(ratio) } else { percent(ratio) };
    format!("{figure} {}", shares.word)
}
