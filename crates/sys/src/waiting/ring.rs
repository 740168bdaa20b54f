//! `io_uring` as a server uses it: operations go in, completions come out.
//!
//! Accepting and receiving go on until they are ended (multishot). What is received comes in buffers of
//! the ring's own, which are lent with the completion and given back. What is sent is the caller's, and
//! belongs to the ring until it has gone.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::time::Duration;

use io_uring::types::{BufRingEntry, CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};

use crate::map::{Behind, Map, page_bytes};

/// `IORING_ENTER_GETEVENTS`: take completions, run what the kernel has put off for this thread.
const GET_EVENTS: u32 = 1;
/// `IORING_ENTER_EXT_ARG`: the argument is a structure with a time-out.
const EXT_ARG: u32 = 8;

/// The group of buffers that receiving takes from; a ring has one.
const GROUP: u16 = 0;

/// Bits of an operation's data that are the caller's; those above say which operation it is.
const DATA_BITS: u32 = 56;

/// What a socket that neither takes more nor can be watched is left alone for.
static PAUSE: Timespec = Timespec::new().nsec(10_000_000);

/// What the kernel tells of a socket whose other side sends no more.
const END_OF_INPUT: usize = libc::POLLRDHUP.cast_unsigned() as usize;

/// How long a ring that goes waits for one operation more to end.
const LEAVING: Duration = Duration::from_millis(200);

/// What a completion belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Ignored = 0,
    Accept = 1,
    Watch = 2,
    Receive = 3,
    Send = 4,
    Writable = 5,
    Pause = 6,
}

/// Something that was begun has got on or ended. `data` is what the caller gave at its beginning, its
/// highest 8 bits aside.
#[derive(Debug)]
#[expect(missing_docs, reason = "the fields are documented with what they belong to")]
pub enum Done {
    /// A connection came, or accepting failed. Without `more` it has ended.
    Accepted { result: io::Result<OwnedFd>, more: bool },
    /// A watched descriptor can be read. Without `more` it is watched no longer.
    Readable { more: bool },
    /// Something was received: nothing at the end of input. Without `more`, receiving has ended.
    Received { data: u64, result: io::Result<Option<Lent>>, more: bool },
    /// So many bytes of the buffer were sent.
    Sent { data: u64, result: io::Result<usize>, buffer: Vec<u8> },
    /// A socket takes more, or it has failed, or a pause is over. Without `takes` the other side just
    /// sends no more, which the kernel tells whether it was asked for or not.
    Writable { data: u64, takes: bool },
}

/// A part of one of the ring's own buffers, to be looked at by [`Ring::lent`] and given back.
#[derive(Debug)]
pub struct Lent {
    ring: u32,
    buffer: u16,
    bytes: usize,
}

/// A buffer that the kernel reads from.
struct PendingSend {
    data: u64,
    buffer: Vec<u8>,
}

/// A ring; it belongs to the thread that made it.
pub struct Ring {
    uring: IoUring,
    number: u32,
    lending: Lending,
    pending: Vec<Option<PendingSend>>,
    free: Vec<u32>,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").finish_non_exhaustive()
    }
}

impl Ring {
    /// A ring with room for `entries` operations that are not yet with the kernel, and `buffers` (a
    /// power of two) of 4 KiB each to receive into.
    ///
    /// # Safety
    /// Each descriptor that an operation is begun with stays open until a later [`Ring::wait`] has returned without an
    /// error, or the ring was dropped: until then the kernel knows its number alone, which another may be given.
    ///
    /// # Errors
    /// `EINVAL` before Linux 6.1; `ENOSYS`, `EPERM` or `ENOMEM` where there is none to be had.
    pub unsafe fn new(entries: u32, buffers: u16) -> io::Result<Ring> {
        static NUMBERS: AtomicU32 = AtomicU32::new(0);
        let mut builder = IoUring::builder();
        builder.setup_clamp().setup_cqsize(entries.saturating_mul(4)).setup_submit_all();
        builder.setup_single_issuer().setup_defer_taskrun();
        let ring = builder.build(entries)?;
        let lending = Lending::new(&ring, buffers)?;
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        Ok(Ring { uring: ring, number, lending, pending: Vec::new(), free: Vec::new() })
    }

