//! Real-time signals as events: masks, `sigtimedwait`, `signalfd` and the `fcntl`s that make a
//! descriptor send one (`O_ASYNC`, `F_SETSIG`, `F_SETOWN_EX`).

use std::io;
use std::mem::MaybeUninit;
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use libc::{c_int, c_long, signalfd_siginfo, sigset_t};

use crate::answer::{counted, done, owned};
use crate::timeout;

/// The signal that the kernel sends when a real-time signal finds no room in the queue.
pub const SIGIO: c_int = libc::SIGIO;

// Linux's own numbers; the C library's header has them, the crate for most targets has not.
const F_SETSIG: c_int = 10;
const F_GETSIG: c_int = 11;
const F_SETOWN_EX: c_int = 15;
const F_OWNER_TID: c_int = 0;

/// The codes of a signal that a descriptor sent: `POLL_IN` to `POLL_HUP`.
const POLL_CODES: RangeInclusive<c_int> = 1..=6;

/// The real-time signals that a program may use.
pub fn realtime() -> RangeInclusive<c_int> {
    libc::SIGRTMIN()..=libc::SIGRTMAX()
}

/// A set of signals.
#[derive(Clone, Copy)]
pub struct SignalSet(sigset_t);

impl SignalSet {
    /// The set of these signals.
    ///
    /// # Errors
    /// `InvalidInput` for a number that is no signal.
    pub fn new(signals: &[c_int]) -> io::Result<Self> {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the call fills the whole set that it is given.
        let mut set = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            set.assume_init()
        };
        for &signal in signals {
            // SAFETY: `set` is a valid set; the call checks the number.
            done(unsafe { libc::sigaddset(&raw mut set, signal) })?;
        }
        Ok(SignalSet(set))
    }

    /// Whether `signal` is in it.
    pub fn contains(&self, signal: c_int) -> bool {
        // SAFETY: the set is valid; the call checks the number.
        unsafe { libc::sigismember(&raw const self.0, signal) == 1 }
    }
}

/// Blocks these signals in the calling thread, besides those blocked already, and returns the mask
/// as it was before.
pub fn block(set: &SignalSet) -> io::Result<SignalSet> {
    change_mask(libc::SIG_BLOCK, set)
}

/// Unblocks these signals in the calling thread. One that is pending is delivered at once.
pub fn unblock(set: &SignalSet) -> io::Result<()> {
    change_mask(libc::SIG_UNBLOCK, set).map(drop)
}

