//! The descriptors that a poll or a select watches, read in the process's own memory.

use std::io;

use rustix::event::PollFlags;

use crate::calls::{Call, Entered};
use crate::ready::Interest;

/// Longer arrays are not read.
const ENTRIES_MAX: u32 = 1 << 17;

/// What the call that `pid` is in watches; `None` if that is too much, or not to be read.
///
/// poll passes over entries whose descriptor is below zero. select's sets are only right while the
/// thread sleeps: the kernel writes its answer over them before it returns.
pub fn watched(pid: u32, entered: &Entered) -> io::Result<Option<Vec<Interest>>> {
    let Some(bound) = entered.bound().filter(|&bound| bound <= ENTRIES_MAX) else {
        return Ok(None);
    };
    match entered.call {
        Call::Poll | Call::Ppoll => {
            let mut entries = vec![0; 8 * bound as usize];
            read(pid, entered.args[0], &mut entries)?;
            Ok(Some(live(&entries)))
        }
        Call::Select | Call::Pselect6 => {
            let bound = entered.args[0] as u32;
            let word = size_of::<libc::c_ulong>();
            let length = (bound as usize).div_ceil(8 * word) * word;
            let mut sets = [const { Vec::new() }; 3];
            for (set, &address) in sets.iter_mut().zip(&entered.args[1..4]) {
                set.resize(length, 0);
                if address != 0 {
                    read(pid, address, set)?;
                }
            }
            Ok(Some(members(&sets, bound)))
        }
        Call::EpollWait | Call::EpollPwait | Call::EpollPwait2 => Ok(None),
    }
}

/// The events that a wait for these returns at most: one for each entry of poll, or member of each of select's sets.
pub fn events_max(call: Call, watched: &[Interest]) -> u64 {
    match call {
        Call::Select | Call::Pselect6 => {
            watched.iter().map(|interest| u64::from(interest.events.bits().count_ones())).sum()
        }
        _ => watched.len() as u64,
    }
}

fn read(pid: u32, address: u64, into: &mut [u8]) -> io::Result<()> {
    if into.is_empty() || sys::peek::read(pid, address, into)? == into.len() {
        return Ok(());
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

/// The entries of a `struct pollfd` array that have a descriptor.
fn live(entries: &[u8]) -> Vec<Interest> {
    let entry = |entry: &[u8]| {
        let descriptor = i32::from_ne_bytes(*entry.first_chunk()?);
        let events = u16::from_ne_bytes(*entry[4..].first_chunk()?);
        (descriptor >= 0)
            .then_some(Interest { descriptor, events: PollFlags::from_bits_retain(events) })
    };
    entries.chunks_exact(8).filter_map(entry).collect()
}

/// What select waits for by its first, its second and its third set.
const BY_SET: [PollFlags; 3] = [PollFlags::IN, PollFlags::OUT, PollFlags::PRI];

/// The descriptors below `bound` that are in any of select's sets, which are of words of the machine.
fn members(sets: &[Vec<u8>; 3], bound: u32) -> Vec<Interest> {
    let word = size_of::<libc::c_ulong>();
    let is_in = |set: &[u8], descriptor: usize| {
        let byte = descriptor / 8;
        let byte = if cfg!(target_endian = "big") { byte ^ (word - 1) } else { byte };
        set.get(byte).is_some_and(|bits| bits & 1 << (descriptor % 8) != 0)
    };
    let interest = |descriptor: u32| {
        let sets = sets.iter().zip(BY_SET);
        let sets =
            sets.filter(|(set, _)| is_in(set, descriptor as usize)).map(|(_, events)| events);
        let events: PollFlags = sets.collect();
        (!events.is_empty()).then_some(Interest { descriptor: descriptor.cast_signed(), events })
    };
    (0..bound).filter_map(interest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_arrays_are_counted() {
        let pid = std::process::id();
        let count = |pid, entered: &Entered| {
            watched(pid, entered).map(|watched| watched.map(|watched| watched.len()))
        };
        let entries: Vec<[i32; 2]> = vec![[3, 1], [-1, 1], [900, 4], [i32::MIN, 0]];
        let at = |address: usize, length| [address as u64, length, 0, 0, 0, 0];
        let poll = Entered { call: Call::Poll, args: at(entries.as_ptr().addr(), 4) };
        assert_eq!(count(pid, &poll).unwrap(), Some(2));
        let none = Entered { call: Call::Poll, args: at(0, 0) };
        assert_eq!(count(pid, &none).unwrap(), Some(0));
        let nowhere = Entered { call: Call::Poll, args: at(8, 4) };
        assert!(count(pid, &nowhere).is_err());
        let endless = Entered { call: Call::Poll, args: at(8, 1 << 30) };
        assert_eq!(count(pid, &endless).unwrap(), None);
    }

    #[test]
    fn descriptors_in_several_sets_count_once_and_none_beyond_the_highest() {
        let pid = std::process::id();
        let (read, write): ([u64; 2], [u64; 2]) = ([0b1011, u64::MAX], [0b0110, 0]);
        let args = [67, read.as_ptr().addr() as u64, write.as_ptr().addr() as u64, 0, 0, 0];
        let select = Entered { call: Call::Select, args };
        let watched = watched(pid, &select).unwrap().unwrap();
        let expected = [
            (0, PollFlags::IN),
            (1, PollFlags::IN | PollFlags::OUT),
            (2, PollFlags::OUT),
            (3, PollFlags::IN),
            (64, PollFlags::IN),
            (65, PollFlags::IN),
            (66, PollFlags::IN),
        ];
        let expected = expected.map(|(descriptor, events)| Interest { descriptor, events });
        assert_eq!(watched, expected);
        let ways = [Call::Select, Call::Poll].map(|call| events_max(call, &watched));
        assert_eq!(ways, [8, 7], "select returns an event for each set");
        let full = || vec![0xff; 16];
        assert_eq!(members(&[full(), vec![], vec![]], 64).len(), 64);
        assert_eq!(members(&[full(), full(), full()], 0), []);
    }
}
