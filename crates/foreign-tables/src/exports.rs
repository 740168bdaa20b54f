//! What known programs export, when it is no table of one line a figure: each is a file of `exports`, and one row here.
//!
//! An export gives measurements. They are written as the table that a user would have written by hand, with the flags that
//! read it: what varies and is a number is x, or else makes tables; what varies and is words is compared.

use crate::{TableRequest, listed, one_line};
use model::Warning;
use quantities::{DecimalSign, Figure};
use serde::de::DeserializeOwned;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The column of what was measured.
const NAME: &str = "name";
/// What the numbers in names are called that have no name of their own.
const N: &str = "n";
/// Which statistic of one thing a figure is, such as p99: they are not compared with each other.
const STATISTIC: &str = "statistic";

/// How a known program exports what it measured.
pub struct Export {
    program: &'static str,
    /// The program's flags that export it.
    option: &'static str,
    /// Whether a file with this head is one.
    is_head: fn(&[u8]) -> bool,
    /// Whether a file with this head is one of separated values, whose columns may be named as they are, too.
    is_table: fn(&[u8]) -> bool,
    /// What it holds, or why nothing can be read.
    read: fn(&[u8]) -> Result<Measurements, String>,
}

/// Declares each module, and gives its export a row.
macro_rules! table {
    ($($program:ident,)*) => {
        $(mod $program;)*

        const TABLE: &[Export] = &[$($program::EXPORT,)*];
    };
}

table! {
    benchmark_dotnet,
    criterion,
    divan,
    fio,
    google_benchmark,
    hyperfine,
    jmh,
    pytest_benchmark,
    wrk,
}

/// What an export holds.
#[derive(Debug, Default)]
pub struct Measurements {
    rows: Vec<ExportRow>,
    /// Rows that the program made of others; the first one's name.
    summaries: Vec<String>,
    /// What else a reader must know: failures that the program reported, what was skipped.
    warnings: Vec<Warning>,
}

/// One measurement: some figures of one thing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportRow {
    name: String,
    /// The same with the place of the number that was taken from it; empty where none was.
    template: String,
    /// What is known to vary, by name.
    parameters: Vec<(String, String)>,
    /// Figures by name, each as text with its unit. The first one of the first row is y.
    figures: Vec<(String, String)>,
}

/// An export as a table.
pub struct Exported {
    pub table: Vec<u8>,
    /// What was asked for, completed.
    pub request: TableRequest,
    pub warnings: Vec<Warning>,
}

/// The programs, each with its option: for help.
pub fn names() -> impl Iterator<Item = String> {
    TABLE.iter().map(|export| format!("{} ({})", export.program, export.option))
}

/// The export that begins like this.
pub fn recognised(head: &[u8]) -> Option<&'static Export> {
    TABLE.iter().find(|export| (export.is_head)(head) || (export.is_table)(head))
}

impl Export {
    /// The table in `bytes`, as `request` wants it; none if that names columns of the export itself.
    pub fn table(&self, bytes: &[u8], request: &TableRequest) -> Result<Option<Exported>, String> {
        let is_table = (self.is_table)(bytes);
        let measurements = match (self.read)(bytes) {
            // Read by its own columns, it needs no knowledge of the program.
            Err(_) if is_table && request.x.is_some() && request.y.is_some() => return Ok(None),
            read => read
                .map_err(|why| format!(" begins like an export of {}, but {why}", self.program))?,
        };
        if measurements.rows.is_empty() {
            return Err(format!(" is an export of {}, but has no figure", self.program));
        }
        if is_table && !measurements.has_all(request) {
            return Ok(None);
        }
        measurements.table(self.program, request).map(Some)
    }
}