    /// Whether there are rings here.
    ///
    /// # Errors
    /// As [`Ring::new`].
    pub fn check() -> io::Result<()> {
        // SAFETY: no operation is begun.
        unsafe { Ring::new(2, 2) }.map(drop)
    }

    /// Begins to accept, until that ends.
    pub fn accept(&mut self, listener: BorrowedFd<'_>) -> io::Result<()> {
        let entry = opcode::AcceptMulti::new(Fd(listener.as_raw_fd()))
            .flags(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
        self.push(entry.build(), Kind::Accept, 0)
    }

    /// Accepts one connection, and no more.
    pub fn accept_one(&mut self, listener: BorrowedFd<'_>) -> io::Result<()> {
        // Where the address of the other side would go.
        let (address, bytes) = (std::ptr::null_mut(), std::ptr::null_mut());
        let entry = opcode::Accept::new(Fd(listener.as_raw_fd()), address, bytes)
            .flags(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
        self.push(entry.build(), Kind::Accept, 0)
    }

    /// Ends accepting: its completion comes without `more`.
    pub fn cancel_accept(&mut self) -> io::Result<()> {
        self.cancel(Kind::Accept, 0)
    }

    /// Begins to tell when `fd` can be read, each time that something comes.
    pub fn watch(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let bits = u32::from(libc::POLLIN.cast_unsigned());
        let entry = opcode::PollAdd::new(Fd(fd.as_raw_fd()), bits).multi(true);
        self.push(entry.build(), Kind::Watch, 0)
    }

    /// Begins to receive, until that ends.
    #[inline]
    pub fn receive(&mut self, socket: BorrowedFd<'_>, data: u64) -> io::Result<()> {
        let entry = opcode::RecvMulti::new(Fd(socket.as_raw_fd()), GROUP);
        self.push(entry.build(), Kind::Receive, data)
    }

    /// Ends receiving: its completion comes without `more`.
    pub fn cancel_receive(&mut self, data: u64) -> io::Result<()> {
        self.cancel(Kind::Receive, data)
    }

    /// Sends the buffer from `from` on, or the beginning of that; `EAGAIN` where the socket takes nothing
    /// now.
    ///
    /// The kernel does not wait for the socket: once the other side sends no more it can't, and would set
    /// a thread of its own aside for each such send.
    ///
    /// It is a send with a copy: without one (`IORING_OP_SEND_ZC`), files of 5 MB over the loopback took
    /// 0.8 to 1.3 of the time, and the buffer stays with the kernel until the other side has it all.
    #[inline]
    pub fn send(
        &mut self,
        socket: BorrowedFd<'_>,
        data: u64,
        buffer: Vec<u8>,
        from: usize,
    ) -> io::Result<()> {
        let rest = buffer.get(from..).unwrap_or_default();
        let (at, bytes) = (rest.as_ptr(), u32::try_from(rest.len()).unwrap_or(u32::MAX));
        let entry = opcode::Send::new(Fd(socket.as_raw_fd()), at, bytes)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.pending.push(None);
            self.pending.len() as u32 - 1
        });
        // The buffer's memory stays where it is while the vector that owns it moves.
        self.pending[slot as usize] = Some(PendingSend { data, buffer });
        let pushed = self.push(entry.build(), Kind::Send, u64::from(slot));
        if pushed.is_err() {
            self.pending[slot as usize] = None;
            self.free.push(slot);
        }
        pushed
    }

    /// Tells once when the socket takes more.
    pub fn writable(&mut self, socket: BorrowedFd<'_>, data: u64) -> io::Result<()> {
        let bits = u32::from(libc::POLLOUT.cast_unsigned());
        let entry = opcode::PollAdd::new(Fd(socket.as_raw_fd()), bits);
        self.push(entry.build(), Kind::Writable, data)
    }

