//! One thread of the generator: its connections, its share of the schedule, and its own counts.
//! Nothing is shared with other threads while requests are under way.
//!
//! A request costs one `send` and one `recv`, and a share of one wait, or of two where it is due at a
//! time. Nothing is told to epoll after a connection is made: it is edge-triggered for both directions.

mod conn;
mod links;
mod traffic;

use crate::outcome::Kind;
use crate::reply::Heads;
use crate::schedule::Schedule;
use crate::tally::{Interval, Tally};
use crate::watch::Watch;
use crate::{Plan, Shape};
use conn::{Conn, Stage};
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::io::Errno;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

/// Bytes that one `recv` takes at most.
const RECEIVED_MAX: usize = 256 * 1024;
/// Events that one wait takes at most: due requests are not to wait for too many replies.
const EVENTS_MAX: usize = 128;
/// The longest wait: so long does it take at most until a signal is noticed.
const NAP_NS: i64 = 50_000_000;
/// A load by number ends when nothing has come of it for this long and a time-out: longer than any
/// pause before a connection is tried again.
const VAIN_NS: i64 = 2_000_000_000;
/// A request sent later than this is late.
const LATE_NS: i64 = 1_000_000;

/// What a thread measured, and when.
#[derive(Debug)]
pub(crate) struct Measured {
    pub tally: Tally,
    /// From the start of what counts to the end of this thread's sending.
    pub elapsed_ns: i64,
    pub user_ns: u64,
    pub system_ns: u64,
    pub stopped: bool,
}

/// What a thread needs to begin.
#[derive(Clone, Debug)]
pub(crate) struct Start<'a> {
    pub plan: &'a Plan,
    pub stop: &'a AtomicBool,
    pub watch: Watch,
    pub number: usize,
    pub to: Sender<Interval>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Connections are opened, nothing is sent.
    Opening,
    Going,
    /// Nothing more is sent; what is under way is waited for.
    Draining,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Closed,
    Open,
    Sessions,
}

/// Something to do with a connection later on; the time comes first, so that it orders.
type Timer = (i64, u32, u32);

pub(crate) struct Lane<'a> {
    plan: &'a Plan,
    stop: &'a AtomicBool,
    watch: Watch,
    number: usize,
    mode: Mode,
    phase: Phase,
    epoll: OwnedFd,
    conns: Vec<Conn>,
    /// Connections that may take a request (open loop) or are to be opened (sessions), those that
    /// have been free for longest first.
    free: VecDeque<u32>,
    timers: BinaryHeap<Reverse<Timer>>,
    schedule: Option<Schedule>,
    /// As many requests as may be under way on a connection, one after the other.
    requests: Vec<u8>,
    request_bytes: usize,
    buffer: Vec<u8>,
    heads: Heads,
    tally: Tally,
    /// Requests that may still be sent in a closed loop.
    budget: u64,
    calls_max: u64,
    timeout_ns: i64,
    think_ns: i64,
    zero_ns: i64,
    end_ns: i64,
    now_ns: i64,
    /// When a request was last due without a connection for it.
    starved_ns: i64,
    /// When a connection was last made or a reply last ended.
    progress_ns: i64,
    /// When time-outs are looked for again.
    look_ns: i64,
    under_way: usize,
    connecting: usize,
    /// Connections made so far, failed ones included: they take the sources in turn.
    begun: usize,
    /// CPU time of this thread at the start of what counts, once that has come.
    before: Option<sys::process::Resources>,
}

/// The share of thread `number` in `whole`.
fn share(whole: u64, plan: &Plan, number: usize) -> u64 {
    let threads = plan.threads as u64;
    whole / threads + u64::from((number as u64) < whole % threads)
}

