//! Standard output: what may be printed on it, and what happens when its reader has gone.

use crate::exit::{Exit, Trouble};
use clap::{Args, ColorChoice, ValueEnum};
use printable::clean;
use report::layout::{Detail, Style};
use serde::Serialize;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

const WIDTH_OFF_TERMINAL: usize = 110;

/// Writes a text for people, without foreign escape sequences. A reader that has gone ends the command, quietly.
pub fn print(text: &str) -> Result<(), Trouble> {
    print_exactly(&clean(&printable::without_passwords(text), takes_colours()))
}

/// The same of a text that says what was done: `--quiet` prints none.
pub fn print_note(text: &str) -> Result<(), Trouble> {
    if is_quiet() { Ok(()) } else { print(text) }
}

/// Writes a text for programs to standard output, as it is. A reader that has gone ends the command, quietly.
pub fn print_exactly(text: &str) -> Result<(), Trouble> {
    stream(|out| out.write_all(text.as_bytes()))
}

/// Writes to standard output a piece at a time. A reader that has gone ends the command, quietly.
pub fn stream(content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Trouble> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    written(content(&mut out).and_then(|()| out.flush()))
}

pub fn written(result: io::Result<()>) -> Result<(), Trouble> {
    match result {
        Ok(()) if sys::stdout::was_closed() => {
            Err(Trouble::failed("writing to standard output: it is closed"))
        }
        Ok(()) => Ok(()),
        // No verdict passes for one that was read.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            Err(Trouble::shown(Exit::ReaderGone))
        }
        Err(error) => Err(Trouble::failed(format!("writing to standard output: {error}"))),
    }
}

pub fn print_json(value: &impl Serialize) -> Result<(), Trouble> {
    stream(|out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })
}

/// When output has colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal that has them, unless the variable `NO_COLOR` is set
    #[default]
    Auto,
    /// Always, also into a file or a pipe
    Always,
    /// Never
    Never,
}

/// Flags of every command that say what the terminal shows.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct ScreenFlags {
    /// Print the answer and errors only
    ///
    /// No progress, no notes and, without --all, no tables above the answer.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Colours: auto, always or never
    #[arg(long, alias = "colour", global = true, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub color: Color,
}

static QUIET: AtomicBool = AtomicBool::new(false);
static COLOR: OnceLock<Color> = OnceLock::new();

impl ScreenFlags {
    /// Makes them count for the rest of the process.
    pub fn apply(self) {
        // `knee ab` has two command lines; each may have them.
        QUIET.fetch_or(self.quiet, Ordering::Relaxed);
        if self.color != Color::Auto {
            COLOR.get_or_init(|| self.color);
        }
    }
}

pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

pub fn style(all: bool) -> Style {
    let width = match (columns(), terminal_size::terminal_size()) {
        (Some(columns), _) => columns,
        (None, Some((width, _))) if io::stdout().is_terminal() => usize::from(width.0),
        _ => WIDTH_OFF_TERMINAL,
    };
    let detail = match all {
        true => Detail::All,
        false if is_quiet() => Detail::Answer,
        false => Detail::Headline,
    };
    Style { colour: takes_colours(), width, detail }
}

pub fn style_of_progress() -> Style {
    let width = columns()
        .or_else(|| terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| width.0.into()));
    Style { colour: false, width: width.unwrap_or(WIDTH_OFF_TERMINAL), detail: Detail::Answer }
}

fn takes_colours() -> bool {
    match COLOR.get().unwrap_or(&Color::Auto) {
        Color::Auto => io::stdout().is_terminal() && may_decorate(),
        Color::Always => true,
        Color::Never => false,
    }
}

/// When the parser's help has colours: its own rule knows no empty `TERM`.
pub fn help_colours() -> ColorChoice {
    if may_decorate() { ColorChoice::Auto } else { ColorChoice::Never }
}

pub fn draws_progress() -> bool {
    !is_quiet() && io::stderr().is_terminal() && may_move()
}

/// Whether the terminal takes colours and movement, and the user wants them.
fn may_decorate() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && may_move()
}

/// Whether the terminal can draw over a line that it has drawn.
fn may_move() -> bool {
    std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|&columns| columns > 0)
}
