//! `knee load --together`: several processes put one load on a server, at one moment, and have one result.
//!
//! They meet at an archive. Each checks in; rank 0 compares their plans, and gives all its seed. When the connections of all
//! are open, it names the start on the archive's clock. After the load each posts its part, and the lowest rank that lives
//! adds them up.

use super::report;
use crate::commands::archives;
use crate::exit::Trouble;
use crate::launchers::{self, FleetFlags};
use ::load::{Arrivals, Error, Outcome, Part, Plan, Shape, Share, Url};
use ::record::{
    FLEET_ID, FLEET_RANK, FLEET_SIZE, Location, Meeting, Posting, Rank, RankMeasured, Warning,
};
use engine::Stop;
use findings::format::list;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Between two looks at what the others have posted.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How far ahead rank 0 names the start: many looks.
const AHEAD: Duration = Duration::from_millis(300);
/// Questions for the archive's clock; the fastest answer counts.
const CLOCK_QUERIES: usize = 30;
/// The time that ranks wait for one more of rank 0's than rank 0 waits for them.
const GRACE: Duration = Duration::from_secs(5);
/// The time that a part may take to be posted after the last reply was due.
const POSTED_WITHIN: Duration = Duration::from_secs(10);
/// A rank that began later than this is named.
const START_LATE_MS: f64 = 5.0;

const CHECK_IN: &str = "check-in";
const AGREEMENT: &str = "agreement";
const READY: &str = "ready";
const START: &str = "start";
const PART: &str = "part";
const RESULT: &str = "result";

/// What a rank has in mind.
#[derive(Serialize, Deserialize)]
struct CheckIn {
    plan: Value,
    seed: u64,
}

/// Who takes part, by rank, and by which seed; or why no rank does.
#[derive(Serialize, Deserialize)]
struct Agreement {
    senders: Vec<i64>,
    seed: u64,
    refusal: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Ready {
    is_ready: bool,
}

/// The start on the archive's clock, or why there is none.
#[derive(Serialize, Deserialize)]
struct Start {
    begin_ns: Option<i64>,
    refusal: Option<String>,
}

/// What a rank measured.
#[derive(Serialize, Deserialize)]
struct Measured {
    host: String,
    clock_bound_ns: f64,
    part: Part,
}

/// What all did: of the rank that adds it up.
pub struct Together {
    pub outcome: Outcome,
    /// What the plan of all was drawn by.
    pub seed: u64,
    pub ranks: Vec<Rank>,
    /// What a reader has to know: missing and late ranks.
    pub warnings: Vec<Warning>,
}

/// This process among those of its load.
struct Member {
    fleet: String,
    rank: u32,
    size: u32,
}

impl Member {
    fn new(flags: &FleetFlags) -> Result<Member, Trouble> {
        let facts = launchers::facts(flags)?;
        let number = |key| facts.get(key).and_then(|text: &String| text.parse().ok());
        let (rank, size): (Option<u32>, Option<u32>) = (number(FLEET_RANK), number(FLEET_SIZE));
        match (facts.get(FLEET_ID), rank, size) {
            (Some(fleet), Some(rank), Some(size)) => {
                Ok(Member { fleet: fleet.clone(), rank, size })
            }
            (Some(_), ..) => Err(Trouble::usage(
                "--together needs the rank of this process and the number of ranks: --rank R --of N",
            )),
            _ => Err(Trouble::usage(
                "--together needs several processes: start them by srun, mpiexec or an indexed job, or give each \
                 --fleet NAME --rank R --of N",
            )),
        }
    }
}

/// The archive's clock, as this process reads it.
#[derive(Clone, Copy)]
struct Clock {
    at: Instant,
    ns: i64,
    /// How far it may be off.
    bound: Duration,
}

impl Clock {
    fn read(meeting: &mut dyn Meeting) -> Result<Clock, Trouble> {
        let mut best: Option<Clock> = None;
        for _ in 0..CLOCK_QUERIES {
            let before = Instant::now();
            let ns = meeting.clock_ns()?;
            let bound = before.elapsed() / 2;
            if best.is_none_or(|best| bound < best.bound) {
                best = Some(Clock { at: before + bound, ns, bound });
            }
        }
        best.ok_or_else(|| Trouble::failed("the archive has no clock"))
    }

