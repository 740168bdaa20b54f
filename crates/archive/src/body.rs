//! What an archive keeps: the serde form of a run, a cell and a profiled cell as one body of JSON each, under a checksum.
//!
//! A database notices a page that is broken, but neither a changed figure nor a page of another moment, such as a copy has
//! that was made while the record was written. A checksum guards against accidents, not against intent: who means to change
//! a figure can make a new one.

use crate::Error;
use crate::keeping::{self, check_clock, check_counts, check_metric, without_samples};
use model::{
    Cell, CellKey, Clock, FleetMember, Frame, FunctionCode, Host, Plan, Profile, ProfiledCell, Run,
    RunState, RunSummary, StackNode, Warning,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A run without its cells, as a database keeps it.
#[derive(Clone, Debug)]
pub(crate) struct RunRow {
    /// Its number; 0 where it has none yet.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// See [`RunSummary::origin`].
    pub origin: String,
    /// JSON of a [`KeptSummary`]: all that a list of runs shows.
    pub summary: String,
    /// Over these texts.
    pub seal: i64,
    /// How many cells are there.
    pub cells: u64,
    /// How many profiled cells are there.
    pub profiled: u64,
}

/// The parts of a run that no list shows. The summary has a checksum of each.
#[derive(Clone, Debug)]
pub(crate) struct RunBodies {
    /// JSON: `plan`, `clock`, `host_before`.
    pub begun: String,
    /// JSON: `host_after`, `warnings`.
    pub ending: String,
}

/// A cell as a database keeps it.
#[derive(Clone, Debug)]
pub(crate) struct CellRow {
    /// Its place in the plan.
    pub sequence: u64,
    /// JSON of the cell, without its samples.
    pub body: String,
    /// JSON: for each metric the positions of its samples.
    pub positions: String,
    /// The samples of each metric.
    pub samples: Vec<Vec<f64>>,
    /// Over all of these, and the run's id.
    pub seal: i64,
}

/// A profiled cell as a database keeps it.
#[derive(Clone, Debug)]
pub(crate) struct ProfileRow {
    /// JSON of its key.
    pub key: String,
    /// JSON: `cell`, and what of the run's profile came with it: `before`, `frames`, `stacks`, `code`.
    pub body: String,
    /// Over these, and the run's id.
    pub seal: i64,
}

/// What a list of runs shows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeptSummary {
    /// The summary. Of a run that has ended, its `cells_ended` says how many cells there have to be.
    #[serde(flatten)]
    pub summary: RunSummary,
    /// See [`RunSummary::host`].
    pub host: String,
    /// See [`RunSummary::fleet`].
    pub fleet: Option<FleetMember>,
    /// How many profiled cells there have to be, once it has ended.
    profiled: u64,
    begun_checksum: i64,
    ending_checksum: i64,
}

/// What a run has from its beginning.
#[derive(Serialize, Deserialize)]
pub(crate) struct Begun<'a> {
    pub plan: Cow<'a, Plan>,
    clock: Cow<'a, Clock>,
    pub host_before: Cow<'a, Host>,
}

/// What it has only at its end.
#[derive(Serialize, Deserialize)]
pub(crate) struct Last<'a> {
    host_after: Option<Cow<'a, Host>>,
    pub warnings: Cow<'a, [Warning]>,
}

/// A profiled cell, and the frames, stacks and code that came with it: the run's profile had so many before.
#[derive(Serialize, Deserialize)]
struct Profiled {
    cell: ProfiledCell,
    before: Sizes,
    frames: Vec<Frame>,
    stacks: Vec<StackNode>,
    code: Vec<FunctionCode>,
    /// Over the last of each that the profile has now.
    last_checksum: i64,
}

/// How much of a profile there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Sizes {
    frames: usize,
    stacks: usize,
    code: usize,
}

/// How an archive keeps texts, and where, for messages.
#[derive(Clone)]
pub(crate) struct Keep {
    pub rule: fn(&str) -> String,
    pub path: PathBuf,
}

