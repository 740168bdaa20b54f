//! What the algorithms are made of, as loom has it: it tries every order of events, and every value
//! that the memory model lets a load return. The futex is a model too. One mistake can be built in.

use loom::sync::atomic as loom_atomic;
use loom::thread::Thread;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::panic::Location;

pub use loom::hint::spin_loop;
pub use std::sync::atomic::Ordering;

/// A place in an algorithm, by line and column.
pub type Site = (&'static str, u32, u32);

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mistake {
    #[default]
    None,
    /// At this place, whatever orders does not.
    Unordered(Site),
    /// No thread is woken.
    NoWakes,
}

thread_local! {
    // A model's threads all run on the thread that checks it.
    static MISTAKE: Cell<Mistake> = const { Cell::new(Mistake::None) };
    static ORDERED: RefCell<BTreeSet<Site>> = const { RefCell::new(BTreeSet::new()) };
}

/// Builds a mistake into all that this thread checks from now on.
pub fn mistake(mistake: Mistake) {
    MISTAKE.set(mistake);
}

/// The places that this thread has come by at which something orders.
pub fn ordered() -> BTreeSet<Site> {
    ORDERED.take()
}

/// The ordering to use at the caller's caller.
#[track_caller]
fn order(order: Ordering) -> Ordering {
    if order == Ordering::Relaxed {
        return order;
    }
    let caller = Location::caller();
    let site = (caller.file(), caller.line(), caller.column());
    ORDERED.with_borrow_mut(|sites| sites.insert(site));
    if MISTAKE.get() == Mistake::Unordered(site) { Ordering::Relaxed } else { order }
}

#[track_caller]
pub fn fence(with: Ordering) {
    if order(with) != Ordering::Relaxed {
        loom_atomic::fence(with);
    }
}

/// An atomic of loom, whose orderings can be mistaken.
macro_rules! atomic {
    ($Atomic:ident, $Value:ty, $different:expr) => {
        pub struct $Atomic(loom_atomic::$Atomic);

        impl $Atomic {
            pub fn new(value: $Value) -> $Atomic {
                $Atomic(loom_atomic::$Atomic::new(value))
            }

            #[track_caller]
            pub fn load(&self, with: Ordering) -> $Value {
                self.0.load(order(with))
            }

            #[track_caller]
            pub fn store(&self, value: $Value, with: Ordering) {
                self.0.store(value, order(with));
            }

            /// What finds the value there already writes none. Loom's own exchange does, and loom then
            /// takes that for the last value, even if another thread stores one after it.
            #[track_caller]
            pub fn swap(&self, value: $Value, with: Ordering) -> $Value {
                let with = order(with);
                let mut stored = $different(value);
                loop {
                    match self.0.compare_exchange(stored, value, with, on_failure(with)) {
                        Err(now) if now != value => stored = now,
                        Ok(was) | Err(was) => return was,
                    }
                }
            }
        }
    };
}

atomic!(AtomicBool, bool, |value: bool| !value);
atomic!(AtomicU8, u8, |value: u8| value ^ 1);
atomic!(AtomicU32, u32, |value: u32| value ^ 1);

/// What is left of an ordering where nothing is written.
fn on_failure(with: Ordering) -> Ordering {
    match with {
        Ordering::AcqRel => Ordering::Acquire,
        Ordering::Release => Ordering::Relaxed,
        ordering => ordering,
    }
}

impl AtomicU32 {
    #[track_caller]
    pub fn fetch_add(&self, value: u32, with: Ordering) -> u32 {
        self.0.fetch_add(value, order(with))
    }

    #[track_caller]
    pub fn fetch_sub(&self, value: u32, with: Ordering) -> u32 {
        self.0.fetch_sub(value, order(with))
    }

    #[track_caller]
    pub fn fetch_or(&self, value: u32, with: Ordering) -> u32 {
        self.0.fetch_or(value, order(with))
    }

    #[track_caller]
    pub fn fetch_and(&self, value: u32, with: Ordering) -> u32 {
        self.0.fetch_and(value, order(with))
    }

    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: u32,
        new: u32,
        with: Ordering,
        or: Ordering,
    ) -> Result<u32, u32> {
        self.0.compare_exchange(current, new, order(with), order(or))
    }

    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: u32,
        new: u32,
        with: Ordering,
        or: Ordering,
    ) -> Result<u32, u32> {
        self.0.compare_exchange(current, new, order(with), order(or))
    }
}

/// However long it is, it is one chance for the others.
pub fn pause(_: u32) {
    spin_loop();
}

/// A thread asleep.
struct Sleeper {
    word: usize,
    bits: u32,
    thread: Thread,
}

thread_local! {
    static ASLEEP: RefCell<Vec<Sleeper>> = const { RefCell::new(Vec::new()) };
}

/// No thread sleeps any more. What failed before may have left one there.
pub fn reset() {
    ASLEEP.take();
}

pub fn futex_wait(word: &AtomicU32, expected: u32) {
    sleep(word, expected, u32::MAX);
}

pub fn futex_wait_bits(word: &AtomicU32, expected: u32, bits: NonZeroU32) {
    sleep(word, expected, bits.get());
}

pub fn futex_wake_one(word: &AtomicU32) {
    wake(word, u32::MAX, 1);
}

pub fn futex_wake_bits(word: &AtomicU32, bits: NonZeroU32) {
    wake(word, bits.get(), usize::MAX);
}

/// Looks at the word and goes to sleep in one step: loom changes threads at its own operations only.
fn sleep(word: &AtomicU32, expected: u32, bits: u32) {
    if kernels_look(word) != expected {
        return;
    }
    let (word, thread) = (std::ptr::from_ref(word).addr(), loom::thread::current());
    ASLEEP.with_borrow_mut(|asleep| asleep.push(Sleeper { word, bits, thread }));
    loom::thread::park();
}

fn wake(word: &AtomicU32, bits: u32, count: usize) {
    if MISTAKE.get() == Mistake::NoWakes {
        return;
    }
    kernels_look(word);
    let (word, mut left) = (std::ptr::from_ref(word).addr(), count);
    let wakes = |sleeper: &mut Sleeper| {
        let wakes = left > 0 && sleeper.word == word && sleeper.bits & bits != 0;
        left -= usize::from(wakes);
        wakes
    };
    let woken: Vec<Sleeper> =
        ASLEEP.with_borrow_mut(|asleep| asleep.extract_if(.., wakes).collect());
    for sleeper in woken {
        sleeper.thread.unpark();
    }
}

/// The kernel sees the newest value, since those who sleep and those who wake take turns there. Loom
/// sees by this that sleeping and waking depend on each other.
fn kernels_look(word: &AtomicU32) -> u32 {
    const NEVER: u32 = 0xdead_beef;
    let relaxed = Ordering::Relaxed;
    let (Ok(value) | Err(value)) = word.0.compare_exchange(NEVER, NEVER, relaxed, relaxed);
    value
}
