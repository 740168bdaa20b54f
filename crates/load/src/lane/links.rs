//! Connections that are made, lost, and made again.

use super::conn::Stage;
use super::{Lane, Mode, Phase};
use crate::connect;
use crate::outcome::Kind;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::sockopt;
use std::cmp::Reverse;

/// The pause after the first failure of a connection; it doubles with each.
const PAUSE_NS: i64 = 1_000_000;
/// The longest such pause is the shortest, doubled so often: half a second.
const DOUBLED_MAX: u32 = 9;

impl Lane<'_> {
    /// Begins to connect.
    pub(super) fn connect(&mut self, index: u32) {
        let sources = &self.plan.sources;
        let turn = self.begun * self.plan.threads + self.number;
        let from = (!sources.is_empty()).then(|| sources[turn % sources.len()]);
        self.begun += 1;
        self.now_ns = self.watch.now_ns();
        let conn = &mut self.conns[index as usize];
        conn.life = conn.life.wrapping_add(1);
        conn.began_ns = self.now_ns;
        let data = u64::from(conn.life) << 32 | u64::from(index);
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        let begun = connect::begin(self.plan.target.address, from).and_then(|socket| {
            epoll::add(&self.epoll, &socket, EventData::new_u64(data), flags)?;
            Ok(socket)
        });
        match begun {
            Ok(socket) => {
                conn.socket = Some(socket);
                conn.stage = Stage::Connecting;
                self.connecting += 1;
            }
            Err(error) => self.fail_because(index, error),
        }
    }

    /// The socket is connected, or can't be.
    pub(super) fn connected(&mut self, index: u32, flags: EventFlags) {
        let conn = &mut self.conns[index as usize];
        if flags.intersects(EventFlags::ERR | EventFlags::HUP) {
            let said = conn.socket.as_ref().map(sockopt::socket_error);
            let error = match said {
                Some(Ok(Err(error)) | Err(error)) => error,
                _ => Errno::CONNRESET,
            };
            return self.fail_because(index, error);
        }
        if !flags.contains(EventFlags::OUT) {
            return;
        }
        let took_ns = (self.now_ns - conn.began_ns).max(1) as u64;
        conn.stage = Stage::Open;
        conn.calls_left = self.calls_max;
        (conn.replied, conn.thinking) = (false, false);
        self.connecting -= 1;
        self.progress_ns = self.now_ns;
        self.tally.connections += 1;
        self.tally.connect.saturating_record(took_ns);
        match self.phase {
            Phase::Opening => {}
            // A session that was due before the end has its first request sent.
            Phase::Draining if self.mode == Mode::Sessions => self.send_first(index),
            Phase::Draining => self.close(index),
            Phase::Going => self.settle(index),
        }
    }

    pub(super) fn fail_because(&mut self, index: u32, error: Errno) {
        let kind = connect::kind(error);
        if kind == Kind::Other {
            self.tally.other_error = Some(error.to_string());
        }
        self.fail(index, kind);
    }

    /// Something is wrong with the connection: it is closed, what was under way is lost, and it is
    /// made again after a pause.
    pub(super) fn fail(&mut self, index: u32, kind: Kind) {
        let conn = &mut self.conns[index as usize];
        if conn.flights.is_empty() {
            self.tally.failed(kind, self.now_ns);
        }
        if self.mode == Mode::Sessions && conn.stage != Stage::Open {
            // Its first request has waited as well, and in vain.
            self.tally.gave_up(conn.session_ns, self.now_ns);
        }
        self.under_way -= conn.flights.len();
        for flight in conn.flights.drain(..) {
            self.tally.lost(&flight, kind, self.now_ns);
        }
        conn.failures += 1;
        let doubled = (conn.failures - 1).min(DOUBLED_MAX);
        self.close(index);
        self.again(index, PAUSE_NS << doubled);
    }

    /// Closes the socket; nothing of it is under way.
    pub(super) fn close(&mut self, index: u32) {
        let conn = &mut self.conns[index as usize];
        if conn.stage == Stage::Connecting {
            self.connecting -= 1;
        }
        conn.socket = None;
        conn.stage = Stage::Closed;
        conn.life = conn.life.wrapping_add(1);
        conn.unsent_bytes = 0;
        conn.reply.clear();
    }

    /// Makes a connection again that was closed, `pause_ns` from now on. One of a session is free
    /// for the next session instead.
    pub(super) fn again(&mut self, index: u32, pause_ns: i64) {
        let conn = &mut self.conns[index as usize];
        if self.mode == Mode::Sessions {
            if !conn.listed {
                conn.listed = true;
                if self.free.is_empty() {
                    self.starved_ns = self.now_ns;
                }
                self.free.push_back(index);
            }
        } else if pause_ns > 0 {
            self.timers.push(Reverse((self.now_ns + pause_ns, index, conn.life)));
        } else if self.phase == Phase::Going && self.budget > 0 {
            self.connect(index);
        }
    }

    /// Does what was put off until now: connections that pause, and those that think.
    pub(super) fn ring_timers(&mut self) {
        let until_ns = self.now_ns;
        while let Some(&Reverse((at_ns, index, life))) = self.timers.peek() {
            if at_ns > until_ns {
                return;
            }
            self.timers.pop();
            // Of several that ring at once, each is sent a little later than the one before.
            self.now_ns = self.watch.now_ns();
            let conn = &mut self.conns[index as usize];
            if conn.life != life {
                continue;
            }
            conn.thinking = false;
            match conn.stage {
                Stage::Closed => self.connect(index),
                Stage::Open => self.fill(index),
                Stage::Connecting => {}
            }
        }
    }
}