impl Keep {
    fn json<T: Serialize>(&self, value: &T) -> Result<String, Error> {
        keeping::json(value, &self.rule, &self.path)
    }

    /// The parts of a run that no list shows.
    pub fn begun(&self, run: &Run) -> Result<String, Error> {
        check_clock(&run.clock, &self.path)?;
        self.json(&Begun {
            plan: Cow::Borrowed(&run.plan),
            clock: Cow::Borrowed(&run.clock),
            host_before: Cow::Borrowed(&run.host_before),
        })
    }

    /// The begun part of a run with another plan.
    pub fn replanned(&self, begun: Begun<'_>, plan: &Plan) -> Result<String, Error> {
        self.json(&Begun { plan: Cow::Borrowed(plan), ..begun })
    }

    /// What a run knows only at its end.
    pub fn ending(&self, host_after: Option<&Host>, warnings: &[Warning]) -> Result<String, Error> {
        let (host_after, warnings) = (host_after.map(Cow::Borrowed), Cow::Borrowed(warnings));
        self.json(&Last { host_after, warnings })
    }

    pub fn row(&self, kept: &KeptSummary) -> Result<RunRow, Error> {
        let RunSummary { number, id, origin, .. } = &kept.summary;
        let summary = RunSummary { number: 0, ..kept.summary.clone() };
        let summary = self.json(&KeptSummary { summary, ..kept.clone() })?;
        let seal = checksum(&[id.as_bytes(), origin.as_bytes(), summary.as_bytes()]);
        let (number, id, origin) = (*number, id.clone(), origin.clone());
        let (cells, profiled) = (kept.summary.cells_ended, kept.profiled);
        Ok(RunRow { number, id, origin, summary, seal, cells, profiled })
    }

    pub fn cell(&self, run_id: &str, cell: &Cell) -> Result<CellRow, Error> {
        let sequence = cell.sequence;
        cell.metrics.iter().try_for_each(|metric| check_metric(metric, sequence, &self.path))?;
        let bare = without_samples(cell);
        check_counts(&bare, &format!("cell {sequence}"), &self.path)?;
        let positions: Vec<Positions> =
            cell.metrics.iter().map(|metric| Positions::new(&metric.positions)).collect();
        check_counts(&positions, &format!("a position in cell {sequence}"), &self.path)?;
        let samples = cell.metrics.iter().map(|metric| metric.samples.clone()).collect();
        let (body, positions) = (self.json(&bare)?, self.json(&positions)?);
        let mut row = CellRow { sequence, body, positions, samples, seal: 0 };
        row.seal = row.checksum(run_id);
        Ok(row)
    }

    /// The rows of cells of a profile from the n-th on. Before them come those that end in `last`: the first that is new
    /// brings all that the profile has besides.
    pub fn profiled(
        &self,
        run_id: &str,
        profile: &Profile,
        cells: &[ProfiledCell],
        last: Option<&ProfileRow>,
    ) -> Result<Vec<ProfileRow>, Error> {
        profile.check().map_err(|what| Error::Invalid { path: self.path.clone(), what })?;
        let mut before = match last {
            None => Sizes::default(),
            Some(last) => self.goes_on(profile, last)?,
        };
        let all = Sizes::from_profile(profile);
        let last_checksum = self.last_checksum(profile, all)?;
        let row = |cell: &ProfiledCell| {
            let CellKey { subject, point, .. } = &cell.key;
            check_counts(cell, &format!("the profile of {subject} at {point}"), &self.path)?;
            let body = self.json(&Profiled {
                cell: cell.clone(),
                before,
                frames: profile.frames[before.frames..].to_vec(),
                stacks: profile.stacks[before.stacks..].to_vec(),
                code: profile.code[before.code..].to_vec(),
                last_checksum,
            })?;
            before = all;
            let mut row = ProfileRow { key: self.json(&cell.key)?, body, seal: 0 };
            row.seal = row.checksum(run_id);
            Ok(row)
        };
        cells.iter().map(row).collect()
    }

