//! The life of a profile in a record: it grows cell by cell, is gone on with, and goes with its run.

use crate::common::{ending, integrity, make_record, profile, run};
use archive::{Archive, Error, RunWriter, SqliteArchive};
use model::{Frame, FrameKind, InstructionSamples, Interner, Run, RunState};
use rusqlite::Connection;
use tempfile::{TempDir, tempdir};

const ID: &str = "0123456789abcdef";

fn begun(directory: &TempDir) -> (SqliteArchive, i64) {
    let mut archive = SqliteArchive::open(directory.path().join("knee.db")).unwrap();
    let number = archive.begin(&run(ID, 4)).unwrap();
    (archive, number)
}

fn refusal(result: Result<(), Error>) -> String {
    match result.unwrap_err() {
        Error::Invalid { what, .. } => what,
        error => panic!("{error}"),
    }
}

/// What has grown since, one cell at a time, as an instrument measures it.
#[test]
fn an_interrupted_profile_is_gone_on_with() {
    let directory = tempdir().unwrap();
    let (mut archive, number) = begun(&directory);
    for cells in 1..=2 {
        archive.commit_profiled(number, &profile(cells), cells as usize - 1).unwrap();
    }
    archive.finish(number, &ending(RunState::Interrupted)).unwrap();
    assert_eq!(archive.load(number).unwrap().profile, profile(2));
    let refused = archive.commit_profiled(number, &profile(3), 2);
    assert!(matches!(refused, Err(Error::RunNotOpen { .. })), "{refused:?}");
    archive.reopen(number).unwrap();
    for cell in 2..4 {
        archive.commit_profiled(number, &profile(4), cell).unwrap();
    }
    archive.finish(number, &ending(RunState::Complete)).unwrap();
    assert_eq!(archive.load(number).unwrap().profile, profile(4));
}

/// One that the disk refused comes with the next one: so does what it brought.
#[test]
fn cells_may_be_kept_in_another_order() {
    let directory = tempdir().unwrap();
    let (mut archive, number) = begun(&directory);
    for cell in [1, 0] {
        archive.commit_profiled(number, &profile(2), cell).unwrap();
    }
    let mut expected = profile(2);
    expected.cells.reverse();
    assert_eq!(archive.load(number).unwrap().profile, expected);
}

#[test]
fn what_can_not_be_kept_is_refused_and_leaves_nothing() {
    let directory = tempdir().unwrap();
    let (mut archive, number) = begun(&directory);
    archive.commit_profiled(number, &profile(1), 0).unwrap();
    let twice = archive.commit_profiled(number, &profile(1), 0);
    assert_eq!(refusal(twice), "a second profile of poll, poll at 100");
    assert_eq!(
        refusal(archive.commit_profiled(number, &profile(1), 7)),
        "cell 7 of a profile of 1"
    );
    let mut strange = profile(2);
    strange.frames[2].kind = FrameKind::Jit;
    let refused = refusal(archive.commit_profiled(number, &strange, 1));
    assert_eq!(refused, "a profile that does not go on from that of the run");
    let mut shorter = profile(2);
    (shorter.frames, shorter.stacks, shorter.code) = Default::default();
    shorter.cells[0].regions.clear();
    shorter.cells[1].regions.clear();
    let refused = refusal(archive.commit_profiled(number, &shorter, 1));
    assert_eq!(refused, "a profile that does not go on from that of the run");
    let mut dangling = profile(2);
    dangling.cells[1].regions[0].samples[0].0 = 99;
    assert_eq!(
        refusal(archive.commit_profiled(number, &dangling, 1)),
        "the profile of epoll-level at 100: it has samples of stack 99, which is not there"
    );
    let mut huge = profile(2);
    huge.cells[1].elapsed_ns = u64::MAX;
    let error = refusal(archive.commit_profiled(number, &huge, 1));
    assert_eq!(
        error,
        "elapsed_ns of the profile of epoll-level at 100, which is 18446744073709551615"
    );
    assert_eq!(archive.load(number).unwrap().profile, profile(1));
    let whole = Run { profile: profile(1), ..run("fedcba9876543210", 1) };
    assert!(matches!(archive.begin(&whole), Err(Error::Invalid { .. })));
}

