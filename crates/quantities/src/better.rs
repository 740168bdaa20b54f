//! Which of two figures is better, as far as their unit and their name say.

use crate::Unit;

/// Which figures are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Times and costs.
    Lower,
    /// Rates and throughput.
    Higher,
}

/// Names of figures of which more is better; rates are too.
const MORE_IS_BETTER: [&str; 13] = [
    "ops",
    "throughput",
    "bandwidth",
    "goodput",
    "speedup",
    "pps",
    "fps",
    "flops",
    "bps",
    "kbps",
    "mbps",
    "gbps",
    "tbps",
];
/// Beginnings of names of what is unwanted, however much of it there is in a time.
const UNWANTED: [&str; 30] = [
    "error", "fail", "miss", "timeout", "drop", "retr", "fault", "lost", "loss", "abort", "collis",
    "reject", "refus", "denied", "denial", "4xx", "5xx", "stall", "pause", "wait", "throttl",
    "crash", "conflict", "deadlock", "evict", "cost", "price", "dollar", "usd", "eur",
];

impl Better {
    /// Of figures in this unit and of this name; none where neither says so.
    ///
    /// ```
    /// use quantities::Better;
    ///
    /// assert_eq!(Better::read("ms", "startup"), Some(Better::Lower));
    /// assert_eq!(Better::read("pages/s", ""), Some(Better::Higher));
    /// assert_eq!(Better::read("", "throughput"), Some(Better::Higher));
    /// assert_eq!(Better::read("/s", "errors"), None);
    /// assert_eq!(Better::read("ms/s", "CPU"), None);
    /// assert_eq!(Better::read("", "score"), None);
    /// ```
    pub fn read(symbol: &str, name: &str) -> Option<Better> {
        let unit = Unit::read(symbol);
        let name = format!("{name} {symbol}").to_lowercase();
        let words = || name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let is_more = unit.is_rate() || words().any(|word| MORE_IS_BETTER.contains(&word));
        match is_more {
            _ if unit.is_time() => Some(Better::Lower),
            // Less of a wait, and more of work.
            _ if unit.is_share_of_time() => None,
            true if words().any(|word| UNWANTED.iter().any(|bad| word.starts_with(bad))) => None,
            true => Some(Better::Higher),
            // So much for each operation is a cost.
            false if symbol.contains('/') => Some(Better::Lower),
            false => None,
        }
    }
}