    /// Refuses a profile that does not go on from what the run has: its numbers would mean something else.
    fn goes_on(&self, profile: &Profile, last: &ProfileRow) -> Result<Sizes, Error> {
        let there: Profiled = read(&last.body, "a profile", &self.path)?;
        let sizes = there.sizes();
        let is_longer = sizes.frames <= profile.frames.len()
            && sizes.stacks <= profile.stacks.len()
            && sizes.code <= profile.code.len();
        if is_longer && self.last_checksum(profile, sizes)? == there.last_checksum {
            return Ok(sizes);
        }
        let what = "a profile that does not go on from that of the run".to_owned();
        Err(Error::Invalid { path: self.path.clone(), what })
    }

    fn last_checksum(&self, profile: &Profile, sizes: Sizes) -> Result<i64, Error> {
        let last = (
            profile.frames[..sizes.frames].last(),
            profile.stacks[..sizes.stacks].last(),
            profile.code[..sizes.code].last(),
        );
        Ok(checksum(&[self.json(&last)?.as_bytes()]))
    }
}

impl Sizes {
    fn from_profile(profile: &Profile) -> Sizes {
        let Profile { frames, stacks, code, .. } = profile;
        Sizes { frames: frames.len(), stacks: stacks.len(), code: code.len() }
    }
}

impl Profiled {
    /// How much of the profile there is with it.
    fn sizes(&self) -> Sizes {
        Sizes {
            frames: self.before.frames + self.frames.len(),
            stacks: self.before.stacks + self.stacks.len(),
            code: self.before.code + self.code.len(),
        }
    }
}

impl KeptSummary {
    /// That of a run with these parts, as if it had all its cells.
    pub(crate) fn new(run: &Run, bodies: &RunBodies) -> KeptSummary {
        let cells_ended = run.cells.len() as u64;
        let mut summary = RunSummary { number: 0, cells_ended, ..run.summary.clone() };
        summary.set_host(&run.host_before);
        KeptSummary {
            host: summary.host.clone(),
            fleet: summary.fleet.clone(),
            summary,
            profiled: run.profile.cells.len() as u64,
            begun_checksum: checksum(&[bodies.begun.as_bytes()]),
            ending_checksum: checksum(&[bodies.ending.as_bytes()]),
        }
    }

    /// With what is there of the run of `row`.
    pub(crate) fn set_ending(
        &mut self,
        row: &RunRow,
        state: RunState,
        ended: Option<String>,
        ending: &str,
    ) {
        (self.summary.state, self.summary.ended) = (state, ended);
        (self.summary.cells_ended, self.profiled) = (row.cells, row.profiled);
        self.ending_checksum = checksum(&[ending.as_bytes()]);
    }

    pub(crate) fn set_begun(&mut self, begun: &str) {
        self.begun_checksum = checksum(&[begun.as_bytes()]);
    }

    /// Refuses a run that has lost cells since it ended.
    fn check_counts(&self, row: &RunRow, path: &Path) -> Result<(), Error> {
        if self.summary.state == RunState::Open {
            return Ok(());
        }
        let counts = [
            ("cells", row.cells, self.summary.cells_ended),
            ("profiled cells", row.profiled, self.profiled),
        ];
        match counts.iter().find(|(_, present, kept)| present != kept) {
            None => Ok(()),
            Some((what, present, kept)) => {
                let run = row.number;
                Err(damaged(path, format!("{present} of {kept} {what} of run {run} are there")))
            }
        }
    }
}