    fn now_ns(&self) -> i64 {
        self.ns + i64::try_from(self.at.elapsed().as_nanos()).unwrap_or(i64::MAX / 4)
    }

    fn moment(&self, ns: i64) -> Option<Instant> {
        let distance = Duration::from_nanos(ns.abs_diff(self.ns));
        if ns >= self.ns { self.at.checked_add(distance) } else { self.at.checked_sub(distance) }
    }
}

/// Puts this process's share of the load of `plan` on its server. Returns the result of all if this process adds it up,
/// or else which rank does.
pub fn load(
    flags: &FleetFlags,
    archive: Option<&Location>,
    check_in: Duration,
    url: &Url,
    plan: &Plan,
    stop: &Stop,
) -> Result<Result<Together, String>, Trouble> {
    let member = Member::new(flags)?;
    let Some(archive) = archive else {
        return Err(Trouble::usage("--together needs an archive where the ranks meet: --push URL"));
    };
    let threads = u64::from(member.size) * plan.threads as u64;
    if plan.connections < usize::try_from(threads).unwrap_or(usize::MAX) {
        return Err(Trouble::usage(format!(
            "--connections {} are fewer than the threads of all ranks, which are {threads}: each has connections of \
             its own",
            plan.connections
        )));
    }
    let sender = fastrand::i64(1..i64::MAX);
    let meeting = archives::meeting(archive, &member.fleet, member.rank, sender, stop)?;
    let posted_within = POSTED_WITHIN;
    let mut rank = Process { member, meeting, check_in, posted_within, stop, senders: Vec::new() };
    rank.load(url, plan)
}

struct Process<'a> {
    member: Member,
    meeting: Box<dyn Meeting>,
    check_in: Duration,
    posted_within: Duration,
    stop: &'a Stop,
    /// Those that take part, by rank.
    senders: Vec<i64>,
}

