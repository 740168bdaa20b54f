//! What the two rows of queued real-time signals share: all but how a signal is taken.
//!
//! Each watched descriptor sends the thread that opened the mechanism a real-time signal with its
//! number and what happened (`O_ASYNC`, `F_SETSIG`, `F_SETOWN_EX`). When the queue is full, the
//! kernel sends a plain `SIGIO` instead: then one `poll` over all finds what the queue lost.

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use libc::{c_int, c_short, pollfd};
use sys::signal::{self, SIGIO, SignalSet, Taken};

use crate::home::Home;
use crate::slots::Slots;
use crate::{Event, Interest, Readiness, Token, Why, bits, deadline};

/// What `list` says of both.
pub(crate) const LIMITS: &[&str] = &[
    "the thread that opens it is the one that has to add, modify and wait",
    "each one open takes a real-time signal number of the process, of which there are about 30",
    "takes only what sends signals: sockets, pipes and terminals, no eventfd, timerfd or file",
    "an open file can be watched by one at a time",
    "when the queue of signals is full (RLIMIT_SIGPENDING), all that is ready is reported again",
    "the hang-up of a pipe looks like data",
    "a Unix socket that is full when it is added tells of room only after another failed write",
];

const FOREIGN: &str =
    "signals go to the thread that opened this mechanism: add, modify and wait have to be there";

/// How signals are taken from the queue.
pub(crate) trait Source: Send {
    /// Waits for a signal of `set` as long as `timeout` says, and puts what it gets into `taken`;
    /// nothing if the time is up.
    fn take(
        &mut self,
        set: &SignalSet,
        timeout: Option<Duration>,
        taken: &mut Vec<Taken>,
    ) -> io::Result<()>;
}

/// One watched descriptor.
struct Watch {
    token: Token,
    asked: c_short,
    /// Changes with every `add` and `modify`.
    serial: u64,
}

/// An event that was found before its wait.
struct Early {
    fd: RawFd,
    serial: u64,
    bits: c_short,
}

/// A mechanism of queued signals.
struct Signals<S> {
    source: S,
    home: Home,
    tid: libc::pid_t,
    number: Number,
    set: SignalSet,
    /// Whether the opening thread blocked the signal before.
    was_blocked: bool,
    watches: Slots<Watch>,
    next_serial: u64,
    early: Vec<Early>,
    taken: Vec<Taken>,
    /// By descriptor: how often the queue had been emptied when it was last removed, plus one.
    /// While it has not been emptied since, signals of the removed one may be in it.
    removed: Vec<u64>,
    emptied: u64,
    /// The thread's overflows that this mechanism has recovered from.
    recovered: u64,
    /// How often that was.
    recoveries: u64,
}

/// Not so in QEMU's user mode, which refuses the highest numbers.
pub(crate) fn available() -> Result<(), Why> {
    let failed = |call: &str, error| Why(format!("{call} failed: {error}"));
    let (reader, _) = io::pipe().map_err(|error| failed("pipe", error))?;
    signal::set_signal(reader.as_fd(), *signal::realtime().end())
        .map_err(|error| failed("fcntl(F_SETSIG)", error))
}

/// Opens a mechanism whose signals are taken as `source` says, given the set of them.
pub(crate) fn open<S: Source + 'static>(
    capacity: usize,
    source: impl FnOnce(&SignalSet) -> io::Result<S>,
) -> io::Result<Box<dyn Readiness>> {
    let number = Number::take()?;
    let set = SignalSet::new(&[number.0, SIGIO])?;
    let source = source(&set)?;
    let was_blocked = Masked::enter(number.0)?;
    let mut signals = Signals {
        source,
        home: Home::here(),
        tid: signal::thread_id(),
        number,
        set,
        was_blocked,
        watches: Slots::new(capacity),
        next_serial: 0,
        early: Vec::new(),
        taken: Vec::new(),
        removed: Vec::new(),
        emptied: 0,
        recovered: overflows(),
        recoveries: 0,
    };
    // Left behind by an earlier one of the same number, which another thread dropped.
    signals.empty_queue()?;
    Ok(Box::new(signals))
}

