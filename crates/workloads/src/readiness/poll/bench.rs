//! The loop that is timed: write, wait, dispatch; and the count that every event has to match.

use crate::readiness::mechanisms::took_part;
use crate::readiness::objects::{BATCHES, Objects, Slot, Timed};
use engine::{Fact, Failure, Probe, Stopwatch};
use readiness::{Event, Interest, Readiness, Token, Trigger};
use rustix::io::{Errno, read, write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// Loopback TCP may hand a byte over a moment after the write: a wait that found nothing is followed
/// by one of this length, and only then is the event lost.
const PATIENCE: Duration = Duration::from_secs(1);

/// The token of all that is parked: it has no slot, so that an event of it fails the cell.
const PARKED: Token = Token(u64::MAX);

/// Makes `mechanism` watch ends that are closed here next and stay open elsewhere.
pub(super) fn add_detached(
    mechanism: &mut dyn Readiness,
    ends: &[OwnedFd],
    timing: &mut Timed<'_>,
) -> Result<(), Failure> {
    let mut add = || {
        for end in ends {
            mechanism
                .add(end.as_fd(), PARKED, Interest::Readable)
                .map_err(|error| Failure::call("adding a descriptor", error))?;
        }
        Ok(())
    };
    match timing {
        Some(probe) => probe.batch("add", ends.len() as u64, add)?,
        None => add()?,
    }
    for end in ends {
        mechanism
            .detach(end.as_fd())
            .map_err(|error| Failure::call("keeping a file without its descriptor", error))?;
    }
    Ok(())
}

/// One mechanism over all that it watches.
pub(super) struct Bench<'a> {
    mechanism: Box<dyn Readiness>,
    trigger: Trigger,
    objects: &'a Objects,
    /// The ends to write to.
    peers: Vec<&'a OwnedFd>,
    active: &'a [Slot],
    message: &'static [u8],
    timeout: Option<Duration>,
    events: Vec<Event>,
    /// Events by slot since the last check.
    seen: Vec<u64>,
    /// Waits that found nothing although something had been written.
    late: u64,
    waits: u64,
    turns: u64,
}

