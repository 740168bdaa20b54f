//! Lengths of time: `100ns`, `30ms`, `2s`, `1m 30s`.

use crate::{Decimal, Error};
use std::time::Duration;

/// The longest time that a flag takes: a day.
pub const TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads a length of time of at most [`TIME_MAX`]: `100ns`, `1.5us`, `30ms`, `2s`, `1m 30s`, and `0`.
///
/// # Errors
/// If it is no length of time: a number has to name its unit.
pub fn time(text: &str) -> Result<Duration, Error> {
    let typed = text.trim();
    if typed == "0" {
        return Ok(Duration::ZERO);
    }
    if Decimal::read(typed).is_some() {
        return Err(Error::new(format!("`{typed}` has no unit (write {typed}s or {typed}ms)")));
    }
    let wrong =
        || Error::new(format!("`{typed}` is not a length of time (such as 30ms, 2s or 1m)"));
    // `2M` is two million, and no time; the parser would take it for minutes.
    if typed.contains('M') {
        return Err(wrong());
    }
    let span: jiff::SignedDuration = typed.parse().map_err(|_| wrong())?;
    match Duration::try_from(span).map_err(|_| wrong())? {
        time if time <= TIME_MAX => Ok(time),
        _ => Err(Error::new(format!("`{typed}` is longer than a day"))),
    }
}

/// Reads a length of time of at least a millisecond, as [`time()`] does.
///
/// # Errors
/// As those of [`time()`], and where it is shorter.
pub fn time_from_ms(text: &str) -> Result<Duration, Error> {
    let time = time(text)?;
    if time.as_millis() == 0 {
        return Err(Error::new(format!("`{}` is shorter than a millisecond", text.trim())));
    }
    Ok(time)
}

/// Reads a length of time as nanoseconds.
///
/// # Errors
/// As those of [`time()`].
pub fn time_ns(text: &str) -> Result<u64, Error> {
    // A day has fewer nanoseconds than a u64 holds.
    time(text).map(|time| time.as_nanos() as u64)
}

/// Reads a length of time of at least a millisecond for a flag whose name says seconds: there, a bare
/// number has its unit.
///
/// # Errors
/// As those of [`time_from_ms`].
pub fn seconds(text: &str) -> Result<Duration, Error> {
    match Decimal::read(text.trim()) {
        Some(_) => time_from_ms(&format!("{}s", text.trim())),
        None => time_from_ms(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_type_them() {
        assert_eq!(time("0"), Ok(Duration::ZERO));
        assert_eq!(time_ns("100ns"), Ok(100));
        assert_eq!(time_ns("1.5us"), Ok(1_500));
        assert_eq!(time_from_ms("30ms"), Ok(Duration::from_millis(30)));
        assert_eq!(time_from_ms("1m 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(time_from_ms("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(time_from_ms("24h"), Ok(TIME_MAX));
        for wrong in ["", "0ms", "0", "-1s", "soon", "10", "900h", "2M", "1µ", "999us"] {
            assert!(time_from_ms(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "-1ns", "soon", "1.5", "99999999999999999999"] {
            assert!(time_ns(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_bare_number_needs_a_unit_in_the_name() {
        assert_eq!(seconds("5"), Ok(Duration::from_secs(5)));
        assert_eq!(seconds("2.5"), Ok(Duration::from_millis(2500)));
        assert_eq!(seconds("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(time("5").unwrap_err().to_string(), "`5` has no unit (write 5s or 5ms)");
        for wrong in ["", "0", "-1", "inf", "nan"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
