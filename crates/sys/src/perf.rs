//! Tracepoints and program counters of threads or CPUs through `perf_event_open`: samples into a ring, or
//! a plain count.

mod records;

pub use records::{
    Forked, Mapped, Named, Record, Resumed, Sample, UserState, records, records_with_bytes,
};

use crate::answer::{counted, done, owned};
use crate::map::{Behind, Map, page_bytes};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};

use libc::{Ioctl, c_ulong};

/// `PERF_TYPE_HARDWARE`, and of these events `PERF_COUNT_HW_CPU_CYCLES`.
const HARDWARE: u32 = 0;
const CPU_CYCLES: u64 = 0;
/// `PERF_COUNT_HW_INSTRUCTIONS`.
const INSTRUCTIONS: u64 = 1;
/// `PERF_TYPE_SOFTWARE`, and of these events `PERF_COUNT_SW_CPU_CLOCK`.
const SOFTWARE: u32 = 1;
const CPU_CLOCK: u64 = 0;
/// `PERF_COUNT_SW_TASK_CLOCK`.
const TASK_CLOCK: u64 = 1;
/// `PERF_COUNT_SW_DUMMY`: it counts nothing, and is there for its records.
const DUMMY: u64 = 9;
/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;
/// `PERF_SAMPLE_IP`, `_TID`, `_TIME`, `_CALLCHAIN`, `_CPU`, `_PERIOD` and `_RAW`: what each sample of a clock or of a
/// tracepoint with call chains holds. The raw data of a clock is nothing, but has its place: so all are read alike.
const COUNTER_AND_CHAIN: u64 =
    (1 << 0) | (1 << 1) | (1 << 2) | (1 << 5) | (1 << 7) | (1 << 8) | (1 << 10);
/// `PERF_SAMPLE_TIME` and `PERF_SAMPLE_RAW`: what each sample holds, in this order.
const TIME_AND_RAW: u64 = (1 << 2) | (1 << 10);
/// `PERF_SAMPLE_REGS_USER` and `_STACK_USER`.
const USER_STATE: u64 = (1 << 12) | (1 << 13);
/// The frame pointer, the stack pointer and the program counter, where [`records`] knows them. On other machines C
/// libraries have frame pointers.
const USER_REGISTERS: u64 =
    if cfg!(target_arch = "x86_64") { (1 << 6) | (1 << 7) | (1 << 8) } else { 0 };
/// Records of what is mapped, started, renamed and ended.
const EVERYTHING: u64 = MAPPINGS | MAPPINGS_IN_FULL | COMMANDS | COMMAND_OF_EXEC | TASKS;
/// `PERF_FORMAT_TOTAL_TIME_ENABLED` and `_RUNNING`: a count comes with both times.
const WITH_TIMES: u64 = (1 << 0) | (1 << 1);
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: c_ulong = 1 << 3;

// Bits of the attributes' bit field, counted from its first.
const DISABLED: u64 = 1 << 0;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const EXCLUDE_IDLE: u64 = 1 << 7;
const MAPPINGS: u64 = 1 << 8;
const COMMANDS: u64 = 1 << 9;
const TASKS: u64 = 1 << 13;
const WATERMARK: u64 = 1 << 14;
const ID_IN_ALL: u64 = 1 << 18;
const EXCLUDE_CHAIN_KERNEL: u64 = 1 << 21;
const MAPPINGS_IN_FULL: u64 = 1 << 23;
const COMMAND_OF_EXEC: u64 = 1 << 24;
const USE_CLOCK_ID: u64 = 1 << 25;
const CONTEXT_SWITCH: u64 = 1 << 26;

const ENABLE: Ioctl = libc::_IO(b'$' as u32, 0);
const DISABLE: Ioctl = libc::_IO(b'$' as u32, 1);
const SET_OUTPUT: Ioctl = libc::_IO(b'$' as u32, 5);
const SET_FILTER: Ioctl = libc::_IOW::<*const u8>(b'$' as u32, 6);

// Where the head and the tail stand in the first page of a ring.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

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
    /// It is counted, of threads and processes that it starts from then on too.
    CountDescent,
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

