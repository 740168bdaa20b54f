//! Tables of known programs, recognised by their columns: what each column is need not be typed.

use crate::{TableRequest, listed, samples};
use model::Warning;

/// How a known program writes a table.
pub struct Format {
    program: &'static str,
    /// The program's flags that write it; empty for knee's own.
    option: &'static str,
    /// Columns that its tables have, and no other table has them all.
    columns: &'static [&'static str],
    x: &'static str,
    y: &'static str,
    by: &'static [&'static str],
    round: Option<&'static str>,
    /// Rows that are taken unless others are asked for.
    filter: Option<(&'static str, &'static str)>,
    /// The columns of figures whose unit is known, and where it is.
    unit: (&'static [&'static str], UnitOf),
    /// The column of how many operations a figure is the sum of.
    divisor: Option<(&'static str, &'static str)>,
}

/// Where the unit of a known column is.
enum UnitOf {
    Symbol(&'static str),
    Column(&'static str),
}

const FORMATS: [Format; 3] = [
    Format {
        program: "knee's samples",
        option: "",
        columns: &samples::COLUMNS,
        x: "n",
        y: "value",
        by: &["series"],
        round: Some("round"),
        filter: None,
        unit: (&["value"], UnitOf::Column("unit")),
        divisor: None,
    },
    Format {
        program: "criterion",
        option: "raw.csv",
        columns: &[
            "group",
            "function",
            "value",
            "sample_measured_value",
            "unit",
            "iteration_count",
        ],
        x: "value",
        y: "sample_measured_value",
        by: &["group", "function"],
        round: None,
        filter: None,
        unit: (&["sample_measured_value"], UnitOf::Column("unit")),
        divisor: Some(("sample_measured_value", "iteration_count")),
    },
    Format {
        program: "k6",
        option: "--out csv, tagged vus=10",
        columns: &["metric_name", "timestamp", "metric_value", "scenario", "extra_tags"],
        x: "extra_tags",
        y: "metric_value",
        by: &[],
        round: None,
        filter: Some(("metric_name", "http_req_duration")),
        unit: (&["metric_value"], UnitOf::Symbol("ms")),
        divisor: None,
    },
];

impl Format {
    /// The format of a table with these columns.
    pub fn recognised(header: &[String]) -> Option<&'static Format> {
        let has = |name: &&str| header.iter().any(|column| column == name);
        FORMATS.iter().find(|format| format.columns.iter().all(&has))
    }

    /// What `request` asks for, and what it leaves open as this format has it.
    pub fn completed(&self, request: &TableRequest) -> TableRequest {
        let mut completed = request.clone();
        completed.y.get_or_insert_with(|| self.y.to_owned());
        completed.x.get_or_insert_with(|| self.x.to_owned());
        if completed.by.is_empty() {
            let is_free = |name: &&&str| completed.x.as_deref() != Some(**name);
            completed.by = self.by.iter().filter(is_free).map(ToString::to_string).collect();
        }
        completed.round = completed.round.or(self.round.map(str::to_owned));
        if let Some((column, value)) = self.filter
            && !request.wheres.iter().any(|selection| selection.starts_with(&format!("{column}=")))
        {
            completed.wheres.push(format!("{column}={value}"));
        }
        if let UnitOf::Symbol(symbol) = self.unit.1
            && self.has_unit(&completed)
        {
            completed.unit.get_or_insert_with(|| symbol.to_owned());
        }
        completed
    }

    /// Whether the unit of the figures is known.
    fn has_unit(&self, request: &TableRequest) -> bool {
        let is_known = request.y.as_deref().is_some_and(|y| self.unit.0.contains(&y));
        // Other metrics of k6 are counts, shares and bytes.
        let is_time = |selection: &String| {
            let value = selection.split_once('=').map_or("", |(_, value)| value);
            let is_phase = value.starts_with("http_req_") && value != "http_req_failed";
            is_phase || value.ends_with("_duration")
        };
        let column = self.filter.map(|(column, _)| format!("{column}="));
        let filters = request.wheres.iter().filter(|selection| {
            column.as_ref().is_some_and(|column| selection.starts_with(column))
        });
        is_known && filters.into_iter().all(is_time)
    }

    /// The column that has the unit of the figures in `y`.
    pub fn unit_column(&self, y: &str) -> Option<&'static str> {
        match self.unit {
            (figures, UnitOf::Column(column)) if figures.contains(&y) => Some(column),
            _ => None,
        }
    }

    /// The column of how many operations a figure in `y` is the sum of.
    pub fn divisor(&self, y: &str) -> Option<&'static str> {
        self.divisor.filter(|(figures, _)| *figures == y).map(|(_, divisor)| divisor)
    }

    /// How the table was taken, and what says otherwise.
    pub fn warning(&self, completed: &TableRequest) -> Warning {
        let divisor = completed.y.as_deref().and_then(|y| self.divisor(y));
        taken_for(self.program, completed, divisor)
    }
}

/// That a table was taken for one of `program` by these flags, which may say otherwise.
pub fn taken_for(program: &str, completed: &TableRequest, divisor: Option<&str>) -> Warning {
    let y = completed.y.as_deref().unwrap_or_default();
    let mut flags = vec![format!("--x {}", completed.x.as_deref().unwrap_or_default())];
    flags.push(format!("--y {y}"));
    let lists =
        [("--by", &completed.by), ("--per", &completed.per), ("--where", &completed.wheres)];
    for (flag, values) in lists.into_iter().filter(|(_, values)| !values.is_empty()) {
        flags.push(format!("{flag} {}", values.join(",")));
    }
    flags.extend(completed.unit.as_ref().map(|unit| format!("--unit {unit}")));
    let divided = divisor.map(|by| format!("; {y} was divided by {by}")).unwrap_or_default();
    Warning {
        what: format!("The table was taken for one of {program}: {}{divided}", listed(&flags)),
        remedy: "these flags, to read it otherwise".into(),
    }
}

/// The programs, each with its flags that write its table: for help.
pub fn names() -> impl Iterator<Item = String> {
    let tables = FORMATS.iter().filter(|format| !format.option.is_empty());
    tables.map(|format| format!("{} ({})", format.program, format.option))
}
