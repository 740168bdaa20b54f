//! `knee analyse`: the tables and findings of a table from elsewhere.

use crate::args::Analyse;
use crate::commands::report;
use crate::exit::{Exit, Trouble};
use crate::output::{print, print_json, style};
use ::report::json::Samples;
use analysis::{Analysis, MissingFigure};
use foreign_tables::{Foreign, Input, Request};

/// Analyses a table. Nothing is recorded.
pub fn analyse(ask: &Analyse, words: Vec<String>) -> Result<Exit, Trouble> {
    if let Some(page) = &ask.output {
        report::check(page, None)?;
    }
    let request = Request { sd: ask.sd.clone(), n: ask.n, ..ask.table.request() };
    let input = Input::open(&ask.file)?;
    let Foreign { run, named_points } = foreign_tables::read(&request, input, words)?;
    let mut conclusions = match named_points {
        Some(points) => findings::conclude_named(&run, &points),
        None => findings::conclude(&run),
    };
    reword(&mut conclusions.analysis);
    let analysed = [(run, conclusions)];
    if let Some(file) = &ask.output {
        report::write(file, None, &analysed)?;
    }
    let [(run, conclusions)] = &analysed;
    if ask.json {
        print_json(&::report::json::run(run, conclusions, Samples::Include))?;
        return Ok(Exit::Done);
    }
    print(&::report::terminal::tables(run, conclusions, &style(ask.all)))?;
    if let Some(file) = &ask.output {
        print(&format!("Report: {}\n", file.display()))?;
    }
    Ok(Exit::Done)
}

/// Says of a table what analysis says of a run: there is no plan in which something was left out.
fn reword(analysis: &mut Analysis) {
    let rows = analysis.tables.iter_mut().flat_map(|table| &mut table.rows);
    for (_, reason) in rows.flat_map(|row| &mut row.missing) {
        if *reason == MissingFigure::NotPlanned {
            *reason = MissingFigure::NoRow;
        }
    }
}
