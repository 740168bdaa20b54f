//! Tracepoints and program counters of one thread through `perf_event_open`: samples into a ring, or a
//! plain count.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use libc::{Ioctl, c_ulong};

/// `PERF_TYPE_SOFTWARE`, and of these events `PERF_COUNT_SW_CPU_CLOCK`.
const SOFTWARE: u32 = 1;
const CPU_CLOCK: u64 = 0;
/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;
/// `PERF_SAMPLE_IP`: each sample holds a program counter and nothing else.
const COUNTER: u64 = 1 << 0;
/// `PERF_SAMPLE_TIME` and `PERF_SAMPLE_RAW`: what each sample holds, in this order.
const TIME_AND_RAW: u64 = (1 << 2) | (1 << 10);
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: c_ulong = 1 << 3;

// Bits of the attributes' bit field, counted from its first.
const DISABLED: u64 = 1 << 0;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const WATERMARK: u64 = 1 << 14;
const USE_CLOCK_ID: u64 = 1 << 25;

const ENABLE: Ioctl = libc::_IO(b'$' as u32, 0);
const DISABLE: Ioctl = libc::_IO(b'$' as u32, 1);
const SET_OUTPUT: Ioctl = libc::_IO(b'$' as u32, 5);
const SET_FILTER: Ioctl = libc::_IOW::<*const u8>(b'$' as u32, 6);

// Where the head and the tail stand in the first page of a ring.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// `PERF_RECORD_LOST` and `PERF_RECORD_SAMPLE`.
const LOST: u32 = 2;
const SAMPLE: u32 = 9;
/// Of a record's `misc`: the bits that say in which mode the CPU was, and the kernel's.
const MODE: u16 = 7;
const MODE_KERNEL: u16 = 1;

/// The kernel's `struct perf_event_attr`, as long as it was in Linux 4.8.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_watermark: u32,
    breakpoint_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clock_id: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
}

/// What becomes of a tracepoint each time a thread passes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It is only counted.
    Count,
    /// A sample with its time (`CLOCK_MONOTONIC`, in nanoseconds) and its raw data goes to a ring.
    Samples,
}

/// Which program counters are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modes {
    /// Those of the program and those of the kernel.
    All,
    /// Those of the program: nothing comes while the thread is in the kernel.
    User,
}

/// A tracepoint or a clock that is watched on one thread. It begins disabled.
#[derive(Debug)]
pub struct Event(OwnedFd);

impl Event {
    /// `perf_event_open(2)`: the tracepoint of this id on the thread `tid`, on whatever CPU it runs.
    ///
    /// # Errors
    /// `ESRCH` if there is no such thread, `EACCES` or `EPERM` if it may not be watched, `EMFILE` if
    /// no descriptor is left.
    pub fn tracepoint(id: u64, tid: u32, wanted: Wanted) -> io::Result<Self> {
        let samples = wanted == Wanted::Samples;
        let attributes = Attributes {
            kind: TRACEPOINT,
            size: size_of::<Attributes>() as u32,
            config: id,
            sample_period: u64::from(samples),
            sample_type: if samples { TIME_AND_RAW } else { 0 },
            flags: bit_field(DISABLED | WATERMARK | USE_CLOCK_ID),
            // Nobody is woken: who watches looks from time to time.
            wakeup_watermark: 1 << 30,
            clock_id: libc::CLOCK_MONOTONIC,
            ..Attributes::default()
        };
        Event::open(&attributes, tid)
    }

    /// `perf_event_open(2)`: the program counter of the thread `tid`, each time that it has run for
    /// `period_ns` on whatever CPU. A thread that waits gives no sample. [`counters`] reads them.
    ///
    /// # Errors
    /// `ESRCH` if there is no such thread, `EACCES` or `EPERM` if it may not be sampled (perhaps its
    /// user mode may), `EMFILE` if no descriptor is left.
    pub fn cpu_clock(tid: u32, period_ns: u64, modes: Modes) -> io::Result<Self> {
        let excluded = match modes {
            Modes::All => EXCLUDE_HYPERVISOR,
            Modes::User => EXCLUDE_HYPERVISOR | EXCLUDE_KERNEL,
        };
        let attributes = Attributes {
            kind: SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: CPU_CLOCK,
            // A period of 0 would be no clock at all.
            sample_period: period_ns.max(1),
            sample_type: COUNTER,
            flags: bit_field(DISABLED | WATERMARK | excluded),
            wakeup_watermark: 1 << 30,
            ..Attributes::default()
        };
        Event::open(&attributes, tid)
    }

