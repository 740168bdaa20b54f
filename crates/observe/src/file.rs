//! What a descriptor of another process stands for: its kind, and its two ends.

use std::fmt;
use std::os::fd::OwnedFd;

use rustix::net::sockopt::{socket_acceptconn, socket_peercred, socket_type};
use rustix::net::{SocketAddrAny, SocketAddrUnix, SocketType, getpeername, getsockname};

use crate::process::{self, PipeEnds, Process};

/// What a descriptor stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// `TCP socket`, `pipe`, `eventfd`, or a path.
    pub kind: String,
    /// It accepts connections.
    pub listens: bool,
    /// The address of its own end.
    pub local: Option<String>,
    /// The address of the other end, or the process that has it.
    pub peer: Option<String>,
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let File { kind, listens, local, peer } = self;
        f.write_str(kind)?;
        match (local, peer) {
            (Some(local), Some(peer)) => write!(f, " {local} to {peer}"),
            (Some(local), None) if *listens => write!(f, " that listens on {local}"),
            (Some(local), None) => write!(f, " {local}"),
            (None, Some(peer)) => write!(f, " to {peer}"),
            (None, None) => Ok(()),
        }
    }
}

impl File {
    /// What `descriptor` of the process is; `None` if it is closed by now.
    pub(crate) fn find(process: &Process, descriptor: i32, pipes: &PipeEnds) -> Option<File> {
        let link = process.link(descriptor);
        let plain =
            |kind: &str| File { kind: kind.to_owned(), listens: false, local: None, peer: None };
        if let Some(kind) = link.strip_prefix("anon_inode:") {
            return Some(plain(kind.trim_matches(['[', ']'])));
        }
        if link.starts_with("pipe:") {
            let peer = pipes.other_end(process.pid, descriptor, &link);
            return Some(File { peer, ..plain("pipe") });
        }
        if link.starts_with("socket:") {
            return Some(process.duplicate(descriptor).map_or(plain("socket"), |fd| socket(&fd)));
        }
        (!link.is_empty()).then(|| plain(&link))
    }
}

fn socket(fd: &OwnedFd) -> File {
    let local = getsockname(fd).ok();
    let family = local.as_ref().map(SocketAddrAny::address_family);
    let is_unix = family == Some(rustix::net::AddressFamily::UNIX);
    let kind = match (socket_type(fd), is_unix) {
        (_, true) => "Unix socket",
        (Ok(SocketType::STREAM), _) => "TCP socket",
        (Ok(SocketType::DGRAM), _) => "UDP socket",
        _ => "socket",
    };
    let peer = getpeername(fd).ok().flatten();
    let peer_process = || {
        let pid = socket_peercred(fd).ok().filter(|_| is_unix)?.pid.as_raw_nonzero().get();
        Some(process::named(pid.cast_unsigned()))
    };
    let listens = socket_acceptconn(fd).unwrap_or(false);
    File {
        kind: kind.to_owned(),
        listens,
        local: local.and_then(address),
        peer: peer.and_then(address).or_else(|| peer_process().filter(|_| !listens)),
    }
}

/// An address of IP, or the name of a Unix socket that has one.
fn address(any: SocketAddrAny) -> Option<String> {
    if let Ok(ip) = std::net::SocketAddr::try_from(any.clone()) {
        return Some(ip.to_string());
    }
    let unix = SocketAddrUnix::try_from(any).ok()?;
    let path = unix.path().map(|path| path.to_string_lossy().into_owned());
    let name = unix.abstract_name().map(|name| format!("@{}", String::from_utf8_lossy(name)));
    path.or(name).map(|name| process::tame(&name)).filter(|name| !name.is_empty() && name != "@")
}
