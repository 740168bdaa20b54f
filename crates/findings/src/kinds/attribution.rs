//! Which functions an operation's added CPU time is in: between two points, or between two subjects.

use super::prelude::*;
use crate::finding::sentence::list_with;
use crate::format::{attributed, count, counted};
use analysis::thresholds::EVEN;
use analysis::{DifferenceVerdict, ProfileDifference, ProfileRow, ProfileTable, Table};

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
    /// Those of one subject at two points.
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
    const TAG: Tag = Tag::new("profile", Tone::Neutral);
    const SECTION: Section = Section::CpuTime;

    fn find(context: &Context<'_>) -> Vec<Finding> {
        profiled(context).flat_map(|(profile, table)| of_table(profile, table)).collect()
    }

    fn rank(&self) -> f64 {
        match self.difference.verdict {
            DifferenceVerdict::Same { .. } => 1.0,
            _ => stake(self.difference.timed_factor.value),
        }
    }

    /// Two contrasts are two findings.
    fn joins(&self, second: &Self) -> bool {
        let is_same = |attribution: &Self| {
            matches!(attribution.difference.verdict, DifferenceVerdict::Same { .. })
        };
        let is_alike = attributed::is_alike(&self.difference, &second.difference);
        let is_serial = matches!(self.difference.verdict, DifferenceVerdict::Serial { .. });
        self.between == second.between
            && !is_serial
            && matches!(self.between, Between::Points { .. })
            && (is_same(self) && is_same(second) || is_alike)
    }

    /// `poll and ppoll: 96 to 97 % of the CPU time added between 100 and 10,000 watched descriptors is in do_sys_poll and what
    /// it calls: sock_poll 51 %, unix_poll 31 %; 0.4 % has no symbol`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let differences: Vec<&ProfileDifference> =
            all.iter().map(|attribution| &attribution.difference).collect();
        match all[0].between {
            Between::Points { from, to } => {
                if let DifferenceVerdict::Serial { busy_cpus } = differences[0].verdict {
                    let at = counted(&count(to), names.axis());
                    let serial = attributed::serial(differences[0], busy_cpus);
                    return names.claim(format!(": {at} keep {serial}"));
                }
                let range = format!("between {} and {} {}", count(from), count(to), names.axis());
                let Some(bound) = attributed::bound(&differences) else {
                    return names.claim(format!(": {}", attributed::added(&differences, &range)));
                };
                let (profiles, verb) =
                    (names.verb("profile", "profiles"), names.verb("does", "do"));
                let rest = text(format!(
                    " {verb} not change {range}: no function's share by more than {bound}"
                ));
                let head = text(format!("The {profiles} of "));
                Sentence::new([head].into_iter().chain(names.subject_list()).chain([rest]))
            }
            Between::Subjects { point } => {
                let (at, more) = (names.point(point), attributed::more(differences[0]));
                let labels = names.subjects.iter().map(|subject| names.label(subject));
                let mut parts = list_with("against", labels);
                parts.insert(1, text(names.qualifier()));
                Sentence::new(parts.into_iter().chain([text(format!(" at {at}: {more}"))]))
            }
        }
    }

    /// Of several whose profiles do not change: `by 9 points`.
    fn detail(&self, names: &Names<'_>) -> String {
        let bound = attributed::bound(&[&self.difference]);
        bound.filter(|_| !names.is_single()).map(|bound| format!("by {bound}")).unwrap_or_default()
    }
}

/// The profiles, each with the table of its metric.
pub(crate) fn profiled<'a>(
    context: &Context<'a>,
) -> impl Iterator<Item = (&'a ProfileTable, &'a Table)> {
    context.analysis.profiles.iter().filter_map(|profile| {
        let of_profile = |table: &&Table| {
            (&profile.workload, &profile.parameters, &profile.metric.name)
                == (&table.workload, &table.parameters, &table.metric.name)
        };
        Some((profile, context.tables().find(of_profile)?))
    })
}

fn of_table(profile: &ProfileTable, table: &Table) -> Vec<Finding> {
    let of_row = |row: &ProfileRow| {
        let change = row.change.as_ref()?;
        let is_attributed = match change.difference.verdict {
            DifferenceVerdict::NotTimed | DifferenceVerdict::KernelHidden => false,
            // Where and for what is a finding by itself.
            DifferenceVerdict::Waiting { .. } => change.difference.waits.is_empty(),
            // Of who waits most of the time, what runs is not the reason.
            DifferenceVerdict::Serial { .. } => {
                let ProfileDifference { waits, waits_of_all, container, leaders, .. } =
                    &change.difference;
                let waiting: f64 = waits.iter().map(|wait| wait.share.value).sum();
                let is_named = container.is_some() || !leaders.is_empty();
                (waits.is_empty() || is_named) && (!waits_of_all || waiting < EVEN)
            }
            _ => true,
        };
        let between = Between::Points { from: change.from, to: change.to };
        let data = Attribution { between, difference: change.difference.clone() };
        is_attributed.then(|| Finding::about(table, vec![row.subject.clone()], data))
    };
    let mut findings: Vec<Finding> = profile.rows.iter().filter_map(of_row).collect();
    let contrasts = profile.contrasts.iter().filter(|contrast| contrast.difference.is_attributed());
    findings.extend(contrasts.map(|contrast| {
        let between = Between::Subjects { point: contrast.point };
        let data = Attribution { between, difference: contrast.difference.clone() };
        let subjects = vec![contrast.second.clone(), contrast.first.clone()];
        Finding::about(table, subjects, data)
    }));
    findings
}
