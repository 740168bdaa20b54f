//! Runs brought from one record into another: nothing lost, nothing twice, nothing changed that was there.

use crate::common::{cell, ending, profile, run};
use archive::{Archive, Error, Merged, RunWriter, SqliteArchive, merge};
use model::{Budget, Cell, Profile, ProfilePlan, Run, RunState, WorkloadInfo, WorkloadRole};
use tempfile::{TempDir, tempdir};

const ID: &str = "0123456789abcdef";

fn archive(directory: &TempDir, name: &str) -> SqliteArchive {
    SqliteArchive::open(directory.path().join(name)).unwrap()
}

/// A run of four cells with these of them, ended so or still open.
fn with(archive: &mut SqliteArchive, cells: &[u64], state: RunState) -> Run {
    let number = archive.begin(&run(ID, 4)).unwrap();
    for &sequence in cells {
        archive.commit(number, &cell(sequence)).unwrap();
    }
    if state != RunState::Open {
        archive.finish(number, &ending(state)).unwrap();
    }
    archive.load(number).unwrap()
}

/// The only run of a record, with its cells in the order of the plan.
fn only(archive: &SqliteArchive) -> Run {
    let runs = archive.runs().unwrap();
    assert_eq!(runs.len(), 1, "once");
    let mut run = archive.load(runs[0].number).unwrap();
    run.cells.sort_by_key(|cell| cell.sequence);
    run
}

#[test]
fn a_run_is_copied_whole_and_only_once() {
    let directory = tempdir().unwrap();
    let (mut from, mut into) = (archive(&directory, "from.db"), archive(&directory, "into.db"));
    let original = with(&mut from, &[2, 0, 1, 3], RunState::Complete);
    // So that its number is another one there.
    into.begin(&run("ffffffffffffffff", 1)).unwrap();
    assert_eq!(merge(&mut into, &original).unwrap(), Merged::Copied(2));
    let mut copy = into.load(2).unwrap();
    assert_eq!((copy.summary.origin.as_str(), original.summary.origin.as_str()), ("merge", ""));
    copy.summary.number = original.summary.number;
    copy.summary.origin.clear();
    assert_eq!(copy, original);
    assert_eq!(merge(&mut into, &original).unwrap(), Merged::Alike);
    assert_eq!(into.runs().unwrap().len(), 2);
    assert_eq!(merge(&mut from, &into.load(2).unwrap()).unwrap(), Merged::Alike);
    assert_eq!(from.load(1).unwrap().summary.origin, "", "it is back where it began");
}

#[test]
fn what_was_imported_stays_so_and_what_else_a_record_says_is_not_believed() {
    let directory = tempdir().unwrap();
    let mut into = archive(&directory, "into.db");
    for (index, (origin, kept)) in
        [("import", "import"), ("", "merge"), ("\u{1b}[2J", "merge")].into_iter().enumerate()
    {
        let mut strange = run(&format!("{index:016x}"), 4);
        origin.clone_into(&mut strange.summary.origin);
        merge(&mut into, &strange).unwrap();
        assert_eq!(into.runs().unwrap()[index].origin, kept);
    }
}

#[test]
fn what_is_missing_is_added_in_either_direction() {
    let directory = tempdir().unwrap();
    let (mut first, mut second) = (archive(&directory, "one.db"), archive(&directory, "other.db"));
    let early = with(&mut first, &[0, 1], RunState::Interrupted);
    let late = with(&mut second, &[0, 1, 2, 3], RunState::Complete);
    assert_eq!(merge(&mut second, &early).unwrap(), Merged::Alike, "it knows less");
    assert_eq!(only(&second).summary.state, RunState::Complete);
    assert_eq!(merge(&mut first, &late).unwrap(), Merged::Completed(2));
    assert_eq!(only(&first).cells, late.cells);
    assert_eq!(only(&first).summary.state, RunState::Complete);
}

