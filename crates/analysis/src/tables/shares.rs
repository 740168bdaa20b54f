//! The ratio that a workload's figures are read by: one parameter as a share of another.

use crate::{Estimate, Shares, Table};
use model::{Parameters, Ratio, Value, WorkloadInfo};

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
        let (left, right) = (self.at(position.low), self.at(position.high));
        Estimate { value: self.at(position.value), low: left.min(right), high: left.max(right) }
    }

    /// The ratio at a point of the axis.
    pub(crate) fn at(&self, axis: f64) -> f64 {
        match self.rule {
            Rule::Whole(whole) => axis / whole,
            Rule::Part(part) => part / axis,
            Rule::Always(share) => share,
        }
    }
}

impl Shares {
    /// The index of the point at which there is one of the part for each of the whole, where the part
    /// along `axis` is written as a multiple: up to there each one more uses more of the whole, beyond
    /// it they share it.
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
}

fn above_zero(value: &Value) -> Option<f64> {
    value.size().filter(|size| *size > 0.0)
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
}
