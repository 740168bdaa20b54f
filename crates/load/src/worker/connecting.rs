//! Opening connections, closing them, and opening them again.

use super::connection::Stage;
use super::{LoadWorker, Mode, Phase};
use crate::connect;
use crate::plan::Plan;
use crate::results::counts::{IDLE_MS_MIN, Kind};
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use std::cmp::Reverse;

/// The pause after the first failure of a connection; it doubles with each.
const PAUSE_NS: i64 = 1_000_000;
/// How often it doubles at most: to half a second.
const DOUBLED_MAX: u32 = 9;

impl LoadWorker<'_> {
    pub(super) fn connect(&mut self, index: u32) {
        let turn = self.connects * self.plan.threads + self.number;
        self.connects += 1;
        self.now_ns = self.gate.clock.now_ns();
        let connection = &mut self.connections[index as usize];
        connection.generation = connection.generation.wrapping_add(1);
        connection.began_ns = self.now_ns;
        let data = u64::from(connection.generation) << 32 | u64::from(index);
        let Plan { target, sources, .. } = self.plan;
        let connecting = connect::begin(&target.address, sources, turn, &self.epoll, data);
        match connecting {
            Ok(socket) => {
                connection.socket = Some(socket);
                connection.stage = Stage::Connecting;
                self.connecting += 1;
            }
            Err(error) => self.fail_because(index, error),
        }
    }

    /// The socket is connected, or can't be.
    pub(super) fn connected(&mut self, index: u32, flags: EventFlags) {
        let connection = &mut self.connections[index as usize];
        let Some(socket) = &connection.socket else { return };
        match connect::is_connected(socket, flags) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return self.fail_because(index, error),
        }
        let took_ns = self.now_ns - connection.began_ns;
        self.gate.reach.accepted();
        self.tally.part.connect.record(took_ns);
        match &self.plan.target.tls {
            None => self.opened(index),
            Some(tls) => self.begin_handshake(index, tls),
        }
    }

    /// Requests may go over a connection.
    pub(super) fn opened(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        connection.stage = Stage::Open;
        connection.calls_left = self.calls_max;
        (connection.replies, connection.thinking) = (0, false);
        connection.rests_since_ns = self.now_ns;
        self.connecting -= 1;
        self.progress_ns = self.now_ns;
        self.tally.part.counts.connections += 1;
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
            self.tally.part.counts.other_error = Some(error.to_string());
        }
        let is_open = self.connections[index as usize].stage == Stage::Open;
        if kind == Kind::Reset && is_open {
            self.server_ended(index, kind);
        } else {
            self.fail(index, kind);
        }
    }

    /// The server has ended an open connection. It may do so where no request is in flight; where one is, it is the kind
    /// of failure that this is, unless the server had kept the connection and gave no notice.
    pub(super) fn server_ended(&mut self, index: u32, kind: Kind) {
        let connection = &mut self.connections[index as usize];
        let until_ns = connection.in_flight.front().map_or(self.now_ns, |request| request.sent_ns);
        let idle_ms = (until_ns - connection.rests_since_ns).max(0) as u64 / 1_000_000;
        let replies = connection.replies;
        let is_idle = connection.in_flight.is_empty();
        let is_kept = if is_idle {
            replies > 0 || idle_ms >= IDLE_MS_MIN
        } else {
            replies > 0 && !connection.reply.has_begun()
        };
        if is_kept && self.plan.keep_alive && self.phase == Phase::Going {
            self.tally.part.counts.closings.count_unannounced(replies, idle_ms);
        }
        match (is_kept, is_idle) {
            (false, _) => self.fail(index, kind),
            (true, false) => self.fail(index, Kind::Closed),
            // One that never served is not reopened at once.
            (true, true) if replies == 0 => self.close_for_a_while(index),
            (true, true) => self.finish(index),
        }
    }

    /// A connection failed: it closes, its requests in flight are lost, and it is made again after a pause.
    pub(super) fn fail(&mut self, index: u32, kind: Kind) {
        let connection = &mut self.connections[index as usize];
        if connection.in_flight.is_empty() {
            self.tally.failed(kind, self.now_ns);
        }
        match (kind, self.phase) {
            (Kind::Refused, Phase::Opening) => self.gate.reach.refused_before_start(),
            (Kind::Refused, _) => self.gate.reach.refused(),
            _ => {}
        }
        if self.mode == Mode::Sessions && connection.stage != Stage::Open {
            // Its first request has waited as well.
            self.tally.gave_up(connection.session_ns, self.now_ns);
        }
        self.requests_in_flight -= connection.in_flight.len();
        for request in connection.in_flight.drain(..) {
            self.tally.lost(&request, kind, self.now_ns);
        }
        self.close_for_a_while(index);
    }

    /// Closes, and connects again after a pause.
    fn close_for_a_while(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        connection.failures += 1;
        let doubled = (connection.failures - 1).min(DOUBLED_MAX);
        self.close(index);
        self.reconnect(index, PAUSE_NS << doubled);
    }

    /// Closes the socket; it has no request in flight.
    pub(super) fn close(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        if matches!(connection.stage, Stage::Connecting | Stage::Handshaking) {
            self.connecting -= 1;
        }
        if let (Some(mut session), Some(socket)) = (connection.tls.take(), &connection.socket) {
            session.end(socket);
        }
        connection.socket = None;
        connection.stage = Stage::Closed;
        connection.generation = connection.generation.wrapping_add(1);
        connection.unsent_bytes = 0;
        connection.reply.clear();
    }

    /// Makes a closed connection again, `pause_ns` from now. A session's connection becomes free for the
    /// next session instead.
    pub(super) fn reconnect(&mut self, index: u32, pause_ns: i64) {
        let connection = &mut self.connections[index as usize];
        if self.mode == Mode::Sessions {
            if !connection.is_free {
                connection.is_free = true;
                if self.free.is_empty() {
                    self.starved_ns = self.now_ns;
                }
                self.free.push_back(index);
            }
        } else if pause_ns > 0 {
            self.timers.push(Reverse((self.now_ns + pause_ns, index, connection.generation)));
        } else if self.phase == Phase::Going && self.budget > 0 {
            self.connect(index);
        }
    }

    /// Resumes connections whose pause or think time is over.
    pub(super) fn run_timers(&mut self) {
        let until_ns = self.now_ns;
        while let Some(&Reverse((at_ns, index, generation))) = self.timers.peek() {
            if at_ns > until_ns {
                return;
            }
            self.timers.pop();
            // Of several that are due at once, each goes a little later than the one before.
            self.now_ns = self.gate.clock.now_ns();
            let connection = &mut self.connections[index as usize];
            if connection.generation != generation {
                continue;
            }
            connection.thinking = false;
            match connection.stage {
                Stage::Closed => self.connect(index),
                Stage::Open => self.fill(index),
                Stage::Connecting | Stage::Handshaking => {}
            }
        }
    }
}