impl ExportRow {
    /// A row whose parameters are the numbers in its name, of several without a name the last: `BM_Sort/64/threads:4`.
    fn named(name: &str) -> ExportRow {
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let parts: Vec<&str> = name.split('/').collect();
        let last = (1..parts.len()).rev().find(|&at| !parts[at].is_empty() && is_number(parts[at]));
        let mut row = ExportRow::default();
        row.parameters.extend(last.map(|at| (N.to_owned(), parts[at].to_owned())));
        let number = placed(N);
        let mut rest = Vec::new();
        for (at, part) in parts.into_iter().enumerate() {
            match part.split_once(':') {
                _ if Some(at) == last => rest.push(number.as_str()),
                Some((key, number)) if at > 0 && !number.is_empty() && is_number(number) => {
                    row.parameters.push((key.to_owned(), number.to_owned()));
                }
                _ => rest.push(part),
            }
        }
        if last.is_some() {
            row.template = rest.join("/");
        }
        rest.retain(|part| *part != number);
        row.name = rest.join("/");
        row
    }

    /// A value by name.
    fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn figure(&self, name: &str) -> Option<&str> {
        self.figures.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Adds a figure, where there is one.
    fn add(&mut self, name: &str, value: Option<f64>, unit: &str) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.figures.push((name.to_owned(), format!("{value} {unit}")));
        }
    }
}

impl Measurements {
    /// Whether what is asked for is here by these names.
    fn has_all(&self, request: &TableRequest) -> bool {
        let names = |row: &ExportRow| -> Vec<String> {
            row.parameters.iter().chain(&row.figures).map(|(name, _)| name.clone()).collect()
        };
        let all: BTreeSet<String> = self.rows.iter().flat_map(names).chain([NAME.into()]).collect();
        let TableRequest { x, y, by, per, round, whole, sd, wheres, .. } = request;
        let wheres = wheres.iter().filter_map(|selection| selection.split_once('='));
        let asked = x.iter().chain(y).chain(by).chain(per).chain(round).chain(whole).chain(sd);
        let mut asked = asked.map(String::as_str).chain(wheres.map(|(name, _)| name.trim()));
        asked.all(|name| all.contains(name))
    }

    fn table(mut self, program: &str, request: &TableRequest) -> Result<Exported, String> {
        distinguish(&mut self.rows);
        let x = self.x(request)?;
        let y = self.y(request)?;
        let (rows, left_out): (Vec<&ExportRow>, Vec<&ExportRow>) =
            self.rows.iter().partition(|row| {
                row.figure(&y).is_some() && (x == NAME || row.parameter(&x).is_some())
            });
        let varying = varying(&rows);
        let (numbers, words): (Vec<&str>, Vec<&str>) =
            varying.iter().copied().filter(|name| *name != x).partition(|name| {
                let is_all = |row: &&ExportRow| row.parameter(name).is_none_or(is_number);
                *name == STATISTIC || rows.iter().all(is_all)
            });
        let mut completed =
            TableRequest { x: Some(x.clone()), y: Some(y.clone()), ..request.clone() };
        if completed.by.is_empty() && x != NAME {
            completed.by = [NAME].iter().chain(&words).map(ToString::to_string).collect();
        }
        let follows_x: Vec<&str> =
            numbers.iter().copied().filter(|name| follows(&rows, name, &x)).collect();
        if completed.per.is_empty() {
            let is_table = |name: &&&str| {
                let is_taken = completed.by.iter().any(|by| by == **name);
                !is_taken && !follows_x.contains(name) && (x != NAME || **name == STATISTIC)
            };
            completed.per = numbers.iter().filter(is_table).map(ToString::to_string).collect();
        }
        // Programs write points, whatever the language.
        completed.decimal.get_or_insert(DecimalSign::Point);
        let mut warnings = vec![crate::formats::taken_for(program, &completed, None)];
        warnings.extend(follows_x.iter().map(|name| Warning {
            what: format!("{name} grows with {x}, and so its effect can't be separated"),
            remedy: String::new(),
        }));
        warnings.extend(passed_over(&self.summaries));
        warnings.extend(self.warnings.iter().cloned());
        warnings.extend(without(&left_out, &rows, &x, &y));
        let has_figure = |name: &&str| rows.iter().any(|row| row.figure(name).is_some());
        let sd = request.sd.as_deref().filter(has_figure);
        let figures: Vec<&str> = [y.as_str()].into_iter().chain(sd).collect();
        let table = written(&rows, &x, &figures, &[numbers, words].concat())
            .map_err(|error| format!(": {error}"))?;
        Ok(Exported { table, request: completed, warnings })
    }

