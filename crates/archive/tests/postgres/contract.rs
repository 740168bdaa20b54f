//! What every archive does, in a file and in a database alike.

use crate::common::{cell, cells, ending, profile, run};
use crate::server;
use archive::{Archive, Error, Merged, SqliteArchive, merge};
use model::{Cell, Fact, Outcome, Profile, Run, RunState};

/// An archive of each kind, empty: in a file, and in a database where there is a server.
fn each(test: impl Fn(&mut dyn Archive)) {
    let directory = tempfile::tempdir().unwrap();
    test(&mut SqliteArchive::open(directory.path().join("knee.db")).unwrap());
    if let Some(server) = server::shared() {
        test(&mut server.archive().0);
    }
}

/// A complete run of so many cells, as a record has it.
pub fn complete(id: &str, count: u64, profiled: u64) -> Run {
    let last = ending(RunState::Complete);
    let mut whole = run(id, count);
    // A list of runs says where each was measured, and with which others.
    let facts = [
        ("host.name", Fact::from("amber")),
        ("fleet.id", "slurm-7.0".into()),
        ("fleet.rank", 1.into()),
        ("fleet.size", 3.into()),
    ];
    let facts = facts.map(|(key, value)| (key.to_owned(), value));
    whole.host_before.facts.extend(facts);
    whole.summary.host = "amber".into();
    whole.summary.fleet = whole.host_before.fleet();
    whole.summary.state = last.state;
    whole.summary.ended = Some(last.ended);
    whole.summary.cells_ended = count;
    whole.summary.labels = [("commit".to_owned(), "3701d31".to_owned())].into();
    whole.host_after = Some(last.host_after);
    whole.warnings = last.warnings;
    whole.cells = cells(count);
    whole.profile = if profiled == 0 { Profile::default() } else { profile(profiled) };
    whole
}

fn kept(archive: &dyn Archive, number: i64, run: &Run, origin: &str) {
    let mut wanted = run.clone();
    wanted.summary.number = number;
    origin.clone_into(&mut wanted.summary.origin);
    let loaded = archive.load(number).unwrap();
    assert_eq!(loaded, wanted);
    let bits = |run: &Run| -> Vec<u64> {
        let metrics = run.cells.iter().flat_map(|cell| &cell.metrics);
        metrics.flat_map(|metric| &metric.samples).map(|sample| sample.to_bits()).collect()
    };
    assert_eq!(bits(&loaded), bits(&wanted));
    assert_eq!(archive.find(&run.summary.id).unwrap(), Some(wanted.summary));
    assert_eq!(archive.plan_and_host(number).unwrap(), (wanted.plan, wanted.host_before));
}

#[test]
fn a_whole_run_comes_back_to_the_last_bit() {
    each(|archive| {
        let mut odd = complete("0123456789abcdef", 9, 4);
        odd.cells[0].metrics[0].samples =
            vec![f64::MIN_POSITIVE / 3.0, -0.0, f64::MAX, 0.1 + 0.2, 5e-324];
        odd.cells[0].metrics[0].positions = vec![3, 1, 4, 1, 5];
        odd.cells[1].facts.insert("ünï\"code\\\n".into(), "\u{1f600}'; DROP".into());
        odd.cells.swap(2, 5);
        let number = archive.keep(&odd, "merge").unwrap();
        kept(archive, number, &odd, "merge");
        let second = complete("fedcba9876543210", 0, 0);
        let second_number = archive.keep(&second, "").unwrap();
        assert!(second_number > number);
        kept(archive, second_number, &second, "");
        assert_eq!(archive.runs().unwrap().len(), 2);
        assert_eq!(archive.damaged().unwrap(), Vec::<i64>::new());
        assert_eq!(archive.find("0000").unwrap(), None);
    });
}

#[test]
fn a_run_that_is_kept_step_by_step_is_the_same() {
    each(|archive| {
        let whole = complete("0123456789abcdef", 6, 3);
        let begun = Run { host_before: whole.host_before.clone(), ..run("0123456789abcdef", 6) };
        let number = archive.begin(&begun).unwrap();
        for cell in &whole.cells {
            archive.commit(number, cell).unwrap();
        }
        for cell in 0..3 {
            archive.commit_profiled(number, &whole.profile, cell).unwrap();
        }
        assert!(matches!(
            archive.commit_profiled(number, &whole.profile, 1),
            Err(Error::Invalid { .. })
        ));
        assert_eq!(archive.load(number).unwrap().summary.state, RunState::Open);
        archive.finish(number, &ending(RunState::Complete)).unwrap();
        let mut wanted = whole.clone();
        wanted.summary.labels.clear();
        kept(archive, number, &wanted, "");
        assert!(matches!(archive.reopen(number), Err(Error::RunComplete { .. })));
    });
}

