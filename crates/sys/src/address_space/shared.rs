//! Words in memory that this process shares with those that it forks.

use crate::map::{Behind, Map};
use std::io;
use std::ops::Deref;
use std::sync::atomic::AtomicU64;

/// So many words, all zero at first. Processes forked from this one see the same memory.
#[derive(Debug)]
pub struct SharedWords {
    map: Map,
    count: usize,
}

// SAFETY: the words are atomic, and only atomic accesses are given out.
unsafe impl Sync for SharedWords {}

impl SharedWords {
    /// Maps `count` words.
    ///
    /// # Errors
    /// `EINVAL` for none; else as mmap(2).
    pub fn new(count: usize) -> io::Result<SharedWords> {
        let too_many = || io::Error::from_raw_os_error(libc::EINVAL);
        let bytes = count.checked_mul(size_of::<AtomicU64>()).ok_or_else(too_many)?;
        Ok(SharedWords { map: Map::new(Behind::Shared(None), bytes)?, count })
    }
}

impl Deref for SharedWords {
    type Target = [AtomicU64];

    #[inline]
    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: the map has so many words, aligned to a page and zero at first, and lives while this does.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.count) }
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
