//! What has to hold whatever is simulated.

use simulate::{
    Algorithm, Discipline, Figures, Machine, Moment, TABLE, What, Work, simulate, watched,
};
use std::collections::VecDeque;

/// CPUs and threads: as many, fewer, more, and many more.
const SIZES: [(u32, u32); 6] = [(2, 2), (4, 3), (2, 3), (2, 8), (3, 32), (70, 200)];

fn machine(cpus: u32) -> Machine {
    // Short slices, so that much happens in little time.
    Machine { cpus, slice_ns: 100_000, ..Machine::default() }
}

fn work(threads: u32, seed: u64) -> Work {
    Work { threads, seed, time_ns: 5_000_000, ..Work::default() }
}

fn each(check: impl Fn(&Algorithm, &Machine, &Work)) {
    for algorithm in TABLE {
        for (cpus, threads) in SIZES {
            check(algorithm, &machine(cpus), &work(threads, 7));
        }
    }
}

/// Follows the events of a lock, and reports what is wrong with them.
struct Judge {
    order: Discipline,
    holder: Option<u32>,
    line: VecDeque<u32>,
    at_ns: u64,
    taken: u64,
}

impl Judge {
    fn hear(&mut self, moment: Moment) {
        assert!(moment.at_ns >= self.at_ns, "time goes back: {moment:?}");
        self.at_ns = moment.at_ns;
        match moment.what {
            What::Arrived => self.line.push_back(moment.thread),
            What::Took => {
                assert_eq!(self.holder, None, "two have it at once: {moment:?}");
                self.holder = Some(moment.thread);
                self.taken += 1;
                let position = self.line.iter().position(|&thread| thread == moment.thread);
                assert!(position.is_some(), "who has it never came for it: {moment:?}");
                if self.order == Discipline::Fifo {
                    assert_eq!(position, Some(0), "out of turn: {moment:?}");
                }
                self.line.retain(|&thread| thread != moment.thread);
            }
            What::Released => {
                assert_eq!(self.holder, Some(moment.thread), "not its to release: {moment:?}");
                self.holder = None;
            }
        }
    }
}

#[test]
fn one_has_the_lock_at_a_time_and_in_turn_where_turns_are_kept() {
    each(|algorithm, machine, work| {
        let order = algorithm.order;
        let mut judge = Judge { order, holder: None, line: VecDeque::new(), at_ns: 0, taken: 0 };
        let figures = watched(machine, work, algorithm, |moment| judge.hear(moment)).unwrap();
        assert!(judge.taken >= figures.acquisitions && figures.acquisitions >= 15, "{figures:?}");
    });
}

#[test]
fn every_nanosecond_of_every_cpu_is_accounted_for() {
    each(|algorithm, machine, work| {
        let got = simulate(machine, work, algorithm).unwrap();
        let sum_ns = got.user_ns + got.system_ns + got.idle_ns;
        let there_are_ns = u64::from(machine.cpus) * got.time_ns;
        assert_eq!(sum_ns, there_are_ns, "{}: {got:?}", algorithm.name);
        // But for the one that had it when counting began.
        assert!(got.user_ns >= (got.acquisitions - 1) * work.held_ns, "{got:?}");
        assert!(got.acquisitions * work.held_ns <= got.time_ns + work.held_ns, "{got:?}");
        assert!(
            got.fairness.is_none_or(|fairness| fairness > 0.0 && fairness <= 1.0 + 1e-12),
            "{got:?}"
        );
    });
}

#[test]
fn no_thread_sleeps_for_good() {
    for algorithm in TABLE.iter().filter(|row| row.blocking != simulate::Blocking::Never) {
        for (cpus, threads) in [(2, 2), (4, 3), (2, 3), (2, 8)] {
            let mut last_ns = vec![0; threads as usize];
            let took = |moment: Moment| {
                if moment.what == What::Took {
                    last_ns[moment.thread as usize] = moment.at_ns;
                }
            };
            let work = Work { time_ns: 60_000_000, ..work(threads, 11) };
            watched(&machine(cpus), &work, algorithm, took).unwrap();
            // Had a wake-up been lost, its thread would not have had the lock since.
            let late_ns = work.time_ns / 2;
            let name = algorithm.name;
            assert!(last_ns.iter().all(|&at| at > late_ns), "{name} {cpus} {threads}: {last_ns:?}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_and_another_one_something_else() {
    let all = |seed| -> Vec<Figures> {
        let simulated = |row: &Algorithm| simulate(&machine(2), &work(8, seed), row).unwrap();
        TABLE.iter().map(simulated).collect()
    };
    assert_eq!(all(1), all(1));
    assert_ne!(all(1), all(2));
}

#[test]
fn a_machine_that_can_not_be_is_refused() {
    let byte = &TABLE[0];
    let refused = simulate(&machine(0), &work(1, 0), byte).unwrap_err().to_string();
    assert_eq!(refused, "0 CPUs can't be simulated: it has to be 1 to 65536");
    assert!(simulate(&machine(1), &work(0, 0), byte).is_err());
}

#[test]
fn work_of_no_length_at_all_still_comes_to_an_end() {
    for algorithm in TABLE {
        let nothing = Work { held_ns: 0, outside_ns: 0, spins: 0, ..work(5, 1) };
        let got = simulate(&machine(2), &nothing, algorithm).unwrap();
        assert!(got.acquisitions > 0, "{}: {got:?}", algorithm.name);
    }
}

#[test]
fn a_thousand_cpus_take_events_and_no_looks() {
    let machine = Machine { cpus: 1_024, ..Machine::default() };
    let work = Work { threads: 4_096, time_ns: 10_000_000, ..Work::default() };
    for algorithm in TABLE {
        let got = simulate(&machine, &work, algorithm).unwrap();
        // Warming up takes its time as well: 0.3 s at the most, at the same rate.
        let rounds = 1.0 + 300e6 / work.time_ns as f64;
        let slices = 4.0 * f64::from(machine.cpus) * got.time_ns as f64 / machine.slice_ns as f64;
        let events_max = rounds * (12.0 * got.acquisitions as f64 + slices) + 10_000.0;
        assert!((got.events as f64) < events_max, "{}: {events_max} {got:?}", algorithm.name);
        // A look every 10 or 20 ns on each CPU would be billions.
        assert!(got.events < 30_000_000, "{}: {got:?}", algorithm.name);
    }
}
