//! Messages as frames, so that half a message is distinguished from a whole one, and from whatever else comes the same
//! way.
//!
//! A frame is a magic word, the length and the checksum of what follows (both 32 bits, little-endian), and the message.

use std::io::{self, Read};
use thiserror::Error;

const MAGIC: &[u8; 8] = b"knee-1\r\n";
const HEAD: usize = MAGIC.len() + 8;
/// No message is longer: a cell has at most 200,000 samples of a dozen metrics.
pub(crate) const FRAME_BYTES_MAX: usize = 64 << 20;

/// Why there is no message.
#[derive(Debug, Error)]
pub enum FrameFault {
    /// What came has an end before its head has.
    #[error("it ended")]
    Ended,
    /// It begins otherwise.
    #[error("no frame begins there")]
    NotAFrame,
    /// It says that it is longer than any message.
    #[error("its length is impossible")]
    TooLong,
    /// It ended before the message did.
    #[error("it ended after {bytes} of {bytes_expected} bytes")]
    Truncated {
        /// Bytes that came.
        bytes: u64,
        /// Bytes that were to come.
        bytes_expected: u64,
    },
    /// The message was changed on its way.
    #[error("its checksum is wrong")]
    WrongChecksum,
    /// It can't be read.
    #[error(transparent)]
    Read(io::Error),
}

/// The frame of a message; `None` where that is too long.
pub fn frame(message: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(message.len()).ok()?;
    let numbers = [length, crc32fast::hash(message)].map(u32::to_le_bytes);
    let frame = || [MAGIC, numbers.as_flattened(), message].concat();
    (message.len() <= FRAME_BYTES_MAX).then(frame)
}

/// Reads a frame, and no further. Returns its message.
///
/// # Errors
/// Why there is none.
pub fn read_frame(source: &mut impl Read) -> Result<Vec<u8>, FrameFault> {
    let mut head = [0; HEAD];
    source.read_exact(&mut head).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => FrameFault::Ended,
        _ => FrameFault::Read(error),
    })?;
    let Some(numbers) = head.strip_prefix(MAGIC) else { return Err(FrameFault::NotAFrame) };
    let number =
        |at: usize| numbers[at..].iter().take(4).rfold(0, |sum, &byte| sum << 8 | u32::from(byte));
    let (length, checksum) = (number(0), number(4));
    if length as usize > FRAME_BYTES_MAX {
        return Err(FrameFault::TooLong);
    }
    // The length is only claimed: memory grows with what comes.
    let mut message = Vec::new();
    source.by_ref().take(u64::from(length)).read_to_end(&mut message).map_err(FrameFault::Read)?;
    if message.len() < length as usize {
        let (bytes, bytes_expected) = (message.len() as u64, u64::from(length));
        return Err(FrameFault::Truncated { bytes, bytes_expected });
    }
    if crc32fast::hash(&message) == checksum { Ok(message) } else { Err(FrameFault::WrongChecksum) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_one_after_the_other_as_they_were() {
        let all = [frame(b"first").unwrap(), frame(b"").unwrap(), frame(b"last").unwrap()].concat();
        let mut source = all.as_slice();
        for message in [&b"first"[..], b"", b"last"] {
            assert_eq!(read_frame(&mut source).unwrap(), message);
        }
        assert!(matches!(read_frame(&mut source), Err(FrameFault::Ended)));
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_noticed() {
        let whole = frame(b"a message of some length").unwrap();
        for end in 0..whole.len() {
            assert!(read_frame(&mut &whole[..end]).is_err(), "cut at {end}");
        }
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(read_frame(&mut flipped.as_slice()).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_length_that_is_only_claimed_takes_no_memory() {
        let head = |length: u32| [MAGIC, &length.to_le_bytes()[..], &[0; 20]].concat();
        let claimed = read_frame(&mut head(FRAME_BYTES_MAX as u32).as_slice());
        assert!(matches!(claimed, Err(FrameFault::Truncated { bytes: 16, .. })), "{claimed:?}");
        let impossible = read_frame(&mut head(u32::MAX).as_slice());
        assert!(matches!(impossible, Err(FrameFault::TooLong)), "{impossible:?}");
    }
}
