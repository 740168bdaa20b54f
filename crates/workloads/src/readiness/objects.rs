//! What is watched: socketpairs, pipes, eventfds or TCP connections over loopback.
//!
//! Only the peers of active objects are ever written to. The others have to stay open and nothing
//! else, so they can be parked in other processes where the limits ask for it.

use crate::sockets::tcp::{Family, Listener};
use engine::{Failure, Parking, Probe};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair, sockopt};
use rustix::pipe::{PipeFlags, pipe_with};
use std::collections::HashSet;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The index of a descriptor among those that are watched; also its token.
pub(crate) type ObjectIndex = usize;

/// Batches that opening, adding, removing and closing are timed in.
pub(crate) const BATCHES: usize = 20;

/// Where opening and closing are measured; nowhere, if nobody asks what they cost.
pub(crate) type Timed<'a> = Option<&'a mut Probe>;

fn timed(
    probe: &mut Timed<'_>,
    metric: &str,
    operations: u64,
    body: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    match probe {
        Some(probe) => probe.batch(metric, operations, body),
        None => body(),
    }
}

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Socketpair,
    Pipe,
    Eventfd,
    Tcp,
}

/// One object: the end that is watched, and the end that is written to, where they are two.
type Ends = (OwnedFd, Option<OwnedFd>);

impl Object {
    /// As the command line knows them.
    pub const NAMES: &'static [&'static str] = &["socketpair", "pipe", "eventfd", "tcp"];

    pub fn from_name(name: &str) -> Result<Object, Failure> {
        match name {
            "socketpair" => Ok(Object::Socketpair),
            "pipe" => Ok(Object::Pipe),
            "eventfd" => Ok(Object::Eventfd),
            "tcp" => Ok(Object::Tcp),
            _ => Err(Failure::new(format!("there is no object {name}"))),
        }
    }

    /// How many descriptors one object takes.
    pub fn descriptors(self) -> usize {
        if self == Object::Eventfd { 1 } else { 2 }
    }

    /// Makes it ready: what is written, and read again by the handler.
    pub fn message(self) -> &'static [u8] {
        // An eventfd takes and gives a number of eight bytes.
        if self == Object::Eventfd { &[1, 0, 0, 0, 0, 0, 0, 0] } else { b"x" }
    }
}

/// All that is watched, in order.
#[derive(Debug)]
pub(crate) struct Objects {
    pub object: Object,
    /// The ends that are watched; they don't block.
    pub watched: Vec<OwnedFd>,
    /// The ends that are written to and stay in this process, with their places, ascending. Empty
    /// for eventfds, which have one end.
    peers: Vec<(ObjectIndex, OwnedFd)>,
    parking: Parking,
}

impl Objects {
    /// Opens `count` of them. With `park`, the peers of those that are not active go elsewhere.
    pub fn open(
        object: Object,
        count: usize,
        active: &[ObjectIndex],
        park: bool,
        probe: &mut Timed<'_>,
    ) -> Result<Objects, Failure> {
        let listener = match object {
            Object::Tcp => Some(Listener::open(Family::Ipv4)?),
            _ => None,
        };
        let active: HashSet<ObjectIndex> = active.iter().copied().collect();
        let (watched, peers) = (Vec::with_capacity(count), Vec::new());
        let mut all = Objects { object, watched, peers, parking: Parking::new() };
        let chunk = count.div_ceil(BATCHES).min(Parking::chunk());
        while all.watched.len() < count {
            let some = chunk.min(count - all.watched.len());
            let mut opened: Vec<Ends> = Vec::with_capacity(some);
            timed(probe, "open", some as u64, || {
                for _ in 0..some {
                    opened.push(open(object, listener.as_ref())?);
                }
                Ok(())
            })?;
            all.take(opened, |index| park && !active.contains(&index))?;
        }
        if let Some(probe) = probe {
            probe.fact("parked peers", all.parking.parked());
        }
        Ok(all)
    }

