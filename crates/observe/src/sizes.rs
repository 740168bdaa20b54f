//! How many descriptors a poll or a select watches, counted in the process's own memory while it
//! sleeps in the call.

use std::io;

use crate::calls::{Call, Entered};

/// Longer arrays are not read.
const ENTRIES_MAX: u32 = 1 << 17;

/// Counts what the call that `pid` is in watches; `None` if that is too much, or not to be read.
///
/// poll passes over entries whose descriptor is below zero. select's sets are only right while the
/// thread sleeps: the kernel writes its answer over them before it returns.
pub fn count(pid: u32, entered: &Entered) -> io::Result<Option<u64>> {
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
            let word = size_of::<libc::c_ulong>();
            let length = (bound as usize).div_ceil(8 * word) * word;
            let mut all = vec![0; length];
            let mut set = vec![0; length];
            for &address in entered.args[1..4].iter().filter(|&&address| address != 0) {
                read(pid, address, &mut set)?;
                all.iter_mut().zip(&set).for_each(|(all, set)| *all |= set);
            }
            Ok(Some(below(&all, bound)))
        }
        Call::EpollWait | Call::EpollPwait | Call::EpollPwait2 => Ok(None),
    }
}

fn read(pid: u32, address: u64, into: &mut [u8]) -> io::Result<()> {
    if into.is_empty() || sys::peek::read(pid, address, into)? == into.len() {
        return Ok(());
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

/// How many entries of a `struct pollfd` array have a descriptor.
fn live(entries: &[u8]) -> u64 {
    let fds = entries.chunks_exact(8).filter_map(|entry| entry.first_chunk::<4>());
    fds.filter(|fd| i32::from_ne_bytes(**fd) >= 0).count() as u64
}

/// How many bits below `bound` are set, in words of the machine.
fn below(set: &[u8], bound: u32) -> u64 {
    let word = size_of::<libc::c_ulong>();
    let bits = |(index, bytes): (usize, &[u8])| {
        let mut whole = [0; 8];
        if cfg!(target_endian = "big") {
            whole[8 - bytes.len()..].copy_from_slice(bytes);
        } else {
            whole[..bytes.len()].copy_from_slice(bytes);
        }
        let left = (bound as usize).saturating_sub(index * word * 8);
        let mask = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
        u64::from((u64::from_ne_bytes(whole) & mask).count_ones())
    };
    set.chunks_exact(word).enumerate().map(bits).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_arrays_are_counted() {
        let pid = std::process::id();
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
        // 0, 1, 2 and 3, then 64, 65 and 66.
        assert_eq!(count(pid, &select).unwrap(), Some(7));
        assert_eq!(below(&[0xff; 16], 64), 64);
        assert_eq!(below(&[0xff; 16], 0), 0);
    }
}
