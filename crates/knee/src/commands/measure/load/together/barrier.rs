//! Ranks that meet at the barrier of what started them, and read what the others say from the space of keys that they have
//! there. No rank decides for the others: each draws the same conclusions from what all have posted.

use super::{
    AHEAD, Assembly, CHECK_IN, CLOCK_READINGS, CheckIn, Concluded, LOOK_EVERY, Measured, Member,
    PART, Patience, READY, RECORDED, check_threads, ns, read, refusal,
};
use crate::commands::measure::launchers::{self, FleetFlags, Space};
use crate::exit::Trouble;
use ::load::Plan;
use engine::Stop;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::time::{Duration, Instant};

/// The step at which all compare their clocks.
const CLOCK: &str = "clock";
/// The time that the last ranks may take to enter a barrier.
const LEFT_WITHIN: Duration = Duration::from_secs(2);
/// The time that the result may take to be added up, recorded and shown.
const RECORDED_WITHIN: Duration = Duration::from_secs(30);

/// A rank's readings of a common clock, whose ticks are the moments at which all leave a barrier: those lie between its own
/// entering and leaving.
#[derive(Serialize, Deserialize)]
struct Readings {
    /// How long this rank was in each barrier.
    width_ns: Vec<u64>,
    /// From the middle of each to the start, if this rank were to name it.
    begin_after_ns: Vec<u64>,
}

pub(super) struct Process<'a> {
    member: Member,
    space: Space,
    check_in: Duration,
    stop: &'a Stop,
    clock_bound: Duration,
}