impl RunRow {
    /// What it holds, if that is what was kept, and all its cells are there.
    pub(crate) fn read(&self, path: &Path) -> Result<KeptSummary, Error> {
        let RunRow { number, id, origin, summary, seal, .. } = self;
        if checksum(&[id.as_bytes(), origin.as_bytes(), summary.as_bytes()]) != *seal {
            return Err(damaged(path, format!("run {number} is not as it was kept")));
        }
        let mut kept: KeptSummary = read(summary, "a summary", path)?;
        kept.check_counts(self, path)?;
        kept.summary.number = *number;
        kept.summary.origin.clone_from(origin);
        kept.summary.cells_ended = self.cells;
        kept.summary.host.clone_from(&kept.host);
        kept.summary.fleet.clone_from(&kept.fleet);
        Ok(kept)
    }

    /// What a list shows of it: where it is damaged, what is left.
    pub(crate) fn shown(&self) -> RunSummary {
        let kept = serde_json::from_str(&self.summary).map(|kept: KeptSummary| RunSummary {
            host: kept.host,
            fleet: kept.fleet,
            ..kept.summary
        });
        RunSummary {
            number: self.number,
            id: self.id.clone(),
            origin: self.origin.clone(),
            cells_ended: self.cells,
            ..kept.unwrap_or_else(|_| unreadable())
        }
    }

    pub(crate) fn begun(
        &self,
        kept: &KeptSummary,
        bodies: &RunBodies,
        path: &Path,
    ) -> Result<Begun<'static>, Error> {
        self.check(kept.begun_checksum, &bodies.begun, path)?;
        read(&bodies.begun, "a plan", path)
    }

    /// The run of these rows.
    pub(crate) fn whole(
        &self,
        kept: KeptSummary,
        bodies: &RunBodies,
        cells: Vec<CellRow>,
        profiled: &[ProfileRow],
        path: &Path,
    ) -> Result<Run, Error> {
        let Begun { plan, clock, host_before } = self.begun(&kept, bodies, path)?;
        let Last { host_after, warnings } = self.last(&kept, bodies, path)?;
        let mut sequences = HashSet::new();
        if let Some(row) = cells.iter().find(|row| !sequences.insert(row.sequence)) {
            return Err(damaged(path, format!("cell {} is there twice", row.sequence)));
        }
        let cells =
            cells.into_iter().map(|row| row.read(&self.id, path)).collect::<Result<_, _>>()?;
        Ok(Run {
            summary: kept.summary,
            plan: plan.into_owned(),
            clock: clock.into_owned(),
            host_before: host_before.into_owned(),
            host_after: host_after.map(Cow::into_owned),
            warnings: warnings.into_owned(),
            cells,
            profile: read_profile(&self.id, profiled, path)?,
        })
    }

    pub(crate) fn last(
        &self,
        kept: &KeptSummary,
        bodies: &RunBodies,
        path: &Path,
    ) -> Result<Last<'static>, Error> {
        self.check(kept.ending_checksum, &bodies.ending, path)?;
        read(&bodies.ending, "an ending", path)
    }

    fn check(&self, kept: i64, text: &str, path: &Path) -> Result<(), Error> {
        if checksum(&[text.as_bytes()]) == kept {
            return Ok(());
        }
        Err(damaged(path, format!("run {} is not as it was kept", self.number)))
    }
}

/// What is known of a run whose summary can't be read.
fn unreadable() -> RunSummary {
    RunSummary { id: String::new(), state: RunState::Interrupted, ..RunSummary::default() }
}

impl CellRow {
    fn checksum(&self, run_id: &str) -> i64 {
        let sequence = self.sequence.to_le_bytes();
        let mut sum = Checksum::default();
        for part in [run_id.as_bytes(), &sequence, self.body.as_bytes(), self.positions.as_bytes()]
        {
            sum.add(part);
        }
        let mut bytes = Vec::new();
        for samples in &self.samples {
            bytes.clear();
            bytes.reserve(size_of_val(&samples[..]));
            for sample in samples {
                bytes.extend_from_slice(&sample.to_le_bytes());
            }
            sum.add(&bytes);
        }
        sum.number()
    }