impl<S: Source> Signals<S> {
    /// Has `fd` send its signals here, and looks whether it is ready already.
    fn watch(&mut self, fd: BorrowedFd<'_>, token: Token, asked: c_short) -> io::Result<()> {
        let flags = signal::flags(fd)?;
        if flags & libc::O_ASYNC != 0 {
            return Err(io::Error::new(
                ErrorKind::ResourceBusy,
                format!("descriptor {} sends signals to somebody else already", fd.as_raw_fd()),
            ));
        }
        signal::set_owner_thread(fd, self.tid)?;
        signal::set_signal(fd, self.number.0)?;
        signal::set_flags(fd, flags | libc::O_ASYNC)?;
        let serial = self.serial();
        let watched = sends_signals(fd)
            .and_then(|()| self.look(fd, serial, asked))
            .and_then(|()| self.watches.insert(fd.as_raw_fd(), Watch { token, asked, serial }));
        if watched.is_err() {
            // The first error is the one to tell.
            let _ = signal::set_flags(fd, flags);
        }
        watched
    }

    fn serial(&mut self) -> u64 {
        self.next_serial += 1;
        self.next_serial
    }

    /// Notes what `fd` is ready for, to be reported at the next wait: signals report only what comes.
    fn look(&mut self, fd: BorrowedFd<'_>, serial: u64, asked: c_short) -> io::Result<()> {
        let fd = fd.as_raw_fd();
        let mut state = [pollfd { fd, events: asked, revents: 0 }];
        poll_now(&mut state)?;
        if state[0].revents != 0 {
            self.early.push(Early { fd, serial, bits: state[0].revents });
        }
        Ok(())
    }

    /// Whether signals of a former descriptor of this number may still be queued.
    fn may_be_queued(&self, fd: RawFd) -> bool {
        self.removed.get(fd as usize).is_some_and(|&then| then == self.emptied + 1)
    }

    /// Takes all signals from the queue; those of watched descriptors become early events.
    fn empty_queue(&mut self) -> io::Result<()> {
        while let Some(taken) = self.take_queued()? {
            let Some((fd, band)) = taken.source else { continue };
            if let Some(watch) = self.watches.peek(fd) {
                self.early.push(Early { fd, serial: watch.serial, bits: band as c_short });
            }
        }
        self.emptied += 1;
        Ok(())
    }

    /// Takes a signal that is queued, noting an overflow.
    fn take_queued(&mut self) -> io::Result<Option<Taken>> {
        loop {
            match signal::take(&self.set, Some(Duration::ZERO)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(Some(taken)) if taken.signal == SIGIO => note_overflow(),
                result => return result,
            }
        }
    }

    /// Tells what was found before this wait.
    #[inline]
    fn report_early(&mut self, ready: &mut Vec<Event>) {
        for early in self.early.drain(..) {
            let watch = self.watches.peek(early.fd);
            if let Some(watch) = watch.filter(|watch| watch.serial == early.serial) {
                report(watch, early.bits, ready);
            }
        }
    }

    /// Tells what the signals in `taken` say; after an overflow, what `poll` says instead.
    fn report_taken(&mut self, ready: &mut Vec<Event>) -> io::Result<()> {
        for taken in &self.taken {
            match taken.source {
                Some((fd, band)) => {
                    if let Some(watch) = self.watches.peek(fd) {
                        report(watch, band as c_short, ready);
                    }
                }
                None if taken.signal == SIGIO => note_overflow(),
                None => {}
            }
        }
        if self.recovered == overflows() {
            return Ok(());
        }
        ready.clear();
        self.recover(ready)
    }

