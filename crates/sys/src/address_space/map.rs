//! Memory maps: mmap and munmap, one page or many, and the touch that makes the kernel put a page
//! behind one.

use crate::answer::{counted, done};
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

/// The size of a page, in bytes.
pub fn page_bytes() -> usize {
    // SAFETY: a question without arguments that point anywhere.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096)
}

/// What a map shows.
#[derive(Clone, Copy, Debug)]
pub enum Behind<'a> {
    /// A part of a file, to read, from this offset on.
    File(&'a File, u64),
    /// The same, and the kernel is asked to put its pages there at once (`MAP_POPULATE`).
    Populated(&'a File, u64),
    /// Memory of its own, to read and write.
    Memory,
    /// The same without a claim to room in swap (`MAP_NORESERVE`). Next to one of [`Behind::Memory`] it
    /// stays a map of its own, unless `vm.overcommit_memory` is 2.
    MemoryUnreserved,
    /// Memory to read and write that processes forked from this one see too; with a descriptor, that of its owner in the
    /// kernel.
    Shared(Option<BorrowedFd<'a>>),
}

/// A map in this process. It goes when this value does, or with [`Map::unmap`].
#[derive(Debug)]
pub struct Map {
    at: NonNull<u8>,
    bytes: NonZeroUsize,
    writable: bool,
}

// SAFETY: a map belongs to the process, not to a thread, and only this value refers to it.
unsafe impl Send for Map {}

impl Map {
    /// Maps `bytes` of what is `behind`, wherever the kernel likes.
    ///
    /// # Errors
    /// `EINVAL` where `bytes` is zero or the offset is not of a page; `ENOMEM` at the limit on maps
    /// (`vm.max_map_count`), on address space (`RLIMIT_AS`), or of memory; else as mmap(2).
    #[inline]
    pub fn new(behind: Behind<'_>, bytes: usize) -> io::Result<Map> {
        use libc::{MAP_ANONYMOUS, MAP_NORESERVE, MAP_PRIVATE, MAP_SHARED, PROT_READ, PROT_WRITE};
        let (protection, flags, file, offset) = match behind {
            Behind::File(file, offset) => (PROT_READ, MAP_SHARED, file.as_raw_fd(), offset),
            Behind::Populated(file, offset) => {
                (PROT_READ, MAP_SHARED | libc::MAP_POPULATE, file.as_raw_fd(), offset)
            }
            Behind::Memory => (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            Behind::MemoryUnreserved => {
                (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
            }
            Behind::Shared(Some(fd)) => (PROT_READ | PROT_WRITE, MAP_SHARED, fd.as_raw_fd(), 0),
            Behind::Shared(None) => (PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
        };
        let writable = protection & PROT_WRITE != 0;
        let offset = libc::off_t::try_from(offset).map_err(io::Error::other)?;
        // SAFETY: a new map at a place that the kernel chooses touches no used memory.
        let at =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, file, offset) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        match (NonNull::new(at.cast()), NonZeroUsize::new(bytes)) {
            (Some(at), Some(bytes)) => Ok(Map { at, bytes, writable }),
            _ => Err(io::Error::other("the kernel gave no place for a map")),
        }
    }

    /// Reads the first byte of a file's page, or writes that of memory (a read would be given the page
    /// of zeros that all share), so that the kernel has to put a page there. Returns the byte.
    ///
    /// Of a file that has become shorter than the map this is a SIGBUS, as it is for any program.
    #[inline]
    pub fn touch(&mut self) -> u8 {
        let at = self.at.as_ptr();
        // SAFETY: the first byte is within the map; where it may be written, nothing else refers to
        // it, and where it may not, whoever changes the file meanwhile changes one byte.
        unsafe {
            if self.writable {
                at.write_volatile(1);
            }
            at.read_volatile()
        }
    }

    /// Asks the kernel for plain pages, not huge ones. One without huge pages refuses that.
    pub fn on_plain_pages(&self) {
        // SAFETY: advice on this value's own map, which changes no byte.
        unsafe {
            libc::madvise(self.at.as_ptr().cast(), self.bytes.get(), libc::MADV_NOHUGEPAGE);
        }
    }

    /// Writes to the byte at `offset`, so that the kernel has to put a page there. Returns whether the page was new: the byte
    /// behind it was still zero. That one is written, too, so that a second write finds the page used.
    ///
    /// # Errors
    /// `EINVAL` where there are no two bytes at `offset`, `EACCES` where they can't be written to.
    #[inline]
    pub fn write_first(&mut self, offset: usize) -> io::Result<bool> {
        if offset >= self.bytes.get() - 1 || !self.writable {
            let code = if self.writable { libc::EINVAL } else { libc::EACCES };
            return Err(io::Error::from_raw_os_error(code));
        }
        // SAFETY: both bytes are within the map, may be written, and nothing else refers to them.
        Ok(unsafe {
            let at = self.at.as_ptr().add(offset);
            at.write_volatile(1);
            let was_new = at.add(1).read_volatile() == 0;
            at.add(1).write_volatile(1);
            was_new
        })
    }

    /// Reads the first byte of every `step` bytes, and adds them up: each page that has no entry in the page table
    /// yet is a fault.
    ///
    /// Of a file that has become shorter than the map this is a SIGBUS, as it is for any program.
    pub fn touch_each(&self, step: usize) -> u64 {
        let at = self.at.as_ptr();
        let offsets = (0..self.bytes.get()).step_by(step.max(1));
        // SAFETY: each byte is within the map; whoever changes the file meanwhile changes a byte.
        offsets.map(|offset| u64::from(unsafe { at.add(offset).read_volatile() })).sum()
    }

    /// Sends `head` and then `bytes` of the map from `from` on to a socket, as much as it takes now.
    /// Only the kernel reads the map: where the file has become shorter than it, that is an error of
    /// the call, and no SIGBUS.
    ///
    /// # Errors
    /// As sendmsg(2): `EAGAIN` where the socket is full, `EFAULT` where there is nothing behind the
    /// map; `EINVAL` where `from` and `bytes` lead outside of it.
    pub fn send(
        &self,
        socket: BorrowedFd<'_>,
        head: &[u8],
        from: usize,
        bytes: usize,
    ) -> io::Result<usize> {
        if from.checked_add(bytes).is_none_or(|end| end > self.bytes.get()) {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        let at = self.at.as_ptr().wrapping_add(from);
        let mut pieces = [
            libc::iovec { iov_base: head.as_ptr().cast_mut().cast(), iov_len: head.len() },
            libc::iovec { iov_base: at.cast(), iov_len: bytes },
        ];
        // SAFETY: all zeroes is a message without address, pieces and control data.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = pieces.as_mut_ptr();
        message.msg_iovlen = pieces.len() as _;
        // SAFETY: both pieces outlive the call, which only reads them; the second is within the map.
        counted(unsafe {
            libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL)
        })
    }

    /// Where it is, for those in this crate that share it with the kernel.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.at.as_ptr()
    }

    /// Takes the map away.
    ///
    /// # Errors
    /// As munmap(2): `ENOMEM` where it would have to split a map at the limit on them.
    #[inline]
    pub fn unmap(self) -> io::Result<()> {
        let map = std::mem::ManuallyDrop::new(self);
        map.take_away()
    }

    #[inline]
    fn take_away(&self) -> io::Result<()> {
        // SAFETY: the map is this value's own, and the value is going.
        done(unsafe { libc::munmap(self.at.as_ptr().cast(), self.bytes.get()) })
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // What can't be taken away goes with the process.
        let _ = self.take_away();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_map_shows_its_part_of_the_file() {
        let path = std::env::temp_dir().join(format!("knee-map-{}", std::process::id()));
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let page = page_bytes();
        file.write_all(&[vec![b'a'; page], vec![b'b'; page]].concat()).unwrap();
        let whole = Map::new(Behind::File(&file, 0), 2 * page).unwrap();
        assert_eq!(whole.touch_each(page), u64::from(b'a') + u64::from(b'b'));
        for behind in [Behind::File(&file, page as u64), Behind::Populated(&file, page as u64)] {
            let mut map = Map::new(behind, page).unwrap();
            assert_eq!(map.touch(), b'b');
            map.unmap().unwrap();
        }
        assert!(Map::new(Behind::File(&file, 1), page).is_err(), "an offset within a page");
        let mut memory = Map::new(Behind::Memory, 2 * page).unwrap();
        memory.on_plain_pages();
        assert!(memory.write_first(0).unwrap() && memory.write_first(2 * page - 2).unwrap());
        assert!(!memory.write_first(0).unwrap(), "a page that was written to is not new");
        assert!(memory.write_first(2 * page - 1).is_err());
        assert!(Map::new(Behind::File(&file, 0), page).unwrap().write_first(0).is_err());
    }

    #[test]
    fn a_map_is_sent_and_one_of_a_file_that_shrank_is_an_error() {
        use std::io::Read;
        use std::os::fd::AsFd;
        let path = std::env::temp_dir().join(format!("knee-sent-{}", std::process::id()));
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file.write_all(&vec![b'a'; 2 * page_bytes()]).unwrap();
        let map = Map::new(Behind::File(&file, 0), 2 * page_bytes()).unwrap();
        let (ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_eq!(map.send(ours.as_fd(), b"head", page_bytes() - 1, 2).unwrap(), 6);
        let mut got = [0; 6];
        theirs.read_exact(&mut got).unwrap();
        assert_eq!(got, *b"headaa");
        let beyond = map.send(ours.as_fd(), b"", 1, 2 * page_bytes()).unwrap_err();
        assert_eq!(beyond.raw_os_error(), Some(libc::EINVAL));
        file.set_len(0).unwrap();
        let gone = map.send(ours.as_fd(), b"", 0, 10).unwrap_err();
        assert_eq!(gone.raw_os_error(), Some(libc::EFAULT));
    }

    #[test]
    fn a_touch_of_memory_writes_to_it() {
        for behind in [Behind::Memory, Behind::MemoryUnreserved] {
            assert_eq!(Map::new(behind, 100).unwrap().touch(), 1);
        }
        assert!(Map::new(Behind::Memory, 0).is_err());
    }
}
