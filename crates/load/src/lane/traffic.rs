//! Requests out, replies in.

use super::conn::Stage;
use super::{LATE_NS, Lane, Mode, Phase};
use crate::outcome::Kind;
use crate::reply::Step;
use crate::schedule::Schedule;
use crate::tally::Flight;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::cmp::Reverse;

impl Lane<'_> {
    /// Sends what the schedule says is due, as far as there are connections for it.
    pub(super) fn send_due(&mut self) {
        while let Some(due_ns) = self.schedule.as_ref().and_then(Schedule::peek) {
            let due_ns = due_ns + self.zero_ns;
            if due_ns > self.now_ns {
                return;
            }
            let Some(index) = self.take_free() else {
                self.starved_ns = self.now_ns;
                return;
            };
            if due_ns >= self.zero_ns {
                self.judge(due_ns);
            }
            if self.mode == Mode::Sessions {
                self.conns[index as usize].session_ns = due_ns;
                self.connect(index);
            } else {
                self.send(index, 1, due_ns);
                self.list(index);
            }
            if let Some(schedule) = &mut self.schedule {
                schedule.advance();
            }
            self.now_ns = self.watch.now_ns();
        }
    }

    /// Tells what waited for a connection from what the generator itself is late with.
    fn judge(&mut self, due_ns: i64) {
        let late_ns = self.now_ns - due_ns;
        if due_ns <= self.starved_ns {
            self.tally.waited += 1;
        } else if late_ns > LATE_NS {
            self.tally.late += 1;
            self.tally.late_max_ns = self.tally.late_max_ns.max(late_ns);
        }
    }

    /// The connection that has been free for longest.
    fn take_free(&mut self) -> Option<u32> {
        while let Some(index) = self.free.pop_front() {
            let conn = &mut self.conns[index as usize];
            conn.listed = false;
            if self.mode == Mode::Sessions || self.has_room(index) {
                return Some(index);
            }
        }
        None
    }

    fn has_room(&self, index: u32) -> bool {
        let conn = &self.conns[index as usize];
        conn.stage == Stage::Open && conn.flights.len() < self.plan.pipeline && conn.calls_left > 0
    }

    fn list(&mut self, index: u32) {
        if !self.conns[index as usize].listed && self.has_room(index) {
            self.conns[index as usize].listed = true;
            self.free.push_back(index);
        }
    }

    /// Sends `count` requests that were intended for `intended_ns`.
    #[inline]
    fn send(&mut self, index: u32, count: usize, intended_ns: i64) {
        let conn = &mut self.conns[index as usize];
        let flight = Flight { intended_ns, sent_ns: self.now_ns };
        for _ in 0..count {
            conn.flights.push_back(flight);
            self.tally.sent(&flight);
        }
        self.under_way += count;
        conn.calls_left -= count as u64;
        let waiting = conn.unsent_bytes > 0;
        conn.unsent_bytes += count * self.request_bytes;
        if !waiting {
            self.flush(index);
        }
    }

    /// Hands the socket what it has not taken yet.
    #[inline]
    fn flush(&mut self, index: u32) {
        let conn = &mut self.conns[index as usize];
        let Some(socket) = &conn.socket else { return };
        // All requests are the same: what is left ends where the row of them ends.
        let rest = &self.requests[self.requests.len() - conn.unsent_bytes..];
        match send(socket, rest, SendFlags::NOSIGNAL) {
            Ok(taken) => conn.unsent_bytes -= taken,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => self.fail_because(index, error),
        }
    }

    /// A socket has events.
    #[inline]
    pub(super) fn ready(&mut self, index: u32, flags: EventFlags) {
        let conn = &self.conns[index as usize];
        match conn.stage {
            Stage::Closed => {}
            Stage::Connecting => self.connected(index, flags),
            Stage::Open => {
                let life = conn.life;
                if conn.unsent_bytes > 0 && flags.contains(EventFlags::OUT) {
                    self.flush(index);
                }
                let ends = EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
                let comes = flags.intersects(EventFlags::IN | ends);
                if comes && self.conns[index as usize].life == life {
                    self.receive(index, flags.intersects(ends));
                }
            }
        }
    }

    /// Takes what has come in. One `recv` is enough where it does not fill the buffer and nothing
    /// says that the end has come, too.
    fn receive(&mut self, index: u32, ends: bool) {
        loop {
            let conn = &mut self.conns[index as usize];
            let Some(socket) = &conn.socket else { return };
            let received = match recv(socket, &mut self.buffer[..], RecvFlags::empty()) {
                Ok((_, 0)) => return self.peer_closed(index),
                Ok((received, _)) => received,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(error) => return self.fail_because(index, error),
            };
            self.now_ns = self.watch.now_ns();
            match self.take(index, received) {
                Ok(true) => {}
                Ok(false) => return self.finish(index),
                Err(()) => return self.fail(index, Kind::Malformed),
            }
            if received < self.buffer.len() && !ends {
                break;
            }
        }
        self.settle(index);
    }

    /// Takes the replies from what was received: whether the connection goes on after them.
    #[inline]
    fn take(&mut self, index: u32, received: usize) -> Result<bool, ()> {
        let conn = &mut self.conns[index as usize];
        let mut rest = &self.buffer[..received];
        while !rest.is_empty() {
            if conn.flights.is_empty() {
                // Nobody asked for this.
                return Err(());
            }
            match conn.reply.feed(rest, &mut self.heads) {
                Step::More => break,
                Step::Malformed => return Err(()),
                Step::Whole(whole) => {
                    rest = &rest[whole.used..];
                    let Some(flight) = conn.flights.pop_front() else { return Err(()) };
                    self.under_way -= 1;
                    self.progress_ns = self.now_ns;
                    (conn.replied, conn.failures) = (true, 0);
                    self.tally.roll(self.now_ns, self.under_way);
                    self.tally.reply(&flight, &whole, self.now_ns);
                    if !whole.keep {
                        return Ok(false);
                    }
                    if conn.unsent_bytes > conn.flights.len() * self.request_bytes {
                        // A reply to what has not been sent.
                        return Err(());
                    }
                }
            }
        }
        Ok(true)
    }

    /// The last reply of this connection has come; what was asked for after it is lost.
    fn finish(&mut self, index: u32) {
        if !self.conns[index as usize].flights.is_empty() {
            return self.fail(index, Kind::Short);
        }
        self.close(index);
        self.again(index, 0);
    }

    /// The peer has closed the connection: this may be the end of a reply.
    fn peer_closed(&mut self, index: u32) {
        self.now_ns = self.watch.now_ns();
        let conn = &mut self.conns[index as usize];
        if let Some(whole) = conn.reply.end()
            && let Some(flight) = conn.flights.pop_front()
        {
            self.under_way -= 1;
            self.progress_ns = self.now_ns;
            (conn.replied, conn.failures) = (true, 0);
            self.tally.roll(self.now_ns, self.under_way);
            self.tally.reply(&flight, &whole, self.now_ns);
            return self.finish(index);
        }
        // It may close what is not in use; but one that never served is not tried at once again.
        if conn.flights.is_empty() && conn.replied {
            return self.finish(index);
        }
        self.fail(index, Kind::Short);
    }

    /// Goes on with a connection that may have room for requests.
    #[inline]
    pub(super) fn settle(&mut self, index: u32) {
        if self.phase != Phase::Going {
            return;
        }
        let conn = &self.conns[index as usize];
        if conn.stage != Stage::Open {
            return;
        }
        if conn.calls_left == 0 && conn.flights.is_empty() {
            return self.finish(index);
        }
        match self.mode {
            Mode::Open => {
                // Whatever is due by now and unsent has waited for this one.
                if self.free.is_empty() {
                    self.starved_ns = self.now_ns;
                }
                self.list(index);
            }
            Mode::Sessions if !conn.replied && conn.flights.is_empty() => self.send_first(index),
            _ if self.think_ns > 0 && conn.replied => {
                if conn.flights.is_empty() && !conn.thinking {
                    self.timers.push(Reverse((self.now_ns + self.think_ns, index, conn.life)));
                    self.conns[index as usize].thinking = true;
                }
            }
            _ => self.fill(index),
        }
    }

    /// Sends the first request of a session, which was intended for the session's time.
    pub(super) fn send_first(&mut self, index: u32) {
        let intended_ns = self.conns[index as usize].session_ns;
        self.send(index, 1, intended_ns);
    }

    /// In a closed loop: sends as many requests as may be under way.
    pub(super) fn fill(&mut self, index: u32) {
        let conn = &self.conns[index as usize];
        let room = (self.plan.pipeline - conn.flights.len()) as u64;
        // What warms up is not of the number that was asked for.
        let counts = self.now_ns >= self.zero_ns && self.budget != u64::MAX;
        let left = if counts { self.budget } else { u64::MAX };
        let count = room.min(conn.calls_left).min(left);
        if count > 0 && self.phase == Phase::Going {
            if counts {
                self.budget -= count;
            }
            self.send(index, count as usize, self.now_ns);
        }
    }
}
