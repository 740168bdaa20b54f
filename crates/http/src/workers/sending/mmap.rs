//! `mmap(2)` and a write from the map: head and file in one call. The map is only ever handed to the
//! kernel, so that a file which becomes shorter is an error and not a SIGBUS.

use std::io;
use std::os::fd::BorrowedFd;

use sys::map::{Behind, Map, page_bytes};

use super::{Sending, Stretch, TURN_BYTES, Way, Window, shrunk};

pub(crate) const WAY: Way = Way {
    name: "mmap",
    summary: "mmap(2), and head and map in one sendmsg(2)",
    open: || Ok(Box::new(Mapped)),
};

/// Bytes that are mapped at a time.
const WINDOW_BYTES: u64 = 16 << 20;

struct Mapped;

impl Sending for Mapped {
    fn send(&mut self, socket: BorrowedFd<'_>, stretch: Stretch<'_>) -> io::Result<usize> {
        let Stretch { head, file, at, bytes, kept, .. } = stretch;
        // The rest of a page behind the file's end would be sent as zeroes.
        if file.metadata()?.len() < at + bytes {
            return Err(shrunk());
        }
        let within = kept.take().filter(|kept| kept.at <= at && at < kept.at + kept.bytes);
        let window = if let Some(window) = within {
            window
        } else {
            let from = at - at % page_bytes() as u64;
            let length = (at + bytes - from).min(WINDOW_BYTES);
            let map = Map::new(Behind::File(file, from), length as usize)?;
            Window { map, at: from, bytes: length }
        };
        let here = bytes.min(window.at + window.bytes - at).min(TURN_BYTES as u64);
        let sent = window.map.send(socket, head, (at - window.at) as usize, here as usize);
        *kept = Some(window);
        // EFAULT: there is no page of the file behind the map any more.
        sent.map_err(|error| match rustix::io::Errno::from_io_error(&error) {
            Some(rustix::io::Errno::FAULT) => shrunk(),
            _ => error,
        })
    }
}