impl<'a> Bench<'a> {
    pub fn new(
        mechanism: Box<dyn Readiness>,
        trigger: Trigger,
        objects: &'a Objects,
        active: &'a [Slot],
        timeout: Option<Duration>,
    ) -> Result<Bench<'a>, Failure> {
        let count = objects.watched.len();
        let peers: Result<Vec<_>, _> = active.iter().map(|&index| objects.peer(index)).collect();
        Ok(Bench {
            mechanism,
            trigger,
            objects,
            peers: peers?,
            active,
            message: objects.object.message(),
            timeout,
            events: Vec::with_capacity(count),
            seen: vec![0; count],
            late: 0,
            waits: 0,
            turns: 0,
        })
    }

    /// Watches everything that is open here. A last wait takes what was held back, so that it is paid before the loop.
    pub fn add_all(&mut self, probe: &mut Probe) -> Result<(), Failure> {
        let watched = &self.objects.watched;
        let chunk = watched.len().div_ceil(BATCHES);
        for (batch, some) in watched.chunks(chunk).enumerate() {
            let mechanism = &mut self.mechanism;
            probe.batch("add", some.len() as u64, || {
                for (k, end) in some.iter().enumerate() {
                    let token = Token((batch * chunk + k) as u64);
                    mechanism
                        .add(end.as_fd(), token, Interest::Readable)
                        .map_err(|error| Failure::call("adding a descriptor", error))?;
                }
                Ok(())
            })?;
        }
        self.nothing_left()
    }

    pub fn measure_loop(&mut self, probe: &mut Probe) -> Result<(), Failure> {
        probe.steady("loop", self, Bench::turn, Bench::check)?;
        if self.waits > self.turns {
            let each = self.waits as f64 / self.turns.max(1) as f64;
            probe.fact("waits per loop", Fact::rounded(each, 1));
        }
        self.nothing_left()
    }

    pub fn measure_wait(&mut self, probe: &mut Probe) -> Result<(), Failure> {
        let mut turns = 0;
        probe.part("wait", self, |bench, watch| {
            turns += 1;
            bench.turn_with(Some(watch))
        })?;
        self.check(turns)?;
        if self.late > 0 {
            probe.fact("waits that came before the data", self.late);
        }
        self.nothing_left()
    }

    pub fn remove_all(&mut self, probe: &mut Probe) -> Result<(), Failure> {
        let watched = &self.objects.watched;
        for some in watched.chunks(watched.len().div_ceil(BATCHES)) {
            let mechanism = &mut self.mechanism;
            probe.batch("remove", some.len() as u64, || {
                for end in some {
                    mechanism
                        .remove(end.as_fd())
                        .map_err(|error| Failure::call("removing a descriptor", error))?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// One operation.
    fn turn(&mut self) -> Result<(), Failure> {
        self.turn_with(None)
    }

    #[inline]
    fn turn_with(&mut self, mut watch: Option<&mut Stopwatch>) -> Result<(), Failure> {
        for peer in &self.peers {
            match write(peer, self.message) {
                Ok(count) if count == self.message.len() => {}
                Ok(_) => return Err(Failure::new("a write was short")),
                Err(error) => return Err(Failure::call("writing", error)),
            }
        }
        let (mut missing, mut timeout) = (self.active.len(), self.timeout);
        while missing > 0 {
            if let Some(watch) = &mut watch {
                watch.start();
            }
            let waited = self.mechanism.wait(&mut self.events, timeout);
            self.waits += 1;
            if let Some(watch) = &mut watch {
                watch.stop();
            }
            waited.map_err(|error| Failure::call("waiting", error))?;
            if self.events.is_empty() {
                timeout = self.patience(timeout, missing)?;
                continue;
            }
            if self.events.len() > missing {
                return Err(Failure::new("an event was delivered twice, or without a cause"));
            }
            missing -= self.events.len();
            for event in &self.events {
                let count = &mut self.seen;
                handle(event, self.objects, self.trigger, count, &mut *self.mechanism)?;
            }
        }
        Ok(())
    }

    /// After a wait that found nothing: how long to wait next.
    #[cold]
    fn patience(
        &mut self,
        timeout: Option<Duration>,
        missing: usize,
    ) -> Result<Option<Duration>, Failure> {
        if timeout == Some(PATIENCE) {
            let active = self.active.len();
            return Err(Failure::new(format!("{missing} of {active} events were lost")));
        }
        self.late += 1;
        Ok(Some(PATIENCE))
    }

    /// Every active descriptor has had one event a turn, and no other has had any.
    fn check(&mut self, turns: u64) -> Result<(), Failure> {
        let wrong = self.active.iter().find(|&&index| self.seen[index] != turns);
        if let Some(&index) = wrong {
            let seen = self.seen[index];
            return Err(Failure::new(format!(
                "descriptor {index} was made ready {turns} times and reported {seen} times"
            )));
        }
        let all: u64 = self.seen.iter().sum();
        if all != turns * self.active.len() as u64 {
            return Err(Failure::new("a descriptor that was never made ready was reported"));
        }
        self.seen.fill(0);
        self.turns += turns;
        took_part(&*self.mechanism)
    }

    /// Nothing is ready any more.
    fn nothing_left(&mut self) -> Result<(), Failure> {
        self.mechanism
            .wait(&mut self.events, Some(Duration::ZERO))
            .map_err(|error| Failure::call("waiting", error))?;
        match self.events.first() {
            None => Ok(()),
            Some(event) => Err(Failure::new(format!("an event without a cause: {event:?}"))),
        }
    }
}

/// The handler of one event: reads the message, and does what the trigger obliges to.
#[inline]
fn handle(
    event: &Event,
    objects: &Objects,
    trigger: Trigger,
    seen: &mut [u64],
    mechanism: &mut dyn Readiness,
) -> Result<(), Failure> {
    let index = event.token.0 as usize;
    let Some(end) = objects.watched.get(index) else {
        return Err(Failure::new(format!("an event bears the token {index}, which has no bearer")));
    };
    let message = objects.object.message();
    let mut buffer = [0; 8];
    match read(end, &mut buffer[..message.len()]) {
        Ok(count) if count == message.len() => seen[index] += 1,
        Ok(count) => return Err(Failure::new(format!("a read gave {count} bytes"))),
        Err(Errno::AGAIN) => return Err(Failure::new("an event came without its data")),
        Err(error) => return Err(Failure::call("reading", error)),
    }
    match trigger {
        Trigger::Level => Ok(()),
        Trigger::Edge => match read(end, &mut buffer[..message.len()]) {
            Err(Errno::AGAIN) => Ok(()),
            Ok(_) => Err(Failure::new("there was more to read than was written")),
            Err(error) => Err(Failure::call("reading", error)),
        },
        Trigger::Oneshot => mechanism
            .modify(end.as_fd(), event.token, Interest::Readable)
            .map_err(|error| Failure::call("arming a descriptor again", error)),
    }
}
