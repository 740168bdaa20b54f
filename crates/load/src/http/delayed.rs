//! Whether a server's replies wait for acknowledgements that the client's kernel delays.
//!
//! A server that sends a reply's head and body in two pieces without `TCP_NODELAY` keeps the second back
//! until the first is acknowledged (Nagle's algorithm, RFC 896), and a client's kernel may delay that by
//! 40 ms (RFC 1122, 4.2.3.2). The same requests with immediate acknowledgements (`TCP_QUICKACK`) then take a
//! fraction of the time; a server that is slow for another reason takes as long as before.

use super::receive::Receiver;
use crate::plan::Target;
use crate::stream::Stream;
use rustix::net::sockopt;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Linux delays an acknowledgement by 40 ms at the least (`TCP_DELACK_MIN`). A median of replies below this
/// is not looked into, and neither is one far above.
const DELAY_MS: std::ops::Range<f64> = 36.0..70.0;
/// With immediate acknowledgements a reply takes less than this share of the time if they are what it
/// waited for.
const IMMEDIATE_SHARE_MAX: f64 = 0.25;
/// Requests of each kind: the first shows more of the connection than of the reply.
const REQUESTS: usize = 6;
/// A reply that takes longer is not waited for.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How long replies take with delayed and with immediate acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DelayedReply {
    /// The median with delayed ones, in milliseconds.
    pub delayed_ms: f64,
    /// The median with immediate ones, in milliseconds.
    pub immediate_ms: f64,
}

/// What a reply of `target` takes with and without delayed acknowledgements, if `median_ns` of its replies
/// is what such a delay takes and the delay is their cause. It costs half a second at most in that
/// case, and nothing in any other.
///
/// # Errors
/// Where the requests fail.
pub fn delayed_reply(target: &Target, median_ns: f64) -> io::Result<Option<DelayedReply>> {
    if !DELAY_MS.contains(&(median_ns / 1e6)) {
        return Ok(None);
    }
    let delayed_ms = median_ms(target, false)?;
    let immediate_ms = median_ms(target, true)?;
    let is_cause =
        DELAY_MS.contains(&delayed_ms) && immediate_ms < delayed_ms * IMMEDIATE_SHARE_MAX;
    Ok(is_cause.then_some(DelayedReply { delayed_ms, immediate_ms }))
}

fn median_ms(target: &Target, immediate: bool) -> io::Result<f64> {
    let mut stream = Stream::connect(target, TIMEOUT)?;
    let socket = stream.socket.try_clone()?;
    let (request, mut receiver) = (target.request(true), Receiver::default());
    let mut times_ms = Vec::new();
    for number in 0..=REQUESTS {
        // The kernel goes back to its own judgement after a while: it needs the option each time.
        sockopt::set_tcp_quickack(&socket, immediate)?;
        let begun = Instant::now();
        stream.write_all(&request)?;
        let received = receiver
            .receive_with(&mut stream, || Ok(sockopt::set_tcp_quickack(&socket, immediate)?))?;
        if !received.head.keeps() || received.head.status >= 400 {
            return Err(io::Error::other("the server does not go on replying"));
        }
        if number > 0 {
            times_ms.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    times_ms.sort_by(f64::total_cmp);
    Ok(times_ms[times_ms.len() / 2])
}