#[test]
fn an_interrupted_run_is_resumed() {
    each(|archive| {
        let number = archive.begin(&run("0123456789abcdef", 4)).unwrap();
        archive.commit(number, &cell(2)).unwrap();
        archive.commit(number, &cell(0)).unwrap();
        archive.finish(number, &ending(RunState::Interrupted)).unwrap();
        assert!(matches!(
            archive.commit(number, &cell(1)),
            Err(Error::RunNotOpen { state: RunState::Interrupted, .. })
        ));
        archive.reopen(number).unwrap();
        let resumed = archive.load(number).unwrap();
        assert_eq!(resumed.cells, [cell(2), cell(0)], "in the order in which they ended");
        assert_eq!(resumed.summary.state, RunState::Open);
        assert_eq!((resumed.summary.ended, resumed.host_after), (None, None));
        assert_eq!(resumed.warnings, ending(RunState::Interrupted).warnings);
        archive.commit(number, &cell(1)).unwrap();
        archive.commit(number, &cell(3)).unwrap();
        archive.finish(number, &ending(RunState::Complete)).unwrap();
        let whole = archive.load(number).unwrap();
        assert_eq!(whole.cells, [cell(2), cell(0), cell(1), cell(3)]);
        assert_eq!(whole.summary.cells_ended, 4);
        assert!(matches!(archive.reopen(number), Err(Error::RunComplete { .. })));
        assert!(matches!(
            archive.finish(number, &ending(RunState::Interrupted)),
            Err(Error::RunNotOpen { state: RunState::Complete, .. })
        ));
    });
}

#[test]
fn the_same_cell_or_run_is_never_there_twice() {
    each(|archive| {
        let number = archive.begin(&run("0123456789abcdef", 4)).unwrap();
        archive.commit(number, &cell(0)).unwrap();
        let again = Cell { elapsed_ns: 7, ..cell(0) };
        assert!(matches!(
            archive.commit(number, &again),
            Err(Error::CellTwice { sequence: 0, .. })
        ));
        assert!(matches!(
            archive.begin(&run("0123456789abcdef", 4)),
            Err(Error::RunTwice { id, .. }) if id == "0123456789abcdef"
        ));
        let second_run = archive.begin(&run("fedcba9876543210", 4)).unwrap();
        archive.commit(second_run, &cell(0)).unwrap();
        assert_eq!(archive.load(number).unwrap().cells, [cell(0)]);
        assert_eq!(archive.load(second_run).unwrap().cells, [cell(0)]);
    });
}

#[test]
fn what_is_not_there_is_reported_as_absent() {
    each(|archive| {
        assert!(matches!(archive.resolve("last"), Err(Error::EmptyRecord { .. })));
        let absent = |result: Result<(), Error>| matches!(result, Err(Error::NoSuchRun { run, .. }) if run == "7");
        assert!(absent(archive.commit(7, &cell(0))));
        assert!(absent(archive.finish(7, &ending(RunState::Complete))));
        assert!(absent(archive.reopen(7)));
        assert!(absent(archive.delete(7)));
        assert!(absent(archive.set_baseline("main", 7)));
        assert!(absent(archive.load(7).map(drop)));
        assert!(absent(archive.plan_and_host(7).map(drop)));
    });
}

#[test]
fn runs_have_names_and_are_deleted() {
    each(|archive| {
        let ids = ["a3f1000000000000", "a3f2000000000000", "7777000000000000"];
        let numbers = ids.map(|id| archive.begin(&run(id, 0)).unwrap());
        assert_eq!(archive.baselines().unwrap(), []);
        assert_eq!(archive.resolve(&numbers[1].to_string()).unwrap(), numbers[1]);
        assert_eq!(archive.resolve("last").unwrap(), numbers[2]);
        assert_eq!(archive.resolve("a3f1").unwrap(), numbers[0]);
        let ambiguous = archive.resolve("a3f").unwrap_err().to_string();
        assert!(ambiguous.contains("a3f could be run ") && ambiguous.matches(" or ").count() == 1);
        archive.set_baseline("main", numbers[0]).unwrap();
        archive.set_baseline("main", numbers[2]).unwrap();
        archive.set_baseline("Before", numbers[0]).unwrap();
        let named = [("Before".to_owned(), numbers[0]), ("main".to_owned(), numbers[2])];
        assert_eq!(archive.baselines().unwrap(), named);
        archive.delete(numbers[2]).unwrap();
        assert_eq!(archive.resolve("last").unwrap(), numbers[1]);
        assert_eq!(archive.baselines().unwrap(), named[..1]);
        let deleted = numbers[2].to_string();
        assert!(matches!(archive.resolve(&deleted), Err(Error::NoSuchRun { .. })));
        assert!(
            archive.begin(&run("0123456789abcdef", 0)).unwrap() > numbers[2],
            "none is given again"
        );
    });
}

