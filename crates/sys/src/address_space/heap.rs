//! The heap of a process: malloc and free of the C library, and the break that brk(2) moves.

use std::io;
use std::sync::{Mutex, PoisonError};

/// malloc(3), `mark` written at either end, and free(3). Says whether the block kept both: one that another thread has at the
/// same time, with a mark of its own, may lose one.
///
/// # Errors
/// `ENOMEM`.
#[inline]
pub fn malloc_free(bytes: usize, mark: u8) -> io::Result<bool> {
    // SAFETY: takes a number.
    let at = unsafe { libc::malloc(bytes) }.cast::<u8>();
    if at.is_null() || bytes == 0 {
        return Err(io::Error::from_raw_os_error(libc::ENOMEM));
    }
    // SAFETY: both bytes are within the block, which nothing else knows of; it is freed once.
    unsafe {
        let last = at.add(bytes - 1);
        at.write_volatile(mark);
        last.write_volatile(mark);
        let kept = at.read_volatile() == mark && last.read_volatile() == mark;
        libc::free(at.cast());
        Ok(kept)
    }
}

/// The break of this process, which only this value moves.
#[derive(Clone, Copy, Debug)]
pub struct Break {
    base: usize,
    page: usize,
}

/// Whether malloc(3) has been kept off the break.
static MALLOC_KEPT_OFF: Mutex<bool> = Mutex::new(false);

impl Break {
    /// Keeps malloc(3) off the break from now on, for as long as the process lives: new blocks that need more memory are maps of their own, and nothing
    /// is given back by lowering the break.
    ///
    /// # Errors
    /// `ENOSYS` where the C library has no such setting.
    pub fn take() -> io::Result<Break> {
        let mut kept_off = MALLOC_KEPT_OFF.lock().unwrap_or_else(PoisonError::into_inner);
        if !*kept_off {
            *kept_off = keep_malloc_off();
        }
        if !*kept_off {
            return Err(io::Error::from_raw_os_error(libc::ENOSYS));
        }
        let base = set(0);
        let page = crate::map::page_bytes();
        // From a page's beginning on, so that a step is a page.
        Ok(Break { base: base.next_multiple_of(page) + page, page })
    }

    /// Raises the break to a place that only caller `me`, counted from 0, moves it to, and lowers it again by a page: two
    /// calls. What lies between is not touched. Places of its own, because a call that finds the break where it is to
    /// go does nothing.
    ///
    /// # Errors
    /// `ENOMEM` at the limit on memory or on data (`RLIMIT_DATA`).
    #[inline]
    pub fn up_and_down(&self, me: usize) -> io::Result<()> {
        let low = self.base + 2 * me * self.page;
        for wanted in [low + self.page, low] {
            if set(wanted) != wanted {
                return Err(io::Error::from_raw_os_error(libc::ENOMEM));
            }
        }
        Ok(())
    }
}

/// Sets the break, and returns where it is: where it was, if it can't be moved.
#[inline]
fn set(to: usize) -> usize {
    // SAFETY: malloc does not use the break above `Break::base`, nor raises it, so no used memory goes. A
    // question (0) changes nothing.
    let at = unsafe { libc::syscall(libc::SYS_brk, to) };
    at.cast_unsigned() as usize
}

#[cfg(target_env = "gnu")]
fn keep_malloc_off() -> bool {
    // SAFETY: settings that change where blocks come from, not what is true of them.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 0) == 1
            && libc::mallopt(libc::M_MMAP_MAX, libc::c_int::MAX) == 1
            && libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX) == 1
    }
}

#[cfg(not(target_env = "gnu"))]
fn keep_malloc_off() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_freed_and_none_is_refused() {
        for bytes in [1, 64, 1 << 20] {
            assert!(malloc_free(bytes, 7).unwrap());
        }
        assert!(malloc_free(0, 7).is_err());
    }

    #[test]
    fn the_break_moves_while_others_allocate() {
        let space = Break::take().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for turn in 1..2_000_usize {
                        let bytes = vec![turn as u8; turn * 97];
                        assert!(bytes.iter().all(|byte| *byte == turn as u8));
                    }
                });
            }
            (0..2_000).for_each(|_| space.up_and_down(0).unwrap());
        });
        assert_eq!(set(0), space.base);
        space.up_and_down(3).unwrap();
        assert_eq!(set(0), space.base + 6 * space.page, "each caller has two places of its own");
        space.up_and_down(0).unwrap();
    }
}
