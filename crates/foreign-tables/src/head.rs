//! The head of a file: where its line of column names is, and what separates its fields.
//!
//! Programs write titles, warnings and facts of the machine above a table. The names that were asked for say which
//! line has the columns' names.

use crate::one_line;
use crate::source::{LINE_MAX, Padding, decoded};
use csv::{ReaderBuilder, Trim};
use quantities::Figure;
use std::io::{self, BufRead, Read};

/// The line of names is looked for in so many lines.
const LINES_MAX: usize = 200;
/// And in so many bytes, where one line is longer.
const BYTES_MAX: usize = LINE_MAX;

/// The first lines of a file.
pub struct Head {
    pub bytes: Vec<u8>,
}

/// Where a table begins.
pub struct Start {
    /// The first byte of the line of names.
    pub offset: usize,
    /// Its number, counted from 1.
    pub line: u64,
    /// What separates the fields.
    pub separator: u8,
    /// The first line above it that has anything in it.
    pub preamble: Option<String>,
}

/// One line of the head.
struct HeadLine {
    offset: usize,
    number: u64,
    fields: Vec<String>,
    separator: u8,
}

impl Head {
    /// Reads the first lines, and no more than is needed to find the names.
    pub fn read(input: &mut impl BufRead) -> io::Result<Head> {
        let mut bytes = Vec::new();
        // What is longer is refused where all lines are looked at.
        let mut input = input.take(BYTES_MAX as u64 + 1);
        let mut lines = 0;
        while lines < LINES_MAX {
            let from = bytes.len();
            if input.read_until(b'\n', &mut bytes)? == 0 {
                break;
            }
            lines += usize::from(!bytes[from..].trim_ascii().is_empty());
        }
        Ok(Head { bytes })
    }

    /// Where the table begins: at the first line that `is_header` takes, or else at the first line of names that
    /// the next one has as many fields as, or else at the first line.
    pub fn start(&self, is_header: &dyn Fn(&[String]) -> bool) -> Result<Start, String> {
        // A line without end is refused as such, where all lines are looked at.
        if self.bytes.contains(&0) && self.bytes.len() <= BYTES_MAX {
            return Err(
                "has bytes that are 0: it is UTF-16 without a mark, or no text; save it as UTF-8"
                    .into(),
            );
        }
        let (declared, lines) = self.lines();
        let (Some(first), header) =
            (lines.first(), lines.iter().find(|line| is_header(&line.fields)))
        else {
            return Err("is empty; it needs a line of column names".into());
        };
        let as_next = || {
            let pair = lines.windows(2).find(|pair| {
                let (count, next) =
                    (pair[0].fields.len(), pair[1].fields_by(pair[0].separator, self));
                // Figures are no names: a line of them has lost its names, or has more commas than these.
                let is_named =
                    !pair[0].fields.iter().any(|field| Figure::read_alone(field).is_ok());
                count > 1 && next == count && is_named
            });
            pair.map(|pair| &pair[0])
        };
        let line = header.or_else(as_next).unwrap_or(first);
        let above = &self.bytes[first.offset..line.offset];
        let preamble =
            String::from_utf8_lossy(above.split(|&byte| byte == b'\n').next().unwrap_or(above));
        Ok(Start {
            offset: line.offset,
            line: line.number,
            separator: declared.unwrap_or(line.separator),
            preamble: (line.number > first.number).then(|| one_line(&preamble)),
        })
    }

    /// The separator that the first line declares (`sep=;`), and the lines that have anything in them.
    fn lines(&self) -> (Option<u8>, Vec<HeadLine>) {
        let (mut declared, mut lines) = (None, Vec::new());
        let mut offset = 0;
        for (number, text) in (1..).zip(self.bytes.split_inclusive(|&byte| byte == b'\n')) {
            let bare = text.trim_ascii();
            if lines.is_empty() && declared.is_none() && declaration(bare).is_some() {
                declared = declaration(bare);
            } else if !bare.is_empty() {
                let separator = declared.unwrap_or_else(|| separator(text));
                lines.push(HeadLine { offset, number, fields: fields(text, separator), separator });
            }
            offset += text.len();
        }
        (declared, lines)
    }
}

