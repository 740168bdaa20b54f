//! The ratio that a workload's figures are read by, one parameter as a share of another, and maps: which subject is best
//! where, over a whole and a share of it at once.

use crate::{Estimate, Lead, Map, Shares, Table};
use model::{Parameters, Ratio, Value, WorkloadInfo};
use std::collections::{BTreeMap, BTreeSet};

/// How a value on the axis of one table becomes a ratio.
pub(crate) struct Portion<'a> {
    ratio: &'a Ratio,
    rule: Rule,
}

enum Rule {
    /// The axis is the part, of this whole.
    Whole(f64),
    /// The axis is the whole; this is the part.
    Part(f64),
    /// The part is a share of the whole by itself.
    Always(f64),
}

impl<'a> Portion<'a> {
    /// That of the tables of `workload` under `parameters`; `None` where it has no ratio, the axis is
    /// neither part nor whole, or the other one is not a number above zero.
    pub(crate) fn new(workload: &'a WorkloadInfo, parameters: &Parameters) -> Option<Self> {
        let ratio = workload.ratio.as_ref()?;
        let axis = &workload.axis_parameter;
        let rule = if *axis == ratio.part {
            Rule::Whole(above_zero(parameters.get(&ratio.whole)?)?)
        } else if *axis == ratio.whole {
            let part = parameters.get(&ratio.part)?;
            match part.factor() {
                Some(factor) => Rule::Always(factor),
                None => Rule::Part(above_zero(part)?),
            }
        } else {
            return None;
        };
        Some(Self { ratio, rule })
    }

    /// The ratio at each of `points`; `None` where one has none: nothing is a part of zero.
    pub(crate) fn shares(&self, points: &[u64]) -> Option<Shares> {
        let values: Vec<f64> = points.iter().map(|&point| self.at(point as f64)).collect();
        let Ratio { part, whole, word, multiple } = self.ratio.clone();
        let all_finite = values.iter().all(|share| share.is_finite());
        all_finite.then_some(Shares { word, part, whole, multiple, values })
    }

    /// A position on the axis as a ratio. Where the axis is the whole, the low end is the high one.
    pub(crate) fn at_position(&self, position: Estimate) -> Estimate {
        let Estimate { value, low, high } = position.map(|axis| self.at(axis));
        Estimate { value, low: low.min(high), high: low.max(high) }
    }

    pub(crate) fn at(&self, axis: f64) -> f64 {
        match self.rule {
            Rule::Whole(whole) => axis / whole,
            Rule::Part(part) => part / axis,
            Rule::Always(share) => share,
        }
    }
}

impl Shares {
    /// The index of the point at which there is one of the part for each of the whole, where the part along `axis` is
    /// written as a multiple: up to there each one more uses more of the whole, beyond it they share it.
    pub fn one_each(&self, axis: &str) -> Option<usize> {
        let is_multiple = self.multiple && self.part == axis;
        self.values.iter().position(|share| (share - 1.0).abs() < 1e-9).filter(|_| is_multiple)
    }
}

impl Table {
    /// The whole of which a share lies at `point`: the point itself, or a parameter.
    pub fn whole_at(&self, point: u64) -> Option<u64> {
        let whole = &self.shares.as_ref()?.whole;
        if *whole == self.axis_parameter {
            return Some(point);
        }
        self.parameters.get(whole)?.number()
    }

    /// Its parameters but for the two that its ratio is of, if it has one.
    pub(crate) fn further_parameters(&self) -> Option<Parameters> {
        let shares = self.shares.as_ref()?;
        let mut parameters = self.parameters.clone();
        parameters.retain(|name, _| *name != shares.part && *name != shares.whole);
        Some(parameters)
    }
}

fn above_zero(value: &Value) -> Option<f64> {
    value.size().filter(|size| *size > 0.0)
}

/// Ratios that differ by less are the same, rounded to whole parts: 33 of 1,000 and 333 of 10,000.
const ROUNDING: f64 = 1.03;

/// A map for each set of parameters under which a headline metric has figures at two totals and two ratios.
pub(crate) fn maps(workloads: &[WorkloadInfo], tables: &[Table]) -> Vec<Map> {
    let mut maps = Vec::new();
    for workload in workloads {
        let mut groups: BTreeMap<Parameters, Vec<&Table>> = BTreeMap::new();
        let headline = |table: &&Table| table.headline && table.workload == workload.name;
        for table in tables.iter().filter(headline) {
            if let Some(parameters) = table.further_parameters() {
                groups.entry(parameters).or_default().push(table);
            }
        }
        maps.extend(groups.into_iter().filter_map(|(parameters, tables)| map(parameters, &tables)));
    }
    maps
}

impl Map {
    /// Whether some total was compared at more than one share: else it is a line of a table.
    pub fn is_wide(&self) -> bool {
        self.leads.iter().any(|row| row.iter().flatten().count() > 1)
    }
}