    /// Throws the queue away, which has lost signals, and asks `poll` about every descriptor.
    fn recover(&mut self, ready: &mut Vec<Event>) -> io::Result<()> {
        while self.take_queued()?.is_some() {}
        self.emptied += 1;
        self.early.clear();
        let noted = overflows();
        let states = |(fd, watch): (RawFd, &Watch)| pollfd { fd, events: watch.asked, revents: 0 };
        let mut states: Vec<pollfd> = watched(&self.watches).map(states).collect();
        poll_now(&mut states)?;
        for state in states.iter().filter(|state| state.revents != 0) {
            if let Some(watch) = self.watches.peek(state.fd) {
                report(watch, state.revents, ready);
            }
        }
        self.recovered = noted;
        self.recoveries += 1;
        Ok(())
    }
}

impl<S: Source> Readiness for Signals<S> {
    fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        self.home.check(FOREIGN)?;
        self.watches.vacant(fd.as_raw_fd())?;
        if self.may_be_queued(fd.as_raw_fd()) {
            self.empty_queue()?;
        }
        self.watch(fd, token, bits::from_interest(interest))
    }

    fn modify(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        self.home.check(FOREIGN)?;
        self.watches.get(fd.as_raw_fd())?;
        // What is queued was sent whatever the interest; all that counts now is what `look` finds.
        self.empty_queue()?;
        let (serial, asked) = (self.serial(), bits::from_interest(interest));
        *self.watches.get_mut(fd.as_raw_fd())? = Watch { token, asked, serial };
        self.look(fd, serial, asked)
    }

    fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let number = fd.as_raw_fd();
        self.watches.get(number)?;
        signal::set_flags(fd, signal::flags(fd)? & !libc::O_ASYNC)?;
        self.watches.remove(number)?;
        let index = number as usize;
        if self.removed.len() <= index {
            self.removed.resize(index + 1, 0);
        }
        self.removed[index] = self.emptied + 1;
        Ok(())
    }

    fn recoveries(&self) -> u64 {
        self.recoveries
    }

    fn wait(&mut self, ready: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()> {
        ready.clear();
        self.home.check(FOREIGN)?;
        if self.recovered != overflows() {
            self.recover(ready)?;
        }
        self.report_early(ready);
        if !ready.is_empty() {
            return Ok(());
        }
        deadline::wait(timeout, |left| {
            loop {
                self.taken.clear();
                self.source.take(&self.set, left, &mut self.taken)?;
                if self.taken.is_empty() {
                    return Ok(0);
                }
                self.report_taken(ready)?;
                // A signal that says nothing may hide others that there is no time to wait for.
                if !ready.is_empty() || left != Some(Duration::ZERO) {
                    return Ok(ready.len());
                }
            }
        })
        .map(drop)
    }
}

impl<S> Drop for Signals<S> {
    /// Silences what is still watched, empties the queue and gives the thread its mask back, in this
    /// order: a signal that came after would end the process.
    fn drop(&mut self) {
        for (fd, _) in watched(&self.watches) {
            signal::silence(fd, self.number.0);
        }
        // On another thread the queue is out of reach; the signals stay blocked where they are.
        if self.home.is_here() {
            Masked::leave(self.number.0, &self.set, self.was_blocked);
        }
    }
}

/// The descriptors that are watched.
fn watched(watches: &Slots<Watch>) -> impl Iterator<Item = (RawFd, &Watch)> {
    (0..).take(watches.end()).filter_map(|fd| Some((fd, watches.peek(fd)?)))
}

/// Puts an event into `ready` if one of the bits was asked for, or can't be left out.
#[inline]
fn report(watch: &Watch, bits: c_short, ready: &mut Vec<Event>) {
    let reported = bits & (watch.asked | libc::POLLHUP | libc::POLLERR | libc::POLLNVAL);
    if reported != 0 {
        ready.push(bits::event(watch.token, reported));
    }
}

