//! A load as a run of the record: each interval is a round, so that what reads runs reads loads.

mod cells;

use super::Measured;
use super::point::Point;
use super::text::warnings;
use crate::commands::keep::claim::Claim;
use crate::commands::keep::push;
use crate::commands::keep::record_file::{RecordFile, archive};
use crate::commands::measure::launchers::{self, FleetFlags};
use crate::commands::measure::run::labels::labels;
use crate::commands::measure::run::lost;
use crate::commands::record_path;
use crate::exit::{Exit, Trouble, complain};
use crate::output::is_quiet;
use crate::remedies::explained;
use crate::usage;
use ::load::{Address, IntervalOutcome, Plan, Url};
use archive::{Archive, Error, Location, RunWriter, SqliteArchive};
use cells::Cells;
use clap::Args;
use clap::builder::TypedValueParser;
use engine::Unsaved;
use model::{Ending, FailureReason, HOST_NAME, HOST_NAMED_BY, Rank, Run, RunState, Warning};
use std::cmp::Ordering;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Intervals that ended are committed this often: each commit waits for the disk.
const COMMIT_EVERY: Duration = Duration::from_secs(1);

/// Whether and how the load is recorded.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Record")]
pub struct RecordFlags {
    /// Keep the load as a run of a record: of this file, or else of `$KNEE_RECORD` or your own
    ///
    /// Each interval is a round. `knee show`, `compare`, `history` and `report` read it. Without this flag nothing is
    /// recorded.
    #[arg(long, value_name = "FILE", num_args = 0..=1, value_parser = record_file(), default_missing_value = "")]
    record: Option<Location>,
    /// Name of the server in the record: loads of one name are compared [default: the URL without its scheme]
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<String>,
    /// Record a label: commit=3701d31; may be repeated
    #[arg(short, long = "label", value_name = "KEY=VALUE", value_parser = usage::label)]
    labels: Vec<(String, String)>,
    /// Name of this machine in the record [default: its host name]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    host_name: Option<String>,
    /// Record it, and push it to this archive too: `postgres://USER@HOST/DATABASE`
    #[arg(long, value_name = "URL", value_parser = archive())]
    pub push: Option<Location>,
    /// One load of all ranks that srun, mpiexec or the like started: each sends its share, from one moment on
    ///
    /// The ranks meet at the archive of --push, or else by their launcher (mpiexec of MPICH, srun --mpi=pmi2), and there is
    /// one result, of all of them. Rate, connections and requests are those of all together. See docs/fleet.md.
    #[arg(long, conflicts_with_all = ["dead", "wait"])]
    pub together: bool,
    /// With --together: wait this long for the other ranks
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = quantities::time_from_ms, hide_short_help = true)]
    pub check_in: Duration,
    #[command(flatten)]
    pub fleet: FleetFlags,
}

/// Reads the record's file; the URL of a server, which is no record, has come to its place.
fn record_file() -> impl TypedValueParser<Value = Location> {
    let is_server = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    archive().try_map(move |location: Location| {
        let shown = location.shown().to_string_lossy();
        if is_server(&shown) {
            return Err("that is what to load; write --record after it, or --record FILE");
        }
        Ok(location)
    })
}

fn name(typed: &str) -> Result<String, String> {
    let name = typed.trim();
    let is_good = !name.is_empty() && !name.contains([',', '\n']) && name.chars().count() <= 80;
    is_good.then(|| name.to_owned()).ok_or_else(|| {
        format!("`{typed}` is no name: up to 80 characters, in one line and without commas")
    })
}

impl RecordFlags {
    pub fn is_recording(&self) -> bool {
        self.record.is_some() || self.push.is_some()
    }

    fn record_file(&self) -> RecordFile {
        let named = self.record.clone().filter(|record| !record.shown().as_os_str().is_empty());
        RecordFile::at(named)
    }
}

#[derive(Clone, Copy)]
pub struct Present {
    pub ranks: usize,
    pub size: usize,
}

impl Present {
    fn from_ranks(ranks: &[Rank]) -> Option<Present> {
        let present = ranks.iter().filter(|rank| rank.measured.is_some()).count();
        (!ranks.is_empty()).then_some(Present { ranks: present, size: ranks.len() })
    }
}

pub struct Recording {
    flags: RecordFlags,
    file: PathBuf,
    archive: SqliteArchive,
    run: Run,
}

