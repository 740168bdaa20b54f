//! The rows of a table that are asked for, each with its table, subject and point.

use super::columns::{Columns, Where};
use super::numbers::{self, Figure, Point};
use super::source::{HASH_OF_NOTHING, Line, Source, hashed};
use super::{listed, nearest, one_line};
use crate::Error;
use std::collections::HashMap;

/// More figures than this fill the memory, and no table that a person can read.
const FIGURES_MAX: usize = 1_000_000;
/// More than these are no things to compare, but a wrong column.
const SUBJECTS_MAX: usize = 100;
const TABLES_MAX: usize = 1_000;
const POINTS_MAX: usize = 300;
/// More words than these are no axis, but a wrong column.
const WORDS_MAX: usize = 30;
/// More fields than these, in columns without a role, are not compared with each other.
const FIELDS_MAX: usize = 50_000_000;
/// Values of a column that a message may list.
const VALUES_KEPT: usize = 50;

/// What was taken from a table.
pub struct Taken {
    /// The values of the parameters' columns, one set for each table, in order of appearance.
    pub tables: Vec<Vec<String>>,
    /// What is compared, in order of appearance.
    pub subjects: Vec<String>,
    /// The words that x is, in order of appearance: a point is the number of one of them, counted from 1.
    /// Empty where x is numbers.
    pub words: Vec<String>,
    /// Every row that is asked for, in order.
    pub rows: Vec<Row>,
    /// Columns in which rows differ that were taken as repetitions.
    pub pooled: Vec<usize>,
}

/// One row.
pub struct Row {
    /// Its number in the file, counted from 1.
    pub line: u64,
    pub table: usize,
    pub subject: usize,
    pub point: Point,
    /// Counted from 0: among the rows of one table, subject and point, or among the rounds that the file
    /// names.
    pub round: u32,
    pub figure: Figure,
    /// The standard deviation of the figures whose mean this is.
    pub deviation: Option<f64>,
}

impl Taken {
    /// Reads all rows of `source`.
    pub fn read(source: &mut Source, columns: &Columns) -> Result<Taken, Error> {
        let mut reader = Reader::new(columns);
        while let Some(line) = source.next(Some(columns.names.len()))? {
            reader.lines += 1;
            if reader.is_selected(&line) {
                reader
                    .take(&line, source.semicolons)
                    .map_err(|what| source.wrong(line.number, &what))?;
            }
        }
        reader.finish(&source.name)
    }
}

/// Numbers for texts, in order of appearance.
struct Numbered<T> {
    all: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    fn new() -> Self {
        Numbered { all: Vec::new(), numbers: HashMap::new() }
    }

    fn number(&mut self, item: T) -> usize {
        if let Some(&number) = self.numbers.get(&item) {
            return number;
        }
        self.all.push(item.clone());
        self.numbers.insert(item, self.all.len() - 1);
        self.all.len() - 1
    }
}

/// The rows of one table, subject and point.
struct Group {
    rows: u32,
    /// A hash of what the first row has in each of the other columns.
    remaining: Vec<u64>,
}

struct Reader<'a> {
    columns: &'a Columns,
    lines: u64,
    wheres: Vec<Matched<'a>>,
    tables: Numbered<Vec<String>>,
    subjects: Numbered<String>,
    points: Numbered<Point>,
    rounds: Numbered<String>,
    words: Numbered<String>,
    /// The first words that x is, or the first number, with its line.
    first_x: Option<(u64, String)>,
    groups: HashMap<(usize, usize, Point), Group>,
    /// For each of the other columns, whether rows of one group differ in it.
    differs: Vec<bool>,
    /// The first point that is a percentage and the first that is none, with their lines.
    kinds: [Option<(u64, String)>; 2],
    rows: Vec<Row>,
    figures: usize,
    first_words: Option<String>,
}

