//! What a workload stated of its cells, brought together by point.

use crate::FactByPoint;
use crate::gather::FactValues;
use model::Fact;
use std::collections::BTreeMap;

/// The facts that hold for a whole point: the cells that state one agree, or state shares that
/// have a mean. What differs from subject to subject is left to the cells.
pub(crate) fn facts(stated: &BTreeMap<&str, FactValues<'_>>) -> Vec<FactByPoint> {
    let fact = |(name, by_point): (&&str, &FactValues<'_>)| {
        let value = |(&point, values): (&u64, &Vec<&Fact>)| Some((point, together(values)?));
        let values: Option<Vec<(u64, Fact)>> = by_point.iter().map(value).collect();
        Some(FactByPoint { name: (*name).to_owned(), values: values? })
    };
    stated.iter().filter_map(fact).collect()
}

/// One value for all, if there is one.
fn together(values: &[&Fact]) -> Option<Fact> {
    let first = *values.first()?;
    if values.iter().all(|value| *value == first) {
        return Some(first.clone());
    }
    let shares =
        |value: &&Fact| if let Fact::Shares(list) = value { Some(list.clone()) } else { None };
    let lists: Vec<Vec<f64>> = values.iter().map(shares).collect::<Option<_>>()?;
    let length = lists.first()?.len();
    if lists.iter().any(|list| list.len() != length) {
        return None;
    }
    let mean = |at: usize| lists.iter().map(|list| list[at]).sum::<f64>() / lists.len() as f64;
    Some(Fact::Shares((0..length).map(mean).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_all_agree_on_and_shares_are_facts() {
        let shares = |list: &[f64]| Fact::Shares(list.to_vec());
        let of_two = |a: &Fact, b: &Fact| together(&[a, b]);
        let many = Fact::Count(9_000);
        assert_eq!(of_two(&many, &many), Some(many.clone()));
        assert_eq!(of_two(&many, &Fact::Count(0)), None);
        let mean = of_two(&shares(&[0.0, 1.0]), &shares(&[0.5, 0.5]));
        assert_eq!(mean, Some(shares(&[0.25, 0.75])));
        assert_eq!(of_two(&shares(&[0.0, 1.0]), &shares(&[1.0])), None);
        assert_eq!(together(&[]), None);
    }
}
