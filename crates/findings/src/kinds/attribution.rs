//! Which functions an operation's added CPU time is in: between two points, or between two subjects.

use super::{FindingKind, stake};
use crate::conclusions::context::Context;
use crate::finding::Finding;
use crate::finding::names::Names;
use crate::finding::sentence::{Sentence, text};
use crate::finding::verdict::{Tag, Tone};
use crate::format::attributed;
use crate::format::count;
use analysis::{DifferenceVerdict, ProfileDifference, ProfileTable, Table};
use schemars::JsonSchema;
use serde::Serialize;

/// What the profiles of an operation show of a difference that the timed rounds have.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Attribution {
    /// What is compared.
    pub between: Between,
    /// How they differ.
    #[serde(flatten)]
    pub difference: ProfileDifference,
}

/// Which two profiles are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "between")]
pub enum Between {
    /// Those of one subject at two points; or of several, whose profiles do not change.
    Points {
        /// The first point.
        from: u64,
        /// The last point.
        to: u64,
    },
    /// Those of two subjects at one point: the first costs more.
    Subjects {
        /// The point.
        point: u64,
    },
}

impl FindingKind for Attribution {
    const NAME: &'static str = "attribution";
    /// An answer has a section of them.
    const IS_WORTH_KNOWING: bool = false;

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let profiles = context.analysis.profiles.iter();
        let of_profile = |profile: &ProfileTable| {
            let table = context.tables().find(|table| is_of(profile, table));
            table.map(|table| of_table(profile, table)).unwrap_or_default()
        };
        profiles.flat_map(of_profile).collect()
    }

    fn rank(&self) -> f64 {
        match self.difference.verdict {
            DifferenceVerdict::Same { .. } => 1.0,
            _ => stake(self.difference.timed_factor.value),
        }
    }

    /// `poll: 97 % of the CPU time added between 100 and 10,000 watched descriptors is in do_sys_poll and what
    /// it calls: sock_poll 51 %, unix_poll 31 %; 0.4 % has no symbol.`
    fn sentence(&self, names: &Names<'_>) -> Sentence {
        let subjects = names.subjects().len();
        match self.between {
            Between::Points { from, to } => {
                let range = format!("between {} and {} {}", count(from), count(to), names.axis());
                if !matches!(self.difference.verdict, DifferenceVerdict::Same { .. }) {
                    let rest = attributed::added(&[&self.difference], &range);
                    return Sentence::new(
                        names.head().into_iter().chain([text(format!(": {rest}."))]),
                    );
                }
                let profiles = if subjects == 1 { "The profile of " } else { "The profiles of " };
                let rest = attributed::same(subjects, &self.difference, &range);
                let listed = names.whole_subject_list();
                let parts = [text(profiles)].into_iter().chain(listed);
                Sentence::new(parts.chain([text(format!("{rest}."))]))
            }
            Between::Subjects { point } => {
                let second = names.subjects().get(1).map_or("", String::as_str);
                let rest =
                    format!(" at {}: {}.", names.point(point), attributed::more(&self.difference));
                let parts =
                    names.head().into_iter().chain([text(" against "), names.label(second)]);
                Sentence::new(parts.chain([text(rest)]))
            }
        }
    }

    fn tag(&self) -> Tag {
        Tag { word: "profile", tone: Tone::Neutral }
    }
}

/// Whether `profile` is of the metric of `table`.
pub(crate) fn is_of(profile: &ProfileTable, table: &Table) -> bool {
    (&profile.workload, &profile.parameters, &profile.metric.name)
        == (&table.workload, &table.parameters, &table.metric.name)
}

fn of_table(profile: &ProfileTable, table: &Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut same: Vec<(&str, Between, &ProfileDifference, f64)> = Vec::new();
    for row in &profile.rows {
        let Some(change) = &row.change else { continue };
        let between = Between::Points { from: change.from, to: change.to };
        let difference = &change.difference;
        match difference.verdict {
            DifferenceVerdict::Same { bound } => {
                same.push((&row.subject, between, difference, bound));
            }
            DifferenceVerdict::Added
            | DifferenceVerdict::Saved
            | DifferenceVerdict::Waiting { .. }
            | DifferenceVerdict::NotReproduced
            | DifferenceVerdict::TooFewSamples => {
                let data = Attribution { between, difference: difference.clone() };
                findings.push(Finding::about(table, vec![row.subject.clone()], data));
            }
            DifferenceVerdict::NotTimed | DifferenceVerdict::KernelHidden => {}
        }
    }
    // Of several subjects whose profiles do not change one sentence says so, with the widest bound.
    if let Some(widest) = same.iter().max_by(|a, b| a.3.total_cmp(&b.3)) {
        let alike = same.iter().filter(|entry| entry.1 == widest.1);
        let subjects = alike.map(|entry| entry.0.to_owned()).collect();
        let data = Attribution { between: widest.1, difference: widest.2.clone() };
        findings.push(Finding::about(table, subjects, data));
    }
    let contrasts = profile.contrasts.iter().filter(|contrast| contrast.difference.is_attributed());
    findings.extend(contrasts.map(|contrast| {
        let between = Between::Subjects { point: contrast.point };
        let data = Attribution { between, difference: contrast.difference.clone() };
        let subjects = vec![contrast.second.clone(), contrast.first.clone()];
        Finding::about(table, subjects, data)
    }));
    findings
}
