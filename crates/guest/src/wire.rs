//! Messages over a serial port, in frames with a checksum, so that a guest that dies in the middle of one, or a kernel
//! that prints into it, is noticed.
//!
//! A message is JSON, deflated: a serial port that is emulated carries about 250 KB a second.

use engine::{FrameFault, frame, read_frame};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use thiserror::Error;

/// No message has more bytes than these when it is inflated.
const INFLATED_MAX: u64 = 512 << 20;

/// Why there is no message.
#[derive(Debug, Error)]
pub enum WireFault {
    /// The peer is gone.
    #[error("the connection ended")]
    Ended,
    /// What came is no frame, or its checksum is wrong.
    #[error("what came over the serial port is damaged: {0}")]
    Damaged(String),
    /// The port can't be read or written.
    #[error("the serial port: {0}")]
    Port(#[from] io::Error),
    /// It is whole, and no message of this version of knee.
    #[error("a message of another version of knee: {0}")]
    Foreign(#[from] serde_json::Error),
}

impl From<FrameFault> for WireFault {
    fn from(fault: FrameFault) -> WireFault {
        match fault {
            FrameFault::Ended | FrameFault::Truncated { .. } => WireFault::Ended,
            FrameFault::Read(error) => WireFault::Port(error),
            fault => WireFault::Damaged(fault.to_string()),
        }
    }
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
    let frame = frame(&deflated.finish()?);
    port.write_all(&frame.ok_or_else(|| io::Error::other("the message is too long"))?)?;
    Ok(port.flush()?)
}

/// Reads the next frame.
///
/// # Errors
/// Why there is none: see [`WireFault`].
pub fn receive<T: DeserializeOwned>(port: &mut impl Read) -> Result<T, WireFault> {
    inflated(&read_frame(port)?, INFLATED_MAX)
}

/// The message in `body`, of which no more than `bytes_max` are inflated.
fn inflated<T: DeserializeOwned>(body: &[u8], bytes_max: u64) -> Result<T, WireFault> {
    Ok(serde_json::from_reader(ZlibDecoder::new(body).take(bytes_max))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent() -> Vec<u8> {
        let mut frame = Vec::new();
        send(&mut frame, &vec!["a cell"; 40]).unwrap();
        frame
    }

    #[test]
    fn what_is_sent_comes_back() {
        let two = [sent(), sent()].concat();
        let mut port = two.as_slice();
        for _ in 0..2 {
            assert_eq!(receive::<Vec<String>>(&mut port).unwrap(), ["a cell"; 40]);
        }
        assert!(matches!(receive::<Vec<String>>(&mut port), Err(WireFault::Ended)));
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_noticed() {
        let whole = sent();
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
        let (body, length) = (read_frame(&mut sent().as_slice()).unwrap(), 1 + 40 * 9);
        assert!(inflated::<Vec<String>>(&body, length).is_ok());
        assert!(inflated::<Vec<String>>(&body, length - 1).is_err());
    }
}