#[test]
fn two_halves_make_a_whole() {
    let directory = tempdir().unwrap();
    let (mut first, mut second) = (archive(&directory, "one.db"), archive(&directory, "other.db"));
    with(&mut first, &[0, 3], RunState::Interrupted);
    let half = with(&mut second, &[1, 2, 3], RunState::Interrupted);
    assert_eq!(merge(&mut first, &half).unwrap(), Merged::Completed(2));
    let whole = only(&first);
    assert_eq!(whole.cells, (0..4).map(cell).collect::<Vec<_>>());
    assert_eq!(whole.summary.state, RunState::Complete);
    assert_eq!(whole.warnings, ending(RunState::Complete).warnings, "each warning once");
}

#[test]
fn what_is_still_measured_stays_open() {
    let directory = tempdir().unwrap();
    let (mut from, mut into) = (archive(&directory, "from.db"), archive(&directory, "into.db"));
    let begun = with(&mut from, &[0], RunState::Open);
    assert_eq!(merge(&mut into, &begun).unwrap(), Merged::Copied(1));
    assert_eq!(only(&into).summary.state, RunState::Open);
    from.commit(1, &cell(1)).unwrap();
    assert_eq!(merge(&mut into, &from.load(1).unwrap()).unwrap(), Merged::Completed(1));
    from.finish(1, &ending(RunState::Interrupted)).unwrap();
    assert_eq!(merge(&mut into, &from.load(1).unwrap()).unwrap(), Merged::Completed(0));
    assert_eq!(only(&into).summary.state, RunState::Interrupted, "its end is brought along");
}

#[test]
fn a_contradiction_is_refused_and_nothing_changes() {
    let directory = tempdir().unwrap();
    let (mut from, mut into) = (archive(&directory, "from.db"), archive(&directory, "into.db"));
    with(&mut into, &[0, 1], RunState::Interrupted);
    let mut strange = with(&mut from, &[0, 1, 2], RunState::Interrupted);
    strange.cells[1].elapsed_ns += 1;
    let before = only(&into);
    let refused = merge(&mut into, &strange).unwrap_err();
    assert!(matches!(&refused, Error::RunDiffers { what, .. } if what == "cell 1"), "{refused}");
    strange.plan.seed = 7;
    let refused = merge(&mut into, &strange).unwrap_err();
    assert!(matches!(&refused, Error::RunDiffers { what, .. } if what == "their plans"));
    assert_eq!(only(&into), before);
}

/// A run of six cells with these cells of its profile, which is whole with four: the fifth cell failed in all rounds,
/// and the last is a control. Interrupted in its pass, if not all are there.
fn profiled(archive: &mut SqliteArchive, kept: impl Fn(u64) -> bool) -> Run {
    let mut cells: Vec<Cell> = (0..6).map(cell).collect();
    cells[5].key.workload = "null".into();
    let mut planned = run(ID, 6);
    planned.plan.workloads.push(WorkloadInfo {
        name: "null".into(),
        role: WorkloadRole::Control,
        ..WorkloadInfo::default()
    });
    planned.plan.cells = cells.iter().map(|cell| cell.key.clone()).collect();
    planned.plan.profile = Some(ProfilePlan { frequency_hz: 997, measure_ms: 500 });
    let number = archive.begin(&planned).unwrap();
    for cell in &cells {
        archive.commit(number, cell).unwrap();
    }
    let mut profile = profile(4);
    let cells = std::mem::take(&mut profile.cells);
    profile.cells = cells.into_iter().zip(0..).filter(|(_, n)| kept(*n)).map(|(c, _)| c).collect();
    for cell in 0..profile.cells.len() {
        archive.commit_profiled(number, &profile, cell).unwrap();
    }
    let whole = profile.cells.len() == 4;
    let state = if whole { RunState::Complete } else { RunState::Interrupted };
    archive.finish(number, &ending(state)).unwrap();
    archive.load(number).unwrap()
}

