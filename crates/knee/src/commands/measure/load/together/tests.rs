//! What the tests of both ways to meet have in common.

use super::*;
use ::load::{Arrivals, Shape, Target};
use std::net::{SocketAddr, TcpListener};

/// Nothing of a test takes that long.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub fn plan(address: SocketAddr) -> Plan {
    let target = Target::new(address, "h", "/");
    Plan {
        shape: Shape::Open(Arrivals::Poisson { per_s: 400.0 }),
        seed: 7,
        connections: 12,
        duration: Some(Duration::from_millis(500)),
        interval: Duration::from_millis(50),
        ..Plan::new(target)
    }
}

pub fn url() -> Url {
    Url::parse("http://127.0.0.1/").unwrap()
}

/// A server that answers every request.
pub fn server() -> SocketAddr {
    use std::io::{Read, Write};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                while let Ok(1..) = stream.read(&mut bytes) {
                    let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                    if stream.write_all(reply).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// All that a rank does. What each would draw by is no matter.
pub fn loaded<'a>(assembly: impl Assembly + 'a, plan: &Plan, stop: &'a Stop) -> Came {
    let mut joined = Joined { assembly: Box::new(assembly), stop };
    let seed = 7 + u64::from(joined.assembly.member().rank);
    let plan = Plan { seed, ..plan.clone() };
    let plan = joined.agree(&url(), &plan).unwrap();
    let mut intervals = 0;
    let measured = joined.load(&plan, &mut |_| intervals += 1).unwrap();
    assert!(intervals > 0, "they come before the end");
    let came = joined.conclude(&measured, &plan);
    match &came {
        Came::Result(together) => joined.announce(&together.ranks, true),
        Came::Elsewhere(rank) => assert!(joined.is_recorded_by(*rank), "{rank}"),
        Came::Trouble(..) => {}
    }
    came
}

/// Three ranks do what one process does, and rank 0 has one result.
pub fn assert_one_load(plan: &Plan, came: &[Came], stop: &Stop) {
    let alone = ::load::run(plan, &stop.requested, None).unwrap();
    let [Came::Result(together), Came::Elsewhere(0), Came::Elsewhere(0)] = came else {
        panic!("rank 0 alone adds up");
    };
    let due = |outcome: &Outcome| outcome.counts.requests + outcome.counts.unsent;
    assert_eq!(due(&together.outcome), due(&alone), "the plan of rank 0's seed");
    assert_eq!(together.ranks.len(), 3);
    let replies = together.ranks.iter().map(|rank| rank.measured.as_ref().unwrap().replies);
    assert_eq!(replies.sum::<u64>(), together.outcome.counts.replies);
    assert!(!together.outcome.intervals.is_empty());
}