impl<'a> Process<'a> {
    pub(super) fn join(
        flags: &FleetFlags,
        check_in: Duration,
        plan: &Plan,
        stop: &'a Stop,
    ) -> Result<Process<'a>, Trouble> {
        if flags.rank.is_some() || flags.ranks.is_some() {
            return Err(Trouble::usage(
                "--together with --rank and --of needs an archive where the ranks meet: --push URL",
            ));
        }
        let (rank, size, space) = launchers::space()?.ok_or_else(|| {
            Trouble::usage(
                "--together needs a place where the ranks meet: an archive (--push URL), or a launcher that speaks PMI-1 \
                 (mpiexec of MPICH, srun --mpi=pmi2)",
            )
        })?;
        check_threads(plan, size)?;
        let fleet = flags.fleet.clone().unwrap_or_else(|| space.job().to_owned());
        let member = Member { fleet, rank, size };
        Ok(Process { member, space, check_in, stop, clock_bound: Duration::MAX })
    }

    /// Says something at a step, and waits until all have, or until it `is_over`. Returns whether all have.
    fn meet(
        &mut self,
        step: &str,
        own: &impl Serialize,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Result<bool, Trouble> {
        self.say(step, own)?;
        self.enter()?;
        self.leave(is_over)
    }

    /// Says something that all can read when they have left the next barrier.
    fn say(&mut self, step: &str, own: &impl Serialize) -> Result<(), Trouble> {
        let text = serde_json::to_string(own)
            .map_err(|error| Trouble::failed(format!("{step}: {error}")))?;
        // A value has no blanks. Those of JSON are all in its strings.
        let text = text.replace(' ', "\\u0020");
        self.space.put(&key(step, self.member.rank), text.as_bytes()).map_err(lost)
    }

    fn enter(&mut self) -> Result<(), Trouble> {
        if self.space.is_in_barrier { Ok(()) } else { self.space.enter().map_err(lost) }
    }

    fn leave(&mut self, is_over: &mut dyn FnMut() -> bool) -> Result<bool, Trouble> {
        while !self.space.leave_within(LOOK_EVERY).map_err(lost)? {
            if is_over() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What all ranks say at a step; who is missing at the deadline is named.
    fn gather<T: Serialize + DeserializeOwned>(
        &mut self,
        step: &str,
        own: &T,
    ) -> Result<Vec<T>, Trouble> {
        let (deadline, stop) = (Instant::now() + self.check_in, self.stop);
        if !self.meet(step, own, &mut || Instant::now() >= deadline || stop.is_requested())? {
            if self.stop.is_requested() {
                return Err(Trouble::interrupted("interrupted while the other ranks were awaited"));
            }
            return Err(self.missing(step)?);
        }
        (0..self.member.size).map(|rank| read(rank, &self.message(step, rank)?)).collect()
    }

    /// At least one of those whose values are not there. A node's values are spread when all its ranks are in the barrier: which
    /// one of them is missing can't be seen.
    fn missing(&mut self, step: &str) -> Result<Trouble, Trouble> {
        let mut present = self.present(step)?;
        present.push(self.member.rank);
        Ok(self.member.missing("at least one of ", &present, self.check_in))
    }

    /// The ranks that have posted something at a step, as far as this one sees.
    fn present(&mut self, step: &str) -> Result<Vec<u32>, Trouble> {
        let mut present = Vec::new();
        for rank in 0..self.member.size {
            if self.space.has(&key(step, rank)).map_err(lost)? {
                present.push(rank);
            }
        }
        Ok(present)
    }

    fn message(&mut self, step: &str, rank: u32) -> Result<Vec<u8>, Trouble> {
        let text = self.space.get(&key(step, rank)).map_err(lost)?;
        text.ok_or_else(|| Trouble::failed(format!("rank {rank} posted nothing at its {step}")))
    }

    /// The start, a moment after the barrier that all were in for the shortest time.
    fn named_start(&mut self) -> Result<Instant, Trouble> {
        let mut barriers = Vec::new();
        for _ in 0..CLOCK_READINGS {
            let entered = Instant::now();
            let (deadline, stop) = (entered + self.check_in, self.stop);
            self.enter()?;
            if !self.leave(&mut || Instant::now() >= deadline || stop.is_requested())? {
                return Err(if stop.is_requested() {
                    Trouble::interrupted("interrupted before the start")
                } else {
                    Trouble::failed("a rank ended before the start")
                });
            }
            barriers.push((entered, entered.elapsed()));
        }
        let middle = |(entered, width): &(Instant, Duration)| *entered + *width / 2;
        let begin = Instant::now() + AHEAD;
        let readings = Readings {
            width_ns: barriers.iter().map(|(_, width)| ns(*width)).collect(),
            begin_after_ns: barriers.iter().map(|barrier| ns(begin - middle(barrier))).collect(),
        };
        let all = self.gather(CLOCK, &readings)?;
        let best = best_barrier(&all).ok_or_else(|| Trouble::failed("no rank has a clock"))?;
        let begin_after = all[0].begin_after_ns.get(best).zip(barriers.get(best));
        let (after_ns, barrier) =
            begin_after.ok_or_else(|| Trouble::failed("rank 0 named no start"))?;
        self.clock_bound = barrier.1 / 2;
        Ok(middle(barrier) + Duration::from_nanos(*after_ns))
    }
}

impl Assembly for Process<'_> {
    fn member(&self) -> &Member {
        &self.member
    }

    fn agree(&mut self, own: CheckIn) -> Result<u64, Trouble> {
        let all = self.gather(CHECK_IN, &own)?;
        match refusal(&all) {
            Some(refusal) => Err(Trouble::usage(refusal)),
            None => Ok(all.first().map_or(0, |first| first.seed)),
        }
    }

    fn start(&mut self, is_ready: bool) -> Result<Instant, Trouble> {
        let all = self.gather(READY, &is_ready)?;
        if let Some(rank) = all.iter().position(|is_ready| !is_ready) {
            return Err(Trouble::failed(format!("rank {rank} could not open its connections")));
        }
        self.named_start()
    }

    fn clock_bound(&self) -> Duration {
        self.clock_bound
    }

    fn conclude(
        &mut self,
        measured: Option<&Measured>,
        patience: Patience,
    ) -> Result<Concluded, Trouble> {
        let (stop, mut deadline) = (self.stop, None);
        let mut is_over = || {
            if deadline.is_none() && (patience.ends || stop.is_requested()) {
                deadline = Some(Instant::now() + patience.wait);
            }
            deadline.is_some_and(|deadline| Instant::now() >= deadline)
        };
        let own = self.member.rank;
        // Those that are missing by then have no part.
        let present = match self.meet(PART, &measured, &mut is_over) {
            Ok(_) => self.present(PART)?,
            Err(lost) => return Ok(Concluded::Lost(lost)),
        };
        if !present.contains(&own) {
            let why = "a rank did not come to its end, and the launcher passed nothing on";
            return Ok(Concluded::Lost(Trouble::failed(why)));
        }
        let mut parts = Vec::new();
        for rank in 0..self.member.size {
            let is_other = rank != own && present.contains(&rank);
            let part = if is_other { read(rank, &self.message(PART, rank)?)? } else { None };
            if part.is_some() && rank < own {
                return Ok(Concluded::Elsewhere(rank));
            }
            parts.push(part);
        }
        Ok(Concluded::Parts(parts))
    }

    fn announce(&mut self, recorded: &[u32]) -> Result<(), Trouble> {
        let deadline = Instant::now() + RECORDED_WITHIN;
        self.say(RECORDED, &recorded)?;
        self.enter()?;
        self.leave(&mut || Instant::now() >= deadline).map(drop)
    }

    fn recorded(&mut self, rank: u32) -> Result<Vec<u32>, Trouble> {
        let deadline = Instant::now() + RECORDED_WITHIN;
        self.enter()?;
        // Where a rank is gone none leaves the barrier, but what another one posts may be seen.
        while !self.space.leave_within(LOOK_EVERY).map_err(lost)? && Instant::now() < deadline {
            if self.space.has(&key(RECORDED, rank)).map_err(lost)? {
                // A rank that goes while others enter may be taken for one that failed.
                self.space.leave_within(LEFT_WITHIN).map_err(lost)?;
                break;
            }
        }
        match self.space.get(&key(RECORDED, rank)).map_err(lost)? {
            Some(text) => read(rank, &text),
            None => Ok(Vec::new()),
        }
    }
}

fn key(step: &str, rank: u32) -> String {
    format!("knee-{step}-{rank}")
}

/// The barrier in which the rank that was in it longest was for the shortest time.
fn best_barrier(all: &[Readings]) -> Option<usize> {
    let width = |at: usize| {
        all.iter()
            .map(|rank| rank.width_ns.get(at).copied())
            .try_fold(0, |max, width| Some(width?.max(max)))
    };
    (0..CLOCK_READINGS).filter_map(|at| Some((width(at)?, at))).min().map(|(_, at)| at)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn lost(error: io::Error) -> Trouble {
    Trouble::failed(format!("the launcher's process manager (PMI-1 over PMI_FD): {error}"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::*;
    use super::super::{Joined, check_in};
    use super::*;
    use crate::commands::measure::launchers::spaces;

    fn processes(size: u32, check_in: Duration, stop: &Stop) -> Vec<Process<'_>> {
        let process = |(space, rank)| {
            let member = Member { fleet: "811_0".into(), rank, size };
            Process { member, space, check_in, stop, clock_bound: Duration::MAX }
        };
        spaces(size as usize).into_iter().zip(0..).map(process).collect()
    }

    /// What comes of ranks that do this at the same time.
    fn each<'a, T: Send>(
        processes: Vec<Process<'a>>,
        work: impl Fn(Process<'a>) -> T + Sync,
    ) -> Vec<T> {
        std::thread::scope(|scope| {
            let work = &work;
            let ranks: Vec<_> =
                processes.into_iter().map(|process| scope.spawn(move || work(process))).collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        })
    }

    #[test]
    fn ranks_send_the_plan_of_one_process_and_have_one_result() {
        let (plan, stop) = (plan(server()), Stop::on_signals().unwrap());
        let came = each(processes(3, PATIENCE, &stop), |process| loaded(process, &plan, &stop));
        assert_one_load(&plan, &came, &stop);
    }

    #[test]
    fn ranks_that_do_not_come_are_named_and_the_wait_ends() {
        let (plan, stop) = (plan(([127, 0, 0, 1], 9).into()), Stop::on_signals().unwrap());
        let mut processes = processes(3, Duration::from_millis(50), &stop);
        let missing = processes.split_off(1);
        let trouble = processes[0].agree(check_in(&url(), &plan, 3)).unwrap_err().to_string();
        let wanted =
            "at least one of ranks 1 and 2 of 3 did not check in within 0.05 s (fleet 811_0)";
        assert_eq!(trouble, wanted);
        drop(missing);
    }

    #[test]
    fn a_rank_with_another_plan_is_refused_by_all() {
        let (plan, stop) = (plan(([127, 0, 0, 1], 9).into()), Stop::on_signals().unwrap());
        let troubles = each(processes(2, PATIENCE, &stop), |mut process| {
            let threads = 1 + process.member.rank as usize;
            let plan = Plan { threads, ..plan.clone() };
            process.agree(check_in(&url(), &plan, 2)).unwrap_err().to_string()
        });
        let refusal = "rank 1 has another plan than rank 0: threads is 2, not 1; all ranks of a load have one command line";
        assert_eq!(troubles, [refusal; 2]);
    }

    /// All read one clock: the start of each is the same moment, as far as its bound says.
    #[test]
    fn all_begin_at_one_moment() {
        let stop = Stop::on_signals().unwrap();
        let starts = each(processes(3, PATIENCE, &stop), |mut process| {
            (process.start(true).unwrap(), process.clock_bound)
        });
        for (first, bound) in &starts {
            for (second, other_bound) in &starts {
                let apart = first.max(second).duration_since(*first.min(second));
                assert!(apart <= *bound + *other_bound, "{starts:?}");
            }
        }
    }

    #[test]
    fn without_the_connections_of_a_rank_none_begins() {
        let stop = Stop::on_signals().unwrap();
        let troubles = each(processes(3, PATIENCE, &stop), |mut process| {
            process.start(process.member.rank != 1).unwrap_err().to_string()
        });
        assert_eq!(troubles, ["rank 1 could not open its connections"; 3]);
    }

    /// Rank 1 fails in the load, and rank 2 never ends it.
    #[test]
    fn what_is_left_of_ranks_that_fail_is_kept_and_they_are_named() {
        let (plan, stop) = (plan(server()), Stop::on_signals().unwrap());
        let came = each(processes(3, PATIENCE, &stop), |mut process| {
            process.agree(check_in(&url(), &plan, 3)).unwrap();
            let rank = process.member.rank;
            let patience = Patience { wait: Duration::from_millis(50), ends: true };
            let mut joined = Joined { assembly: Box::new(process), stop: &stop };
            let measured = joined.load(&plan, &mut |_| {}).unwrap();
            match rank {
                0 => Some(joined.assembly.conclude(Some(&measured), patience).unwrap()),
                1 => {
                    let _ = joined.assembly.conclude(None, patience);
                    None
                }
                _ => None,
            }
        });
        let Some(Concluded::Parts(parts)) = &came[0] else { panic!("rank 0 adds up") };
        assert_eq!(parts.len(), 3);
        assert!(parts.iter().all(Option::is_none), "its own is in its memory");
    }

    /// Rank 2 is gone: no rank leaves the barrier, and the result of rank 0 arrives.
    #[test]
    fn a_share_is_recorded_only_where_the_rank_with_the_result_says_so() {
        let stop = Stop::on_signals().unwrap();
        for (ranks, is_recorded) in [(vec![0, 1], true), (vec![0], false), (vec![], false)] {
            let heard =
                each(processes(3, PATIENCE, &stop), |mut process| match process.member.rank {
                    0 => {
                        process.say(RECORDED, &ranks).unwrap();
                        process.enter().unwrap();
                        None
                    }
                    1 => Some(process.recorded(0).unwrap().contains(&1)),
                    _ => None,
                });
            assert_eq!(heard, [None, Some(is_recorded), None]);
        }
    }
}
