//! Ranks that meet at an archive. Rank 0 names the start on the archive's clock.

use super::{
    AHEAD, Assembly, CHECK_IN, CLOCK_READINGS, CheckIn, Concluded, LOOK_EVERY, Measured, Member,
    PART, Patience, READY, RECORDED, check_threads, read, refusal,
};
use crate::commands::measure::launchers::FleetFlags;
use crate::exit::Trouble;
use ::load::Plan;
use archive;
use archive::{Location, Meeting, Posting};
use engine::Stop;
use findings::format::list;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time that ranks wait for one more of rank 0's than rank 0 waits for them.
const GRACE: Duration = Duration::from_secs(5);
/// The time that the result may take to be added up, recorded, shown and pushed: longer than a push tries.
const RECORDED_WITHIN: Duration = Duration::from_secs(900);
const RECORDED_LOOK_MAX: Duration = Duration::from_secs(1);

const AGREEMENT: &str = "agreement";
const START: &str = "start";
/// What the rank says that adds up.
const RESULT: &str = "result";

/// Who takes part, by rank, and by which seed; or why no rank does.
#[derive(Serialize, Deserialize)]
struct Agreement {
    senders: Vec<i64>,
    seed: u64,
    refusal: Option<String>,
}

/// The start on the archive's clock, or why there is none.
#[derive(Serialize, Deserialize)]
struct Start {
    begin_ns: Option<i64>,
    refusal: Option<String>,
}

/// The archive's clock, as this process reads it.
#[derive(Clone, Copy)]
struct Clock {
    at: Instant,
    ns: i64,
    bound: Duration,
}

impl Clock {
    fn read(meeting: &mut dyn Meeting) -> Result<Clock, Trouble> {
        let mut best: Option<Clock> = None;
        for _ in 0..CLOCK_READINGS {
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

pub(super) struct Process<'a> {
    member: Member,
    meeting: Box<dyn Meeting>,
    check_in: Duration,
    stop: &'a Stop,
    clock: Option<Clock>,
    /// Those that take part, by rank.
    senders: Vec<i64>,
}

impl<'a> Process<'a> {
    pub(super) fn join(
        flags: &FleetFlags,
        archive: &Location,
        check_in: Duration,
        plan: &Plan,
        stop: &'a Stop,
    ) -> Result<Process<'a>, Trouble> {
        let member = Member::new(flags)?;
        check_threads(plan, member.size)?;
        let sender = fastrand::i64(1..i64::MAX);
        let url = match archive {
            Location::Postgres(url) => url,
            Location::File(file) => {
                return Err(Trouble::usage(format!(
                    "--together meets at an archive that all ranks reach, postgres://HOST/DATABASE, and {} is a file",
                    file.display()
                )));
            }
        };
        let stop_flag = Arc::clone(&stop.requested);
        let meeting = archive::meeting(url, &member.fleet, member.rank, sender, stop_flag)?;
        Ok(Process { member, meeting, check_in, stop, clock: None, senders: Vec::new() })
    }
}

impl Assembly for Process<'_> {
    fn member(&self) -> &Member {
        &self.member
    }

    fn agree(&mut self, own: CheckIn) -> Result<u64, Trouble> {
        let seed = self.check_in(&own)?;
        self.clock = Some(Clock::read(&mut *self.meeting)?);
        Ok(seed)
    }

    fn start(&mut self, is_ready: bool) -> Result<Instant, Trouble> {
        let clock =
            self.clock.ok_or_else(|| Trouble::failed("the archive's clock was not read"))?;
        self.begin(is_ready, &clock)
    }

    fn clock_bound(&self) -> Duration {
        self.clock.map_or(Duration::MAX, |clock| clock.bound)
    }

    fn conclude(
        &mut self,
        measured: Option<&Measured>,
        patience: Patience,
    ) -> Result<Concluded, Trouble> {
        // A rank that measured nothing goes, which the others notice.
        match self.post(PART, &measured) {
            Ok(()) if measured.is_some() => self.parts(patience),
            Ok(()) => Err(Trouble::failed("this rank measured nothing")),
            Err(lost) => Ok(Concluded::Lost(lost)),
        }
    }

    fn announce(&mut self, recorded: &[u32]) -> Result<(), Trouble> {
        self.post(RECORDED, &recorded)
    }

    fn recorded(&mut self, rank: u32) -> Result<Vec<u32>, Trouble> {
        let deadline = Instant::now() + RECORDED_WITHIN;
        let mut pause = LOOK_EVERY;
        loop {
            // It may announce it, and go, between two looks.
            let is_there = self.is_present(rank)?;
            let mut postings = self.posted(RECORDED, true)?.into_iter().flatten();
            if let Some(posting) = postings.find(|posting| posting.rank == rank) {
                return read_posting(&posting);
            }
            if !is_there || Instant::now() >= deadline {
                return Ok(Vec::new());
            }
            std::thread::sleep(pause);
            // A push may take minutes.
            pause = (pause * 2).min(RECORDED_LOOK_MAX);
        }
    }
}