impl HeadLine {
    /// How many fields it has by this separator.
    fn fields_by(&self, separator: u8, head: &Head) -> usize {
        let rest = &head.bytes[self.offset..];
        let line = rest.split(|&byte| byte == b'\n').next().unwrap_or(rest);
        fields(line, separator).len()
    }
}

/// `sep=;`, which spreadsheets write and read.
fn declaration(line: &[u8]) -> Option<u8> {
    let bare = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match bare.get(..4)?.eq_ignore_ascii_case(b"sep=").then(|| bare.get(4..))?? {
        // A tab is trimmed away.
        [] => Some(b'\t'),
        [separator] if b",;\t|".contains(separator) => Some(*separator),
        _ => None,
    }
}

fn fields(line: &[u8], separator: u8) -> Vec<String> {
    let mut unpadded = line.to_vec();
    let kept = Padding::new(separator, 1).remove(&mut unpadded, 0..line.len(), 0);
    let mut reader = ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .trim(Trim::All)
        .from_reader(&unpadded[..kept]);
    let record = reader.byte_records().next().and_then(Result::ok).unwrap_or_default();
    record.iter().map(|field| one_line(&decoded(field))).collect()
}

/// What separates the fields of this line: of comma, semicolon and tab the one that stands there
/// most often, outside of quotes.
fn separator(line: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [(b',', 0_usize), (b';', 0), (b'\t', 0)];
    for &byte in line {
        quoted ^= byte == b'"';
        for (_, count) in counts.iter_mut().filter(|(sign, _)| *sign == byte && !quoted) {
            *count += 1;
        }
    }
    // Of equals the first: max_by_key would take the last.
    counts.iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(sign, _)| *sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(text: &str, names: &[&str]) -> (u64, u8, Option<String>) {
        let head = Head { bytes: text.as_bytes().to_vec() };
        let start = head
            .start(&|fields| {
                !names.is_empty()
                    && names.iter().all(|name| fields.iter().any(|field| field == name))
            })
            .unwrap();
        (start.line, start.separator, start.preamble)
    }

    #[test]
    fn the_separator_is_what_stands_between_the_names() {
        assert_eq!(separator(b"a,b,c\n"), b',');
        assert_eq!(separator(b"a;b;\"c,d,e,f\"\n"), b';');
        assert_eq!(separator(b"a\tb, c\td\n"), b'\t');
        assert_eq!(separator(b"alone\n"), b',');
    }

    #[test]
    fn the_names_are_found_below_what_a_program_says_first() {
        let titled = "A title, of\n\nrun 3\nn, us\n1, 2\n";
        let title = Some("A title, of".to_owned());
        assert_eq!(start(titled, &["n", "us"]), (4, b',', title.clone()));
        assert_eq!(start(titled, &["n", "ms"]), (4, b',', title), "where the next has as many");
        assert_eq!(start("n,us\n1,2\n", &["m"]), (1, b',', None));
        assert_eq!(start("n\n1\n", &[]), (1, b',', None));
        assert_eq!(start("n,ms\n1,2,5\n2,3,5\n", &[]), (1, b',', None), "figures are no names");
        assert_eq!(start("sep=;\nn,m;us\n1;2\n", &["us"]), (2, b';', None));
        assert_eq!(start("\"SEP=,\"\r\nn;us\r\n", &[]), (2, b',', None));
        assert_eq!(start("a; \"b;c\" ;d\n1;2;3\n", &["b;c"]), (1, b';', None));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let head = Head { bytes: b"n\0,\0u\0".to_vec() };
        assert!(head.start(&|_| false).is_err_and(|why| why.contains("UTF-16")));
    }
}