    fn read(self, run_id: &str, path: &Path) -> Result<Cell, Error> {
        let sequence = self.sequence;
        let changed = || damaged(path, format!("cell {sequence} is not as it was kept"));
        if self.checksum(run_id) != self.seal {
            return Err(changed());
        }
        let mut cell: Cell = read(&self.body, "a cell", path)?;
        let positions: Vec<Positions> = read(&self.positions, "positions", path)?;
        if [positions.len(), self.samples.len()] != [cell.metrics.len(); 2] {
            return Err(changed());
        }
        let series = self.samples.into_iter().zip(positions);
        for (metric, (samples, positions)) in cell.metrics.iter_mut().zip(series) {
            metric.positions = positions.values(samples.len()).ok_or_else(changed)?;
            metric.samples = samples;
        }
        Ok(cell)
    }
}

impl ProfileRow {
    fn checksum(&self, run_id: &str) -> i64 {
        let [key, body] = [&self.key, &self.body].map(String::as_bytes);
        checksum(&[run_id.as_bytes(), key, body])
    }
}

fn read_profile(run_id: &str, rows: &[ProfileRow], path: &Path) -> Result<Profile, Error> {
    let mut profile = Profile::default();
    for row in rows {
        if row.checksum(run_id) != row.seal {
            return Err(damaged(path, format!("{} is not as it was kept", profile_name(row))));
        }
        let there: Profiled = read(&row.body, "a profile", path)?;
        if there.before != Sizes::from_profile(&profile) {
            let what = format!("what {} goes on from is missing", profile_name(row));
            return Err(damaged(path, what));
        }
        profile.frames.extend(there.frames);
        profile.stacks.extend(there.stacks);
        profile.code.extend(there.code);
        profile.cells.push(there.cell);
    }
    profile.check().map_err(|what| damaged(path, what))?;
    Ok(profile)
}

fn profile_name(row: &ProfileRow) -> String {
    match serde_json::from_str(&row.key) {
        Ok(CellKey { subject, point, .. }) => format!("the profile of {subject} at {point}"),
        Err(_) => "a profile".to_owned(),
    }
}

fn read<T: DeserializeOwned>(json: &str, what: &str, path: &Path) -> Result<T, Error> {
    serde_json::from_str(json).map_err(|error| damaged(path, format!("{what}: {error}")))
}

pub(crate) fn damaged(path: &Path, detail: String) -> Error {
    Error::Damaged { path: path.into(), detail }
}

/// The places of samples on the axis.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Positions {
    /// Each as far from the one before: a trajectory of 25,000 calls needs no 25,000 numbers.
    Even {
        from: u64,
        step: i64,
    },
    Each(Vec<u64>),
}

impl Positions {
    fn new(positions: &[u64]) -> Positions {
        let step = |pair: &[u64]| i64::try_from(i128::from(pair[1]) - i128::from(pair[0])).ok();
        let each = || Positions::Each(positions.to_vec());
        let &[from, second, ..] = positions else { return each() };
        let Some(first) = step(&[from, second]) else { return each() };
        let even = positions.windows(2).all(|pair| step(pair) == Some(first));
        if even { Positions::Even { from, step: first } } else { each() }
    }

    /// One for each of `samples` samples, or no place at all; none where there are more or fewer, or they
    /// leave the numbers that there are.
    fn values(self, samples: usize) -> Option<Vec<u64>> {
        match self {
            Positions::Each(values) => {
                (values.is_empty() || values.len() == samples).then_some(values)
            }
            Positions::Even { from, step } => (0..samples)
                .map(|n| from.checked_add_signed(i64::try_from(n).ok()?.checked_mul(step)?))
                .collect(),
        }
    }
}

/// A CRC-32 over texts, each with its length, so that none is taken for the end of another.
#[derive(Default)]
struct Checksum(crc32fast::Hasher);

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn number(self) -> i64 {
        i64::from(self.0.finalize())
    }
}

fn checksum(parts: &[&[u8]]) -> i64 {
    let mut sum = Checksum::default();
    for part in parts {
        sum.add(part);
    }
    sum.number()
}
