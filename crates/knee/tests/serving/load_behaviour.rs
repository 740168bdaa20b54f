//! `knee load` says what a server is seen to do, and takes a list of numbers of dead connections.

use crate::common::{Came, Knee};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

/// How a server treats its connections.
#[derive(Clone, Copy)]
enum Manner {
    Keeps,
    ClosesAfterReply,
    ClosesIdleAfter(Duration),
    SplitsReplies,
    /// Two requests of three fail, fast.
    Fails,
    /// Whatever comes together has one reply.
    AnswersOne,
    SpeaksTls,
}

/// A server with a thread for each connection. Its threads end with their clients.
fn server(manner: Manner) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream, manner));
        }
    });
    address
}

fn serve(mut stream: TcpStream, manner: Manner) {
    if let Manner::ClosesIdleAfter(time) = manner {
        stream.set_read_timeout(Some(time)).unwrap();
    }
    let mut bytes = [0; 4096];
    let mut asked = 0;
    while let Ok(1..) = stream.read(&mut bytes) {
        asked += 1;
        if let Manner::SpeaksTls = manner {
            // The alert that a handshake has failed.
            let _ = stream.write_all(&[21, 3, 3, 0, 2, 2, 40]);
            return;
        }
        let (head, body) = match manner {
            Manner::Fails if asked % 3 > 0 => {
                ("HTTP/1.1 500 Oops\r\nContent-Length: 5\r\n\r\n", "sorry")
            }
            Manner::ClosesAfterReply => ("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", "hello"),
            _ => ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "hello"),
        };
        let pieces = match manner {
            Manner::SplitsReplies => vec![head.to_owned(), body.to_owned()],
            _ => vec![head.to_owned() + body],
        };
        let sent = pieces.iter().try_for_each(|piece| stream.write_all(piece.as_bytes()));
        if sent.is_err() || matches!(manner, Manner::ClosesAfterReply) {
            return;
        }
    }
}

fn load(address: SocketAddr, words: &[&str]) -> Came {
    let url = format!("http://{address}/");
    let knee = Knee::new();
    let came = knee.run(&[&["load", &url], words].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    knee.assert_no_process_left();
    came
}

fn json(came: &Came) -> Value {
    serde_json::from_str(&came.out).unwrap_or_else(|error| panic!("{error}: {came:?}"))
}

fn behaviour<'a>(figures: &'a Value, name: &str) -> Option<&'a Value> {
    figures["behaviours"].as_array()?.iter().find(|behaviour| behaviour["behaviour"] == name)
}

#[test]
fn a_list_of_dead_connections_is_a_line_for_each() {
    let address = server(Manner::Keeps);
    // Two hundred replies may take less than a tick of the kernel's account of CPU time.
    let words = ["--dead", "0,20,1k", "--requests", "2k"];
    let came = load(address, &words);
    let lines: Vec<Vec<&str>> =
        came.out.lines().skip(1).take(4).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..3], ["dead", "held", "replies/s"], "{}", came.out);
    let firsts: Vec<&[&str]> = lines[1..].iter().map(|line| &line[..2]).collect();
    assert_eq!(firsts, [&["0", "–"], &["20", "20"], &["1,000", "1,000"]], "{}", came.out);
    // The server is this process, with a thread for each of its connections.
    let figures = json(&load(address, &[&words[..], &["--json"]].concat()));
    let points = figures["points"].as_array().unwrap();
    assert_eq!(points.len(), 3);
    for (point, dead) in points.iter().zip([0, 20, 1_000]) {
        assert_eq!((&point["dead"]["asked"], &point["replies"]), (&dead.into(), &2_000.into()));
        assert_eq!(point["dead"]["alive_at_end"], dead, "{point}");
        assert!(point["server"]["cpu_ns_per_reply"].as_f64().unwrap() > 0.0, "{point}");
        assert_eq!(point["server"]["bytes_per_dead"].is_number(), dead == 1_000, "{point}");
    }
    let growth = behaviour(&points[2], "thread-per-connection").unwrap();
    assert_eq!(growth["connections"], 1_000, "{growth}");
}

#[test]
fn a_server_that_closes_after_each_reply_is_named() {
    let words = ["--dead", "10", "--requests", "50"];
    let address = server(Manner::ClosesAfterReply);
    let came = load(address, &words);
    let sentence = "closes each connection after its reply (HTTP/1.0): connections can't be held";
    assert!(came.out.contains(sentence), "{}", came.out);
    assert!(!came.out.contains("were missing"), "{}", came.out);
    let figures = json(&load(address, &[&words[..], &["--json"]].concat()));
    assert_eq!(behaviour(&figures, "closes-after-reply").unwrap()["http_10"], true, "{figures}");
    // Where the client asks for it, it is no manner of the server.
    let asked = load(address, &["--no-keep-alive", "--requests", "50"]);
    assert!(!asked.out.contains("closes each connection"), "{}", asked.out);
}

