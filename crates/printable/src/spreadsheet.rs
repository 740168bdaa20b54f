//! Texts in files that spreadsheets open: one that begins as a formula does would be run.

use std::borrow::Cow;

/// The sign that keeps a spreadsheet from taking a text for a formula.
const QUOTE: char = '\'';

/// How formulas begin, also behind what spreadsheets skip.
const FORMULA_STARTS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// The text with an apostrophe in front if it begins as a formula does, or as such a text with its apostrophe.
///
/// Numbers don't go through this: `-1` is one.
pub fn for_spreadsheet(text: &str) -> Cow<'_, str> {
    if text.trim_start_matches(QUOTE).starts_with(FORMULA_STARTS) {
        Cow::Owned(format!("{QUOTE}{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text that [`for_spreadsheet`] made `cell` of, if it put an apostrophe there.
pub fn from_spreadsheet(cell: &str) -> Option<&str> {
    let text = cell.strip_prefix(QUOTE)?;
    text.trim_start_matches(QUOTE).starts_with(FORMULA_STARTS).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back_and_never_begins_as_a_formula_does() {
        for text in
            ["=1+1", "+1", "-j 4", "@SUM(A1)", "\tx", "\r", "'=1", "''-1", "'", "'a", "a=1", ""]
        {
            let cell = for_spreadsheet(text);
            assert!(!cell.starts_with(FORMULA_STARTS), "{cell}");
            assert_eq!(from_spreadsheet(&cell).unwrap_or(&cell), text);
        }
        assert_eq!(for_spreadsheet("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
        assert_eq!(for_spreadsheet("epoll-level"), "epoll-level");
    }
}
