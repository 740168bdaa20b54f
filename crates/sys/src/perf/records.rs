//! The records in the ring of a clock. They come from the kernel, but are read as if anything wrote them: a
//! record that is cut off or contradicts itself is left out.
#![expect(missing_docs, reason = "fields whose names say all have no doc")]

/// `PERF_RECORD_…`: the kinds that are read.
const LOST: u32 = 2;
const NAMED: u32 = 3;
const ENDED: u32 = 4;
const FORKED: u32 = 7;
const SAMPLE: u32 = 9;
const MAPPED: u32 = 10;
const LOST_SAMPLES: u32 = 13;
const SWITCHED: u32 = 15;
/// Of a record's `misc`: the bits that say in which mode the CPU was, and the kernel's.
const MODE: u16 = 7;
const MODE_KERNEL: u16 = 1;
/// Of a record's `misc`: a new name comes from `exec`.
const FROM_EXEC: u16 = 1 << 13;
/// Of a record's `misc`: a thread is left.
const SWITCHED_OUT: u16 = 1 << 13;
/// Every record but a sample ends with the process, the thread, the time, and the CPU.
const TRAILER: usize = 24;
/// `PERF_SAMPLE_REGS_ABI_64`: the thread runs a program, and that is of 64 bits.
const REGISTERS_64: u64 = 2;
/// The raw data of a clock: it has none, but these bytes in their place.
const NO_RAW: [u8; 4] = [0; 4];
/// `PERF_CONTEXT_MAX`: at this address and above are markers, not code.
const MARKER_MIN: u64 = 4095_u64.wrapping_neg();
/// `PERF_CONTEXT_KERNEL` and `PERF_CONTEXT_USER`: the mode of the addresses that follow.
const IN_KERNEL: u64 = 128_u64.wrapping_neg();
const IN_USER: u64 = 512_u64.wrapping_neg();

/// One record of a clock's ring.
#[derive(Clone, Copy, Debug)]
pub enum Record<'a> {
    /// Where a thread was.
    Sample(Sample<'a>),
    /// A process has mapped a part of a file, or other memory, that it may execute.
    Mapped(Mapped<'a>),
    /// A thread has a new name.
    Named(Named<'a>),
    /// A thread has been started.
    Forked(Forked),
    /// A thread has ended.
    Ended { pid: u32, tid: u32, time_ns: u64 },
    /// A thread has got a CPU.
    Resumed(Resumed),
    /// So many records were dropped.
    Lost(u64),
}

/// Where a thread was when its clock came.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    pub in_kernel: bool,
    pub address: u64,
    pub pid: u32,
    pub tid: u32,
    /// When, by `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    pub cpu: u32,
    /// What the clock has counted since the last sample: nanoseconds or cycles.
    pub period: u64,
    chain: &'a [u8],
    /// The raw data of a tracepoint; empty for a clock.
    pub raw: &'a [u8],
    /// Where the program was that the thread runs; none where that was not asked for, and for a thread of the kernel.
    pub user: Option<UserState<'a>>,
}

/// The registers of a program that lead to its callers, and the top of its stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserState<'a> {
    pub instruction_pointer: u64,
    /// The stack pointer: where `stack` begins.
    pub stack_pointer: u64,
    /// The frame pointer, if the program uses one.
    pub frame_pointer: u64,
    pub stack: &'a [u8],
}

impl UserState<'_> {
    /// The word at an address, if it is in the copied part of the stack.
    pub fn word(&self, address: u64) -> Option<u64> {
        word(self.stack, usize::try_from(address.checked_sub(self.stack_pointer)?).ok()?)
    }
}

impl Sample<'_> {
    /// The addresses of its call chain, the innermost first, each with whether it is in the kernel. The first of
    /// each mode is a program counter, the others are where calls return to.
    pub fn chain(&self) -> impl Iterator<Item = (bool, u64)> {
        let mut mode = None;
        let words = self.chain.chunks_exact(8).filter_map(|bytes| bytes.try_into().ok());
        words.map(u64::from_ne_bytes).filter_map(move |address| match address {
            IN_KERNEL => {
                mode = Some(true);
                None
            }
            IN_USER => {
                mode = Some(false);
                None
            }
            // Of a hypervisor or a guest.
            MARKER_MIN.. => {
                mode = None;
                None
            }
            address => Some((mode?, address)),
        })
    }
}

/// What a process has mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped<'a> {
    pub pid: u32,
    pub start: u64,
    pub length: u64,
    /// Where they begin in the file.
    pub offset: u64,
    /// The number of the file in its file system; 0 where there is no file.
    pub inode: u64,
    /// The file as the kernel names it, or `//anon`, `[vdso]`.
    pub path: &'a [u8],
    pub time_ns: u64,
}

