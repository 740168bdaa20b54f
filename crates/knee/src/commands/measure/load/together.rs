//! `knee load --together`: several processes put one load on a server, at one moment, and have one result.
//!
//! They meet at an archive, or at the barrier of what started them. Each checks in; their plans are compared, and all take rank
//! 0's seed. When the connections of all are open, a start is named on a common clock. After the load each gives its part, and
//! the lowest rank that lives adds them up.

mod barrier;
mod meeting;

use super::recorded::RecordFlags;
use super::report;
use crate::commands::measure::launchers::{self, FleetFlags};
use crate::exit::Trouble;
use ::load::{Error, IntervalOutcome, Outcome, Part, Plan, Share, Url, Watch};
use engine::Stop;
use findings::format::list;
use model::{FleetMember, Host, Rank, RankMeasured, Warning};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How far ahead rank 0 names the start: many looks.
const AHEAD: Duration = Duration::from_millis(300);
/// Readings of the common clock; the best one counts.
const CLOCK_READINGS: usize = 30;
/// The time that a part may take to be there after the last reply was due.
const POSTED_WITHIN: Duration = Duration::from_secs(10);
/// A rank that began later than this is named.
const START_LATE_MS: f64 = 5.0;

/// The steps at which all ranks say something.
const CHECK_IN: &str = "check-in";
const READY: &str = "ready";
const PART: &str = "part";
/// What the rank says that has the result.
const RECORDED: &str = "recorded";

#[derive(Serialize, Deserialize)]
struct CheckIn {
    plan: Value,
    seed: u64,
}

#[derive(Serialize, Deserialize)]
pub struct Measured {
    host: String,
    clock_bound_ns: u64,
    part: Part,
}

/// What all did: of the rank that adds it up.
pub struct Together {
    pub outcome: Outcome,
    pub ranks: Vec<Rank>,
    pub warnings: Vec<Warning>,
}

struct Member {
    fleet: String,
    rank: u32,
    size: u32,
}

impl Member {
    fn new(flags: &FleetFlags) -> Result<Member, Trouble> {
        let started = Host { facts: launchers::facts(flags)?, ..Host::default() };
        match started.fleet() {
            Some(FleetMember { id: fleet, rank: Some(rank), size: Some(size) }) => {
                Ok(Member { fleet, rank, size })
            }
            Some(_) => Err(Trouble::usage(
                "--together needs the rank of this process and the number of ranks: --rank R --of N",
            )),
            None => Err(Trouble::usage(
                "--together needs several processes: start them by srun, mpiexec or an indexed job, or give each \
                 --fleet NAME --rank R --of N",
            )),
        }
    }

    /// That ranks are missing: all that are not `present`, or `some` of them.
    fn missing(&self, some: &str, present: &[u32], check_in: Duration) -> Trouble {
        let Member { fleet, size, .. } = self;
        let missing: Vec<String> = (0..*size)
            .filter(|rank| !present.contains(rank))
            .map(|rank| rank.to_string())
            .collect();
        let seconds = check_in.as_secs_f64();
        Trouble::failed(match &missing[..] {
            [] => format!("rank 0 of {size} named no start within {seconds} s"),
            [rank] => {
                format!("rank {rank} of {size} did not check in within {seconds} s (fleet {fleet})")
            }
            _ => format!(
                "{some}ranks {} of {size} did not check in within {seconds} s (fleet {fleet})",
                list(&missing)
            ),
        })
    }
}

trait Assembly {
    fn member(&self) -> &Member;

    /// Says what this rank has in mind, and waits for all others: the common seed.
    fn agree(&mut self, own: CheckIn) -> Result<u64, Trouble>;

    /// Waits until the connections of all are open, and returns when they begin.
    fn start(&mut self, is_ready: bool) -> Result<Instant, Trouble>;

    /// How far this rank's reading of the common clock may be off.
    fn clock_bound(&self) -> Duration;

    /// Gives what this rank measured, if it did, and waits for the others.
    fn conclude(
        &mut self,
        measured: Option<&Measured>,
        patience: Patience,
    ) -> Result<Concluded, Trouble>;

    /// Says of which ranks the measurements are in the result, which this rank has recorded; of none where it could not.
    fn announce(&mut self, recorded: &[u32]) -> Result<(), Trouble>;

    /// Waits for what the rank with the result says of it; nothing is recorded where it says nothing in time.
    fn recorded(&mut self, rank: u32) -> Result<Vec<u32>, Trouble>;
}

#[derive(Clone, Copy)]
struct Patience {
    /// After its own load has ended.
    wait: Duration,
    /// A load of so many requests ends at another time on each rank: then only a signal ends the wait.
    ends: bool,
}