impl Recording {
    /// Opens the record, and looks at the machine before the load; `None` where nothing is to be recorded.
    pub fn open(flags: &RecordFlags, command: Vec<String>) -> Result<Option<Recording>, Trouble> {
        if !flags.is_recording() {
            if flags.name.is_some() || !flags.labels.is_empty() || flags.host_name.is_some() {
                let what =
                    "--name, --label and --host-name are kept with --record, which is missing";
                return Err(Trouble::usage(what.to_owned()));
            }
            return Ok(None);
        }
        push::check(flags.push.as_ref())?;
        let file = record_path(&flags.record_file())?;
        // The run of several ranks is one run, and no rank of a fleet.
        let mut facts = launchers::facts(&flags.fleet)?;
        if flags.together {
            facts.retain(|key, _| key == HOST_NAME || key == HOST_NAMED_BY);
        }
        facts.extend(launchers::typed_host(flags.host_name.as_ref()));
        let labels = labels(&flags.labels)?;
        let archive = SqliteArchive::open(&file)?;
        let plan = ::model::Plan::default();
        let clock = engine::calibrate();
        let mut run = engine::new_run(plan, command, env!("CARGO_PKG_VERSION"), &clock);
        run.host_before.facts.extend(facts);
        run.summary.labels = labels;
        Ok(Some(Recording { flags: flags.clone(), file, archive, run }))
    }

    pub fn another(&self) -> Result<Recording, Trouble> {
        let mut run = self.run.clone();
        run.summary.id = engine::new_run_id();
        let archive = SqliteArchive::open(&self.file)?;
        Ok(Recording { flags: self.flags.clone(), file: self.file.clone(), archive, run })
    }

    /// Begins the run of a load on these numbers of dead connections; of so many ranks, where others took part, too.
    pub fn begin(
        mut self,
        url: &Url,
        plan: &Plan,
        numbers: &[Option<u64>],
        present: Option<Present>,
    ) -> Result<LoadRun, Trouble> {
        let name = self.flags.name.clone();
        let subject = name.unwrap_or_else(|| match &plan.target.address {
            Address::Tcp(_) => format!("{}{}", url.host_header(), url.path),
            // Of two sockets the URLs may be the same.
            unix @ Address::Unix(_) => format!("{}{} at {unix}", url.host_header(), url.path),
        });
        let cells = Cells::new(subject, plan, numbers, present);
        let run = &mut self.run;
        let rounds = planned_rounds(plan).max(1);
        run.plan = model::Plan {
            seed: plan.seed,
            rounds: u32::try_from(rounds).unwrap_or(u32::MAX),
            measure_ms: plan.interval.as_millis() as u64,
            workloads: vec![cells.info()],
            pinned_cpus: plan.pin.clone(),
            cells: cells.planned(&[], |_| rounds),
            ..::model::Plan::default()
        };
        run.summary.cells_planned = run.plan.cells.len() as u64;
        let claim = Claim::new(&run.summary.id, Some(&self.file))?;
        run.summary.number = self.archive.begin(run)?;
        Ok(LoadRun {
            recording: self,
            cells,
            _claim: claim,
            rounds,
            ended: Vec::new(),
            intervals: 0,
            saved: 0,
            committed: Instant::now(),
            error: None,
        })
    }

    pub fn keep(self, url: &Url, plan: &Plan, measured: &Measured) -> Result<Kept, Trouble> {
        let numbers: Vec<Option<u64>> = measured.points.iter().map(Point::number).collect();
        let mut run = self.begin(url, plan, &numbers, Present::from_ranks(&measured.ranks))?;
        for point in &measured.points {
            run.end_point(point, &measured.ranks);
        }
        Ok(run.finish(plan, measured))
    }
}

/// Each interval is committed when its figures are final, so that a load that is killed keeps them.
pub struct LoadRun {
    recording: Recording,
    cells: Cells,
    _claim: Claim,
    /// How many cells each point was to have; 1 where that was not known.
    rounds: usize,
    /// How many cells each point has that has ended, and the one that goes on.
    ended: Vec<usize>,
    pub intervals: usize,
    saved: usize,
    committed: Instant,
    error: Option<Error>,
}

impl LoadRun {
    pub fn add_interval(&mut self, interval: &IntervalOutcome) {
        let ended = &mut self.recording.run.cells;
        ended.push(self.cells.measured(ended, self.ended.len(), interval, None));
        self.intervals += 1;
        if self.committed.elapsed() >= COMMIT_EVERY {
            self.commit();
        }
    }