    /// Tells the same in 10 ms, whatever the socket does: for one whose other side sends no more, of
    /// which [`Ring::writable`] would tell at once and for ever.
    pub fn pause(&mut self, data: u64) -> io::Result<()> {
        self.push(opcode::Timeout::new(&raw const PAUSE).build(), Kind::Pause, data)
    }

    /// Hands over what was begun, waits until something is done or the time is up, and puts it into
    /// `done`. A signal ends the wait early.
    ///
    /// # Errors
    /// What `io_uring_enter(2)` says, `ENOMEM` where it did not take all that was begun; what was done before is in
    /// `done`.
    pub fn wait(&mut self, done: &mut Vec<Done>, timeout: Option<Duration>) -> io::Result<()> {
        let want = u32::from(timeout != Some(Duration::ZERO));
        let entered = match self.enter(want, timeout) {
            Err(error) if error.raw_os_error() == Some(libc::ETIME) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            // Completions have to be taken before the kernel takes more.
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => Ok(()),
            result => result,
        };
        self.take(done);
        match entered {
            Ok(()) if !self.uring.submission().is_empty() => {
                Err(io::Error::from_raw_os_error(libc::ENOMEM))
            }
            result => result,
        }
    }

    /// What was received.
    #[inline]
    pub fn lent(&self, lent: &Lent) -> &[u8] {
        if lent.ring == self.number { self.lending.bytes(lent) } else { &[] }
    }

    /// Gives a buffer back, to be received into again.
    #[expect(clippy::needless_pass_by_value, reason = "who has given it back has it no more")]
    #[inline]
    pub fn give_back(&mut self, lent: Lent) {
        if lent.ring == self.number {
            self.lending.give(lent.buffer);
        }
    }

    fn cancel(&mut self, kind: Kind, data: u64) -> io::Result<()> {
        let entry = opcode::AsyncCancel::new(tagged(kind, data)).build();
        self.push(entry, Kind::Ignored, 0)
    }

    #[inline]
    fn push(&mut self, entry: squeue::Entry, kind: Kind, data: u64) -> io::Result<()> {
        let entry = entry.user_data(tagged(kind, data));
        loop {
            // SAFETY: an operation that refers to memory refers to a buffer that `pending` keeps until the
            // operation completes, or to the buffers of `lending`; both outlive the ring (see `drop`). The
            // time of a pause is a static.
            if unsafe { self.uring.submission().push(&entry) }.is_ok() {
                return Ok(());
            }
            self.enter(0, None)?;
        }
    }

    #[inline]
    fn enter(&mut self, want: u32, timeout: Option<Duration>) -> io::Result<()> {
        let limit = timeout.filter(|timeout| !timeout.is_zero()).map(Timespec::from);
        let arguments = match &limit {
            Some(limit) => SubmitArgs::new().timespec(limit),
            None => SubmitArgs::new(),
        };
        let queued = self.uring.submission().len() as u32;
        let submitter = self.uring.submitter();
        // SAFETY: the argument is of the shape that the flag announces, and outlives the call.
        unsafe { submitter.enter(queued, want, GET_EVENTS | EXT_ARG, Some(&arguments)) }.map(drop)
    }

    /// Takes all completions that are there.
    fn take(&mut self, done: &mut Vec<Done>) {
        let Ring { uring, number, pending, free, .. } = self;
        for completion in uring.completion() {
            let more = cqueue::more(completion.flags());
            let result = outcome(completion.result());
            let data = completion.user_data() & ((1 << DATA_BITS) - 1);
            match (completion.user_data() >> DATA_BITS) as u8 {
                kind if kind == Kind::Accept as u8 => {
                    done.push(Done::Accepted { result: result.map(accepted), more });
                }
                kind if kind == Kind::Watch as u8 => done.push(Done::Readable { more }),
                kind if kind == Kind::Receive as u8 => {
                    let buffer = cqueue::buffer_select(completion.flags());
                    let lent = |bytes: usize| {
                        Some(Lent {
                            ring: *number,
                            buffer: buffer?,
                            bytes: bytes.min(BUFFER_BYTES),
                        })
                    };
                    done.push(Done::Received { data, result: result.map(lent), more });
                }
                kind if kind == Kind::Send as u8 => {
                    let pending = pending.get_mut(data as usize).and_then(Option::take);
                    if let Some(PendingSend { data: given, buffer }) = pending {
                        free.push(data as u32);
                        done.push(Done::Sent { data: given, result, buffer });
                    }
                }
                kind if kind == Kind::Writable as u8 => {
                    let takes = result.map_or(true, |bits| bits & !END_OF_INPUT != 0);
                    done.push(Done::Writable { data, takes });
                }
                kind if kind == Kind::Pause as u8 => {
                    done.push(Done::Writable { data, takes: true });
                }
                _ => {}
            }
        }
    }
}

