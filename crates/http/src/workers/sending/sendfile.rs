//! `sendfile(2)`: the kernel hands pages of the file to the socket.

use std::io;
use std::os::fd::BorrowedFd;

use super::{Sending, Stretch, TURN_BYTES, Way, after_head, shrunk};

pub(crate) const WAY: Way = Way {
    name: "sendfile",
    summary: "sendfile(2), after the head by send(2) with MSG_MORE",
    open: || Ok(Box::new(Sendfile)),
};

struct Sendfile;

impl Sending for Sendfile {
    fn send(&mut self, socket: BorrowedFd<'_>, stretch: Stretch<'_>) -> io::Result<usize> {
        after_head(socket, stretch.head, || {
            let mut at = stretch.at;
            let bytes_max = stretch.bytes.min(TURN_BYTES as u64) as usize;
            match rustix::fs::sendfile(socket, stretch.file, Some(&mut at), bytes_max)? {
                0 => Err(shrunk()),
                sent => Ok(sent),
            }
        })
    }
}
