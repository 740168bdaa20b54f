//! The very files of the algorithms, run by loom through every order of events and every value that
//! the memory model allows a load to return.
//!
//! Loom is not sure of a lock because it found nothing: so every ordering of every algorithm is taken
//! away in turn, and loom has to find that. What isn't found isn't needed, and should be weaker.
#![allow(dead_code, reason = "the files of a library, of which a model uses the locks only")]
#![allow(clippy::trivially_copy_pass_by_ref, reason = "as it is in the library")]
#![deny(unsafe_op_in_unsafe_fn)]

#[path = "../../src/line.rs"]
mod line;
#[path = "../../src/lock.rs"]
mod lock;
#[path = "../../src/seatless.rs"]
mod seatless;
#[path = "../../src/seats.rs"]
mod seats;
mod sync;

#[path = "../../src/algorithms/broken.rs"]
mod broken;
#[path = "../../src/algorithms/byte.rs"]
mod byte;
#[path = "../../src/algorithms/byte_block.rs"]
mod byte_block;
#[path = "../../src/algorithms/clh.rs"]
mod clh;
#[path = "../../src/algorithms/futex.rs"]
mod futex;
#[path = "../../src/algorithms/mcs.rs"]
mod mcs;
#[path = "../../src/algorithms/qspinlock.rs"]
mod qspinlock;
#[path = "../../src/algorithms/ticket.rs"]
mod ticket;
#[path = "../../src/algorithms/ticket_block.rs"]
mod ticket_block;
#[path = "../../src/algorithms/ticket_proportional.rs"]
mod ticket_proportional;
#[path = "../../src/algorithms/ttas.rs"]
mod ttas;

use lock::{Algorithm, Lock, Order, Setup, Waiting};
use loom::cell::UnsafeCell;
use loom::model::Builder;
use seatless::Seatless;
use std::any::Any;
use std::collections::BTreeSet;
use std::panic;
use std::sync::{Arc, Once};
use std::thread::Builder as Thread;
use sync::{Mistake, Site};

/// A lock and what it guards.
struct Guarded<L> {
    lock: L,
    count: UnsafeCell<u32>,
}

// SAFETY: loom looks at each access, and fails when two of them are not ordered by the lock.
unsafe impl<L: Lock> Sync for Guarded<L> {}

impl<L: Lock> Guarded<L> {
    fn add(&self) {
        // SAFETY: loom hands out a valid pointer, and sees to it that there is no other now.
        self.count.with_mut(|count| unsafe { *count += 1 });
    }

    fn sum(&self) -> u32 {
        // SAFETY: as above.
        self.count.with(|count| unsafe { *count })
    }
}

/// How large a model is: so many threads, each of which holds the lock so often.
#[derive(Clone, Copy)]
struct Size {
    threads: u32,
    holds: u32,
    /// How often loom lets a thread be interrupted where it could go on; `None` for any number.
    preemptions: Option<usize>,
    /// How often the lock looks before it blocks.
    spins: u32,
}

/// Two threads, once each, and every order there is.
const ONCE: Size = Size { threads: 2, holds: 1, preemptions: None, spins: 0 };

/// Twice each, so that a thread comes back to what it left behind.
const TWICE: Size = Size { holds: 2, preemptions: Some(3), ..ONCE };

/// One more, so that there is a line.
const THREE: Size = Size { threads: 3, preemptions: Some(1), ..ONCE };

/// The places at which something ordered; or what loom found.
type Found = Result<BTreeSet<Site>, String>;

/// What loom runs, with a mistake in it.
type Model = Box<dyn Fn(Mistake) -> Found>;

/// Lets loom run something, on a thread of its own: what it finds is a panic.
fn explore(size: Size, mistake: Mistake, body: impl Fn() + Send + Sync + 'static) -> Found {
    static QUIETER: Once = Once::new();
    QUIETER.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if std::thread::current().name() != Some("mistaken") {
                loud(info);
            }
        }));
    });
    let name = if mistake == Mistake::None { "sound" } else { "mistaken" };
    let check = move || {
        sync::mistake(mistake);
        let mut builder = Builder::new();
        builder.max_branches = 20_000;
        builder.preemption_bound = size.preemptions;
        builder.check(move || {
            sync::reset();
            body();
        });
        sync::ordered()
    };
    let thread = Thread::new().name(name.to_owned()).spawn(check).unwrap();
    thread.join().map_err(|panic| first_line(&*panic))
}

fn first_line(panic: &(dyn Any + Send)) -> String {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    let text = owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

/// Threads that hold the lock, and count.
fn holds<L: Lock + Send + 'static>(size: Size) -> Model {
    let run = move |guarded: &Guarded<L>| {
        let mut seat = guarded.lock.seat();
        for _ in 0..size.holds {
            guarded.lock.hold(&mut seat, || guarded.add());
        }
        size.holds
    };
    Box::new(move |mistake| explore(size, mistake, move || together(size, run, run)))
}

