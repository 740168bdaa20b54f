//! What the kernel writes into a ring: samples of the two tracepoints, and how many were lost.

use crate::tracefs::{Tracepoint, Tracepoints};

/// `PERF_RECORD_LOST` and `PERF_RECORD_SAMPLE`.
const LOST: u32 = 2;
const SAMPLE: u32 = 9;
const HEADER: usize = 8;

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A thread has gone into a system call.
    Enter { time_ns: u64, call: i64, args: [u64; 6] },
    /// It has come back with this answer.
    Exit { time_ns: u64, call: i64, answer: i64 },
    /// So many records found no room.
    Lost(u64),
}

/// The records in `bytes`, in order. Records of other kinds are passed over; the rest of what makes
/// no sense ends them, and counts as one lost record.
pub fn records<'a>(bytes: &'a [u8], points: &'a Tracepoints) -> impl Iterator<Item = Record> + 'a {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let Some((kind, body, next)) = split(rest) else {
                rest = &[];
                return Some(Record::Lost(1));
            };
            rest = next;
            match kind {
                SAMPLE => return Some(sample(body, points).unwrap_or(Record::Lost(1))),
                LOST => return Some(Record::Lost(word(body, 8).unwrap_or(1))),
                _ => {}
            }
        }
        None
    })
}

/// The first record's kind and body, and what follows it.
fn split(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let kind = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?);
    let size = u16::from_ne_bytes(bytes.get(6..HEADER)?.try_into().ok()?);
    let body = bytes.get(HEADER..size.into())?;
    Some((kind, body, &bytes[size.into()..]))
}

fn word(body: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(body.get(at..at + 8)?.try_into().ok()?))
}

/// A sample: its time, the length of the raw data, and these.
fn sample(body: &[u8], points: &Tracepoints) -> Option<Record> {
    let time_ns = word(body, 0)?;
    let length = u32::from_ne_bytes(body.get(8..12)?.try_into().ok()?);
    let raw = body.get(12..)?.get(..usize::try_from(length).ok()?)?;
    // Both tracepoints tell themselves by their id, which every raw record begins with.
    let id = u64::from(u16::from_ne_bytes(raw.get(..2)?.try_into().ok()?));
    match &points {
        Tracepoints { enter: Tracepoint { id: expected, call, value }, .. } if *expected == id => {
            let mut args = [0; 6];
            for (index, arg) in args.iter_mut().enumerate() {
                *arg = value.number(raw, index, size_of::<u64>())?.cast_unsigned();
            }
            Some(Record::Enter { time_ns, call: call.integer(raw)?, args })
        }
        Tracepoints { exit: Tracepoint { id: expected, call, value }, .. } if *expected == id => {
            Some(Record::Exit { time_ns, call: call.integer(raw)?, answer: value.integer(raw)? })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracefs::Description;

    fn points() -> Tracepoints {
        let [enter, exit] = [
            ("443\n", include_str!("../tests/recorded/sys_enter.format")),
            ("442\n", include_str!("../tests/recorded/sys_exit.format")),
        ]
        .map(|(id, format)| Description { id: id.into(), format: format.into() });
        Tracepoints::parse(&enter, &exit).unwrap()
    }

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let size = u16::try_from(HEADER + body.len()).unwrap();
        let parts = [&kind.to_ne_bytes()[..], &[0; 2], &size.to_ne_bytes(), body];
        parts.concat()
    }

    fn raw(time_ns: u64, id: u16, words: &[u64]) -> Vec<u8> {
        let length = 8 + 8 * words.len() as u32;
        let mut body = [&time_ns.to_ne_bytes()[..], &length.to_ne_bytes()].concat();
        body.extend_from_slice(&id.to_ne_bytes());
        body.extend_from_slice(&[0; 6]);
        body.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        // The kernel pads to eight bytes.
        body.extend_from_slice(&[0; 4]);
        body
    }

    fn some() -> Vec<u8> {
        let lost = [7_u64.to_ne_bytes(), 3_u64.to_ne_bytes()].concat();
        let minus = (-4_i64).cast_unsigned();
        [
            record(SAMPLE, &raw(100, 443, &[232, 5, 0x7fff, 512, u64::MAX, 0, 0])),
            record(LOST, &lost),
            // A kind that is not used here.
            record(5, &[1; 24]),
            record(SAMPLE, &raw(101, 442, &[232, minus])),
        ]
        .concat()
    }

    #[test]
    fn records_come_in_order() {
        let points = points();
        let got: Vec<Record> = records(&some(), &points).collect();
        assert_eq!(
            got,
            [
                Record::Enter { time_ns: 100, call: 232, args: [5, 0x7fff, 512, u64::MAX, 0, 0] },
                Record::Lost(3),
                Record::Exit { time_ns: 101, call: 232, answer: -4 },
            ]
        );
    }

    #[test]
    fn nothing_that_is_cut_or_garbled_goes_unnoticed_or_panics() {
        let (points, whole) = (points(), some());
        for end in 1..whole.len() {
            let got: Vec<Record> = records(&whole[..end], &points).collect();
            assert!(got.len() <= 3, "{end}: {got:?}");
        }
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut garbled = whole.clone();
                garbled[at] = value;
                assert!(records(&garbled, &points).count() <= garbled.len());
            }
        }
        assert_eq!(records(&[0; 64], &points).collect::<Vec<_>>(), [Record::Lost(1)]);
        let stranger = record(SAMPLE, &raw(1, 99, &[232, 0]));
        assert_eq!(records(&stranger, &points).collect::<Vec<_>>(), [Record::Lost(1)]);
    }
}
