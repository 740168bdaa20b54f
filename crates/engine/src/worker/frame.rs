//! What passes between the instrument and a worker: an order in, one framed reply out.

use crate::calibrate::Calibrated;
use crate::frame::{FrameFault, frame, read_frame};
use crate::probe::Region;
use archive::keeping;
use model::{CellKey, Custom, Fact, FailureReason, Metric, ReplyFault, Short};
use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use sys::clock::Clock;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CellOrder {
    pub key: CellKey,
    /// The parameter that the key's point is a value of.
    pub axis: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom: Option<Box<Custom>>,
    pub seed: u64,
    pub measure_ms: u64,
    /// The worker is killed after this time.
    pub deadline_ms: u64,
    /// Whether the worker is sampled, and says when it timed what instead of what came of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_profiled: bool,
    pub pinned_cpus: Vec<usize>,
    /// Where the cell may make a directory for its files.
    pub scratch: PathBuf,
    /// A worker whose parent is another one was orphaned before it could ask for a signal.
    pub parent_pid: i32,
    /// The soft limit on descriptors of knee's caller, if there is one.
    #[serde(default)]
    pub caller_descriptors_max: Option<u64>,
    /// Nanoseconds of a TSC tick; absent for `CLOCK_MONOTONIC`.
    pub tick_ns: Option<f64>,
    pub resolution_ns: f64,
    pub overhead_ns: f64,
}

impl CellOrder {
    pub fn clock(&self) -> Calibrated {
        let clock = self.tick_ns.map_or(Clock::Monotonic, |tick_ns| Clock::Tsc { tick_ns });
        Calibrated { clock, resolution_ns: self.resolution_ns, overhead_ns: self.overhead_ns }
    }
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reply {
    /// The time in which operations were timed, in nanoseconds.
    pub timed_ns: u64,
    pub metrics: Vec<Metric>,
    pub facts: BTreeMap<String, Fact>,
    /// Of a profiled cell: what was timed when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<Region>,
    /// How far it came, where that is not to the end.
    pub short: Option<Short>,
    /// Why its figures don't count; absent when they do.
    pub failure: Option<FailureReason>,
}

impl Reply {
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        frame(&serde_json::to_vec(self)?).ok_or_else(|| io::Error::other("the reply is too long"))
    }

    /// The reply in `bytes`, if that is all that they hold; else what is wrong with them.
    pub fn decode(bytes: &[u8]) -> Result<Reply, ReplyFault> {
        let unreadable = |error: String| ReplyFault::Unreadable { error };
        let mut rest = bytes;
        let body = read_frame(&mut rest).map_err(|fault| match fault {
            FrameFault::Ended if bytes.is_empty() => ReplyFault::Missing,
            FrameFault::Ended | FrameFault::NotAFrame | FrameFault::TooLong => {
                ReplyFault::NotAReply { start: start_of(bytes) }
            }
            FrameFault::Truncated { bytes, bytes_expected } => {
                ReplyFault::Truncated { bytes, bytes_expected }
            }
            FrameFault::WrongChecksum => ReplyFault::WrongChecksum,
            FrameFault::Read(error) => unreadable(error.to_string()),
        })?;
        if !rest.is_empty() {
            return Err(ReplyFault::TrailingBytes { start: start_of(rest) });
        }
        let unreadable = |error: serde_json::Error| unreadable(error.to_string());
        let reply: Reply = serde_json::from_slice(&body).map_err(unreadable)?;
        // Reasons and facts may quote a parameter with a password in it.
        let clean = keeping::changed(&reply, &keeping::clean).map_err(unreadable)?;
        Ok(clean.unwrap_or(reply))
    }
}

/// Precedes the number of a process that a profiled worker did not start, and measures.
const PROCESS: &[u8] = b"knee-process ";

/// Asks for samples of a process that runs already: what a profiled worker writes before its reply.
pub(crate) fn announce_process(pid: i32) -> Vec<u8> {
    let mut line = PROCESS.to_vec();
    line.extend_from_slice(format!("{pid}\n").as_bytes());
    line
}

/// Takes the processes out of `bytes` that are announced there, as far as they have come.
pub(crate) fn take_processes(bytes: &mut Vec<u8>) -> Vec<Pid> {
    let mut pids = Vec::new();
    while bytes.starts_with(PROCESS)
        && let Some(end) = bytes.iter().position(|&byte| byte == b'\n')
    {
        let line: Vec<u8> = bytes.drain(..=end).collect();
        let number = std::str::from_utf8(&line[PROCESS.len()..end]).ok();
        let number = number.and_then(|number| number.parse().ok()).filter(|&number| number > 0);
        pids.extend(number.and_then(Pid::from_raw));
    }
    pids
}

/// The first words of some output, harmless to print.
fn start_of(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(60)];
    format!("{:?}", String::from_utf8_lossy(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply() -> Reply {
        let samples = vec![1.5, 0.1 + 0.2, 1e9];
        let metric = Metric { name: "loop".into(), samples, operations: 3, ..Metric::default() };
        Reply { metrics: vec![metric], ..Reply::default() }
    }

    #[test]
    fn a_reply_comes_back_as_it_was_and_no_cut_of_it_is_one() {
        let whole = reply().encode().unwrap();
        assert_eq!(Reply::decode(&whole), Ok(reply()));
        for end in 0..whole.len() {
            let fault = Reply::decode(&whole[..end]).unwrap_err();
            let is_right = match end {
                0 => fault == ReplyFault::Missing,
                1..16 => matches!(fault, ReplyFault::NotAReply { .. }),
                _ => {
                    matches!(fault, ReplyFault::Truncated { bytes, .. } if bytes == end as u64 - 16)
                }
            };
            assert!(is_right, "cut at {end}: {fault}");
        }
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(Reply::decode(&flipped).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn announced_processes_are_taken_out_as_they_come() {
        let mut bytes = announce_process(17);
        let whole = [announce_process(4), reply().encode().unwrap()].concat();
        bytes.extend_from_slice(&whole[..5]);
        let numbers = |pids: Vec<Pid>| pids.into_iter().map(Pid::as_raw_pid).collect::<Vec<i32>>();
        assert_eq!(numbers(take_processes(&mut bytes)), [17]);
        assert_eq!(numbers(take_processes(&mut bytes)), [0; 0]);
        bytes.extend_from_slice(&whole[5..]);
        assert_eq!(numbers(take_processes(&mut bytes)), [4]);
        assert_eq!(Reply::decode(&bytes), Ok(reply()));
        let mut odd = b"knee-process -3\nknee-process x\n".to_vec();
        assert_eq!(numbers(take_processes(&mut odd)), [0; 0]);
        assert!(odd.is_empty());
    }

    #[test]
    fn garbage_is_shown_harmlessly() {
        let error = Reply::decode(b"\x1b[2Jhello, I am not a reply at all").unwrap_err();
        let ReplyFault::NotAReply { start } = error else { panic!("{error}") };
        assert!(!start.contains('\x1b'), "{start}");
        let mut bytes = reply().encode().unwrap();
        bytes.extend_from_slice(b"debug print");
        assert!(matches!(Reply::decode(&bytes), Err(ReplyFault::TrailingBytes { .. })));
    }
}
