//! Ranks that meet in memory.

use super::*;
use ::load::Target;
use ::record::Error as RecordError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A meeting in memory.
#[derive(Clone)]
struct FakeMeeting {
    postings: Arc<Mutex<Vec<(String, Posting)>>>,
    /// The senders that are present.
    present: Arc<Mutex<Vec<i64>>>,
    begun: Instant,
    sender: i64,
    rank: u32,
    /// Whether what is measured can't be posted.
    is_lost: bool,
}

impl FakeMeeting {
    fn new() -> FakeMeeting {
        let (postings, present) = (Arc::default(), Arc::default());
        FakeMeeting { postings, present, begun: Instant::now(), sender: 0, rank: 0, is_lost: false }
    }

    fn join(&self, rank: u32) -> FakeMeeting {
        let sender = fastrand::i64(1..i64::MAX);
        self.present.lock().unwrap().push(sender);
        FakeMeeting { sender, rank, ..self.clone() }
    }

    fn leave(&self) {
        self.present.lock().unwrap().retain(|sender| *sender != self.sender);
    }
}

impl Meeting for FakeMeeting {
    fn sender(&self) -> i64 {
        self.sender
    }

    fn post(&mut self, kind: &str, body: &str) -> Result<(), RecordError> {
        if self.is_lost && kind == PART {
            return Err(RecordError::NoRecord { path: "archive".into() });
        }
        let (sender, rank, body) = (self.sender, self.rank, body.to_owned());
        let posting = Posting { sender, rank, is_present: true, body };
        self.postings.lock().unwrap().push((kind.to_owned(), posting));
        Ok(())
    }

    fn postings(&mut self, kind: &str, _: bool) -> Result<Vec<Posting>, RecordError> {
        let present = self.present.lock().unwrap().clone();
        let all = self.postings.lock().unwrap();
        let mut all: Vec<Posting> =
            all.iter().filter(|row| row.0 == kind).map(|row| row.1.clone()).collect();
        for posting in &mut all {
            posting.is_present = present.contains(&posting.sender);
        }
        all.sort_by_key(|posting| posting.rank);
        Ok(all)
    }

    fn clock_ns(&mut self) -> Result<i64, RecordError> {
        Ok(i64::try_from(self.begun.elapsed().as_nanos()).unwrap())
    }
}

fn process<'a>(
    meeting: &FakeMeeting,
    rank: u32,
    size: u32,
    check_in: Duration,
    stop: &'a Stop,
) -> Process<'a> {
    let member = Member { fleet: "test".into(), rank, size };
    let meeting = Box::new(meeting.join(rank));
    Process { member, meeting, check_in, posted_within: PATIENCE, stop, senders: Vec::new() }
}

fn plan(address: std::net::SocketAddr) -> Plan {
    let target = Target { address, host: "h".into(), path: "/".into() };
    Plan {
        shape: Shape::Open(Arrivals::Poisson { per_s: 400.0, seed: 7 }),
        connections: 12,
        duration: Some(Duration::from_millis(500)),
        ..Plan::new(target)
    }
}

fn url() -> Url {
    Url::parse("http://127.0.0.1/").unwrap()
}