impl Process<'_> {
    fn is_present(&mut self, rank: u32) -> Result<bool, Trouble> {
        let mut checked = self.posted(CHECK_IN, false)?.into_iter().flatten();
        Ok(checked.any(|posting| posting.rank == rank && posting.is_present))
    }

    fn post(&mut self, kind: &str, body: &impl Serialize) -> Result<(), Trouble> {
        let body = serde_json::to_string(body)
            .map_err(|error| Trouble::failed(format!("{kind}: {error}")))?;
        Ok(self.meeting.post(kind, &body)?)
    }

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

    fn check_in(&mut self, own: &CheckIn) -> Result<u64, Trouble> {
        self.post(CHECK_IN, own)?;
        let is_first = self.member.rank == 0;
        let mut present: Vec<u32> = Vec::new();
        let deadline = Instant::now() + self.check_in;
        let agreement = self.look(deadline, |process| {
            let mut all = process.meeting.postings(CHECK_IN, is_first)?;
            all.retain(|posting| posting.is_present);
            let ranks: Vec<u32> = all.iter().map(|posting| posting.rank).collect();
            // One that has waited in vain may go before this one has.
            present.extend(&ranks);
            if let Some([twice, _]) = ranks.windows(2).find(|pair| pair[0] == pair[1]) {
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
        let Some(agreement) = agreement else {
            return Err(self.member.missing("", &present, self.check_in));
        };
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
            let agreement: Agreement = read_posting(&posting)?;
            if agreement.senders.contains(&own) {
                return Ok(Some(agreement));
            }
        }
        Ok(None)
    }

    /// Waits until the connections of all are open, and returns when they begin on this clock.
    fn begin(&mut self, is_ready: bool, clock: &Clock) -> Result<Instant, Trouble> {
        self.post(READY, &is_ready)?;
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
            first.map(|posting| read_posting::<Start>(&posting)).transpose()
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

    fn refusal(&mut self, deadline: Instant) -> Result<Option<String>, Trouble> {
        let mut missing: Vec<usize> = Vec::new();
        let refusal = self.look(deadline, |process| {
            let all = process.posted(READY, true)?;
            missing = (0..all.len()).filter(|&rank| all[rank].is_none()).collect();
            for (rank, posting) in all.iter().enumerate() {
                let Some(posting) = posting else { continue };
                if !read_posting::<bool>(posting)? {
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
            let missing = list(missing.iter().map(ToString::to_string));
            Some(format!("no connections of rank {missing} were open in time"))
        }))
    }

    /// Waits for the parts, and reads them if this is the lowest rank that lives.
    fn parts(&mut self, patience: Patience) -> Result<Concluded, Trouble> {
        let mut deadline = None;
        loop {
            if deadline.is_none() && (patience.ends || self.stop.is_requested()) {
                deadline = Some(Instant::now() + patience.wait);
            }
            let is_after =
                |grace| deadline.is_some_and(|deadline| Instant::now() >= deadline + grace);
            if let Some(result) = self.posted(RESULT, false)?.into_iter().flatten().next() {
                return Ok(Concluded::Elsewhere(result.rank));
            }
            let (is_lowest, is_awaited) = self.rank_state()?;
            if is_lowest && !is_awaited
                || is_lowest && is_after(Duration::ZERO) && !self.stop.is_requested()
            {
                return self.result();
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

    fn result(&mut self) -> Result<Concluded, Trouble> {
        // The others go: to add up hours takes longer than they wait.
        self.post(RESULT, &json!({}))?;
        let own = self.member.rank;
        let all = self.posted(PART, true)?.into_iter().zip(0..);
        let parts = all.map(|(posting, rank)| match posting {
            Some(posting) if rank != own => read(rank, posting.body.as_bytes()),
            _ => Ok(None),
        });
        Ok(Concluded::Parts(parts.collect::<Result<_, _>>()?))
    }
}

fn agreement(all: &[Posting]) -> Result<Agreement, Trouble> {
    let check_ins: Vec<CheckIn> = all.iter().map(read_posting).collect::<Result<_, _>>()?;
    let seed = check_ins.first().map_or(0, |first| first.seed);
    let senders = all.iter().map(|posting| posting.sender).collect();
    Ok(Agreement { senders, seed, refusal: refusal(&check_ins) })
}

fn read_posting<T: DeserializeOwned>(posting: &Posting) -> Result<T, Trouble> {
    read(posting.rank, posting.body.as_bytes())
}

#[cfg(test)]
mod tests;