enum Concluded {
    /// What each of the others measured, by rank, for this one to add up.
    Parts(Vec<Option<Measured>>),
    /// The rank that does.
    Elsewhere(u32),
    /// What this rank measured can't be given.
    Lost(Trouble),
}

pub struct Joined<'a> {
    assembly: Box<dyn Assembly + 'a>,
    stop: &'a Stop,
}

pub enum Came {
    /// The result of all that are known of.
    Result(Together),
    /// The rank that has it.
    Elsewhere(u32),
    /// Why there is none, and what this rank measured.
    Trouble(Trouble, Together),
}

/// Joins the others, at the archive where one is given, or else at the barrier of the launcher.
pub fn join<'a>(flags: &RecordFlags, plan: &Plan, stop: &'a Stop) -> Result<Joined<'a>, Trouble> {
    let RecordFlags { fleet, push, check_in, .. } = flags;
    let assembly: Box<dyn Assembly + 'a> = match push {
        Some(archive) => Box::new(meeting::Process::join(fleet, archive, *check_in, plan, stop)?),
        None => Box::new(barrier::Process::join(fleet, *check_in, plan, stop)?),
    };
    Ok(Joined { assembly, stop })
}

fn check_threads(plan: &Plan, size: u32) -> Result<(), Trouble> {
    let threads = u64::from(size) * plan.threads as u64;
    if plan.connections >= usize::try_from(threads).unwrap_or(usize::MAX) {
        return Ok(());
    }
    Err(Trouble::usage(format!(
        "--connections {} are fewer than the threads of all ranks, which are {threads}: each has connections of \
         its own",
        plan.connections
    )))
}

impl Joined<'_> {
    pub fn size(&self) -> usize {
        self.assembly.member().size as usize
    }

    pub fn agree(&mut self, url: &Url, plan: &Plan) -> Result<Plan, Trouble> {
        let size = self.assembly.member().size;
        let seed = self.assembly.agree(check_in(url, plan, size))?;
        Ok(Plan { seed, ..plan.clone() })
    }

    /// Does this rank's share of the plan of all, and gives `keep` each interval that is final.
    pub fn load(
        &mut self,
        plan: &Plan,
        keep: &mut dyn FnMut(IntervalOutcome),
    ) -> Result<Measured, Trouble> {
        let share = Share { rank: self.assembly.member().rank as usize, ranks: self.size() };
        let plan = Plan { share, ..plan.clone() };
        let mut trouble = None;
        let (stop, assembly) = (self.stop, &mut self.assembly);
        let mut agree = |is_ready: bool| match assembly.start(is_ready) {
            Ok(begin) => Some(begin),
            Err(error) => {
                trouble = Some(error);
                None
            }
        };
        let part = ::load::run_share(&plan, &stop.requested, Some(&mut Keeping(keep)), &mut agree);
        let part = match part {
            Ok(part) => part,
            // That of the load itself says more than that all called it off.
            Err(Error::CalledOff) => {
                return Err(trouble.unwrap_or_else(|| Trouble::failed("the load was called off")));
            }
            Err(error) => {
                if trouble.is_none() {
                    // The others are not to wait for it.
                    let _ = assembly.conclude(None, Patience { wait: Duration::ZERO, ends: true });
                }
                return Err(super::failed(&error));
            }
        };
        let host = engine::host();
        let host = host.fact(::model::HOST_NAME).unwrap_or_default().to_owned();
        let clock_bound_ns = ns(self.assembly.clock_bound());
        Ok(Measured { host, clock_bound_ns, part })
    }

    /// Adds up what all measured, if that falls to this rank.
    pub fn conclude(&mut self, measured: &Measured, plan: &Plan) -> Came {
        let ends = plan.duration.is_some();
        let patience = Patience { wait: plan.timeout + POSTED_WITHIN, ends };
        let own = self.assembly.member().rank;
        let concluded = self.assembly.conclude(Some(measured), patience);
        let (trouble, is_lost) = match concluded {
            Ok(Concluded::Elsewhere(rank)) => return Came::Elsewhere(rank),
            Ok(Concluded::Parts(parts)) => {
                return Came::Result(Together::new(own, measured, &parts));
            }
            Ok(Concluded::Lost(trouble)) => (trouble, true),
            Err(trouble) => (trouble, false),
        };
        let alone = self.alone(measured, &trouble);
        if is_lost { Came::Result(alone) } else { Came::Trouble(trouble, alone) }
    }

    /// What this rank measured, where it is in no result of others because of some trouble.
    pub fn alone(&self, measured: &Measured, trouble: &Trouble) -> Together {
        let Member { rank: own, size, .. } = *self.assembly.member();
        let parts: Vec<_> = (0..size).map(|_| None).collect();
        let mut alone = Together::new(own, measured, &parts);
        alone.warnings = vec![only(own, size, trouble)];
        alone
    }

    /// Only where the result is recorded do the others remove their shares.
    pub fn announce(&mut self, ranks: &[Rank], is_recorded: bool) {
        let present = ranks.iter().filter(|rank| is_recorded && rank.measured.is_some());
        let _ = self.assembly.announce(&present.map(|rank| rank.rank).collect::<Vec<u32>>());
    }

    pub fn is_recorded_by(&mut self, rank: u32) -> bool {
        let own = self.assembly.member().rank;
        self.assembly.recorded(rank).is_ok_and(|recorded| recorded.contains(&own))
    }
}