impl<'a> Lane<'a> {
    pub(crate) fn new(start: Start<'a>) -> Result<Lane<'a>, Errno> {
        let Start { plan, stop, watch, number, to } = start;
        let mode = match plan.shape {
            Shape::Closed => Mode::Closed,
            Shape::Open(_) => Mode::Open,
            Shape::Sessions(_) => Mode::Sessions,
        };
        let request = plan.target.request(plan.keep_alive);
        let conns = share(plan.connections as u64, plan, number) as usize;
        let budget = plan.requests.map_or(u64::MAX, |requests| share(requests, plan, number));
        let budget = if mode == Mode::Closed { budget } else { u64::MAX };
        let interval_ns = plan.interval.as_nanos() as i64;
        Ok(Lane {
            plan,
            stop,
            watch,
            number,
            mode,
            phase: Phase::Opening,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            conns: (0..conns).map(|_| Conn::new(plan.pipeline)).collect(),
            free: VecDeque::with_capacity(conns),
            timers: BinaryHeap::new(),
            schedule: None,
            requests: request.repeat(plan.pipeline),
            request_bytes: request.len(),
            buffer: vec![0; RECEIVED_MAX],
            heads: Heads::default(),
            tally: Tally::new(interval_ns, mode != Mode::Closed, to),
            budget,
            calls_max: plan.calls_max(),
            timeout_ns: plan.timeout.as_nanos() as i64,
            think_ns: plan.think.as_nanos() as i64,
            zero_ns: i64::MAX,
            end_ns: i64::MAX,
            now_ns: watch.now_ns(),
            starved_ns: i64::MIN,
            progress_ns: watch.now_ns(),
            look_ns: 0,
            under_way: 0,
            connecting: 0,
            begun: 0,
            before: None,
        })
    }

    /// Opens the connections; what can't be opened is tried again later. Sessions open their own.
    pub(crate) fn open(&mut self) -> Result<(), Errno> {
        const CONNECTING_MAX: usize = 256;
        let mut next = 0;
        if self.mode == Mode::Sessions {
            self.free.extend(0..self.conns.len() as u32);
            next = self.conns.len();
        }
        while (next < self.conns.len() || self.connecting > 0) && !self.stopped() {
            self.now_ns = self.watch.now_ns();
            // One at a time, and a look at what has come of the others, so that the time that one
            // takes is not that of making the rest.
            let begins = next < self.conns.len() && self.connecting < CONNECTING_MAX;
            if begins {
                self.connect(next as u32);
                next += 1;
            }
            self.look_for_timeouts();
            self.wait(if begins { self.now_ns } else { self.look_ns })?;
        }
        Ok(())
    }

    /// Sends what the plan says, from the moment on that what counts begins at `zero_ns`, or
    /// before it to warm up; then waits for what is under way.
    pub(crate) fn go(&mut self, zero_ns: i64) -> Result<(), Errno> {
        self.begin(zero_ns);
        loop {
            self.now_ns = self.watch.now_ns();
            if self.ended() {
                break;
            }
            if self.before.is_none() && self.now_ns >= self.zero_ns {
                self.before = Some(sys::process::thread_resources());
            }
            self.tally.roll(self.now_ns, self.under_way);
            self.send_due();
            self.ring_timers();
            self.look_for_timeouts();
            self.wait(self.next_ns())?;
        }
        self.drain()
    }

    fn begin(&mut self, zero_ns: i64) {
        self.zero_ns = zero_ns;
        self.now_ns = self.watch.now_ns();
        self.progress_ns = self.now_ns;
        self.tally.begin(zero_ns);
        self.phase = Phase::Going;
        if let Some(duration) = self.plan.duration {
            self.end_ns = zero_ns.saturating_add(duration.as_nanos() as i64);
        }
        if let Shape::Open(arrivals) | Shape::Sessions(arrivals) = self.plan.shape {
            let each = if self.mode == Mode::Sessions { self.calls_max } else { 1 };
            self.schedule = Some(Schedule::new(arrivals, self.plan, self.number, each));
        }
        for index in 0..self.conns.len() as u32 {
            if self.conns[index as usize].stage == Stage::Open {
                // Sending over those before it has taken its time.
                self.now_ns = self.watch.now_ns();
                self.settle(index);
            }
        }
        // Nothing has waited for a connection yet.
        self.starved_ns = i64::MIN;
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether the load is over, by time, by number, by a signal, or since nothing comes of it.
    fn ended(&mut self) -> bool {
        let sent_all = match &self.schedule {
            Some(schedule) => schedule.peek().is_none(),
            None => self.budget == 0,
        };
        let quiet = !self.is_waited_for();
        let idle_sessions = self.mode != Mode::Sessions || self.free.len() == self.conns.len();
        let done = self.plan.requests.is_some() && sent_all && quiet && idle_sessions;
        self.now_ns >= self.end_ns || done || self.is_in_vain() || self.stopped()
    }

    /// Whether nobody answers: by number alone a load would then never end. A connection that is open
    /// waits for its turn, however rare that is; and sessions come to their end by themselves.
    fn is_in_vain(&self) -> bool {
        self.plan.duration.is_none()
            && self.mode != Mode::Sessions
            && self.now_ns - self.progress_ns > self.timeout_ns.saturating_add(VAIN_NS)
            && self.conns.iter().all(|conn| conn.stage != Stage::Open)
    }

    fn drain(&mut self) -> Result<(), Errno> {
        if !self.stopped() {
            // What was due just before the end and has not had its turn.
            self.send_due();
        }
        self.end_ns = self.end_ns.min(self.now_ns);
        self.tally.end(self.end_ns, self.under_way);
        self.phase = Phase::Draining;
        let last_ns = self.now_ns.saturating_add(self.timeout_ns);
        while self.is_waited_for() && self.now_ns <= last_ns && !self.stopped() {
            self.look_for_timeouts();
            self.wait(self.look_ns.min(last_ns))?;
            self.now_ns = self.watch.now_ns();
        }
        for conn in &self.conns {
            conn.flights.iter().for_each(|flight| self.tally.unfinished(flight, self.now_ns));
            if self.mode == Mode::Sessions && conn.stage == Stage::Connecting {
                self.tally.never_sent(conn.session_ns, self.now_ns);
            }
        }
        // Last: of a rate far above what is possible, to count these takes longer than a reply.
        self.give_up_unsent();
        Ok(())
    }

    /// Whether something is under way: requests, or connections of sessions that have begun.
    fn is_waited_for(&self) -> bool {
        self.under_way > 0 || (self.mode == Mode::Sessions && self.connecting > 0)
    }

    /// Counts what was due and has not been sent, with how long it waited.
    fn give_up_unsent(&mut self) {
        let begun = self.end_ns >= self.zero_ns;
        if self.budget != u64::MAX && begun {
            self.tally.unsent += self.budget;
        }
        let Some(schedule) = &mut self.schedule else { return };
        while let Some(due_ns) = schedule.peek() {
            let due_ns = due_ns + self.zero_ns;
            if due_ns >= self.end_ns {
                break;
            }
            self.tally.never_sent(due_ns, self.end_ns);
            schedule.advance();
        }
    }

    pub(crate) fn measured(self) -> Measured {
        let after = sys::process::thread_resources();
        let before = self.before.unwrap_or(after);
        Measured {
            elapsed_ns: (self.end_ns - self.zero_ns).max(0),
            user_ns: after.user_ns - before.user_ns,
            system_ns: after.system_ns - before.system_ns,
            stopped: self.stopped(),
            tally: self.tally,
        }
    }

    /// When there is something to do next, if nothing comes in before.
    fn next_ns(&self) -> i64 {
        let mut next = self.end_ns.min(self.tally.interval_end_ns()).min(self.look_ns);
        if self.before.is_none() {
            next = next.min(self.zero_ns);
        }
        if let Some(Reverse((at_ns, _, _))) = self.timers.peek() {
            next = next.min(*at_ns);
        }
        if let Some(schedule) = self.schedule.as_ref().filter(|_| !self.free.is_empty()) {
            next = next.min(schedule.peek().map_or(i64::MAX, |due_ns| due_ns + self.zero_ns));
        }
        next
    }

    /// Waits for events until `until_ns`, and handles them.
    fn wait(&mut self, until_ns: i64) -> Result<(), Errno> {
        let left_ns = until_ns.saturating_sub(self.now_ns).clamp(0, NAP_NS);
        let mut left = Timespec { tv_sec: 0, tv_nsec: left_ns };
        if left_ns > 0 && (self.schedule.is_some() || !self.timers.is_empty()) {
            // epoll itself waits for whole milliseconds: what is due by then would be sent late.
            let mut epoll = [PollFd::new(&self.epoll, PollFlags::IN)];
            match poll(&mut epoll, Some(&left)) {
                Ok(0) | Err(Errno::INTR) => return Ok(()),
                Ok(_) => left.tv_nsec = 0,
                Err(error) => return Err(error),
            }
        }
        let mut events = [epoll::Event {
            flags: epoll::EventFlags::empty(),
            data: epoll::EventData::new_u64(0),
        }; EVENTS_MAX];
        let count = match epoll::wait(&self.epoll, &mut events, Some(&left)) {
            Ok(count) => count,
            Err(Errno::INTR) => 0,
            Err(error) => return Err(error),
        };
        if count > 0 {
            self.now_ns = self.watch.now_ns();
        }
        for event in &events[..count] {
            let (flags, data) = (event.flags, event.data.u64());
            let (index, life) = (data as u32, (data >> 32) as u32);
            // A connection that this very batch has closed may have events in it.
            if self.conns.get(index as usize).is_some_and(|conn| conn.life == life) {
                self.ready(index, flags);
            }
        }
        Ok(())
    }

    /// Gives up what has waited for too long. Looks at all a few times within a time-out, which
    /// costs less than a timer for each request, and makes it late by a few per cent at most.
    fn look_for_timeouts(&mut self) {
        if self.now_ns < self.look_ns {
            return;
        }
        self.look_ns = self.now_ns + (self.timeout_ns / 32).max(LATE_NS);
        for index in 0..self.conns.len() as u32 {
            if let Some(since_ns) = self.conns[index as usize].waits_since_ns()
                && self.now_ns - since_ns >= self.timeout_ns
            {
                self.fail(index, Kind::Timeout);
            }
        }
    }
}
