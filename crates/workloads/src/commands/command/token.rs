//! The token of which a pattern's group is a part: the whole number, with its sign, exponent and unit.

use quantities::{Figure, Unit};
use std::ops::Range;

/// Words after a number that label it in many an output, such as `12 min, 15 avg`, and are units only where they
/// follow it directly.
const LABELS: [&str; 5] = ["m", "min", "h", "d", "b"];

/// The token around `group` of `text`. A word behind a space belongs to it if it is a unit, or the one that the
/// figure should have.
pub(super) fn token<'a>(text: &'a str, group: Range<usize>, wanted: &Unit) -> &'a str {
    let part = &text[group.clone()];
    let begin = group.start + (part.len() - part.trim_start().len());
    let end = begin + part.trim().len();
    let number = left(text, begin)..right(text, end);
    let with_unit = number.start..number.end + unit_length(&text[number.end..], wanted);
    &text[with_duration(text, with_unit)]
}

/// What may stand within a number.
fn is_separator(c: char) -> bool {
    matches!(c, '.' | ',' | '_' | '\'' | '’' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

fn is_sign(c: char) -> bool {
    matches!(c, '-' | '+' | '−')
}

/// Where the word of letters and digits that ends at the end of `text` begins.
fn word_start(text: &str) -> usize {
    text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len()
}

/// Where the number begins that goes on at `at`.
fn left(text: &str, at: usize) -> usize {
    let mut begin = at;
    while let Some(c) = text[..begin].chars().next_back() {
        let before = &text[..begin - c.len_utf8()];
        let follows_digit = before.ends_with(|c: char| c.is_ascii_digit());
        let has_digit = text[begin..].starts_with(|c: char| c.is_ascii_digit());
        let is_part = match c {
            _ if c.is_ascii_digit() => true,
            '.' if has_digit && !before.ends_with(char::is_alphanumeric) => true,
            ':' => has_digit && is_all_digits(&before[word_start(before)..]),
            _ if is_separator(c) => follows_digit && has_digit,
            _ if is_sign(c) && has_digit => {
                let power = before.strip_suffix(['e', 'E']).unwrap_or_default();
                power.ends_with(|c: char| c.is_ascii_digit() || c == '.')
                    || !before.ends_with(|c: char| c.is_alphabetic() || c == ')')
            }
            // Of `1e6`, `0x10` and `1m2.5s`, but not of `p6`.
            _ if c.is_alphabetic() => {
                let word = &text[word_start(&text[..begin])..begin];
                word.starts_with(|c: char| c.is_ascii_digit())
            }
            _ => false,
        };
        if !is_part {
            break;
        }
        begin -= c.len_utf8();
    }
    // A name with digits is no number: what was added from it stays with all of it.
    match &text[..begin] {
        name if begin < at && name.ends_with(|c: char| c.is_alphabetic() || c == '_') => {
            word_start(name)
        }
        _ => begin,
    }
}

fn is_all_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Where the number ends that begins before `at`, with the letters that follow it directly.
fn right(text: &str, at: usize) -> usize {
    let mut end = at;
    while let Some(c) = text[end..].chars().next() {
        let after = &text[end + c.len_utf8()..];
        let has_digit = text[..end].ends_with(|c: char| c.is_ascii_digit());
        let precedes_digit = after.starts_with(|c: char| c.is_ascii_digit());
        let is_part = match c {
            _ if c.is_alphanumeric() => true,
            '%' => has_digit,
            ':' => {
                let clock = after.bytes().take_while(u8::is_ascii_digit).count() == 2;
                has_digit && clock && is_all_digits(&text[word_start(&text[..end])..end])
            }
            _ if is_separator(c) => has_digit && precedes_digit,
            _ if is_sign(c) && precedes_digit => has_digit || text[..end].ends_with(['e', 'E']),
            '/' => after.starts_with(char::is_alphabetic) && is_unit_with(text, end, after),
            _ => false,
        };
        if !is_part {
            break;
        }
        end += c.len_utf8();
    }
    end
}

/// Whether the letters before `at`, a stroke and the word after it are a unit.
fn is_unit_with(text: &str, at: usize, after: &str) -> bool {
    let name = text[..at].trim_end_matches(|c: char| c.is_alphabetic()).len();
    let per = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
    Unit::read(&format!("{}/{}", &text[name..at], &after[..per])).is_known()
}

/// How long the unit is that follows a number behind spaces; 0 where none does.
fn unit_length(rest: &str, wanted: &Unit) -> usize {
    let word_at = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let word = |text: &str| {
        let end = text.find(|c: char| c.is_whitespace() || "()[]{}<>\"'`|;,".contains(c));
        end.unwrap_or(text.len())
    };
    let bare = |text: &str| text[..word(text)].trim_end_matches(['.', ':', '=']).len();
    let is_unit = |name: &str| {
        let unit = Unit::read(name);
        let adds = unit.is_known() && unit.convert(1.0, &Unit::bare()) != Some(1.0);
        !name.is_empty() && (name == wanted.symbol() || (adds && !LABELS.contains(&name)))
    };
    let first = &rest[word_at..][..bare(&rest[word_at..])];
    if word_at == 0 || first.is_empty() {
        return 0;
    }
    if is_unit(first) {
        return word_at + first.len();
    }
    // `12 k`, `1.5 M ops/s`, `2 million rows/s`: a multiple belongs to what it multiplies.
    let is_multiple = Figure::read_alone(&format!("1 {first}"))
        .is_ok_and(|figure| figure.number() > 1.0 && figure.unit().is_bare());
    let after = &rest[word_at + first.len()..];
    let space = after.len() - after.trim_start_matches(' ').len();
    let second = &after[space..][..bare(&after[space..])];
    match is_multiple {
        true if space > 0 && is_unit(second) => word_at + first.len() + space + second.len(),
        true if second.is_empty() => word_at + first.len(),
        _ => 0,
    }
}

/// The token with what a space separates from it in a duration: `1m 2.5s`.
fn with_duration(text: &str, token: Range<usize>) -> Range<usize> {
    let is_long = |word: &str| {
        Figure::read_alone(word).is_ok_and(|figure| {
            figure.unit().is_time() && figure.unit().scale() >= Unit::read("min").scale()
        })
    };
    let is_duration = |range: &Range<usize>| {
        let first = text[range.clone()].split(' ').next().unwrap_or_default();
        let whole = Figure::read_alone(&text[range.clone()]);
        is_long(first) && whole.is_ok_and(|figure| figure.unit().is_time())
    };
    let mut duration = token;
    loop {
        let before = text[..duration.start].strip_suffix(' ').unwrap_or_default();
        let after = text[duration.end..].strip_prefix(' ').unwrap_or_default();
        let word = |text: &str| {
            text.find(|c: char| !(c.is_alphanumeric() || c == '.')).unwrap_or(text.len())
        };
        let longer =
            [word_start(before)..duration.end, duration.start..duration.end + 1 + word(after)];
        let grows = |range: &&Range<usize>| range.len() > duration.len() + 1 && is_duration(range);
        match longer.iter().find(grows) {
            Some(longer) => duration = longer.clone(),
            None => return duration,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The token around the text between the marks.
    fn around(marked: &str, wanted: &str) -> String {
        let (before, rest) = marked.split_once('«').unwrap();
        let (group, after) = rest.split_once('»').unwrap();
        let text = format!("{before}{group}{after}");
        let range = before.len()..before.len() + group.len();
        token(&text, range, &Unit::read(wanted)).to_owned()
    }

    #[test]
    fn a_part_of_a_number_is_all_of_it() {
        let cases = [
            ("t=12.«5» x", "12.5"),
            ("t=«12».5", "12.5"),
            ("1.2e«6»", "1.2e6"),
            ("1.2e-«6»", "1.2e-6"),
            ("«1.2»E+6,", "1.2E+6"),
            ("-«1»", "-1"),
            ("x=-«1»", "-1"),
            ("x: \u{2212}«1»", "\u{2212}1"),
            ("1,234,«567»", "1,234,567"),
            ("«1»,234,567", "1,234,567"),
            ("1\u{202f}234«5»", "1\u{202f}2345"),
            ("0x«10»", "0x10"),
            ("0xff«10»", "0xff10"),
            ("1O«0»", "1O0"),
            ("10-«20»", "10-20"),
            ("2026-11-«26»", "2026-11-26"),
            ("0:01.«23»elapsed", "0:01.23elapsed"),
            ("«10».0.0.1", "10.0.0.1"),
            ("p99_«125»", "p99_125"),
            ("=.«5»", ".5"),
        ];
        for (marked, wanted) in cases {
            assert_eq!(around(marked, ""), wanted, "{marked}");
        }
    }

    #[test]
    fn names_and_punctuation_are_no_part_of_a_number() {
        for marked in [
            "p99:«12»",
            "p«12»",
            "size-«12»",
            "took«12»",
            "{\"ops\":«12»,\"n\":3}",
            "«12».",
            "«12», 13",
            "(«12»)",
            "«12»/34",
            "«12»; 5",
            "«12» of 34",
            "«12» min, 15 avg",
            "«12» points",
            "«12» rows",
            "5 «12» 6",
            "a=1, «12»",
            "12 M«12»",
            "«12» K items",
            "<td>«12»</td>",
            "«12»\nms",
        ] {
            assert_eq!(around(marked, ""), "12", "{marked}");
        }
    }

    #[test]
    fn the_unit_belongs_to_the_number() {
        let cases = [
            ("«300» \u{b5}s", "", "300 \u{b5}s"),
            ("«3»ms,", "", "3ms"),
            ("«3» ms.", "", "3 ms"),
            ("«3» MiB/s (x)", "", "3 MiB/s"),
            ("«3»/s", "", "3/s"),
            ("«3» ns/op", "", "3 ns/op"),
            ("«3.5»x", "", "3.5x"),
            ("«45»%", "", "45%"),
            ("«12» points", "points", "12 points"),
            ("«12» min", "min", "12 min"),
            ("«12» k\n", "", "12 k"),
            ("«1.5» M ops/s", "", "1.5 M ops/s"),
            ("«2» million rows/s", "", "2 million rows/s"),
            ("«12» kops", "", "12 kops"),
            ("took 1m«2.5»s", "", "1m2.5s"),
            ("took «1»m2.5s", "", "1m2.5s"),
            ("took 1h 1m «2.5»s now", "", "1h 1m 2.5s"),
            ("took «1»m 2.5s now", "", "1m 2.5s"),
            ("avg «2»ms 100us 3ms", "", "2ms"),
            ("avg «1»m  30s", "", "1m"),
        ];
        for (marked, wanted, token) in cases {
            assert_eq!(around(marked, wanted), token, "{marked}");
        }
    }
}