fn only(own: u32, size: u32, why: &Trouble) -> Warning {
    Warning {
        what: format!("Of {size} ranks only rank {own} is in the figures ({why})"),
        remedy: "load again, or see what each rank kept".to_owned(),
    }
}

struct Keeping<'a>(&'a mut dyn FnMut(IntervalOutcome));

impl Watch for Keeping<'_> {
    fn interval(&mut self, interval: IntervalOutcome) {
        (self.0)(interval);
    }
}

impl Together {
    /// The sum of this rank's part and those of the others, by rank; none of one that did not come to its end.
    fn new(own: u32, measured: &Measured, parts: &[Option<Measured>]) -> Together {
        let mut sum = measured.part.clone();
        for part in parts.iter().flatten() {
            sum += &part.part;
        }
        let ranks = (0..).zip(parts).map(|(rank, part)| {
            let measured = part.as_ref().or((rank == own).then_some(measured));
            Rank { rank, measured: measured.map(RankMeasured::from) }
        });
        let ranks: Vec<Rank> = ranks.collect();
        let mut warnings = warnings(&ranks);
        let all = (0..).zip(parts).filter_map(|(rank, part)| {
            Some((rank, part.as_ref().or((rank == own).then_some(measured))?))
        });
        warnings.extend(ended_early(ranks.len(), &all.collect::<Vec<_>>()));
        Together { outcome: sum.outcome(), ranks, warnings }
    }
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl From<&Measured> for RankMeasured {
    fn from(measured: &Measured) -> RankMeasured {
        let counts = &measured.part.counts;
        RankMeasured {
            host: measured.host.clone(),
            requests: counts.requests,
            replies: counts.replies,
            start_late_ns: measured.part.start_late_ns,
            clock_bound_ns: measured.clock_bound_ns,
            late: counts.late,
            busy_share: counts.busy_share,
        }
    }
}

fn ended_early(size: usize, measured: &[(u32, &Measured)]) -> Option<Warning> {
    let is_stopped = |(_, measured): &&(u32, &Measured)| measured.part.counts.stopped;
    let stopped: Vec<String> =
        measured.iter().filter(is_stopped).map(|(rank, _)| rank.to_string()).collect();
    let (subject, their) = match &stopped[..] {
        [] => return None,
        _ if stopped.len() == measured.len() => return None,
        [rank] => (format!("Rank {rank} of {size} was"), "its"),
        _ => (format!("Ranks {} of {size} were", list(&stopped)), "their"),
    };
    Some(Warning {
        what: format!(
            "{subject} ended by a signal before the others: {their} share of the load is not whole"
        ),
        remedy: "load again".to_owned(),
    })
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
        let late_ms = measured.start_late_ns as f64 / 1e6;
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

fn refusal(check_ins: &[CheckIn]) -> Option<String> {
    let first = check_ins.first()?;
    check_ins.iter().zip(0..).find_map(|(check_in, rank)| {
        let difference = difference(&first.plan, &check_in.plan)?;
        Some(format!(
            "rank {rank} has another plan than rank 0: {difference}; all ranks of a load have one command line"
        ))
    })
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
        if this.is_object() && that.is_object() {
            return difference(this, that);
        }
        (this != that).then(|| format!("{key} is {that}, not {this}"))
    })
}

fn read<T: DeserializeOwned>(rank: u32, text: &[u8]) -> Result<T, Trouble> {
    serde_json::from_slice(text)
        .map_err(|error| Trouble::failed(format!("what rank {rank} posted can't be read: {error}")))
}

/// What all ranks have to have in common, and the seed, which they need not.
fn check_in(url: &Url, plan: &Plan, size: u32) -> CheckIn {
    let seed = plan.seed;
    let common = Plan { seed: 0, pin: Vec::new(), ..plan.clone() };
    let mut plan = json!(report::PlanView::new(&common));
    plan["url"] = json!(url.to_string());
    plan["version"] = json!(env!("CARGO_PKG_VERSION"));
    plan["ranks"] = json!(size);
    CheckIn { plan, seed }
}

#[cfg(test)]
mod tests;
