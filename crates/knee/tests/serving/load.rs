//! `knee load` as people use it: figures, refusals, shortages, and an end that leaves nothing.

use crate::common::{Came, Knee, came, wait_until};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

/// A server that says hello to every request.
pub struct Server {
    pub address: SocketAddr,
    pub requests: Arc<AtomicUsize>,
}

impl Server {
    pub fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counted = Arc::clone(&counted);
                std::thread::spawn(move || serve(stream, &counted));
            }
        });
        Server { address, requests }
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

fn serve(mut stream: TcpStream, counted: &AtomicUsize) {
    let mut bytes = [0; 4096];
    // A request of knee is one piece, and there is one at a time here.
    while let Ok(1..) = stream.read(&mut bytes) {
        counted.fetch_add(1, Ordering::SeqCst);
        let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        if stream.write_all(reply).is_err() {
            return;
        }
    }
}

fn json(came: &Came) -> Value {
    serde_json::from_str(&came.out).unwrap_or_else(|error| panic!("{error}: {came:?}"))
}

#[test]
fn a_load_by_number_says_in_json_what_came_of_it() {
    let (knee, server) = (Knee::new(), Server::start());
    let url = server.url();
    let came = knee.run(&[
        "load",
        &url,
        "--requests",
        "1k",
        "--connections",
        "7",
        "--threads",
        "2",
        "--json",
    ]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let message = json(&came);
    assert_eq!((&message["requests"], &message["replies"]), (&1_000.into(), &1_000.into()));
    assert_eq!((&message["connections"], &message["statuses"][1]), (&7.into(), &1_000.into()));
    assert_eq!(
        (&message["url"], &message["plan"]["shape"]["kind"]),
        (&url.into(), &"closed".into())
    );
    assert_eq!(message["latency"]["count"], 1_000);
    assert_eq!(server.requests.load(Ordering::SeqCst), 1_000);
}

#[test]
fn a_search_says_which_goal_holds_at_no_rate() {
    let (knee, server) = (Knee::new(), Server::start());
    let url = server.url();
    let came = knee.run(&["load", &url, "--find", "p50<1us,failures<1%", "--connections", "4"]);
    assert_eq!(came.code, Some(1), "{came:?}");
    let sentence = format!("{url} holds p50 < 1.00 µs at no rate that was tried.");
    assert!(came.out.starts_with(&sentence), "{}", came.out);
    assert!(came.out.contains("requests at random times") && came.out.contains("100 %"));
    for wrong in ["p99", "p99<10", "mean<1ms", "p99<1ms,"] {
        let came = knee.run(&["load", &url, "--find", wrong]);
        assert_eq!(came.code, Some(2), "{wrong}: {came:?}");
        assert!(came.err.contains("is no goal"), "{}", came.err);
    }
    let came = knee.run(&["load", &url, "--find", "p99<1ms", "--record"]);
    assert_eq!(came.code, Some(2), "{came:?}");
}

#[test]
fn a_load_says_in_words_what_came_of_it() {
    let (knee, server) = (Knee::new(), Server::start());
    let url = server.url();
    let words =
        ["load", &url, "--rate", "200", "--poisson", "--seed", "5", "--duration", "500ms", "--all"];
    let came = knee.run(&words);
    assert_eq!(came.code, Some(0), "{came:?}");
    for part in [
        &url[..],
        "200 requests/s at random (seed 5)",
        "due",
        "latency",
        "service",
        "p99.9",
        "from the intended time on",
        "replies/s",
        "stddev",
        "errors      none",
        "CPU",
        "until s",
    ] {
        assert!(came.out.contains(part), "{part}: {}", came.out);
    }
    // Off a terminal nothing moves.
    assert_eq!(came.err, "");
}

#[test]
fn json_of_a_load_of_several_and_of_a_search_is_what_the_schemas_say() {
    let (knee, server) = (Knee::new(), Server::start());
    let schemas = json(&knee.run(&["list", "schemas", "--json"]));
    let url = server.url();
    for (schema, words) in [
        ("load", &["--duration", "300ms"][..]),
        ("load", &["--duration", "300ms", "--rate", "100", "--poisson", "--dead", "0,5"]),
        ("find", &["--find", "p50<1us", "--connections", "4"]),
    ] {
        let came = knee.run(&[&["load", &url, "--json"], words].concat());
        let mut value = json(&came);
        let validator = jsonschema::draft202012::new(&schemas["schemas"][schema]).unwrap();
        let wrong = validator.validate(&value).map_err(|error| error.to_string());
        assert_eq!(wrong, Ok(()), "{words:?}");
        value["plan"]["connections"] = "4".into();
        assert!(!validator.is_valid(&value), "{words:?}");
    }
}

#[test]
fn every_shape_is_understood() {
    let (knee, server) = (Knee::new(), Server::start());
    for words in [
        &["--ramp", "10..200"][..],
        &["--connection-rate", "100", "--calls", "3", "--think", "1ms"],
        &["--no-keep-alive"],
        &["--pipeline", "1", "--calls", "10", "--warm-up", "100ms", "--interval", "50ms"],
        &["--rate", "100", "--timeout", "2s", "--sources", "3", "--pin", "0"],
    ] {
        let mut all = vec!["load", "--duration", "300ms", "--json"];
        let url = server.url();
        all.push(&url);
        all.extend(words);
        let came = knee.run(&all);
        assert_eq!(came.code, Some(0), "{words:?}: {came:?}");
        let message = json(&came);
        assert!(message["replies"].as_u64().unwrap() > 0, "{words:?}: {message}");
        let errors: u64 = message["errors"]
            .as_object()
            .unwrap()
            .values()
            .map(|count| count.as_u64().unwrap())
            .sum();
        assert_eq!(errors, 0, "{words:?}: {message}");
    }
}

#[test]
fn what_can_not_be_asked_is_refused_in_one_line() {
    let knee = Knee::new();
    for (words, part) in [
        (&["load", "http://203.0.113.1/"][..], "--yes-i-own-this-host"),
        (&["load", "http://127.0.0.1/", "--insecure"], "for https://"),
        (&["load", "https://127.0.0.1/", "--ca", "/nonexistent"], "--ca /nonexistent"),
        (&["load", "127.0.0.1"], "http://"),
        (&["load", "http://127.0.0.1:99999/"], "port"),
        (&["load", "http://127.0.0.1/", "--poisson"], "--poisson"),
        (&["load", "http://127.0.0.1/", "--rate", "0"], "rate"),
        (&["load", "http://127.0.0.1/", "--rate", "5", "--ramp", "1..2"], "--ramp"),
        (&["load", "http://127.0.0.1/", "--ramp", "5"], "100..5k"),
        (&["load", "http://127.0.0.1/", "--connections", "0"], "from 1 to 1000000"),
        (&["load", "http://127.0.0.1/", "--connections", "2M"], "from 1 to 1000000"),
        (&["load", "http://127.0.0.1/", "--threads", "11"], "--threads 11 is more"),
        (&["load", "http://127.0.0.1/", "--rate", "11M"], "10M at most"),
        (&["load", "http://[::1]/", "--sources", "2"], "can't be reached from 127.0.0.2"),
        (&["load", "http://no-such-host.invalid/"], "no-such-host.invalid"),
    ] {
        let came = knee.run(words);
        assert_eq!(came.code, Some(2), "{words:?}: {came:?}");
        assert_eq!(came.err.trim_end().lines().count(), 1, "{words:?}: {came:?}");
        assert!(came.err.contains(part) && came.out.is_empty(), "{words:?}: {came:?}");
    }
}

#[test]
fn a_cpu_that_there_is_not_is_no_place_for_a_thread() {
    let came = Knee::new().run(&["load", "http://127.0.0.1/", "--pin", "0,1000"]);
    assert_eq!(came.code, Some(5), "{came:?}");
    assert!(came.err.contains("CPU 1000"), "{came:?}");
}

#[test]
fn a_refused_first_connection_is_an_error_of_one_line_at_once() {
    let knee = Knee::new();
    // At an address of its own, so that no listener of another test gets the port.
    let gone = TcpListener::bind("127.77.0.1:0").unwrap().local_addr().unwrap();
    let came = knee.run(&["load", &format!("http://{gone}/"), "--duration", "1h"]);
    assert_eq!((came.code, came.out.as_str()), (Some(1), ""), "{came:?}");
    assert!(came.err.contains(&gone.to_string()) && came.err.lines().count() == 1, "{came:?}");
}

#[test]
fn the_address_that_a_name_led_to_is_named() {
    let knee = Knee::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, (heads, asked)) = (listener.local_addr().unwrap(), mpsc::channel());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut bytes = [0; 4096];
            // A connection that only tries the address asks for nothing.
            while let Ok(length @ 1..) = stream.read(&mut bytes) {
                let head = String::from_utf8_lossy(&bytes[..length]).into_owned();
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
                heads.send(head).unwrap();
            }
        }
    });
    let (name, port) = ("localhost", address.port());
    let url = format!("http://{name}:{port}/");
    let came = knee.run(&["load", &url, "--requests", "1", "--connections", "1"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let head = format!("http://{name}:{port}/ at {address} ·");
    assert!(came.out.starts_with(&head), "{came:?}");
    let head = asked.recv().unwrap();
    assert!(head.contains(&format!("\r\nHost: {name}:{port}\r\n")), "{head}");
}

#[test]
fn a_server_that_is_still_starting_is_waited_for() {
    let knee = Knee::new();
    let address = free_address();
    let url = format!("http://{address}/");
    let starting = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        let listener = TcpListener::bind(address).unwrap();
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream, &AtomicUsize::new(0)));
        }
    });
    let came = knee.run(&["load", &url, "--wait", "60s", "--requests", "10"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(!starting.is_finished());
    let came = knee.run(&["load", &format!("http://{}/", free_address()), "--wait", "50ms"]);
    assert_eq!((came.code, came.err.lines().count()), (Some(1), 1), "{came:?}");
}

/// An address of the loopback that was free a moment ago.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn a_signal_gives_the_figures_so_far() {
    for signal in [Signal::INT, Signal::TERM] {
        let (knee, server) = (Knee::new(), Server::start());
        let words = ["load", &server.url(), "--duration", "1h", "--dead", "20", "--json"];
        let mut command = knee.command(&words);
        let child = command.process_group(0).stdout(Stdio::piped()).spawn().unwrap();
        wait_until("it is under way", || server.requests.load(Ordering::SeqCst) > 100);
        // As a terminal does it: a Ctrl-C is for all processes of the group.
        if signal == Signal::INT {
            kill_process_group(Pid::from_child(&child), signal).unwrap();
        } else {
            kill_process(Pid::from_child(&child), signal).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{signal:?}");
        let message: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(message["stopped"], true);
        assert!(message["replies"].as_u64().unwrap() > 0, "{message}");
        assert_eq!(message["dead"]["alive_at_end"], 20, "{signal:?}: {}", message["dead"]);
        knee.assert_no_process_left();
    }
}

#[test]
fn dead_connections_are_held_elsewhere_and_seen_by_the_server() {
    let (knee, server) = (Knee::new(), Server::start());
    let words = ["load", &server.url(), "--requests", "100", "--dead", "150", "--json"];
    let came = knee.run(&words);
    assert_eq!(came.code, Some(0), "{came:?}");
    let dead = &json(&came)["dead"];
    for key in ["asked", "opened", "alive_at_end", "seen_by_server_before", "seen_by_server_at_end"]
    {
        assert_eq!(dead[key], 150, "{key}: {dead}");
    }
    assert_eq!(server.requests.load(Ordering::SeqCst), 250);
    knee.assert_no_process_left();
}

#[test]
fn a_signal_ends_the_wait_for_a_server_that_does_not_answer() {
    let knee = Knee::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let child = knee.command(&["load", &url, "--dead", "5"]).stderr(Stdio::piped()).spawn();
    let child = child.unwrap();
    // Its first word to the server: by then it listens for signals.
    let (mut asking, _) = silent.accept().unwrap();
    asking.read_exact(&mut [0]).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("while dead connections were opened"), "{message}");
    knee.assert_no_process_left();
}