    fn take(
        &mut self,
        opened: Vec<Ends>,
        parks: impl Fn(ObjectIndex) -> bool,
    ) -> Result<(), Failure> {
        let mut away = Vec::new();
        for (end, peer) in opened {
            let index = self.watched.len();
            self.watched.push(end);
            match peer {
                Some(peer) if parks(index) => away.push(peer),
                Some(peer) => self.peers.push((index, peer)),
                None => {}
            }
        }
        self.parking.park(away).map_err(|error| Failure::call("parking peers", error))
    }

    /// The end to write to for the object at `index`.
    pub fn peer(&self, index: ObjectIndex) -> Result<&OwnedFd, Failure> {
        if self.object == Object::Eventfd {
            return Ok(&self.watched[index]);
        }
        let slot = self.peers.binary_search_by_key(&index, |(index, _)| *index);
        slot.map(|at| &self.peers[at].1)
            .map_err(|_| Failure::new(format!("the peer of {index} is parked")))
    }

    /// Closes them all. Timed only where all peers are here: elsewhere it would be half the work.
    pub fn close(&mut self, probe: &mut Timed<'_>) -> Result<(), Failure> {
        let parking = std::mem::take(&mut self.parking);
        let all_here = parking.parked() == 0;
        let chunk = self.watched.len().div_ceil(BATCHES);
        while !self.watched.is_empty() {
            let some = self.watched.split_off(self.watched.len().saturating_sub(chunk));
            let rest = self.peers.len().saturating_sub(if all_here { some.len() } else { chunk });
            let peers = self.peers.split_off(rest);
            let count = some.len() as u64;
            let close = || {
                drop((some, peers));
                Ok(())
            };
            if all_here {
                timed(probe, "close", count, close)?;
            } else {
                close()?;
            }
        }
        parking.release().map_err(|error| Failure::call("releasing parked peers", error))
    }
}

fn open(object: Object, listener: Option<&Listener>) -> Result<Ends, Failure> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let ends = match (object, listener) {
        (Object::Tcp, Some(listener)) => connect(listener),
        (Object::Pipe, _) => {
            let ends = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC);
            ends.map(|(end, peer)| (end, Some(peer))).map_err(io::Error::from)
        }
        (Object::Eventfd, _) => {
            use rustix::event::{EventfdFlags, eventfd};
            let end = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC);
            end.map(|end| (end, None)).map_err(io::Error::from)
        }
        _ => {
            let ends = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None);
            ends.map(|(end, peer)| (end, Some(peer))).map_err(io::Error::from)
        }
    };
    ends.map_err(|error| Failure::call(format!("opening a {object:?}"), error))
}

/// A connection over loopback: the accepted end is watched.
fn connect(listener: &Listener) -> io::Result<Ends> {
    let peer = listener.client()?;
    // Reset at close: ten thousand connections in TIME_WAIT would use up the ports.
    sockopt::set_socket_linger(&peer, Some(Duration::ZERO))?;
    sockopt::set_tcp_nodelay(&peer, true)?;
    listener.connect(&peer)?;
    let end = listener.accept(true)?;
    sockopt::set_socket_linger(&end, Some(Duration::ZERO))?;
    Ok((end, Some(peer)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::{fcntl_getfd, read, write};

    #[test]
    fn what_is_written_to_the_peer_comes_out_of_the_watched_end() {
        let listener = Listener::open(Family::Ipv4).unwrap();
        for name in Object::NAMES {
            let object = Object::from_name(name).unwrap();
            let (end, peer) = open(object, Some(&listener)).unwrap();
            assert_eq!(peer.is_some(), object.descriptors() == 2, "{name}");
            let message = object.message();
            assert_eq!(write(peer.as_ref().unwrap_or(&end), message), Ok(message.len()), "{name}");
            let mut buffer = [0; 16];
            // Loopback TCP may hand the byte over a moment later.
            let count = loop {
                match read(&end, &mut buffer) {
                    Err(rustix::io::Errno::AGAIN) => {}
                    result => break result.unwrap(),
                }
            };
            assert_eq!(&buffer[..count], message, "{name}");
            assert_eq!(read(&end, &mut buffer), Err(rustix::io::Errno::AGAIN), "{name}");
            assert!(fcntl_getfd(&end).unwrap().contains(rustix::io::FdFlags::CLOEXEC), "{name}");
        }
    }
}
