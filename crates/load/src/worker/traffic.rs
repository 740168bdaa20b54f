//! Requests out, replies in.

use super::connection::Stage;
use super::encrypted::Broken;
use super::tally::InFlight;
use super::{LATE_NS, LoadWorker, Mode, Phase};
use crate::http::reply::{Step, Whole};
use crate::results::counts::{Closings, Kind};
use crate::results::misfit::Misfit;
use crate::schedule::Schedule;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::cmp::Reverse;

impl LoadWorker<'_> {
    /// Sends the requests that are due, as far as there are connections for them.
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
                self.classify_delay(due_ns);
            }
            if self.mode == Mode::Sessions {
                self.connections[index as usize].session_ns = due_ns;
                self.connect(index);
            } else {
                self.send(index, 1, due_ns);
                self.mark_free(index);
            }
            if let Some(schedule) = &mut self.schedule {
                schedule.advance();
            }
            self.now_ns = self.gate.clock.now_ns();
        }
    }

    /// Counts a late request as one that waited for a connection, or as late by the generator's fault.
    fn classify_delay(&mut self, due_ns: i64) {
        let late_ns = self.now_ns - due_ns;
        if due_ns <= self.starved_ns {
            self.tally.part.counts.waited += 1;
        } else if late_ns > LATE_NS {
            self.tally.late(late_ns);
        }
    }

    /// The connection that has been free for longest.
    fn take_free(&mut self) -> Option<u32> {
        while let Some(index) = self.free.pop_front() {
            let connection = &mut self.connections[index as usize];
            connection.is_free = false;
            if self.mode == Mode::Sessions || self.has_capacity(index) {
                return Some(index);
            }
        }
        None
    }

    fn has_capacity(&self, index: u32) -> bool {
        let connection = &self.connections[index as usize];
        connection.stage == Stage::Open
            && connection.in_flight.len() < self.plan.pipeline
            && connection.calls_left > 0
    }

    fn mark_free(&mut self, index: u32) {
        if !self.connections[index as usize].is_free && self.has_capacity(index) {
            self.connections[index as usize].is_free = true;
            self.free.push_back(index);
        }
    }

    /// Sends `count` requests that were intended for `intended_ns`.
    #[inline]
    fn send(&mut self, index: u32, count: usize, intended_ns: i64) {
        let connection = &mut self.connections[index as usize];
        let request = InFlight { intended_ns, sent_ns: self.now_ns };
        for _ in 0..count {
            connection.in_flight.push_back(request);
            self.tally.sent(&request);
        }
        connection.asked_ns = self.now_ns;
        self.requests_in_flight += count;
        connection.calls_left -= count as u64;
        let waiting = connection.unsent_bytes > 0;
        connection.unsent_bytes += count * self.request_bytes;
        if !waiting {
            self.flush(index);
        }
    }

    /// Sends what the socket has not taken yet.
    #[inline]
    fn flush(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        let Some(socket) = &connection.socket else { return };
        if connection.tls.is_some() {
            return self.flush_encrypted(index);
        }
        // All requests are the same, so the rest ends where the row of them ends.
        let rest = &self.requests[self.requests.len() - connection.unsent_bytes..];
        match send(socket, rest, SendFlags::NOSIGNAL) {
            Ok(taken) => connection.unsent_bytes -= taken,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => self.fail_because(index, error),
        }
    }

    #[inline]
    pub(super) fn ready(&mut self, index: u32, flags: EventFlags) {
        let connection = &self.connections[index as usize];
        match connection.stage {
            Stage::Closed => {}
            Stage::Connecting => self.connected(index, flags),
            Stage::Handshaking | Stage::Open => {
                let generation = connection.generation;
                if connection.has_unsent() && flags.contains(EventFlags::OUT) {
                    self.flush(index);
                }
                let ends = EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
                let comes = flags.intersects(EventFlags::IN | ends);
                if comes && self.connections[index as usize].generation == generation {
                    self.receive(index, flags.intersects(ends));
                }
            }
        }
    }

    /// Receives. One `recv` is enough if it does not fill the buffer and the other side has not ended.
    fn receive(&mut self, index: u32, ends: bool) {
        let is_encrypted = self.plan.target.tls.is_some();
        loop {
            let connection = &mut self.connections[index as usize];
            let Some(socket) = &connection.socket else { return };
            let received = match recv(socket, &mut self.buffer[..], RecvFlags::empty()) {
                Ok((_, 0)) if is_encrypted => return self.cut_off(index),
                Ok((_, 0)) => return self.peer_closed(index),
                Ok((received, _)) => received,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(error) => return self.fail_because(index, error),
            };
            self.now_ns = self.gate.clock.now_ns();
            // Taken out, since replies change all else of this worker.
            let buffer = std::mem::take(&mut self.buffer);
            let taken = if is_encrypted {
                self.take_encrypted(index, &buffer[..received])
            } else {
                self.take(index, &buffer[..received])
            };
            self.buffer = buffer;
            match taken {
                Ok(true) => {}
                Ok(false) => return self.finish(index),
                Err(Broken::Tls(fault)) => return self.fail_handshake(index, fault),
                Err(Broken::Closed) => return,
                Err(Broken::Ended) => return self.peer_closed(index),
                Err(Broken::Misfit(misfit)) => {
                    self.tally.part.counts.misfit.get_or_insert(misfit);
                    return self.fail(index, Kind::Malformed);
                }
            }
            if received < self.buffer.len() && !ends {
                break;
            }
        }
        self.settle(index);
    }

    /// Parses the replies in what was received; returns whether the connection goes on after them.
    #[inline]
    pub(super) fn take(&mut self, index: u32, received: &[u8]) -> Result<bool, Broken> {
        let mut rest = received;
        while !rest.is_empty() {
            let connection = &mut self.connections[index as usize];
            if connection.in_flight.is_empty() {
                let is_first = connection.replies == 0;
                let misfit = if is_first { Misfit::of_start } else { Misfit::of_surplus };
                return Err(Broken::Misfit(misfit(rest)));
            }
            let misfit =
                if connection.reply.has_begun() { Misfit::within } else { Misfit::of_start };
            match connection.reply.feed(rest, &mut self.heads) {
                Step::More => break,
                Step::Malformed => return Err(Broken::Misfit(misfit(rest))),
                Step::Whole(whole) => {
                    rest = &rest[whole.used..];
                    self.replied(index, &whole);
                    if !whole.head.keeps() {
                        return Ok(false);
                    }
                    let connection = &self.connections[index as usize];
                    if connection.unsent_bytes > connection.in_flight.len() * self.request_bytes {
                        // A reply to what has not been sent.
                        return Err(Broken::Misfit(Misfit::of_surplus(rest)));
                    }
                }
            }
        }
        Ok(true)
    }

    /// The oldest request in flight has its whole reply.
    #[inline]
    fn replied(&mut self, index: u32, whole: &Whole) {
        let connection = &mut self.connections[index as usize];
        let Some(request) = connection.in_flight.pop_front() else { return };
        self.requests_in_flight -= 1;
        self.progress_ns = self.now_ns;
        (connection.replies, connection.failures) = (connection.replies + 1, 0);
        connection.rests_since_ns = self.now_ns;
        connection.served_ns = self.now_ns;
        self.quiet.end(request.sent_ns.max(self.zero_ns), self.now_ns);
        if !whole.head.keeps() && self.plan.keep_alive {
            self.tally.part.counts.closings += &Closings::new(connection.replies, &whole.head);
        }
        self.tally.roll(self.now_ns, self.requests_in_flight);
        let status = whole.head.status;
        self.tally.reply(&request, whole, self.plan.success.has(status), self.now_ns);
        let is_redirect = matches!(status, 301..=303 | 307 | 308);
        if is_redirect && self.tally.part.counts.redirects_to.is_none() {
            self.tally.part.counts.redirects_to = self.heads.location().map(str::to_owned);
        }
    }

    /// The last reply of this connection has come; requests after it are lost.
    pub(super) fn finish(&mut self, index: u32) {
        if !self.connections[index as usize].in_flight.is_empty() {
            return self.fail(index, Kind::Short);
        }
        self.close(index);
        self.reconnect(index, 0);
    }

    /// The peer has closed the connection, which may be the end of a reply.
    fn peer_closed(&mut self, index: u32) {
        self.now_ns = self.gate.clock.now_ns();
        let connection = &mut self.connections[index as usize];
        if !connection.in_flight.is_empty()
            && let Some(whole) = connection.reply.end()
        {
            self.replied(index, &whole);
            return self.finish(index);
        }
        self.server_ended(index, Kind::Short);
    }

    /// Uses a connection that may have capacity for requests.
    #[inline]
    pub(super) fn settle(&mut self, index: u32) {
        if self.phase != Phase::Going {
            return;
        }
        let connection = &self.connections[index as usize];
        if connection.stage != Stage::Open {
            return;
        }
        if connection.calls_left == 0 && connection.in_flight.is_empty() {
            return self.finish(index);
        }
        match self.mode {
            Mode::Open => {
                // Requests that are due by now and unsent have waited for this connection.
                if self.free.is_empty() {
                    self.starved_ns = self.now_ns;
                }
                self.mark_free(index);
            }
            Mode::Sessions if !connection.has_replied() && connection.in_flight.is_empty() => {
                self.send_first(index);
            }
            _ if self.think_ns > 0 && connection.has_replied() => {
                if connection.in_flight.is_empty() && !connection.thinking {
                    self.timers.push(Reverse((
                        self.now_ns + self.think_ns,
                        index,
                        connection.generation,
                    )));
                    self.connections[index as usize].thinking = true;
                }
            }
            _ => self.fill(index),
        }
    }

    /// Sends the first request of a session; its intended time is the session's.
    pub(super) fn send_first(&mut self, index: u32) {
        let intended_ns = self.connections[index as usize].session_ns;
        self.send(index, 1, intended_ns);
    }

    /// In a closed loop: sends as many requests as may be in flight.
    pub(super) fn fill(&mut self, index: u32) {
        let connection = &self.connections[index as usize];
        let capacity = (self.plan.pipeline - connection.in_flight.len()) as u64;
        // Warm-up requests don't count towards the number of the plan.
        let counts = self.now_ns >= self.zero_ns && self.budget != u64::MAX;
        let left = if counts { self.budget } else { u64::MAX };
        let count = capacity.min(connection.calls_left).min(left);
        if count > 0 && self.phase == Phase::Going {
            if counts {
                self.budget -= count;
            }
            self.send(index, count as usize, self.now_ns);
        }
    }
}
