//! Times of a load, for people.

use findings::format::significant;

/// A time in the unit that suits it.
pub fn time(ns: f64) -> String {
    match ns {
        _ if ns <= 0.0 => "–".into(),
        _ if ns < 1e3 => format!("{} ns", significant(ns)),
        _ if ns < 1e6 => format!("{} µs", significant(ns / 1e3)),
        _ if ns < 1e9 => format!("{} ms", significant(ns / 1e6)),
        _ => format!("{} s", significant(ns / 1e9)),
    }
}
