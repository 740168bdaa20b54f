//! The rows of a table that are asked for, each with its place among tables, subjects and points.

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
/// More words than these are no things that one compares at.
const WORDS_MAX: usize = 30;
/// More fields than these, of columns that nothing was said of, are not compared with each other.
const FIELDS_MAX: usize = 50_000_000;
/// Values of a column that a message may list.
const VALUES_KEPT: usize = 50;

/// What was taken from a table.
pub struct Taken {
    /// The values of the parameters' columns, one set for each table, in order of appearance.
    pub tables: Vec<Vec<String>>,
    /// What is compared, in order of appearance.
    pub subjects: Vec<String>,
    /// The words that x is, in order of appearance: a point is the place of one of them, counted from 1.
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
    /// Counted from 0: among the rows of one table, subject and point, or the place of the round that is
    /// named among those of the file.
    pub round: u32,
    pub figure: Figure,
    /// The standard deviation of what the figure is a mean of.
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
    others: Vec<u64>,
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
            differs: vec![false; columns.others.len()],
            kinds: [None, None],
            rows: Vec::new(),
            figures: 0,
            first_words: None,
        }
    }

    /// Whether every --where takes the line.
    fn is_selected(&mut self, line: &Line) -> bool {
        let mut selected = true;
        for one in &mut self.wheres {
            selected &= one.matches(&line.fields[one.of.column]);
        }
        selected
    }

    /// Takes a line in, or says what is wrong with it.
    fn take(&mut self, line: &Line, semicolons: bool) -> Result<(), String> {
        let (table, subject) = (self.table(line)?, self.subject(line)?);
        let of_column =
            |column: usize, why: String| format!("{}: {why}", self.columns.name(column));
        let (x, y) = (self.columns.x, self.columns.y);
        let point = self.point(line, semicolons).map_err(|why| of_column(x, why))?;
        let figure =
            numbers::figure(&line.fields[y], semicolons).map_err(|why| of_column(y, why))?;
        let deviation = self.deviation(line, semicolons)?;
        self.one_kind(line, point)?;
        self.within_whole(line, point)?;
        self.points.number(point);
        within(self.points.all.len(), POINTS_MAX, self.columns.name(x), "--x")?;
        within(self.rows.len() + 1, FIGURES_MAX, "this table", "--where")?;
        let fields = self.groups.len() * self.columns.others.len();
        within(fields, FIELDS_MAX, "this table", "--where fields")?;
        match &figure {
            Figure::Of(_) => self.figures += 1,
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

    /// The point of a line: a number, or the place of its words among those that came before.
    fn point(&mut self, line: &Line, semicolons: bool) -> Result<Point, String> {
        let text = one_line(&line.fields[self.columns.x]);
        let number = numbers::point(&line.fields[self.columns.x], semicolons);
        let is_words = numbers::is_words(&text);
        let (_, first) = self.first_x.get_or_insert_with(|| (line.number, text.clone()));
        if text == *first && is_words && self.columns.of.is_none() {
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
        let place = self.words.number(text);
        within(self.words.all.len(), WORDS_MAX, "this column", "--x words")?;
        Ok(Point { digits: place as u64 + 1, decimals: 0, percent: false })
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
            Ok(Figure::Of(deviation)) if deviation < 0.0 => {
                Err(format!("{name}: `{}` is below zero", one_line(&line.fields[column])))
            }
            Ok(Figure::Of(deviation)) => Ok(Some(deviation)),
            Ok(Figure::None | Figure::Words(_)) => Ok(None),
            Err(why) => Err(format!("{name}: {why}")),
        }
    }

    fn table(&mut self, line: &Line) -> Result<usize, String> {
        let mut values = Vec::with_capacity(self.columns.parameters.len());
        for &column in &self.columns.parameters {
            let value = one_line(&line.fields[column]);
            values.push(if self.columns.of == Some(column) {
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
        if self.columns.of.is_some() && (point.percent || point.decimals > 0) {
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
            Some((number, other)) => Err(format!(
                "{name}: `{}` where line {number} has `{other}`; write all as percentages, or none",
                text()
            )),
        }
    }

    /// A part is not more than the whole.
    fn within_whole(&self, line: &Line, part: Point) -> Result<(), String> {
        let Some(of) = self.columns.of else { return Ok(()) };
        let whole = numbers::point(&one_line(&line.fields[of]), false)?;
        if part.digits <= whole.digits {
            return Ok(());
        }
        let [part, whole] = [part.digits, whole.digits].map(findings::format::count);
        let (x, of) = (self.columns.name(self.columns.x), self.columns.name(of));
        Err(format!(
            "{x}: {part} is more than the {whole} in {of}, and --of needs a part of that; swap the \
             two, or leave --of away"
        ))
    }

    /// The round that a line names, by its place among those that came before.
    fn round(&mut self, line: &Line) -> Option<u32> {
        let named = one_line(&line.fields[self.columns.round?]);
        Some(self.rounds.number(named) as u32)
    }

    /// How many rows of its group came before; and which other columns its rows differ in.
    fn repetition(&mut self, place: (usize, usize, Point), line: &Line) -> u32 {
        let hash = |column: &usize| hashed(HASH_OF_NOTHING, line.fields[*column].as_bytes());
        let others = self.columns.others.iter().map(hash);
        let Some(group) = self.groups.get_mut(&place) else {
            self.groups.insert(place, Group { rows: 1, others: others.collect() });
            return 0;
        };
        for (differs, (one, other)) in self.differs.iter_mut().zip(group.others.iter().zip(others))
        {
            *differs |= *one != other;
        }
        group.rows += 1;
        group.rows - 1
    }

    fn finish(self, file: &str) -> Result<Taken, Error> {
        if self.lines == 0 {
            let what = format!("{file} has column names, but no rows below them");
            return Err(Error::Refused(what));
        }
        if let Some(trouble) = self.wheres.iter().find_map(|one| one.unmatched(self.columns, file))
        {
            return Err(trouble);
        }
        if self.rows.is_empty() {
            let asked: Vec<String> = self.wheres.iter().map(|one| one.text(self.columns)).collect();
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
        let others = self.columns.others.iter().zip(&self.differs);
        let pooled = others.filter(|(_, differs)| **differs).map(|(column, _)| *column).collect();
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

fn within(count: usize, most: usize, of: &str, flag: &str) -> Result<(), String> {
    if count <= most {
        return Ok(());
    }
    let most = findings::format::count(most as u64);
    Err(match flag {
        "--where" => format!("more than {most} figures; take a part of them with --where"),
        "--where fields" => {
            format!("more than {most} fields; take a part of the rows with --where")
        }
        "--per" => format!("more than {most} tables; give --per a column with fewer values"),
        "--x words" => {
            format!("{of} has more than {most} different words; is it the right one for --x?")
        }
        "--x" => format!("{of} has more than {most} values; round them, or take a part of them"),
        _ => format!("{of} has more than {most} values; is it the right column for {flag}?"),
    })
}

/// What became of one --where.
struct Matched<'a> {
    of: &'a Where,
    /// Whether each of its values was met.
    met: Vec<bool>,
    /// The values that the column has, those met first; no more than a message may list.
    known: Vec<String>,
}

impl<'a> Matched<'a> {
    fn new(of: &'a Where) -> Matched<'a> {
        Matched { of, met: vec![false; of.values.len()], known: Vec::new() }
    }

    fn matches(&mut self, field: &str) -> bool {
        let value_here = one_line(field);
        let same = |value: &String| *value == value_here || same_number(value, field);
        let found = self.of.values.iter().position(same);
        if let Some(found) = found {
            self.met[found] = true;
        } else if self.known.len() < VALUES_KEPT && !self.known.iter().any(|known| known == field) {
            self.known.push(field.to_owned());
        }
        found.is_some()
    }

    fn text(&self, columns: &Columns) -> String {
        format!("{}={}", columns.name(self.of.column), self.of.values.join(" or "))
    }

    /// The line for a value that no row has.
    fn unmatched(&self, columns: &Columns, file: &str) -> Option<Error> {
        let missing = self.met.iter().position(|met| !met)?;
        let (name, value) = (columns.name(self.of.column), &self.of.values[missing]);
        let met = self.of.values.iter().zip(&self.met).filter(|(_, met)| **met);
        let mut known: Vec<String> = met.map(|(value, _)| value.clone()).collect();
        known.extend(self.known.iter().map(|value| one_line(value)));
        let near = nearest(value, &known);
        let hint = match near.first() {
            Some(near) if known.len() > 8 => format!("did you mean {near}?"),
            _ => format!("its values are {}", listed(&known)),
        };
        Some(Error::Refused(format!("--where: no row of {file} has {name}={value}; {hint}")))
    }
}

fn same_number(one: &str, other: &str) -> bool {
    let read = |text: &str| match numbers::figure(text, false) {
        Ok(Figure::Of(value)) => Some(value),
        _ => None,
    };
    // Exactly: 10,000 is 10000, and nothing else is.
    read(one).zip(read(other)).is_some_and(|(one, other)| one.total_cmp(&other).is_eq())
}
