//! Subjects of one finding with about the same factor.

use crate::finding::names::Names;
use crate::finding::range::Range;
use crate::finding::sentence::{Part, Sentence, text};
use crate::thresholds::SAME_FACTOR_MAX;

/// Some of a finding's subjects.
pub(crate) struct Cluster {
    /// Their indices among the finding's data.
    pub members: Vec<usize>,
    /// Their factors.
    pub factors: Range,
    /// Their medians at the last point, with the unit.
    pub level: String,
}

/// The subjects with about the same of these `factors` together, the largest first, each behind its labels in what `wording`
/// makes of a cluster and of its number: `ticket and mcs collapse ÷38,000 to ÷44,600 from 1 to 8 threads per CPU, leaving 82 to
/// 103 acquisitions/s; byte ÷6.36, 966 k acquisitions/s`.
pub(crate) fn clustered(
    factors: &[f64],
    to: u64,
    names: &Names<'_>,
    wording: impl Fn(usize, &Cluster) -> String,
) -> Sentence {
    let mut sorted: Vec<usize> = (0..factors.len()).collect();
    sorted.sort_by(|&a, &b| factors[b].total_cmp(&factors[a]));
    let is_alike = |&a: &usize, &b: &usize| factors[a] <= SAME_FACTOR_MAX * factors[b];
    let mut parts: Vec<Part> = Vec::new();
    for (number, members) in sorted.chunk_by(is_alike).enumerate() {
        // In the order of the table.
        let mut members = members.to_vec();
        members.sort_unstable();
        let subjects = || members.iter().map(|&member| names.subjects[member].as_str());
        let medians = subjects().filter_map(|subject| names.median(subject, to));
        parts.extend((number > 0).then(|| text("; ")));
        parts.extend(names.label_list(subjects()));
        let factors = Range::new(members.iter().map(|&member| factors[member]));
        let level = names.levels(Range::new(medians));
        let cluster = Cluster { members, factors, level };
        parts.push(text(wording(number, &cluster)));
    }
    Sentence::new(parts)
}
