//! Where servers listen, and where connections come from.

use load::{Address, Counts, Dead, Error, Holding, Housing, Plan, Stream, Target, accepting};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::os::unix::net::UnixListener;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// Replies to each piece, which is a request.
fn serve(mut stream: impl Read + Write + Send + 'static) {
    std::thread::spawn(move || {
        while let Ok(1..) = stream.read(&mut [0; 4096]) {
            if stream.write_all(REPLY).is_err() {
                return;
            }
        }
    });
}

/// A server whose connections come from the addresses that it notes.
fn tcp(ip: IpAddr) -> std::io::Result<(Address, Arc<Mutex<BTreeSet<IpAddr>>>)> {
    let listener = TcpListener::bind((ip, 0))?;
    let address = listener.local_addr()?.into();
    let peers: Arc<Mutex<BTreeSet<IpAddr>>> = Arc::default();
    let noted = Arc::clone(&peers);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            noted.lock().unwrap().insert(stream.peer_addr().unwrap().ip());
            serve(stream);
        }
    });
    Ok((address, peers))
}

fn plan(address: Address) -> Plan {
    let target = Target::new(address, "localhost", "/");
    Plan {
        connections: 6,
        requests: Some(60),
        duration: None,
        timeout: Duration::from_secs(60),
        ..Plan::new(target)
    }
}

fn run(plan: &Plan) -> Result<Counts, Error> {
    Ok(load::run(plan, &AtomicBool::new(false), None)?.counts)
}

#[test]
fn a_unix_socket_is_loaded_as_any_other() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let plan = Plan { ends_if_refused: true, ..plan(Address::Unix(path.clone())) };
    // It was not made, and then it has no listener any more.
    let refused = |outcome: Result<Counts, Error>| match outcome {
        Err(Error::Refused(address)) => address.to_string(),
        outcome => panic!("{outcome:?}"),
    };
    assert_eq!(refused(run(&plan)), path.display().to_string());
    drop(UnixListener::bind(&path).unwrap());
    assert_eq!(refused(run(&plan)), path.display().to_string());
    std::fs::remove_file(&path).unwrap();
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || listener.incoming().flatten().for_each(serve));
    let counts = run(&plan).unwrap();
    assert_eq!((counts.replies, counts.errors.total()), (60, 0), "{counts:?}");
    assert_eq!(
        accepting(std::slice::from_ref(&plan.target.address), Duration::ZERO).unwrap(),
        plan.target.address
    );
    let mut stream = Stream::connect(&plan.target, Duration::from_secs(60)).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut reply = vec![0; REPLY.len()];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(reply, REPLY);
    let (housing, timeout) = (Housing::Threads, Duration::from_secs(60));
    let holding = Holding { housing, sources: Vec::new(), timeout };
    let mut dead = Dead::open(&plan.target, 5, &holding, &AtomicBool::new(false)).unwrap();
    assert_eq!((dead.outcome.opened, dead.alive().unwrap()), (5, 5));
}

#[test]
fn a_full_accept_queue_of_a_unix_socket_is_named() {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    // One connection waits to be accepted, and more have no room.
    let listener = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    listen(&listener, 0).unwrap();
    let plan = plan(Address::Unix(path));
    let counts = run(&Plan { duration: Some(Duration::from_millis(50)), ..plan }).unwrap();
    assert!(counts.errors.queue > 0 && counts.errors.ports == 0, "{counts:?}");
}

#[test]
fn an_address_of_ipv6_is_loaded_as_any_other() {
    let Ok((address, peers)) = tcp(Ipv6Addr::LOCALHOST.into()) else {
        return eprintln!("SKIPPED: there is no IPv6 here");
    };
    let counts = run(&plan(address)).unwrap();
    assert_eq!((counts.replies, counts.errors.total()), (60, 0), "{counts:?}");
    assert_eq!(*peers.lock().unwrap(), BTreeSet::from([Ipv6Addr::LOCALHOST.into()]));
}

#[test]
fn connections_come_from_their_sources_in_turn() {
    let (address, peers) = tcp(Ipv4Addr::LOCALHOST.into()).unwrap();
    let sources: Vec<IpAddr> = (5..8).map(|last| Ipv4Addr::new(127, 0, 0, last).into()).collect();
    let own = Plan { sources: sources.clone(), ..plan(address) };
    assert_eq!(run(&own).unwrap().replies, 60);
    assert_eq!(*peers.lock().unwrap(), sources.into_iter().collect());
    // Each is tried before the load, and this one belongs to documents.
    let foreign = Plan {
        sources: vec![Ipv4Addr::LOCALHOST.into(), Ipv4Addr::new(192, 0, 2, 1).into()],
        ..own
    };
    let error = run(&foreign).unwrap_err();
    assert!(
        matches!(&error, Error::NotPossibleHere(text) if text.contains("192.0.2.1")),
        "{error}"
    );
}
