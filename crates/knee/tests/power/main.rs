//! The plug is pulled at any moment: a guest records on a disk that then has what was flushed, and of the rest what
//! chance kept. No cell is lost that was reported, and the run goes on.

#[path = "../common/mod.rs"]
mod common;
mod disk;
mod machine;

use common::cells::{assert_sound, integrity, runs_of, seed_of};
use common::guests::can_boot;
use disk::{Disk, Sectors, read_image};
use fixtures::needed_program;
use machine::{Machine, Parts, Word, output};
use model::{Run, RunState};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Power cuts on each file system, unless `$KNEE_CUTS` says otherwise.
const CUTS: usize = 1;
/// So many of a boot at most; the next boot looks at what each of them left, and goes on from the last.
const CUTS_OF_BOOT: usize = 16;
/// Between two of them, at most. A cell takes a tenth of that in a guest.
const PAUSE: Duration = Duration::from_secs(2);
/// Three of four are after one of the next writes: between them, nothing is left to flush.
const WRITES: usize = 12;

/// XFS is made on nothing smaller.
const DISK_BYTES: u64 = 320 << 20;

const MEASURE: &str = "knee run null --rounds 24 --time 1ms --points 1,2 --record /disk/knee.db";

#[test]
fn a_power_cut_loses_no_finished_cell_on_ext4() {
    pull_the_plug("ext4", &["mkfs.ext4", "-q", "-b", "4096"]);
}

#[test]
fn a_power_cut_loses_no_finished_cell_on_xfs() {
    pull_the_plug("xfs", &["mkfs.xfs", "-q", "-s", "size=4096"]);
}

#[test]
fn a_power_cut_loses_no_finished_cell_on_btrfs() {
    pull_the_plug("btrfs", &["mkfs.btrfs", "-q"]);
}

fn pull_the_plug(file_system: &str, make: &[&str]) {
    let Some(parts) = parts(file_system) else { return };
    let Some(program) = needed_program(make[0]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("image");
    File::create(&image).unwrap().set_len(DISK_BYTES).unwrap();
    output(Command::new(program).args(&make[1..]).arg(&image)).unwrap();
    let seed = file_system.bytes().map(u64::from).sum();
    let mut plug = Plug {
        disk: Disk::new(directory.path().join("socket"), DISK_BYTES, seed),
        random: fastrand::Rng::with_seed(seed),
        kept: Vec::new(),
        seed: 0,
        counts: Counts::default(),
    };
    let cuts = std::env::var("KNEE_CUTS").map_or(CUTS, |cuts| cuts.parse().unwrap());
    let mut left = vec![Left { sectors: read_image(&image), reported: Reported::default() }];
    loop {
        let mut machine = Machine::boot(parts, file_system, &plug.disk, directory.path());
        plug.look(&mut machine, file_system, &left);
        let wanted = (cuts - plug.counts.cuts).min(CUTS_OF_BOOT);
        if wanted == 0 {
            plug.go_on_to_the_end(&mut machine);
            break;
        }
        left = plug.record_and_cut(&mut machine, wanted);
    }
    println!("{file_system}: {:?}", plug.counts);
    assert!(plug.counts.reported > 0, "each cut was before the first cell");
    assert!(cuts < CUTS_OF_BOOT || plug.counts.unflushed > 0);
}

/// What a guest with this file system is made of. What is missing is reported.
fn parts(file_system: &str) -> Option<&'static Parts> {
    static PARTS: OnceLock<Result<Parts, String>> = OnceLock::new();
    if !can_boot() {
        return None;
    }
    match PARTS.get_or_init(Parts::new) {
        Ok(parts) if parts.has(file_system) => return Some(parts),
        Ok(_) => eprintln!("SKIPPED: the guest's kernel has no {file_system}"),
        Err(missing) => eprintln!("SKIPPED: no plug is pulled, since {missing}"),
    }
    None
}

/// What the guest's console had reported before a cut.
#[derive(Clone, Default)]
struct Reported {
    /// How many cells of a run were in the record, by the run's seed.
    cells: BTreeMap<u64, usize>,
    /// The seeds of runs that had ended.
    complete: Vec<u64>,
}

/// What a cut left.
struct Left {
    sectors: Sectors,
    reported: Reported,
}

/// What was done in all.
#[derive(Debug, Default)]
struct Counts {
    cuts: usize,
    boots: usize,
    /// Runs that went on after a cut.
    resumed: usize,
    /// Of the last cut of each boot.
    cells: usize,
    reported: usize,
    /// Sectors that were written and not flushed at the moments of the cuts.
    unflushed: usize,
}

struct Plug {
    disk: Disk,
    random: fastrand::Rng,
    /// The runs of the disk that goes on.
    kept: Vec<Run>,
    /// That of the last run.
    seed: u64,
    counts: Counts,
}