/// A server that answers every request, until `stop` is set.
fn server(stop: &'static AtomicBool) -> std::net::SocketAddr {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            if stop.load(Ordering::Relaxed) {
                return;
            }
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

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn ranks_send_the_plan_of_one_process_and_have_one_result() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let (meeting, stop) = (FakeMeeting::new(), Stop::on_signals().unwrap());
    let plan = plan(server(&STOP));
    let alone = ::load::run(&plan, stop.flag(), None).unwrap();
    let results: Vec<Option<Together>> = std::thread::scope(|scope| {
        let ranks: Vec<_> = (0..3)
            .map(|rank| {
                let mut process = process(&meeting, rank, 3, PATIENCE, &stop);
                // What each would draw by is no matter.
                let plan =
                    Plan { shape: with_seed(plan.shape, 7 + u64::from(rank)), ..plan.clone() };
                scope.spawn(move || process.load(&url(), &plan).unwrap().ok())
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    let together = results[0].as_ref().expect("rank 0 adds up");
    assert!(results[1].is_none() && results[2].is_none());
    let due = |outcome: &Outcome| outcome.requests + outcome.unsent;
    assert_eq!(due(&together.outcome), due(&alone), "the plan of rank 0's seed");
    assert_eq!(together.ranks.len(), 3);
    let replies = together.ranks.iter().map(|rank| rank.measured.as_ref().unwrap().replies);
    assert_eq!(replies.sum::<u64>(), together.outcome.replies);
    assert!(!together.outcome.intervals.is_empty());
}

#[test]
fn ranks_that_do_not_come_are_named_and_the_wait_ends() {
    let (meeting, stop) = (FakeMeeting::new(), Stop::on_signals().unwrap());
    let plan = plan(([127, 0, 0, 1], 9).into());
    let mut first = process(&meeting, 0, 3, Duration::from_millis(50), &stop);
    let trouble = first.agree(&url(), &plan).unwrap_err().to_string();
    assert_eq!(trouble, "ranks 1 and 2 of 3 did not check in within 0.05 s (fleet test)");
    let mut second = process(&meeting, 2, 3, Duration::from_millis(50), &stop);
    let trouble = second.agree(&url(), &plan).unwrap_err().to_string();
    assert_eq!(trouble, "rank 1 of 3 did not check in within 0.05 s (fleet test)");
}

/// Of an earlier start of the same name, no rank is present.
#[test]
fn postings_of_those_that_left_do_not_count() {
    let (meeting, stop) = (FakeMeeting::new(), Stop::on_signals().unwrap());
    let plan = plan(([127, 0, 0, 1], 9).into());
    let mut earlier = meeting.join(1);
    earlier.post(CHECK_IN, "{}").unwrap();
    earlier.leave();
    let mut first = process(&meeting, 0, 2, Duration::from_millis(50), &stop);
    let trouble = first.agree(&url(), &plan).unwrap_err().to_string();
    assert!(trouble.starts_with("rank 1 of 2 did not check in"), "{trouble}");
}

#[test]
fn a_rank_with_another_plan_is_refused_by_all() {
    let (meeting, stop) = (FakeMeeting::new(), Stop::on_signals().unwrap());
    let plan = plan(([127, 0, 0, 1], 9).into());
    let more = Plan { threads: 4, ..plan.clone() };
    let troubles: Vec<String> = std::thread::scope(|scope| {
        let ranks = [&plan, &more].into_iter().zip(0..).map(|(plan, rank)| {
            let mut process = process(&meeting, rank, 2, PATIENCE, &stop);
            scope.spawn(move || process.agree(&url(), plan).unwrap_err().to_string())
        });
        let ranks: Vec<_> = ranks.collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    assert_eq!(troubles[0], troubles[1]);
    assert!(
        troubles[0].contains("rank 1 has another plan than rank 0: threads is 4, not 1"),
        "{troubles:?}"
    );
}

/// Rank 0 sends, posts its part and dies; rank 1 dies in the load; rank 2 adds up what there is.
#[test]
fn what_is_left_of_ranks_that_died_is_kept_and_they_are_named() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let (meeting, stop) = (FakeMeeting::new(), Stop::on_signals().unwrap());
    let plan = plan(server(&STOP));
    let meetings = [meeting.join(0), meeting.join(1), meeting.join(2)];
    let senders: Vec<i64> = meetings.iter().map(|meeting| meeting.sender).collect();
    for (rank, mut meeting) in meetings.into_iter().enumerate() {
        meeting.post(CHECK_IN, "{}").unwrap();
        let share = Share { rank, ranks: 3 };
        let plan = Plan { share, ..plan.clone() };
        let part = ::load::run_share(&plan, stop.flag(), None, &mut |_| Some(Instant::now()));
        let measured =
            Measured { host: format!("h{rank}"), clock_bound_ns: 1.0, part: part.unwrap() };
        if rank != 1 {
            meeting.post(PART, &serde_json::to_string(&measured).unwrap()).unwrap();
        }
        if rank < 2 {
            meeting.leave();
            continue;
        }
        let member = Member { fleet: "test".into(), rank: 2, size: 3 };
        let senders = senders.clone();
        let mut process = Process {
            member,
            meeting: Box::new(meeting),
            check_in: PATIENCE,
            posted_within: PATIENCE,
            stop: &stop,
            senders,
        };
        let together = process.conclude(&plan).unwrap().ok().unwrap();
        let missing = together.ranks.iter().filter(|rank| rank.measured.is_none());
        assert_eq!(missing.map(|rank| rank.rank).collect::<Vec<u32>>(), [1]);
        assert!(together.warnings[0].what.contains("Rank 1 of 3 did not come to its end"));
        assert!(together.outcome.replies > 0);
    }
}

#[test]
fn a_rank_of_another_number_of_ranks_is_refused_by_all() {
    let (meeting, stop) = (FakeMeeting::new(), Stop::on_signals().unwrap());
    let plan = plan(([127, 0, 0, 1], 9).into());
    let troubles: Vec<String> = std::thread::scope(|scope| {
        let ranks = [2, 3].into_iter().zip(0..).map(|(size, rank)| {
            let mut process = process(&meeting, rank, size, PATIENCE, &stop);
            let plan = &plan;
            scope.spawn(move || process.agree(&url(), plan).unwrap_err().to_string())
        });
        let ranks: Vec<_> = ranks.collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    for trouble in troubles {
        assert!(
            trouble.contains("rank 1 has another plan than rank 0: ranks is 3, not 2"),
            "{trouble}"
        );
    }
}

#[test]
fn without_the_archive_each_rank_keeps_what_it_measured() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let (meeting, stop) = (FakeMeeting::new(), Stop::on_signals().unwrap());
    let meeting = FakeMeeting { is_lost: true, ..meeting };
    let plan = plan(server(&STOP));
    let results: Vec<Together> = std::thread::scope(|scope| {
        let ranks: Vec<_> = (0..2)
            .map(|rank| {
                let (mut process, plan) = (process(&meeting, rank, 2, PATIENCE, &stop), &plan);
                scope.spawn(move || process.load(&url(), plan).unwrap().unwrap())
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    for (own, together) in results.iter().enumerate() {
        let measured = together.ranks.iter().map(|rank| rank.measured.is_some());
        assert_eq!(measured.collect::<Vec<bool>>(), [own == 0, own == 1]);
        let replies = together.ranks[own].measured.as_ref().unwrap().replies;
        assert_eq!((together.outcome.replies, together.warnings.len()), (replies, 1));
        let what = &together.warnings[0].what;
        assert!(what.contains(&format!("of 2 ranks only rank {own} is in the figures")), "{what}");
    }
}

/// Ranks 0 and 1, of which 0 has posted its part, and a signal has come.
fn interrupted(meeting: &FakeMeeting, stop: &Stop, has_part: bool) -> Result<bool, String> {
    static STOP: AtomicBool = AtomicBool::new(false);
    stop.shared_flag().store(true, Ordering::Relaxed);
    let plan = plan(server(&STOP));
    let mut meetings = [meeting.join(0), meeting.join(1)];
    for (meeting, rank) in meetings.iter_mut().zip(0..) {
        meeting.post(CHECK_IN, "{}").unwrap();
        let plan = Plan { share: Share { rank, ranks: 2 }, ..plan.clone() };
        let part = ::load::run_share(&plan, &STOP, None, &mut |_| Some(Instant::now())).unwrap();
        let measured = Measured { host: "h".into(), clock_bound_ns: 1.0, part };
        if rank == 0 || has_part {
            meeting.post(PART, &serde_json::to_string(&measured).unwrap()).unwrap();
        }
    }
    let senders = meetings.iter().map(|meeting| meeting.sender).collect();
    let [first, _second] = meetings;
    let mut process = Process {
        member: Member { fleet: "test".into(), rank: 0, size: 2 },
        meeting: Box::new(first),
        check_in: PATIENCE,
        posted_within: if has_part { PATIENCE } else { Duration::ZERO },
        stop,
        senders,
    };
    let concluded = process
        .conclude(&Plan { timeout: Duration::ZERO, ..plan })
        .map_err(|trouble| trouble.to_string())?;
    Ok(concluded.is_ok_and(|together| together.ranks.iter().all(|rank| rank.measured.is_some())))
}

#[test]
fn a_signal_to_all_ranks_keeps_what_they_measured_and_one_to_a_rank_leaves_it_to_the_others() {
    let stop = Stop::on_signals().unwrap();
    assert_eq!(interrupted(&FakeMeeting::new(), &stop, true), Ok(true));
    let left = interrupted(&FakeMeeting::new(), &stop, false).unwrap_err();
    assert!(left.contains("the other ranks go on, and have what this one measured"), "{left}");
}
