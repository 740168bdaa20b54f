//! Replies on their way: how much of each was sent, and what is reported when it ends.

use std::collections::VecDeque;
use std::net::SocketAddr;

use crate::site::Summary;
use crate::workers::context::Context;

/// A reply that was not sent to its end yet.
#[derive(Debug)]
struct Reply {
    /// Bytes before the body.
    head_bytes: u64,
    /// The status, and the length of the body.
    summary: Summary,
    /// The first line of the request; empty where there is no log.
    line: Box<[u8]>,
}

impl Reply {
    fn bytes(&self) -> u64 {
        self.head_bytes + self.summary.bytes
    }
}

/// The replies of a connection that were not sent to their end yet, in order.
#[derive(Debug, Default)]
pub(super) struct Pending {
    replies: VecDeque<Reply>,
    /// Bytes of the first one that were sent.
    sent_bytes: u64,
}

impl Pending {
    #[inline]
    pub(super) fn push(&mut self, head_bytes: u64, summary: Summary, line: &[u8]) {
        self.replies.push_back(Reply { head_bytes, summary, line: line.into() });
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.replies.is_empty()
    }

    /// Counts bytes as sent; each reply that ends with them is counted and logged.
    #[inline]
    pub(super) fn advance(
        &mut self,
        bytes: usize,
        peer: Option<&SocketAddr>,
        context: &mut Context,
    ) {
        self.sent_bytes += bytes as u64;
        while let Some(first) = self.replies.front()
            && first.bytes() <= self.sent_bytes
        {
            self.sent_bytes -= first.bytes();
            context.counts.replies.add(1);
            context.log_reply(peer, &first.line, first.summary);
            self.replies.pop_front();
        }
    }

    /// The connection closes: the other replies are counted as aborted, and logged with what was sent.
    pub(super) fn abort(&mut self, peer: Option<&SocketAddr>, context: &mut Context) {
        for reply in self.replies.drain(..) {
            let bytes = self.sent_bytes.saturating_sub(reply.head_bytes);
            self.sent_bytes = 0;
            context.counts.aborted.add(1);
            context.log_reply(peer, &reply.line, Summary { bytes, ..reply.summary });
        }
    }
}