impl<'a> Reader<'a> {
    fn new(columns: &'a Columns) -> Reader<'a> {
        Reader {
            columns,
            lines: 0,
            wheres: columns.wheres.iter().map(Matched::new).collect(),
            tables: Numbered::new(),
            subjects: Numbered::new(),
            points: Numbered::new(),
            rounds: Numbered::new(),
            words: Numbered::new(),
            first_x: None,
            groups: HashMap::new(),
            differs: vec![false; columns.remaining.len()],
            kinds: [None, None],
            rows: Vec::new(),
            figures: 0,
            first_words: None,
        }
    }

    /// Whether every --where takes the line. Each is asked, so that each knows the values that it met.
    fn is_selected(&mut self, line: &Line) -> bool {
        let mut selected = true;
        for matched in &mut self.wheres {
            selected &= matched.matches(&line.fields[matched.selection.column]);
        }
        selected
    }

    /// Takes a line in, or says what is wrong with it.
    fn take(&mut self, line: &Line, semicolons: bool) -> Result<(), String> {
        let (table, subject) = (self.table(line)?, self.subject(line)?);
        let in_column =
            |column: usize, why: String| format!("{}: {why}", self.columns.name(column));
        let (x, y) = (self.columns.x, self.columns.y);
        let point = self.point(line, semicolons).map_err(|why| in_column(x, why))?;
        let figure =
            numbers::figure(&line.fields[y], semicolons).map_err(|why| in_column(y, why))?;
        let deviation = self.deviation(line, semicolons)?;
        self.one_kind(line, point)?;
        self.within_whole(line, point)?;
        self.points.number(point);
        within(self.points.all.len(), POINTS_MAX, self.columns.name(x), "--x")?;
        within(self.rows.len() + 1, FIGURES_MAX, "this table", "--where")?;
        let fields = self.groups.len() * self.columns.remaining.len();
        within(fields, FIELDS_MAX, "this table", "--where fields")?;
        match &figure {
            Figure::Value(_) => self.figures += 1,
            Figure::Words(words) if self.first_words.is_none() => {
                self.first_words = Some(format!("`{words}` in line {}", line.number));
            }
            Figure::Words(_) | Figure::None => {}
        }
        let repetition = self.repetition((table, subject, point), line);
        let round = self.round(line).unwrap_or(repetition);
        if repetition > 0 && self.columns.sd.is_some() {
            return Err(
                "--sd says that a row is a mean, and an earlier one is of the same; tell them \
                        apart with --per or --where"
                    .into(),
            );
        }
        self.rows.push(Row { line: line.number, table, subject, point, round, figure, deviation });
        Ok(())
    }

    /// The point of a line: a number, or the number of its words in order of appearance.
    fn point(&mut self, line: &Line, semicolons: bool) -> Result<Point, String> {
        let text = one_line(&line.fields[self.columns.x]);
        let number = numbers::point(&line.fields[self.columns.x], semicolons);
        let is_words = numbers::is_words(&text);
        let (_, first) = self.first_x.get_or_insert_with(|| (line.number, text.clone()));
        if text == *first && is_words && self.columns.whole.is_none() {
            self.words.number(first.clone());
        }
        if self.words.all.is_empty() {
            return number;
        }
        if !is_words {
            let (number, first) = self.first_x.as_ref().map_or((0, ""), |(n, text)| (*n, text));
            return Err(format!(
                "`{text}` where line {number} has `{first}`; write all as numbers, or all as words"
            ));
        }
        let index = self.words.number(text);
        within(self.words.all.len(), WORDS_MAX, "this column", "--x words")?;
        Ok(Point { digits: index as u64 + 1, decimals: 0, percent: false })
    }

    fn deviation(&self, line: &Line, semicolons: bool) -> Result<Option<f64>, String> {
        let Some(column) = self.columns.sd else { return Ok(None) };
        if self.words.all.is_empty() {
            let (x, sd) = (self.columns.name(self.columns.x), self.columns.name(column));
            return Err(format!(
                "{sd}: intervals come of deviations where --x is words, and {x} is numbers; leave \
                 --sd away"
            ));
        }
        let name = self.columns.name(column);
        match numbers::figure(&line.fields[column], semicolons) {
            Ok(Figure::Value(deviation)) if deviation < 0.0 => {
                Err(format!("{name}: `{}` is below zero", one_line(&line.fields[column])))
            }
            Ok(Figure::Value(deviation)) => Ok(Some(deviation)),
            Ok(Figure::None | Figure::Words(_)) => Ok(None),
            Err(why) => Err(format!("{name}: {why}")),
        }
    }

    fn table(&mut self, line: &Line) -> Result<usize, String> {
        let mut values = Vec::with_capacity(self.columns.parameters.len());
        for &column in &self.columns.parameters {
            let value = one_line(&line.fields[column]);
            values.push(if self.columns.whole == Some(column) {
                whole(&value).map_err(|why| format!("{}: {why}", self.columns.name(column)))?
            } else if value.is_empty() {
                "(none)".to_owned()
            } else {
                value
            });
        }
        let table = self.tables.number(values);
        within(self.tables.all.len(), TABLES_MAX, "that", "--per").map(|()| table)
    }

    fn subject(&mut self, line: &Line) -> Result<usize, String> {
        let by = &self.columns.by;
        let parts: Vec<String> = by.iter().map(|&column| one_line(&line.fields[column])).collect();
        let subject = parts.join(" ").trim().to_owned();
        let names: Vec<&str> = by.iter().map(|&column| self.columns.name(column)).collect();
        if subject.is_empty() {
            return Err(format!("{}: there is no value", listed(&names)));
        }
        let subject = self.subjects.number(subject);
        within(self.subjects.all.len(), SUBJECTS_MAX, &listed(&names), "--by").map(|()| subject)
    }

    /// Percentages and plain numbers don't share an axis, and neither do percentages and --of.
    fn one_kind(&mut self, line: &Line, point: Point) -> Result<(), String> {
        let text = || one_line(&line.fields[self.columns.x]);
        let name = self.columns.name(self.columns.x);
        if self.columns.whole.is_some() && (point.percent || point.decimals > 0) {
            return Err(format!(
                "{name}: `{}` is no whole number, and --of needs those; leave --of away",
                text()
            ));
        }
        let kind = &mut self.kinds[usize::from(point.percent)];
        if kind.is_none() {
            *kind = Some((line.number, text()));
        }
        match self.kinds[usize::from(!point.percent)].as_ref() {
            None => Ok(()),
            Some((number, first)) => Err(format!(
                "{name}: `{}` where line {number} has `{first}`; write all as percentages, or none",
                text()
            )),
        }
    }

    /// A part is not more than the whole.
    fn within_whole(&self, line: &Line, part: Point) -> Result<(), String> {
        let Some(column) = self.columns.whole else { return Ok(()) };
        let whole = numbers::point(&one_line(&line.fields[column]), false)?;
        if part.digits <= whole.digits {
            return Ok(());
        }
        let [part, whole] = [part.digits, whole.digits].map(findings::format::count);
        let (x, column) = (self.columns.name(self.columns.x), self.columns.name(column));
        Err(format!(
            "{x}: {part} is more than the {whole} in {column}, and --of needs a part of that; swap the \
             two, or leave --of away"
        ))
    }

    /// The round that a line names, by its place among those that came before.
    fn round(&mut self, line: &Line) -> Option<u32> {
        let named = one_line(&line.fields[self.columns.round?]);
        Some(self.rounds.number(named) as u32)
    }

    /// How many rows of its group came before; and which other columns its rows differ in.
    fn repetition(&mut self, key: (usize, usize, Point), line: &Line) -> u32 {
        let hash = |column: &usize| hashed(HASH_OF_NOTHING, line.fields[*column].as_bytes());
        let remaining = self.columns.remaining.iter().map(hash);
        let Some(group) = self.groups.get_mut(&key) else {
            self.groups.insert(key, Group { rows: 1, remaining: remaining.collect() });
            return 0;
        };
        let pairs = group.remaining.iter().zip(remaining);
        for (differs, (first, here)) in self.differs.iter_mut().zip(pairs) {
            *differs |= *first != here;
        }
        group.rows += 1;
        group.rows - 1
    }

    fn finish(self, file: &str) -> Result<Taken, Error> {
        if self.lines == 0 {
            let what = format!("{file} has column names, but no rows below them");
            return Err(Error::Refused(what));
        }
        let mut wheres = self.wheres.iter();
        if let Some(error) = wheres.find_map(|matched| matched.unmatched(self.columns, file)) {
            return Err(error);
        }
        if self.rows.is_empty() {
            let wheres = self.wheres.iter().map(|matched| matched.text(self.columns));
            let asked: Vec<String> = wheres.collect();
            return Err(Error::Refused(format!(
                "--where: each of {} has rows in {file}, but none has all of them; leave one away",
                listed(&asked)
            )));
        }
        if self.figures == 0 {
            let y = self.columns.name(self.columns.y);
            let instead =
                self.first_words.map(|words| format!(", but {words}")).unwrap_or_default();
            return Err(Error::Refused(format!(
                "--y: {file} has no figure in {y} in any of these rows{instead}"
            )));
        }
        let remaining = self.columns.remaining.iter().zip(&self.differs);
        let pooled =
            remaining.filter(|(_, differs)| **differs).map(|(column, _)| *column).collect();
        let (tables, subjects) = (self.tables.all, self.subjects.all);
        Ok(Taken { tables, subjects, words: self.words.all, rows: self.rows, pooled })
    }
}

/// The whole that x is a part of, without separators.
fn whole(text: &str) -> Result<String, String> {
    let point = numbers::point(text, false)?;
    if point.percent || point.decimals > 0 {
        return Err(format!("`{text}` is no whole number, and --of needs those"));
    }
    Ok(point.digits.to_string())
}

fn within(count: usize, max: usize, column: &str, flag: &str) -> Result<(), String> {
    if count <= max {
        return Ok(());
    }
    let max = findings::format::count(max as u64);
    Err(match flag {
        "--where" => format!("more than {max} figures; take a part of them with --where"),
        "--where fields" => {
            format!("more than {max} fields; take a part of the rows with --where")
        }
        "--per" => format!("more than {max} tables; give --per a column with fewer values"),
        "--x words" => {
            format!("{column} has more than {max} different words; is it the right one for --x?")
        }
        "--x" => format!("{column} has more than {max} values; round them, or take a part of them"),
        _ => format!("{column} has more than {max} values; is it the right column for {flag}?"),
    })
}

/// The values of one --where, and those that the table has.
struct Matched<'a> {
    selection: &'a Where,
    /// Whether each of its values was met.
    met: Vec<bool>,
    /// The first other values of the column, no more than a message may list.
    unmatched: Vec<String>,
}

