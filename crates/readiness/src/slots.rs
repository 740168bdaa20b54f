//! What a mechanism keeps of each watched descriptor, by its number: an index, no hashing.

use std::io::{self, ErrorKind};
use std::os::fd::RawFd;

/// A value for each watched descriptor. Numbers are small (the kernel gives the lowest that is
/// free), so a vector that is as long as the highest is short.
pub(crate) struct Slots<T> {
    slots: Vec<Option<T>>,
}

impl<T> Slots<T> {
    /// None, with room for about `capacity`.
    pub(crate) fn new(capacity: usize) -> Self {
        Slots { slots: Vec::with_capacity(capacity.min(1 << 20)) }
    }

    /// Puts `value` in the slot of `fd`, or `AlreadyExists`.
    pub(crate) fn insert(&mut self, fd: RawFd, value: T) -> io::Result<()> {
        self.vacant(fd)?;
        let index = index(fd)?;
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, || None);
        }
        self.slots[index] = Some(value);
        Ok(())
    }

    /// `AlreadyExists` if `fd` has a value.
    pub(crate) fn vacant(&self, fd: RawFd) -> io::Result<()> {
        match self.slots.get(index(fd)?) {
            Some(Some(_)) => Err(io::Error::new(
                ErrorKind::AlreadyExists,
                format!("descriptor {fd} is watched already"),
            )),
            _ => Ok(()),
        }
    }

    /// The value of `fd`, or `NotFound`.
    pub(crate) fn get(&self, fd: RawFd) -> io::Result<&T> {
        self.peek(fd).ok_or_else(|| absent(fd))
    }

    /// The value of `fd`, to change, or `NotFound`.
    pub(crate) fn get_mut(&mut self, fd: RawFd) -> io::Result<&mut T> {
        self.peek_mut(fd).ok_or_else(|| absent(fd))
    }

    /// The value of `fd`, if any: for the timed path, where an absent one is no error.
    #[inline]
    pub(crate) fn peek(&self, fd: RawFd) -> Option<&T> {
        self.at(usize::try_from(fd).ok()?)
    }

    /// The value at a number that came from a descriptor, if any.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> Option<&T> {
        self.slots.get(index)?.as_ref()
    }

    /// As [`Slots::peek`], to change.
    #[inline]
    pub(crate) fn peek_mut(&mut self, fd: RawFd) -> Option<&mut T> {
        self.slots.get_mut(usize::try_from(fd).ok()?)?.as_mut()
    }

    /// Takes the value of `fd` out, or `NotFound`. Forgets the empty slots at the end.
    pub(crate) fn remove(&mut self, fd: RawFd) -> io::Result<T> {
        let slot = self.slots.get_mut(index(fd)?).and_then(Option::take);
        let value = slot.ok_or_else(|| absent(fd))?;
        while let Some(None) = self.slots.last() {
            self.slots.pop();
        }
        Ok(value)
    }

    /// One more than the highest descriptor that has a value.
    pub(crate) fn end(&self) -> usize {
        self.slots.len()
    }
}

fn index(fd: RawFd) -> io::Result<usize> {
    usize::try_from(fd).map_err(|_| io::Error::from(ErrorKind::InvalidInput))
}

fn absent(fd: RawFd) -> io::Error {
    io::Error::new(ErrorKind::NotFound, format!("descriptor {fd} is not watched"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_follows_the_highest_member() {
        let mut slots = Slots::new(0);
        assert_eq!(slots.end(), 0);
        slots.insert(3, 'a').unwrap();
        slots.insert(900, 'b').unwrap();
        assert_eq!(slots.end(), 901);
        assert_eq!(slots.remove(900).unwrap(), 'b');
        assert_eq!(slots.end(), 4);
        assert_eq!(slots.remove(3).unwrap(), 'a');
        assert_eq!(slots.end(), 0);
    }

    #[test]
    fn twice_and_never_are_errors() {
        let mut slots = Slots::new(4);
        slots.insert(5, ()).unwrap();
        assert_eq!(slots.insert(5, ()).unwrap_err().kind(), ErrorKind::AlreadyExists);
        for absent in [4, 6, 5_000] {
            assert_eq!(slots.get(absent).unwrap_err().kind(), ErrorKind::NotFound);
            assert_eq!(slots.get_mut(absent).unwrap_err().kind(), ErrorKind::NotFound);
            assert_eq!(slots.remove(absent).unwrap_err().kind(), ErrorKind::NotFound);
        }
        assert_eq!(slots.get(-1).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(slots.insert(-1, ()).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}
