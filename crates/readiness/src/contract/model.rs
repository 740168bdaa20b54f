//! The plain model of one watched descriptor: which event may come, and which has to.

use crate::{Event, Interest, Mechanism, Token, Trigger};

/// More arrivals than any one cause makes: a peer that reads frees many buffers.
const MANY: u32 = 1_000;

#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub struct Watch {
    pub token: Token,
    interest: Interest,
    trigger: Trigger,
    queued: bool,
    /// Oneshot: whether it may tell.
    armed: bool,
    /// Arrivals that may still be reported.
    arrivals: u32,
    /// Whether data came, or a hang-up, that has not been reported.
    unreported_data: bool,
    /// Whether room came, or a hang-up, that has not been reported.
    unreported_writable: bool,
    /// Whether the row need not notice room, since the socket was full when it was added.
    misses_writable: bool,
}

impl Watch {
    /// One that was just added or modified, given what is ready then: that is an arrival.
    pub fn new(
        row: &Mechanism,
        token: Token,
        interest: Interest,
        readable: bool,
        writable: bool,
    ) -> Self {
        let unreported_data = readable && interest.is_readable();
        let unreported_writable = writable && interest.is_writable();
        Watch {
            token,
            interest,
            trigger: row.trigger,
            queued: row.queued,
            armed: true,
            arrivals: u32::from(unreported_data || unreported_writable),
            unreported_data,
            unreported_writable,
            misses_writable: !writable
                && row.limits.iter().any(|limit| limit.contains("full when it is added")),
        }
    }

    /// What a modified one keeps: nothing that was on its way comes under the new token.
    pub fn inherit(&mut self, before: &Watch) {
        self.misses_writable &= before.misses_writable;
    }

    pub fn data_came(&mut self) {
        if self.interest.is_readable() {
            self.arrivals += 1;
            self.unreported_data = true;
        }
    }

    pub fn set_writable(&mut self) {
        if self.interest.is_writable() {
            self.arrivals += MANY;
            self.unreported_writable = !self.misses_writable;
        }
    }

    /// A write has failed for lack of room.
    pub fn filled(&mut self) {
        self.misses_writable = false;
    }

    /// A hang-up is reported in one event or in two: the socket's, and that of the data it lost.
    pub fn hung_up(&mut self) {
        self.arrivals += 2;
        self.unreported_data |= self.interest.is_readable();
        self.unreported_writable |= self.interest.is_writable();
    }

    /// The queue was seen empty: what has not been reported by now was reported together with others.
    pub fn settle(&mut self) {
        if self.trigger == Trigger::Edge {
            self.arrivals = 0;
        }
    }

    /// Whether an event has to come.
    pub fn owes(&self, readable: bool, writable: bool) -> bool {
        let data = readable && self.interest.is_readable();
        let has_space = writable && self.interest.is_writable();
        match self.trigger {
            Trigger::Level | Trigger::Edge => {
                data && self.unreported_data || has_space && self.unreported_writable
            }
            Trigger::Oneshot => self.armed && (data || has_space),
        }
    }

    /// Judges an event, given what is ready now, and notes it.
    pub fn judge(
        &mut self,
        event: &Event,
        readable: bool,
        writable: bool,
        hung_up: bool,
    ) -> Result<(), &'static str> {
        let data = event.readable && self.interest.is_readable();
        let has_space = event.writable && self.interest.is_writable();
        if !(data || has_space || event.hangup) {
            return Err("tells nothing that was asked for");
        }
        if !self.queued {
            let stray = event.readable && !readable || event.writable && !writable;
            if stray || !(data && readable || has_space && writable || hung_up) {
                return Err("is not ready");
            }
        }
        let unasked = event.readable && !self.interest.is_readable()
            || event.writable && !self.interest.is_writable();
        if unasked && !hung_up {
            return Err("was not asked for");
        }
        match self.trigger {
            Trigger::Level => {}
            Trigger::Edge if self.arrivals == 0 => return Err("nothing has come"),
            Trigger::Edge if self.queued => self.arrivals -= 1,
            Trigger::Edge => self.arrivals = 0,
            Trigger::Oneshot if !self.armed => return Err("is not armed"),
            Trigger::Oneshot if self.arrivals == 0 => return Err("nothing has come"),
            Trigger::Oneshot => self.armed = false,
        }
        self.unreported_data &= !event.readable;
        self.unreported_writable &= !event.writable;
        Ok(())
    }

    /// Level: a wait has reported `reported`, which has to have all that is ready now, and will again.
    pub fn level_reported(&mut self, reported: &[Event], readable: bool, writable: bool) {
        let mine = || reported.iter().filter(|event| event.token == self.token);
        let data = mine().any(|event| event.readable);
        let has_space = mine().any(|event| event.writable);
        self.unreported_data = readable && !data;
        self.unreported_writable = writable && !has_space;
    }
}
