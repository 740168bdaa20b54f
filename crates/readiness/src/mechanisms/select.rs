//! `select(2)`: two bitmaps, copied before each wait because the call overwrites them. Where the
//! kernel takes longer ones than `fd_set`, they grow with the highest descriptor.
//!
//! The C library decides which system call that is: under glibc 2.36, Linux sees `pselect6`.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use sys::poll::{SELECT_LIMIT, Word};

use crate::slots::Slots;
use crate::{Event, Interest, Mechanism, Readiness, Token, Trigger, deadline};

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "select",
    label: "select",
    summary: if SELECT_LIMIT.is_none() {
        "select(2), with sets that grow past FD_SETSIZE"
    } else {
        "select(2)"
    },
    trigger: Trigger::Level,
    queued: false,
    reports_hangup: false,
    detaches: false,
    limits: if SELECT_LIMIT.is_none() {
        &[SCANS, BLIND, "sets past FD_SETSIZE (1,024) are this kernel's kindness, not POSIX"]
    } else {
        &[SCANS, BLIND, "no descriptor from FD_SETSIZE on"]
    },
    available: || Ok(()),
    open: |capacity| Ok(Box::new(Select::new(capacity))),
};

const SCANS: &str = "looks at every number up to the highest watched descriptor at every wait";
const BLIND: &str = "can't tell a hang-up from data: both are just readable";

/// The bits of a word.
const BITS: usize = Word::BITS as usize;

/// A set of descriptors, and the copy of it that a wait gives away.
#[derive(Default)]
struct Set {
    master: Vec<Word>,
    working: Vec<Word>,
    members: usize,
}

impl Set {
    /// Makes `fd` a member or not. The caller has grown the set.
    fn assign(&mut self, fd: usize, member: bool) {
        let (word, bit) = (&mut self.master[fd / BITS], 1 << (fd % BITS));
        let was = *word & bit != 0;
        if member {
            *word |= bit;
        } else {
            *word &= !bit;
        }
        self.members = self.members + usize::from(member) - usize::from(was);
    }

    /// Holds at least this many words from now on.
    fn grow(&mut self, words: usize) {
        if self.master.len() < words {
            self.master.resize(words, 0);
            self.working.resize(words, 0);
        }
    }

    /// A fresh copy for the call to overwrite; none of an empty set, as the call wants it.
    #[inline]
    fn copy(&mut self, words: usize) -> Option<&mut [Word]> {
        if self.members == 0 {
            return None;
        }
        let working = &mut self.working[..words];
        working.copy_from_slice(&self.master[..words]);
        Some(working)
    }

    /// What the call left; nothing of a set that it wasn't given.
    #[inline]
    fn answer(&self, words: usize) -> &[Word] {
        if self.members == 0 { &[] } else { &self.working[..words] }
    }
}

struct Select {
    read: Set,
    write: Set,
    tokens: Slots<Token>,
}

impl Select {
    fn new(capacity: usize) -> Self {
        Select { read: Set::default(), write: Set::default(), tokens: Slots::new(capacity) }
    }

    fn watch(&mut self, fd: RawFd, interest: Option<Interest>) {
        let Ok(fd) = usize::try_from(fd) else { return };
        for (set, member) in [
            (&mut self.read, interest.is_some_and(Interest::is_readable)),
            (&mut self.write, interest.is_some_and(Interest::is_writable)),
        ] {
            set.grow(fd / BITS + 1);
            set.assign(fd, member);
        }
    }
}

