//! `knee run --like`: the settings of a classic benchmark, and its output format.

mod averages;
mod calls;
mod reply_rates;
pub mod summary;

use analysis::{Analysis, Row, Table};
use engine::{About, Original, Print, RunRequest};
use findings::Conclusions;
use model::{Parameters, Run, Value};
use std::fmt::Write;

pub fn all() -> impl Iterator<Item = (&'static About, &'static Original)> {
    let tables = workloads::all().iter().map(|row| row.about());
    tables.flat_map(|about| about.originals.iter().map(move |original| (about, original)))
}

pub fn named(name: &str) -> Option<(&'static About, &'static Original)> {
    all().find(|(_, original)| original.name == name)
}

/// The request of the flags, with the settings of the original of that name where no flag gives one.
pub fn with_original(name: Option<&str>, flags: RunRequest) -> RunRequest {
    let Some((about, original)) = name.and_then(named) else { return flags };
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let mut request =
        RunRequest { workloads: owned(&original.workloads(&about.info.name)), ..flags };
    if request.subjects.is_empty() {
        request.subjects = owned(original.subjects);
    }
    let read = |name: &str, text: &str| match about.parameter(name) {
        Some(parameter) => parameter.read(text),
        None => Value::typed(text),
    };
    let axis = about.axis();
    if request.points.is_empty() && !request.parameters.contains_key(axis) {
        request.points = original.points.iter().map(|point| read(axis, point)).collect();
    }
    for (name, text) in original.parameters {
        let values = request.parameters.entry((*name).to_owned());
        values.or_insert_with(|| vec![read(name, text)]);
    }
    if request.rounds.is_none() && !request.quick && !request.full {
        request.rounds = original.rounds;
    }
    request
}

/// The same command line without `--like`.
pub fn command(about: &About, original: &Original) -> String {
    let (subjects, points) = (original.subjects.join(","), original.points.join(","));
    let workloads = original.workloads(&about.info.name).join(" ");
    let mut command = format!("knee run {workloads}");
    for (flag, values) in [("subjects", subjects), ("points", points)] {
        let _ = if values.is_empty() { Ok(()) } else { write!(command, " --{flag} {values}") };
    }
    for (name, value) in original.parameters {
        let _ = write!(command, " --{name} {value}");
    }
    if let Some(rounds) = original.rounds {
        let _ = write!(command, " --rounds {rounds}");
    }
    command
}

/// The result as the original of that name printed it, remarks on it, and a line with the `files` of the run.
pub fn output(name: &str, run: &Run, conclusions: &Conclusions, files: &str) -> String {
    let analysis = &conclusions.analysis;
    let Some((_, original)) = named(name) else { return String::new() };
    let mut out = String::new();
    let mark = match original.print {
        Print::Microseconds(head) => {
            tables(&mut out, original, analysis, |out, table| microseconds(out, head, table));
            ""
        }
        Print::Rates(head) => {
            tables(&mut out, original, analysis, |out, table| rates(out, head, table));
            ""
        }
        Print::ReplyRates => {
            tables(&mut out, original, analysis, |out, table| reply_rates::lines(out, table, run));
            ""
        }
        Print::Averages => {
            averages::blocks(&mut out, analysis, run);
            ""
        }
        Print::Calls(columns) => {
            calls::calls(&mut out, name, columns, run);
            "# "
        }
        Print::Summary => {
            out.extend(summary::summary(&[(run, analysis)]));
            ""
        }
    };
    let blank = if mark.is_empty() { vec![String::new()] } else { Vec::new() };
    for remark in remarks(original, conclusions).into_iter().chain(blank).chain([files.to_owned()])
    {
        for line in remark.split('\n') {
            let _ = writeln!(out, "{mark}{line}");
        }
    }
    out
}

/// The headline tables by `print`, each with the lines that stood below it.
fn tables(
    out: &mut String,
    original: &Original,
    analysis: &Analysis,
    print: impl Fn(&mut String, &Table),
) {
    let tables: Vec<&Table> = analysis.tables.iter().filter(|table| table.headline).collect();
    for table in &tables {
        title(out, table, &tables);
        print(out, table);
        for (metric, words) in original.also {
            let is_same = |candidate: &&Table| {
                candidate.metric.name == *metric && candidate.parameters == table.parameters
            };
            if let Some(also) = analysis.tables.iter().find(is_same) {
                line(out, words, also);
            }
        }
    }
}

fn remarks(original: &Original, conclusions: &Conclusions) -> Vec<String> {
    let hidden = original.hides.iter().map(|what| format!("Hidden: {what}."));
    let caveats = conclusions.caveats.iter().map(|caveat| format!("Warning: {}", caveat.line()));
    hidden.chain(caveats).collect()
}

/// Which of several tables this is, by the parameters that differ among them: `pipes 20`.
fn title(out: &mut String, table: &Table, tables: &[&Table]) {
    let words = differing(&table.parameters, tables.iter().map(|table| &table.parameters));
    if words.is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let _ = writeln!(out, "{}", words.join(", "));
}