#[test]
fn their_holders_die_with_it() {
    let (knee, server) = (Knee::new(), Server::start());
    let mut child = knee.start(&["load", &server.url(), "--duration", "1h", "--dead", "50"]);
    wait_until("the dead are open and the load goes on", || {
        server.requests.load(Ordering::SeqCst) > 60
    });
    let holder = |line: &String| line.contains(load::DEAD_COMMAND);
    assert!(knee.processes().iter().any(holder), "{:?}", knee.processes());
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    knee.assert_no_process_left();
}

#[test]
fn more_connections_than_descriptors_are_refused_before_the_load() {
    let (knee, server) = (Knee::new(), Server::start());
    let load = |connections: u32| {
        let words = format!("load {} --connections {connections} --duration 300ms", server.url());
        came(&mut knee.shell(&format!("ulimit -n 64 && exec \"$KNEE\" {words} --json")))
    };
    let refused = load(100);
    assert_eq!((refused.code, refused.err.lines().count()), (Some(5), 1), "{refused:?}");
    for part in ["100 connections", "64 descriptors", "ulimit -n 133", "--connections 31"] {
        assert!(refused.err.contains(part), "{refused:?}");
    }
    assert_eq!(server.requests.load(Ordering::SeqCst), 0, "nothing was sent");
    let message = json(&load(31));
    assert_eq!(message["errors"]["descriptors"], 0, "{message}");
    assert!(message["replies"].as_u64().unwrap() > 0, "{message}");
}