fn tagged(kind: Kind, data: u64) -> u64 {
    u64::from(kind as u8) << DATA_BITS | data & ((1 << DATA_BITS) - 1)
}

#[inline]
fn outcome(result: i32) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result))
}

fn accepted(fd: usize) -> OwnedFd {
    // SAFETY: a descriptor that the kernel has just made for this ring, and nothing else knows.
    unsafe { OwnedFd::from_raw_fd((fd as u32).cast_signed()) }
}

impl Drop for Ring {
    /// Sees every operation out of the kernel, since it may use our buffers until then.
    fn drop(&mut self) {
        let all = opcode::AsyncCancel2::new(CancelBuilder::any()).build();
        let mut done = Vec::new();
        let mut asked = self.push(all, Kind::Ignored, 0);
        // Also without buffers: a socket stays open as long as an operation refers to it.
        asked = asked.and_then(|()| self.wait(&mut done, Some(Duration::ZERO)));
        done.clear();
        while asked.is_ok() && self.pending.iter().any(Option::is_some) {
            asked = self.wait(&mut done, Some(LEAVING));
            if done.is_empty() {
                break;
            }
            done.clear();
        }
        // What can't be taken back is the kernel's: then the memory stays, as long as the process does.
        for pending in self.pending.drain(..).flatten() {
            std::mem::forget(pending.buffer);
        }
        if asked.is_err() || self.uring.submitter().unregister_buf_ring(GROUP).is_err() {
            std::mem::forget(self.lending.memory.take());
        }
    }
}

/// The buffers that the kernel receives into, and the queue by which it gets them.
struct Lending {
    /// The queue's page or pages, then the buffers. None: left to the kernel for good.
    memory: Option<Map>,
    base: *mut u8,
    queue_bytes: usize,
    buffers: u16,
    tail: u16,
}

/// Bytes of one buffer.
const BUFFER_BYTES: usize = 4096;

impl Lending {
    fn new(ring: &IoUring, buffers: u16) -> io::Result<Lending> {
        let queue = usize::from(buffers) * size_of::<BufRingEntry>();
        let queue_bytes = queue.next_multiple_of(page_bytes());
        let bytes = queue_bytes + usize::from(buffers) * BUFFER_BYTES;
        let memory = Map::new(Behind::Memory, bytes)?;
        let base = memory.as_ptr();
        // SAFETY: the queue is at a page's beginning and as long as it says; it is unmapped only after
        // it was unregistered (see `Ring::drop`).
        unsafe {
            let submitter = ring.submitter();
            submitter.register_buf_ring_with_flags(base as u64, buffers, GROUP, 0)?;
        }
        let mut lending = Lending { memory: Some(memory), base, queue_bytes, buffers, tail: 0 };
        (0..buffers).for_each(|buffer| lending.give(buffer));
        Ok(lending)
    }

    /// Where a buffer begins.
    fn buffer_address(&self, buffer: u16) -> *mut u8 {
        self.base.wrapping_add(self.queue_bytes + usize::from(buffer) * BUFFER_BYTES)
    }

