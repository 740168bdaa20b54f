//! Messages over a serial port: each has a length and a check sum, so that a guest that dies in the middle of one,
//! or a kernel that prints into it, is noticed.
//!
//! A frame is `knee`, the length and the check sum of what follows (both 32 bits, little-endian), and the message:
//! JSON, deflated. A serial port that is emulated carries about 250 KB a second.

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use thiserror::Error;

const MAGIC: [u8; 4] = *b"knee";
/// No message is longer; what claims to be is garbage.
const LENGTH_MAX: u32 = 32 << 20;
/// Nor has it more bytes than these when it is inflated.
const INFLATED_MAX: u64 = 512 << 20;

/// Why there is no message.
#[derive(Debug, Error)]
pub enum WireFault {
    /// The peer is gone.
    #[error("the connection ended")]
    Ended,
    /// What came is no frame, or its check sum is wrong.
    #[error("what came over the serial port is damaged: {0}")]
    Damaged(&'static str),
    /// The port can't be read or written.
    #[error("the serial port: {0}")]
    Port(#[from] io::Error),
    /// It is whole, and no message of this version of knee.
    #[error("a message of another version of knee: {0}")]
    Foreign(#[from] serde_json::Error),
}

impl WireFault {
    /// Whether the wait for the peer was over.
    pub(crate) fn is_late(&self) -> bool {
        matches!(self, WireFault::Port(error) if error.kind() == io::ErrorKind::TimedOut)
    }
}

/// Writes `message` as one frame.
///
/// # Errors
/// [`WireFault::Port`] where it can't be written.
pub fn send(port: &mut impl Write, message: &impl Serialize) -> Result<(), WireFault> {
    let mut deflated = ZlibEncoder::new(Vec::new(), Compression::fast());
    serde_json::to_writer(&mut deflated, message)?;
    let body = deflated.finish()?;
    let length = u32::try_from(body.len()).ok().filter(|&length| length <= LENGTH_MAX);
    let length = length.ok_or_else(|| io::Error::other("the message is too long"))?;
    let mut frame = Vec::with_capacity(12 + body.len());
    frame.extend(MAGIC);
    frame.extend(length.to_le_bytes());
    frame.extend(crc32fast::hash(&body).to_le_bytes());
    frame.extend(body);
    port.write_all(&frame)?;
    Ok(port.flush()?)
}

/// Reads the next frame.
///
/// # Errors
/// Why there is none: see [`WireFault`].
pub fn receive<T: DeserializeOwned>(port: &mut impl Read) -> Result<T, WireFault> {
    let mut head = [0; 12];
    fill(port, &mut head)?;
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if head[..4] != MAGIC {
        return Err(WireFault::Damaged("no frame begins there"));
    }
    let (length, sum) = (word(4), word(8));
    if length > LENGTH_MAX {
        return Err(WireFault::Damaged("its length is impossible"));
    }
    // The length is only claimed: memory grows with what comes.
    let mut body = Vec::new();
    port.by_ref().take(u64::from(length)).read_to_end(&mut body)?;
    if body.len() < length as usize {
        return Err(WireFault::Ended);
    }
    if crc32fast::hash(&body) != sum {
        return Err(WireFault::Damaged("its check sum is wrong"));
    }
    inflated(&body, INFLATED_MAX)
}

/// The message in `body`, of which no more than `bytes_max` are inflated.
fn inflated<T: DeserializeOwned>(body: &[u8], bytes_max: u64) -> Result<T, WireFault> {
    Ok(serde_json::from_reader(ZlibDecoder::new(body).take(bytes_max))?)
}

fn fill(port: &mut impl Read, bytes: &mut [u8]) -> Result<(), WireFault> {
    port.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => WireFault::Ended,
        _ => WireFault::Port(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> Vec<u8> {
        let mut frame = Vec::new();
        send(&mut frame, &vec!["a cell"; 40]).unwrap();
        frame
    }

    #[test]
    fn what_is_sent_comes_back() {
        let two = [frame(), frame()].concat();
        let mut port = two.as_slice();
        for _ in 0..2 {
            assert_eq!(receive::<Vec<String>>(&mut port).unwrap(), ["a cell"; 40]);
        }
        assert!(matches!(receive::<Vec<String>>(&mut port), Err(WireFault::Ended)));
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_noticed() {
        let whole = frame();
        for length in 0..whole.len() {
            assert!(receive::<Vec<String>>(&mut &whole[..length]).is_err(), "cut at {length}");
        }
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(receive::<Vec<String>>(&mut flipped.as_slice()).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn no_more_than_so_much_is_inflated() {
        let (body, length) = (&frame()[12..], 1 + 40 * 9);
        assert!(inflated::<Vec<String>>(body, length).is_ok());
        assert!(inflated::<Vec<String>>(body, length - 1).is_err());
    }

    #[test]
    fn a_length_that_is_only_claimed_takes_no_memory() {
        let mut head = b"knee".to_vec();
        head.extend(LENGTH_MAX.to_le_bytes());
        head.extend([0; 20]);
        assert!(matches!(receive::<Vec<String>>(&mut head.as_slice()), Err(WireFault::Ended)));
    }
}
