//! A directory to serve, servers over every mechanism, and a client that knows little.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use http::{Config, Counts, Server};

/// What `/small` is.
pub const SMALL: &[u8] = &[b'a'; 128];

/// What `/big` is: 5 MB, no stretch like another.
pub static BIG: LazyLock<Vec<u8>> = LazyLock::new(|| {
    (0..1_250_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
});

/// How long anything may take on a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(120);

/// A directory that is served.
pub struct Site {
    directory: tempfile::TempDir,
}

impl Site {
    pub fn new() -> Site {
        let site = Site { directory: tempfile::tempdir().unwrap() };
        site.write("small", SMALL);
        site.write("big", &BIG);
        site
    }

    pub fn write(&self, name: &str, content: &[u8]) {
        std::fs::write(self.directory.path().join(name), content).unwrap();
    }

    pub fn truncate(&self, name: &str, bytes: u64) {
        let file = std::fs::File::options().write(true).open(self.directory.path().join(name));
        file.unwrap().set_len(bytes).unwrap();
    }

    pub fn path(&self) -> &std::path::Path {
        self.directory.path()
    }

    /// Starts a server over it.
    pub fn start(&self, mechanism: &str, change: impl FnOnce(&mut Config)) -> Server {
        let mut config = Config {
            root: self.directory.path().into(),
            address: Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            mechanism: mechanism.into(),
            ..Config::default()
        };
        config.limits.connections = 1_000;
        change(&mut config);
        Server::start(config).unwrap_or_else(|error| panic!("{mechanism}: {error}"))
    }
}

/// Waits until the server's counts are as they should be.
pub fn until(server: &Server, wanted: impl Fn(&Counts) -> bool) {
    let begun = Instant::now();
    while !wanted(&server.stopper().counts()) {
        assert!(begun.elapsed() < PATIENCE, "{:?}", server.stopper().counts());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The mechanisms that are available here.
pub fn available() -> impl Iterator<Item = &'static str> {
    let all = http::mechanisms().into_iter();
    all.filter(|mechanism| http::available(mechanism.name).is_ok()).map(|mechanism| mechanism.name)
}

/// Checks a server of each mechanism, which then has to end in good order.
pub fn each(check: impl Fn(&Site, &Server)) {
    let site = Site::new();
    for mechanism in available() {
        let server = site.start(mechanism, |_| ());
        let checked =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&site, &server)));
        if let Err(panic) = checked {
            eprintln!("the mechanism was {mechanism}");
            std::panic::resume_unwind(panic);
        }
        server.stopper().drain();
        assert_eq!(server.wait().unwrap().open, 0, "{mechanism}");
    }
}

/// A connection to a server.
pub fn client(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

pub fn request(method: &str, path: &str) -> Vec<u8> {
    format!("{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n").into()
}

/// What a server replied.
pub struct Reply {
    pub status: u16,
    pub head: String,
    /// What the head says that the body's length is.
    pub length: usize,
    pub body: Vec<u8>,
}

pub fn get(stream: &mut TcpStream, path: &str) -> Reply {
    stream.write_all(&request("GET", path)).unwrap();
    read_reply(stream, false)
}

/// Requests of several kinds behind each other are all answered.
pub fn mixed_are_answered(stream: &mut (impl Read + Write)) {
    let mixed = [request("GET", "/big"), request("HEAD", "/big"), request("GET", "/small")];
    stream.write_all(&mixed.concat()).unwrap();
    assert!(read_reply(stream, false).body == *BIG);
    assert_eq!(read_reply(stream, true).length, BIG.len());
    assert_eq!(read_reply(stream, false).body, SMALL);
}

/// Reads one reply, and not a byte behind it.
pub fn read_reply(stream: &mut impl Read, head_only: bool) -> Reply {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap_or_else(|error| {
            panic!("{error} after {:?}", String::from_utf8_lossy(&head));
        });
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let length: usize = length.map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; if head_only { 0 } else { length }];
    stream.read_exact(&mut body).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Reply { status, head, length, body }
}