/// What each cell says, whatever numbers its frames and stacks have.
fn resolved(run: &Run) -> Vec<String> {
    let Profile { frames, stacks, cells, .. } = &run.profile;
    let path = |stack: u32| -> Vec<&str> {
        let nodes = run.profile.path(stack);
        nodes.iter().map(|&node| &*frames[stacks[node as usize].frame as usize].function).collect()
    };
    let mut all: Vec<String> = cells
        .iter()
        .map(|cell| {
            let samples = cell.regions.iter().flat_map(|region| &region.samples);
            let samples: Vec<_> = samples.map(|(stack, count)| (path(*stack), count)).collect();
            format!("{:?} {:?} {} {samples:?}", cell.key, cell.outcome, cell.elapsed_ns)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn profiles_are_copied_and_completed_with_numbers_of_their_own() {
    let directory = tempdir().unwrap();
    let names = ["odd.db", "even.db", "whole.db", "copy.db"];
    let [mut odd, mut even, mut whole, mut copy] = names.map(|name| archive(&directory, name));
    let original = profiled(&mut whole, |_| true);
    assert_eq!(merge(&mut copy, &original).unwrap(), Merged::Copied(1));
    assert_eq!(only(&copy).profile, original.profile);
    assert_eq!(merge(&mut copy, &original).unwrap(), Merged::Alike);
    profiled(&mut odd, |n| n % 2 == 1);
    let even_half = profiled(&mut even, |n| n % 2 == 0);
    assert_eq!(only(&odd).summary.state, RunState::Interrupted);
    assert_eq!(merge(&mut odd, &even_half).unwrap(), Merged::Completed(2));
    let joined = only(&odd);
    assert_eq!(joined.summary.state, RunState::Complete, "the pass has ended");
    assert_eq!(resolved(&joined), resolved(&original));
    assert_eq!(joined.profile.code.len(), original.profile.code.len());
    // The same cells under other numbers are no contradiction.
    assert_eq!(merge(&mut odd, &original).unwrap(), Merged::Alike);
    assert_eq!(merge(&mut whole, &joined).unwrap(), Merged::Alike);
}

#[test]
fn a_profile_that_contradicts_is_refused_and_nothing_changes() {
    let directory = tempdir().unwrap();
    let mut into = archive(&directory, "into.db");
    let mut strange = profiled(&mut into, |n| n < 2);
    let before = only(&into);
    strange.profile.cells[1].regions[0].samples[0].1 += 1;
    let refused = merge(&mut into, &strange).unwrap_err();
    assert!(refused.to_string().contains("the profile of epoll-level at 100"), "{refused}");
    strange.profile.stacks.clear();
    let refused = merge(&mut into, &strange).unwrap_err();
    assert!(refused.to_string().contains("which is not there"), "{refused}");
    assert_eq!(only(&into), before);
}

/// Copies of a run that were resumed apart, each until its budget was used up.
#[test]
fn what_was_complete_by_its_budget_in_two_ways_is_refused_and_nothing_changes() {
    let directory = tempdir().unwrap();
    let (mut from, mut into) = (archive(&directory, "from.db"), archive(&directory, "into.db"));
    for (archive, cells) in [(&mut into, &[0, 1, 2][..]), (&mut from, &[0, 1, 3])] {
        let mut planned = run(ID, 4);
        planned.plan.budget = Some(Budget { time_ms: 1000, precision: 0.0 });
        let number = archive.begin(&planned).unwrap();
        for &sequence in cells {
            archive.commit(number, &cell(sequence)).unwrap();
        }
        archive.finish(number, &ending(RunState::Complete)).unwrap();
    }
    let before = only(&into);
    let refused = merge(&mut into, &from.load(1).unwrap()).unwrap_err();
    assert!(matches!(refused, Error::RunDiffers { .. }), "{refused}");
    assert_eq!(only(&into), before);
}