fn change_mask(how: c_int, set: &SignalSet) -> io::Result<SignalSet> {
    let mut before = SignalSet::new(&[])?;
    // SAFETY: both sets are valid. Blocking and unblocking break no invariant of the language.
    match unsafe { libc::pthread_sigmask(how, &raw const set.0, &raw mut before.0) } {
        0 => Ok(before),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Whether `signal` has no handler, and is not ignored.
pub fn has_default_action(signal: c_int) -> io::Result<bool> {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: asks only: no new action is given, and the old one fits where it is written.
    done(unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so it has filled the structure.
    Ok(unsafe { action.assume_init() }.sa_sigaction == libc::SIG_DFL)
}

/// A signal that was taken from the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its number.
    pub signal: c_int,
    /// The descriptor that sent it and what happened there, in the bits of `poll`. `None` when it
    /// came from elsewhere: the kernel's `SIGIO` for a full queue, somebody's `kill`.
    pub source: Option<(c_int, u32)>,
}

/// The head of a `siginfo_t` that a descriptor sent.
#[repr(C)]
struct PollInfo {
    head: [c_int; 3],
    band: c_long,
    fd: c_int,
}

/// `sigtimedwait(2)`: takes one signal of `set` that is pending for the calling thread, the one
/// with the lowest number first. `None` when the time is up.
///
/// # Errors
/// `Interrupted` if a signal outside the set was handled meanwhile; else what the kernel says.
#[inline]
pub fn take(set: &SignalSet, timeout: Option<Duration>) -> io::Result<Option<Taken>> {
    let limit = timeout.map(timeout::timespec);
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the set is valid, `info` has room, `limit` is null or a valid timespec.
    let signal = unsafe { libc::sigtimedwait(&raw const set.0, info.as_mut_ptr(), limit) };
    match done(signal) {
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => return Ok(None),
        result => result?,
    }
    // SAFETY: zeroed, then filled; all its parts are plain numbers.
    let code = unsafe { info.assume_init_ref() }.si_code;
    // SAFETY: a `siginfo_t` is larger than its head of this shape, at least as strictly aligned,
    // and was zeroed, so that every byte of it is initialised.
    let head = unsafe { &*info.as_ptr().cast::<PollInfo>() };
    let source = POLL_CODES.contains(&code).then_some((head.fd, head.band as u32));
    Ok(Some(Taken { signal, source }))
}

/// A descriptor from which pending signals are read.
pub struct SignalFd {
    fd: OwnedFd,
    /// What the kernel writes to: the most that one read takes.
    buffer: Vec<signalfd_siginfo>,
}

impl SignalFd {
    /// `signalfd(2)`, non-blocking, that takes at most `batch` signals of `set` in one read.
    pub fn new(set: &SignalSet, batch: usize) -> io::Result<Self> {
        let flags = libc::SFD_NONBLOCK | libc::SFD_CLOEXEC;
        // SAFETY: the set is valid; the call makes a descriptor.
        let fd = unsafe { owned(libc::signalfd(-1, &raw const set.0, flags)) }?;
        // SAFETY: a structure of plain numbers may be all zeroes.
        let empty: signalfd_siginfo = unsafe { std::mem::zeroed() };
        Ok(SignalFd { fd, buffer: vec![empty; batch.max(1)] })
    }

    /// Reads the signals that are pending for the calling thread; none if there are none.
    #[inline]
    pub fn read(&mut self) -> io::Result<impl Iterator<Item = Taken> + '_> {
        let bytes = std::mem::size_of_val(self.buffer.as_slice());
        // SAFETY: the pointer and the length are those of one buffer of plain numbers.
        let got =
            unsafe { libc::read(self.fd.as_raw_fd(), self.buffer.as_mut_ptr().cast(), bytes) };
        let got = match counted(got) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            got => got? / size_of::<signalfd_siginfo>(),
        };
        Ok(self.buffer[..got].iter().map(|info| Taken {
            signal: info.ssi_signo.cast_signed(),
            source: POLL_CODES.contains(&info.ssi_code).then_some((info.ssi_fd, info.ssi_band)),
        }))
    }
}

impl AsFd for SignalFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The file status flags (`F_GETFL`).
pub fn flags(fd: BorrowedFd<'_>) -> io::Result<c_int> {
    fcntl(fd, libc::F_GETFL, 0)
}

/// Sets the file status flags (`F_SETFL`). With `O_ASYNC`, the file sends signals from now on, if
/// it is of a kind that can: look at the flags afterwards.
pub fn set_flags(fd: BorrowedFd<'_>, flags: c_int) -> io::Result<()> {
    fcntl(fd, libc::F_SETFL, flags).map(drop)
}

/// The signal that the file sends (`F_GETSIG`); 0 is a plain `SIGIO`.
pub fn signal_of(fd: BorrowedFd<'_>) -> io::Result<c_int> {
    fcntl(fd, F_GETSIG, 0)
}

/// Has the file send `signal`, with its descriptor and what happened (`F_SETSIG`).
pub fn set_signal(fd: BorrowedFd<'_>, signal: c_int) -> io::Result<()> {
    fcntl(fd, F_SETSIG, signal).map(drop)
}

/// Stops the signals of a number that may have been closed since it was set to send `signal`, or
/// given to another file: that one is left alone unless it sends the same.
pub fn silence(fd: RawFd, signal: c_int) {
    if fd < 0 {
        return;
    }
    // SAFETY: borrowed for the calls below alone, which answer an error if it isn't open.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    if signal_of(fd).is_ok_and(|sent| sent == signal) {
        // It fails only if the descriptor has just been closed: then it is silent too.
        let _ = flags(fd).and_then(|flags| set_flags(fd, flags & !libc::O_ASYNC));
    }
}

