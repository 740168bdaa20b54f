//! `splice(2)`: pages of the file go into a pipe of the worker's, and from there to the socket.

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};

use super::{Sending, Stretch, TURN_BYTES, Way, after_head, shrunk};

pub(crate) const WAY: Way = Way {
    name: "splice",
    summary: "splice(2) through a pipe, after the head by send(2) with MSG_MORE",
    open: || Ok(Box::new(Spliced::open()?)),
};

struct Spliced {
    from: OwnedFd,
    into: OwnedFd,
    /// Where what a full socket left in the pipe goes: the next call takes it from the file again.
    nowhere: File,
}

impl Spliced {
    fn open() -> io::Result<Spliced> {
        let (from, into) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        // A smaller pipe does as well, with more calls.
        let _ = fcntl_setpipe_size(&into, TURN_BYTES);
        let nowhere = File::options().write(true).open("/dev/null")?;
        Ok(Spliced { from, into, nowhere })
    }

    fn move_on(&self, socket: BorrowedFd<'_>, stretch: &Stretch<'_>) -> io::Result<usize> {
        let mut at = stretch.at;
        let bytes_max = stretch.bytes.min(TURN_BYTES as u64) as usize;
        let flags = SpliceFlags::NONBLOCK;
        let taken = splice(stretch.file, Some(&mut at), &self.into, None, bytes_max, flags)?;
        if taken == 0 {
            return Err(shrunk());
        }
        let more = stretch.more || (taken as u64) < stretch.bytes;
        let flags = if more { flags | SpliceFlags::MORE } else { flags };
        let mut left = taken;
        while left > 0 {
            match splice(&self.from, None, socket, None, left, flags) {
                Ok(0) => break,
                Ok(moved) => left -= moved,
                Err(error) => {
                    self.empty(left)?;
                    return if left < taken { Ok(taken - left) } else { Err(error.into()) };
                }
            }
        }
        self.empty(left)?;
        Ok(taken - left)
    }

    /// Takes what is left out of the pipe.
    fn empty(&self, mut left: usize) -> io::Result<()> {
        while left > 0 {
            match splice(&self.from, None, &self.nowhere, None, left, SpliceFlags::NONBLOCK)? {
                0 => break,
                gone => left -= gone,
            }
        }
        Ok(())
    }
}

impl Sending for Spliced {
    fn send(&mut self, socket: BorrowedFd<'_>, stretch: Stretch<'_>) -> io::Result<usize> {
        after_head(socket, stretch.head, || self.move_on(socket, &stretch))
    }
}
