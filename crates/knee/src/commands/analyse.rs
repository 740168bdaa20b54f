//! `knee analyse`: the tables and findings of a table from elsewhere.

use crate::args::Analyse;
use crate::commands::report;
use crate::exit::{Exit, Trouble};
use crate::foreign;
use crate::output::{print, print_json, style};
use ::report::json::Samples;
use analysis::Analysis;

/// Analyses a table. Nothing is recorded.
pub fn analyse(ask: &Analyse, words: Vec<String>) -> Result<Exit, Trouble> {
    if let Some(page) = &ask.output {
        report::check(page, None)?;
    }
    let run = foreign::run(ask, words)?;
    let mut analysis = analysis::analyse(&run);
    reword(&mut analysis);
    let analysed = [(run, analysis)];
    if let Some(file) = &ask.output {
        report::write(file, None, &analysed)?;
    }
    let [(run, analysis)] = &analysed;
    if ask.json {
        print_json(&::report::json::run(run, analysis, Samples::Include))?;
        return Ok(Exit::Done);
    }
    print(&::report::terminal::tables(run, analysis, &style(ask.all)))?;
    if let Some(file) = &ask.output {
        print(&format!("Report: {}\n", file.display()))?;
    }
    Ok(Exit::Done)
}

/// Says of a table what analysis says of a run: there is no plan in which something was left out,
/// and no flag of `knee run` that could mend it.
fn reword(analysis: &mut Analysis) {
    let rows = analysis.tables.iter_mut().flat_map(|table| &mut table.rows);
    for (_, reason) in rows.flat_map(|row| &mut row.missing) {
        if reason == "not planned" {
            foreign::NO_ROW.clone_into(reason);
        }
    }
    for caveat in &mut analysis.caveats {
        if caveat.remedy.contains("--rounds") {
            caveat.remedy = "a row for each repetition of the measurement".into();
        } else if caveat.remedy.contains("--points") {
            caveat.remedy = "figures at five points or more".into();
        }
    }
}