    pub fn end_point(&mut self, point: &Point, ranks: &[Rank]) {
        let ended = &mut self.recording.run.cells;
        let intervals = &point.outcome.intervals;
        for (index, interval) in intervals.iter().enumerate().skip(self.intervals) {
            let is_last = index + 1 == intervals.len();
            let whole = is_last.then_some((point, ranks));
            ended.push(self.cells.measured(ended, self.ended.len(), interval, whole));
        }
        self.ended.push(intervals.len());
        self.intervals = 0;
        self.commit();
    }

    /// Adds why there was no load with a number of dead connections, or why one failed after the intervals that were added.
    pub fn fail_point(&mut self, reason: FailureReason) {
        let ended = &mut self.recording.run.cells;
        ended.push(self.cells.failed(ended, self.ended.len(), reason));
        self.ended.push(self.intervals + 1);
        self.intervals = 0;
        self.commit();
    }

    /// Commits all cells that the record has not. What it refuses is tried again with the next ones.
    fn commit(&mut self) {
        let planned = self.plan_more();
        let Recording { archive, run, .. } = &mut self.recording;
        let (number, cells) = (run.summary.number, &run.cells[self.saved..]);
        let committed = planned.and_then(|()| {
            archive.wholly(&mut |archive| {
                cells.iter().try_for_each(|cell| archive.commit(number, cell))
            })
        });
        if committed.is_ok() {
            self.saved = run.cells.len();
        }
        self.error = committed.err();
        self.committed = Instant::now();
    }

    /// How many intervals a number of requests takes is not known before, and replies that come late make one more: the plan
    /// in the record follows, before it has their cells.
    fn plan_more(&mut self) -> Result<(), archive::Error> {
        let Recording { archive, run, .. } = &mut self.recording;
        let current = self.ended.len();
        let mut unsaved = run.cells.iter().zip(&run.plan.cells).skip(self.saved);
        let is_planned = unsaved.all(|(cell, planned)| cell.key == *planned);
        let wanted = run.cells.len() + self.cells.points().saturating_sub(current);
        if is_planned && wanted <= run.plan.cells.len() {
            return Ok(());
        }
        let more = |index: usize| match index.cmp(&current) {
            Ordering::Less => 0,
            Ordering::Equal => self.rounds.saturating_sub(self.intervals).max(self.intervals),
            Ordering::Greater => self.rounds,
        };
        let mut plan =
            model::Plan { cells: self.cells.planned(&run.cells, more), ..run.plan.clone() };
        plan.rounds = rounds_of(&plan);
        archive.replan(run.summary.number, &plan)?;
        run.summary.cells_planned = plan.cells.len() as u64;
        run.plan = plan;
        Ok(())
    }

    /// Ends the run of a share that failed; takes it back where nothing was measured.
    pub fn give_up(mut self, plan: &Plan, trouble: &Trouble) {
        if self.intervals == 0 {
            return self.discard();
        }
        let operation = "the share of this rank".to_owned();
        self.fail_point(FailureReason::CallFailed { operation, error: trouble.to_string() });
        let (points, ranks, disturbances, warnings) = Default::default();
        let host_after = engine::host();
        let measured =
            Measured { points, points_planned: 1, host_after, disturbances, ranks, warnings };
        self.finish(plan, &measured).say();
    }

    /// Takes the run back, where nothing was measured or another one has it.
    pub fn discard(mut self) {
        let number = self.recording.run.summary.number;
        if let Err(error) = self.recording.archive.delete(number) {
            complain(&format!("knee: run {number} has nothing in it: {}", explained(&error)));
        }
    }