impl<'a> Matched<'a> {
    fn new(selection: &'a Where) -> Matched<'a> {
        Matched { selection, met: vec![false; selection.values.len()], unmatched: Vec::new() }
    }

    fn matches(&mut self, field: &str) -> bool {
        let value_here = one_line(field);
        let same = |value: &String| *value == value_here || same_number(value, field);
        let index = self.selection.values.iter().position(same);
        if let Some(index) = index {
            self.met[index] = true;
        } else if self.unmatched.len() < VALUES_KEPT
            && !self.unmatched.iter().any(|value| value == field)
        {
            self.unmatched.push(field.to_owned());
        }
        index.is_some()
    }

    fn text(&self, columns: &Columns) -> String {
        format!("{}={}", columns.name(self.selection.column), self.selection.values.join(" or "))
    }

    /// The line for a value that no row has.
    fn unmatched(&self, columns: &Columns, file: &str) -> Option<Error> {
        let missing = self.met.iter().position(|met| !met)?;
        let (name, value) = (columns.name(self.selection.column), &self.selection.values[missing]);
        let met = self.selection.values.iter().zip(&self.met).filter(|(_, met)| **met);
        let mut values: Vec<String> = met.map(|(value, _)| value.clone()).collect();
        values.extend(self.unmatched.iter().map(|value| one_line(value)));
        let hint = match nearest(value, &values).first() {
            Some(candidate) if values.len() > 8 => format!("did you mean {candidate}?"),
            _ => format!("its values are {}", listed(&values)),
        };
        Some(Error::Refused(format!("--where: no row of {file} has {name}={value}; {hint}")))
    }
}

fn same_number(left: &str, right: &str) -> bool {
    let read = |text: &str| match numbers::figure(text, false) {
        Ok(Figure::Value(value)) => Some(value),
        _ => None,
    };
    // Exactly: 10,000 is 10000, and nothing else is.
    read(left).zip(read(right)).is_some_and(|(left, right)| left.total_cmp(&right).is_eq())
}
