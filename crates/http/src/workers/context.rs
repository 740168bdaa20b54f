//! What a worker has for all its connections: the site, the log, the counters and the time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use super::counters::Counters;
use crate::site::{Site, Summary};
use crate::workers::access_log::AccessLog;

/// How long the wall clock is derived from the monotonic one, which every turn reads anyway.
const WALL_MS: u64 = 500;

pub(crate) struct Context {
    pub site: Site,
    pub log: Option<AccessLog>,
    pub counts: Arc<Counters>,
    /// Since the worker began; read once a turn.
    pub now_ms: u64,
    /// What came last, decrypted.
    pub plain: Vec<u8>,
    /// Every reply is the last of its connection.
    pub draining: bool,
    began: Instant,
    wall: SystemTime,
    /// When `wall` was read.
    wall_ms: u64,
}

impl Context {
    pub(crate) fn new(site: Site, log: Option<AccessLog>, counts: Arc<Counters>) -> Context {
        let (began, wall) = (Instant::now(), SystemTime::now());
        let (plain, draining) = (Vec::new(), false);
        let mut context =
            Context { site, log, counts, now_ms: 0, plain, draining, began, wall, wall_ms: 0 };
        context.update_wall_clock();
        context
    }

    /// Reads the clock once for a whole turn.
    #[inline]
    pub(crate) fn tick(&mut self) {
        self.now_ms = self.began.elapsed().as_millis() as u64;
        if self.now_ms - self.wall_ms >= WALL_MS {
            self.wall = SystemTime::now();
            self.wall_ms = self.now_ms;
            self.update_wall_clock();
        }
        self.site.tick(self.now_ms, self.wall);
    }

    /// Gives the site and the log the new date, and writes the log's lines.
    fn update_wall_clock(&mut self) {
        self.site.tick(self.now_ms, self.wall);
        if let Some(log) = &mut self.log {
            log.tick(self.wall);
        }
        self.flush_log();
    }

    /// Writes the pending lines of the log, as far as it takes them.
    fn flush_log(&mut self) {
        if let Some(log) = self.log.as_mut().filter(|log| !log.is_empty()) {
            log.flush();
            self.counts.unlogged.set(log.dropped);
        }
    }

    /// Writes the log for the last time: the lines that it does not take now are dropped.
    pub(crate) fn close_log(&mut self) {
        if let Some(log) = &mut self.log {
            log.close();
            self.counts.unlogged.set(log.dropped);
        }
    }

    pub(crate) fn has_log_lines(&self) -> bool {
        self.log.as_ref().is_some_and(|log| !log.is_empty())
    }

    /// Logs a reply to the request that began with `line`, as far as it was sent.
    pub(crate) fn log_reply(&mut self, peer: Option<&SocketAddr>, line: &[u8], reply: Summary) {
        if let Some(log) = &mut self.log {
            log.push(peer, line, reply);
        }
    }
}