/// Has the file send its signals to the thread of this id alone (`F_SETOWN_EX`).
pub fn set_owner_thread(fd: BorrowedFd<'_>, tid: libc::pid_t) -> io::Result<()> {
    #[repr(C)]
    struct Owner {
        kind: c_int,
        pid: libc::pid_t,
    }
    let owner = Owner { kind: F_OWNER_TID, pid: tid };
    // SAFETY: the call reads one structure of this shape.
    done(unsafe { libc::fcntl(fd.as_raw_fd(), F_SETOWN_EX, &raw const owner) })
}

/// The kernel's id of the calling thread.
pub fn thread_id() -> libc::pid_t {
    // Not the C library's: std has a weak reference to that, which a static program does not resolve.
    rustix::thread::gettid().as_raw_nonzero().get()
}

fn fcntl(fd: BorrowedFd<'_>, command: c_int, argument: c_int) -> io::Result<c_int> {
    // SAFETY: the commands above take an int or nothing.
    let answer = unsafe { libc::fcntl(fd.as_raw_fd(), command, argument) };
    done(answer).map(|()| answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    /// Has one end of a new pair send `signal` to this thread, which blocks it.
    fn armed(signal: c_int) -> (UnixStream, UnixStream, SignalSet) {
        let set = SignalSet::new(&[signal]).unwrap();
        block(&set).unwrap();
        let (ours, theirs) = UnixStream::pair().unwrap();
        set_owner_thread(ours.as_fd(), thread_id()).unwrap();
        set_signal(ours.as_fd(), signal).unwrap();
        set_flags(ours.as_fd(), flags(ours.as_fd()).unwrap() | libc::O_ASYNC).unwrap();
        (ours, theirs, set)
    }

    #[test]
    fn a_signal_names_its_descriptor_and_what_happened() {
        let signal = *realtime().end() - 2;
        let (ours, mut theirs, set) = armed(signal);
        assert_eq!(take(&set, Some(Duration::ZERO)).unwrap(), None);
        theirs.write_all(b"!").unwrap();
        let taken = take(&set, Some(Duration::from_secs(60))).unwrap().unwrap();
        assert_eq!(taken.signal, signal);
        let (fd, band) = taken.source.unwrap();
        assert_eq!(fd, ours.as_raw_fd());
        assert_ne!(band & libc::POLLIN as u32, 0);
        assert_eq!(signal_of(ours.as_fd()).unwrap(), signal);
    }

    #[test]
    fn a_signalfd_reads_as_many_as_its_buffer_holds() {
        let signal = *realtime().end() - 3;
        let (ours, mut theirs, set) = armed(signal);
        let mut queue = SignalFd::new(&set, 2).unwrap();
        for _ in 0..3 {
            theirs.write_all(b"!").unwrap();
        }
        let first: Vec<_> = queue.read().unwrap().collect();
        assert_eq!(first.len(), 2);
        assert!(first.iter().all(|taken| taken.source.unwrap().0 == ours.as_raw_fd()));
        assert_eq!(queue.read().unwrap().count(), 1);
        assert_eq!(queue.read().unwrap().count(), 0);
    }

    #[test]
    fn an_eventfd_does_not_take_o_async() {
        // SAFETY: takes two numbers, and makes a descriptor.
        let fd = unsafe { owned(libc::eventfd(0, libc::EFD_CLOEXEC)) }.unwrap();
        let before = flags(fd.as_fd()).unwrap();
        set_flags(fd.as_fd(), before | libc::O_ASYNC).unwrap();
        assert_eq!(flags(fd.as_fd()).unwrap(), before);
    }

    #[test]
    fn a_set_holds_what_was_put_in_and_blocking_returns_the_mask_before() {
        let signal = *realtime().end() - 4;
        let set = SignalSet::new(&[signal]).unwrap();
        assert!(set.contains(signal) && !set.contains(SIGIO));
        assert!(SignalSet::new(&[1_000]).is_err());
        assert!(!block(&set).unwrap().contains(signal));
        assert!(block(&set).unwrap().contains(signal));
        unblock(&set).unwrap();
        assert!(!block(&set).unwrap().contains(signal));
        assert!(has_default_action(signal).unwrap());
    }
}