#[test]
fn a_deleted_run_takes_its_profile_along() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    make_record(&path, 3);
    SqliteArchive::open(&path).unwrap().delete(1).unwrap();
    let connection = Connection::open(&path).unwrap();
    let rows: i64 =
        connection.query_row("SELECT count(*) FROM profile", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 0);
    assert_eq!(integrity(&path), "ok");
}

/// Whatever row of it is lost or changed by another program.
#[test]
fn a_profile_that_is_not_as_it_was_kept_is_refused() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    for (change, expected) in [
        ("DELETE FROM profile WHERE number = 4", "3 of 4 profiled cells of run 1 are there"),
        (
            "UPDATE profile SET body = json_remove(body, '$.frames[0]') WHERE number = 1",
            "the profile of poll at 100 is not as it was kept",
        ),
        (
            "UPDATE profile SET body = replace(body, 'kernel', 'libc') WHERE number = 1",
            "the profile of poll at 100 is not as it was kept",
        ),
        (
            "UPDATE profile SET seal = 0 WHERE number = 1",
            "the profile of poll at 100 is not as it was kept",
        ),
        (
            "UPDATE run SET summary = replace(summary, '\"profiled\":4', '\"profiled\":3')",
            "run 1 is not as it was kept",
        ),
    ] {
        make_record(&path, 1);
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        assert!(connection.execute(change, []).unwrap() > 0, "{change}");
        drop(connection);
        let loaded = SqliteArchive::open_read_only(&path).unwrap().load(1);
        let Err(refused) = loaded else { panic!("{change}") };
        assert!(matches!(refused, Error::Damaged { .. }), "{change}: {refused}");
        assert!(refused.to_string().contains(expected), "{change}: {refused}");
        std::fs::remove_file(&path).unwrap();
    }
}

/// More than two minutes give: 180,000 samples in as many stacks as there can be, a third of a million nodes.
#[test]
fn a_large_profile_is_small_on_disk() {
    let directory = tempdir().unwrap();
    let (mut archive, number) = begun(&directory);
    let mut random = fastrand::Rng::with_seed(18);
    let mut whole = profile(1);
    let frames: Vec<Frame> = (0..2000)
        .map(|n| Frame {
            function: format!("a_function_of_usual_length_{n}"),
            ..whole.frames[1].clone()
        })
        .collect();
    let mut interner = Interner::new(&whole);
    let template = whole.cells.remove(0);
    for point in 0..60 {
        let mut cell = template.clone();
        cell.key.point = point;
        let region = &mut cell.regions[0];
        (region.samples, region.instructions) = Default::default();
        for _ in 0..1500 {
            let frame = |depth: usize| {
                &frames[100 * depth + random.usize(..if depth < 10 { 2 } else { 100 })]
            };
            let stack: Vec<&Frame> = (0..14_usize).map(frame).collect();
            let stack = interner.stack(&mut whole, stack).unwrap();
            region.samples.push((stack, 2));
            let (frame, offset) = (random.u32(..2000), random.u64(..4096));
            region.instructions.push(InstructionSamples { frame: frame % 400, offset, count: 2 });
        }
        whole.cells.push(cell);
    }
    for cell in 0..whole.cells.len() {
        archive.commit_profiled(number, &whole, cell).unwrap();
    }
    archive.finish(number, &ending(RunState::Interrupted)).unwrap();
    let (bytes, stacks) = (std::fs::metadata(archive.path()).unwrap().len(), whole.stacks.len());
    println!("{stacks} stacks in {bytes} bytes");
    assert!(stacks > 300_000 && bytes < 20 << 20, "{stacks} stacks in {bytes} bytes");
    assert_eq!(archive.load(number).unwrap().profile, whole);
}
