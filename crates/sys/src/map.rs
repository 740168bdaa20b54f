//! Memory maps: mmap and munmap, one page or many, and the touch that makes the kernel put a page
//! behind one.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsRawFd;
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
    /// Memory of nobody else, to read and write.
    Memory,
    /// The same without a claim to room in swap (`MAP_NORESERVE`). Beside one of [`Behind::Memory`] it
    /// stays a map of its own, unless `vm.overcommit_memory` is 2.
    MemoryUnreserved,
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
        };
        let writable = protection & PROT_WRITE != 0;
        let offset = libc::off_t::try_from(offset).map_err(io::Error::other)?;
        // SAFETY: a new map at a place that the kernel chooses touches nobody's memory.
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
        // SAFETY: the first byte is within the map; where it may be written, nobody else refers to
        // it, and where it may not, whoever changes the file meanwhile changes one byte.
        unsafe {
            if self.writable {
                at.write_volatile(1);
            }
            at.read_volatile()
        }
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
        let done = unsafe { libc::munmap(self.at.as_ptr().cast(), self.bytes.get()) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
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
        for behind in [Behind::File(&file, page as u64), Behind::Populated(&file, page as u64)] {
            let mut map = Map::new(behind, page).unwrap();
            assert_eq!(map.touch(), b'b');
            map.unmap().unwrap();
        }
        assert!(Map::new(Behind::File(&file, 1), page).is_err(), "an offset within a page");
    }

    #[test]
    fn a_touch_of_memory_writes_to_it() {
        for behind in [Behind::Memory, Behind::MemoryUnreserved] {
            assert_eq!(Map::new(behind, 100).unwrap().touch(), 1);
        }
        assert!(Map::new(Behind::Memory, 0).is_err());
    }
}
