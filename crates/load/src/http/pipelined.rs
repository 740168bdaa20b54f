//! Whether a server answers requests that arrive together.

use super::reply::{Heads, Reply, Step};
use crate::plan::Target;
use crate::stream::Stream;
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

/// A second reply that comes later than this after the first, and than three times what that took, does not come.
const PATIENCE: Duration = Duration::from_secs(1);
/// A server that takes longer for its first reply is not judged.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Whether `target` answers the second of two requests that arrive together. Where the first one has no reply, or the
/// connection ends with it, that stays open, and so it does where the second one has the end of the connection.
pub fn pipelines(target: &Target) -> Option<bool> {
    let mut stream = Stream::connect(target, TIMEOUT).ok()?;
    stream.write_all(&target.request(true).repeat(2)).ok()?;
    let begun = Instant::now();
    let (mut reply, mut heads) = (Reply::default(), Heads::default());
    let (mut replies, mut buffer) = (0, vec![0; 64 * 1024]);
    loop {
        let received = match stream.read(&mut buffer) {
            Ok(0) => return None,
            Ok(received) => received,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == ErrorKind::WouldBlock && replies == 1 => {
                return Some(false);
            }
            Err(_) => return None,
        };
        let mut rest = &buffer[..received];
        while !rest.is_empty() {
            match reply.feed(rest, &mut heads) {
                Step::More => break,
                Step::Malformed => return None,
                Step::Whole(whole) if !whole.head.keeps() => return None,
                Step::Whole(whole) => {
                    rest = &rest[whole.used..];
                    replies += 1;
                    if replies == 2 {
                        return Some(true);
                    }
                    stream.socket.set_read_timeout(Some(PATIENCE.max(3 * begun.elapsed()))).ok()?;
                }
            }
        }
    }
}
