//! How figures, classes and lists are written: one place, so that a table, a finding and a chart agree.

pub(crate) mod attributed;
mod commands;
mod figures;
mod functions;

pub use commands::{record_flag, resume_command, shell_word};
pub use figures::*;
pub use functions::{function_name, short_function};
pub use printable::{bytes, count, plural, quantity, significant};

use analysis::{Estimate, Shares};
use model::{Rank, RankMeasured};

/// A length of time in whole units: `2 min`, `1 min 30 s`.
pub fn duration(ms: u64) -> String {
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    let rest = ms % 1_000;
    let parts = match ms {
        0..1_000 => vec![(ms, "ms")],
        1_000..10_000 if rest > 0 => return format!("{:.1} s", ms as f64 / 1_000.0),
        _ => vec![(hours, "h"), (minutes, "min"), (seconds, "s")],
    };
    let nonzero = parts.into_iter().filter(|(number, _)| *number > 0);
    nonzero.map(|(number, unit)| format!("{number} {unit}")).collect::<Vec<_>>().join(" ")
}

/// The 95 % CI of an estimate behind its figure: ` (95 % CI 8.10–9.00)`; nothing where there is none.
pub fn interval(estimate: Estimate, figure: impl Fn(f64) -> String) -> String {
    estimate.ci().map_or_else(String::new, |ends| {
        let [low, high] = ends.map(figure);
        format!(" ({})", ci(&low, &high))
    })
}

/// A 95 % CI by its ends: `95 % CI 8.10–9.00`. A sign or a unit would hide a dash: `95 % CI -0.01 to 0.03`.
pub fn ci(low: &str, high: &str) -> String {
    let hides = |end: &str| end.starts_with('-') || end.contains(' ');
    let dash = if hides(low) || hides(high) { " to " } else { "–" };
    format!("95 % CI {low}{dash}{high}")
}

/// Clauses one behind the other, without those that are absent or empty.
pub(crate) fn clauses(all: impl IntoIterator<Item = Option<String>>) -> String {
    let present = all.into_iter().flatten().filter(|clause| !clause.is_empty());
    present.collect::<Vec<_>>().join(", ")
}

/// What a rank did of a load of several processes: `on node1: 2,500 replies; began 0.104 ms after the start (clock ± 0.048 ms); busiest thread 3.1 %`.
pub fn rank_sentence(rank: &Rank) -> String {
    let Some(measured) = &rank.measured else { return "missing".to_owned() };
    let &RankMeasured { replies, start_late_ns, clock_bound_ns, late, busy_share, .. } = measured;
    let sent_late = if late == 0 {
        String::new()
    } else {
        format!(", {} sent late", quantity(late, "request"))
    };
    format!(
        "on {}: {} replies{sent_late}; began {:.3} ms after the start (clock ± {:.3} ms); busiest thread {}",
        measured.host,
        count(replies),
        start_late_ns as f64 / 1e6,
        clock_bound_ns as f64 / 1e6,
        percent(busy_share),
    )
}

/// A ratio as a multiple or as a percentage: `1.2`, `83 %`.
pub fn proportion(ratio: f64, is_multiple: bool) -> String {
    if is_multiple { multiple(ratio) } else { percent(ratio) }
}

/// A ratio with its word: `83 % active`, or `1.2 per CPU`.
pub fn share(shares: &Shares, ratio: f64) -> String {
    format!("{} {}", proportion(ratio, shares.multiple), shares.word)
}

/// A size in KiB with the largest unit, a power of 1024, that keeps it whole or in halves: `48 KiB`, `1.5 MiB`, `1 GiB`.
pub fn size(kib: u64) -> String {
    let units = [(1 << 20, "GiB"), (1 << 10, "MiB")];
    let unit = units.into_iter().find(|(unit, _)| kib >= *unit && (2 * kib).is_multiple_of(*unit));
    match unit {
        Some((unit, name)) if kib.is_multiple_of(unit) => format!("{} {name}", kib / unit),
        Some((unit, name)) => format!("{}.5 {name}", kib / unit),
        None => format!("{} KiB", count(kib)),
    }
}

/// A time with its unit: `3.50 µs`. A dash where there is none.
pub fn time(ns: f64) -> String {
    if ns <= 0.0 { "–".into() } else { Unit::for_table("ns", &[ns]).with_symbol(ns) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_whole_units() {
        let texts = [500, 1_500, 34_200, 60_000, 90_000, 7_200_000, 3_723_000].map(duration);
        let expected = ["500 ms", "1.5 s", "34 s", "1 min", "1 min 30 s", "2 h", "1 h 2 min 3 s"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn sizes_are_whole_or_halves() {
        let texts = [4, 48, 1_024, 1_536, 2_048, 3_000, 491_520, 1 << 20].map(size);
        let expected =
            ["4 KiB", "48 KiB", "1 MiB", "1.5 MiB", "2 MiB", "3,000 KiB", "480 MiB", "1 GiB"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn bytes_and_times_have_the_unit_that_suits_them() {
        assert_eq!(
            [512, 4_200, 300_000_000, 8_192_000_000].map(bytes).join(" · "),
            "512 bytes · 4.20 kB · 300 MB · 8.19 GB"
        );
        assert_eq!(
            [0.0, 3.5, 3_500.0, 12e6, 2e9].map(time).join(" · "),
            "– · 3.50 ns · 3.50 µs · 12.0 ms · 2.00 s"
        );
    }
}