/// A thread's new name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    pub pid: u32,
    pub tid: u32,
    /// Whether the process runs another program from now on.
    pub is_exec: bool,
    pub name: &'a [u8],
    pub time_ns: u64,
}

/// A thread, or a process with its first thread, that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forked {
    pub pid: u32,
    /// The process that started it: the same for a thread.
    pub parent: u32,
    pub tid: u32,
    pub time_ns: u64,
}

/// A thread that runs from now on. A CPU's idle thread has the number 0, as has a thread outside of the reader's namespace
/// of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resumed {
    pub pid: u32,
    pub tid: u32,
    pub cpu: u32,
    pub time_ns: u64,
}

impl Record<'_> {
    /// When it was written; 0 for lost records, which have no time.
    pub fn time_ns(&self) -> u64 {
        match self {
            Record::Sample(sample) => sample.time_ns,
            Record::Mapped(mapped) => mapped.time_ns,
            Record::Named(named) => named.time_ns,
            Record::Forked(forked) => forked.time_ns,
            Record::Resumed(resumed) => resumed.time_ns,
            Record::Ended { time_ns, .. } => *time_ns,
            Record::Lost(_) => 0,
        }
    }
}

/// The records in what the ring of [`Event::clock`](super::Event::clock) gave. Kinds that are not known are passed
/// over; what makes no sense ends them.
pub fn records(bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    records_with_bytes(bytes).map(|(record, _)| record)
}

/// The same, each with the bytes that it was read from.
pub fn records_with_bytes(bytes: &[u8]) -> impl Iterator<Item = (Record<'_>, &[u8])> {
    let mut rest = bytes;
    let split = std::iter::from_fn(move || {
        let (whole, next) = split(rest)?;
        rest = next;
        Some(whole)
    });
    split.filter_map(|whole| Some((record(whole)?, whole)))
}

/// From the bytes of one record.
fn record(whole: &[u8]) -> Option<Record<'_>> {
    let misc = u16::from_ne_bytes(whole.get(4..6)?.try_into().ok()?);
    let body = whole.get(8..)?;
    match half(whole, 0)? {
        SAMPLE => sample(misc, body),
        MAPPED => mapped(body),
        NAMED => named(misc, body),
        FORKED => forked(body),
        ENDED => {
            let (pid, tid, time_ns) = (half(body, 0)?, half(body, 8)?, word(body, 16)?);
            Some(Record::Ended { pid, tid, time_ns })
        }
        SWITCHED if misc & SWITCHED_OUT == 0 => resumed(body),
        LOST => Some(Record::Lost(word(body, 8)?)),
        LOST_SAMPLES => Some(Record::Lost(word(body, 0)?)),
        _ => None,
    }
}

fn sample(misc: u16, body: &[u8]) -> Option<Record<'_>> {
    let length = usize::try_from(word(body, 40)?).ok()?.checked_mul(8)?;
    let chain = body.get(48..)?.get(..length)?;
    let (raw, user) = raw_and_user(&body[48 + length..]);
    Some(Record::Sample(Sample {
        in_kernel: misc & MODE == MODE_KERNEL,
        address: word(body, 0)?,
        pid: half(body, 8)?,
        tid: half(body, 12)?,
        time_ns: word(body, 16)?,
        cpu: half(body, 24)?,
        period: word(body, 32)?,
        chain,
        raw,
        user,
    }))
}

/// What a sample has behind its chain: a length of 4 bytes with so much raw data, then which registers there are, three
/// of them, and a length of 8 bytes with so much of the stack, of which the last word says how much is filled.
fn raw_and_user(rest: &[u8]) -> (&[u8], Option<UserState<'_>>) {
    let Some(length) = half(rest, 0) else { return (&[], None) };
    let Some((raw, rest)) = rest[4..].split_at_checked(length as usize) else { return (&[], None) };
    (if raw == NO_RAW { &[] } else { raw }, user_state(rest))
}

fn user_state(rest: &[u8]) -> Option<UserState<'_>> {
    if word(rest, 0)? != REGISTERS_64 {
        return None;
    }
    let length = usize::try_from(word(rest, 32)?).ok()?;
    let (stack, rest_of_stack) = rest.get(40..)?.split_at_checked(length)?;
    let filled = usize::try_from(word(rest_of_stack, 0).unwrap_or(0)).ok()?;
    Some(UserState {
        frame_pointer: word(rest, 8)?,
        stack_pointer: word(rest, 16)?,
        instruction_pointer: word(rest, 24)?,
        stack: stack.get(..filled)?,
    })
}