    fn open(attributes: &Attributes, tid: u32) -> io::Result<Self> {
        // SAFETY: the attributes are valid for the length that they state, and are only read.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                std::ptr::from_ref(attributes),
                tid.cast_signed(),
                -1,
                -1,
                CLOSE_ON_EXEC,
            )
        };
        let fd = RawFd::try_from(fd).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?;
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just given us this descriptor, and nobody else knows it.
        Ok(Event(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Only what meets this condition is sampled or counted: `id==232||id==7`.
    pub fn filter(&self, expression: &CStr) -> io::Result<()> {
        // SAFETY: the request reads a text that ends with a zero.
        done(unsafe { libc::ioctl(self.0.as_raw_fd(), SET_FILTER, expression.as_ptr()) })
    }

    /// Its samples go to the ring of another event of the same thread.
    pub fn share(&self, ring: &Event) -> io::Result<()> {
        // SAFETY: the request takes a descriptor by value.
        done(unsafe { libc::ioctl(self.0.as_raw_fd(), SET_OUTPUT, ring.0.as_raw_fd()) })
    }

    /// From now on it counts, or samples.
    pub fn enable(&self) -> io::Result<()> {
        self.switch(ENABLE)
    }

    /// It no longer counts or samples. What it cost its thread is over, but for what every event
    /// that is open costs.
    pub fn disable(&self) -> io::Result<()> {
        self.switch(DISABLE)
    }

    fn switch(&self, request: Ioctl) -> io::Result<()> {
        // SAFETY: these requests take a number, of which 0 means this event alone.
        done(unsafe { libc::ioctl(self.0.as_raw_fd(), request, 0) })
    }

    /// How often its thread has passed the tracepoint while it was enabled.
    pub fn count(&self) -> io::Result<u64> {
        let mut count = 0_u64;
        // SAFETY: `count` may be written to for the length given.
        let read =
            unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) };
        match usize::try_from(read) {
            Ok(8) => Ok(count),
            Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(_) => Err(io::Error::last_os_error()),
        }
    }
}

/// The bits of a bit field as C lays it out here: from the other end where bytes are.
fn bit_field(bits: u64) -> u64 {
    if cfg!(target_endian = "big") { bits.reverse_bits() } else { bits }
}

fn done(answer: libc::c_int) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A ring of records that the kernel writes and we read. What does not fit is lost, and the kernel
/// says so in a record of its own.
#[derive(Debug)]
pub struct Ring {
    /// One page for head and tail, then the data.
    map: NonNull<u8>,
    page: usize,
    data: usize,
}

// SAFETY: the mapping belongs to this value alone, and nothing of it is bound to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps the ring of `event`, with `pages` pages of data: a power of two.
    ///
    /// # Errors
    /// `EPERM` if the user may not lock as much memory (`kernel.perf_event_mlock_kb`), `EINVAL` if
    /// `pages` is no power of two.
    pub fn new(event: &Event, pages: usize) -> io::Result<Self> {
        // SAFETY: the call only reads a constant of the system.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(page).map_err(|_| io::ErrorKind::Unsupported)?;
        let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
        let data = pages.checked_mul(page).filter(|_| pages.is_power_of_two());
        let data = data.ok_or_else(invalid)?;
        let length = data.checked_add(page).ok_or_else(invalid)?;
        let (access, fd) = (libc::PROT_READ | libc::PROT_WRITE, event.0.as_raw_fd());
        // SAFETY: a new mapping at a place of the kernel's choice touches nothing that is ours.
        let map =
            unsafe { libc::mmap(std::ptr::null_mut(), length, access, libc::MAP_SHARED, fd, 0) };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let map = NonNull::new(map.cast()).ok_or(io::ErrorKind::Other)?;
        Ok(Ring { map, page, data })
    }

    fn mark(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the first page lives as long as the mapping; both marks are aligned 64-bit numbers
        // there, which are only ever read and written as a whole.
        unsafe { self.map.add(offset).cast::<AtomicU64>().as_ref() }
    }

    /// Appends the records that have come since the last call to `records`, and frees their room.
    pub fn take(&mut self, records: &mut Vec<u8>) {
        let (head, tail) = (self.mark(HEAD), self.mark(TAIL));
        let end = head.load(Ordering::Acquire);
        let begin = tail.load(Ordering::Relaxed);
        for (offset, length) in pieces(begin, end, self.data) {
            // SAFETY: both pieces are within the data, and the kernel leaves what stands between
            // tail and head alone until the tail moves.
            let piece = unsafe {
                std::slice::from_raw_parts(self.map.add(self.page + offset).as_ptr(), length)
            };
            records.extend_from_slice(piece);
        }
        tail.store(end, Ordering::Release);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, of this length, and goes away with this value.
        unsafe { libc::munmap(self.map.as_ptr().cast(), self.page + self.data) };
    }
}

/// Where a thread was when its clock was sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counter {
    /// In its program, at this address.
    User(u64),
    /// In the kernel.
    Kernel(u64),
}

