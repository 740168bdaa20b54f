//! What every mechanism has to do, asked by clients of plain sockets.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use crate::common::{
    BIG, SMALL, Site, client, each, get, mixed_are_answered, read_reply, request, until,
};
use http::SENDING;

#[test]
fn a_connection_is_kept_from_request_to_request() {
    each(|_, server| {
        let mut stream = client(server);
        for _ in 0..20 {
            let reply = get(&mut stream, "/small");
            assert_eq!((reply.status, &reply.body[..]), (200, SMALL));
        }
        assert_eq!(get(&mut stream, "/nothing").status, 404);
        assert_eq!(get(&mut stream, "/small").body, SMALL);
        until(server, |counts| counts.replies == 22 && counts.accepted == 1);
    });
}

#[test]
fn requests_behind_each_other_are_all_answered() {
    each(|_, server| {
        let mut stream = client(server);
        stream.write_all(&request("GET", "/small").repeat(50)).unwrap();
        for _ in 0..50 {
            assert_eq!(read_reply(&mut stream, false).body, SMALL);
        }
        mixed_are_answered(&mut stream);
    });
}

#[test]
fn a_request_may_come_byte_by_byte() {
    each(|_, server| {
        let mut stream = client(server);
        stream.set_nodelay(true).unwrap();
        for byte in request("GET", "/small") {
            stream.write_all(&[byte]).unwrap();
        }
        assert_eq!(read_reply(&mut stream, false).body, SMALL);
    });
}

#[test]
fn the_head_alone_has_the_length_of_the_body() {
    each(|_, server| {
        let mut stream = client(server);
        for (path, length) in [("/small", SMALL.len()), ("/big", BIG.len())] {
            stream.write_all(&request("HEAD", path)).unwrap();
            let reply = read_reply(&mut stream, true);
            assert_eq!((reply.status, reply.length), (200, length));
        }
        assert_eq!(get(&mut stream, "/small").body, SMALL);
    });
}

#[test]
fn a_big_file_comes_whole_to_a_slow_reader_however_it_is_sent() {
    for way in SENDING {
        let site = Site::new();
        for mechanism in crate::common::available() {
            let server = site.start(mechanism, |config| config.sending = way.name.into());
            let mut stream = client(&server);
            stream.write_all(&request("GET", "/big").repeat(2)).unwrap();
            // In small bites, so that the server meets a full socket again and again.
            let mut slow = std::io::BufReader::with_capacity(5_000, stream);
            for _ in 0..2 {
                let same = read_reply(&mut slow, false).body == *BIG;
                assert!(same, "{mechanism} {}", way.name);
            }
        }
    }
}

#[test]
fn many_connections_are_served_side_by_side() {
    each(|_, server| {
        let mut streams: Vec<TcpStream> = (0..200).map(|_| client(server)).collect();
        for _ in 0..3 {
            for stream in &mut streams {
                stream.write_all(&request("GET", "/small")).unwrap();
            }
            for stream in &mut streams {
                assert_eq!(read_reply(stream, false).body, SMALL);
            }
        }
        until(server, |counts| counts.open == 200 && counts.replies == 600);
        drop(streams);
        until(server, |counts| counts.open == 0);
    });
}

#[test]
fn clients_may_go_at_any_moment() {
    each(|_, server| {
        let small = [request("GET", "/small"), request("GET", "/big")].concat();
        for moment in 0..small.len() {
            let mut stream = client(server);
            stream.write_all(&small[..moment]).unwrap();
            if moment % 3 == 0 {
                let mut some = vec![0; moment];
                // It may have been answered with less, or not at all.
                stream.set_nonblocking(true).unwrap();
                let _ = stream.read(&mut some);
            }
        }
        until(server, |counts| counts.open == 0);
        assert_eq!(get(&mut client(server), "/small").body, SMALL);
    });
}

#[test]
fn who_sends_no_more_is_still_answered() {
    each(|_, server| {
        for path in ["/small", "/big"] {
            let mut stream = client(server);
            stream.write_all(&[request("GET", path), request("GET", "/small")].concat()).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            let first = read_reply(&mut stream, false);
            assert!(first.body == if path == "/big" { &BIG[..] } else { SMALL });
            assert_eq!(read_reply(&mut stream, false).body, SMALL);
            // Unlike one read, it goes on where a machine that is halted for a moment interrupts it.
            assert_eq!(stream.read_to_end(&mut Vec::new()).unwrap(), 0);
        }
        until(server, |counts| counts.open == 0);
    });
}

#[test]
fn a_connection_that_is_not_kept_is_closed_after_the_reply() {
    each(|_, server| {
        let close = b"GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        for bytes in [&close[..], b"GET /small HTTP/1.0\r\n\r\n", b"what?\r\n\r\n"] {
            let mut stream = client(server);
            // More than the server reads: it must not take its reply back.
            stream.write_all(&[bytes, &vec![b'x'; 100_000]].concat()).unwrap();
            let reply = read_reply(&mut stream, false);
            assert!(reply.status == 400 || reply.body == SMALL);
            assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        }
        until(server, |counts| counts.open == 0);
    });
}

#[test]
fn a_file_that_becomes_shorter_never_comes_with_a_wrong_length() {
    each(|site, server| {
        site.write("shrinks", &vec![b's'; 30_000_000]);
        let mut stream = client(server);
        stream.write_all(&request("GET", "/shrinks")).unwrap();
        let mut some = [0; 1_000];
        stream.read_exact(&mut some).unwrap();
        site.truncate("shrinks", 100);
        // The end comes before the length is reached, or with an error; never too late.
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.len() < 30_000_000, "{}", rest.len());
        assert_eq!(get(&mut client(server), "/small").body, SMALL);
    });
}

#[test]
fn workers_share_the_connections() {
    each_with_workers(|server| {
        let mut streams: Vec<TcpStream> = (0..100).map(|_| client(server)).collect();
        for stream in &mut streams {
            assert_eq!(get(stream, "/small").body, SMALL);
        }
        until(server, |counts| counts.open == 100 && counts.replies == 100);
    });
}

fn each_with_workers(check: impl Fn(&http::Server)) {
    let site = Site::new();
    for mechanism in crate::common::available() {
        let server = site.start(mechanism, |config| config.workers = 2);
        check(&server);
        server.stopper().drain();
        server.wait().unwrap();
    }
}