#[test]
fn more_dead_connections_than_the_server_has_descriptors_are_clamped() {
    let knee = Knee::new();
    std::fs::write(knee.at("index.html"), "hello").unwrap();
    let directory = knee.directory.path().display();
    let serve = format!("ulimit -n 200; exec \"$KNEE\" httpd {directory} --port 0 --json");
    let mut httpd = knee.shell(&serve).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(httpd.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    let port = ready["address"].as_str().unwrap().rsplit(':').next().unwrap();
    let url = format!("http://127.0.0.1:{port}/");
    let words = ["--dead", "0,100k,200k", "--connections", "2", "--duration", "300ms"];
    let came = knee.run(&[&["load", &url], &words[..]].concat());
    kill_process(Pid::from_child(&httpd), Signal::TERM).unwrap();
    httpd.wait().unwrap();
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.err.contains("200,000 dead connections are clamped to 1"), "{came:?}");
    assert!(came.err.contains("descriptors more → start the server with"), "{came:?}");
    assert!(came.out.contains("are clamped to 1"), "the report has it, too: {came:?}");
}

#[test]
fn an_address_that_this_machine_lacks_is_no_lack_of_ports() {
    let knee = Knee::new();
    let alone = Command::new("unshare").args(["--net", "true"]).status();
    if !alone.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no network namespace can be made here");
        return;
    }
    // Its loopback is down.
    for url in ["http://127.0.0.1:8080/", "http://[::1]:8080/"] {
        let came = came(&mut knee.shell(&format!("exec unshare --net \"$KNEE\" load {url}")));
        assert_eq!((came.code, came.err.lines().count()), (Some(5), 1), "{came:?}");
        assert!(came.err.contains("can't be reached"), "{came:?}");
        assert!(!came.err.contains("port"), "{came:?}");
    }
}

