//! Texts from elsewhere, as they may be printed: a process, a record or a page can say what it likes.

/// The text in its lines without orders to the terminal, but for colours where they are wanted: whatever is
/// printed, a stranger's words may be in it.
pub fn plain(text: &str, with_colours: bool) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(one) = rest.chars().next() {
        let order = colour(rest).filter(|_| with_colours);
        let (piece, after) = rest.split_at(order.unwrap_or(one.len_utf8()));
        let may = order.is_some() || matches!(one, '\n' | '\t') || is_printable(one);
        kept.push_str(if may { piece } else { " " });
        rest = after;
    }
    kept
}

/// The text on one line, without any order at all.
pub fn on_one_line(text: &str) -> String {
    text.chars().map(|one| if is_printable(one) { one } else { ' ' }).collect()
}

const ESCAPE: char = '\u{1b}';

/// The length of the order for a colour or a weight that a text begins with.
fn colour(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix(ESCAPE)?.strip_prefix('[')?;
    let end = numbers.find(|one: char| !one.is_ascii_digit() && one != ';')?;
    numbers[end..].starts_with('m').then_some(end + 3)
}

/// Whether a character of a text from elsewhere may be printed as it is: it is no control character,
/// and none that is not seen itself, but turns, hides or breaks what is beside it.
///
/// The joiners of letters (U+200C, U+200D) may: words of some languages are misspelt without them.
pub fn is_printable(one: char) -> bool {
    let unseen = matches!(one,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    !one.is_control() && !unseen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_lines_and_colours_and_no_other_order() {
        let red = "a\tb\n\u{1b}[1;31mred\u{1b}[0m ×1.2 µs ▲";
        assert_eq!(plain(red, true), red);
        assert_eq!(plain(red, false), "a\tb\n [1;31mred [0m ×1.2 µs ▲");
        let clear = "\u{1b}[2J\u{1b}]0;title\u{7}\r\u{9b}2J\u{202e}x\u{1b}[3";
        assert_eq!(plain(clear, true), " [2J ]0;title   2J x [3");
        assert_eq!(plain("\u{1b}", true), " ");
        assert_eq!(plain("", true), "");
        assert_eq!(on_one_line("a\tb\n\u{1b}[31mc"), "a b  [31mc");
    }
}
