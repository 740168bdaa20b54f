//! Quantities and names as people type them, read in one place, with one syntax.
//!
//! | quantity | syntax | read by |
//! | --- | --- | --- |
//! | count | `100`, `9k`, `2.5k`, `1M`, `1_000` | [`count()`], [`count_within`] |
//! | rate | as a count, with a fraction: `0.5`, `2.5k` | [`rate`] |
//! | bytes | `0`, `4096B`, `512k`, `16M`, `1G` (powers of 1024) | [`bytes()`] |
//! | time | `100ns`, `30ms`, `2s`, `1m 30s` | [`time()`], [`time_from_ms`] |
//! | time, where the name has the unit | also a bare number: `--seconds 5` | [`seconds`] |
//! | percentage | `10%`, `2.5 %` | [`percentage`] |
//! | multiple | `4x`, `1.5x`, `1/2x` | [`Value`] |
//! | value of a parameter | a count, a percentage, a multiple or a word | [`Value`] |
//!
//! Figures as programs print them are read by [`Figure`], with their [`Unit`].
//!
//! A suffix means one thing: `m` is minutes and belongs to a time, `M` is million (of bytes, 1024²), so a
//! count of `2m` is refused. A quantity that has a unit names it; only 0 needs none.
//!
//! A [`template`] has words in braces, which have values: `sort {n}.txt`.
//!
//! A family of names stands for its members ([`expanded`]). [`nearest`] finds the names that a mistyped one may have meant.
#![forbid(unsafe_code)]

mod better;
mod bytes;
mod count;
mod decimal;
mod figure;
mod names;
mod share;
pub mod template;
mod time;
mod unit;
mod value;

pub use better::Better;
pub use bytes::bytes;
pub use count::{COUNT_MAX, count, count_within, rate};
pub use decimal::Decimal;
pub use figure::{DecimalSign, Figure, FigureError};
pub use names::{did_you_mean, expanded, families, nearest};
pub use share::{percentage, slowdown};
pub use time::{TIME_MAX, seconds, time, time_from_ms, time_ns};
pub use unit::Unit;
pub use value::{Multiple, Share, Value};

/// Why a text is not the quantity that is expected: one line, with an example.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    fn new(message: impl Into<String>) -> Error {
        Error(message.into())
    }
}

impl From<Error> for String {
    fn from(error: Error) -> String {
        error.0
    }
}
