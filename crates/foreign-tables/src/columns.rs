//! Which column is what: the names that were typed, found in the table's first line.

use super::{Request, listed, nearest, numbers, one_line};
use crate::Error;
use record::{Parameters, Value};

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
    pub of: Option<usize>,
    /// What tells rounds apart.
    pub round: Option<usize>,
    /// The figures' standard deviations.
    pub sd: Option<usize>,
    /// Which rows are taken.
    pub wheres: Vec<Where>,
    /// Columns that are named for nothing that tells figures apart: rows that differ in these only
    /// are taken as repetitions.
    pub others: Vec<usize>,
}

/// The rows of which this column has one of these values.
pub struct Where {
    pub column: usize,
    pub values: Vec<String>,
}

/// Columns that number repetitions: that rows differ in them says what they are.
const NUMBER_REPETITIONS: [&str; 8] =
    ["round", "rep", "repeat", "repetition", "run", "iteration", "trial", "sample"];

impl Columns {
    /// Finds what `request` names in the first line of `file`.
    pub fn find(request: &Request, header: &[String], file: &str) -> Result<Columns, Error> {
        let table = request;
        let header = Header { names: names(header, file)?, file };
        let (x, y) = request.columns(&header.names, file)?;
        header.are_names(&[&[x, y], texts(&table.by).as_slice()].concat())?;
        let (x, y) = (header.find("--x", x)?, header.find("--y", y)?);
        let by = header.find_all("--by", &table.by)?;
        let per = header.find_all("--per", &table.per)?;
        let one = |flag: &str, name: &Option<String>| {
            name.as_ref().map(|name| header.find(flag, name)).transpose()
        };
        let (of, round, sd) =
            (one("--of", &table.of)?, one("--round", &table.round)?, one("--sd", &request.sd)?);
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

        let wheres = header.wheres(&table.wheres)?;
        let single = wheres.iter().filter(|one| one.values.len() == 1).map(|one| one.column);
        let mut parameters = per;
        for column in single.filter(|column| ![x, y].contains(column)) {
            if !parameters.contains(&column) {
                parameters.push(column);
            }
        }
        if let Some(of) = of.filter(|of| !parameters.contains(of)) {
            return Err(header.not_one_value(of));
        }
        let numbers_repetitions = |column: usize| {
            let name = header.names[column].to_lowercase();
            NUMBER_REPETITIONS.contains(&name.as_str())
        };
        let told_apart = |column: &usize| {
            let named = [x, y].contains(column) || [round, sd].contains(&Some(*column));
            named || by.contains(column) || parameters.contains(column)
        };
        let others = (0..header.names.len())
            .filter(|column| !told_apart(column) && !numbers_repetitions(*column))
            .collect();
        let names = header.names;
        Ok(Columns { names, x, y, by, parameters, of, round, sd, wheres, others })
    }

    /// A column's name.
    pub fn name(&self, column: usize) -> &str {
        &self.names[column]
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

/// The names of all columns. One that has none is called by its place.
fn names(header: &[String], file: &str) -> Result<Vec<String>, Error> {
    let mut names: Vec<String> = Vec::with_capacity(header.len());
    for (place, name) in header.iter().enumerate() {
        let name = if name.is_empty() { format!("column {}", place + 1) } else { one_line(name) };
        if let Some(first) = names.iter().position(|known| *known == name) {
            let (first, second) = (first + 1, place + 1);
            return Err(Error::Refused(format!(
                "{file}, line 1: columns {first} and {second} are both called `{name}`; rename one"
            )));
        }
        names.push(name);
    }
    Ok(names)
}

struct Header<'a> {
    names: Vec<String>,
    file: &'a str,
}

impl Header<'_> {
    fn place(&self, name: &str) -> Option<usize> {
        let name = one_line(name);
        self.names.iter().position(|known| *known == name)
    }

    fn find(&self, flag: &str, name: &str) -> Result<usize, Error> {
        self.place(name).ok_or_else(|| self.unknown(flag, name))
    }

    /// Several columns, separated by commas; a name that has commas itself is one.
    fn find_all(&self, flag: &str, typed: &[String]) -> Result<Vec<usize>, Error> {
        let mut found = Vec::new();
        for name in typed {
            match self.place(name) {
                Some(place) => found.push(place),
                None => {
                    for name in name.split(',') {
                        found.push(self.find(flag, name)?);
                    }
                }
            }
        }
        Ok(found)
    }

    /// A line that has figures, and no column that is asked for, is no line of names.
    fn are_names(&self, asked: &[&str]) -> Result<(), Error> {
        let found =
            asked.iter().flat_map(|name| name.split(',')).any(|name| self.place(name).is_some());
        let number = self.names.iter().find(|name| numbers::point(name, false).is_ok());
        match number.filter(|_| !found) {
            None => Ok(()),
            Some(number) => Err(Error::Refused(format!(
                "{}, line 1: this must name the columns, and `{number}` is no name; put a line of \
                 names above the figures",
                self.file
            ))),
        }
    }

    fn unknown(&self, flag: &str, name: &str) -> Error {
        let file = self.file;
        let name = one_line(name);
        let near = nearest(&name, &self.names);
        let hint = match near.as_slice() {
            [] => format!("its columns are {}", listed(&self.names)),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        Error::Refused(format!("{flag}: {file} has no column `{name}`; {hint}"))
    }

    fn only_once(&self, given: &[(&str, &[usize])]) -> Result<(), Error> {
        let mut taken: Vec<(&str, usize)> = Vec::new();
        for (flag, columns) in given {
            for &column in *columns {
                if let Some((before, _)) = taken.iter().find(|(_, other)| *other == column) {
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
            match wheres.iter_mut().find(|one| one.column == column) {
                Some(one) if one.values.contains(&value) => {}
                Some(one) => one.values.push(value),
                None => wheres.push(Where { column, values: vec![value] }),
            }
        }
        Ok(wheres)
    }

    /// Takes `COL=VALUE` apart. Either may have an equals sign of its own.
    fn column_and_value<'b>(&self, typed: &'b str) -> Result<(usize, &'b str), Error> {
        let mut halves = typed.match_indices('=').map(|(at, _)| (&typed[..at], &typed[at + 1..]));
        let known = halves.clone().find_map(|(name, value)| Some((self.place(name)?, value)));
        match (known, halves.next()) {
            (Some(known), _) => Ok(known),
            (None, Some((name, _))) => Err(self.unknown("--where", name)),
            (None, None) => Err(Error::Refused(format!(
                "--where: `{}` has no equals sign; write it as COL=VALUE",
                one_line(typed)
            ))),
        }
    }

    fn not_one_value(&self, of: usize) -> Error {
        let of = &self.names[of];
        Error::Refused(format!(
            "--of: a table needs one value of {of}; add --per {of}, or --where {of}=VALUE"
        ))
    }
}
