//! Reads what a figure that a command prints is called, its unit, and which of two is better.

use engine::PrintedFigure;
use quantities::{Better, Unit};
use regex_lite::Regex;

/// Reads `NAME=PATTERN` or `NAME[UNIT]=PATTERN`. Where no unit is named, it is the word at the group of the
/// pattern: `ops/s` of `ops/s: ([0-9.]+)`. Unit and name say which of two is better, or it is a guess.
///
/// ```
/// let ops = suites::read_figure("ops=ops/s: ([0-9.]+)").unwrap();
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
    let unit = unit.unwrap_or_else(|| pattern_unit(pattern));
    let better = Better::read(&unit, name);
    Ok(PrintedFigure {
        name: name.to_owned(),
        unit,
        pattern: pattern.to_owned(),
        lower_is_better: better != Some(Better::Higher),
        direction_assumed: better.is_none(),
    })
}

/// The unit next to the first group of a pattern; empty where there is none. Of several units of one kind, such as
/// those of `(?:µs|ms)`, it is the base unit.
fn pattern_unit(pattern: &str) -> String {
    let (before, after) = around_group(pattern).unwrap_or((pattern, ""));
    let after = after.trim_start_matches([' ', '?', '*', '+']).trim_start_matches("\\s");
    let first = first_word(after.trim_start_matches(['*', '+', '?', ' ']));
    let last = before.split_whitespace().next_back().unwrap_or_default();
    let bare = |word: &str| {
        let word = word.trim_end_matches(['$', ':', '=', ',', '.', ';']).trim_start_matches('^');
        word.to_owned()
    };
    let is_unit = |word: &String| !word.is_empty() && has_unit(word);
    let literal = [first, last].map(bare).into_iter().find(is_unit);
    literal.or_else(|| matched_unit(first)).unwrap_or_default()
}

fn has_unit(word: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && part.chars().all(char::is_alphabetic);
    let is_symbol = |c: char| c.is_alphabetic() || matches!(c, '/' | '%');
    (word.chars().all(is_symbol) && Unit::read(word).is_known())
        || word.split_once('/').is_some_and(|(what, per)| is_plain(what) && is_plain(per))
}

/// The unit that a part of a pattern stands for, where all that it matches are of one kind.
fn matched_unit(part: &str) -> Option<String> {
    let part = Regex::new(&format!("\\A(?:{})\\z", part.trim_end_matches('$'))).ok()?;
    let mut bases: Vec<String> = Unit::symbols()
        .iter()
        .filter(|symbol| part.is_match(symbol))
        .map(|symbol| Unit::read(symbol).base())
        .collect();
    bases.dedup();
    match bases.as_slice() {
        [base] => Some(base.clone()),
        _ => None,
    }
}

/// What stands before and after the first group of a pattern that captures.
fn around_group(pattern: &str) -> Option<(&str, &str)> {
    let mut syntax = Syntax::default();
    let mut start = None;
    for (at, c) in pattern.char_indices() {
        let depth = syntax.depth;
        syntax.step(c);
        let captures = || {
            let group = &pattern[at + 1..];
            !group.starts_with('?') || group.starts_with("?P<") || group.starts_with("?<")
        };
        match start {
            None if syntax.depth > depth && captures() => start = Some((at, depth)),
            Some((start, outside)) if syntax.depth < depth && syntax.depth == outside => {
                return Some((&pattern[..start], &pattern[at + 1..]));
            }
            _ => {}
        }
    }
    None
}

/// The part of a pattern up to its first space.
fn first_word(pattern: &str) -> &str {
    let mut syntax = Syntax::default();
    for (at, c) in pattern.char_indices() {
        let is_space = c.is_whitespace() || pattern[at..].starts_with("\\s");
        if is_space && syntax == Syntax::default() {
            return &pattern[..at];
        }
        syntax.step(c);
    }
    pattern
}

/// Where in the syntax of a pattern a character stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Syntax {
    depth: usize,
    is_in_class: bool,
    is_escaped: bool,
}

impl Syntax {
    fn step(&mut self, c: char) {
        let is_plain = !self.is_escaped && !self.is_in_class;
        match c {
            '\\' if !self.is_escaped => return self.is_escaped = true,
            '(' if is_plain => self.depth += 1,
            ')' if is_plain => self.depth = self.depth.saturating_sub(1),
            '[' if is_plain => self.is_in_class = true,
            ']' if !self.is_escaped => self.is_in_class = false,
            _ => {}
        }
        self.is_escaped = false;
    }
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
        assert_eq!(read("net=([0-9.]+) Gbps"), figure("net", "Gbps", false));
        assert_eq!(read("n=([0-9]+) of"), figure("n", "", true));
    }

    #[test]
    fn several_units_of_one_kind_are_their_base_unit() {
        for pattern in [
            "took ([0-9.]+) (?:\u{b5}s|ms)",
            "([0-9.]+) ?([mun]s|s)$",
            "((?:[0-9]|\\.)+)\\s*[m\u{b5}]?s",
            "(?:took|in) ([0-9.]+)(ms|s) \\(total\\)",
        ] {
            assert_eq!(read(&format!("t={pattern}")), figure("t", "ns", true), "{pattern}");
        }
        assert_eq!(read("rate=([0-9.]+) [KMG]?B/s"), figure("rate", "B/s", false));
        assert_eq!(read("x=([0-9.]+) (?:ms|MB)"), figure("x", "", true));
        assert_eq!(read("x=([0-9.]+) .*"), figure("x", "", true));
    }

    #[test]
    fn a_figure_has_a_name() {
        for wrong in ["([0-9]+)", "=([0-9]+)", "a\nb=(x)", "\u{202e}=(x)"] {
            assert!(read_figure(wrong).is_err(), "{wrong}");
        }
    }
}