/// A thread that holds the lock while others only try to.
fn tries<L: Seatless + Send + 'static>(size: Size) -> Model {
    let run = move |guarded: &Guarded<L>| {
        guarded.lock.hold(&mut (), || guarded.add());
        1
    };
    let attempt = move |guarded: &Guarded<L>| {
        let took = guarded.lock.try_lock();
        if took {
            guarded.add();
            guarded.lock.unlock();
        }
        u32::from(took)
    };
    Box::new(move |mistake| explore(size, mistake, move || together(size, run, attempt)))
}

/// One thread and the others; each says how often it has added one.
fn together<L: Lock + Send + 'static>(
    size: Size,
    first: impl Fn(&Guarded<L>) -> u32,
    rest: impl Fn(&Guarded<L>) -> u32 + Copy + 'static,
) {
    let lock = L::new(&Setup { seats: size.threads, spins: size.spins });
    let guarded = Arc::new(Guarded { lock, count: UnsafeCell::new(0) });
    let threads: Vec<_> = (1..size.threads)
        .map(|_| {
            let guarded = Arc::clone(&guarded);
            loom::thread::spawn(move || rest(&guarded))
        })
        .collect();
    let mine = first(&guarded);
    let theirs: u32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(guarded.sum(), mine + theirs, "some were lost");
}

/// Every model holds; and for every ordering there is one that fails without it.
fn hold_to_every_ordering(models: &[Model]) {
    let mut sites = BTreeSet::new();
    for model in models {
        sites.extend(model(Mistake::None).expect("loom finds nothing"));
    }
    assert!(sites.len() >= 2, "who comes sees what who left has done: {sites:?}");
    let idle: Vec<&Site> = sites
        .iter()
        .filter(|site| models.iter().all(|model| model(Mistake::Unordered(**site)).is_ok()))
        .collect();
    assert!(idle.is_empty(), "nothing fails without the orderings at {idle:?}");
}

/// Whoever is never woken is found.
fn hold_to_wakes(models: &[Model]) {
    let panic_message = models.iter().find_map(|model| model(Mistake::NoWakes).err());
    let panic_message = panic_message.expect("somebody sleeps for ever");
    assert!(panic_message.starts_with("deadlock"), "{panic_message}");
}

fn spinning<L: Lock + Send + 'static>() -> Vec<Model> {
    vec![holds::<L>(ONCE), holds::<L>(TWICE), holds::<L>(THREE)]
}

fn sleeping<L: Lock + Send + 'static>() -> Vec<Model> {
    let sizes = [ONCE, TWICE, THREE].into_iter();
    sizes.flat_map(|size| [0, 1].map(|spins| holds::<L>(Size { spins, ..size }))).collect()
}

#[test]
fn byte_needs_each_of_its_orderings() {
    let mut models = spinning::<byte::Byte>();
    models.push(tries::<byte::Byte>(ONCE));
    hold_to_every_ordering(&models);
}

#[test]
fn ttas_needs_each_of_its_orderings() {
    let mut models = spinning::<ttas::Ttas>();
    models.push(tries::<ttas::Ttas>(ONCE));
    hold_to_every_ordering(&models);
}

#[test]
fn ticket_needs_each_of_its_orderings() {
    let mut models = spinning::<ticket::Ticket>();
    models.push(tries::<ticket::Ticket>(ONCE));
    hold_to_every_ordering(&models);
}

#[test]
fn ticket_proportional_needs_each_of_its_orderings() {
    let mut models = spinning::<ticket_proportional::TicketProportional>();
    models.push(tries::<ticket_proportional::TicketProportional>(ONCE));
    hold_to_every_ordering(&models);
}

#[test]
fn mcs_needs_each_of_its_orderings() {
    let models = spinning::<mcs::Mcs>();
    hold_to_every_ordering(&models);
}

#[test]
fn clh_needs_each_of_its_orderings() {
    let models = spinning::<clh::Clh>();
    hold_to_every_ordering(&models);
}

#[test]
fn qspinlock_needs_each_of_its_orderings() {
    let models = spinning::<qspinlock::Qspinlock>();
    hold_to_every_ordering(&models);
}

#[test]
fn byte_block_needs_each_of_its_orderings() {
    let mut models = sleeping::<byte_block::ByteBlock>();
    models.push(tries::<byte_block::ByteBlock>(ONCE));
    hold_to_wakes(&models);
    hold_to_every_ordering(&models);
}

#[test]
fn ticket_block_needs_each_of_its_orderings() {
    let mut models = sleeping::<ticket_block::TicketBlock>();
    models.push(tries::<ticket_block::TicketBlock>(ONCE));
    hold_to_wakes(&models);
    hold_to_every_ordering(&models);
}

#[test]
fn futex_needs_each_of_its_orderings() {
    let mut models = sleeping::<futex::Futex>();
    models.push(tries::<futex::Futex>(ONCE));
    hold_to_wakes(&models);
    hold_to_every_ordering(&models);
}

#[test]
fn the_control_is_caught() {
    // On a thread called "mistaken", since it is one: nothing else is mistaken in it.
    let panic_message = holds::<broken::Broken>(ONCE)(Mistake::NoWakes).unwrap_err();
    assert!(panic_message.starts_with("Causality violation"), "{panic_message}");
}