impl Plug {
    /// Mounts each disk, which its journal repairs, and looks at its record. The last one stays mounted.
    fn look(&mut self, machine: &mut Machine, file_system: &str, left: &[Left]) {
        self.counts.boots += 1;
        let mut runs = Vec::new();
        for (index, left) in left.iter().enumerate() {
            if index > 0 {
                machine.execute("umount /disk");
            }
            self.disk.put(&left.sectors);
            machine.execute(&format!("mount -t {file_system} /dev/vda /disk"));
            let files = tempfile::tempdir().unwrap();
            machine.copy_out("/disk", files.path());
            runs = sound_runs_of(&files.path().join("knee.db"));
            self.assert_kept(&runs, &left.reported);
        }
        let cells = |runs: &[Run]| runs.iter().map(|run| run.cells.len()).sum::<usize>();
        self.counts.cells += cells(&runs) - cells(&self.kept);
        self.kept = runs;
    }

    /// What the disk had before, and what was reported since, is there.
    fn assert_kept(&self, runs: &[Run], reported: &Reported) {
        let of_seed = |seed| runs.iter().find(|run| seed_of(&run.summary) == Some(seed));
        for before in &self.kept {
            let run = of_seed(seed_of(&before.summary).unwrap());
            let is_kept = run.is_some_and(|run| run.cells.starts_with(&before.cells));
            assert!(is_kept, "what was there is there no more");
        }
        for (&seed, &cells) in &reported.cells {
            let there = of_seed(seed).map_or(0, |run| run.cells.len());
            assert!(there >= cells, "{cells} cells were reported, {there} are there");
        }
        for seed in &reported.complete {
            assert!(of_seed(*seed).is_some_and(|run| run.summary.state == RunState::Complete));
        }
    }

    /// Goes on with the run that is not complete, if there is one; otherwise begins another. Returns its seed.
    fn start(&mut self, machine: &mut Machine) -> u64 {
        let open = self.kept.iter().find(|run| run.summary.state == RunState::Open);
        let Some(run) = open else {
            self.seed += 1;
            machine.start(&format!("{MEASURE} --seed {}", self.seed));
            return self.seed;
        };
        self.counts.resumed += 1;
        let number = run.summary.number;
        machine.start(&format!("knee run --resume={number} --record /disk/knee.db"));
        seed_of(&run.summary).unwrap()
    }

    /// Records, and pulls the plug so many times: what each cut left is kept, and but for the last one the guest does not
    /// know.
    fn record_and_cut(&mut self, machine: &mut Machine, cuts: usize) -> Vec<Left> {
        let (mut left, mut reported) = (Vec::new(), Reported::default());
        let mut seed = self.start(machine);
        // It takes seconds to begin. What it does then is to be met, too.
        let mut moment = self.moment() + PAUSE * self.random.u32(0..3);
        while left.len() < cuts {
            match machine.hear(moment.saturating_duration_since(Instant::now())) {
                Some(word) => self.take(&word, machine, &mut seed, &mut reported),
                // Of all cuts, one at least is after a cell.
                None if self.counts.reported == 0 && left.len() + 1 == cuts => {
                    moment = self.moment();
                }
                None => {
                    let writes =
                        self.random.usize(1..=WRITES) * usize::from(self.random.u8(0..4) > 0);
                    let (sectors, unflushed, at) = self.disk.cut(writes, PAUSE);
                    while let Some(word) = machine.hear_before(at) {
                        self.take(&word, machine, &mut seed, &mut reported);
                    }
                    self.counts.unflushed += unflushed;
                    left.push(Left { sectors, reported: reported.clone() });
                    moment = self.moment();
                }
            }
        }
        self.counts.cuts += cuts;
        left
    }

    /// Takes in what the guest says of the run of that seed; another run follows it.
    fn take(
        &mut self,
        word: &Word,
        machine: &mut Machine,
        seed: &mut u64,
        reported: &mut Reported,
    ) {
        match *word {
            Word::Cells(cells) => {
                let cells_max = reported.cells.entry(*seed).or_default();
                self.counts.reported += usize::from(cells > *cells_max);
                *cells_max = cells.max(*cells_max);
            }
            Word::Other(_) => {}
            Word::Ended(code) => {
                assert_eq!(code, 0);
                reported.complete.push(*seed);
                for run in &mut self.kept {
                    run.summary.state = RunState::Complete;
                }
                *seed = self.start(machine);
            }
        }
    }

    /// Of the next cut.
    fn moment(&mut self) -> Instant {
        Instant::now() + PAUSE.mul_f64(self.random.f64())
    }

    /// Whatever the last cut left goes on to its end.
    fn go_on_to_the_end(&mut self, machine: &mut Machine) {
        self.start(machine);
        machine.end();
        let files = tempfile::tempdir().unwrap();
        machine.copy_out("/disk", files.path());
        let runs = sound_runs_of(&files.path().join("knee.db"));
        self.assert_kept(&runs, &Reported::default());
        for run in runs {
            assert_eq!(run.summary.state, RunState::Complete);
            assert_eq!(run.cells.len(), run.plan.cells.len());
        }
    }
}

/// The runs of a record, which is whole.
fn sound_runs_of(record: &Path) -> Vec<Run> {
    let runs = runs_of(record, |_| true);
    assert_eq!(integrity(record), "ok");
    runs.iter().for_each(assert_sound);
    runs
}
