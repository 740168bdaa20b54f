//! Maps: which subject is best where, over a whole and a share of it at once.

use crate::{Lead, Map, Shares, Table};
use model::{Parameters, WorkloadInfo};
use std::collections::{BTreeMap, BTreeSet};

/// Ratios that differ by less are the same, rounded to whole parts: 33 of 1,000 and 333 of 10,000.
const ROUNDING: f64 = 1.03;

/// One map for each set of parameters under which the headline metric of a workload with a ratio has
/// figures at two totals and two ratios at least.
pub(crate) fn maps(workloads: &[WorkloadInfo], tables: &[Table]) -> Vec<Map> {
    let mut maps = Vec::new();
    for workload in workloads {
        let mut groups: BTreeMap<Parameters, Vec<&Table>> = BTreeMap::new();
        let headline = |table: &&Table| table.headline && table.workload == workload.name;
        for table in tables.iter().filter(headline) {
            let Some(shares) = &table.shares else { continue };
            let mut parameters = table.parameters.clone();
            parameters.remove(&shares.part);
            parameters.remove(&shares.whole);
            groups.entry(parameters).or_default().push(table);
        }
        maps.extend(groups.into_iter().filter_map(|(parameters, tables)| map(parameters, &tables)));
    }
    maps
}

impl Map {
    /// Whether some total was compared at more than one share: else it is a line, and the table has
    /// it.
    pub fn is_wide(&self) -> bool {
        self.leads.iter().any(|row| row.iter().flatten().count() > 1)
    }
}

/// One field of a map: who leads at a total and a share.
struct Field<'a> {
    total: u64,
    share: f64,
    lead: &'a Lead,
}

fn map(parameters: Parameters, tables: &[&Table]) -> Option<Map> {
    let first = tables.first()?;
    let Shares { whole, word, .. } = first.shares.as_ref()?;
    let fields: Vec<Field<'_>> = tables.iter().flat_map(|table| fields(table)).collect();
    let totals: Vec<u64> =
        fields.iter().map(|field| field.total).collect::<BTreeSet<_>>().into_iter().collect();
    let columns = columns(fields.iter().map(|field| field.share).collect());
    if totals.len() < 2 || columns.len() < 2 {
        return None;
    }
    let mut leads: Vec<Vec<Option<Lead>>> = vec![vec![None; columns.len()]; totals.len()];
    for field in &fields {
        let row = totals.binary_search(&field.total).ok()?;
        let column = columns.iter().position(|column| column.contains(&field.share))?;
        leads[row][column].get_or_insert_with(|| field.lead.clone());
    }
    Some(Map {
        workload: first.workload.clone(),
        metric: first.metric.clone(),
        parameters,
        whole: whole.clone(),
        word: word.clone(),
        totals,
        shares: columns.iter().map(|column| column[column.len() / 2]).collect(),
        subjects: subjects(tables, &leads),
        leads,
    })
}

/// The fields of `table`, at its own points.
fn fields(table: &Table) -> Vec<Field<'_>> {
    let Some(shares) = &table.shares else { return Vec::new() };
    let columns = table.points.iter().zip(&shares.values).zip(&table.leads);
    columns
        .filter_map(|((&point, &share), leads)| {
            // Of several operations none leads the others.
            let [lead] = leads.as_slice() else { return None };
            Some(Field { total: table.whole_at(point)?, share, lead })
        })
        .collect()
}

/// The ratios in ascending order, those together that differ by rounding only.
fn columns(mut shares: Vec<f64>) -> Vec<Vec<f64>> {
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for share in shares {
        match columns.last_mut() {
            Some(column) if share < column[0] * ROUNDING => column.push(share),
            _ => columns.push(vec![share]),
        }
    }
    columns
}

/// Name and label of the subjects that stand in `leads`, in the order of the tables.
fn subjects(tables: &[&Table], leads: &[Vec<Option<Lead>>]) -> Vec<(String, String)> {
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for lead in leads.iter().flatten().flatten() {
        named.insert(&lead.best);
        if !lead.clear {
            named.insert(&lead.second);
        }
        named.extend(lead.tied.iter().map(String::as_str));
    }
    let mut subjects = Vec::new();
    for row in tables.iter().flat_map(|table| &table.rows) {
        if named.remove(row.subject.as_str()) {
            subjects.push((row.subject.clone(), row.label.clone()));
        }
    }
    subjects
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_that_differ_by_rounding_share_a_column() {
        let merged = columns(vec![0.5, 0.033, 0.1, 0.0333, 0.1, 0.034]);
        assert_eq!(merged, [vec![0.033, 0.0333], vec![0.034], vec![0.1], vec![0.5]]);
        assert!(columns(Vec::new()).is_empty());
    }
}
