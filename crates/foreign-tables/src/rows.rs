//! The rows of a table that are asked for, each with its table, subject and point.

use super::axis::{Axis, XValue};
use super::columns::{Columns, Where};
use super::figures::{self, Figure};
use super::numbers::{Point, Reading, Signs};
use super::source::{HASH_OF_NOTHING, InputLine, Source, hashed};
use super::unit::Unit;
use super::{listed, nearest, one_line};
use crate::Error;
use indexmap::IndexSet;
use quantities::{DecimalSign, Unit as Symbol};
use std::collections::HashMap;

/// More figures than this fill the memory, and no table that a person can read.
const FIGURES_MAX: usize = 1_000_000;
/// More than these are no things to compare, but a wrong column.
const SUBJECTS_MAX: usize = 100;
const TABLES_MAX: usize = 1_000;
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
    /// What x is.
    pub axis: Axis,
    /// Every row that is asked for, in order.
    pub rows: Vec<TableRow>,
    /// What the figures are.
    pub unit: Unit,
    /// Columns in which rows differ that were taken as repetitions.
    pub pooled: Vec<usize>,
    /// Lines that repeat the names of the columns.
    pub headers: u64,
}

/// One row.
pub struct TableRow {
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

/// A row before the decimal signs of its columns are known.
struct RawRow {
    table: usize,
    subject: usize,
    /// Which of the axis's values.
    x: usize,
    round: u32,
    figure: Figure,
    deviation: Figure,
}

impl Taken {
    /// Reads all rows of `source`, whose figures are in `unit` unless they have their own.
    pub fn read(
        source: &mut Source,
        header: &[String],
        columns: &Columns,
        unit: Unit,
    ) -> Result<Taken, Error> {
        let mut reader = Reader::new(columns, unit, source.semicolons);
        let mut line = InputLine::default();
        while source.next(&mut line)? {
            if line.fields.len() != header.len() {
                return Err(source.wrong(line.number, &other_length(&line, header, source)));
            }
            reader.lines += 1;
            if line.fields[columns.y] == header[columns.y] {
                reader
                    .repeated_names(&line, header)
                    .map_err(|what| source.wrong(line.number, &what))?;
                continue;
            }
            columns.restore(&mut line.fields);
            if reader.is_selected(&line) {
                reader.take(&line).map_err(|what| source.wrong(line.number, &what))?;
            }
        }
        reader.finish(source)
    }
}

/// What is wrong with a line that has another number of fields than there are names.
pub fn other_length(line: &InputLine, header: &[String], source: &Source) -> String {
    let fields = findings::format::quantity(line.fields.len() as u64, "field");
    let names = source.header_name();
    let splits_numbers = line.fields.windows(2).any(|pair| {
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits(pair[1].as_str()) && digits(pair[0].trim_start_matches('-'))
    });
    let is_comma = !source.semicolons && line.fields.len() > header.len() && splits_numbers;
    let remedy = if is_comma {
        "; if commas stand in numbers, put these in quotes, or separate the fields by semicolons or tabs"
    } else {
        ""
    };
    format!("{fields} where {names} names {} columns{remedy}", header.len())
}

/// What is compared.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Subject {
    name: String,
    /// With the column of each value, and the place of a number in a name.
    in_full: String,
}

/// The name of each; in full where several have the same one.
fn names(subjects: &IndexSet<Subject>) -> Vec<String> {
    let name = |subject: &Subject| {
        let alike = subjects.iter().filter(|second| second.name == subject.name);
        if alike.count() > 1 { subject.in_full.clone() } else { subject.name.clone() }
    };
    subjects.iter().map(name).collect()
}

/// The rows of one table, subject and value of x.
struct Group {
    line: u64,
    rows: u32,
    /// A hash of what the first row has in each of the other columns.
    remaining: Vec<u64>,
}

struct Reader<'a> {
    columns: &'a Columns,
    lines: u64,
    headers: u64,
    wheres: Vec<Matched<'a>>,
    /// In order of appearance, as are subjects and rounds.
    tables: IndexSet<Vec<String>>,
    subjects: IndexSet<Subject>,
    /// The table and the subject of fields as they are written.
    written: [HashMap<String, usize>; 2],
    key: String,
    axis: Axis,
    rounds: IndexSet<String>,
    groups: HashMap<(usize, usize, usize), Group>,
    /// For each of the other columns, whether rows of one group differ in it.
    differs: Vec<bool>,
    figures: figures::Reader,
    deviations: figures::Reader,
    /// The signs of the figures, and those of their deviations.
    signs: [Signs; 2],
    rows: Vec<RawRow>,
    figure_count: usize,
    first_words: Option<String>,
}