impl Process<'_> {
    fn load(&mut self, url: &Url, plan: &Plan) -> Result<Result<Together, String>, Trouble> {
        let seed = self.agree(url, plan)?;
        let clock = Clock::read(&mut *self.meeting)?;
        let share = Share { rank: self.member.rank as usize, ranks: self.member.size as usize };
        let plan = Plan { share, shape: with_seed(plan.shape, seed), ..plan.clone() };
        let mut trouble = None;
        let stop = self.stop;
        let mut agree = |is_ready: bool| match self.start(is_ready, &clock) {
            Ok(begin) => Some(begin),
            Err(error) => {
                trouble = Some(error);
                None
            }
        };
        let part = match ::load::run_share(&plan, stop.flag(), None, &mut agree) {
            Ok(part) => part,
            // That of the load itself says more than that all called it off.
            Err(Error::CalledOff) => {
                return Err(trouble.unwrap_or_else(|| Trouble::failed("the load was called off")));
            }
            Err(error) => return Err(super::failed(&error)),
        };
        let host = engine::host();
        let host = host.fact(::record::HOST_NAME).unwrap_or_default().to_owned();
        let clock_bound_ns = clock.bound.as_nanos() as f64;
        let measured = Measured { host, clock_bound_ns, part };
        match self.post(PART, &measured) {
            Ok(()) => self.conclude(&plan),
            Err(lost) => Ok(Ok(self.alone(&measured, &plan, &lost))),
        }
    }

    /// What this rank measured, where it can't be added to what the others did.
    fn alone(&self, measured: &Measured, plan: &Plan, lost: &Trouble) -> Together {
        let Member { rank: own, size, .. } = self.member;
        let measured_by = |rank| (rank == own).then(|| measured.into());
        let ranks = (0..size).map(|rank| Rank { rank, measured: measured_by(rank) }).collect();
        let warnings = vec![Warning {
            what: format!(
                "The archive could not be reached after the load: of {size} ranks only rank {own} is in the figures ({lost})"
            ),
            remedy: "load again, or see what each rank kept".to_owned(),
        }];
        Together { outcome: measured.part.outcome(), seed: super::seed(plan), ranks, warnings }
    }

    fn post(&mut self, kind: &str, body: &impl Serialize) -> Result<(), Trouble> {
        let body = serde_json::to_string(body)
            .map_err(|error| Trouble::failed(format!("{kind}: {error}")))?;
        Ok(self.meeting.post(kind, &body)?)
    }

    /// Looks until there is something, or the deadline has come.
    fn look<T>(
        &mut self,
        deadline: Instant,
        mut look: impl FnMut(&mut Self) -> Result<Option<T>, Trouble>,
    ) -> Result<Option<T>, Trouble> {
        loop {
            if let Some(seen) = look(self)? {
                return Ok(Some(seen));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            if self.stop.is_requested() {
                return Err(Trouble::interrupted("interrupted while the other ranks were awaited"));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Those of the agreement, in order of rank; absent where one has posted nothing.
    fn posted(&mut self, kind: &str, with_body: bool) -> Result<Vec<Option<Posting>>, Trouble> {
        let mut all: BTreeMap<i64, Posting> = self
            .meeting
            .postings(kind, with_body)?
            .into_iter()
            .map(|posting| (posting.sender, posting))
            .collect();
        Ok(self.senders.iter().map(|sender| all.remove(sender)).collect())
    }

    /// Checks in, and waits for all others: the common seed.
    fn agree(&mut self, url: &Url, plan: &Plan) -> Result<u64, Trouble> {
        let (mut outline, seed) = outline(url, plan);
        outline["ranks"] = json!(self.member.size);
        self.post(CHECK_IN, &CheckIn { plan: outline, seed })?;
        let is_first = self.member.rank == 0;
        let mut present: Vec<u32> = Vec::new();
        let deadline = Instant::now() + self.check_in;
        let agreement = self.look(deadline, |process| {
            let mut all = process.meeting.postings(CHECK_IN, is_first)?;
            all.retain(|posting| posting.is_present);
            present = all.iter().map(|posting| posting.rank).collect();
            if let Some([twice, _]) = present.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Trouble::usage(format!(
                    "rank {twice} of fleet {} was started twice: another start needs another --fleet NAME",
                    process.member.fleet
                )));
            }
            if is_first {
                let is_complete = all.len() == process.member.size as usize;
                return is_complete.then(|| agreement(&all)).transpose();
            }
            process.agreement()
        })?;
        let Some(agreement) = agreement else { return Err(self.missing(&present)) };
        if is_first {
            self.post(AGREEMENT, &agreement)?;
        }
        if let Some(refusal) = agreement.refusal {
            return Err(Trouble::usage(refusal));
        }
        self.senders = agreement.senders;
        Ok(agreement.seed)
    }

    /// What rank 0 has written of a meeting in which this process is.
    fn agreement(&mut self) -> Result<Option<Agreement>, Trouble> {
        let own = self.meeting.sender();
        for posting in self.meeting.postings(AGREEMENT, true)? {
            let agreement: Agreement = read(&posting)?;
            if agreement.senders.contains(&own) {
                return Ok(Some(agreement));
            }
        }
        Ok(None)
    }

    fn missing(&self, present: &[u32]) -> Trouble {
        let Member { fleet, size, .. } = &self.member;
        let missing: Vec<String> = (0..*size)
            .filter(|rank| !present.contains(rank))
            .map(|rank| rank.to_string())
            .collect();
        let seconds = self.check_in.as_secs_f64();
        Trouble::failed(match &missing[..] {
            [] => format!("rank 0 of {size} named no start within {seconds} s"),
            [rank] => {
                format!("rank {rank} of {size} did not check in within {seconds} s (fleet {fleet})")
            }
            _ => format!(
                "ranks {} of {size} did not check in within {seconds} s (fleet {fleet})",
                list(&missing)
            ),
        })
    }

    /// Waits until the connections of all are open, and returns when they begin.
    fn start(&mut self, is_ready: bool, clock: &Clock) -> Result<Instant, Trouble> {
        self.post(READY, &Ready { is_ready })?;
        let is_first = self.member.rank == 0;
        let deadline =
            Instant::now() + self.check_in + if is_first { Duration::ZERO } else { GRACE };
        if is_first {
            let refusal = self.refusal(deadline)?;
            let ahead_ns = i64::try_from(AHEAD.as_nanos()).unwrap_or(0);
            let begin_ns = refusal.is_none().then(|| clock.now_ns() + ahead_ns);
            self.post(START, &Start { begin_ns, refusal })?;
        }
        let start = self.look(deadline, |process| {
            let first = process.posted(START, true)?.into_iter().next().flatten();
            first.map(|posting| read::<Start>(&posting)).transpose()
        })?;
        let start = start.ok_or_else(|| Trouble::failed("rank 0 named no start"))?;
        if let Some(refusal) = start.refusal {
            return Err(Trouble::failed(refusal));
        }
        let begin = start.begin_ns.and_then(|ns| clock.moment(ns));
        let is_near = |begin: &Instant| {
            begin.saturating_duration_since(Instant::now()) <= self.check_in + GRACE
        };
        begin
            .filter(is_near)
            .ok_or_else(|| Trouble::failed("the start that rank 0 named is no moment near now"))
    }

    /// Why no load begins, if one rank is not ready by the deadline.
    fn refusal(&mut self, deadline: Instant) -> Result<Option<String>, Trouble> {
        let mut missing: Vec<usize> = Vec::new();
        let refusal = self.look(deadline, |process| {
            let all = process.posted(READY, true)?;
            missing = (0..all.len()).filter(|&rank| all[rank].is_none()).collect();
            for (rank, posting) in all.iter().enumerate() {
                let Some(posting) = posting else { continue };
                if !read::<Ready>(posting)?.is_ready {
                    let what = format!("rank {rank} could not open its connections");
                    return Ok(Some(Some(what)));
                }
                if !posting.is_present {
                    return Ok(Some(Some(format!("rank {rank} ended before the start"))));
                }
            }
            Ok(missing.is_empty().then_some(None))
        })?;
        Ok(refusal.unwrap_or_else(|| {
            let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
            Some(format!("no connections of rank {} were open in time", list(&missing)))
        }))
    }

    /// Waits for the parts, and adds them up if this is the lowest rank that lives. Where a signal ended the loads of all,
    /// what they measured by then is the result.
    fn conclude(&mut self, plan: &Plan) -> Result<Result<Together, String>, Trouble> {
        let patience = plan.timeout + self.posted_within;
        let mut deadline = None;
        loop {
            // A load of so many requests ends at another time on each rank.
            if deadline.is_none() && (plan.duration.is_some() || self.stop.is_requested()) {
                deadline = Some(Instant::now() + patience);
            }
            let is_after =
                |grace| deadline.is_some_and(|deadline| Instant::now() >= deadline + grace);
            if let Some(result) = self.posted(RESULT, false)?.into_iter().flatten().next() {
                return Ok(Err(format!("rank {} has the result of all ranks", result.rank)));
            }
            let (is_lowest, is_awaited) = self.rank_state()?;
            if is_lowest && !is_awaited
                || is_lowest && is_after(Duration::ZERO) && !self.stop.is_requested()
            {
                return self.add_up(plan).map(Ok);
            }
            if is_after(if is_lowest { Duration::ZERO } else { GRACE }) {
                return Err(if self.stop.is_requested() {
                    Trouble::interrupted(
                        "interrupted; the other ranks go on, and have what this one measured",
                    )
                } else {
                    Trouble::failed("no rank added up the result; the parts are in the archive")
                });
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Whether this is the lowest rank that lives, and whether one that lives has not posted its part.
    fn rank_state(&mut self) -> Result<(bool, bool), Trouble> {
        let own = self.meeting.sender();
        let checked = self.posted(CHECK_IN, false)?;
        let parts = self.posted(PART, false)?;
        let is_present = |posting: &Option<Posting>| posting.as_ref().is_some_and(|p| p.is_present);
        let lowest = checked.iter().position(is_present);
        let is_lowest = lowest.is_some_and(|lowest| self.senders[lowest] == own);
        let mut ranks = checked.iter().zip(&parts);
        Ok((is_lowest, ranks.any(|(rank, part)| is_present(rank) && part.is_none())))
    }

    fn add_up(&mut self, plan: &Plan) -> Result<Together, Trouble> {
        // The others go: to add up hours takes longer than they wait.
        self.post(RESULT, &json!({}))?;
        let mut sum: Option<Part> = None;
        let mut ranks = Vec::new();
        for (posting, rank) in self.posted(PART, true)?.into_iter().zip(0..) {
            let Some(posting) = posting else {
                ranks.push(Rank { rank, measured: None });
                continue;
            };
            let measured: Measured = read(&posting)?;
            measured
                .part
                .check()
                .map_err(|what| Trouble::failed(format!("rank {rank}: {what}")))?;
            ranks.push(Rank { rank, measured: Some((&measured).into()) });
            match &mut sum {
                Some(sum) => sum.add(&measured.part),
                None => sum = Some(measured.part),
            }
        }
        let sum = sum.ok_or_else(|| Trouble::failed("no rank has measured anything"))?;
        let warnings = warnings(&ranks);
        Ok(Together { outcome: sum.outcome(), seed: super::seed(plan), ranks, warnings })
    }
}

impl From<&Measured> for RankMeasured {
    fn from(measured: &Measured) -> RankMeasured {
        let counts = &measured.part.counts;
        RankMeasured {
            host: measured.host.clone(),
            requests: counts.requests,
            replies: counts.replies,
            start_late_ns: measured.part.start_late_ns as f64,
            clock_bound_ns: measured.clock_bound_ns,
            late: counts.late,
            busy_share: counts.busy_share,
        }
    }
}

fn warnings(ranks: &[Rank]) -> Vec<Warning> {
    let size = ranks.len();
    let mut all = Vec::new();
    for rank in ranks {
        let Rank { rank, measured } = rank;
        let Some(measured) = measured else {
            all.push(Warning {
                what: format!(
                    "Rank {rank} of {size} did not come to its end: its share of the load is not in the figures"
                ),
                remedy: "see what it wrote, and load again".to_owned(),
            });
            continue;
        };
        let late_ms = measured.start_late_ns / 1e6;
        if late_ms > START_LATE_MS {
            all.push(Warning {
                what: format!(
                    "Rank {rank} of {size} ({}) began {late_ms:.1} ms after the agreed start",
                    measured.host
                ),
                remedy: "end what else runs there".to_owned(),
            });
        }
    }
    all
}

/// The agreement of ranks that are all there, in order of rank.
fn agreement(all: &[Posting]) -> Result<Agreement, Trouble> {
    let check_ins: Vec<CheckIn> = all.iter().map(read).collect::<Result<_, _>>()?;
    let first = &check_ins[0];
    let mut refusal = None;
    for (check_in, posting) in check_ins.iter().zip(all) {
        if let Some(difference) = difference(&first.plan, &check_in.plan) {
            let rank = posting.rank;
            refusal = Some(format!(
                "rank {rank} has another plan than rank 0: {difference}; all ranks of a load have one command line"
            ));
            break;
        }
    }
    let senders = all.iter().map(|posting| posting.sender).collect();
    Ok(Agreement { senders, seed: first.seed, refusal })
}

/// What differs first between two plans: `threads is 2 and 4`.
fn difference(first: &Value, second: &Value) -> Option<String> {
    let (Value::Object(these), Value::Object(those)) = (first, second) else {
        return (first != second).then(|| "it can't be read".to_owned());
    };
    let none = Value::Null;
    let mut keys = these.keys().chain(those.keys());
    keys.find_map(|key| {
        let (this, that) = (these.get(key).unwrap_or(&none), those.get(key).unwrap_or(&none));
        (this != that).then(|| format!("{key} is {that}, not {this}"))
    })
}

fn read<T: DeserializeOwned>(posting: &Posting) -> Result<T, Trouble> {
    serde_json::from_str(&posting.body).map_err(|error| {
        Trouble::failed(format!("what rank {} posted can't be read: {error}", posting.rank))
    })
}

/// What all ranks have to have in common, and the seed, which they need not.
fn outline(url: &Url, plan: &Plan) -> (Value, u64) {
    let seed = super::seed(plan);
    let common = Plan { shape: with_seed(plan.shape, 0), pin: Vec::new(), ..plan.clone() };
    let mut outline = report::plan(&common);
    outline["url"] = json!(format!("http://{}{}", url.host_header(), url.path));
    outline["version"] = json!(env!("CARGO_PKG_VERSION"));
    (outline, seed)
}

pub fn with_seed(shape: Shape, seed: u64) -> Shape {
    let seeded = |arrivals| match arrivals {
        Arrivals::Poisson { per_s, .. } => Arrivals::Poisson { per_s, seed },
        planned => planned,
    };
    match shape {
        Shape::Closed => Shape::Closed,
        Shape::Open(arrivals) => Shape::Open(seeded(arrivals)),
        Shape::Sessions(arrivals) => Shape::Sessions(seeded(arrivals)),
    }
}

#[cfg(test)]
mod tests;
