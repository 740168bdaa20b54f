//! Tables of figures that other programs wrote: a file of separated values becomes a run, as if knee had measured it.
//!
//! `request` holds what a caller asks for, and `formats` what it need not say of tables of known programs. `source`
//! opens the file and splits it into lines, `head` finds the one with the names, and `exports` and `samples` make a
//! table of what is none. `columns` finds the named columns, `axis` and `figures` read their fields (`numbers` judges
//! their decimal signs, `unit` knows what they are, `tail` takes numbers from names), `rows` selects the rows, and
//! `build` makes the run. An error of the file is one line that says where it is.
#![forbid(unsafe_code)]

mod axis;
mod build;
mod columns;
mod error;
mod exports;
mod figures;
mod formats;
mod head;
mod numbers;
mod request;
mod rows;
pub mod samples;
mod source;
mod tail;
mod unit;

use columns::Columns;
pub use error::Error;
use formats::Format;
use model::{Run, Warning};
pub use request::TableRequest;
use rows::Taken;
pub use source::Input;
use source::Source;
use unit::Unit;

/// The name of the workload that does nothing: a table of that name would be taken for the harness's control.
pub const RESERVED_NAME: &str = "null";

/// A table from elsewhere.
pub struct Foreign {
    /// The run that it would have been.
    pub run: Run,
    /// The names of its points, where x is words.
    pub named_points: Option<Vec<String>>,
}

impl Foreign {
    /// The run of the table `name`, where its points are numbers: words do not grow.
    ///
    /// # Errors
    /// With the column, where they are words.
    pub fn with_numbers(self, name: &str) -> Result<Run, Error> {
        if self.named_points.is_none() {
            return Ok(self.run);
        }
        let x = &self.run.plan.workloads[0].axis_parameter;
        Err(Error::Refused(format!(
            "--x: {x} is words in {name}, and a run has numbers there; `knee analyse` compares words"
        )))
    }
}

/// Reads the table in `input` as `request` says. `words` is the command line.
pub fn read(request: &TableRequest, input: Input, words: Vec<String>) -> Result<Foreign, Error> {
    let (input, completed, warnings) = input.into_table(request)?;
    let request = completed.as_ref().unwrap_or(request);
    let is_header =
        |fields: &[String]| request.is_header(fields) || Format::recognised(fields).is_some();
    let mut source = Source::new(input, &is_header)?;
    let header = source.header()?;
    if let Some(series) = request.series(&header) {
        let names = series.iter().map(|column| header[*column].as_str());
        let unit = Unit::shared(names, request.unit.as_deref())
            .map_err(|what| Error::Refused(format!("{}: {what}", source.name)))?;
        let header = source.widen(&header, series);
        return read_table(&request.of_long(), source, &header, Some(unit), words, warnings);
    }
    let format = Format::recognised(&header);
    let completed = format.map(|format| format.completed(request));
    let request = completed.as_ref().unwrap_or(request);
    read_table(request, source, &header, None, words, warnings)
}

/// Reads the lines below the names. The figures are in `unit`, or in that of their column.
fn read_table(
    request: &TableRequest,
    mut source: Source,
    header: &[String],
    unit: Option<Unit>,
    words: Vec<String>,
    warnings: Vec<Warning>,
) -> Result<Foreign, Error> {
    let columns = Columns::find(request, header, &source)?;
    let unit = unit.unwrap_or_else(|| Unit::new(columns.name(columns.y), request.unit.as_deref()));
    let rows = Taken::read(&mut source, header, &columns, unit)?;
    build::foreign(request, words, &source, &columns, rows, warnings)
}

/// Programs whose tables and exports need no flags, each with its flags that write them.
pub fn recognised() -> String {
    let mut names: Vec<String> = formats::names().chain(exports::names()).collect();
    names.sort_by_key(|name| name.to_lowercase());
    names.join(", ")
}

/// `text` for a message or a table: on one line, without unprintable characters, and cut at a line's length.
fn one_line(text: &str) -> String {
    const CHARS_MAX: usize = 120;
    let line = printable::one_line(text);
    if line.chars().count() <= CHARS_MAX {
        return line;
    }
    let head: String = line.chars().take(CHARS_MAX - 1).collect();
    format!("{}…", head.trim_end())
}

/// `a`, `a and b`, `a, b and c`; of a long list the first few, and the number of the rest.
fn listed<T: AsRef<str>>(items: &[T]) -> String {
    const ITEMS_MAX: usize = 8;
    let all: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match all.as_slice() {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [rest @ .., last] if all.len() <= ITEMS_MAX => format!("{} and {last}", rest.join(", ")),
        _ => format!("{} and {} more", all[..ITEMS_MAX - 1].join(", "), all.len() + 1 - ITEMS_MAX),
    }
}

/// The names most like `name`, at most three. Capitals make no difference.
fn nearest<'a>(name: &str, names: &'a [String]) -> Vec<&'a str> {
    let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let candidates = quantities::nearest(&name.to_lowercase(), &lower);
    let original = |name| lower.iter().position(|lower| *lower == name).map(|at| &*names[at]);
    candidates.into_iter().filter_map(original).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_on_one_line() {
        assert_eq!(one_line("a\n\tb\x1b[31m"), "a b [31m");
        assert_eq!(one_line("a\u{202e}b\u{2066}c\u{2028}d \u{200f}\u{feff} e"), "a b c d e");
        assert_eq!(one_line(&"x".repeat(500)).chars().count(), 120);
    }

    #[test]
    fn capitals_make_no_difference_between_names() {
        let names = ["Threads", "pipes", "Thread"].map(String::from);
        assert_eq!(nearest("THRED", &names), ["Thread", "Threads"]);
        assert_eq!(nearest("PIPE", &names), ["pipes"]);
        assert_eq!(nearest("xyz", &names), [""; 0]);
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
        let many: Vec<String> = (1..=20).map(|n| n.to_string()).collect();
        assert_eq!(listed(&many), "1, 2, 3, 4, 5, 6, 7 and 13 more");
    }
}