    /// What grows: what was asked for, or the parameter that has the most numbers in the most rows.
    fn x(&self, request: &TableRequest) -> Result<String, String> {
        let rows: Vec<&ExportRow> = self.rows.iter().collect();
        let numbers_of = |name: &&str| {
            let numbers = rows.iter().filter_map(|row| row.parameter(name));
            numbers.filter(|value| is_number(value)).collect::<Vec<&str>>()
        };
        if let Some(asked) = &request.x {
            let all = rows.iter().flat_map(|row| &row.parameters).map(|(name, _)| name.as_str());
            let all: BTreeSet<&str> = all.chain([NAME]).collect();
            return chosen("--x", asked, &all);
        }
        let varying = varying(&rows);
        let best = varying.iter().rev().max_by_key(|name| {
            let numbers = numbers_of(name);
            let points: BTreeSet<&&str> = numbers.iter().collect();
            (points.len() > 1, numbers.len(), points.len())
        });
        let best = best.filter(|name| numbers_of(name).iter().collect::<BTreeSet<_>>().len() > 1);
        Ok((*best.unwrap_or(&NAME)).to_owned())
    }

    /// The figure: what was asked for, or the first.
    fn y(&self, request: &TableRequest) -> Result<String, String> {
        let all = self.rows.iter().flat_map(|row| &row.figures).map(|(name, _)| name.as_str());
        match &request.y {
            Some(asked) => chosen("--y", asked, &all.collect()),
            None => all.map(str::to_owned).next().ok_or_else(|| " has no figure".to_owned()),
        }
    }
}

/// Names rows with the place of their number where others, with another place, have the same name.
fn distinguish(rows: &mut [ExportRow]) {
    let mut templates: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.template.is_empty()) {
        templates.entry(row.name.clone()).or_default().insert(row.template.clone());
    }
    for row in rows.iter_mut().filter(|row| !row.template.is_empty()) {
        if templates[&row.name].len() > 1 {
            row.name.clone_from(&row.template);
        }
    }
}

/// Says what was left out altogether, and what takes it instead.
fn without(left_out: &[&ExportRow], taken: &[&ExportRow], x: &str, y: &str) -> Option<Warning> {
    // The statistic of a figure that is not asked for is none of another one's.
    let is_within = |row: &ExportRow, taken: &ExportRow| {
        let mut own = row.parameters.iter().filter(|(name, _)| name != STATISTIC);
        taken.name == row.name && own.all(|pair| taken.parameters.contains(pair))
    };
    let has_x = |row: &ExportRow| x == NAME || row.parameter(x).is_some();
    let is_lost =
        |row: &&&ExportRow| !has_x(row) || !taken.iter().any(|taken| is_within(row, taken));
    let lost: Vec<&&ExportRow> = left_out.iter().filter(is_lost).collect();
    let names: BTreeSet<String> = lost.iter().map(|row| one_line(&row.name)).collect();
    let names: Vec<String> = names.into_iter().collect();
    let first = lost.first()?;
    let lacks_x = x != NAME && first.parameter(x).is_none();
    let (flag, lacked, has) =
        if lacks_x { ("--x", x, &first.parameters) } else { ("--y", y, &first.figures) };
    let has: Vec<&str> = has.iter().map(|(name, _)| name.as_str()).collect();
    let what = format!("Without {lacked}, and so passed over: {}", listed(&names));
    let remedy =
        if has.is_empty() { String::new() } else { format!("{flag} {}", has.join(" or ")) };
    Some(Warning { what, remedy })
}

/// Says that rows of the program's own statistics were passed over.
fn passed_over(summaries: &[String]) -> Option<Warning> {
    let first = one_line(summaries.first()?);
    let rows = match summaries.len() {
        1 => "1 row was".to_owned(),
        count => format!("{count} rows were"),
    };
    let what =
        format!("{rows} passed over: the program's own statistics of other rows (`{first}`)");
    Some(Warning { what, remedy: String::new() })
}

