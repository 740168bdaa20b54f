//! What is watched: socketpairs, pipes, eventfds or TCP connections over loopback.
//!
//! Only the peers of active objects are ever written to. The others have to stay open and nothing
//! else, so they can be parked in other processes where the limits ask for it. So can the watched ends of
//! objects that are not active, where the mechanism watches files whose descriptors are closed here.

use crate::readiness::mechanisms::OWN_DESCRIPTORS;
use crate::sockets::tcp::{Family, Listener};
use engine::{Failure, Parking, Probe, descriptors_max};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair, sockopt};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The index of an object in the order in which they are opened.
pub(crate) type ObjectIndex = usize;

/// The index of an object among those whose watched end is open here; also its token. It is the
/// [`ObjectIndex`] where all are open here.
pub(crate) type Slot = usize;

/// Batches that opening, adding, removing and closing are timed in.
pub(crate) const BATCHES: usize = 20;

/// The most batches that opening and adding are timed in, where a batch is what is parked at once.
const PARKED_BATCHES_MAX: usize = 100;

/// Where opening and closing are measured; nowhere, if their cost is not wanted.
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

/// Connections to one listener. The kernel has 28,000 ports for the other ends by default, and searches the
/// longer the fewer are free.
const PORT_CONNECTIONS: usize = 20_000;

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

    /// Memory of the kernel for one object that is watched, both its ends, at the most. Linux 6.18's slabs grew
    /// by 7.0, 2.6, 0.6 and 4.5 KiB for each of 200,000 that epoll watched.
    pub fn memory_kib(self) -> u64 {
        match self {
            Object::Socketpair | Object::Tcp => 10,
            Object::Pipe => 4,
            Object::Eventfd => 1,
        }
    }

    /// Makes it ready: what is written, and read again by the handler.
    pub fn message(self) -> &'static [u8] {
        // An eventfd takes and gives a number of eight bytes.
        if self == Object::Eventfd { &[1, 0, 0, 0, 0, 0, 0, 0] } else { b"x" }
    }
}

/// Which ends of the objects are open here, and which are parked.
#[derive(Debug)]
pub(crate) struct Layout {
    object: Object,
    count: usize,
    /// The objects that are written to, ascending: both their ends are open here.
    active: Vec<ObjectIndex>,
    /// Whether peers are parked.
    parks_peers: bool,
    /// How many of the first objects have their watched end here; of the others the active ones have.
    kept: usize,
}

impl Layout {
    /// All watched ends are open here, and so are all peers unless they are to be parked.
    pub fn watched_here(
        object: Object,
        count: usize,
        active: &[ObjectIndex],
        parks_peers: bool,
    ) -> Layout {
        let mut active = active.to_vec();
        active.sort_unstable();
        Layout { object, count, active, parks_peers, kept: count }
    }

    /// As many watched ends are open here as may be, next to what parking itself takes; the others are
    /// parked with their peers.
    pub fn beyond_limit(object: Object, count: usize, active: &[ObjectIndex]) -> Layout {
        let kept = Layout::kept_beyond_limit(object, count, active.len()).min(count);
        Layout { kept, ..Layout::watched_here(object, count, active, true) }
    }

    /// How many watched ends can be here beyond the limit, next to those of the active objects.
    pub fn kept_beyond_limit(object: Object, count: usize, active: usize) -> usize {
        let ends = object.descriptors();
        let paired = ends.saturating_mul(active.saturating_add(Parking::chunk()));
        let lines = Parking::lines(ends.saturating_mul(count));
        let listeners = if object == Object::Tcp { count / PORT_CONNECTIONS } else { 0 };
        let own = OWN_DESCRIPTORS + lines + listeners;
        descriptors_max().saturating_sub(own).saturating_sub(paired)
    }

    /// Where the object at `index` is among those whose watched end is open here, if it is.
    fn slot(&self, index: ObjectIndex) -> Option<Slot> {
        if index < self.kept {
            return Some(index);
        }
        let before = self.active.partition_point(|&active| active < self.kept);
        self.active[before..].binary_search(&index).ok().map(|rank| self.kept + rank)
    }

    /// The slots of active objects.
    pub fn slots(&self, active: &[ObjectIndex]) -> Result<Vec<Slot>, Failure> {
        let slot = |&index: &ObjectIndex| {
            self.slot(index).ok_or_else(|| Failure::new(format!("object {index} is parked")))
        };
        active.iter().map(slot).collect()
    }

    fn is_active(&self, index: ObjectIndex) -> bool {
        self.active.binary_search(&index).is_ok()
    }
}

