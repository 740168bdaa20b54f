//! What is watched in the tests: one end of something, with its other end.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::Mechanism;
use rustix::io::{Errno, read, write};

/// A kind of thing to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Socketpair,
    Pipe,
    Tcp,
    #[cfg(target_os = "linux")]
    Eventfd,
}

impl Kind {
    pub const ALL: &[Kind] = &[
        Kind::Socketpair,
        Kind::Pipe,
        Kind::Tcp,
        #[cfg(target_os = "linux")]
        Kind::Eventfd,
    ];

    /// Those that a peer can hang up.
    pub const WITH_PEER: &[Kind] = &[Kind::Socketpair, Kind::Pipe, Kind::Tcp];

    /// The kinds that `row` takes: one that it refuses has to be named among its limits.
    pub fn supported_by(row: &Mechanism) -> impl Iterator<Item = Kind> {
        let no_eventfd = row.limits.iter().any(|limit| limit.contains("no eventfd"));
        Kind::ALL.iter().copied().filter(move |kind| !(no_eventfd && kind.is_eventfd()))
    }

    pub fn is_eventfd(self) -> bool {
        !Kind::WITH_PEER.contains(&self)
    }
}

/// A thing with its watched end and its other end, neither of which blocks.
pub struct Object {
    pub kind: Kind,
    watched: OwnedFd,
    /// Absent once it has hung up, and for an eventfd, which has but one end.
    peer: Option<OwnedFd>,
}

impl Object {
    /// One whose watched end can be read.
    pub fn new(kind: Kind) -> Self {
        let (watched, peer) = match kind {
            Kind::Socketpair => socketpair(),
            Kind::Pipe => pipe(),
            Kind::Tcp => tcp(),
            #[cfg(target_os = "linux")]
            Kind::Eventfd => {
                use rustix::event::{EventfdFlags, eventfd};
                return Object {
                    kind,
                    watched: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).unwrap(),
                    peer: None,
                };
            }
        };
        Object { kind, watched, peer: Some(peer) }
    }

    /// A pipe whose watched end is the one to write to.
    pub fn pipe_to_write() -> Self {
        let (reader, writer) = pipe();
        Object { kind: Kind::Pipe, watched: writer, peer: Some(reader) }
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.watched.as_fd()
    }

    pub fn peer(&self) -> Option<BorrowedFd<'_>> {
        self.peer.as_ref().map(AsFd::as_fd)
    }

    /// One arrival of `bytes` at the watched end.
    pub fn send(&self, bytes: usize) {
        let sent = if self.kind.is_eventfd() {
            write(&self.watched, &(bytes as u64).to_ne_bytes()).map(|_| bytes)
        } else {
            write(self.peer.as_ref().expect("has hung up"), &vec![b'!'; bytes])
        };
        assert_eq!(sent, Ok(bytes));
    }

    /// Reads the watched end until it would block, ends or fails; returns how many bytes.
    pub fn drain(&self) -> usize {
        if self.kind.is_eventfd() {
            let mut count = [0; 8];
            return match read(&self.watched, &mut count) {
                Ok(_) => u64::from_ne_bytes(count) as usize,
                Err(error) => {
                    assert_eq!(error, Errno::AGAIN);
                    0
                }
            };
        }
        drain(self.watched.as_fd())
    }

    /// Writes to the watched end until it would block; returns how many bytes.
    pub fn fill(&self) -> usize {
        let mut total = 0;
        loop {
            match write(&self.watched, &[b'.'; 4_096]) {
                Ok(sent) => total += sent,
                Err(Errno::AGAIN) => return total,
                Err(error) => panic!("fill: {error}"),
            }
        }
    }

    /// The peer reads all that there is; returns how many bytes.
    pub fn relieve(&self) -> usize {
        self.peer().map_or(0, drain)
    }

    /// The peer closes its end.
    pub fn hang_up(&mut self) {
        assert!(self.peer.take().is_some(), "there is nobody to hang up");
    }

    /// Gives the watched end the lowest free number from `min` on, and closes the old one: as if another
    /// process had it.
    pub fn renumber(&mut self, min: i32) {
        self.watched = rustix::io::fcntl_dupfd_cloexec(&self.watched, min).unwrap();
    }

    /// Closes the watched end and hands over the peer.
    pub fn close(self) -> Option<OwnedFd> {
        drop(self.watched);
        self.peer
    }
}

fn drain(fd: BorrowedFd<'_>) -> usize {
    let mut total = 0;
    let mut buffer = [0; 4_096];
    loop {
        match read(fd, &mut buffer) {
            Ok(0) | Err(Errno::AGAIN | Errno::CONNRESET) => return total,
            Ok(got) => total += got,
            Err(error) => panic!("drain: {error}"),
        }
    }
}

fn socketpair() -> (OwnedFd, OwnedFd) {
    use rustix::net::sockopt::set_socket_send_buffer_size;
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    for end in [&ours, &theirs] {
        end.set_nonblocking(true).unwrap();
        // Small, so that filling it is quick.
        set_socket_send_buffer_size(end, 8_192).unwrap();
    }
    (ours.into(), theirs.into())
}

fn pipe() -> (OwnedFd, OwnedFd) {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    for end in [&reader, &writer] {
        rustix::io::ioctl_fionbio(end, true).unwrap();
        rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC).unwrap();
    }
    (reader, writer)
}

fn tcp() -> (OwnedFd, OwnedFd) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let ours = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (theirs, _) = listener.accept().unwrap();
    for end in [&ours, &theirs] {
        end.set_nonblocking(true).unwrap();
        end.set_nodelay(true).unwrap();
    }
    (ours.into(), theirs.into())
}