fn differing<'a>(own: &Parameters, all: impl Iterator<Item = &'a Parameters>) -> Vec<String> {
    let all: Vec<&Parameters> = all.collect();
    let differs = |name: &str| all.iter().any(|each| each.get(name) != own.get(name));
    let parameters = own.iter().filter(|(name, _)| differs(name));
    parameters.map(|(name, value)| format!("{name} {value}")).collect()
}

fn measured(table: &Table) -> impl Iterator<Item = &Row> {
    table.rows.iter().filter(|row| row.cells.iter().any(Option::is_some))
}

/// Points across, subjects down; `-` where there is no figure, as the original had it.
fn microseconds(out: &mut String, head: &str, table: &Table) {
    let labels = measured(table).map(|row| row.label.chars().count());
    let width = labels.chain([head.len()]).max().unwrap_or_default();
    let _ = write!(out, "{head:>width$}");
    for point in &table.points {
        let _ = write!(out, " {point:>7}");
    }
    out.push('\n');
    for row in measured(table) {
        let _ = write!(out, "{:>width$}", row.label);
        for cell in &row.cells {
            let figure = cell.as_ref().map(|cell| format!("{:.0}", cell.median.value / 1e3));
            let _ = write!(out, " {:>7}", figure.as_deref().unwrap_or("-"));
        }
        out.push('\n');
    }
}

/// Points down, subjects across.
fn rates(out: &mut String, head: &str, table: &Table) {
    let points = table.points.iter().map(|point| point.to_string().len());
    let width = points.chain([head.len()]).max().unwrap_or_default();
    let _ = write!(out, "{head:<width$}");
    for row in measured(table) {
        let _ = write!(out, " {:>12}", row.label);
    }
    out.push('\n');
    for (column, point) in table.points.iter().enumerate() {
        let _ = write!(out, "{point:<width$}");
        for row in measured(table) {
            let figure = row.cells[column].as_ref().map(|cell| format!("{:.2}", cell.median.value));
            let _ = write!(out, " {:>12}", figure.as_deref().unwrap_or("-"));
        }
        out.push('\n');
    }
}

/// One figure at the last point: the middle one of the subjects, which it does not depend on.
fn line(out: &mut String, words: &str, table: &Table) {
    let Some(last) = table.points.last() else { return };
    let mut figures: Vec<f64> = table
        .rows
        .iter()
        .filter_map(|row| Some(row.cells.last()?.as_ref()?.median.value / 1e3))
        .collect();
    figures.sort_by(f64::total_cmp);
    if let Some(middle) = figures.get(figures.len() / 2) {
        let _ = writeln!(out, "{middle:.0} {}", words.replace("{}", &last.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Workload;

    /// The workloads that measure an original.
    fn measuring(about: &About, original: &Original) -> Vec<&'static dyn Workload> {
        let row = |name: &str| {
            workloads::find(name).unwrap_or_else(|| panic!("{}: no workload {name}", original.name))
        };
        original.workloads(&about.info.name).into_iter().map(row).collect()
    }

    #[test]
    fn every_original_names_what_there_is() {
        for (about, original) in all() {
            for workload in measuring(about, original) {
                let (measured, subjects) = (workload.about(), workload.subjects());
                for (name, _) in original.parameters {
                    assert!(measured.parameter(name).is_some(), "{}: {name}", original.name);
                }
                for name in original.subjects {
                    let has = subjects.iter().any(|subject| subject.info.name == *name);
                    assert!(has, "{}: {} has no subject {name}", original.name, workload.name());
                }
            }
            for metric in original.also {
                assert!(
                    about.info.metrics.iter().any(|declared| declared.name == metric.0),
                    "{metric:?}"
                );
            }
            assert!(
                !original.hides.is_empty(),
                "{}: every original hides something",
                original.name
            );
        }
    }

    #[test]
    fn columns_are_trajectories_over_the_same_parameters() {
        for (about, original) in all() {
            let Print::Calls(columns) = original.print else { continue };
            let names = |about: &About| about.parameters.iter().map(|p| p.name).collect::<Vec<_>>();
            for workload in measuring(about, original) {
                let row = &workload.about().info;
                assert!(row.trajectory, "{}: {}", original.name, row.name);
                assert_eq!(workload.about().axis(), about.axis(), "{}", original.name);
                assert_eq!(names(workload.about()), names(about), "{}", original.name);
                let mut own = columns.iter().filter(|(name, _)| *name == row.name);
                let has = |metric: &str| row.metrics.iter().any(|declared| declared.name == metric);
                assert!(own.all(|(_, metric)| has(metric)), "{}: {}", original.name, row.name);
            }
        }
    }

    #[test]
    fn rounds_are_the_originals_unless_a_flag_names_them() {
        let with = |flags| with_original(Some("bindbench"), flags);
        let same = with(RunRequest::default());
        assert_eq!(same.workloads, ["socket", "bind"]);
        assert_eq!((same.rounds, &same.points[..]), (Some(5), &[10_000.into()][..]));
        let named = with(RunRequest { rounds: Some(2), ..RunRequest::default() });
        assert_eq!(named.rounds, Some(2));
        let quick = with(RunRequest { quick: true, ..RunRequest::default() });
        assert_eq!(quick.rounds, None);
    }
}