fn mapped(body: &[u8]) -> Option<Record<'_>> {
    Some(Record::Mapped(Mapped {
        pid: half(body, 0)?,
        start: word(body, 8)?,
        length: word(body, 16)?,
        offset: word(body, 24)?,
        inode: word(body, 40)?,
        path: text(body, 64)?,
        time_ns: trailing_time(body)?,
    }))
}

fn named(misc: u16, body: &[u8]) -> Option<Record<'_>> {
    Some(Record::Named(Named {
        pid: half(body, 0)?,
        tid: half(body, 4)?,
        is_exec: misc & FROM_EXEC != 0,
        name: text(body, 8)?,
        time_ns: trailing_time(body)?,
    }))
}

fn forked(body: &[u8]) -> Option<Record<'_>> {
    Some(Record::Forked(Forked {
        pid: half(body, 0)?,
        parent: half(body, 4)?,
        tid: half(body, 8)?,
        time_ns: word(body, 16)?,
    }))
}

fn resumed(body: &[u8]) -> Option<Record<'_>> {
    let trailer = body.len().checked_sub(TRAILER)?;
    Some(Record::Resumed(Resumed {
        pid: half(body, trailer)?,
        tid: half(body, trailer + 4)?,
        cpu: half(body, trailer + 16)?,
        time_ns: trailing_time(body)?,
    }))
}

/// The first record's bytes, and what follows it.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let size = usize::from(u16::from_ne_bytes(bytes.get(6..8)?.try_into().ok()?));
    (size >= 8).then(|| bytes.split_at_checked(size)).flatten()
}

