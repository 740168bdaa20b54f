//! One thread of the generator: its connections, its share of the schedule, and its own counts.
//! Nothing is shared with other threads while requests are in flight.
//!
//! A request costs one `send` and one `recv`, and a share of a wait, or of another if it is due at a time.
//! epoll is edge-triggered for both directions, so a connection costs it one call.

mod connecting;
mod connection;
mod encrypted;
mod quiet;
pub(crate) mod tally;
mod traffic;

use crate::gate::Gate;
use crate::http::reply::Heads;
use crate::plan::{Plan, Shape};
use crate::results::counts::Kind;
use crate::results::misfit::Misfit;
use crate::results::part::Part;
use crate::schedule::Schedule;
use connection::{Connection, Stage};
use quiet::Quiet;
use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::epoll::{epoll_event, wait_precisely};
use tally::Tally;

/// Bytes that one `recv` takes at most.
const RECEIVED_MAX: usize = 256 * 1024;
/// Events that one wait takes at most: due requests are not to wait for too many replies.
const EVENTS_MAX: usize = 128;
/// The longest wait, and so the longest time until a signal is noticed.
const WAIT_NS_MAX: i64 = 50_000_000;
/// A load by number ends after this time and a time-out without progress: longer than any pause before a
/// connection is tried again.
const NO_PROGRESS_NS: i64 = 2_000_000_000;
/// Replies that are left at the end are waited for as long as this at least, however short the load was.
const IN_VAIN_NS_MIN: i64 = 3_000_000_000;
/// A request sent later than this is late.
const LATE_NS: i64 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Connections are opened, nothing is sent.
    Opening,
    Going,
    /// Nothing more is sent; replies to requests in flight are awaited.
    Draining,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Closed,
    Open,
    Sessions,
}

/// When a connection goes on: time, index, generation. The time comes first, for the order.
type Timer = (i64, u32, u32);

pub(crate) struct LoadWorker<'a> {
    plan: &'a Plan,
    gate: &'a Gate<'a>,
    number: usize,
    mode: Mode,
    phase: Phase,
    epoll: OwnedFd,
    connections: Vec<Connection>,
    /// Connections that may take a request (open loop) or are to be opened (sessions); the one that has been
    /// free for longest is first.
    free: VecDeque<u32>,
    timers: BinaryHeap<Reverse<Timer>>,
    schedule: Option<Schedule>,
    /// As many requests as may be in flight on a connection, one after the other.
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
    /// Until when all requests that were due were sent, as far as there were connections.
    sent_until_ns: i64,
    /// When a request was last due without a connection for it.
    starved_ns: i64,
    /// When a connection was last made or a reply last ended.
    progress_ns: i64,
    quiet: Quiet,
    next_check_ns: i64,
    requests_in_flight: usize,
    connecting: usize,
    /// Connections begun so far, failed ones included: they take the sources in turn.
    connects: usize,
    /// CPU time of this thread at the start of what counts, once that has come.
    before: Option<sys::process::Resources>,
}

