//! Reads what a figure that a command prints is called, its unit, and which of two is better.

use record::PrintedFigure;

/// Units that a pattern may say without a word of its own: what is not per something, and not a share. Each is so
/// many of a unit that reports know.
const UNITS: [(&str, f64, &str); 20] = [
    ("ns", 1.0, "ns"),
    ("us", 1e3, "ns"),
    ("\u{b5}s", 1e3, "ns"),
    ("\u{3bc}s", 1e3, "ns"),
    ("usec", 1e3, "ns"),
    ("ms", 1e6, "ns"),
    ("msec", 1e6, "ns"),
    ("s", 1e9, "ns"),
    ("sec", 1e9, "ns"),
    ("seconds", 1e9, "ns"),
    ("B", 1.0, "B"),
    ("bytes", 1.0, "B"),
    ("kB", 1e3, "B"),
    ("KB", 1e3, "B"),
    ("MB", 1e6, "B"),
    ("GB", 1e9, "B"),
    ("KiB", 1024.0, "B"),
    ("MiB", 1_048_576.0, "B"),
    ("GiB", 1_073_741_824.0, "B"),
    ("%", 1.0, "%"),
];

/// How many of a unit that reports know a printed unit is, and that unit; none where reports don't know it.
///
/// ```
/// assert_eq!(engine::unit_of_reports("msec"), Some((1e6, "ns")));
/// assert_eq!(engine::unit_of_reports("ops/s"), None);
/// ```
pub fn unit_of_reports(printed: &str) -> Option<(f64, &'static str)> {
    let row = UNITS.into_iter().find(|(typed, ..)| *typed == printed);
    row.map(|(_, scale, unit)| (scale, unit))
}

/// Reads `NAME=PATTERN` or `NAME[UNIT]=PATTERN`. Where no unit is named, it is the word at the group of the
/// pattern: `ops/s` of `ops/s: ([0-9.]+)`. Of a figure per second more is better, of others less.
///
/// ```
/// let ops = engine::read_figure("ops=ops/s: ([0-9.]+)").unwrap();
/// assert_eq!((ops.unit.as_str(), ops.lower_is_better), ("ops/s", false));
/// ```
///
/// # Errors
/// With one line.
pub fn read_figure(typed: &str) -> Result<PrintedFigure, String> {
    let example = "such as 'ops=([0-9.]+) ops/s'";
    let wrong = || format!("`{typed}` names no figure ({example})");
    let (name, pattern) = typed.split_once('=').ok_or_else(wrong)?;
    let (name, unit) = match name.trim().strip_suffix(']').and_then(|name| name.split_once('[')) {
        Some((name, unit)) => (name.trim(), Some(unit.trim().to_owned())),
        None => (name.trim(), None),
    };
    let may_be_in_name =
        |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '/' | '.' | '+' | '%');
    if name.is_empty() || !name.chars().all(may_be_in_name) {
        return Err(wrong());
    }
    let unit = unit.unwrap_or_else(|| unit_of(pattern));
    let lower_is_better = !unit.ends_with("/s") && !unit.ends_with("/sec");
    Ok(PrintedFigure { name: name.to_owned(), unit, pattern: pattern.to_owned(), lower_is_better })
}

/// The unit next to the first group of a pattern; empty where there is none.
fn unit_of(pattern: &str) -> String {
    let (before, group) = pattern.split_once('(').unwrap_or((pattern, ""));
    let after = group.split_once(')').map_or("", |(_, after)| after);
    let after = after.trim_start_matches([' ', '?', '*', '+']).trim_start_matches("\\s");
    let first = after.trim_start_matches(['*', '+', '?', ' ']).split_whitespace().next();
    let last = before.split_whitespace().next_back();
    let word = |word: Option<&str>| {
        let word = word?.trim_end_matches(['$', ':', '=', ',', '.', ';']).trim_start_matches('^');
        is_unit(word).then(|| word.to_owned())
    };
    word(first).or_else(|| word(last)).unwrap_or_default()
}

fn is_unit(word: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && part.chars().all(char::is_alphabetic);
    unit_of_reports(word).is_some()
        || word.split_once('/').is_some_and(|(what, per)| is_plain(what) && is_plain(per))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(typed: &str) -> (String, String, bool) {
        let figure = read_figure(typed).unwrap();
        (figure.name, figure.unit, figure.lower_is_better)
    }

    fn figure(name: &str, unit: &str, lower_is_better: bool) -> (String, String, bool) {
        (name.to_owned(), unit.to_owned(), lower_is_better)
    }

    #[test]
    fn the_unit_stands_at_the_figure() {
        assert_eq!(read("ops=ops/s: ([0-9.eE+]+)"), figure("ops", "ops/s", false));
        assert_eq!(read("rate=([0-9.]+) MB/s"), figure("rate", "MB/s", false));
        assert_eq!(read("latency=p99 ([0-9.]+)ms"), figure("latency", "ms", true));
        assert_eq!(read("t=real\\s+([0-9.]+)"), figure("t", "", true));
        assert_eq!(read("memory=peak ([0-9]+)\\s*KiB$"), figure("memory", "KiB", true));
        assert_eq!(read("p=([0-9.]+) usec"), figure("p", "usec", true));
        assert_eq!(read("p=([0-9.]+) \u{3bc}s"), figure("p", "\u{3bc}s", true));
        assert_eq!(read("hits [%]=([0-9.]+)"), figure("hits", "%", true));
        assert_eq!(read("score[points]=score ([0-9]+)=x"), figure("score", "points", true));
    }

    #[test]
    fn a_figure_has_a_name() {
        for wrong in ["([0-9]+)", "=([0-9]+)", "a\nb=(x)", "\u{202e}=(x)"] {
            assert!(read_figure(wrong).is_err(), "{wrong}");
        }
    }
}
