//! What the algorithms are made of, as shuttle has it: each operation is a chance for another thread.
//! The futex is a model too. One mistake can be built in.

use shuttle::thread::{self, Thread};
use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;

pub use shuttle::hint::spin_loop;
pub use shuttle::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};

/// A thread asleep.
struct Sleeper {
    word: usize,
    bits: u32,
    thread: Thread,
}

thread_local! {
    // The threads of a test all run on the thread that checks it.
    static NO_WAKES: Cell<bool> = const { Cell::new(false) };
    static ASLEEP: RefCell<Vec<Sleeper>> = const { RefCell::new(Vec::new()) };
}

/// From now on no thread is woken.
pub fn wake_none() {
    NO_WAKES.set(true);
}

/// No thread sleeps any more.
pub fn reset() {
    ASLEEP.take();
}

/// However long it is, it is one chance for the others.
pub fn pause(_: u32) {
    spin_loop();
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

/// Looks at the word and goes to sleep in one step: no other thread runs in between.
fn sleep(word: &AtomicU32, expected: u32, bits: u32) {
    if word.load(Ordering::SeqCst) != expected {
        return;
    }
    let (word, me) = (std::ptr::from_ref(word).addr(), thread::current());
    let id = me.id();
    ASLEEP.with_borrow_mut(|asleep| asleep.push(Sleeper { word, bits, thread: me }));
    // Parking may end for no reason.
    while ASLEEP.with_borrow(|asleep| asleep.iter().any(|sleeper| sleeper.thread.id() == id)) {
        thread::park();
    }
}

fn wake(word: &AtomicU32, bits: u32, count: usize) {
    if NO_WAKES.get() {
        return;
    }
    thread::yield_now();
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
