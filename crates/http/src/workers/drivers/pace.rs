//! What a worker does at times: pause accepting, check limits, end a drain.

use std::time::Duration;

use crate::Limits;
use crate::workers::context::Context;

/// How long accepting pauses after descriptors ran out, unless one becomes free before.
const PAUSE_MS: u64 = 100;

/// How long lines of the log may wait.
const LOG_MS: u64 = 1_000;

/// Descriptors that are reserved for files, at most.
const FILES_MAX: u64 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Accepting {
    Yes,
    /// Not until one closes: there are as many as the limit allows.
    Full,
    /// Not until one closes or this time comes (ms): descriptors ran out.
    Paused(u64),
    /// Not any more.
    Ended,
}

/// When a worker accepts, when it checks limits, and when it ends a drain.
pub(crate) struct Pace {
    pub limits: Limits,
    /// Connections that leave a few descriptors for files.
    descriptors: usize,
    accepting: Accepting,
    check_every_ms: u64,
    next_check_ms: u64,
    /// When a drain cuts off the connections that are still open.
    end_ms: Option<u64>,
}

impl Pace {
    pub(crate) fn new(limits: Limits) -> Pace {
        let shortest = [limits.header, limits.idle, limits.lifetime, limits.stalled]
            .into_iter()
            .min()
            .unwrap_or(Duration::MAX);
        let check_every_ms = (shortest.as_millis() / 4).clamp(10, 1_000) as u64;
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let descriptors = limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit - FILES_MAX.min(limit / 4)).unwrap_or(usize::MAX)
        });
        Pace {
            limits,
            descriptors,
            accepting: Accepting::Yes,
            check_every_ms,
            next_check_ms: 0,
            end_ms: None,
        }
    }

    /// How many connections there may be.
    pub(crate) fn capacity(&self) -> usize {
        self.limits.connections.min(self.descriptors)
    }

    /// Whether another connection may be accepted while `open` are open. If not, accepting stops, and the
    /// caller stops watching the listener.
    pub(crate) fn admits(&mut self, open: usize, context: &Context) -> bool {
        if open >= self.limits.connections {
            self.accepting = Accepting::Full;
            return false;
        }
        if open >= self.descriptors {
            self.exhausted(context);
            return false;
        }
        true
    }

    /// Descriptors ran out: the caller stops watching the listener.
    pub(crate) fn exhausted(&mut self, context: &Context) {
        self.accepting = Accepting::Paused(context.now_ms + PAUSE_MS);
        context.counts.pauses.add(1);
    }

    pub(crate) fn is_accepting(&self) -> bool {
        self.accepting == Accepting::Yes
    }

    /// Whether accepting resumes, because a connection closed or the pause is over. If so, the caller
    /// watches the listener.
    pub(crate) fn resumes(&mut self, closed: bool, context: &Context) -> bool {
        let resumes = match self.accepting {
            Accepting::Yes | Accepting::Ended => false,
            Accepting::Full => closed,
            Accepting::Paused(until_ms) => closed || context.now_ms >= until_ms,
        };
        if resumes {
            self.accepting = Accepting::Yes;
        }
        resumes
    }

    /// Ends accepting, and sets the end of the drain.
    pub(crate) fn drain(&mut self, context: &Context) {
        self.accepting = Accepting::Ended;
        self.end_ms = Some(context.now_ms.saturating_add(self.limits.drain.as_millis() as u64));
    }

    /// Whether it is time to check the limits of every connection.
    #[inline]
    pub(crate) fn is_check_due(&mut self, context: &Context) -> bool {
        let due = context.now_ms >= self.next_check_ms;
        if due {
            self.next_check_ms = context.now_ms + self.check_every_ms;
        }
        due
    }

    pub(crate) fn is_drain_over(&self, context: &Context) -> bool {
        self.end_ms.is_some_and(|end_ms| context.now_ms >= end_ms)
    }

    /// How long a wait may be while `open` connections are open; none is for ever.
    #[inline]
    pub(crate) fn wait_max(&self, open: usize, context: &Context) -> Option<Duration> {
        let check = if open > 0 { self.next_check_ms } else { u64::MAX };
        let pause =
            if let Accepting::Paused(until_ms) = self.accepting { until_ms } else { u64::MAX };
        let log = if context.has_log_lines() { context.now_ms + LOG_MS } else { u64::MAX };
        let next_ms = check.min(pause).min(log).min(self.end_ms.unwrap_or(u64::MAX));
        let left_ms = next_ms.saturating_sub(context.now_ms);
        // Zero would not wait at all, and what is due was done in this turn.
        (next_ms < u64::MAX).then(|| Duration::from_millis(left_ms.max(1)))
    }
}
