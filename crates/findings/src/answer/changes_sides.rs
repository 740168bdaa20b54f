//! Where one subject overtakes another, unless an advice says so already.

use super::advice::axis_range;
use super::consequence::Consequence;
use super::material::Material;
use super::range::Range;
use super::statement::{Statement, Topic, rank};
use crate::finding::names::Names;
use crate::finding::sentence::{Sentence, text};
use crate::format::share;
use crate::kinds::Data;
use analysis::{Crossover, Table};

/// The crossovers of a table that say the same: several subjects overtake one.
struct Overtaking<'a> {
    table: &'a Table,
    overtaken: &'a str,
    by: Vec<String>,
    at: Vec<f64>,
    shares: Vec<f64>,
    factor: f64,
}

/// The statements, the largest lead at the far end first.
pub(super) fn statements(material: &Material<'_>, stops_scaling: &[Statement]) -> Vec<Statement> {
    let mut all = Vec::new();
    let mut groups: Vec<Overtaking<'_>> = Vec::new();
    for (table, finding) in material.table_findings() {
        let Data::Crossover(data) = &finding.data else { continue };
        match data.crossovers() {
            [] => {}
            [crossover] if is_advised(stops_scaling, table, crossover) => {}
            [crossover] => join(&mut groups, table, crossover, finding.rank()),
            _ => {
                let analysis = &material.conclusions.analysis;
                let consequence = finding.consequence(analysis);
                let sentence = finding.sentence(material.run, analysis).without_full_stop();
                let subjects = finding.subjects.clone();
                all.push(Statement::new(Topic::Overtakes, table, subjects, consequence, sentence));
            }
        }
    }
    all.extend(groups.into_iter().map(|group| statement(material, group)));
    rank(&mut all);
    all
}

/// Whether an advice says from where on to use what overtakes.
fn is_advised(stops_scaling: &[Statement], table: &Table, crossover: &Crossover) -> bool {
    stops_scaling.iter().filter(|statement| statement.is_about(table)).any(|statement| {
        let advises = |advice: &super::Advice| advice.subjects.contains(&crossover.overtakes);
        statement.subjects.contains(&crossover.overtaken)
            && statement.advice.as_ref().is_some_and(advises)
    })
}

fn join<'a>(
    groups: &mut Vec<Overtaking<'a>>,
    table: &'a Table,
    crossover: &'a Crossover,
    factor: f64,
) {
    let same = |group: &&mut Overtaking<'a>| {
        std::ptr::eq(group.table, table) && group.overtaken == crossover.overtaken
    };
    let shares = crossover.share.map(|share| share.value);
    if let Some(group) = groups.iter_mut().find(same) {
        group.by.push(crossover.overtakes.clone());
        group.at.push(crossover.at.value);
        group.shares.extend(shares);
        group.factor = group.factor.max(factor);
        return;
    }
    groups.push(Overtaking {
        table,
        overtaken: &crossover.overtaken,
        by: vec![crossover.overtakes.clone()],
        at: vec![crossover.at.value],
        shares: shares.into_iter().collect(),
        factor,
    });
}

/// `select and poll overtake epoll-level at 560 to 650 tokens (56 to 65 % of pipes)`.
fn statement(material: &Material<'_>, group: Overtaking<'_>) -> Statement {
    let Overtaking { table, overtaken, by, at, shares, factor } = group;
    let names = material.names(table, &by);
    let verb = if by.len() == 1 { " overtakes " } else { " overtake " };
    let at = Range::new(at);
    let position = axis_range(at, &names);
    let share = share_text(&shares, &names);
    let mut parts = names.subject_list();
    parts.extend([text(verb), names.label(overtaken), text(format!(" at {position}{share}"))]);
    let mut subjects = by.clone();
    subjects.push(overtaken.to_owned());
    let consequence = Consequence { avoidable: true, ..Consequence::new(table, &subjects, factor) };
    Statement::new(Topic::Overtakes, table, subjects, consequence, Sentence::new(parts))
}

/// ` (62 % of pipes)`; nothing where the position says it as a multiple.
fn share_text(shares: &[f64], names: &Names<'_>) -> String {
    match (shares, names.shares()) {
        ([single], Some(word)) if !word.multiple => format!(" ({})", share(word, *single)),
        _ => String::new(),
    }
}
