//! Linux AIO as a queue of poll requests: `io_setup`, `io_submit` (`IOCB_CMD_POLL`), `io_cancel`,
//! `io_getevents`, `io_destroy`. The C library has none of them.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use libc::{c_long, c_ulong};

use crate::answer::{counted, done};
use crate::timeout::SECONDS_MAX;

const IOCB_CMD_POLL: u16 = 5;

/// Requests are kept in boxes of so many, since the kernel knows each by its address.
const CHUNK: usize = 256;

/// The kernel's `struct iocb`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct AioRequest {
    data: u64,
    /// The key and the flags of reading and writing, in the machine's byte order: both stay 0.
    key_and_flags: [u32; 2],
    opcode: u16,
    priority: i16,
    fd: u32,
    /// The bits to poll for, in a poll request.
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

/// A request that is done: the kernel's `struct io_event`.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct Completion {
    /// The number that the request was queued with.
    pub data: u64,
    request: u64,
    /// The bits of `poll` that woke it, some of them perhaps not asked for; 0 if the request
    /// was cancelled.
    pub result: i64,
    result2: i64,
}

/// A context with its poll requests, each in a numbered slot.
pub struct Polls {
    context: c_ulong,
    /// Boxes that never move: a request is cancelled by the address that it was submitted with.
    chunks: Vec<Box<[AioRequest; CHUNK]>>,
    /// Slots whose requests wait to be submitted.
    batch: Vec<u32>,
    /// Their addresses, while they are being submitted.
    addresses: Vec<*mut AioRequest>,
}

// SAFETY: `addresses` is filled and used within one call, from requests that the same value owns;
// an AIO context belongs to the process, not to a thread.
unsafe impl Send for Polls {}

impl Polls {
    /// `io_setup(2)`: a context for `requests_max` requests.
    ///
    /// # Errors
    /// `EAGAIN` if `fs.aio-max-nr` does not allow as many, `ENOSYS` if the kernel has no AIO.
    pub fn new(requests_max: u32) -> io::Result<Self> {
        let mut context: c_ulong = 0;
        // SAFETY: the call writes one context id, which has to be 0 before.
        done(unsafe { libc::syscall(libc::SYS_io_setup, requests_max, &raw mut context) })?;
        Ok(Polls { context, chunks: Vec::new(), batch: Vec::new(), addresses: Vec::new() })
    }

    /// Puts a request into the batch: tell when `fd` has one of `bits` (of `poll`). A slot holds
    /// one request at a time.
    pub fn queue(&mut self, slot: u32, fd: RawFd, bits: u16, data: u64) {
        self.batch.push(slot);
        self.requeue(slot, fd, bits, data);
    }

    /// Changes the request of a slot that is in the batch.
    pub fn requeue(&mut self, slot: u32, fd: RawFd, bits: u16, data: u64) {
        *self.slot(slot) = AioRequest {
            data,
            opcode: IOCB_CMD_POLL,
            fd: fd.cast_unsigned(),
            buffer: u64::from(bits),
            ..AioRequest::default()
        };
    }

    fn slot(&mut self, slot: u32) -> &mut AioRequest {
        let (chunk, position) = position(slot);
        while self.chunks.len() <= chunk {
            self.chunks.push(Box::new([AioRequest::default(); CHUNK]));
        }
        &mut self.chunks[chunk][position]
    }

    /// How many requests are in the batch.
    pub fn queued(&self) -> usize {
        self.batch.len()
    }

