//! The role of each column: the names that were typed, looked up in the table's first line.

use super::formats::Format;
use super::source::Source;
use super::{TableRequest, listed, nearest, one_line};
use crate::Error;
use model::{Parameters, Value};
use quantities::{DecimalSign, Figure};

/// The columns of a table, by what they are for.
pub struct Columns {
    /// Every column's name.
    pub names: Vec<String>,
    /// What grows.
    pub x: usize,
    /// The figure.
    pub y: usize,
    /// What is compared.
    pub by: Vec<usize>,
    /// The columns of which each table has one value: those of --per, and those of which --where
    /// leaves one.
    pub parameters: Vec<usize>,
    /// What x is a part of.
    pub whole: Option<usize>,
    /// The column that numbers rounds.
    pub round: Option<usize>,
    /// The figures' standard deviations.
    pub sd: Option<usize>,
    /// Which rows are taken.
    pub wheres: Vec<Where>,
    /// The unit of each figure.
    pub unit: Option<usize>,
    /// Why there is no figure: in knee's own export.
    pub missing: Option<usize>,
    /// How many operations each figure is the sum of.
    pub divisor: Option<usize>,
    /// The program that wrote the table, where it is a known one.
    pub format: Option<&'static Format>,
    /// The decimal sign, where it is asked for or known.
    pub decimal: Option<DecimalSign>,
    /// Whether it is knee's own export.
    pub is_export: bool,
    /// Columns without a role: rows that differ only in these are taken as repetitions.
    pub remaining: Vec<usize>,
}

/// The rows of which this column has one of these values.
pub struct Where {
    pub column: usize,
    pub values: Vec<String>,
}

/// Names of columns that number repetitions.
const NUMBER_REPETITIONS: [&str; 9] =
    ["round", "rep", "repeat", "repetition", "run", "iteration", "trial", "sample", "timestamp"];

impl Columns {
    /// Finds what `request` names in the line of names of `source`.
    pub fn find(
        request: &TableRequest,
        header: &[String],
        source: &Source,
    ) -> Result<Columns, Error> {
        let names = names(header, source)?;
        let header = Header { names, file: &source.name, line: source.header_line };
        let (x, y) = request.columns(&header.names, header.file)?;
        header.are_names(&[&[x, y], texts(&request.by).as_slice()].concat())?;
        let format = Format::recognised(&header.names);
        let (x, y) = (header.find("--x", x)?, header.find("--y", y)?);
        let by = header.find_all("--by", &request.by)?;
        let per = header.find_all("--per", &request.per)?;
        let whole = header.find_optional("--of", request.whole.as_ref())?;
        let round = header.find_optional("--round", request.round.as_ref())?;
        let sd = header.find_optional("--sd", request.sd.as_ref())?;
        let lists = [round, sd].map(|column| column.into_iter().collect::<Vec<usize>>());
        let given: [(&str, &[usize]); 6] = [
            ("--x", &[x]),
            ("--y", &[y]),
            ("--by", &by),
            ("--per", &per),
            ("--round", &lists[0]),
            ("--sd", &lists[1]),
        ];
        header.only_once(&given)?;
        let indexed = |name: Option<&str>| name.and_then(|name| header.index(name));
        let of_y = |column: fn(&Format, &str) -> Option<&'static str>| {
            indexed(format.and_then(|format| column(format, &header.names[y])))
        };
        let unit = of_y(Format::unit_column).filter(|_| request.unit.is_none());
        let divisor = of_y(Format::divisor);
        let missing = indexed(header.is_export().then_some("missing"));
        let wheres = header.wheres(&request.wheres)?;
        let single = wheres
            .iter()
            .filter(|selected| selected.values.len() == 1)
            .map(|selected| selected.column);
        let mut parameters = per;
        for column in single.filter(|column| ![x, y].contains(column)) {
            if !parameters.contains(&column) {
                parameters.push(column);
            }
        }
        if let Some(whole) = whole.filter(|whole| !parameters.contains(whole)) {
            return Err(header.not_one_value(whole));
        }
        let numbers_repetitions = |column: usize| {
            let name = header.names[column].to_lowercase();
            NUMBER_REPETITIONS.contains(&name.as_str())
        };
        let has_role = |column: usize| {
            let is_single = [x, y].contains(&column)
                || [round, sd, unit, missing, divisor].contains(&Some(column));
            is_single || by.contains(&column) || parameters.contains(&column)
        };
        let remaining = (0..header.names.len())
            .filter(|&column| !has_role(column) && !numbers_repetitions(column))
            .collect();
        let (is_export, names) = (header.is_export(), header.names);
        // Programs that are known write points.
        let is_known = is_export || format.is_some();
        let decimal = request.decimal.or(is_known.then_some(DecimalSign::Point));
        Ok(Columns {
            names,
            x,
            y,
            by,
            parameters,
            whole,
            round,
            sd,
            wheres,
            unit,
            missing,
            divisor,
            format,
            decimal,
            is_export,
            remaining,
        })
    }

    /// A column's name.
    pub fn name(&self, column: usize) -> &str {
        &self.names[column]
    }

    /// Takes away what an export of knee puts in front of texts that a spreadsheet would run.
    pub fn restore(&self, fields: &mut [String]) {
        for field in fields.iter_mut().filter(|_| self.is_export) {
            if let Some(text) = printable::from_spreadsheet(field) {
                *field = text.to_owned();
            }
        }
    }

    /// The parameters of a table, by the names of their columns.
    pub fn named_parameters(&self, texts: &[String]) -> Parameters {
        let names = self.parameters.iter().map(|&column| self.name(column).to_owned());
        names.zip(texts.iter().map(|text| Value::from(text.as_str()))).collect()
    }
}