/// What makes the kernel take a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleClock {
    /// The CPU has run for so many nanoseconds. Every kernel has it.
    CpuTime {
        /// Nanoseconds between two samples.
        period_ns: u64,
    },
    /// The CPU has counted so many cycles. The number is fixed: the kernel would vary it to keep a frequency, so that
    /// no sample would stand for as much as another.
    Cycles {
        /// Cycles between two samples.
        period: u64,
    },
}

/// When samples are taken, and what is in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// When.
    pub clock: SampleClock,
    /// In which modes.
    pub modes: Modes,
    /// Bytes from the top of the program's stack that a sample copies, with the registers that lead through it: a multiple
    /// of 8, or 0 for none. Nothing is copied on other machines than x86-64.
    pub stack_bytes: u32,
}

/// What a clock samples. Samples hold call chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// One thread, and all threads and processes that it starts from now on, while they are on one CPU.
    /// What they start and map is recorded as well.
    Descent {
        /// The thread.
        tid: u32,
        /// The CPU.
        cpu: u32,
    },
    /// All that runs on one CPU, with records as of [`Target::Descent`].
    Cpu(u32),
}

/// What a [`Counter`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedEvent {
    /// Instructions, by the CPU's own counter.
    Instructions,
    /// Cycles, by the CPU's own counter.
    Cycles,
    /// Nanoseconds of CPU time, which every kernel counts.
    CpuTime,
}

/// Counts what this thread, and all that it starts from now on, does on any CPU.
#[derive(Debug)]
pub struct Counter(Event);

impl Counter {
    /// Begins to count.
    ///
    /// # Errors
    /// `ENOENT` or `EOPNOTSUPP` if this machine has no such counter, `EACCES` or `EPERM` if it may not be
    /// used (perhaps for user mode it may), `ENOSYS` if the kernel has no events at all.
    pub fn start(event: CountedEvent, modes: Modes) -> io::Result<Counter> {
        let (kind, config) = match event {
            CountedEvent::Instructions => (HARDWARE, INSTRUCTIONS),
            CountedEvent::Cycles => (HARDWARE, CPU_CYCLES),
            CountedEvent::CpuTime => (SOFTWARE, TASK_CLOCK),
        };
        let excluded = match modes {
            Modes::All => EXCLUDE_HYPERVISOR,
            Modes::User => EXCLUDE_HYPERVISOR | EXCLUDE_KERNEL,
        };
        let attributes = Attributes {
            kind,
            config,
            read_format: WITH_TIMES,
            flags: bit_field(INHERIT | excluded),
            ..Attributes::default()
        };
        Event::open(attributes, 0, -1).map(Counter)
    }

    /// The count so far.
    pub fn read(&self) -> io::Result<Count> {
        let [events, enabled_ns, running_ns] = self.0.read()?;
        Ok(Count { events, enabled_ns, running_ns })
    }
}

/// What a [`Counter`] has counted at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    events: u64,
    /// Time that its threads ran.
    enabled_ns: u64,
    /// The part of it in which the CPU had a counter for it.
    running_ns: u64,
}

impl Count {
    /// What was counted since `before`. Where more was counted at a time than the CPU has counters for, each
    /// was counted for a part of the time, and this is what that part comes to for the whole; none where that
    /// part is nothing.
    pub fn since(self, before: Count) -> Option<u64> {
        let events = self.events.saturating_sub(before.events);
        let enabled_ns = self.enabled_ns.saturating_sub(before.enabled_ns);
        let running_ns = self.running_ns.saturating_sub(before.running_ns);
        if running_ns == 0 {
            return (enabled_ns == 0).then_some(events);
        }
        let whole =
            u128::from(events) * u128::from(enabled_ns.max(running_ns)) / u128::from(running_ns);
        u64::try_from(whole).ok()
    }
}