    /// `io_submit(2)`: hands the batch to the kernel, which takes its first requests, or all. Those
    /// it took leave the batch; returns their slots.
    ///
    /// # Errors
    /// What is wrong with the first request, which stays; `EAGAIN` if too many are in flight.
    pub fn submit(&mut self) -> io::Result<impl Iterator<Item = u32> + '_> {
        self.addresses.clear();
        for &slot in &self.batch {
            let (chunk, position) = position(slot);
            self.addresses.push(&raw mut self.chunks[chunk][position]);
        }
        let (count, first) = (machine_word(self.addresses.len()), self.addresses.as_mut_ptr());
        // SAFETY: `count` pointers to requests that live, which the kernel copies during the call; it
        // writes their keys to 0, which they are.
        let taken =
            counted(unsafe { libc::syscall(libc::SYS_io_submit, self.context, count, first) })?;
        Ok(self.batch.drain(..taken))
    }

    /// Takes the first request out of the batch, for when the kernel refuses it; returns its slot.
    pub fn skip(&mut self) -> Option<u32> {
        (!self.batch.is_empty()).then(|| self.batch.remove(0))
    }

    /// `io_cancel(2)`: ends the request of a slot. Its completion, with a result of 0, still comes;
    /// if it was done before, the completion that it has.
    pub fn cancel(&mut self, slot: u32) -> io::Result<()> {
        let context = self.context;
        let request: *mut AioRequest = self.slot(slot);
        let mut unused = Completion::default();
        // SAFETY: the request lives; the kernel compares its address and reads its key; `unused` is
        // what kernels before 4.19 write a completion to.
        let answer =
            unsafe { libc::syscall(libc::SYS_io_cancel, context, request, &raw mut unused) };
        done(answer).or_else(|error| match error.raw_os_error() {
            // Cancelled; or done already.
            Some(libc::EINPROGRESS | libc::EINVAL) => Ok(()),
            _ => Err(error),
        })
    }

    /// `io_getevents(2)`: waits until one request is done or the time is up, takes as many as fit
    /// into `done` and returns how many.
    #[inline]
    pub fn wait(
        &mut self,
        done: &mut [Completion],
        timeout: Option<Duration>,
    ) -> io::Result<usize> {
        // The kernel's own timespec: two machine words, whatever the C library's is.
        let limit = timeout.map(|timeout| {
            let seconds = timeout.as_secs().min(SECONDS_MAX);
            [machine_word(seconds as usize), machine_word(timeout.subsec_nanos() as usize)]
        });
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let max = machine_word(done.len());
        let min = max.min(1);
        // SAFETY: the pointer and `max` are those of one slice; `limit` is null or valid.
        counted(unsafe {
            libc::syscall(libc::SYS_io_getevents, self.context, min, max, done.as_mut_ptr(), limit)
        })
    }
}

impl Drop for Polls {
    fn drop(&mut self) {
        // SAFETY: the context is ours and goes away with this value. It can only fail if somebody
        // has destroyed it before.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

/// The chunk of a slot, and its place there.
fn position(slot: u32) -> (usize, usize) {
    (slot as usize / CHUNK, slot as usize % CHUNK)
}

/// A number that is far below the limit of its type, as the kernel takes it.
fn machine_word(number: usize) -> c_long {
    c_long::try_from(number).unwrap_or(c_long::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));

    #[test]
    fn a_request_is_as_large_as_the_kernels() {
        assert_eq!((size_of::<AioRequest>(), size_of::<Completion>()), (64, 32));
    }

    #[test]
    fn a_request_is_done_once_its_descriptor_is_ready() {
        let mut polls = Polls::new(4).unwrap();
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut got = [Completion::default(); 4];
        // A slot in the second chunk.
        polls.queue(CHUNK as u32 + 3, ours.as_raw_fd(), libc::POLLIN as u16, 77);
        assert_eq!(polls.submit().unwrap().collect::<Vec<_>>(), [CHUNK as u32 + 3]);
        assert_eq!(polls.queued(), 0);
        assert_eq!(polls.wait(&mut got, Some(Duration::ZERO)).unwrap(), 0);
        theirs.write_all(b"!").unwrap();
        assert_eq!(polls.wait(&mut got, PATIENCE).unwrap(), 1);
        assert_eq!(got[0].data, 77);
        assert_ne!(got[0].result & i64::from(libc::POLLIN), 0);
    }

    #[test]
    fn a_cancelled_request_still_completes_with_nothing() {
        let mut polls = Polls::new(4).unwrap();
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut got = [Completion::default(); 4];
        polls.queue(0, ours.as_raw_fd(), libc::POLLIN as u16, 5);
        assert_eq!(polls.submit().unwrap().count(), 1);
        polls.cancel(0).unwrap();
        assert_eq!(polls.wait(&mut got, PATIENCE).unwrap(), 1);
        assert_eq!((got[0].data, got[0].result), (5, 0));
        // There is nothing to cancel any more.
        polls.cancel(0).unwrap();
        assert_eq!(polls.wait(&mut got, Some(Duration::ZERO)).unwrap(), 0);
    }

    #[test]
    fn a_refused_request_can_be_skipped() {
        let mut polls = Polls::new(4).unwrap();
        let (ours, _theirs) = UnixStream::pair().unwrap();
        polls.queue(0, 1_000_000_000, libc::POLLIN as u16, 1);
        polls.queue(1, ours.as_raw_fd(), libc::POLLOUT as u16, 2);
        let refusal = polls.submit().err().unwrap();
        assert_eq!(refusal.raw_os_error(), Some(libc::EBADF));
        assert_eq!(polls.skip(), Some(0));
        assert_eq!(polls.submit().unwrap().count(), 1);
        let mut got = [Completion::default(); 4];
        assert_eq!(polls.wait(&mut got, PATIENCE).unwrap(), 1);
        assert_eq!(got[0].data, 2);
    }
}
