//! What can be worked out by hand, the model has to come to.

use simulate::{
    Algorithm, Blocking, Discipline, Figures, HandOver, Machine, TABLE, Work, find, simulate,
};

/// Within this part of what was worked out.
fn is_near(figure: f64, wanted: f64, part: f64) -> bool {
    (figure / wanted - 1.0).abs() <= part
}

fn figures(machine: &Machine, work: &Work, algorithm: &Algorithm) -> Figures {
    simulate(machine, work, algorithm).expect("a machine and work that can be modelled")
}

fn row(name: &str) -> &'static Algorithm {
    find(name).expect("a row of the table")
}

#[test]
fn one_thread_pays_for_its_work_and_for_taking_the_lock() {
    let machine = Machine::default();
    let work = Work { threads: 1, time_ns: 20_000_000, ..Work::default() };
    let each_ns = work.held_ns + work.outside_ns + machine.atomic_ns;
    for algorithm in TABLE {
        let got = figures(&machine, &work, algorithm);
        let name = algorithm.name;
        assert!(is_near(got.per_s(), 1e9 / each_ns as f64, 0.002), "{name}: {got:?}");
        assert_eq!(got.voluntary + got.involuntary, 0, "{name}");
        assert!(is_near(got.fairness.unwrap(), 1.0, 1e-9), "{name}");
        assert_eq!(got.waiting.count, got.acquisitions, "{name}");
        assert!(is_near(got.waiting.median_ns, machine.atomic_ns as f64, 1e-9), "{name}");
        assert_eq!(got.hand_over.count, 0, "{name}");
    }
}

#[test]
fn two_threads_with_nothing_else_to_do_take_turns_at_the_price_of_a_hand_over() {
    let machine = Machine::default();
    let work = Work { threads: 2, outside_ns: 0, time_ns: 20_000_000, ..Work::default() };
    for algorithm in TABLE.iter().filter(|row| row.order == Discipline::Fifo) {
        let hand_over_ns = match algorithm.hand_over {
            HandOver::Shared => machine.transfer_ns,
            HandOver::Tenths(tenths) => machine.transfer_ns * tenths / 10,
            HandOver::Paced(looks) => machine.transfer_ns + looks * machine.look_ns / 2,
            HandOver::Away(_) => unreachable!("no row of that kind is first in, first out"),
        };
        let got = figures(&machine, &work, algorithm);
        let wanted = 1e9 / (work.held_ns + hand_over_ns) as f64;
        let name = algorithm.name;
        assert!(is_near(got.per_s(), wanted, 0.01), "{name}: {wanted} {got:?}");
        assert!(is_near(got.hand_over.mean_ns, hand_over_ns as f64, 0.01), "{name}: {got:?}");
        assert!(is_near(got.fairness.unwrap(), 1.0, 1e-3), "{name}: {got:?}");
    }
}

#[test]
fn a_queue_on_one_cpu_gets_one_turn_a_slice() {
    let machine = Machine { cpus: 1, ..Machine::default() };
    for threads in [2, 3, 7] {
        let work = Work { threads, time_ns: 1_000_000_000, ..Work::default() };
        // Whoever runs has the lock once; the next in line is behind it in the CPU's queue.
        let wanted = 1e9 / (machine.slice_ns + machine.switch_ns) as f64;
        for algorithm in TABLE.iter().filter(|row| row.order == Discipline::Fifo) {
            if algorithm.blocking == Blocking::Never {
                let got = figures(&machine, &work, algorithm);
                assert!(
                    is_near(got.per_s(), wanted, 0.01),
                    "{} {threads}: {got:?}",
                    algorithm.name
                );
                assert!(got.involuntary.abs_diff(got.acquisitions) <= 1, "{got:?}");
            }
        }
    }
}

#[test]
fn a_lock_that_is_hardly_wanted_delays_no_thread() {
    let machine = Machine { cpus: 4, ..Machine::default() };
    let work = Work { threads: 4, outside_ns: 100_000, ..Work::default() };
    // Nearly always the line comes from another CPU.
    let each_ns = work.held_ns + work.outside_ns + machine.atomic_ns + machine.transfer_ns;
    for algorithm in TABLE {
        let got = figures(&machine, &work, algorithm);
        let wanted = 4e9 / each_ns as f64;
        assert!(is_near(got.per_s(), wanted, 0.01), "{}: {wanted} {got:?}", algorithm.name);
    }
}

#[test]
fn a_line_that_all_want_takes_the_longer_the_more_want_it() {
    let machine = Machine { cpus: 256, ..Machine::default() };
    let at = |threads, name: &str| {
        let work = Work { threads, outside_ns: 0, time_ns: 20_000_000, ..Work::default() };
        figures(&machine, &work, row(name)).hand_over.mean_ns
    };
    // All but the holder spin: half of the others have the line before the one that counts.
    assert!(is_near(at(256, "ticket"), 100.0 + 254.0 * 50.0, 0.01));
    assert!(is_near(at(256, "mcs"), at(16, "mcs"), 0.001));
}