    /// Puts a buffer at the end of the queue.
    #[inline]
    fn give(&mut self, buffer: u16) {
        let entries: *mut BufRingEntry = self.base.cast();
        let address = self.buffer_address(buffer) as u64;
        let entry = entries.wrapping_add(usize::from(self.tail & (self.buffers - 1)));
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the entry is within the queue, and the kernel does not look at it before the tail
        // says so; the tail lies in the first entry, at a place that no other field shares.
        unsafe {
            (*entry).set_addr(address);
            (*entry).set_len(BUFFER_BYTES as u32);
            (*entry).set_bid(buffer);
            let tail = BufRingEntry::tail(entries).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Ordering::Release);
        }
    }

    #[inline]
    fn bytes(&self, lent: &Lent) -> &[u8] {
        debug_assert!(lent.buffer < self.buffers, "the kernel hands out what it was given");
        let buffer = lent.buffer.min(self.buffers - 1);
        // SAFETY: the buffer is not in the queue, so the kernel does not write to it; `bytes` were bounded when it
        // was lent, and every byte of the map is initialised.
        unsafe { std::slice::from_raw_parts(self.buffer_address(buffer), lent.bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    fn new(entries: u32, buffers: u16) -> Ring {
        // SAFETY: each test drops its descriptors after its ring, or after a wait.
        unsafe { Ring::new(entries, buffers) }.unwrap()
    }

    /// Waits until something is done that `wanted` takes.
    fn until<T>(ring: &mut Ring, mut wanted: impl FnMut(&mut Ring, Done) -> Option<T>) -> T {
        loop {
            let mut done = Vec::new();
            ring.wait(&mut done, Some(Duration::from_secs(60))).unwrap();
            assert!(!done.is_empty(), "nothing within a minute");
            for completion in done {
                if let Some(value) = wanted(ring, completion) {
                    return value;
                }
            }
        }
    }

    fn accept(ring: &mut Ring, listener: &TcpListener) -> (TcpStream, OwnedFd) {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let socket = until(ring, |_, done| match done {
            Done::Accepted { result, more } => {
                assert!(more);
                Some(result.unwrap())
            }
            outcome => panic!("{outcome:?}"),
        });
        (client, socket)
    }

    #[test]
    fn a_connection_is_accepted_received_from_and_sent_to_many_times() {
        let mut ring = new(8, 4);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        ring.accept(listener.as_fd()).unwrap();
        let (mut client, socket) = accept(&mut ring, &listener);
        ring.receive(socket.as_fd(), 7).unwrap();
        for round in 0..20_u8 {
            client.write_all(&[round; 100]).unwrap();
            until(&mut ring, |ring, done| {
                let Done::Received { data, result, more } = done else { panic!("{done:?}") };
                assert!(data == 7 && more);
                let lent = result.unwrap().unwrap();
                assert_eq!(ring.lent(&lent), [round; 100]);
                ring.give_back(lent);
                Some(())
            });
            ring.send(socket.as_fd(), 7, vec![round; 50], 10).unwrap();
            let mut back = [0; 40];
            until(&mut ring, |_, done| match done {
                Done::Sent { data, result, buffer } => {
                    assert_eq!((data, result.unwrap(), buffer.len()), (7, 40, 50));
                    Some(())
                }
                outcome => panic!("{outcome:?}"),
            });
            client.read_exact(&mut back).unwrap();
            assert_eq!(back, [round; 40]);
        }
        drop(client);
        until(&mut ring, |_, done| match done {
            Done::Received { result, more, .. } => {
                assert!(!more && result.unwrap().is_none_or(|lent| lent.bytes == 0));
                Some(())
            }
            outcome => panic!("{outcome:?}"),
        });
    }

    #[test]
    fn one_connection_is_accepted_and_no_more() {
        let mut ring = new(8, 2);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        ring.accept_one(listener.as_fd()).unwrap();
        let mut done = Vec::new();
        ring.wait(&mut done, Some(Duration::ZERO)).unwrap();
        assert!(done.is_empty(), "{done:?}");
        let _clients =
            [(); 2].map(|()| TcpStream::connect(listener.local_addr().unwrap()).unwrap());
        until(&mut ring, |_, done| match done {
            Done::Accepted { result: Ok(_), more: false } => Some(()),
            outcome => panic!("{outcome:?}"),
        });
        ring.wait(&mut done, Some(Duration::from_millis(50))).unwrap();
        assert!(done.is_empty(), "{done:?}");
        assert!(listener.accept().is_ok());
    }

    #[test]
    fn receiving_ends_when_it_is_cancelled_and_when_buffers_run_out() {
        let mut ring = new(8, 2);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        ring.accept(listener.as_fd()).unwrap();
        let (mut client, socket) = accept(&mut ring, &listener);
        ring.receive(socket.as_fd(), 1).unwrap();
        client.write_all(&vec![1; 5 * BUFFER_BYTES]).unwrap();
        let (mut lent, mut ended) = (Vec::new(), false);
        until(&mut ring, |_, done| {
            let Done::Received { result, more, .. } = done else { panic!("{done:?}") };
            match result {
                Ok(piece) => lent.extend(piece),
                Err(error) => assert_eq!(error.raw_os_error(), Some(libc::ENOBUFS)),
            }
            ended = !more;
            ended.then_some(())
        });
        assert!(lent.len() == 2 && ended);
        for piece in lent {
            ring.give_back(piece);
        }
        ring.receive(socket.as_fd(), 2).unwrap();
        ring.cancel_receive(2).unwrap();
        until(&mut ring, |ring, done| {
            let Done::Received { data, result, more } = done else { panic!("{done:?}") };
            assert_eq!(data, 2);
            if let Ok(Some(piece)) = result {
                ring.give_back(piece);
            }
            (!more).then_some(())
        });
        ring.cancel_accept().unwrap();
        until(&mut ring, |_, done| {
            matches!(done, Done::Accepted { result: Err(_), more: false }).then_some(())
        });
    }

    #[test]
    fn a_pipe_is_watched_and_a_socket_reports_when_it_takes_more() {
        let mut ring = new(8, 2);
        let (ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        while (&ours).write(&[0; 4096]).is_ok() {}
        ring.writable(ours.as_fd(), 9).unwrap();
        let mut done = Vec::new();
        ring.wait(&mut done, Some(Duration::ZERO)).unwrap();
        assert!(done.is_empty(), "{done:?}");
        theirs.set_nonblocking(true).unwrap();
        while theirs.read(&mut [0; 4096]).is_ok() {}
        until(&mut ring, |_, done| match done {
            Done::Writable { data: 9, takes: true } => Some(()),
            outcome => panic!("{outcome:?}"),
        });
        // Once the other side sends no more, that is reported at once, and a pause helps.
        while (&ours).write(&[0; 4096]).is_ok() {}
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        ring.writable(ours.as_fd(), 9).unwrap();
        until(&mut ring, |_, done| match done {
            Done::Writable { data: 9, takes: false } => Some(()),
            outcome => panic!("{outcome:?}"),
        });
        let begun = std::time::Instant::now();
        ring.pause(9).unwrap();
        until(&mut ring, |_, done| match done {
            Done::Writable { data: 9, takes: true } => Some(()),
            outcome => panic!("{outcome:?}"),
        });
        assert!(begun.elapsed() >= Duration::from_millis(10));
        ring.send(ours.as_fd(), 9, vec![0; 10], 0).unwrap();
        until(&mut ring, |_, done| match done {
            Done::Sent { data: 9, result: Err(error), .. } => {
                assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                Some(())
            }
            outcome => panic!("{outcome:?}"),
        });
        let (end, mut writer) = io::pipe().unwrap();
        ring.watch(end.as_fd()).unwrap();
        writer.write_all(b"x").unwrap();
        until(&mut ring, |_, done| match done {
            Done::Readable { .. } => Some(()),
            outcome => panic!("{outcome:?}"),
        });
    }

    #[test]
    fn a_ring_that_goes_with_operations_under_way_sees_them_out() {
        let mut ring = new(8, 2);
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        ours.set_nonblocking(false).unwrap();
        ring.send(ours.as_fd(), 0, vec![1; 8 << 20], 0).unwrap();
        ring.receive(ours.as_fd(), 0).unwrap();
        ring.wait(&mut Vec::new(), Some(Duration::ZERO)).unwrap();
        drop(ring);
        drop(theirs);
    }
}