fn map(parameters: Parameters, tables: &[&Table]) -> Option<Map> {
    let first = tables.first()?;
    let Shares { whole, word, .. } = first.shares.as_ref()?;
    let fields: Vec<(u64, f64, &Lead)> = tables.iter().flat_map(|table| fields(table)).collect();
    let totals: BTreeSet<u64> = fields.iter().map(|(total, ..)| *total).collect();
    let totals: Vec<u64> = totals.into_iter().collect();
    let columns = columns(fields.iter().map(|(_, share, _)| *share).collect());
    if totals.len() < 2 || columns.len() < 2 {
        return None;
    }
    let mut leads: Vec<Vec<Option<Lead>>> = vec![vec![None; columns.len()]; totals.len()];
    for (total, share, lead) in fields {
        let row = totals.binary_search(&total).ok()?;
        let column = columns.iter().position(|column| column.contains(&share))?;
        leads[row][column].get_or_insert_with(|| lead.clone());
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

/// The totals, shares and leads of `table`, at its own points.
fn fields(table: &Table) -> impl Iterator<Item = (u64, f64, &Lead)> {
    let shares = table.shares.iter().flat_map(|shares| &shares.values);
    let columns = table.points.iter().zip(shares).zip(&table.leads);
    columns.filter_map(|((&point, &share), leads)| {
        // Of several operations none leads the others.
        let [lead] = leads.as_slice() else { return None };
        Some((table.whole_at(point)?, share, lead))
    })
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

    fn workload(axis: &str) -> WorkloadInfo {
        let ratio = Ratio {
            part: "tokens".into(),
            whole: "pipes".into(),
            word: "active".into(),
            ..Ratio::default()
        };
        let axis_parameter = axis.into();
        WorkloadInfo { axis_parameter, ratio: Some(ratio), ..WorkloadInfo::default() }
    }

    fn values(axis: &str, name: &str, value: &str, points: &[u64]) -> Option<Vec<f64>> {
        let parameters = Parameters::from([(name.into(), value.into())]);
        let workload = workload(axis);
        let shares = Portion::new(&workload, &parameters)?.shares(points)?;
        Some(shares.values)
    }

    #[test]
    fn the_axis_may_be_part_or_whole() {
        assert_eq!(values("tokens", "pipes", "1000", &[1, 10]), Some(vec![0.001, 0.01]));
        assert_eq!(values("pipes", "tokens", "10", &[10, 100]), Some(vec![1.0, 0.1]));
        assert_eq!(values("pipes", "tokens", "10%", &[10, 100]), Some(vec![0.1, 0.1]));
        assert_eq!(values("pipes", "tokens", "0.5 %", &[10]), Some(vec![0.005]));
    }

    #[test]
    fn multiples_are_not_percentages_and_may_be_fixed() {
        let ratio = Ratio {
            part: "threads".into(),
            whole: "cpus".into(),
            word: "per CPU".into(),
            multiple: true,
        };
        let mut workload = WorkloadInfo { ratio: Some(ratio), ..workload("threads") };
        let shares_of = |workload: &WorkloadInfo, name: &str, value: &str, points: &[u64]| {
            let parameters = Parameters::from([(name.to_owned(), value.into())]);
            Portion::new(workload, &parameters).and_then(|portion| portion.shares(points))
        };
        let shares = shares_of(&workload, "cpus", "2", &[1, 2, 32]).unwrap();
        assert_eq!(shares.values, [0.5, 1.0, 16.0]);
        assert_eq!((shares.one_each("threads"), shares.one_each("cpus")), (Some(1), None));
        workload.axis_parameter = "cpus".into();
        let always = |value: &str| {
            shares_of(&workload, "threads", value, &[1, 2]).map(|shares| shares.values)
        };
        assert_eq!(always("4x"), Some(vec![4.0, 4.0]));
        assert_eq!(always("1/2x"), Some(vec![0.5, 0.5]));
        assert_eq!(always("4"), Some(vec![4.0, 2.0]));
        assert_eq!((always("x"), always("1/0x")), (None, None));
    }

    #[test]
    fn what_can_not_be_a_ratio_is_none() {
        assert_eq!(values("tokens", "pipes", "10%", &[1]), None);
        assert_eq!(values("tokens", "pipes", "all", &[1]), None);
        assert_eq!(values("tokens", "pipes", "0", &[1]), None);
        assert_eq!(values("tokens", "size", "1", &[1]), None);
        assert_eq!(values("pipes", "tokens", "inf", &[1]), None);
        assert_eq!(values("pipes", "tokens", "1", &[0, 1]), None);
        assert_eq!(values("size", "tokens", "1", &[1]), None);
        let plain = WorkloadInfo { ratio: None, ..workload("tokens") };
        assert!(Portion::new(&plain, &Parameters::new()).is_none());
    }

    #[test]
    fn a_position_on_the_whole_turns_its_interval_over() {
        let at = Estimate { value: 13.0, low: 9.0, high: 17.0 };
        let parameters = Parameters::from([("tokens".into(), "1".into())]);
        let workload = workload("pipes");
        let share = Portion::new(&workload, &parameters).unwrap().at_position(at);
        assert_eq!(share, Estimate { value: 1.0 / 13.0, low: 1.0 / 17.0, high: 1.0 / 9.0 });
    }

    #[test]
    fn ratios_that_differ_by_rounding_share_a_column() {
        let merged = columns(vec![0.5, 0.033, 0.1, 0.0333, 0.1, 0.034]);
        assert_eq!(merged, [vec![0.033, 0.0333], vec![0.034], vec![0.1], vec![0.5]]);
        assert!(columns(Vec::new()).is_empty());
    }
}