    pub fn finish(mut self, plan: &Plan, measured: &Measured) -> Kept {
        self.commit();
        let Recording { flags, file, mut archive, mut run } = self.recording;
        let rounds = planned_rounds(plan);
        let is_stopped = measured.points.iter().any(|point| point.outcome.counts.stopped);
        let planned = std::mem::take(&mut run.plan.cells);
        run.plan.cells = self.cells.planned(&run.cells, |index| {
            let ended = self.ended.get(index).copied().unwrap_or(0);
            match measured.points.get(index) {
                Some(point) if !point.outcome.counts.stopped => 0,
                // Of requests that were not all sent there is one more interval at least.
                point if rounds == 0 => usize::from(point.is_some() || ended == 0),
                _ => rounds.saturating_sub(ended),
            }
        });
        let has_failed = measured.points.len() < measured.points_planned;
        let is_cut_off = is_stopped || has_failed || run.plan.cells.len() > run.cells.len();
        run.plan.rounds = rounds_of(&run.plan);
        run.warnings.extend(interrupted(plan, measured));
        let own = warnings::of_load(plan, &measured.points);
        run.warnings.extend(own.into_iter().map(|what| Warning { what, remedy: String::new() }));
        run.warnings.extend(measured.warnings.iter().cloned());
        run.warnings.extend(measured.points.iter().filter_map(lower_bounds));
        run.host_after = Some(engine::named_as(&run.host_before, measured.host_after.clone()));
        run.summary.ended = Some(engine::now());
        run.summary.state = if is_cut_off { RunState::Interrupted } else { RunState::Complete };
        run.summary.cells_planned = run.plan.cells.len() as u64;
        run.summary.cells_ended = run.cells.len() as u64;
        let number = run.summary.number;
        let cells = run.cells.len() - self.saved;
        let error = self.error.or_else(|| {
            let replanned =
                if run.plan.cells == planned { Ok(()) } else { archive.replan(number, &run.plan) };
            let ending = Ending::from_run(&run)?;
            replanned.and_then(|()| archive.finish(number, &ending)).err()
        });
        let mut trouble = error.map(|error| lost(&Unsaved { cells, error }));
        if trouble.is_none() && !file.exists() {
            let what =
                format!("{} was removed during the load: nothing is recorded", file.display());
            trouble = Some(Trouble::failed(what));
        }
        let push = push::Measured::new(flags.push.as_ref(), &[(&run, trouble.is_none())]);
        let record_file = flags.record_file();
        Kept { file, number, push, record_file, trouble }
    }
}

fn rounds_of(plan: &::model::Plan) -> u32 {
    plan.cells.iter().map(|key| key.round + 1).max().unwrap_or(0)
}

pub struct Kept {
    file: PathBuf,
    number: i64,
    push: Option<push::Measured>,
    record_file: RecordFile,
    trouble: Option<Trouble>,
}

impl Kept {
    pub fn is_recorded(&self) -> bool {
        self.trouble.is_none()
    }

    pub fn say(&self) {
        match &self.trouble {
            None if is_quiet() => {}
            None => complain(&format!("Record: {} (run {})", self.file.display(), self.number)),
            Some(trouble) => complain(&format!("knee: {trouble}")),
        }
    }

    pub fn push(self) -> Result<Exit, Trouble> {
        if self.trouble.is_none() {
            self.say();
        }
        let pushed = self.push.map_or(Exit::Done, |push| push.push(&self.record_file));
        self.trouble.map_or(Ok(pushed), Err)
    }
}

/// The whole intervals of a load of a given length; 0 where requests end it.
fn planned_rounds(plan: &Plan) -> usize {
    let duration = plan.duration.filter(|_| plan.requests.is_none());
    duration.map_or(0, |duration| {
        (duration.as_secs_f64() / plan.interval.as_secs_f64() + 1e-9) as usize
    })
}

/// Those without a reply make latencies lower bounds.
fn lower_bounds(point: &Point) -> Option<Warning> {
    let at_least = point.outcome.latency_at_least.as_ref()?;
    let given_up = at_least.count - point.outcome.latency.count;
    let dead =
        if point.has_dead() { format!("With {} dead: ", point.dead()) } else { String::new() };
    let what = format!(
        "{dead}{} had no reply by the end; each counts in the latencies with the time that it had waited, so they are \
         lower bounds",
        printable::quantity(given_up, "request")
    );
    Some(Warning { what, remedy: String::new() })
}

fn interrupted(plan: &Plan, measured: &Measured) -> Option<Warning> {
    let last = measured.points.last().filter(|point| point.outcome.counts.stopped)?;
    let elapsed_s = last.outcome.elapsed_s;
    let planned = plan.duration.map(|duration| format!(" of {}", duration.as_secs_f64()));
    let (points, numbers) = (measured.points.len(), measured.points_planned);
    let of_numbers = (points < numbers)
        .then(|| format!(", at number {points} of {numbers} of dead connections"));
    let what = format!(
        "The load was interrupted after {elapsed_s:.1}{} s{}",
        planned.unwrap_or_default(),
        of_numbers.unwrap_or_default()
    );
    Some(Warning { what, remedy: "load it again: a load can't be resumed".to_owned() })
}