/// Makes a mechanism watch ends that are parked next. It is given the probe where adding is measured.
pub(crate) type Register<'a> = &'a mut dyn FnMut(&[OwnedFd], &mut Timed<'_>) -> Result<(), Failure>;

/// All that is watched, in order.
#[derive(Debug)]
pub(crate) struct Objects {
    pub object: Object,
    /// The ends that are watched and open here; they don't block.
    pub watched: Vec<OwnedFd>,
    /// The ends that are written to and stay in this process, with their slots, ascending. Empty
    /// for eventfds, which have one end.
    peers: Vec<(Slot, OwnedFd)>,
    parking: Parking,
    parked_ends: usize,
}

impl Objects {
    /// Opens them. Those whose watched end is to be parked are shown to `register` before.
    pub fn open(
        layout: &Layout,
        probe: &mut Timed<'_>,
        register: Register<'_>,
    ) -> Result<Objects, Failure> {
        let &Layout { object, count, .. } = layout;
        let (watched, peers) = (Vec::with_capacity(layout.kept), Vec::new());
        let mut listeners = Vec::new();
        let parking = Parking::new();
        let mut all = Objects { object, watched, peers, parking, parked_ends: 0 };
        let chunk = count.div_ceil(BATCHES).min(Parking::chunk());
        // Millions in chunks are more samples than anybody wants: then only some are timed.
        let every = count.div_ceil(chunk).div_ceil(PARKED_BATCHES_MAX);
        for (batch, first) in (0..count).step_by(chunk).enumerate() {
            let some = chunk.min(count - first);
            let mut opened: Vec<Ends> = Vec::with_capacity(some);
            if object == Object::Tcp && first / PORT_CONNECTIONS >= listeners.len() {
                listeners.push(Listener::open(Family::Ipv4)?);
            }
            let mut no_probe = None;
            let timing = if batch % every == 0 { &mut *probe } else { &mut no_probe };
            if timing.is_some() {
                all.parking.settle().map_err(not_parked)?;
            }
            timed(timing, "open", some as u64, || {
                for _ in 0..some {
                    opened.push(open(object, listeners.last())?);
                }
                Ok(())
            })?;
            all.take(first, opened, layout, timing, register)?;
        }
        all.parking.settle().map_err(not_parked)?;
        if let Some(probe) = probe {
            probe.fact("parked peers", (all.parking.parked() - all.parked_ends) as u64);
            if all.parked_ends > 0 {
                probe.fact("parked watched ends", all.parked_ends as u64);
            }
        }
        Ok(all)
    }

    /// Keeps what has to be here of the objects from `first` on, and parks the other ends.
    fn take(
        &mut self,
        first: ObjectIndex,
        opened: Vec<Ends>,
        layout: &Layout,
        timing: &mut Timed<'_>,
        register: Register<'_>,
    ) -> Result<(), Failure> {
        let (mut ends, mut peers) = (Vec::new(), Vec::new());
        for (index, (end, peer)) in (first..).zip(opened) {
            let active = layout.is_active(index);
            if index < layout.kept || active {
                self.watched.push(end);
            } else {
                ends.push(end);
            }
            match peer {
                Some(peer) if layout.parks_peers && !active => peers.push(peer),
                Some(peer) => self.peers.push((self.watched.len() - 1, peer)),
                None => {}
            }
        }
        if !ends.is_empty() {
            register(&ends, timing)?;
            self.parked_ends += ends.len();
            self.parking.park(ends).map_err(not_parked)?;
        }
        self.parking.park(peers).map_err(not_parked)
    }

    /// The end to write to for the object in `slot`.
    pub fn peer(&self, slot: Slot) -> Result<&OwnedFd, Failure> {
        if self.object == Object::Eventfd {
            return Ok(&self.watched[slot]);
        }
        let position = self.peers.binary_search_by_key(&slot, |(slot, _)| *slot);
        position
            .map(|at| &self.peers[at].1)
            .map_err(|_| Failure::new(format!("the peer of {slot} is parked")))
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

fn not_parked(error: io::Error) -> Failure {
    Failure::call("parking descriptors", error)
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
    fn slots_count_what_is_here() {
        let active = [90, 3, 20, 50];
        let layout = Layout { kept: 30, ..Layout::watched_here(Object::Pipe, 100, &active, true) };
        assert_eq!(layout.slots(&active).unwrap(), [31, 3, 20, 30]);
        assert_eq!(
            [0, 29, 30, 99].map(|index| layout.slot(index)),
            [Some(0), Some(29), None, None]
        );
        assert!(layout.slots(&[99]).is_err());
    }

    #[test]
    fn beyond_the_limit_descriptors_are_left_for_all_that_parking_takes() {
        let here = |count| {
            let layout = Layout::beyond_limit(Object::Socketpair, count, &[count / 2]);
            let holders = Parking::lines(2 * count);
            layout.kept + 2 + 2 * Parking::chunk() + holders + OWN_DESCRIPTORS
        };
        for factor in [2, 10, 50] {
            assert_eq!(here(factor * descriptors_max()), descriptors_max());
        }
    }

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