fn texts(typed: &[String]) -> Vec<&str> {
    typed.iter().map(String::as_str).collect()
}

/// The names of all columns. An empty name becomes the column's number.
fn names(header: &[String], source: &Source) -> Result<Vec<String>, Error> {
    let mut names: Vec<String> = Vec::with_capacity(header.len());
    for (number, name) in (1..).zip(header) {
        let name = if name.is_empty() { format!("column {number}") } else { one_line(name) };
        if let Some(first) = names.iter().position(|earlier| *earlier == name) {
            let first = first + 1;
            let what = format!("columns {first} and {number} are both called `{name}`; rename one");
            return Err(source.wrong(source.header_line, &what));
        }
        names.push(name);
    }
    Ok(names)
}

/// How the columns of knee's own CSV begin. Older exports of samples call the axis `position`, and all others
/// `point`: both names are understood for both.
const EXPORT: [&str; 3] = ["run", "workload", "subject"];

struct Header<'a> {
    names: Vec<String>,
    file: &'a str,
    line: u64,
}

impl Header<'_> {
    fn index(&self, name: &str) -> Option<usize> {
        let name = one_line(name);
        let index = |name: &str| self.names.iter().position(|existing| existing == name);
        index(&name).or_else(|| {
            let names = [("position", "point"), ("point", "position")];
            let (_, alias) =
                names.into_iter().find(|(asked, _)| self.is_export() && name == *asked)?;
            index(alias)
        })
    }

    fn is_export(&self) -> bool {
        self.names.iter().map(String::as_str).take(3).eq(EXPORT)
    }

    fn find(&self, flag: &str, name: &str) -> Result<usize, Error> {
        self.index(name).ok_or_else(|| self.unknown(flag, name))
    }

    fn find_optional(&self, flag: &str, name: Option<&String>) -> Result<Option<usize>, Error> {
        name.map(|name| self.find(flag, name)).transpose()
    }

    /// Several columns, separated by commas; a name that has commas itself is one.
    fn find_all(&self, flag: &str, typed: &[String]) -> Result<Vec<usize>, Error> {
        let mut columns = Vec::new();
        for name in typed {
            match self.index(name) {
                Some(column) => columns.push(column),
                None => {
                    for name in name.split(',') {
                        columns.push(self.find(flag, name)?);
                    }
                }
            }
        }
        Ok(columns)
    }

    /// A line that has figures, and no column that is asked for, is no line of names.
    fn are_names(&self, asked: &[&str]) -> Result<(), Error> {
        let has_asked =
            asked.iter().flat_map(|name| name.split(',')).any(|name| self.index(name).is_some());
        let number = self.names.iter().find(|name| Figure::read_alone(name).is_ok());
        match number.filter(|_| !has_asked) {
            None => Ok(()),
            Some(number) => Err(Error::Refused(format!(
                "{}, line {}: this must name the columns, and `{number}` is no name; put a line of \
                 names above the figures",
                self.file, self.line
            ))),
        }
    }

    fn unknown(&self, flag: &str, name: &str) -> Error {
        let file = self.file;
        let name = one_line(name);
        let hint = match nearest(&name, &self.names).as_slice() {
            [] => format!("its columns are {}", listed(&self.names)),
            candidates => format!("did you mean {}?", candidates.join(" or ")),
        };
        Error::Refused(format!("{flag}: {file} has no column `{name}`; {hint}"))
    }

    fn only_once(&self, given: &[(&str, &[usize])]) -> Result<(), Error> {
        let mut taken: Vec<(&str, usize)> = Vec::new();
        for (flag, columns) in given {
            for &column in *columns {
                if let Some((before, _)) = taken.iter().find(|(_, earlier)| *earlier == column) {
                    let name = &self.names[column];
                    let twice = if before == flag {
                        format!("{flag}: `{name}` is given twice")
                    } else {
                        format!("`{name}` is given to both {before} and {flag}")
                    };
                    return Err(Error::Refused(format!("{twice}; leave one of them away")));
                }
                taken.push((flag, column));
            }
        }
        Ok(())
    }

    /// What each --where asks for, those of one column together.
    fn wheres(&self, typed: &[String]) -> Result<Vec<Where>, Error> {
        let mut wheres: Vec<Where> = Vec::new();
        for typed in typed {
            let (column, value) = self.column_and_value(typed)?;
            let value = one_line(value);
            match wheres.iter_mut().find(|selected| selected.column == column) {
                Some(selected) if selected.values.contains(&value) => {}
                Some(selected) => selected.values.push(value),
                None => wheres.push(Where { column, values: vec![value] }),
            }
        }
        Ok(wheres)
    }

    /// Takes `COL=VALUE` apart. Either may have an equals sign of its own.
    fn column_and_value<'b>(&self, typed: &'b str) -> Result<(usize, &'b str), Error> {
        let mut halves = typed.match_indices('=').map(|(at, _)| (&typed[..at], &typed[at + 1..]));
        let matching = halves.clone().find_map(|(name, value)| Some((self.index(name)?, value)));
        match (matching, halves.next()) {
            (Some(matching), _) => Ok(matching),
            (None, Some((name, _))) => Err(self.unknown("--where", name)),
            (None, None) => Err(Error::Refused(format!(
                "--where: `{}` has no equals sign; write it as COL=VALUE",
                one_line(typed)
            ))),
        }
    }

    fn not_one_value(&self, whole: usize) -> Error {
        let whole = &self.names[whole];
        Error::Refused(format!(
            "--of: a table needs one value of {whole}; add --per {whole}, or --where {whole}=VALUE"
        ))
    }
}
