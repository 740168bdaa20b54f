//! Limits that are reached, and servers that are asked to end.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use crate::common::{BIG, SMALL, Site, available, client, get, read_reply, request, until};
use http::{Config, Server};

const SHORT: Duration = Duration::from_millis(40);

/// Checks a server of each mechanism that was started so.
fn each(change: impl Fn(&mut Config), check: impl Fn(&Site, Server)) {
    let site = Site::new();
    for mechanism in available() {
        eprintln!("{mechanism}");
        check(&site, site.start(mechanism, &change));
    }
}

/// Reads to the end, however that comes.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
        _ => all,
    }
}

#[test]
fn a_head_that_takes_too_long_is_a_time_out() {
    each(
        |config| config.limits.header = SHORT,
        |_, server| {
            let mut stream = client(&server);
            // The limit is about a head that has begun, not about waiting for one.
            assert_eq!(get(&mut stream, "/small").body, SMALL);
            stream.write_all(&request("GET", "/small")[..10]).unwrap();
            assert_eq!(read_reply(&mut stream, false).status, 408);
            assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        },
    );
}

#[test]
fn idle_connections_and_old_ones_are_closed() {
    for old in [false, true] {
        each(
            |config| {
                let limits = &mut config.limits;
                let limit = if old { &mut limits.lifetime } else { &mut limits.idle };
                *limit = SHORT;
            },
            |_, server| {
                let mut streams = [client(&server), client(&server)];
                let _ = streams[0].write_all(&request("GET", "/small"));
                for stream in &mut streams {
                    let _ = rest(stream);
                }
                until(&server, |counts| counts.open == 0 && counts.accepted == 2);
            },
        );
    }
}

#[test]
fn a_reader_that_takes_nothing_is_closed_and_its_memory_is_bounded() {
    each(
        |config| config.limits.stalled = SHORT,
        |_, server| {
            let mut stream = client(&server);
            stream.write_all(&request("GET", "/big").repeat(100)).unwrap();
            until(&server, |counts| counts.accepted == 1 && counts.open == 0);
            assert!(server.stopper().counts().bytes < 50 * BIG.len() as u64);
            drop(stream);
        },
    );
}

#[test]
fn more_connections_than_there_may_be_wait_for_their_turn() {
    each(
        |config| config.limits.connections = 3,
        |_, server| {
            let mut streams: Vec<TcpStream> = (0..8).map(|_| client(&server)).collect();
            for stream in &mut streams {
                stream.write_all(&request("GET", "/small")).unwrap();
            }
            // In the order of their coming; each makes room for another one when it goes.
            for mut stream in streams {
                assert_eq!(read_reply(&mut stream, false).body, SMALL);
            }
            until(&server, |counts| counts.replies == 8 && counts.open == 0);
            assert_eq!(server.stopper().counts().pauses, 0, "descriptors did not run out");
        },
    );
}

#[test]
fn who_comes_at_once_waits_as_well() {
    each(
        |config| config.limits.connections = 3,
        |_, server| {
            let streams: Vec<TcpStream> = (0..50).map(|_| client(&server)).collect();
            until(&server, |counts| counts.open == 3);
            // Time for others, if the server took them in.
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(server.stopper().counts().accepted, 3);
            drop(streams);
            until(&server, |counts| counts.accepted == 50 && counts.open == 0);
        },
    );
}

#[test]
fn draining_ends_what_is_under_way_and_closes_what_is_idle() {
    each(
        |_| (),
        |_, server| {
            let (mut idle, mut reading) = (client(&server), client(&server));
            let mut late = client(&server);
            assert_eq!(get(&mut idle, "/small").body, SMALL);
            reading.write_all(&request("GET", "/big")).unwrap();
            late.write_all(&request("GET", "/small")[..20]).unwrap();
            let mut first = [0; 100];
            reading.read_exact(&mut first).unwrap();
            until(&server, |counts| counts.accepted == 3);
            let address = server.address();
            server.stopper().drain();
            assert_eq!(rest(&mut idle), b"");
            assert!(TcpStream::connect(address).is_err(), "it listens no more");
            late.write_all(&request("GET", "/small")[20..]).unwrap();
            let reply = read_reply(&mut late, false);
            assert!(reply.body == SMALL && reply.head.contains("Connection: close"));
            assert_eq!(rest(&mut late), b"");
            let whole = read_reply(&mut first.chain(&mut reading), false);
            assert!(whole.body == *BIG);
            let counts = server.wait().unwrap();
            assert_eq!((counts.open, counts.replies), (0, 3));
        },
    );
}