/// Fails unless `fd`, just set to send signals, does so: other kinds of file ignore it silently.
fn sends_signals(fd: BorrowedFd<'_>) -> io::Result<()> {
    if signal::flags(fd)? & libc::O_ASYNC != 0 {
        return Ok(());
    }
    Err(io::Error::new(
        ErrorKind::Unsupported,
        format!("descriptor {} is of a kind that sends no signals", fd.as_raw_fd()),
    ))
}

/// `poll` with no time to wait.
fn poll_now(states: &mut [pollfd]) -> io::Result<usize> {
    deadline::wait(Some(Duration::ZERO), |left| sys::poll::poll(states, left))
}

/// A real-time signal number, taken from the process's pool until it is dropped.
struct Number(c_int);

/// One bit for each number that is taken, counted from the first real-time signal.
static TAKEN: AtomicU64 = AtomicU64::new(0);

impl Number {
    /// The highest free one: programs that use real-time signals themselves begin with the lowest.
    fn take() -> io::Result<Self> {
        let (first, last) = (*signal::realtime().start(), *signal::realtime().end());
        for number in (first..=last).rev() {
            let bit = 1 << (number - first);
            if TAKEN.load(Ordering::Relaxed) & bit == 0
                && signal::has_default_action(number)?
                && TAKEN.fetch_or(bit, Ordering::Relaxed) & bit == 0
            {
                return Ok(Number(number));
            }
        }
        Err(io::Error::new(
            ErrorKind::QuotaExceeded,
            format!("the real-time signals {first} to {last} are all in use: drop one first"),
        ))
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        TAKEN.fetch_and(!(1 << (self.0 - signal::realtime().start())), Ordering::Relaxed);
    }
}

/// What the mechanisms of one thread share: `SIGIO`, which carries no number.
#[derive(Clone, Copy)]
struct Masked {
    /// Mechanisms that are open.
    open: u32,
    /// Whether `SIGIO` was blocked before the first.
    was_blocked: bool,
    /// How often the queue has overflowed: whoever takes the `SIGIO` tells the others.
    overflows: u64,
}

thread_local! {
    static MASKED: Cell<Masked> =
        const { Cell::new(Masked { open: 0, was_blocked: false, overflows: 0 }) };
}

/// How often this thread's queue has overflowed, as far as is known.
#[inline]
fn overflows() -> u64 {
    MASKED.with(|masked| masked.get().overflows)
}

fn note_overflow() {
    MASKED.with(|masked| {
        let overflows = masked.get().overflows + 1;
        masked.set(Masked { overflows, ..masked.get() });
    });
}

impl Masked {
    /// Blocks `number` and `SIGIO` in this thread; returns whether `number` was blocked before.
    fn enter(number: c_int) -> io::Result<bool> {
        let before = signal::block(&SignalSet::new(&[number, SIGIO])?)?;
        MASKED.with(|masked| {
            let mut now = masked.get();
            if now.open == 0 {
                now.was_blocked = before.contains(SIGIO);
            }
            now.open += 1;
            masked.set(now);
        });
        Ok(before.contains(number))
    }

    /// Undoes [`Masked::enter`], after throwing away what is queued.
    fn leave(number: c_int, set: &SignalSet, was_blocked: bool) {
        loop {
            match signal::take(set, Some(Duration::ZERO)) {
                Ok(Some(taken)) if taken.signal == SIGIO => note_overflow(),
                Ok(Some(_)) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // What can't be taken has to stay blocked.
                Err(_) => return,
                Ok(None) => break,
            }
        }
        let last = MASKED.with(|masked| {
            let mut now = masked.get();
            now.open -= 1;
            masked.set(now);
            now.open == 0 && !now.was_blocked
        });
        let mine = if was_blocked { None } else { Some(number) };
        let shared = if last { Some(SIGIO) } else { None };
        let numbers: Vec<c_int> = mine.into_iter().chain(shared).collect();
        // Fails only for numbers that are no signals.
        let _ = SignalSet::new(&numbers).and_then(|set| signal::unblock(&set));
    }
}
