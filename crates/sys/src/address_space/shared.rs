//! Words in memory that this process shares with those that it forks.

use std::io;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// So many words, all zero at first. Processes forked from this one see the same memory.
#[derive(Debug)]
pub struct SharedWords {
    at: NonNull<AtomicU64>,
    count: usize,
}

// SAFETY: the words are atomic, and the map belongs to the process, not to a thread.
unsafe impl Send for SharedWords {}
// SAFETY: as above: only atomic accesses are given out.
unsafe impl Sync for SharedWords {}

impl SharedWords {
    /// Maps `count` words.
    ///
    /// # Errors
    /// `EINVAL` for none; else as mmap(2).
    pub fn new(count: usize) -> io::Result<SharedWords> {
        use libc::{MAP_ANONYMOUS, MAP_SHARED, PROT_READ, PROT_WRITE};
        let bytes = count.checked_mul(size_of::<AtomicU64>()).ok_or_else(too_many)?;
        let (protection, flags) = (PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
        // SAFETY: a new map at a place that the kernel chooses touches no used memory.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let at = NonNull::new(at.cast()).ok_or_else(too_many)?;
        Ok(SharedWords { at, count })
    }
}

fn too_many() -> io::Error {
    io::Error::from_raw_os_error(libc::EINVAL)
}

impl Deref for SharedWords {
    type Target = [AtomicU64];

    #[inline]
    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: the map has so many words, aligned to a page and zero at first, and lives while this does.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.count) }
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        // SAFETY: the map is this value's own, and the value is going.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.count * size_of::<AtomicU64>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn words_are_zero_and_keep_what_is_stored() {
        let words = SharedWords::new(1_000).unwrap();
        assert!(words.iter().all(|word| word.load(Relaxed) == 0));
        std::thread::scope(|scope| {
            scope.spawn(|| words[999].store(7, Relaxed));
        });
        assert_eq!((words.len(), words[999].load(Relaxed)), (1_000, 7));
        assert!(SharedWords::new(0).is_err());
    }
}
