//! Where the CPU time goes that grows: what profiles attribute, one statement for subjects of which the same can be
//! stated.

use super::material::Material;
use super::statement::{Statement, Topic, rank};
use crate::finding::Finding;
use crate::finding::sentence::{Sentence, text};
use crate::format::attributed;
use crate::format::count;
use crate::kinds::attribution::{Attribution, Between};
use crate::kinds::{Data, Kind};
use analysis::{ProfileDifference, Table};

/// A finding with its data.
type Attributed<'a> = (&'a Finding, &'a Attribution);

/// The statements: along the axis before those that contrast two subjects, each the greatest consequence
/// first.
pub(super) fn statements(material: &Material<'_>) -> Vec<Statement> {
    let (mut along, mut contrasts) = (Vec::new(), Vec::new());
    for (between, statement) in material.tables().flat_map(|table| of_table(material, table)) {
        match between {
            Between::Points { .. } => along.push(statement),
            Between::Subjects { .. } => contrasts.push(statement),
        }
    }
    rank(&mut along);
    rank(&mut contrasts);
    along.append(&mut contrasts);
    along
}

fn of_table(material: &Material<'_>, table: &Table) -> Vec<(Between, Statement)> {
    let of_table = material.findings().filter(|finding| finding.is_about(table));
    let attributed: Vec<Attributed<'_>> = of_table
        .filter_map(|finding| match &finding.data {
            Data::Attribution(attribution) => Some((finding, attribution)),
            _ => None,
        })
        .collect();
    let mut groups: Vec<Vec<Attributed<'_>>> = Vec::new();
    for &(finding, attribution) in &attributed {
        if is_repeated(&attributed, finding, attribution) {
            continue;
        }
        let is_joined = |group: &&mut Vec<Attributed<'_>>| {
            group[0].1.between == attribution.between
                && matches!(attribution.between, Between::Points { .. })
                && attributed::is_alike(&group[0].1.difference, &attribution.difference)
        };
        match groups.iter_mut().find(is_joined) {
            Some(group) => group.push((finding, attribution)),
            None => groups.push(vec![(finding, attribution)]),
        }
    }
    let with_between =
        |group: &Vec<Attributed<'_>>| (group[0].1.between, statement(material, table, group));
    groups.iter().map(with_between).collect()
}

/// Whether two subjects are contrasted although the growth of the dearer one is attributed, or it was contrasted
/// before: that would say the same again.
fn is_repeated(all: &[Attributed<'_>], finding: &Finding, attribution: &Attribution) -> bool {
    let Between::Subjects { .. } = attribution.between else { return false };
    let dearer = finding.subjects.first();
    let earlier = all.iter().take_while(|(earlier, _)| !std::ptr::eq(*earlier, finding));
    let is_contrasted = earlier
        .filter(|(_, data)| matches!(data.between, Between::Subjects { .. }))
        .any(|(earlier, _)| earlier.subjects.first() == dearer);
    let is_attributed = all
        .iter()
        .filter(|(_, data)| matches!(data.between, Between::Points { .. }))
        .any(|(grown, data)| data.difference.is_attributed() && grown.subjects.first() == dearer);
    is_contrasted || is_attributed
}

fn statement(material: &Material<'_>, table: &Table, group: &[Attributed<'_>]) -> Statement {
    let analysis = &material.conclusions.analysis;
    let (finding, attribution) = group[0];
    let ranked = group.iter().max_by(|a, b| a.0.rank().total_cmp(&b.0.rank()));
    let consequence = ranked.map_or(finding, |ranked| ranked.0).consequence(analysis);
    let topic = Topic::Finding(Kind::Attribution);
    let (Between::Points { from, to }, [_, _, ..]) = (attribution.between, group) else {
        let sentence = finding.sentence(material.run, analysis).without_full_stop();
        return Statement::new(topic, table, finding.subjects.clone(), consequence, sentence);
    };
    let subjects: Vec<String> =
        group.iter().flat_map(|(finding, _)| finding.subjects.clone()).collect();
    let names = material.names(table, &subjects);
    let range = format!("between {} and {} {}", count(from), count(to), names.axis());
    let differences: Vec<&ProfileDifference> =
        group.iter().map(|(_, attribution)| &attribution.difference).collect();
    let rest = text(format!(": {}", attributed::added(&differences, &range)));
    let sentence = Sentence::new(names.subject_list().into_iter().chain([rest]));
    Statement::new(topic, table, subjects, consequence, sentence)
}
