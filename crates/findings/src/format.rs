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

/// `thread` → `threads`, `address` → `addresses`; a plural stays.
pub fn plural(noun: &str) -> String {
    if noun.ends_with("ss") {
        format!("{noun}es")
    } else if noun.ends_with('s') {
        noun.to_owned()
    } else {
        format!("{noun}s")
    }
}

/// A number of things: `1 thread`, `10,000 threads`.
pub fn quantity(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {}", count(number), plural(noun)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_have_plurals() {
        let cases = [(1, "thread", "1 thread"), (2, "source address", "2 source addresses")];
        for (number, noun, text) in cases {
            assert_eq!(quantity(number, noun), text);
        }
        assert_eq!(quantity(10_000, "sockets"), "10,000 sockets");
    }
}