/// The program counters in what a ring of [`Event::cpu_clock`] gave, and how many were lost. Records
/// of other kinds are passed over; what makes no sense ends them.
pub fn counters(bytes: &[u8]) -> (Vec<Counter>, u64) {
    let (mut counters, mut lost) = (Vec::new(), 0);
    let mut rest = bytes;
    while let Some((kind, misc, body, next)) = record(rest) {
        match kind {
            SAMPLE if misc & MODE == MODE_KERNEL => {
                counters.extend(word(body, 0).map(Counter::Kernel));
            }
            SAMPLE => counters.extend(word(body, 0).map(Counter::User)),
            LOST => lost += word(body, 8).unwrap_or(1),
            _ => {}
        }
        rest = next;
    }
    (counters, lost)
}

/// The first record's kind, `misc` and body, and what follows it.
fn record(bytes: &[u8]) -> Option<(u32, u16, &[u8], &[u8])> {
    let kind = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?);
    let misc = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
    let size = usize::from(u16::from_ne_bytes(bytes.get(6..8)?.try_into().ok()?));
    Some((kind, misc, bytes.get(8..size)?, &bytes[size..]))
}

fn word(body: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(body.get(at..at + 8)?.try_into().ok()?))
}

/// Where the bytes from `begin` to `end` stand in a ring of `size` bytes: up to its end, and from
/// its start. Nothing where the marks contradict each other.
fn pieces(begin: u64, end: u64, size: usize) -> [(usize, usize); 2] {
    let length = usize::try_from(end.wrapping_sub(begin)).unwrap_or(usize::MAX);
    if size == 0 || length > size {
        return [(0, 0); 2];
    }
    let offset = (begin % size as u64) as usize;
    let first = length.min(size - offset);
    [(offset, first), (0, length - first)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attributes_are_as_long_as_the_kernels() {
        assert_eq!(size_of::<Attributes>(), 112);
        assert_eq!(std::mem::offset_of!(Attributes, clock_id), 92);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn requests_are_those_of_the_kernels_header() {
        assert_eq!([ENABLE, DISABLE, SET_OUTPUT], [0x2400, 0x2401, 0x2405]);
        assert_eq!(SET_FILTER, 0x4008_2406);
    }

    #[test]
    fn a_ring_is_read_across_its_end() {
        let size = 4096;
        assert_eq!(pieces(0, 0, size), [(0, 0), (0, 0)]);
        assert_eq!(pieces(10, 110, size), [(10, 100), (0, 0)]);
        assert_eq!(pieces(4000, 4200, size), [(4000, 96), (0, 104)]);
        // The marks only ever grow, over the end of their own type at last.
        assert_eq!(pieces(u64::MAX - 95, 104, size), [(4000, 96), (0, 104)]);
        assert_eq!(pieces(4096, 8192, size), [(0, 4096), (0, 0)]);
        assert_eq!(pieces(0, 4097, size), [(0, 0), (0, 0)]);
        assert_eq!(pieces(100, 0, size), [(0, 0), (0, 0)]);
    }

    fn bytes(kind: u32, misc: u16, words: &[u64]) -> Vec<u8> {
        let size = 8 + 8 * u16::try_from(words.len()).unwrap();
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(misc.to_ne_bytes().into_iter().chain(size.to_ne_bytes()));
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes
    }

    #[test]
    fn counters_are_distinguished_by_mode_and_lost_samples_are_counted() {
        let throttled = bytes(5, 0, &[1, 2, 3]);
        let all = [
            bytes(SAMPLE, 2, &[0x1234]),
            bytes(LOST, 0, &[7, 3]),
            throttled,
            bytes(SAMPLE, 1, &[u64::MAX - 1]),
        ];
        let wanted = vec![Counter::User(0x1234), Counter::Kernel(u64::MAX - 1)];
        assert_eq!(counters(&all.concat()), (wanted, 3));
        // A record that is cut off, and one that says it is shorter than its own head.
        assert_eq!(counters(&bytes(SAMPLE, 2, &[1])[..12]), (vec![], 0));
        assert_eq!(counters(&[0; 16]), (vec![], 0));
    }

    #[test]
    fn a_thread_that_runs_is_sampled_in_its_program() {
        // SAFETY: the call takes nothing and only tells the thread's number.
        let tid = unsafe { libc::gettid() };
        let event = match Event::cpu_clock(tid.cast_unsigned(), 1_000_000, Modes::User) {
            Ok(event) => event,
            Err(error) => return eprintln!("SKIPPED: perf events are refused here: {error}"),
        };
        let mut ring = Ring::new(&event, 1).unwrap();
        event.enable().unwrap();
        let mut records = Vec::new();
        // It ends with the first sample: the thread runs all the time. Another record may come first.
        while counters(&records).0.is_empty() {
            ring.take(&mut records);
        }
        let (counters, lost) = counters(&records);
        assert!(matches!(counters[0], Counter::User(address) if address > 0), "{counters:?}");
        assert_eq!(lost, 0);
    }

    #[test]
    fn what_is_no_thread_can_not_be_watched() {
        // Beyond the largest number of a thread that Linux gives.
        let error = Event::tracepoint(1, 0x7fff_fff0, Wanted::Count).unwrap_err();
        assert!(error.raw_os_error().is_some(), "{error}");
    }
}
