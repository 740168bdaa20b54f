//! How figures, classes and lists are written: one place, so that a table, a finding and a chart agree.

mod commands;
mod figures;
mod functions;

pub use commands::{resume_command, shell_word};
pub use figures::*;
pub use functions::{function_name, short_function};
pub use printable::{count, plural, quantity};

use analysis::{Estimate, Shares};

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

/// The 95 % CI of an estimate behind its figure: ` (95 % 8.10 to 9.00)`; nothing where there is none.
pub fn interval(estimate: Estimate, figure: fn(f64) -> String) -> String {
    if estimate.low < estimate.high {
        format!(" (95 % {} to {})", figure(estimate.low), figure(estimate.high))
    } else {
        String::new()
    }
}

/// A ratio as a multiple or as a percentage: `1.2`, `83 %`.
pub fn proportion(ratio: f64, is_multiple: bool) -> String {
    if is_multiple { multiple(ratio) } else { percent(ratio) }
}

/// A ratio with its word: `83 % active`, or `1.2 per CPU`.
pub fn share(shares: &Shares, ratio: f64) -> String {
    format!("{} {}", proportion(ratio, shares.multiple), shares.word)
}

/// A number of bytes with its unit, a power of 1000: `512 MB`.
pub fn bytes(number: u64) -> String {
    match number as f64 {
        bytes if bytes < 1e3 => format!("{} bytes", significant(bytes)),
        bytes if bytes < 1e6 => format!("{} kB", significant(bytes / 1e3)),
        bytes if bytes < 1e9 => format!("{} MB", significant(bytes / 1e6)),
        bytes => format!("{} GB", significant(bytes / 1e9)),
    }
}

/// A time with its unit: `3.50 µs`. A dash where there is none.
pub fn time(ns: f64) -> String {
    match ns {
        _ if ns <= 0.0 => "–".into(),
        _ if ns < 1e3 => format!("{} ns", significant(ns)),
        _ if ns < 1e6 => format!("{} µs", significant(ns / 1e3)),
        _ if ns < 1e9 => format!("{} ms", significant(ns / 1e6)),
        _ => format!("{} s", significant(ns / 1e9)),
    }
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
