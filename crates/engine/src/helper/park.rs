//! Parking: processes that hold descriptors which only have to stay open, so that one process can watch nearly
//! as many as it may open, and not half as many.
//!
//! A holder is this same program under [`PARK_COMMAND`], with a socket as its standard input:
//! descriptors come by `SCM_RIGHTS`, each message is acknowledged with a byte, which is read before the next one is sent,
//! and the end of the stream ends it. It dies with the process that started it.

use crate::descriptors::descriptors_max;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use sys::fork::die_with_parent;
use sys::process::this_program;

/// The hidden subcommand under which the program is to call [`park_main`].
pub const PARK_COMMAND: &str = "__park";

/// Descriptors in one message; the kernel takes 253 at most.
const MESSAGE_MAX: usize = 250;
/// Descriptors that a holder needs for itself.
const HOLDER_DESCRIPTORS: usize = 16;

/// Descriptors that other processes hold.
#[derive(Debug, Default)]
pub struct Parking {
    holders: Vec<Holder>,
    parked: usize,
}

#[derive(Debug)]
struct Holder {
    process: Child,
    socket: UnixStream,
    capacity: usize,
    /// Descriptors of the last message, until it is acknowledged.
    unacknowledged: usize,
}

impl Parking {
    /// No descriptors, no processes.
    pub fn new() -> Parking {
        Parking::default()
    }

    /// How many descriptors other processes hold.
    pub fn parked(&self) -> usize {
        self.parked
    }

    /// How many descriptors may be open here before the next [`Parking::park`], so that neither
    /// the limit nor one message is exceeded.
    pub fn chunk() -> usize {
        MESSAGE_MAX.min(descriptors_max() / 8).max(1)
    }

    /// How many descriptors it takes here to have `descriptors` parked: one for each holder.
    pub fn lines(descriptors: usize) -> usize {
        descriptors.div_ceil(Holder::capacity())
    }

    /// Hands `descriptors` over and closes them here. Starts another holder when the last is full. A holder may be at work
    /// on them until [`Parking::settle`].
    #[expect(clippy::needless_pass_by_value, reason = "taken, so that they are closed here")]
    pub fn park(&mut self, descriptors: Vec<OwnedFd>) -> io::Result<()> {
        let mut rest = &descriptors[..];
        while !rest.is_empty() {
            if self.holders.last().is_none_or(|holder| holder.capacity == 0) {
                self.holders.push(Holder::start()?);
            }
            let Some(holder) = self.holders.last_mut() else { continue };
            let count = rest.len().min(holder.capacity).min(Parking::chunk());
            debug_assert!(count > 0, "each message takes some, or this would not end");
            holder.take(&rest[..count])?;
            rest = &rest[count..];
            self.parked += count;
        }
        Ok(())
    }

    /// Waits until the holders have all that was parked.
    pub fn settle(&mut self) -> io::Result<()> {
        self.holders.iter_mut().try_for_each(Holder::settle)
    }

    /// Ends the holders, which closes their descriptors, and waits for them.
    pub fn release(mut self) -> io::Result<()> {
        self.settle()?;
        self.end()
    }

    /// All of them close at the same time: each takes long to close thousands.
    fn end(&mut self) -> io::Result<()> {
        let ending: Vec<Child> = self.holders.drain(..).map(|holder| holder.process).collect();
        let mut outcome = Ok(());
        for mut process in ending {
            if !process.wait()?.success() {
                outcome = Err(io::Error::other("a process that held descriptors has died"));
            }
        }
        outcome
    }
}

impl Drop for Parking {
    fn drop(&mut self) {
        // The holders end with this process at the latest.
        let _ = self.end();
    }
}

impl Holder {
    fn start() -> io::Result<Holder> {
        let (socket, theirs) = UnixStream::pair()?;
        let process = this_program()
            .arg(PARK_COMMAND)
            .arg(std::process::id().to_string())
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()
            .map_err(sys::limits::explained)?;
        Ok(Holder { process, socket, capacity: Holder::capacity(), unacknowledged: 0 })
    }

    fn capacity() -> usize {
        descriptors_max().saturating_sub(HOLDER_DESCRIPTORS).max(1)
    }

    fn take(&mut self, descriptors: &[OwnedFd]) -> io::Result<()> {
        self.settle()?;
        let borrowed: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MESSAGE_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !control.push(SendAncillaryMessage::ScmRights(&borrowed)) {
            return Err(io::Error::other("too many descriptors for one message"));
        }
        sendmsg(&self.socket, &[IoSlice::new(b"p")], &mut control, SendFlags::empty())?;
        self.unacknowledged = descriptors.len();
        self.capacity -= descriptors.len();
        Ok(())
    }

    fn settle(&mut self) -> io::Result<()> {
        let sent = std::mem::take(&mut self.unacknowledged);
        if sent == 0 {
            return Ok(());
        }
        let mut taken = [0];
        self.socket.read_exact(&mut taken)?;
        if usize::from(taken[0]) != sent {
            let error = format!("a holder took {} of {sent} descriptors", taken[0]);
            return Err(io::Error::other(error));
        }
        Ok(())
    }
}

/// Holds what comes in over standard input until its end, for the process `parent_pid`.
pub fn park_main(parent_pid: i32) -> io::Result<()> {
    die_with_parent(parent_pid)?;
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut received: Vec<OwnedFd> = Vec::new();
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MESSAGE_MAX))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let message = recvmsg(
            &socket,
            &mut [IoSliceMut::new(&mut byte)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        if message.bytes == 0 {
            return Ok(());
        }
        let before = received.len();
        for part in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = part {
                received.extend(descriptors);
            }
        }
        // At most MESSAGE_MAX, which fits a byte.
        socket.write_all(&[(received.len() - before) as u8])?;
    }
}