impl<'a> Reader<'a> {
    fn new(columns: &'a Columns, unit: Unit, semicolons: bool) -> Reader<'a> {
        let signs = || Signs::new(columns.decimal, semicolons);
        // `s` alone is what deviations are called; and of a rate, `sd/s` is one of sd.
        let is_own = |name: &&str, own: &Unit| match own.symbol.as_str() {
            "ns" => unit.symbol == "ns" && *name != "s",
            symbol => symbol == "%",
        };
        let named = columns.sd.map(|column| columns.name(column));
        let named = named.map(|name| (name, Unit::new(name, None)));
        let named = named.filter(|(name, own)| is_own(name, own)).map(|(_, own)| own);
        let deviations = figures::Reader::new(named.unwrap_or_else(|| unit.clone()));
        Reader {
            columns,
            lines: 0,
            headers: 0,
            wheres: columns.wheres.iter().map(Matched::new).collect(),
            tables: IndexSet::new(),
            subjects: IndexSet::new(),
            written: [HashMap::new(), HashMap::new()],
            key: String::new(),
            axis: Axis::new(signs(), columns.whole.is_some()),
            rounds: IndexSet::new(),
            groups: HashMap::new(),
            differs: vec![false; columns.remaining.len()],
            figures: figures::Reader::new(unit),
            deviations,
            signs: [signs(), signs()],
            rows: Vec::new(),
            figure_count: 0,
            first_words: None,
        }
    }

    /// Takes in a line that repeats the name of the column of figures: all names, as where files were joined.
    fn repeated_names(&mut self, line: &InputLine, header: &[String]) -> Result<(), String> {
        let Some(column_changed) =
            (0..header.len()).find(|&column| line.fields[column] != header[column])
        else {
            self.headers += 1;
            return Ok(());
        };
        Err(format!(
            "a second table begins here, with `{}` where the first one has `{}`; put each table into a file \
             of its own",
            one_line(&line.fields[column_changed]),
            one_line(&header[column_changed])
        ))
    }

    /// Whether every --where takes the line. Each is asked, so that each knows the values that it met.
    fn is_selected(&mut self, line: &InputLine) -> bool {
        let mut selected = true;
        for matched in &mut self.wheres {
            selected &= matched.matches(&line.fields[matched.selection.column]);
        }
        selected
    }

    /// Takes a line in, or says what is wrong with it.
    fn take(&mut self, line: &InputLine) -> Result<(), String> {
        let columns = self.columns;
        let x_text = &line.fields[columns.x];
        let table = self.table(line)?;
        let x = self.axis.number(x_text, line.number, columns.name(columns.x))?;
        let subject = self.subject(line, x)?;
        let in_column = |column: usize, why: String| format!("{}: {why}", columns.name(column));
        let unit = columns.unit.map(|column| line.fields[column].as_str());
        let figure = self
            .figures
            .read(&line.fields[columns.y], unit, line.number, &mut self.signs[0])
            .and_then(|figure| self.divided(figure, line))
            .map_err(|why| in_column(columns.y, why))?;
        let figure = match (figure, columns.missing.map(|column| line.fields[column].as_str())) {
            (Figure::None, Some(why)) if !why.is_empty() => Figure::Words(one_line(why)),
            (figure, _) => figure,
        };
        let deviation = self.deviation(line)?;
        within(self.rows.len() + 1, FIGURES_MAX, "this table", "--where")?;
        let fields = self.groups.len() * columns.remaining.len();
        within(fields, FIELDS_MAX, "this table", "--where fields")?;
        match &figure {
            Figure::Value(_) | Figure::Two(_) => self.figure_count += 1,
            Figure::Words(words) if self.first_words.is_none() => {
                self.first_words = Some(format!("`{words}` in line {}", line.number));
            }
            Figure::Words(_) | Figure::None => {}
        }
        let repetition = self.repetition((table, subject, x), line);
        let round = self.round(line).unwrap_or(repetition);
        if repetition > 0 && columns.sd.is_some() {
            return Err(
                "--sd says that a row is a mean, and an earlier one is of the same; tell them \
                        apart with --per or --where"
                    .into(),
            );
        }
        self.rows.push(RawRow { table, subject, x, round, figure, deviation });
        Ok(())
    }

    /// A figure that is a sum, by how many operations it is the sum of.
    fn divided(&self, figure: Figure, line: &InputLine) -> Result<Figure, String> {
        let Some(column) = self.columns.divisor else { return Ok(figure) };
        let text = &line.fields[column];
        let count = text.parse::<f64>().ok().filter(|count| count.is_finite() && *count > 0.0);
        let count = count.ok_or_else(|| {
            let name = self.columns.name(column);
            format!("it is the sum of {name} operations, and that is `{}`", one_line(text))
        })?;
        Ok(match figure {
            Figure::Value(value) => Figure::Value(value / count),
            Figure::Two(readings) => Figure::Two(readings.map(|reading| reading / count)),
            figure => figure,
        })
    }

    fn deviation(&mut self, line: &InputLine) -> Result<Figure, String> {
        let Some(column) = self.columns.sd else { return Ok(Figure::None) };
        let name = self.columns.name(column);
        let text = &line.fields[column];
        let unit = self.columns.unit.map(|column| line.fields[column].as_str());
        match self.deviations.read(text, unit, line.number, &mut self.signs[1]) {
            Ok(Figure::Value(below)) if below < 0.0 => {
                Err(format!("{name}: `{}` is below zero", one_line(text)))
            }
            Ok(Figure::Words(_)) => Ok(Figure::None),
            read => read.map_err(|why| format!("{name}: {why}")),
        }
    }

    fn table(&mut self, line: &InputLine) -> Result<usize, String> {
        let columns = self.columns;
        self.key.clear();
        for &column in &columns.parameters {
            self.key.push_str(&line.fields[column]);
            self.key.push('\0');
        }
        if let Some(&table) = self.written[0].get(&self.key) {
            return Ok(table);
        }
        let mut values = Vec::with_capacity(columns.parameters.len());
        for &column in &columns.parameters {
            let value = printable::one_line(&line.fields[column]);
            values.push(if columns.whole == Some(column) {
                whole(&value, columns.decimal)
                    .map_err(|why| format!("{}: {why}", columns.name(column)))?
            } else if value.is_empty() {
                "(none)".to_owned()
            } else {
                value
            });
        }
        let (table, _) = self.tables.insert_full(values);
        within(self.tables.len(), TABLES_MAX, "that", "--per")?;
        self.written[0].insert(self.key.clone(), table);
        Ok(table)
    }

    fn subject(&mut self, line: &InputLine, x: usize) -> Result<usize, String> {
        let columns = self.columns;
        let XValue { series, template, .. } = &self.axis.values[x];
        self.key.clear();
        for &column in &columns.by {
            self.key.push_str(&line.fields[column]);
            self.key.push('\0');
        }
        self.key.push_str(template);
        if let Some(&subject) = self.written[1].get(&self.key) {
            return Ok(subject);
        }
        let names: Vec<&str> = columns.by.iter().map(|&column| columns.name(column)).collect();
        let texts = columns.by.iter().map(|&column| &line.fields[column]);
        let values: Vec<String> = texts.map(|text| printable::one_line(text)).collect();
        if !columns.by.is_empty() && values.iter().all(String::is_empty) {
            return Err(format!("{}: there is no value", listed(&names)));
        }
        let parts = values.iter().map(|value| one_line(value)).chain([series.clone()]);
        let mut name = parts.collect::<Vec<String>>().join(" ").trim().to_owned();
        if name.is_empty() {
            columns.name(columns.y).clone_into(&mut name);
        }
        let in_full = names.iter().zip(&values).map(|(name, value)| format!("{name}={value}"));
        let in_full = in_full.chain([template.clone()]).collect::<Vec<String>>().join(" ");
        let subject = Subject { name, in_full: in_full.trim().to_owned() };
        let (subject, _) = self.subjects.insert_full(subject);
        within(self.subjects.len(), SUBJECTS_MAX, &listed(&names), "--by")?;
        self.written[1].insert(self.key.clone(), subject);
        Ok(subject)
    }

    /// The round that a line names, by its place among those that came before.
    fn round(&mut self, line: &InputLine) -> Option<u32> {
        let named = printable::one_line(&line.fields[self.columns.round?]);
        Some(self.rounds.insert_full(named).0 as u32)
    }

    /// How many rows of its group came before; and which other columns its rows differ in.
    fn repetition(&mut self, key: (usize, usize, usize), line: &InputLine) -> u32 {
        let hash = |column: usize| hashed(HASH_OF_NOTHING, line.fields[column].as_bytes());
        let remaining = &self.columns.remaining;
        let Some(group) = self.groups.get_mut(&key) else {
            let remaining = remaining.iter().map(|&column| hash(column)).collect();
            self.groups.insert(key, Group { line: line.number, rows: 1, remaining });
            return 0;
        };
        let pairs = group.remaining.iter().zip(remaining);
        for (differs, (first, &here)) in self.differs.iter_mut().zip(pairs) {
            *differs = *differs || *first != hash(here);
        }
        group.rows += 1;
        group.rows - 1
    }

    /// The points of all values of x. Values that are one point after all, such as 1,000 and 1000, are taken
    /// together: their rows are repetitions.
    fn points(&mut self, decimal: DecimalSign) -> Result<Vec<Point>, (u64, String)> {
        let points = self.axis.points(decimal)?;
        let mut firsts: HashMap<Point, usize> = HashMap::new();
        let canonical: Vec<usize> =
            (0..points.len()).map(|x| *firsts.entry(points[x]).or_insert(x)).collect();
        if firsts.len() == points.len() {
            return Ok(points);
        }
        let mut counts: HashMap<(usize, usize, usize), u32> = HashMap::new();
        for row in &mut self.rows {
            let rows = counts.entry((row.table, row.subject, canonical[row.x])).or_default();
            if self.columns.round.is_none() {
                row.round = *rows;
            }
            *rows += 1;
        }
        for ((table, subject, x), group) in &self.groups {
            let first = self.groups.get(&(*table, *subject, canonical[*x]));
            let pairs =
                first.into_iter().flat_map(|first| first.remaining.iter().zip(&group.remaining));
            for (differs, (first, here)) in self.differs.iter_mut().zip(pairs) {
                *differs |= first != here;
            }
        }
        Ok(points)
    }

    /// A part is not more than the whole.
    fn within_whole(&self, points: &[Point]) -> Result<(), (u64, String)> {
        let Some(index) = self
            .columns
            .whole
            .and_then(|whole| self.columns.parameters.iter().position(|&column| column == whole))
        else {
            return Ok(());
        };
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by_key(|(_, group)| group.line);
        for ((table, _, x), group) in groups {
            let whole: u64 = self.tables[*table][index].parse().unwrap_or(u64::MAX);
            let part = points[*x].digits;
            if part > whole {
                let [part, whole] = [part, whole].map(findings::format::count);
                let [x, column] = [self.columns.x, self.columns.parameters[index]]
                    .map(|column| self.columns.name(column));
                let why = format!(
                    "{part} is more than the {whole} in {column}, and --of needs a part of that; swap the \
                     two, or leave --of away"
                );
                return Err((group.line, format!("{x}: {why}")));
            }
        }
        Ok(())
    }

    fn finish(mut self, source: &Source) -> Result<Taken, Error> {
        self.check_taken(&source.name)?;
        let columns = self.columns;
        let in_column = |column: usize| {
            move |(line, why): (u64, String)| {
                source.wrong(line, &format!("{}: {why}", columns.name(column)))
            }
        };
        let decimal = self.axis.signs.decimal().map_err(in_column(columns.x))?;
        let points = self.points(decimal).map_err(in_column(columns.x))?;
        self.within_whole(&points).map_err(|(line, why)| source.wrong(line, &why))?;
        let decimal = self.signs[0].decimal().map_err(in_column(columns.y))?;
        let sd_decimal =
            self.signs[1].decimal().map_err(in_column(columns.sd.unwrap_or(columns.y)))?;
        let unit = self.figures.unit(columns.name(columns.y));
        let sd_unit = self.deviations.unit(columns.name(columns.sd.unwrap_or(columns.y)));
        let has_deviations = self.rows.iter().any(|row| !row.deviation.is_nothing());
        let sd_factor = if has_deviations {
            let [own, wanted] = [&sd_unit, &unit].map(|unit| Symbol::read(&unit.symbol));
            own.convert(1.0, &wanted).ok_or_else(|| different_units(columns, &source.name))?
        } else {
            1.0
        };
        let rows = self.rows.into_iter().map(|row| {
            let RawRow { table, subject, x, round, figure, deviation } = row;
            let deviation = match deviation.with(sd_decimal) {
                Figure::Value(deviation) => Some(deviation * sd_factor),
                _ => None,
            };
            TableRow {
                table,
                subject,
                point: points[x],
                round,
                figure: figure.with(decimal),
                deviation,
            }
        });
        let remaining = columns.remaining.iter().zip(&self.differs);
        Ok(Taken {
            tables: self.tables.into_iter().collect(),
            subjects: names(&self.subjects),
            axis: self.axis,
            rows: rows.collect(),
            unit,
            pooled: remaining.filter(|(_, differs)| **differs).map(|(column, _)| *column).collect(),
            headers: self.headers,
        })
    }

    /// Refuses a table of which nothing is left.
    fn check_taken(&self, file: &str) -> Result<(), Error> {
        if self.lines == 0 {
            let what = format!("{file} has column names, but no rows below them");
            return Err(Error::Refused(what));
        }
        let mut wheres = self.wheres.iter();
        if let Some(error) = wheres.find_map(|matched| matched.unmatched(self.columns, file)) {
            return Err(error);
        }
        if self.rows.is_empty() && !self.wheres.is_empty() {
            let wheres = self.wheres.iter().map(|matched| matched.text(self.columns));
            let asked: Vec<String> = wheres.collect();
            return Err(Error::Refused(format!(
                "--where: each of {} has rows in {file}, but none has all of them; leave one away",
                listed(&asked)
            )));
        }
        if self.figure_count == 0 {
            let y = self.columns.name(self.columns.y);
            let instead =
                self.first_words.as_ref().map(|words| format!(", but {words}")).unwrap_or_default();
            return Err(Error::Refused(format!(
                "--y: {file} has no figure in {y} in any of these rows{instead}"
            )));
        }
        Ok(())
    }
}

fn different_units(columns: &Columns, file: &str) -> Error {
    let [sd, y] = [columns.sd.unwrap_or(columns.y), columns.y].map(|at| columns.name(at));
    Error::Refused(format!("--sd: {sd} and {y} of {file} are in different units"))
}

/// The whole that x is a part of, without separators.
fn whole(text: &str, decimal: Option<DecimalSign>) -> Result<String, String> {
    let reading =
        Reading::new(text).map_err(|error| format!("`{text}` {error} (such as 10000 or 10k)"))?;
    if let (Reading::Two { point, comma }, None) = (&reading, decimal) {
        let [point, comma] = [point.number(), comma.number()];
        return Err(format!("`{text}` may be {point} or {comma}; write it without the sign"));
    }
    let figure = reading.with(decimal.unwrap_or(DecimalSign::Point));
    match Point::new(figure.number(), false) {
        Ok(point) if figure.unit().is_bare() && point.decimals == 0 => Ok(point.digits.to_string()),
        _ => Err(format!("`{text}` is no whole number, and --of needs those")),
    }
}

pub(super) fn within(count: usize, max: usize, column: &str, flag: &str) -> Result<(), String> {
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
    /// Fields that were looked at, and whether they match.
    seen: HashMap<String, bool>,
}

/// Fields that are remembered with their match.
const FIELDS_KEPT: usize = 1_000;

impl<'a> Matched<'a> {
    fn new(selection: &'a Where) -> Matched<'a> {
        Matched {
            selection,
            met: vec![false; selection.values.len()],
            unmatched: Vec::new(),
            seen: HashMap::new(),
        }
    }

    fn matches(&mut self, field: &str) -> bool {
        if let Some(&matches) = self.seen.get(field) {
            return matches;
        }
        let matches = self.is_match(field);
        if self.seen.len() < FIELDS_KEPT {
            self.seen.insert(field.to_owned(), matches);
        }
        matches
    }

    fn is_match(&mut self, field: &str) -> bool {
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

/// Whether a value that was typed, where commas separate thousands, is the number in a field.
fn same_number(typed: &str, field: &str) -> bool {
    let typed = quantities::Figure::read(typed, DecimalSign::Point).ok();
    let field = match Reading::new(field) {
        Ok(Reading::Either(figure) | Reading::Only(_, figure)) => Some(figure),
        // What is copied from the table is the same text.
        Ok(Reading::Two { .. }) | Err(_) => None,
    };
    // Exactly: 10,000 is 10000, and nothing else is.
    typed.zip(field).is_some_and(|(typed, field)| {
        typed.number().total_cmp(&field.number()).is_eq() && typed.unit() == field.unit()
    })
}