fn word(body: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(body.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

fn half(body: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(body.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// The text from `at` to its zero; the trailer follows it.
fn text(body: &[u8], at: usize) -> Option<&[u8]> {
    let text = body.get(at..body.len().checked_sub(TRAILER)?)?;
    Some(text.split(|&byte| byte == 0).next().unwrap_or_default())
}

fn trailing_time(body: &[u8]) -> Option<u64> {
    word(body, body.len().checked_sub(16)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(low: u32, high: u32) -> u64 {
        let bytes = [low.to_ne_bytes(), high.to_ne_bytes()].concat();
        u64::from_ne_bytes(bytes.try_into().unwrap())
    }

    fn bytes(kind: u32, misc: u16, words: &[u64]) -> Vec<u8> {
        let size = 8 + 8 * u16::try_from(words.len()).unwrap();
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(misc.to_ne_bytes().into_iter().chain(size.to_ne_bytes()));
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes
    }

    fn sampled(misc: u16, address: u64, chain: &[u64]) -> Vec<u8> {
        let head = [address, pair(7, 8), 1_000, 3, 997_000, chain.len() as u64];
        bytes(SAMPLE, misc, &[&head, chain].concat())
    }

    fn letters(text: [u8; 8]) -> u64 {
        u64::from_ne_bytes(text)
    }

    #[test]
    fn samples_have_their_mode_and_their_chain_and_lost_ones_are_counted() {
        let hypervisor = 32_u64.wrapping_neg();
        let chain = [IN_KERNEL, 0xf1, 0xf2, hypervisor, 0x5, IN_USER, 0x11, 0x12];
        let throttled = bytes(5, 0, &[1, 2, 3]);
        let all = [
            sampled(2, 0x1234, &[]),
            bytes(LOST, 0, &[7, 3, 0, 0]),
            throttled,
            sampled(1, 0xf1, &chain),
            bytes(LOST_SAMPLES, 0, &[4, 0, 0]),
        ];
        let all = all.concat();
        let mut records = records(&all);
        let Some(Record::Sample(first)) = records.next() else { panic!("no sample") };
        assert_eq!((first.in_kernel, first.address, first.pid, first.tid), (false, 0x1234, 7, 8));
        assert_eq!((first.time_ns, first.period, first.chain().count()), (1_000, 997_000, 0));
        assert_eq!(first.cpu, 3);
        assert!(matches!(records.next(), Some(Record::Lost(3))));
        let Some(Record::Sample(second)) = records.next() else { panic!("no sample") };
        assert!(second.in_kernel);
        let chain: Vec<(bool, u64)> = second.chain().collect();
        assert_eq!(chain, [(true, 0xf1), (true, 0xf2), (false, 0x11), (false, 0x12)]);
        assert!(matches!(records.next(), Some(Record::Lost(4))));
        assert!(records.next().is_none());
    }

    #[test]
    fn a_tracepoint_has_its_raw_data_and_where_the_program_was() {
        let head = [0x1234, pair(7, 8), 1_000, 3, 1, 1, IN_USER];
        // 12 bytes of raw data, so that what follows begins at a word.
        let raw = [pair(12, 315), pair(41, 42)];
        let registers = [2, 0xb9, 0x8000, 0x1234];
        let stack = [24, 0xa, 0xb, 0, 16];
        let whole = bytes(SAMPLE, 1, &[&head[..], &raw, &registers, &stack].concat());
        let Some(Record::Sample(sample)) = records(&whole).next() else { panic!("no sample") };
        assert_eq!((half(sample.raw, 0), half(sample.raw, 8)), (Some(315), Some(42)));
        let user = sample.user.unwrap();
        assert_eq!((user.frame_pointer, user.instruction_pointer), (0xb9, 0x1234));
        let words = [0x7ff8, 0x8000, 0x8008, 0x8009, 0x8010].map(|address| user.word(address));
        assert_eq!(words, [None, Some(0xa), Some(0xb), None, None]);
        let clock = [pair(4, 0)];
        let of_clock = bytes(SAMPLE, 1, &[&head[..], &clock, &registers, &stack].concat());
        let Some(Record::Sample(sample)) = records(&of_clock).next() else { panic!("no sample") };
        assert!(sample.raw.is_empty() && sample.user == Some(user));
        let of_kernel = bytes(SAMPLE, 1, &[&head[..], &raw, &[0, 0]].concat());
        let Some(Record::Sample(sample)) = records(&of_kernel).next() else { panic!("no sample") };
        assert!(sample.user.is_none() && sample.raw.len() == 12);
        for length in 0..whole.len() {
            let mut short = whole[..length].to_vec();
            if let Some(size) = short.get_mut(6..8) {
                size.copy_from_slice(&u16::try_from(length).unwrap().to_ne_bytes());
            }
            // There is an answer to each, whatever it is.
            let _ = records(&short).count();
        }
    }

    #[test]
    fn what_processes_do_is_read() {
        let end = [pair(7, 7), 99, 3];
        let file = [letters(*b"/bin/tru"), letters(*b"e\0\0\0\0\0\0\0")];
        let mapping = [pair(7, 7), 0x1000, 0x2000, 0x3000, pair(8, 1), 42, 1, pair(5, 2)];
        let all = [
            bytes(FORKED, 0, &[pair(7, 6), pair(7, 6), 50, end[0], end[1], end[2]]),
            bytes(
                NAMED,
                FROM_EXEC,
                &[pair(7, 7), letters(*b"true\0\0\0\0"), end[0], end[1], end[2]],
            ),
            bytes(MAPPED, 2, &[&mapping[..], &file, &end].concat()),
            bytes(ENDED, 0, &[pair(7, 6), pair(7, 6), 77, end[0], end[1], end[2]]),
            bytes(SWITCHED, SWITCHED_OUT, &[pair(0, 0), end[0], end[1], end[2]]),
            bytes(SWITCHED, 0, &[pair(0, 0), end[0], end[1], end[2]]),
        ];
        let all = all.concat();
        let mut records = records(&all);
        let forked = Forked { pid: 7, parent: 6, tid: 7, time_ns: 50 };
        assert!(matches!(records.next(), Some(Record::Forked(read)) if read == forked));
        let named = Named { pid: 7, tid: 7, is_exec: true, name: b"true", time_ns: 99 };
        assert!(matches!(records.next(), Some(Record::Named(read)) if read == named));
        let path = b"/bin/true";
        let (start, length, offset, inode) = (0x1000, 0x2000, 0x3000, 42);
        let mapped = Mapped { pid: 7, start, length, offset, inode, path, time_ns: 99 };
        assert!(matches!(records.next(), Some(Record::Mapped(read)) if read == mapped));
        assert!(matches!(records.next(), Some(Record::Ended { pid: 7, tid: 7, time_ns: 77 })));
        let resumed = Resumed { pid: 7, tid: 7, cpu: 3, time_ns: 99 };
        assert!(matches!(records.next(), Some(Record::Resumed(read)) if read == resumed));
        assert!(records.next().is_none(), "the thread that leaves the CPU is passed over");
    }

    #[test]
    fn what_is_cut_off_or_contradicts_itself_is_left_out() {
        let whole = sampled(2, 1, &[IN_USER, 1]);
        assert_eq!(records(&whole).count(), 1);
        for length in 0..whole.len() {
            assert_eq!(records(&whole[..length]).count(), 0, "{length}");
        }
        // A record that says it is shorter than its own head, and chains longer than their record.
        assert_eq!(records(&[0; 16]).count(), 0);
        for length in [3, u64::MAX, 1 << 61] {
            let long = bytes(SAMPLE, 1, &[1, 2, 3, 4, 5, length, 6]);
            assert_eq!(records(&long).count(), 0, "{length}");
        }
        for kind in 0..40 {
            for words in 0..12 {
                // There is an answer to each, whatever it is.
                let _ = records(&bytes(kind, 0, &vec![u64::MAX; words])).count();
            }
        }
    }
}
