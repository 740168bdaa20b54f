//! What a workload stated of its cells, brought together by point.

use crate::Fact;
use crate::gather::FactValues;
use std::collections::BTreeMap;

/// The facts that hold for a whole point: the cells that state one agree, or state percentages that
/// have a mean. What differs from subject to subject is left to the cells.
pub(crate) fn facts(stated: &BTreeMap<&str, FactValues<'_>>) -> Vec<Fact> {
    let fact = |(name, by_point): (&&str, &FactValues<'_>)| {
        let value = |(&point, values): (&u64, &Vec<&str>)| Some((point, together(values)?));
        let values: Option<Vec<(u64, String)>> = by_point.iter().map(value).collect();
        Some(Fact { name: (*name).to_owned(), values: values? })
    };
    stated.iter().filter_map(fact).collect()
}

/// One value for all, if there is one.
fn together(values: &[&str]) -> Option<String> {
    let first = values.first()?;
    if values.iter().all(|value| value == first) {
        return Some((*first).to_owned());
    }
    let lists: Option<Vec<Vec<f64>>> = values.iter().map(|value| percentages(value)).collect();
    let lists = lists?;
    let length = lists.first()?.len();
    if lists.iter().any(|list| list.len() != length) {
        return None;
    }
    let mean = |at: usize| lists.iter().map(|list| list[at]).sum::<f64>() / lists.len() as f64;
    let means: Vec<String> = (0..length).map(|at| format!("{:.0}%", mean(at))).collect();
    Some(means.join(" "))
}

/// `0% 100%` as 0 and 100.
fn percentages(value: &str) -> Option<Vec<f64>> {
    value.split(' ').map(|part| part.strip_suffix('%')?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_all_agree_on_and_percentages_are_facts() {
        assert_eq!(together(&["9000", "9000"]).as_deref(), Some("9000"));
        assert_eq!(together(&["9000", "0"]), None);
        assert_eq!(together(&["0% 100%", "10% 90%"]).as_deref(), Some("5% 95%"));
        assert_eq!(together(&["0% 100%", "100%"]), None);
        assert_eq!(together(&[]), None);
    }
}