#[test]
fn a_server_that_closes_idle_connections_is_named_with_the_time() {
    let address = server(Manner::ClosesIdleAfter(Duration::from_millis(300)));
    let came = load(address, &["--dead", "20", "--duration", "1s", "--json"]);
    let figures = json(&came);
    let closes = behaviour(&figures, "closes-idle").unwrap();
    assert_eq!((&closes["closed"], &closes["opened"]), (&20.into(), &20.into()), "{closes}");
    let after_ms = closes["after_ms"].as_u64().unwrap();
    assert!((250..5_000).contains(&after_ms), "{closes}");
    let text = closes["text"].as_str().unwrap();
    assert!(text.starts_with("closes idle connections after"), "{text}");
    assert!(text.ends_with("dead connections can't be held"), "{text}");
}

#[test]
fn failures_are_in_no_rate_and_are_named() {
    let address = server(Manner::Fails);
    let words = ["--connections", "1", "--requests", "300"];
    let came = load(address, &words);
    let line =
        "fails 200 of 300 requests (2xx 100, 5xx 200): failures are in no rate and no latency";
    assert!(came.out.contains(line) && came.out.contains("100 succeeded"), "{}", came.out);
    let figures = json(&load(address, &[&words[..], &["--json"]].concat()));
    assert_eq!((&figures["replies"], &figures["latency"]["count"]), (&100.into(), &100.into()));
    assert_eq!(behaviour(&figures, "fails").unwrap()["failures"], 200, "{figures}");
    let meant = json(&load(address, &[&words[..], &["--success", "200,500", "--json"]].concat()));
    assert_eq!((&meant["replies"], &meant["plan"]["success"]), (&300.into(), &"200,500".into()));
}

/// A pool of workers that each own a connection, until that ends.
#[test]
fn clients_that_are_never_served_are_counted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    for _ in 0..2 {
        let own = listener.try_clone().unwrap();
        std::thread::spawn(move || {
            own.incoming().flatten().for_each(|stream| serve(stream, Manner::Keeps));
        });
    }
    let came = load(address, &["--connections", "6", "--duration", "300ms", "--timeout", "1m"]);
    let line = "serves 2 of 6 active connections: the others never got a reply";
    assert!(came.out.contains(line), "{}", came.out);
    assert!(came.out.contains("4 of 6 never got a reply"), "{}", came.out);
    assert!(!came.out.contains("gave no reply for"), "{}", came.out);
}

#[test]
fn what_is_no_pipeline_and_no_http_is_named() {
    let refused = |manner, words: &[&str]| {
        let url = format!("http://{}/", server(manner));
        let came = Knee::new().run(&[&["load", &url, "--requests", "20"], words].concat());
        assert_eq!(came.code, Some(1), "{came:?}");
        came
    };
    let pipelined = refused(Manner::AnswersOne, &["--pipeline", "4"]);
    assert!(pipelined.err.contains("it does not pipeline → --pipeline 1"), "{pipelined:?}");
    let tls = refused(Manner::SpeaksTls, &[]);
    assert!(
        tls.out.contains("speaks TLS on this port → use https://") && !tls.out.contains("No reply"),
        "{tls:?}"
    );
}

#[test]
fn replies_that_wait_for_acknowledgements_are_named() {
    let address = server(Manner::SplitsReplies);
    // One connection asks thirty times: the first replies of each have no delay.
    let words = ["--connections", "1", "--requests", "30"];
    for _ in 0..10 {
        let came = load(address, &words);
        if came.out.contains("since its replies wait for delayed acknowledgements") {
            assert!(came.out.contains("TCP_NODELAY"), "{}", came.out);
            return;
        }
    }
    panic!("ten loads in which no delay is seen");
}

#[test]
fn pythons_server_is_seen_to_close_after_each_reply() {
    let knee = Knee::new();
    std::fs::write(knee.directory.path().join("index.html"), "hello").unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let port = address.port().to_string();
    let started = Command::new("python3")
        .args(["-m", "http.server", &port, "--bind", "127.0.0.1"])
        .current_dir(knee.directory.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut python) = started else {
        eprintln!("SKIPPED: python3 is not installed");
        return;
    };
    let came = load(address, &["--wait", "60s", "--requests", "30", "--dead", "0,5"]);
    python.kill().unwrap();
    python.wait().unwrap();
    assert!(came.out.contains("(HTTP/1.0): connections can't be held"), "{}", came.out);
}
