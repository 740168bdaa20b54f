//! What the threads of an operation wait for that take longer along the axis: where they wait, and where others end it.

use super::attribution::profiled;
use super::prelude::*;
use crate::format::attributed::called_by;
use crate::format::{count, counted, function_name, percent};
use analysis::{AddedWait, Estimate, ProfileRow, ProfileTable, Table, WaitSite};
use model::{Frame, WaitKind};

/// A wait whose shares at its site are at least this part of it is named with the site alone. Source: judgement.
const SITE_PART_MIN: f64 = 0.9;

/// The waits that hold a part of the thread time added between two points.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Waits {
    /// The first point.
    pub from: u64,
    /// The last point.
    pub to: u64,
    /// Elapsed time of an operation at the last point over that at the first, by the timed rounds.
    pub timed_factor: Estimate,
    /// The kinds of waits, the greatest share first; one at least.
    pub waits: Vec<AddedWait>,
    /// Whether they are of all thread time at the last point, not of what was added.
    pub of_all: bool,
}

impl FindingKind for Waits {
    const TAG: Tag = Tag::new("waits", Tone::Neutral);
    const SECTION: Section = Section::CpuTime;

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let headline = profiled(context).filter(|(profile, _)| profile.headline);
        headline.flat_map(|(profile, table)| of_table(profile, table)).collect()
    }

    fn rank(&self) -> f64 {
        stake(self.timed_factor.value)
    }

    /// `71 % of the thread time added between 1 and 4 threads waits for a lock in push (queue.c:41) ← work, released by pop
    /// (queue.c:52) ← work`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let Waits { from, to, waits, of_all, .. } = &all[0];
        let whole = if *of_all {
            format!("of the thread time at {}", counted(&count(*to), names.axis()))
        } else {
            let range = format!("between {} and {} {}", count(*from), count(*to), names.axis());
            format!("of the thread time added {range}")
        };
        let texts = waits.iter().enumerate().map(|(index, wait)| {
            let share = percent(wait.share.value.min(1.0));
            let whole = if index == 0 { format!(" {whole}") } else { String::new() };
            format!("{share}{whole} {}", waits_where(wait))
        });
        names.claim(format!(": {}", texts.collect::<Vec<_>>().join("; ")))
    }
}

fn of_table(profile: &ProfileTable, table: &Table) -> Vec<Finding> {
    let of_row = |row: &ProfileRow| {
        let change = row.change.as_ref()?;
        let difference = &change.difference;
        let data = Waits {
            from: change.from,
            to: change.to,
            timed_factor: difference.timed_factor,
            waits: difference.waits.clone(),
            of_all: difference.waits_of_all,
        };
        let has_waits = !data.waits.is_empty();
        has_waits.then(|| Finding::about(table, vec![row.subject.clone()], data))
    };
    profile.rows.iter().filter_map(of_row).collect()
}

/// `waits for a lock in push (queue.c:41) ← work, released by pop (queue.c:52) ← work`.
fn waits_where(wait: &AddedWait) -> String {
    let what = does(wait.kind);
    let at = |site: &WaitSite| at(&site.frame, &site.line) + &called_by(site.caller.as_ref());
    let waker = wait.waker.as_ref().map(|waker| format!(", {} {}", ended(wait.kind), at(waker)));
    let waker = waker.unwrap_or_default();
    let Some(site) = &wait.site else { return format!("{what}{waker}") };
    let mostly = if site.share.value < SITE_PART_MIN * wait.share.value {
        format!(", {} of it", percent(site.share.value / wait.share.value))
    } else {
        String::new()
    };
    format!("{what}{mostly} in {}{waker}", at(site))
}

/// What stands before who ends a wait of this kind.
pub fn ended(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::Lock => "released by",
        WaitKind::Notification => "sent by",
        _ => "ended by",
    }
}

/// What a thread does in a wait of this kind.
pub fn does(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::Lock => "waits for a lock",
        WaitKind::Cpu => "waits for a CPU",
        WaitKind::File => "waits for a file",
        WaitKind::Socket => "waits for a socket",
        WaitKind::Pipe => "waits for a pipe",
        WaitKind::Sleep => "sleeps",
        WaitKind::PageFault => "waits for memory",
        WaitKind::Other => "waits in the kernel",
        WaitKind::Readiness => "waits for readiness",
        WaitKind::Notification => "waits for a notification",
        WaitKind::End => "waits for an end",
        WaitKind::CpuOfOthers => "waits for a CPU of others",
        WaitKind::Throttled => "waits for its CPU quota",
    }
}

/// `push (queue.c:41)`.
pub fn at(function: &Frame, line: &str) -> String {
    format!("{} ({line})", function_name(function))
}