impl<'a> LoadWorker<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        gate: &'a Gate<'a>,
        number: usize,
        tally: Tally,
    ) -> Result<LoadWorker<'a>, Errno> {
        let mode = match plan.shape {
            Shape::Closed => Mode::Closed,
            Shape::Open(_) => Mode::Open,
            Shape::Sessions(_) => Mode::Sessions,
        };
        let request = plan.target.request(plan.keep_alive);
        let connections = plan.share_of(plan.connections as u64, number) as usize;
        let budget = plan.requests.map_or(u64::MAX, |requests| plan.share_of(requests, number));
        let budget = if mode == Mode::Closed { budget } else { u64::MAX };
        Ok(LoadWorker {
            plan,
            gate,
            number,
            mode,
            phase: Phase::Opening,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            connections: (0..connections).map(|_| Connection::new(plan.pipeline)).collect(),
            free: VecDeque::with_capacity(connections),
            timers: BinaryHeap::new(),
            schedule: None,
            requests: request.repeat(plan.pipeline),
            request_bytes: request.len(),
            buffer: vec![0; RECEIVED_MAX],
            heads: Heads::default(),
            tally,
            budget,
            calls_max: plan.calls_max(),
            timeout_ns: plan.timeout.as_nanos() as i64,
            think_ns: plan.think.as_nanos() as i64,
            zero_ns: i64::MAX,
            end_ns: i64::MAX,
            now_ns: gate.clock.now_ns(),
            sent_until_ns: i64::MIN,
            starved_ns: i64::MIN,
            progress_ns: gate.clock.now_ns(),
            quiet: Quiet::default(),
            next_check_ns: 0,
            requests_in_flight: 0,
            connecting: 0,
            connects: 0,
            before: None,
        })
    }

    /// Opens the connections; one that fails is tried again later. Sessions open their own.
    pub(crate) fn open(&mut self) -> Result<(), Errno> {
        const CONNECTING_MAX: usize = 256;
        let mut next = 0;
        if self.mode == Mode::Sessions {
            self.free.extend(0..self.connections.len() as u32);
            next = self.connections.len();
        }
        while (next < self.connections.len() || self.connecting > 0) && !self.stopped() {
            self.now_ns = self.gate.clock.now_ns();
            // One at a time, with the events of the others between them, so that the time that one takes
            // does not include making the rest.
            let begins = next < self.connections.len() && self.connecting < CONNECTING_MAX;
            if begins {
                self.connect(next as u32);
                next += 1;
            }
            self.check_timeouts();
            self.wait(if begins { self.now_ns } else { self.next_check_ns })?;
        }
        Ok(())
    }

    /// Sends what the plan says: until `zero_ns` to warm up, from then on for the record; then waits for the
    /// replies in flight.
    pub(crate) fn run(&mut self, zero_ns: i64) -> Result<(), Errno> {
        self.begin(zero_ns);
        loop {
            self.now_ns = self.gate.clock.now_ns();
            if self.ended() {
                break;
            }
            if self.before.is_none() && self.now_ns >= self.zero_ns {
                self.before = Some(sys::process::thread_resources());
            }
            self.tally.roll(self.now_ns, self.requests_in_flight);
            self.sent_until_ns = self.now_ns;
            self.send_due();
            self.run_timers();
            self.check_timeouts();
            self.wait(self.next_ns())?;
            if self.gate.reach.is_absent() {
                return Err(Errno::CONNREFUSED);
            }
        }
        self.drain()
    }

    fn begin(&mut self, zero_ns: i64) {
        self.zero_ns = zero_ns;
        self.now_ns = self.gate.clock.now_ns();
        self.progress_ns = self.now_ns;
        self.tally.begin(zero_ns);
        self.phase = Phase::Going;
        if let Some(duration) = self.plan.duration {
            self.end_ns = zero_ns.saturating_add(duration.as_nanos() as i64);
        }
        if let Some(arrivals) = self.plan.arrivals() {
            let each = if self.mode == Mode::Sessions { self.calls_max } else { 1 };
            self.schedule = Some(Schedule::new(arrivals, self.plan, self.number, each));
        }
        for index in 0..self.connections.len() as u32 {
            if self.connections[index as usize].stage == Stage::Open {
                // Sending over those before it has taken time.
                self.now_ns = self.gate.clock.now_ns();
                self.settle(index);
            }
        }
        // Nothing has waited for a connection yet.
        self.starved_ns = i64::MIN;
    }

    fn stopped(&self) -> bool {
        self.gate.stop.load(Ordering::Relaxed)
    }

    /// Whether the load is over: by time, by number, by a signal, or for lack of progress.
    fn ended(&mut self) -> bool {
        let sent_all = match &self.schedule {
            Some(schedule) => schedule.peek().is_none(),
            None => self.budget == 0,
        };
        let quiet = !self.is_awaiting();
        let idle_sessions =
            self.mode != Mode::Sessions || self.free.len() == self.connections.len();
        let done = self.plan.requests.is_some() && sent_all && quiet && idle_sessions;
        self.now_ns >= self.end_ns || done || self.makes_no_progress() || self.stopped()
    }

    /// Whether the target does not answer: a load by number alone would then never end. A connection that is
    /// open waits for its turn, however rare that is, and sessions end by themselves.
    fn makes_no_progress(&self) -> bool {
        self.plan.duration.is_none()
            && self.mode != Mode::Sessions
            && self.now_ns - self.progress_ns > self.timeout_ns.saturating_add(NO_PROGRESS_NS)
            && self.connections.iter().all(|connection| connection.stage != Stage::Open)
    }

    fn drain(&mut self) -> Result<(), Errno> {
        // What was due just before the end is sent. A signal came before that: it is not missing then.
        let end_ns = if self.stopped() {
            self.sent_until_ns.max(self.zero_ns.min(self.now_ns))
        } else {
            self.send_due();
            self.now_ns
        };
        self.end_ns = self.end_ns.min(end_ns);
        self.tally.end(self.end_ns, self.requests_in_flight);
        self.phase = Phase::Draining;
        let last_ns = self.now_ns.saturating_add(self.timeout_ns);
        while self.is_awaiting()
            && self.now_ns <= last_ns
            && !self.stopped()
            && !self.awaits_in_vain()
        {
            self.check_timeouts();
            self.wait(self.next_check_ns.min(last_ns))?;
            self.now_ns = self.gate.clock.now_ns();
        }
        // A connection that was never served is no stall.
        let served = self.connections.iter().filter(|connection| connection.was_served());
        let sent_ns = served.filter_map(|connection| connection.in_flight.front());
        let sent_ns = sent_ns.map(|request| request.sent_ns).min();
        if let Some(sent_ns) = sent_ns.or(self.quiet.gave_up_ns) {
            self.quiet.end(sent_ns.max(self.zero_ns), self.now_ns);
        }
        for connection in &self.connections {
            let is_asked = connection.asked_ns >= self.zero_ns || !connection.in_flight.is_empty();
            if is_asked && self.mode != Mode::Sessions {
                self.tally.part.counts.asked += 1;
                let is_served = connection.served_ns >= self.zero_ns;
                self.tally.part.counts.unserved += u64::from(!is_served);
            }
            connection
                .in_flight
                .iter()
                .for_each(|request| self.tally.unfinished(request, self.now_ns));
            let is_connecting = matches!(connection.stage, Stage::Connecting | Stage::Handshaking);
            if self.mode == Mode::Sessions && is_connecting {
                self.tally.never_sent(connection.session_ns, self.now_ns);
            }
        }
        // Last: for a rate far above what is possible, this takes longer than a reply.
        self.give_up_unsent();
        Ok(())
    }

    /// Whether nothing has come for as long as the load took, and all that is waited for are connections that never got a
    /// reply: the server serves others.
    fn awaits_in_vain(&self) -> bool {
        let patience_ns = IN_VAIN_NS_MIN.max(self.end_ns.saturating_sub(self.zero_ns));
        self.mode != Mode::Sessions
            && self.now_ns - self.progress_ns.max(self.end_ns) > patience_ns
            && self
                .connections
                .iter()
                .all(|connection| connection.in_flight.is_empty() || !connection.was_served())
    }

    /// Whether requests are in flight, or connections of sessions that have begun.
    fn is_awaiting(&self) -> bool {
        self.requests_in_flight > 0 || (self.mode == Mode::Sessions && self.connecting > 0)
    }

    /// Counts the requests that were due and not sent, with the time that they waited.
    fn give_up_unsent(&mut self) {
        let has_begun = self.end_ns >= self.zero_ns;
        if self.budget != u64::MAX && has_begun {
            self.tally.part.counts.unsent += self.budget;
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

    /// What this thread measured, which began so long after its intended start.
    pub(crate) fn measured(self, start_late_ns: u64) -> Part {
        let after = sys::process::thread_resources();
        let before = self.before.unwrap_or(after);
        let stopped = self.stopped();
        let mut part = self.tally.part;
        part.start_late_ns = start_late_ns;
        part.elapsed_ns = (self.end_ns - self.zero_ns).max(0);
        let counts = &mut part.counts;
        counts.stopped = stopped;
        counts.stalls = self.quiet.stalls(self.zero_ns);
        counts.user_ns = after.user_ns - before.user_ns;
        counts.system_ns = after.system_ns - before.system_ns;
        if part.elapsed_ns > 0 {
            let busy_ns = counts.user_ns + counts.system_ns;
            counts.busy_share = busy_ns as f64 / part.elapsed_ns as f64;
        }
        part
    }

    /// When there is something to do next, if no event comes before.
    fn next_ns(&self) -> i64 {
        let mut next = self.end_ns.min(self.tally.interval_end_ns).min(self.next_check_ns);
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
        self.quiet.look(self.now_ns);
        let left_ns = until_ns.saturating_sub(self.now_ns).clamp(0, WAIT_NS_MAX);
        let left = Duration::from_nanos(left_ns as u64);
        let mut events = [epoll_event { events: 0, u64: 0 }; EVENTS_MAX];
        // A request that is due within a millisecond is not to wait for its end.
        let count = match wait_precisely(self.epoll.as_fd(), &mut events, left) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            Err(error) => return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        };
        if count > 0 {
            self.now_ns = self.gate.clock.now_ns();
        }
        self.quiet.look(self.now_ns);
        for event in &events[..count] {
            let (flags, data) = (EventFlags::from_bits_retain(event.events), event.u64);
            let (index, generation) = (data as u32, (data >> 32) as u32);
            // A connection that this batch has closed may have events in it.
            if self
                .connections
                .get(index as usize)
                .is_some_and(|connection| connection.generation == generation)
            {
                self.ready(index, flags);
            }
        }
        Ok(())
    }

    fn time_out(&mut self, index: u32) {
        let connection = &self.connections[index as usize];
        if let Some(part) = connection.reply.part() {
            self.tally.part.counts.misfit.get_or_insert(Misfit::endless(part));
        }
        if let Some(request) = connection.in_flight.front().filter(|_| connection.was_served()) {
            self.quiet.give_up(request.sent_ns);
        }
        self.fail(index, Kind::Timeout);
    }

    /// Fails the requests that have waited for too long. Checking all a few times within a time-out costs
    /// less than a timer for each request, and is late by a few per cent at most.
    fn check_timeouts(&mut self) {
        if self.now_ns < self.next_check_ns {
            return;
        }
        self.next_check_ns = self.now_ns + (self.timeout_ns / 32).max(LATE_NS);
        for index in 0..self.connections.len() as u32 {
            if let Some(since_ns) = self.connections[index as usize].waits_since_ns()
                && self.now_ns - since_ns >= self.timeout_ns
            {
                self.time_out(index);
            }
        }
    }
}
