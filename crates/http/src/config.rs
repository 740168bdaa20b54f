//! The configuration of a server.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::Certificate;

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// The directory that is served; nothing outside of it ever is.
    pub root: PathBuf,
    /// The address to listen on; none stands for all, of IPv6 and IPv4.
    pub address: Option<IpAddr>,
    /// The port to listen on; 0 lets the kernel choose.
    pub port: u16,
    /// The mechanism that drives it: a row of [`readiness::all`], or
    /// `io_uring-completion`. See [`crate::mechanisms`].
    pub mechanism: String,
    /// How files are sent: `sendfile`, `mmap` or `splice`, see [`crate::SENDING`].
    pub sending: String,
    /// What it speaks TLS with; without, everything is plain.
    pub certificate: Option<Certificate>,
    /// Threads that each listen, accept and serve on their own.
    pub workers: usize,
    /// The CPUs that workers are pinned to, in turn; empty leaves that to the kernel.
    pub pin: Vec<usize>,
    /// The limits of a connection.
    pub limits: Limits,
    /// Bytes of small files that each worker keeps.
    pub cache_bytes: usize,
    /// Where a line for each reply goes.
    pub log: Option<PathBuf>,
}

impl Default for Config {
    /// The directory where the program runs, on a port that the kernel chooses, by one worker.
    fn default() -> Config {
        Config {
            root: PathBuf::from("."),
            address: None,
            port: 0,
            mechanism: "epoll-level".to_owned(),
            sending: "sendfile".to_owned(),
            certificate: None,
            workers: 1,
            pin: Vec::new(),
            limits: Limits::default(),
            cache_bytes: 16 << 20,
            log: None,
        }
    }
}

/// The limits of a connection; one that exceeds them is closed.
///
/// They are checked at a quarter of the shortest, every 10 ms to every second, so a connection may last that
/// much longer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From the first byte of a request to the end of its head.
    pub header: Duration,
    /// Without a request.
    pub idle: Duration,
    /// From its acceptance on.
    pub lifetime: Duration,
    /// Without taking a byte of a reply.
    pub stalled: Duration,
    /// To end what is under way, after the server was asked to stop.
    pub drain: Duration,
    /// Connections of one worker at a time.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            header: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            lifetime: Duration::from_secs(3_600),
            stalled: Duration::from_secs(30),
            drain: Duration::from_secs(10),
            connections: 65_536,
        }
    }
}
