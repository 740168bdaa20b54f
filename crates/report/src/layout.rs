//! Text within the width of a terminal: a pen that paints and breaks lines, for every command.
//!
//! Two ways to break a line: [`wrapped`] also breaks long words and at hyphens, so that it always fits;
//! [`wrapped_whole`] never cuts a word, because a reader may want to type it.

use anstyle::{AnsiColor, Effects, Style as Paint};
use textwrap::{Options, WordSeparator, WordSplitter};

pub use textwrap::core::display_width;

/// How to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether colours and weights may be used; every word is there without them too.
    pub colour: bool,
    /// Columns of the terminal; fewer than 40 are taken as 40.
    pub width: usize,
    /// How much to show.
    pub detail: Detail,
}

/// How much to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The answer, and nothing that it rests on.
    Answer,
    /// The headline metric of each workload; the others are named.
    Headline,
    /// Every table and every finding.
    All,
}

/// The narrowest terminal that is laid out for.
pub const WIDTH_MIN: usize = 40;
/// Columns before what belongs to the line above.
pub const INDENT: usize = 2;
/// Columns between two columns of figures; the mark of the left one stands in it.
pub const GAP: usize = 3;

/// As the terminal writes.
pub const PLAIN: Paint = Paint::new();
/// A heading.
pub const BOLD: Paint = Paint::new().effects(Effects::BOLD);
/// What can be skipped.
pub const DIM: Paint = Paint::new().effects(Effects::DIMMED);
/// What is good.
pub const GOOD: Paint = AnsiColor::Green.on_default();
/// What deserves attention.
pub const NOTABLE: Paint = AnsiColor::Yellow.on_default();
/// What is bad.
pub const BAD: Paint = AnsiColor::Red.on_default();
/// What is so bad that nothing else matters.
pub const ALARM: Paint = BAD.effects(Effects::BOLD);

/// Writes lines within a width, with or without colour.
#[derive(Clone, Copy, Debug)]
pub struct Pen {
    /// Whether it paints.
    pub colour: bool,
    /// Columns of a line.
    pub width: usize,
}

impl Pen {
    /// A pen for this style.
    pub fn new(style: &Style) -> Self {
        Self { colour: style.colour, width: style.width.max(WIDTH_MIN) }
    }

    /// One line, without blanks at its end.
    pub fn line(&self, out: &mut String, text: &str) {
        out.push_str(if self.colour { text } else { text.trim_end() });
        out.push('\n');
    }

    /// The text in a colour or weight.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        if self.colour && !text.is_empty() && paint != PLAIN {
            format!("{paint}{text}{paint:#}")
        } else {
            text.to_owned()
        }
    }

    /// A bold line.
    pub fn heading(&self, out: &mut String, text: &str) {
        self.line(out, &self.paint(BOLD, text));
    }

    /// A text in lines of this colour: the first begins after `first` columns, the others after `rest`.
    pub fn paragraph(
        &self,
        out: &mut String,
        paint: Paint,
        text: &str,
        (first, rest): (usize, usize),
    ) {
        for line in wrapped(text, self.width, first, rest) {
            self.line(out, &self.paint(paint, &line));
        }
    }

    /// A text without a cut word, the first line after `first` columns, the others after `rest`.
    pub fn whole(&self, out: &mut String, text: &str, (first, rest): (usize, usize)) {
        for line in wrapped_whole(text, self.width, first, rest) {
            self.line(out, &line);
        }
    }

    /// A sentence that begins at the margin.
    pub fn sentence(&self, out: &mut String, text: &str) {
        self.paragraph(out, PLAIN, text, (0, INDENT));
    }

    /// A sentence below a heading.
    pub fn indented(&self, out: &mut String, text: &str) {
        self.paragraph(out, PLAIN, text, (INDENT, 2 * INDENT));
    }

    /// A note below a table.
    pub fn aside(&self, out: &mut String, text: &str) {
        self.paragraph(out, DIM, text, (INDENT, 2 * INDENT));
    }
}

/// The display width of the widest text; 0 of none.
pub fn widest<T: AsRef<str>>(texts: impl Iterator<Item = T>) -> usize {
    texts.map(|text| display_width(text.as_ref())).max().unwrap_or_default()
}

/// Right-aligned in `width` columns.
pub fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(display_width(text))))
}

/// Left-aligned in `width` columns.
pub fn left(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
}

/// A line as it is where it fits; else broken at spaces, its indentation kept.
pub fn folded(line: &str, width: usize) -> Vec<String> {
    let width = width.max(WIDTH_MIN);
    if display_width(line) <= width {
        return vec![line.trim_end().to_owned()];
    }
    let text = line.trim_start();
    let indent = line.len() - text.len();
    wrapped(text, width, indent, indent + INDENT)
}

/// A text in lines of `width` columns: the first begins after `first` columns, the others after `rest`.
pub fn wrapped(text: &str, width: usize, first: usize, rest: usize) -> Vec<String> {
    lines(text, Options::new(width), first, rest)
}

/// The same without cutting a word: a command, a path or a name stays whole, even where it does not fit.
pub fn wrapped_whole(text: &str, width: usize, first: usize, rest: usize) -> Vec<String> {
    let options = Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    lines(text, options, first, rest)
}

fn lines(text: &str, options: Options, first: usize, rest: usize) -> Vec<String> {
    let (first, rest) = (" ".repeat(first), " ".repeat(rest));
    let options = options.initial_indent(&first).subsequent_indent(&rest);
    textwrap::wrap(text, options).into_iter().map(std::borrow::Cow::into_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_that_are_not_typed_have_cut_words() {
        let text = "run knee-with-hyphens now";
        assert_eq!(wrapped(text, 12, 0, 2), ["run knee-", "  with-", "  hyphens", "  now"]);
        assert_eq!(wrapped_whole(text, 12, 0, 2), ["run", "  knee-with-hyphens", "  now"]);
    }

    #[test]
    fn a_pen_without_colour_writes_no_escapes() {
        let pen = |colour| Pen::new(&Style { colour, width: 1, detail: Detail::All });
        assert_eq!(pen(false).paint(BOLD, "a"), "a");
        assert_ne!(pen(true).paint(BOLD, "a"), "a");
        assert_eq!(pen(true).paint(PLAIN, "a"), "a");
        assert_eq!(pen(true).width, WIDTH_MIN);
    }
}
