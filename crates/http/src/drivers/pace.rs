//! What drivers do at their own pace: pausing to accept, looking after limits, ending in time.

use std::time::Duration;

use crate::Limits;
use crate::workers::Desk;

/// How long accepting pauses where descriptors ran out, unless one comes free before.
const PAUSE_MS: u64 = 100;

/// How long lines of the log wait to be written.
const LOG_MS: u64 = 1_000;

/// The most descriptors that are kept back from connections, for files.
const RESERVE: u64 = 32;

/// Whether a worker accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    Open,
    /// There are as many connections as there may be: until one closes.
    Full,
    /// Descriptors ran out: until one closes, or until then.
    Paused(u64),
    /// For good.
    Shut,
}

/// When a worker does what it does now and then.
pub(crate) struct Pace {
    pub limits: Limits,
    /// Connections that leave a few descriptors for files.
    room: usize,
    door: Door,
    look_every_ms: u64,
    next_look_ms: u64,
    /// When what is still open is cut off.
    end_ms: Option<u64>,
}

impl Pace {
    pub(crate) fn new(limits: Limits) -> Pace {
        let shortest = [limits.header, limits.idle, limits.lifetime, limits.stalled]
            .into_iter()
            .min()
            .unwrap_or(Duration::MAX);
        let look_every_ms = (shortest.as_millis() / 4).clamp(10, 1_000) as u64;
        let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let room = descriptors.map_or(usize::MAX, |limit| {
            usize::try_from(limit - RESERVE.min(limit / 4)).unwrap_or(usize::MAX)
        });
        Pace { limits, room, door: Door::Open, look_every_ms, next_look_ms: 0, end_ms: None }
    }

    /// How many connections there may be, for buffers.
    pub(crate) fn capacity(&self) -> usize {
        self.limits.connections.min(self.room)
    }

    /// Whether another connection may be accepted, beside those that are open. If not, the door is
    /// closed, and the caller stops watching the listener.
    pub(crate) fn admits(&mut self, open: usize, desk: &Desk) -> bool {
        if open >= self.limits.connections {
            self.door = Door::Full;
            return false;
        }
        if open >= self.room {
            self.exhausted(desk);
            return false;
        }
        true
    }

    /// Descriptors ran out: the caller stops watching the listener.
    pub(crate) fn exhausted(&mut self, desk: &Desk) {
        self.door = Door::Paused(desk.now_ms + PAUSE_MS);
        desk.counts.paused();
    }

    /// Whether the listener is watched.
    pub(crate) fn is_open(&self) -> bool {
        self.door == Door::Open
    }

    /// Whether accepting is to begin again, since one `closed` or time has passed; then the caller
    /// watches the listener.
    pub(crate) fn reopens(&mut self, closed: bool, desk: &Desk) -> bool {
        let reopens = match self.door {
            Door::Open | Door::Shut => false,
            Door::Full => closed,
            Door::Paused(until_ms) => closed || desk.now_ms >= until_ms,
        };
        if reopens {
            self.door = Door::Open;
        }
        reopens
    }

    /// Accepts no more, and ends in time.
    pub(crate) fn drain(&mut self, desk: &Desk) {
        self.door = Door::Shut;
        self.end_ms = Some(desk.now_ms.saturating_add(self.limits.drain.as_millis() as u64));
    }

    /// Whether it is time to look at every connection.
    #[inline]
    pub(crate) fn looks(&mut self, desk: &Desk) -> bool {
        let due = desk.now_ms >= self.next_look_ms;
        if due {
            self.next_look_ms = desk.now_ms + self.look_every_ms;
        }
        due
    }

    /// Whether the time to end what was under way is up.
    pub(crate) fn is_over(&self, desk: &Desk) -> bool {
        self.end_ms.is_some_and(|end_ms| desk.now_ms >= end_ms)
    }

    /// How long a wait may be, with so many connections open.
    #[inline]
    pub(crate) fn patience(&self, open: usize, desk: &Desk) -> Option<Duration> {
        let look = if open > 0 { self.next_look_ms } else { u64::MAX };
        let pause = if let Door::Paused(until_ms) = self.door { until_ms } else { u64::MAX };
        let log = if desk.has_lines() { desk.now_ms + LOG_MS } else { u64::MAX };
        let next_ms = look.min(pause).min(log).min(self.end_ms.unwrap_or(u64::MAX));
        let left_ms = next_ms.saturating_sub(desk.now_ms);
        // Zero would not wait at all, and a moment that is due was seen to in this turn.
        (next_ms < u64::MAX).then(|| Duration::from_millis(left_ms.max(1)))
    }
}