#[test]
fn what_can_not_be_kept_leaves_nothing_behind() {
    type Change = fn(&mut Cell);
    let changes: [Change; 4] = [
        |cell| cell.metrics[1].samples[7] = f64::NAN,
        |cell| cell.metrics[1].positions.truncate(3),
        |cell| cell.elapsed_ns = u64::MAX,
        |cell| cell.metrics[0].usage.user_ns = u64::MAX,
    ];
    each(|archive| {
        let number = archive.begin(&run("0123456789abcdef", 1)).unwrap();
        for change in changes {
            let mut refused = cell(3);
            change(&mut refused);
            let whole = complete("fedcba9876543210", 3, 1);
            let whole = Run { cells: vec![cell(0), refused.clone()], ..whole };
            assert!(matches!(archive.commit(number, &refused), Err(Error::Invalid { .. })));
            assert!(matches!(archive.keep(&whole, ""), Err(Error::Invalid { .. })));
            assert_eq!(archive.load(number).unwrap().cells, []);
            assert_eq!(archive.runs().unwrap().len(), 1);
        }
        archive.commit(number, &cell(3)).unwrap();
        let failed = archive.wholly(&mut |archive| {
            archive.commit(number, &cell(4))?;
            archive.delete(99)
        });
        assert!(matches!(failed, Err(Error::NoSuchRun { .. })));
        assert_eq!(archive.load(number).unwrap().cells, [cell(3)]);
    });
}

#[test]
fn copies_of_a_run_are_merged_without_loss_and_without_doubles() {
    each(|archive| {
        let whole = complete("0123456789abcdef", 8, 4);
        let mut part = Run { cells: cells(3), profile: profile(2), ..whole.clone() };
        part.summary.state = RunState::Interrupted;
        let Merged::Copied(number) = merge(archive, &part).unwrap() else { panic!() };
        assert_eq!(merge(archive, &part).unwrap(), Merged::Alike);
        assert_eq!(merge(archive, &whole).unwrap(), Merged::Completed(7));
        assert_eq!(merge(archive, &whole).unwrap(), Merged::Alike);
        let loaded = archive.load(number).unwrap();
        assert_eq!((loaded.cells, loaded.profile), (whole.cells.clone(), whole.profile.clone()));
        let mut changed = whole;
        changed.cells[5].elapsed_ns += 1;
        assert!(matches!(merge(archive, &changed), Err(Error::RunDiffers { .. })));
    });
}

#[test]
fn a_run_with_characters_that_a_server_has_not_is_merged_once() {
    let with_nul = |text: &mut String| text.push_str("\0\\u0000");
    let mut whole = complete("0123456789abcdef", 8, 4);
    with_nul(&mut whole.plan.workloads[0].question);
    whole.host_before.facts.insert("firmware\0".into(), "a board\0".into());
    whole.warnings.iter_mut().for_each(|warning| with_nul(&mut warning.what));
    whole.profile.frames.iter_mut().for_each(|frame| with_nul(&mut frame.function));
    for cell in &mut whole.cells {
        cell.facts.insert("printed".into(), "\0".into());
        if let Outcome::Failed { detail, .. } = &mut cell.outcome {
            with_nul(detail);
        }
    }
    each(|archive| {
        let mut part = whole.clone();
        part.cells.truncate(3);
        part.profile.cells.truncate(2);
        part.summary.state = RunState::Interrupted;
        assert!(matches!(merge(archive, &part), Ok(Merged::Copied(_))));
        assert_eq!(merge(archive, &part).unwrap(), Merged::Alike);
        assert_eq!(merge(archive, &whole).unwrap(), Merged::Completed(7));
        assert_eq!(merge(archive, &whole).unwrap(), Merged::Alike);
        let loaded = archive.load(archive.resolve("last").unwrap()).unwrap();
        let kept = archive.as_kept(&whole).unwrap();
        assert_eq!((&loaded.cells, &loaded.profile), (&kept.cells, &kept.profile));
        let mut changed = whole.clone();
        changed.cells[5].facts.insert("printed".into(), "x".into());
        assert!(matches!(merge(archive, &changed), Err(Error::RunDiffers { .. })));
    });
}
