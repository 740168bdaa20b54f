//! The plain model of one watched descriptor: which event may come, and which has to.

use readiness::{Event, Interest, Mechanism, Token, Trigger};

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
    /// Arrivals that may still be told.
    arrivals: u32,
    /// Whether data came, or a hang-up, that has not been told.
    data_untold: bool,
    /// Whether room came, or a hang-up, that has not been told.
    room_untold: bool,
    /// Whether the row need not notice room, since the socket was full when it was added.
    deaf_to_room: bool,
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
        let data_untold = readable && interest.is_readable();
        let room_untold = writable && interest.is_writable();
        Watch {
            token,
            interest,
            trigger: row.trigger,
            queued: row.queued,
            armed: true,
            arrivals: u32::from(data_untold || room_untold),
            data_untold,
            room_untold,
            deaf_to_room: !writable
                && row.limits.iter().any(|limit| limit.contains("full when it is added")),
        }
    }

    /// What a modified one keeps: nothing that was on its way comes under the new token.
    pub fn inherit(&mut self, before: &Watch) {
        self.deaf_to_room &= before.deaf_to_room;
    }

    pub fn data_came(&mut self) {
        if self.interest.is_readable() {
            self.arrivals += 1;
            self.data_untold = true;
        }
    }

    pub fn room_came(&mut self) {
        if self.interest.is_writable() {
            self.arrivals += MANY;
            self.room_untold = !self.deaf_to_room;
        }
    }

    /// A write has failed for lack of room.
    pub fn filled(&mut self) {
        self.deaf_to_room = false;
    }

    /// A hang-up is told in one event or in two: the socket's, and that of the data it lost.
    pub fn hung_up(&mut self) {
        self.arrivals += 2;
        self.data_untold |= self.interest.is_readable();
        self.room_untold |= self.interest.is_writable();
    }

    /// The queue was seen empty: what has not been told by now was told together with others.
    pub fn settle(&mut self) {
        if self.trigger == Trigger::Edge {
            self.arrivals = 0;
        }
    }

    /// Whether an event has to come.
    pub fn owes(&self, readable: bool, writable: bool) -> bool {
        let data = readable && self.interest.is_readable();
        let room = writable && self.interest.is_writable();
        match self.trigger {
            Trigger::Level | Trigger::Edge => data && self.data_untold || room && self.room_untold,
            Trigger::Oneshot => self.armed && (data || room),
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
        let room = event.writable && self.interest.is_writable();
        if !(data || room || event.hangup) {
            return Err("tells nothing that was asked for");
        }
        if !self.queued {
            let stray = event.readable && !readable || event.writable && !writable;
            if stray || !(data && readable || room && writable || hung_up) {
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
        self.data_untold &= !event.readable;
        self.room_untold &= !event.writable;
        Ok(())
    }

    /// Level: a wait has told `told`, which has to have all that is ready now, and will again.
    pub fn level_told(&mut self, told: &[Event], readable: bool, writable: bool) {
        let mine = || told.iter().filter(|event| event.token == self.token);
        let data = mine().any(|event| event.readable);
        let room = mine().any(|event| event.writable);
        self.data_untold = readable && !data;
        self.room_untold = writable && !room;
    }
}