/// Whether a parameter that varies has a single value at each x.
fn follows(rows: &[&ExportRow], name: &str, x: &str) -> bool {
    let mut values = BTreeMap::new();
    let mut pairs = rows.iter().map(|row| (row.parameter(x), row.parameter(name)));
    name != STATISTIC
        && x != NAME
        && pairs.all(|(at, value)| *values.entry(at).or_insert(value) == value)
}

/// A name, and the parameters that vary.
type Named = (String, Vec<(String, String)>);

/// The template of each row's name, with the names of parameters that vary in place of their values: of those that give
/// the name back, the one that gives back the most names.
fn templates(rows: &[ExportRow]) -> Vec<String> {
    let all: Vec<&ExportRow> = rows.iter().collect();
    let varying = varying(&all);
    let named = |row: &ExportRow| -> Named {
        let is_given = |(name, value): &&(String, String)| {
            varying.contains(&name.as_str()) && !value.is_empty()
        };
        (row.name.clone(), row.parameters.iter().filter(is_given).cloned().collect())
    };
    let gives = |template: &str, (whole, given): &Named| {
        let fill =
            |text: String, (name, value): &(String, String)| text.replace(&placed(name), value);
        given.iter().fold(template.to_owned(), fill) == *whole
    };
    let distinct: BTreeSet<Named> = rows.iter().map(named).collect();
    let templates: BTreeSet<String> =
        distinct.iter().flat_map(|(name, given)| variants(name, given)).collect();
    let mut ranked: Vec<String> = templates.into_iter().collect();
    ranked.sort_by_cached_key(|template| {
        let names = distinct.iter().filter(|named| gives(template, named)).count();
        Reverse((names, template.matches('{').count()))
    });
    let best = |named: &Named| ranked.iter().find(|template| gives(template, named)).cloned();
    rows.iter().map(|row| best(&named(row)).unwrap_or_else(|| row.name.clone())).collect()
}

/// How a parameter stands in a template.
fn placed(name: &str) -> String {
    format!("{{{name}}}")
}

/// A name with each of these parameters in place of none, of any one or of all of its values in it.
fn variants(text: &str, given: &[(String, String)]) -> Vec<String> {
    /// A value that occurs more often is no word of its own.
    const OCCURRENCES_MAX: usize = 4;
    let Some(((name, value), rest)) = given.split_first() else { return vec![text.to_owned()] };
    let single = text
        .match_indices(value.as_str())
        .take(OCCURRENCES_MAX)
        .map(|(at, _)| format!("{}{}{}", &text[..at], placed(name), &text[at + value.len()..]));
    let all = replaced(text, value, &placed(name));
    let texts: BTreeSet<String> = single.chain([all, text.to_owned()]).collect();
    texts.iter().flat_map(|text| variants(text, rest)).collect()
}

/// `text` with `name` for each `value` that is no part of a longer word or number.
fn replaced(text: &str, value: &str, name: &str) -> String {
    let joins = |before: char, after: char| {
        before == '.' || (before.is_alphanumeric() && after.is_alphanumeric())
    };
    let (first, last) = (value.chars().next().unwrap_or(' '), value.chars().last().unwrap_or(' '));
    let (mut out, mut done) = (String::new(), 0);
    for (at, _) in text.match_indices(value) {
        let is_whole = !text[..at].chars().last().is_some_and(|before| joins(before, first))
            && !text[at + value.len()..].chars().next().is_some_and(|after| joins(after, last));
        if is_whole {
            out.push_str(&text[done..at]);
            out.push_str(name);
            done = at + value.len();
        }
    }
    out + &text[done..]
}

/// The parameters that have more than one value, in order of appearance.
fn varying<'a>(rows: &[&'a ExportRow]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.parameters) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.retain(|name| rows.iter().any(|row| row.parameter(name) != rows[0].parameter(name)));
    names
}

fn is_number(text: &str) -> bool {
    Figure::read_alone(text).is_ok_and(|figure| figure.unit().is_bare())
}

fn chosen(flag: &str, asked: &str, all: &BTreeSet<&str>) -> Result<String, String> {
    if all.contains(asked) {
        return Ok(asked.to_owned());
    }
    let all: Vec<&str> = all.iter().copied().collect();
    Err(format!(" has no `{}` for {flag}; it has {}", one_line(asked), listed(&all)))
}

