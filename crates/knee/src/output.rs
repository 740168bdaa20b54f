//! Standard output: what may be printed on it, and what happens when its reader has gone.

use crate::exit::Trouble;
use printable::clean;
use report::layout::{Detail, Style};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

/// Columns where the output goes to a file or a pipe.
const WIDTH_OFF_TERMINAL: usize = 110;

/// Writes a text for people to standard output, without foreign escape sequences. A reader that has gone
/// ends the command, quietly.
pub fn print(text: &str) -> Result<(), Trouble> {
    print_exactly(&clean(&record::without_user_info(text), takes_colours()))
}

/// Writes a text for programs to standard output, as it is. A reader that has gone ends the command, quietly.
pub fn print_exactly(text: &str) -> Result<(), Trouble> {
    stream(|out| out.write_all(text.as_bytes()))
}

/// Writes to standard output what `content` writes, a piece at a time. A reader that has gone ends
/// the command, quietly.
pub fn stream(content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Trouble> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match content(&mut out).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Trouble::reader_gone()),
        Err(error) => Err(Trouble::failed(format!("writing to standard output: {error}"))),
    }
}

/// Writes JSON to standard output, with a line feed.
pub fn print_json(value: &serde_json::Value) -> Result<(), Trouble> {
    print_exactly(&format!("{value:#}\n"))
}

/// How tables are to look here.
pub fn style(all: bool) -> Style {
    let width = match (columns(), terminal_size::terminal_size()) {
        (Some(columns), _) => columns,
        (None, Some((width, _))) if io::stdout().is_terminal() => usize::from(width.0),
        _ => WIDTH_OFF_TERMINAL,
    };
    let detail = if all { Detail::All } else { Detail::Headline };
    Style { colour: takes_colours(), width, detail }
}

fn takes_colours() -> bool {
    io::stdout().is_terminal() && may_decorate()
}

/// Whether the terminal takes colours and movement, and the user wants them.
pub fn may_decorate() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && may_move()
}

/// Whether the terminal can draw over a line that it has drawn.
pub fn may_move() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term != "dumb")
}

fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|&columns| columns > 0)
}