/// A tracepoint or a clock that is watched. It begins disabled.
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
        let descent = if wanted == Wanted::CountDescent { INHERIT } else { 0 };
        let attributes = Attributes {
            kind: TRACEPOINT,
            config: id,
            sample_period: u64::from(samples),
            sample_type: if samples { TIME_AND_RAW } else { 0 },
            flags: bit_field(DISABLED | WATERMARK | USE_CLOCK_ID | descent),
            // No thread is woken: the watcher looks from time to time.
            wakeup_watermark: 1 << 30,
            clock_id: libc::CLOCK_MONOTONIC,
            ..Attributes::default()
        };
        Event::open(attributes, tid.cast_signed(), -1)
    }

    /// `perf_event_open(2)`: each time that anything on this CPU passes the tracepoint of this id. Samples hold the
    /// raw data, the call chain and `stack_bytes` of the stack of the thread that passes, as [`Sampling`] has them;
    /// [`records`] reads them among those of a clock.
    ///
    /// # Errors
    /// `EACCES` or `EPERM` if not everything may be watched, `ENOENT` or `EINVAL` if there is no such tracepoint,
    /// `ENODEV` if the CPU is offline.
    pub fn tracepoint_on_cpu(id: u64, cpu: u32, stack_bytes: u32) -> io::Result<Self> {
        let attributes =
            Attributes { kind: TRACEPOINT, config: id, sample_period: 1, ..of_cpu(stack_bytes, 0) };
        Event::open(attributes, -1, cpu.cast_signed())
    }

    /// `perf_event_open(2)`: each time that a thread gets this CPU. [`records`] has it as
    /// [`Record::Resumed`].
    ///
    /// # Errors
    /// As of [`Event::tracepoint_on_cpu`].
    pub fn switches_on_cpu(cpu: u32) -> io::Result<Self> {
        let attributes = Attributes { kind: SOFTWARE, config: DUMMY, ..of_cpu(0, CONTEXT_SWITCH) };
        Event::open(attributes, -1, cpu.cast_signed())
    }

    /// `perf_event_open(2)`: where `target` is each time that the clock says so. What waits gives no sample.
    /// Times are those of `CLOCK_MONOTONIC`; [`records`] reads what comes.
    ///
    /// # Errors
    /// `ESRCH` if there is no such thread, `EACCES` or `EPERM` if it may not be sampled (perhaps its
    /// user mode may), `ENOENT` or `EOPNOTSUPP` if this machine has no such clock, `ENODEV` if the CPU is
    /// offline, `EMFILE` if no descriptor is left, `ENOSYS` if the kernel has no events at all.
    pub fn clock(target: Target, sampling: Sampling) -> io::Result<Self> {
        let (tid, cpu, for_target) = match target {
            Target::Descent { tid, cpu } => (tid.cast_signed(), cpu, INHERIT),
            Target::Cpu(cpu) => (-1, cpu, EXCLUDE_IDLE),
        };
        let excluded = match sampling.modes {
            Modes::All => EXCLUDE_HYPERVISOR,
            Modes::User => EXCLUDE_HYPERVISOR | EXCLUDE_KERNEL | EXCLUDE_CHAIN_KERNEL,
        };
        // A period of 0 would be no clock at all.
        let (kind, config, sample_period) = match sampling.clock {
            SampleClock::CpuTime { period_ns } => (SOFTWARE, CPU_CLOCK, period_ns.max(1)),
            SampleClock::Cycles { period } => (HARDWARE, CPU_CYCLES, period.max(1)),
        };
        let records = DISABLED | WATERMARK | ID_IN_ALL | USE_CLOCK_ID | EVERYTHING;
        let attributes = Attributes {
            kind,
            config,
            sample_period,
            flags: bit_field(records | excluded | for_target),
            ..with_stacks(sampling.stack_bytes)
        };
        Event::open(attributes, tid, cpu.cast_signed())
    }

    fn open(mut attributes: Attributes, tid: i32, cpu: i32) -> io::Result<Self> {
        attributes.size = size_of::<Attributes>() as u32;
        // SAFETY: the attributes are valid for the length that they state, and are only read.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                tid,
                cpu,
                -1,
                CLOSE_ON_EXEC,
            )
        };
        // SAFETY: the call makes a descriptor.
        unsafe { owned(fd as RawFd) }.map(Event)
    }

    /// Only what meets this condition is sampled or counted: `id==232||id==7`.
    pub fn filter(&self, expression: &CStr) -> io::Result<()> {
        // SAFETY: the request reads a text that ends with a zero.
        done(unsafe { libc::ioctl(self.0.as_raw_fd(), SET_FILTER, expression.as_ptr()) })
    }

    /// Its samples go to the ring of another event: of the same thread, or bound to the same CPU.
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
        self.read().map(|[count]| count)
    }

    fn read<const N: usize>(&self) -> io::Result<[u64; N]> {
        let mut words = [0; N];
        let (at, length) = (words.as_mut_ptr().cast(), size_of_val(&words));
        // SAFETY: `words` may be written to for the length given.
        let read = counted(unsafe { libc::read(self.0.as_raw_fd(), at, length) })?;
        if read == length { Ok(words) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// Samples with call chains, and with so many bytes of a program's stack. What polls the event is woken at half a ring.
fn with_stacks(stack_bytes: u32) -> Attributes {
    let has_state = USER_REGISTERS != 0 && stack_bytes > 0;
    Attributes {
        sample_type: COUNTER_AND_CHAIN | if has_state { USER_STATE } else { 0 },
        sample_regs_user: if has_state { USER_REGISTERS } else { 0 },
        sample_stack_user: if has_state { stack_bytes } else { 0 },
        clock_id: libc::CLOCK_MONOTONIC,
        ..Attributes::default()
    }
}

/// Of an event that is enabled later, of all that runs on a CPU.
fn of_cpu(stack_bytes: u32, other_flags: u64) -> Attributes {
    Attributes {
        flags: bit_field(DISABLED | WATERMARK | ID_IN_ALL | USE_CLOCK_ID | other_flags),
        ..with_stacks(stack_bytes)
    }
}

/// The bits of a bit field as C lays it out here: from the other end where bytes are.
fn bit_field(bits: u64) -> u64 {
    if cfg!(target_endian = "big") { bits.reverse_bits() } else { bits }
}

/// Is ready to read when its ring is half full, and hung up when its thread has ended.
impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A ring of records that the kernel writes and we read. What does not fit is lost, and the kernel
/// says so in a record of its own.
#[derive(Debug)]
pub struct Ring {
    /// One page for head and tail, then the data.
    map: Map,
    page: usize,
    data: usize,
}

impl Ring {
    /// Maps the ring of `event`, with `pages` pages of data: a power of two.
    ///
    /// # Errors
    /// `EPERM` if the user may not lock as much memory (`kernel.perf_event_mlock_kb`), `EINVAL` if
    /// `pages` is no power of two.
    pub fn new(event: &Event, pages: usize) -> io::Result<Self> {
        let page = page_bytes();
        let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
        let data = pages.checked_mul(page).filter(|_| pages.is_power_of_two());
        let data = data.ok_or_else(invalid)?;
        let length = data.checked_add(page).ok_or_else(invalid)?;
        let map = Map::new(Behind::Shared(Some(event.0.as_fd())), length)?;
        Ok(Ring { map, page, data })
    }

    fn mark(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the first page lives as long as the mapping; both marks are aligned 64-bit numbers
        // there, which are only ever read and written as a whole.
        unsafe { AtomicU64::from_ptr(self.map.as_ptr().wrapping_add(offset).cast()) }
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
                std::slice::from_raw_parts(self.map.as_ptr().add(self.page + offset), length)
            };
            records.extend_from_slice(piece);
        }
        tail.store(end, Ordering::Release);
    }
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

    #[test]
    fn a_thread_is_sampled_with_its_callers_and_what_it_starts_is_recorded() {
        // SAFETY: the call takes nothing and only tells the thread's number.
        let tid = unsafe { libc::gettid() }.cast_unsigned();
        let clock = SampleClock::CpuTime { period_ns: 1_000_000 };
        let sampling = Sampling { clock, modes: Modes::User, stack_bytes: 1024 };
        let before_ns = crate::clock::Clock::Monotonic.now();
        // The thread may be moved: a clock on each CPU that there may be.
        let mut sampled = Vec::new();
        for cpu in crate::cpus::allowed().unwrap().into_iter().map(|cpu| cpu as u32) {
            let event = match Event::clock(Target::Descent { tid, cpu }, sampling) {
                Ok(event) => event,
                Err(error) => return eprintln!("SKIPPED: perf events are refused here: {error}"),
            };
            let ring = Ring::new(&event, 8).unwrap();
            event.enable().unwrap();
            sampled.push((ring, event));
        }
        let child = std::process::Command::new("true").status().unwrap();
        assert!(child.success());
        let mut bytes = Vec::new();
        let is_here = |record: &Record<'_>| {
            let Record::Sample(sample) = record else { return false };
            let now_ns = crate::clock::Clock::Monotonic.now();
            let user = sample.user.map(|user| (user.instruction_pointer, user.stack.len()));
            let has_stack = |(at, length)| at == sample.address && length > 0;
            sample.tid == tid
                && !sample.in_kernel
                && sample.raw.is_empty()
                && sample.chain().count() > 0
                && user.is_some() == cfg!(target_arch = "x86_64")
                && user.is_none_or(has_stack)
                && (before_ns..=now_ns).contains(&sample.time_ns)
        };
        while !records(&bytes).any(|record| is_here(&record)) {
            for (ring, _) in &mut sampled {
                ring.take(&mut bytes);
            }
        }
        let forked: Vec<u32> = records(&bytes)
            .filter_map(|record| match record {
                Record::Forked(forked) if forked.parent == std::process::id() => Some(forked.pid),
                _ => None,
            })
            .collect();
        let named = |record: &Record<'_>| {
            matches!(record, Record::Named(named)
                if forked.contains(&named.pid) && named.is_exec && named.name == b"true")
        };
        let mapped = |record: &Record<'_>| {
            matches!(record, Record::Mapped(mapped)
                if forked.contains(&mapped.pid) && mapped.path.ends_with(b"/true") && mapped.inode > 0)
        };
        let ended = |record: &Record<'_>| matches!(record, Record::Ended { pid, .. } if forked.contains(pid));
        assert!(records(&bytes).any(|record| named(&record)));
        assert!(records(&bytes).any(|record| mapped(&record)));
        assert!(records(&bytes).any(|record| ended(&record)));
    }

    #[test]
    fn a_counter_counts_what_this_thread_starts() {
        let counter = match Counter::start(CountedEvent::CpuTime, Modes::User) {
            Ok(counter) => counter,
            Err(error) => return eprintln!("SKIPPED: perf events are refused here: {error}"),
        };
        let before = counter.read().unwrap();
        let mut command = std::process::Command::new("sh");
        command
            .args(["-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; cat /proc/self/stat"]);
        assert!(command.output().unwrap().status.success());
        let counted_ns = counter.read().unwrap().since(before).unwrap();
        // Twenty thousand turns of a shell take milliseconds; this thread only waits for them.
        assert!(counted_ns > 1_000_000, "{counted_ns}");
    }

    #[test]
    fn a_count_of_a_part_of_the_time_is_scaled_to_the_whole() {
        let count =
            |[events, enabled_ns, running_ns]: [u64; 3]| Count { events, enabled_ns, running_ns };
        let before = count([100, 1_000, 500]);
        assert_eq!(count([600, 2_000, 1_500]).since(before), Some(500));
        assert_eq!(count([600, 2_000, 750]).since(before), Some(2_000), "a quarter of the time");
        assert_eq!(count([100, 2_000, 500]).since(before), None, "another had the counter");
        assert_eq!(count([100, 1_000, 500]).since(before), Some(0), "nothing ran");
    }

    #[test]
    fn what_is_no_thread_can_not_be_watched() {
        // Beyond the largest number of a thread that Linux gives.
        let error = Event::tracepoint(1, 0x7fff_fff0, Wanted::Count).unwrap_err();
        assert!(error.raw_os_error().is_some(), "{error}");
    }
}
