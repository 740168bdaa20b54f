//! Cleans texts from elsewhere before they are printed or exported: a process, a record or a page may have put
//! anything into them. This is the only place that decides which characters pass.
//!
//! [`quantity()`] writes numbers of things, [`significant`] figures of three digits.
#![forbid(unsafe_code)]

mod quantity;
mod spreadsheet;
mod url;

pub use quantity::{bytes, count, plural, quantity, significant};
pub use spreadsheet::{for_spreadsheet, from_spreadsheet};
pub use url::{
    HIDDEN, database_without_passwords, is_without_user_info, percent_decoded, without_passwords,
    without_user_info, word_without_user_info,
};

/// The text without escape sequences and invisible characters, each of which becomes a space. Lines and tabs
/// stay, and so do colours if `with_colours`.
pub fn clean(text: &str, with_colours: bool) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let colour = colour_bytes(rest).filter(|_| with_colours);
        let (piece, after) = rest.split_at(colour.unwrap_or(first.len_utf8()));
        let passes = colour.is_some() || matches!(first, '\n' | '\t') || is_printable(first);
        cleaned.push_str(if passes { piece } else { " " });
        rest = after;
    }
    cleaned
}

/// The text with a space for each character that is not printable, line feeds and tabs among them.
pub fn replace_unprintable(text: &str) -> String {
    text.chars().map(|c| if is_printable(c) { c } else { ' ' }).collect()
}

/// The text on one line, each run of spaces as one space, without spaces at its ends.
pub fn one_line(text: &str) -> String {
    replace_unprintable(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

const ESCAPE: char = '\u{1b}';

/// The length of the escape sequence for a colour or a weight at the start of a text.
fn colour_bytes(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix(ESCAPE)?.strip_prefix('[')?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[end..].starts_with('m').then_some(end + 3)
}

/// Whether a character may be printed: no control character, and none that is invisible itself but turns,
/// hides or breaks its neighbours, such as the bidirectional controls (U+202E).
///
/// The joiners of letters (U+200C, U+200D) pass: words of some languages are misspelt without them.
pub fn is_printable(c: char) -> bool {
    let is_format_control = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    !c.is_control() && !is_format_control
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_lines_and_colours_and_no_other_sequence() {
        let red = "a\tb\n\u{1b}[1;31mred\u{1b}[0m ×1.2 µs ▲";
        assert_eq!(clean(red, true), red);
        assert_eq!(clean(red, false), "a\tb\n [1;31mred [0m ×1.2 µs ▲");
        let clear = "\u{1b}[2J\u{1b}]0;title\u{7}\r\u{9b}2J\u{202e}x\u{1b}[3";
        assert_eq!(clean(clear, true), " [2J ]0;title   2J x [3");
        assert_eq!(clean("\u{1b}", true), " ");
        assert_eq!(clean("", true), "");
    }

    #[test]
    fn a_text_on_one_line_has_no_sequence_at_all() {
        assert_eq!(replace_unprintable("a\tb\n\u{1b}[31mc"), "a b  [31mc");
        assert_eq!(one_line(" a\n\tb\u{1b}[1m  c\u{202e}d "), "a b [1m c d");
    }
}
