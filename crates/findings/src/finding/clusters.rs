//! Subjects of one finding with about the same factor.

use crate::finding::names::Names;
use crate::finding::range::Range;
use crate::finding::sentence::{Part, Sentence, text};
use crate::thresholds::SAME_FACTOR_MAX;

/// Some of a finding's subjects.
pub(crate) struct Cluster {
    /// Their indices among the finding's data.
    pub members: Vec<usize>,
    /// Their factors: `÷38,000 to ÷44,600`.
    pub factors: String,
    /// Their medians at the last point, with the unit.
    pub level: String,
}

/// The subjects with about the same of these `factors` together, the largest first, each behind its labels: the first as
/// `wording` has it, the others with factor and level: `ticket and mcs collapse ÷38,000 to ÷44,600 from 1 to 8 threads per CPU,
/// leaving 82 to 103 acquisitions/s; byte ÷6.36, 966 k acquisitions/s`.
pub(crate) fn clustered(
    factors: &[f64],
    to: u64,
    names: &Names<'_>,
    write: fn(f64) -> String,
    wording: impl Fn(&Cluster) -> String,
) -> Sentence {
    let mut sorted: Vec<usize> = (0..factors.len()).collect();
    sorted.sort_by(|&a, &b| factors[b].total_cmp(&factors[a]));
    let is_alike = |&a: &usize, &b: &usize| factors[a] <= SAME_FACTOR_MAX * factors[b];
    let mut parts: Vec<Part> = Vec::new();
    for members in sorted.chunk_by(is_alike) {
        // In the order of the table.
        let mut members = members.to_vec();
        members.sort_unstable();
        let subjects = || members.iter().map(|&member| names.subjects[member].as_str());
        let medians = subjects().filter_map(|subject| names.median(subject, to));
        let level = names.levels(Range::new(medians));
        let labels = names.label_list(subjects());
        let by = Range::new(members.iter().map(|&member| factors[member])).format(write);
        let is_first = parts.is_empty();
        parts.extend((!is_first).then(|| text("; ")));
        parts.extend(labels);
        parts.push(text(if is_first {
            wording(&Cluster { members, factors: by, level })
        } else {
            format!(" {by}, {level}")
        }));
    }
    Sentence::new(parts)
}
