//! TCP sockets over IPv4 and IPv6: as subjects, and as connections over loopback.

use crate::shared::shortage;
use engine::{
    Cell, Check, Defaults, Failure, Parameter, Parking, Subject, SubjectInfo, Sweep, Values,
};
use rustix::net::{getsockname, listen};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use sys::tcp::Address;

/// A family of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Ipv4,
    Ipv6,
}

impl Family {
    const ALL: [Family; 2] = [Family::Ipv4, Family::Ipv6];

    /// The family that a subject is.
    pub fn from_cell(cell: &Cell) -> Result<Family, Failure> {
        cell.find_subject(&Family::ALL, |family| family.name()).copied()
    }

    fn name(self) -> &'static str {
        match self {
            Family::Ipv4 => "ipv4",
            Family::Ipv6 => "ipv6",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Family::Ipv4 => "IPv4",
            Family::Ipv6 => "IPv6",
        }
    }

    /// Every address of this machine, and a port that the kernel chooses.
    pub fn anywhere(self) -> Address {
        let address: IpAddr = match self {
            Family::Ipv4 => Ipv4Addr::UNSPECIFIED.into(),
            Family::Ipv6 => Ipv6Addr::UNSPECIFIED.into(),
        };
        SocketAddr::from((address, 0)).into()
    }

    /// Loopback, and a port that the kernel chooses.
    fn loopback(self) -> Address {
        let address: IpAddr = match self {
            Family::Ipv4 => Ipv4Addr::LOCALHOST.into(),
            Family::Ipv6 => Ipv6Addr::LOCALHOST.into(),
        };
        SocketAddr::from((address, 0)).into()
    }

    /// A stream socket.
    #[inline]
    pub fn socket(self) -> io::Result<OwnedFd> {
        sys::tcp::socket(self == Family::Ipv6)
    }
}

/// Both families as subjects.
pub(crate) fn subjects() -> Vec<Subject> {
    let summary = |family| match family {
        Family::Ipv4 => "TCP over IPv4",
        Family::Ipv6 => "TCP over IPv6",
    };
    let subject = |family: Family| {
        let label = family.label().into();
        let info = SubjectInfo { label, ..SubjectInfo::named(family.name()) };
        let available = Check::new(move || sys::loopback::check(family == Family::Ipv6));
        Subject { available, ..Subject::new(info, summary(family)) }
    };
    Family::ALL.map(subject).into()
}

/// The axis of a workload over sockets.
pub(crate) const fn axis(
    name: &'static str,
    about: &'static str,
    label: &'static str,
) -> Parameter {
    let points = Defaults { quick: &["1k"], full: &["10k"] };
    let sweep = Some(Sweep { label, points });
    Parameter {
        name,
        about,
        values: Values::AtLeast(1),
        default: Defaults::always(&["10k"]),
        sweep,
    }
}

/// The axis of a workload over connections.
pub(crate) const CONNECTIONS: Parameter =
    axis("connections", "connections that are opened", "open connections");

/// Where connections over loopback come in.
pub(crate) struct Listener {
    family: Family,
    socket: OwnedFd,
    address: Address,
}

impl Listener {
    pub fn open(family: Family) -> Result<Listener, Failure> {
        let open = || -> io::Result<Listener> {
            let socket = family.socket()?;
            sys::tcp::bind(socket.as_fd(), &family.loopback())?;
            listen(&socket, 128)?;
            let address = SocketAddr::try_from(getsockname(&socket)?)?;
            Ok(Listener { family, socket, address: address.into() })
        };
        open().map_err(shortage::during("listening on loopback"))
    }

    /// A socket for the other end, not connected yet.
    pub fn client(&self) -> io::Result<OwnedFd> {
        self.family.socket()
    }

    /// Connects `client`: its connection waits to be accepted.
    #[inline]
    pub fn connect(&self, client: &OwnedFd) -> io::Result<()> {
        sys::tcp::connect(client.as_fd(), &self.address)
    }

    /// The next connection that waits.
    #[inline]
    pub fn accept(&self, nonblocking: bool) -> io::Result<OwnedFd> {
        sys::tcp::accept(self.socket.as_fd(), nonblocking)
    }
}

/// Accepted connections. Their other ends stay open elsewhere, so that a process can hold as many of
/// these as it may have descriptors.
#[derive(Default)]
pub(crate) struct Connections {
    pub accepted: Vec<OwnedFd>,
    clients: Vec<OwnedFd>,
    parking: Parking,
}

impl Connections {
    pub fn keep(&mut self, accepted: OwnedFd, client: OwnedFd) -> Result<(), Failure> {
        self.accepted.push(accepted);
        self.clients.push(client);
        if self.clients.len() < Parking::chunk() {
            return Ok(());
        }
        let clients = std::mem::take(&mut self.clients);
        // The next connection is timed.
        let parked = self.parking.park(clients).and_then(|()| self.parking.settle());
        parked.map_err(|error| Failure::call("parking clients", error))
    }

    /// Closes them, the accepted ends first: what waits for its time then waits at the listener's
    /// port, and the ports that clients had are free for the next cell.
    pub fn close(self) -> Result<(), Failure> {
        drop(self.accepted);
        drop(self.clients);
        self.parking.release().map_err(|error| Failure::call("releasing parked clients", error))
    }
}