impl Readiness for Select {
    fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        let fd = fd.as_raw_fd();
        within_limit(fd)?;
        self.tokens.insert(fd, token)?;
        self.watch(fd, Some(interest));
        Ok(())
    }

    fn modify(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        let fd = fd.as_raw_fd();
        *self.tokens.get_mut(fd)? = token;
        self.watch(fd, Some(interest));
        Ok(())
    }

    fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let fd = fd.as_raw_fd();
        self.tokens.remove(fd)?;
        self.watch(fd, None);
        Ok(())
    }

    fn wait(&mut self, ready: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()> {
        ready.clear();
        let count = self.tokens.end();
        let words = count.div_ceil(BITS);
        let (read, write) = (&mut self.read, &mut self.write);
        // Copied for each call, as one that a signal interrupts may leave anything in the sets.
        let left = deadline::wait(timeout, |left| {
            sys::poll::select(count, read.copy(words), write.copy(words), left)
        })?;
        if left > 0 {
            scan(read.answer(words), write.answer(words), left, &self.tokens, ready);
        }
        Ok(())
    }
}

/// Turns the bits that the call left in the sets into events, until `left` of them are found.
#[inline]
fn scan(
    read: &[Word],
    write: &[Word],
    mut left: usize,
    tokens: &Slots<Token>,
    ready: &mut Vec<Event>,
) {
    for at in 0..read.len().max(write.len()) {
        let readable = read.get(at).copied().unwrap_or(0);
        let writable = write.get(at).copied().unwrap_or(0);
        let mut either = readable | writable;
        while either != 0 {
            let bit = either & either.wrapping_neg();
            either ^= bit;
            let fd = at * BITS + bit.trailing_zeros() as usize;
            let (readable, writable) = (readable & bit != 0, writable & bit != 0);
            if let Some(&token) = tokens.at(fd) {
                ready.push(Event { token, readable, writable, hangup: false });
            }
            left = left.saturating_sub(usize::from(readable) + usize::from(writable));
            if left == 0 {
                return;
            }
        }
    }
}

/// `Unsupported` for a descriptor that no set can hold here.
fn within_limit(fd: RawFd) -> io::Result<()> {
    match SELECT_LIMIT {
        Some(limit) if usize::try_from(fd).is_ok_and(|fd| fd >= limit) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("select takes no descriptor from {limit} on here, and this one is {fd}"),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_counts_its_members_once_each() {
        let mut set = Set::default();
        set.grow(3);
        assert!(set.copy(3).is_none(), "an empty set is not given to the call");
        for fd in [0, BITS - 1, BITS, 2 * BITS + 5, BITS] {
            set.assign(fd, true);
        }
        assert_eq!(set.members, 4);
        assert_eq!(set.copy(3).unwrap(), [1 | 1 << (BITS - 1), 1, 1 << 5]);
        set.assign(BITS, false);
        set.assign(BITS, false);
        assert_eq!(set.members, 3);
        assert_eq!(set.copy(2).unwrap(), [1 | 1 << (BITS - 1), 0], "only the words asked for");
    }

    #[test]
    fn a_scan_joins_both_sets_and_stops_after_the_count() {
        let mut tokens = Slots::new(0);
        let fds = [3, BITS, BITS + 1, 3 * BITS - 1];
        for fd in fds {
            tokens.insert(RawFd::try_from(fd).unwrap(), Token(fd as u64)).unwrap();
        }
        let read = [1 << 3, 1 | 1 << 1, 1 << (BITS - 1)];
        let write = [0, 1 << 1, 0];
        let mut ready = Vec::new();
        scan(&read, &write, 5, &tokens, &mut ready);
        let reported: Vec<_> = ready
            .iter()
            .map(|event| (event.token.0 as usize, event.readable, event.writable))
            .collect();
        assert_eq!(
            reported,
            [
                (3, true, false),
                (BITS, true, false),
                (BITS + 1, true, true),
                (3 * BITS - 1, true, false)
            ]
        );
        ready.clear();
        scan(&read, &write, 2, &tokens, &mut ready);
        assert_eq!(ready.len(), 2, "the rest is not looked at");
        ready.clear();
        scan(&[], &write, 1, &tokens, &mut ready);
        assert_eq!(ready.len(), 1);
        assert!(ready[0].writable && !ready[0].readable);
    }
}