#[test]
fn without_ports_it_goes_on_with_those_it_has() {
    let knee = Knee::new();
    let may = Command::new("unshare").args(["--net", "ip", "link", "set", "lo", "up"]).output();
    if !may.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: no network namespace with a loopback can be made here");
        return;
    }
    let (directory, message) =
        (knee.directory.path().display(), knee.directory.path().join("said"));
    std::fs::write(knee.directory.path().join("index.html"), "hello").unwrap();
    let load = "load http://127.0.0.1:80/ --connections 40 --duration 300ms";
    let script = format!(
        "ip link set lo up || exit 9
         echo 50000 50009 > /proc/sys/net/ipv4/ip_local_port_range || exit 9
         mkfifo {message}
         \"$KNEE\" httpd {directory} --port 80 --bind 127.0.0.1 > {message} &
         read line < {message}
         \"$KNEE\" {load} --json > {directory}/one.json
         \"$KNEE\" {load} > {directory}/words
         \"$KNEE\" {load} --sources 4 --json > {directory}/several.json
         kill $!; wait",
        message = message.display()
    );
    let came = came(
        Command::new("unshare")
            .args(["--net", "sh", "-c", &script])
            .env("KNEE", env!("CARGO_BIN_EXE_knee")),
    );
    assert_eq!(came.err, "", "{came:?}");
    let read = |name: &str| std::fs::read_to_string(knee.directory.path().join(name)).unwrap();
    let outcome: Value = serde_json::from_str(&read("one.json")).unwrap();
    assert!(outcome["errors"]["ports"].as_u64().unwrap() >= 30, "{outcome}");
    assert_eq!(outcome["connections"], 10);
    assert!(outcome["replies"].as_u64().unwrap() > 0, "{outcome}");
    assert!(read("words").contains("ip_local_port_range"), "{}", read("words"));
    let several: Value = serde_json::from_str(&read("several.json")).unwrap();
    assert_eq!((&several["connections"], &several["errors"]["ports"]), (&40.into(), &0.into()));
}