/// The rows as separated values. Where names are x, they have all that varies.
fn written(rows: &[&ExportRow], x: &str, figures: &[&str], rest: &[&str]) -> csv::Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let is_name = |key: &&&str| x == NAME && **key != STATISTIC;
    let columns: Vec<&str> = if x == NAME {
        rest.iter().filter(|key| !is_name(key)).copied().collect()
    } else {
        [&[x], rest].concat()
    };
    table.write_record([NAME].iter().chain(&columns).chain(figures))?;
    for row in rows {
        let mut name = row.name.clone();
        let varying = rest.iter().filter(is_name);
        for (key, value) in varying.filter_map(|key| Some((*key, row.parameter(key)?))) {
            name.extend(if key == N { ["/", "", "", value] } else { ["/", key, ":", value] });
        }
        let values = columns.iter().map(|column| row.parameter(column).unwrap_or_default());
        let figures = figures.iter().map(|figure| row.figure(figure).unwrap_or_default());
        table.write_record([name.as_str()].into_iter().chain(values).chain(figures))?;
    }
    table.into_inner().map_err(|error| error.into_error().into())
}

/// The JSON documents in `bytes`, one or several.
fn documents<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>, String> {
    let documents = serde_json::Deserializer::from_slice(bytes).into_iter::<T>();
    let read: Result<Vec<T>, _> = documents.collect();
    read.map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!("its JSON is not that program's (line {line}, column {column})")
    })
}

/// Whether the first key of the first object is this.
fn has_first_key(head: &[u8], key: &str) -> bool {
    let opened = |bytes: &[u8]| bytes.trim_ascii_start().first().copied();
    let mut rest = head.trim_ascii_start();
    while let Some(b'[' | b'{') = opened(rest) {
        rest = rest.trim_ascii_start()[1..].trim_ascii_start();
    }
    rest.strip_prefix(b"\"").is_some_and(|rest| {
        rest.strip_prefix(key.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'"'))
    })
}

/// The first line of `head` that begins so, and where it begins.
fn line_that_begins(head: &[u8], start: &str) -> Option<usize> {
    let mut offset = 0;
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(start.as_bytes()) {
            return Some(offset);
        }
        offset += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A real export of each program, or one that was written after its documentation.
    const EXPORTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exports");

    #[test]
    fn each_program_has_an_export_that_no_other_takes_for_its_own() {
        let mut unread: BTreeSet<&str> = TABLE.iter().map(|export| export.program).collect();
        for entry in fs::read_dir(EXPORTS).unwrap() {
            let path = entry.unwrap().path();
            let head = fs::read(&path).unwrap();
            let is_one = |export: &&Export| (export.is_head)(&head) || (export.is_table)(&head);
            let programs: Vec<&str> =
                TABLE.iter().filter(is_one).map(|export| export.program).collect();
            assert_eq!(programs.len(), 1, "{}: {programs:?}", path.display());
            unread.remove(programs[0]);
        }
        assert!(unread.is_empty(), "no export of {unread:?} in {EXPORTS}");
        for text in ["n,us\n1,5\n", "{\"schema\": 1}", "Running a test\n", "[{\"a\": 1}]", ""] {
            assert!(recognised(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn values_of_parameters_are_replaced_where_they_stand_alone() {
        assert_eq!(replaced("./fd -j 1 x1 /srv/1", "1", "{n}"), "./fd -j {n} x1 /srv/{n}");
        assert_eq!(replaced("./fd -j 16 1.5", "1", "{n}"), "./fd -j 16 1.5");
        assert_eq!(replaced("a b", "c", "{n}"), "a b");
    }

    #[test]
    fn numbers_in_names_are_parameters() {
        let row = ExportRow::named("BM_x/8/16/real_time/threads:4");
        assert_eq!(row.name, "BM_x/8/real_time");
        assert_eq!((row.parameter("n"), row.parameter("threads")), (Some("16"), Some("4")));
        assert_eq!(row.template, "BM_x/8/{n}/real_time");
    }
}
