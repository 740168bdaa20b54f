//! The tracepoints of one thread while it is looked at, and what came through them.

use std::ffi::CStr;
use std::io;

use sys::perf::{Event, Ring, Wanted};

use crate::calls::{Call, Entered, Service};
use crate::records::{Record, records};
use crate::tracefs::Tracepoints;

/// A thread's waits, sampled at their beginning and end, and the number of all its system calls.
#[derive(Debug)]
pub struct Tap {
    /// Unmapped first: it keeps `exit` open.
    ring: Ring,
    enter: Event,
    exit: Event,
    calls: Event,
    /// System calls counted up to the last look.
    counted: u64,
}

impl Tap {
    /// Attaches to the thread `tid`. `pages` is the size of its ring; where the user may not lock as
    /// much memory, the ring is smaller.
    pub fn open(tid: u32, points: &Tracepoints, filter: &CStr, pages: usize) -> io::Result<Self> {
        let exit = Event::tracepoint(points.exit.id, tid, Wanted::Samples)?;
        let enter = Event::tracepoint(points.enter.id, tid, Wanted::Samples)?;
        let calls = Event::tracepoint(points.enter.id, tid, Wanted::Count)?;
        let ring = ring(&exit, pages)?;
        enter.share(&exit)?;
        for event in [&enter, &exit] {
            event.filter(filter)?;
        }
        for event in [&exit, &enter, &calls] {
            event.enable()?;
        }
        Ok(Tap { ring, enter, exit, calls, counted: 0 })
    }

    /// What meets this condition comes from now on.
    pub fn filter(&self, filter: &CStr) -> io::Result<()> {
        self.enter.filter(filter)?;
        self.exit.filter(filter)
    }

    /// Nothing comes from now on.
    pub fn shut(&self) {
        for event in [&self.enter, &self.exit, &self.calls] {
            // It can only fail if the thread has ended, and then nothing comes either.
            let _ = event.disable();
        }
    }

    /// How many system calls the thread has made since this was last asked.
    pub fn calls(&mut self) -> u64 {
        let counted = self.calls.count().unwrap_or(self.counted);
        let new = counted.saturating_sub(self.counted);
        self.counted = counted;
        new
    }

    /// What has come since the last call, in order; `buffer` is for its use.
    pub fn take(&mut self, points: &Tracepoints, buffer: &mut Vec<u8>) -> Vec<Record> {
        buffer.clear();
        self.ring.take(buffer);
        records(buffer, points).collect()
    }
}

fn ring(event: &Event, pages: usize) -> io::Result<Ring> {
    let mut pages = pages;
    loop {
        match Ring::new(event, pages) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && pages > 1 => {
                pages /= 2;
            }
            result => return result,
        }
    }
}

/// What is known of a thread's use of one call.
#[derive(Clone, Copy, Debug, Default)]
enum Seen {
    /// Nothing yet.
    #[default]
    Nothing,
    /// It has always waited on the same thing, last with these arguments.
    One(Entered),
    /// It waits on several things in turn.
    Several,
}

/// A thread of the process.
#[derive(Debug, Default)]
pub struct Thread {
    pub tap: Option<Tap>,
    /// The wait it is in, as far as is known.
    pub inside: Option<Entered>,
    /// Since when, if its beginning was seen.
    since_ns: Option<u64>,
    /// The call that serves descriptors that it is in.
    serves: Option<Service>,
    /// What this look has cost it, by estimate.
    pub cost_ns: f64,
    /// How many system calls of any kind it has made in this look.
    pub calls: u64,
    seen: [Seen; 7],
}

/// A wait that has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub time_ns: u64,
    /// How long it took, if its beginning was seen.
    pub took_ns: Option<u64>,
    pub entered: Entered,
    /// Events, or an error below zero.
    pub answer: i64,
}

impl Thread {
    /// It was found asleep in this wait when it was first looked at.
    pub fn found_in(&mut self, tid: u32, entered: Entered) {
        self.inside = Some(entered);
        self.learn(tid, entered);
    }

    fn learn(&mut self, tid: u32, entered: Entered) {
        let seen = &mut self.seen[entered.call.index()];
        *seen = match *seen {
            Seen::Several => Seen::Several,
            Seen::One(last) if last.key(tid) != entered.key(tid) => Seen::Several,
            Seen::Nothing | Seen::One(_) => Seen::One(entered),
        };
    }

    /// It as it is left between looks: what it does then is not seen.
    pub fn detached(self) -> Self {
        Thread { seen: self.seen, ..Thread::default() }
    }

    /// It goes into a wait.
    pub fn enter(&mut self, tid: u32, time_ns: u64, entered: Entered) {
        self.inside = Some(entered);
        self.since_ns = Some(time_ns);
        self.learn(tid, entered);
    }

    /// What it does now is not known: samples were lost.
    pub fn forget_call(&mut self) {
        (self.inside, self.since_ns, self.serves) = (None, None, None);
    }

    /// It goes into another call.
    pub fn enter_service(&mut self, service: Option<Service>) {
        self.serves = service;
    }

    /// It comes out of another call; that, if it serves descriptors.
    pub fn exit_service(&mut self, call: i64) -> Option<Service> {
        self.serves.take().filter(|service| service.call == call)
    }

    /// It comes out of a wait; that, if it is known what it waited on.
    ///
    /// Waits are counted at their end, so that long ones are missed no more often than short ones. If
    /// one began before the look, it has waited on what this thread always waits on with that call.
    pub fn exit(&mut self, call: Call, time_ns: u64, answer: i64) -> Option<Wait> {
        let took_ns = self.since_ns.take().map(|since_ns| time_ns.saturating_sub(since_ns));
        let wait = |took_ns, entered| Some(Wait { time_ns, took_ns, entered, answer });
        match (self.inside.take(), self.seen[call.index()]) {
            (Some(entered), _) if entered.call == call => wait(took_ns, entered),
            (_, Seen::One(entered)) => wait(None, entered),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(epoll: u64) -> Entered {
        Entered { call: Call::EpollWait, args: [epoll, 0, 16, 0, 0, 0] }
    }

    /// What it waited on, and for how long.
    fn exited(thread: &mut Thread, call: Call) -> Option<(Entered, Option<u64>)> {
        thread.exit(call, 100, 0).map(|wait| (wait.entered, wait.took_ns))
    }

    #[test]
    fn a_wait_is_paired_with_its_own_beginning() {
        let mut thread = Thread::default();
        thread.enter(1, 90, on(5));
        assert_eq!(exited(&mut thread, Call::EpollWait), Some((on(5), Some(10))));
        thread.enter(1, 70, on(6));
        assert_eq!(exited(&mut thread, Call::EpollWait), Some((on(6), Some(30))));
        // Its beginning was missed, and it may have been on either.
        assert_eq!(exited(&mut thread, Call::EpollWait), None);
        assert_eq!(exited(&mut thread, Call::Poll), None);
    }

    #[test]
    fn a_wait_from_before_the_look_is_on_what_the_thread_always_waits_on() {
        let mut thread = Thread::default();
        assert_eq!(exited(&mut thread, Call::EpollWait), None);
        thread.found_in(1, on(5));
        assert_eq!(exited(&mut thread, Call::EpollWait), Some((on(5), None)));
        assert_eq!(exited(&mut thread, Call::EpollWait), Some((on(5), None)));
        assert_eq!(exited(&mut thread, Call::Ppoll), None);
    }
}
