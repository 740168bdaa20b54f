//! Where controls measure: a record in a temporary directory, and nothing of the user's.

use crate::commands::measure::progress::Progress;
use crate::commands::measure::run::lost;
use crate::exit::{Trouble, stop_on_signals};
use archive::{Archive, RunWriter, SqliteArchive};
use engine::{Calibrated, RunProgress, RunRequest, Scratch, Settings, Side, Starter, Watch};
use model::{CellKey, Run, RunState, Value};
use std::path::Path;
use std::time::Duration;

pub struct Bench {
    /// Two ways to the same record: runs that take turns are written in turns.
    archives: [SqliteArchive; 2],
    settings: Settings,
    shown: Shown,
    /// Removed when all else is gone.
    scratch: Scratch,
}

impl Bench {
    pub fn new(controls: usize) -> Result<Bench, Trouble> {
        let stop = stop_on_signals()?;
        engine::raise_descriptors_max();
        let directory =
            std::env::temp_dir().join(format!("knee-selftest-{:016x}", fastrand::u64(..)));
        let scratch = Scratch::new(&directory)
            .map_err(|error| Trouble::failed(format!("making {}: {error}", directory.display())))?;
        let file = directory.join("selftest.db");
        let archives = [SqliteArchive::open(&file)?, SqliteArchive::open(&file)?];
        let settings = Settings::new(engine::calibrate(), stop);
        Ok(Bench { archives, settings, shown: Shown::new(controls), scratch })
    }

    pub fn title(&mut self, name: &'static str) {
        self.shown.next(name);
    }

    /// A directory for files of the controls, removed at the end.
    pub fn directory(&self) -> &Path {
        self.scratch.path()
    }

    pub fn clock(&self) -> &Calibrated {
        &self.settings.clock
    }

    /// Ends a control that the user interrupted.
    pub fn go_on(&self) -> Result<(), Trouble> {
        if self.settings.stop.is_requested() {
            return Err(Trouble::interrupted("self-test interrupted"));
        }
        Ok(())
    }

    /// Measures, keeps in the record, and reads back from it.
    pub fn measured(&mut self, request: &RunRequest) -> Result<Run, Trouble> {
        let [run] = self.kept([self.begun(request)?], [Starter::default()])?;
        Ok(run)
    }

    /// Measures twice, cell by cell in turns: by workers of this knee, and by those of `new`.
    pub fn in_turns(&mut self, request: &RunRequest, new: Starter) -> Result<[Run; 2], Trouble> {
        let mut runs = [self.begun(request)?, self.begun(request)?];
        runs[0].plan.paired_with.clone_from(&runs[1].summary.id);
        runs[1].plan.paired_with.clone_from(&runs[0].summary.id);
        self.kept(runs, [Starter::default(), new])
    }

    /// Measures the runs, each by the workers of its own starter, and reads them back from the record.
    fn kept<const SIDES: usize>(
        &mut self,
        mut runs: [Run; SIDES],
        mut workers: [Starter; SIDES],
    ) -> Result<[Run; SIDES], Trouble> {
        for (run, archive) in runs.iter_mut().zip(&mut self.archives) {
            run.summary.number = archive.begin(run)?;
        }
        let sides = runs.iter_mut().zip(&mut self.archives).zip(&mut workers);
        let sides = sides.map(|((run, archive), instrument)| Side {
            run,
            archive: Some(archive),
            instrument,
            judge: None,
        });
        let unsaved = engine::run(sides.collect(), &self.settings, &mut self.shown);
        self.go_on()?;
        if let Some(unsaved) = unsaved.iter().flatten().next() {
            return Err(lost(unsaved));
        }
        for run in &mut runs {
            if run.summary.state != RunState::Complete {
                return Err(Trouble::interrupted("self-test interrupted"));
            }
            *run = self.archives[0].load(run.summary.number)?;
        }
        Ok(runs)
    }

    fn begun(&self, request: &RunRequest) -> Result<Run, Trouble> {
        let plan = engine::plan(request, workloads::TABLE)?;
        let command = vec!["knee".to_owned(), "selftest".to_owned()];
        Ok(engine::new_run(plan, command, env!("CARGO_PKG_VERSION"), &self.settings.clock))
    }
}

pub fn request(
    workloads: &[&str],
    subjects: &[&str],
    points: &[&str],
    rounds: u32,
    ms: u64,
) -> RunRequest {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    RunRequest {
        workloads: words(workloads),
        subjects: words(subjects),
        points: points.iter().map(|point| Value::typed(point)).collect(),
        rounds: Some(rounds),
        quick: true,
        time: Some(Duration::from_millis(ms)),
        ..RunRequest::default()
    }
}

/// The progress, on a terminal. Cells that fail are expected here, and not shown.
struct Shown {
    progress: Progress,
    control: &'static str,
    number: usize,
    controls: usize,
}

impl Shown {
    fn new(controls: usize) -> Shown {
        Shown { progress: Progress::drawn(None, "{msg}"), control: "", number: 0, controls }
    }

    fn next(&mut self, control: &'static str) {
        self.control = control;
        self.number += 1;
        self.say("");
    }

    fn say(&self, what: &str) {
        let Shown { progress, control, number, controls } = self;
        progress.at(0, &format!("control {number} of {controls}: {control}  {what}"));
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.progress.done();
    }
}

impl Watch for Shown {
    fn begins(&mut self, _: usize, key: &CellKey, progress: &RunProgress) {
        let (done, total) = (progress.done, progress.total);
        let what = format!("{} {} at {}", key.workload, key.subject, key.point);
        self.say(&format!("cell {} of {total}, {what}", done + 1));
    }
}