#[test]
fn who_waits_when_draining_begins_is_served() {
    each(
        |config| config.limits.connections = 1_000,
        |_, server| {
            let streams: Vec<TcpStream> = (0..50)
                .map(|_| {
                    let mut stream = client(&server);
                    stream.write_all(&request("GET", "/small")).unwrap();
                    stream
                })
                .collect();
            server.stopper().drain();
            for mut stream in streams {
                assert_eq!(read_reply(&mut stream, false).body, SMALL);
            }
            assert_eq!(server.wait().unwrap().replies, 50);
        },
    );
}

#[test]
fn draining_takes_no_longer_than_it_may() {
    each(
        |config| config.limits.drain = SHORT,
        |_, server| {
            let mut stream = client(&server);
            stream.write_all(&request("GET", "/big").repeat(3)).unwrap();
            stream.read_exact(&mut [0; 10]).unwrap();
            server.stopper().drain();
            assert_eq!(server.wait().unwrap().open, 0);
        },
    );
}

#[test]
fn stopping_closes_everything_at_once() {
    each(
        |config| config.workers = 2,
        |_, server| {
            let mut streams: Vec<TcpStream> = (0..10).map(|_| client(&server)).collect();
            assert_eq!(get(&mut streams[0], "/small").body, SMALL);
            streams[1].write_all(&request("GET", "/big").repeat(2)).unwrap();
            streams[1].read_exact(&mut [0; 10]).unwrap();
            let stopper = server.stopper().clone();
            stopper.stop();
            assert_eq!(server.wait().unwrap().open, 0);
            // One that has ended does not mind.
            stopper.drain();
            for stream in &mut streams {
                let _ = rest(stream);
            }
        },
    );
}

#[test]
fn a_server_that_is_dropped_ends() {
    each(
        |_| (),
        |_, server| {
            let mut stream = client(&server);
            assert_eq!(get(&mut stream, "/small").body, SMALL);
            let address = server.address();
            drop(server);
            assert_eq!(rest(&mut stream), b"");
            assert!(TcpStream::connect(address).is_err());
        },
    );
}

#[test]
fn each_reply_has_its_line_in_the_log() {
    let logs = tempfile::tempdir().unwrap();
    each(
        |config| config.log = Some(logs.path().join(&config.mechanism)),
        |_, server| {
            let mut stream = client(&server);
            for path in ["/small", "/nothing", "/big"] {
                get(&mut stream, path);
            }
            stream.shutdown(Shutdown::Write).unwrap();
            server.stopper().drain();
            server.wait().unwrap();
        },
    );
    for mechanism in available() {
        let lines = std::fs::read_to_string(logs.path().join(mechanism)).unwrap();
        let ends: Vec<&str> = lines.lines().filter_map(|line| line.split("] ").nth(1)).collect();
        assert_eq!(ends.len(), 3, "{lines}");
        assert_eq!(ends[0], "\"GET /small HTTP/1.1\" 200 128");
        assert!(ends[1].starts_with("\"GET /nothing HTTP/1.1\" 404 "), "{lines}");
        assert_eq!(ends[2], "\"GET /big HTTP/1.1\" 200 5000000");
        assert!(lines.starts_with("127.0.0.1 - - ["), "{lines}");
    }
}

#[test]
fn what_can_not_be_started_says_why() {
    let site = Site::new();
    let start = |change: &dyn Fn(&mut Config)| {
        let mut config = Config { root: site.path().into(), ..Config::default() };
        change(&mut config);
        match Server::start(config) {
            Ok(_) => panic!("it was started"),
            Err(error) => error.to_string(),
        }
    };
    let text = [
        (start(&|config| config.mechanism = "pole".into()), "no mechanism called `pole`"),
        (start(&|config| config.mechanism = "devpoll".into()), "Solaris"),
        (start(&|config| config.sending = "pigeon".into()), "sendfile, mmap, splice"),
        (start(&|config| config.workers = 0), "one worker"),
        (start(&|config| config.root = "/nowhere/at/all".into()), "/nowhere/at/all"),
        (start(&|config| config.pin = vec![1_000]), "no such CPU"),
        (start(&|config| config.pin = vec![1 << 20]), "there is no CPU"),
        (start(&|config| config.log = Some("/nowhere/log".into())), "/nowhere/log"),
    ];
    for (text, part) in text {
        assert!(text.contains(part), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}
