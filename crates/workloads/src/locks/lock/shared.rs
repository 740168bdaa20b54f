//! What the lock guards: words that would show that it did not.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// No thread is inside.
const NO_THREAD: u32 = 0;

/// On a cache line of its own, next to the lock's: a lock and what it guards rarely share one.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Shared {
    /// Who is inside, counted from 1.
    inside: AtomicU32,
    /// How often somebody who came in or went found another inside.
    clashes: AtomicU64,
    /// Acquisitions, counted without an atomic addition: two who are inside at once lose some.
    count: AtomicU64,
    /// When the lock was last about to be released, and by which thread. Only passes that read the clock set them.
    released: AtomicU64,
    releaser: AtomicU32,
}

/// What was found out about a release.
#[derive(Clone, Copy, Debug)]
pub(super) struct Release {
    pub at: u64,
    pub by: u32,
}

impl Shared {
    /// Does `work` while `me` is inside, and looks before and after whether somebody else is.
    #[inline]
    pub fn inside(&self, me: u32, work: impl FnOnce()) {
        if self.inside.load(Relaxed) != NO_THREAD {
            self.clash();
        }
        self.inside.store(me, Relaxed);
        let count = self.count.load(Relaxed);
        work();
        if self.inside.load(Relaxed) != me {
            self.clash();
        }
        self.count.store(count + 1, Relaxed);
        self.inside.store(NO_THREAD, Relaxed);
    }

    #[cold]
    fn clash(&self) {
        self.clashes.fetch_add(1, Relaxed);
    }

    /// The last release that was announced.
    #[inline]
    pub fn release(&self) -> Release {
        Release { at: self.released.load(Relaxed), by: self.releaser.load(Relaxed) }
    }

    /// Announces a release that is about to come.
    #[inline]
    pub fn announce(&self, release: Release) {
        self.released.store(release.at, Relaxed);
        self.releaser.store(release.by, Relaxed);
    }

    /// What is wrong with a lock under which `made` acquisitions were made, if anything is.
    pub fn verdict(&self, made: u64) -> Result<(), String> {
        let (clashes, count) = (self.clashes.load(Relaxed), self.count.load(Relaxed));
        if clashes > 0 {
            return Err(format!("two threads were inside at once {clashes} times of {made}"));
        }
        if count != made {
            let lost = made.abs_diff(count);
            return Err(format!(
                "{lost} acquisitions of {made} were lost: two were inside at once"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_is_right_and_two_at_once_are_not() {
        let shared = Shared::default();
        shared.inside(1, || ());
        shared.inside(2, || ());
        assert_eq!(shared.verdict(2), Ok(()));
        assert!(shared.verdict(3).unwrap_err().starts_with("1 acquisitions of 3 were lost"));
        shared.inside(1, || shared.inside(2, || ()));
        let verdict = shared.verdict(4).unwrap_err();
        assert_eq!(verdict, "two threads were inside at once 2 times of 4");
    }
}
