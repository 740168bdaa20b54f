//! Ranks that meet in memory.

use super::super::tests::*;
use super::super::{Came, Joined, Together, check_in};
use super::*;
use ::archive::Error as RecordError;
use ::load::{Arrivals, Shape, Share};
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
            return Err(RecordError::NoRecord("archive".into()));
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

/// One that is there already.
fn process_at<'a>(meeting: FakeMeeting, senders: &[i64], stop: &'a Stop) -> Process<'a> {
    let size = u32::try_from(senders.len()).unwrap();
    let member = Member { fleet: "test".into(), rank: meeting.rank, size };
    let senders = senders.to_vec();
    let meeting = Box::new(meeting);
    Process { member, meeting, check_in: PATIENCE, stop, clock: None, senders }
}

fn process<'a>(
    meeting: &FakeMeeting,
    rank: u32,
    size: u32,
    check_in: Duration,
    stop: &'a Stop,
) -> Process<'a> {
    let senders = vec![0; size as usize];
    Process { check_in, ..process_at(meeting.join(rank), &senders, stop) }
}

#[test]
fn ranks_send_the_plan_of_one_process_and_have_one_result() {
    let (meeting, stop) = (FakeMeeting::new(), Stop::on_signals().unwrap());
    let plan = plan(server());
    let came: Vec<_> = std::thread::scope(|scope| {
        let ranks: Vec<_> = (0..3)
            .map(|rank| {
                let process = process(&meeting, rank, 3, PATIENCE, &stop);
                let (plan, stop) = (&plan, &stop);
                scope.spawn(move || loaded(process, plan, stop))
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    assert_one_load(&plan, &came, &stop);
}

#[test]
fn ranks_that_do_not_come_are_named_and_the_wait_ends() {
    let (meeting, stop) = (FakeMeeting::new(), Stop::on_signals().unwrap());
    let plan = plan(([127, 0, 0, 1], 9).into());
    let mut first = process(&meeting, 0, 3, Duration::from_millis(50), &stop);
    let trouble = first.agree(check_in(&url(), &plan, 3)).unwrap_err().to_string();
    assert_eq!(trouble, "ranks 1 and 2 of 3 did not check in within 0.05 s (fleet test)");
    let mut second = process(&meeting, 2, 3, Duration::from_millis(50), &stop);
    let trouble = second.agree(check_in(&url(), &plan, 3)).unwrap_err().to_string();
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
    let trouble = first.agree(check_in(&url(), &plan, 3)).unwrap_err().to_string();
    assert!(trouble.starts_with("rank 1 of 2 did not check in"), "{trouble}");
}

#[test]
fn a_rank_with_another_plan_is_refused_by_all() {
    let (meeting, stop) = (FakeMeeting::new(), Stop::on_signals().unwrap());
    let plan = plan(([127, 0, 0, 1], 9).into());
    let more = Plan { threads: 4, ..plan.clone() };
    let faster =
        Plan { shape: Shape::Open(Arrivals::Poisson { per_s: 500.0 }), seed: 7, ..plan.clone() };
    let plans = [&plan, &faster].map(|plan| check_in(&url(), plan, 2));
    assert!(refusal(&plans).unwrap().contains("per_s is 500.0, not 400.0"), "where they differ");
    let troubles: Vec<String> = std::thread::scope(|scope| {
        let ranks = [&plan, &more].into_iter().zip(0..).map(|(plan, rank)| {
            let mut process = process(&meeting, rank, 2, PATIENCE, &stop);
            scope.spawn(move || process.agree(check_in(&url(), plan, 2)).unwrap_err().to_string())
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
    let (meeting, stop) = (FakeMeeting::new(), Stop::on_signals().unwrap());
    let plan = plan(server());
    let meetings = [meeting.join(0), meeting.join(1), meeting.join(2)];
    let senders: Vec<i64> = meetings.iter().map(|meeting| meeting.sender).collect();
    for (rank, mut meeting) in meetings.into_iter().enumerate() {
        meeting.post(CHECK_IN, "{}").unwrap();
        let share = Share { rank, ranks: 3 };
        let plan = Plan { share, ..plan.clone() };
        let part = ::load::run_share(&plan, &stop.requested, None, &mut |_| Some(Instant::now()));
        let measured =
            Measured { host: format!("h{rank}"), clock_bound_ns: 1, part: part.unwrap() };
        if rank == 0 {
            meeting.post(PART, &serde_json::to_string(&measured).unwrap()).unwrap();
        }
        if rank < 2 {
            meeting.leave();
            continue;
        }
        let process = process_at(meeting, &senders, &stop);
        let mut joined = Joined { assembly: Box::new(process), stop: &stop };
        let came = joined.conclude(&measured, &plan);
        let Came::Result(together) = came else { panic!("rank 2 adds up") };
        let missing = together.ranks.iter().filter(|rank| rank.measured.is_none());
        assert_eq!(missing.map(|rank| rank.rank).collect::<Vec<u32>>(), [1]);
        let mut warnings = together.warnings.iter().map(|warning| &warning.what);
        assert!(warnings.any(|what| what.contains("Rank 1 of 3 did not come to its end")));
        assert!(together.outcome.counts.replies > 0);
    }
}

/// Whether rank 1 finds what it measured in a recorded result, after what rank 0 did.
fn is_recorded_after(first_does: impl FnOnce(&mut Process<'_>)) -> bool {
    let (meeting, stop) = (FakeMeeting::new(), Stop::on_signals().unwrap());
    let (mut first, mut second) = (meeting.join(0), meeting.join(1));
    let senders = [first.sender, second.sender];
    first.post(CHECK_IN, "{}").unwrap();
    second.post(CHECK_IN, "{}").unwrap();
    let leaving = first.clone();
    first_does(&mut process_at(first, &senders, &stop));
    leaving.leave();
    let assembly = Box::new(process_at(second, &senders, &stop));
    Joined { assembly, stop: &stop }.is_recorded_by(0)
}

#[test]
fn a_share_is_recorded_only_where_the_rank_with_the_result_says_so() {
    let announced = |ranks: &[u32]| is_recorded_after(|first| first.announce(ranks).unwrap());
    assert!(announced(&[0, 1]));
    assert!(!announced(&[0]), "it came too late");
    assert!(!announced(&[]), "the disk is full");
    assert!(!is_recorded_after(|_| {}), "rank 0 has died");
}

#[test]
fn a_rank_of_another_number_of_ranks_is_refused_by_all() {
    let (meeting, stop) = (FakeMeeting::new(), Stop::on_signals().unwrap());
    let plan = plan(([127, 0, 0, 1], 9).into());
    let troubles: Vec<String> = std::thread::scope(|scope| {
        let ranks = [2, 3].into_iter().zip(0..).map(|(size, rank)| {
            let mut process = process(&meeting, rank, size, PATIENCE, &stop);
            let plan = &plan;
            scope
                .spawn(move || process.agree(check_in(&url(), plan, size)).unwrap_err().to_string())
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
    let (meeting, stop) = (FakeMeeting::new(), Stop::on_signals().unwrap());
    let meeting = FakeMeeting { is_lost: true, ..meeting };
    let plan = plan(server());
    let came: Vec<Came> = std::thread::scope(|scope| {
        let ranks: Vec<_> = (0..2)
            .map(|rank| {
                let (process, plan) = (process(&meeting, rank, 2, PATIENCE, &stop), &plan);
                let stop = &stop;
                scope.spawn(move || loaded(process, plan, stop))
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    });
    for (own, came) in came.iter().enumerate() {
        let Came::Result(together) = came else { panic!("rank {own} has its own") };
        let measured = together.ranks.iter().map(|rank| rank.measured.is_some());
        assert_eq!(measured.collect::<Vec<bool>>(), [own == 0, own == 1]);
        let replies = together.ranks[own].measured.as_ref().unwrap().replies;
        assert_eq!((together.outcome.counts.replies, together.warnings.len()), (replies, 1));
        let what = &together.warnings[0].what;
        assert!(what.contains(&format!("Of 2 ranks only rank {own} is in the figures")), "{what}");
    }
}

/// Ranks 0 and 1, of which 1 has posted its part or not, and a signal has come: what came of it for rank 0.
fn interrupted(stop: &Stop, has_part: bool) -> Came {
    static STOP: AtomicBool = AtomicBool::new(false);
    stop.requested.store(true, Ordering::Relaxed);
    let meeting = FakeMeeting::new();
    let (first, mut second) = (meeting.join(0), meeting.join(1));
    let measured = |rank| {
        let share = Share { rank, ranks: 2 };
        let plan = Plan { share, ..plan(server()) };
        let part = ::load::run_share(&plan, &STOP, None, &mut |_| Some(Instant::now())).unwrap();
        Measured { host: "h".into(), clock_bound_ns: 1, part }
    };
    first.clone().post(CHECK_IN, "{}").unwrap();
    second.post(CHECK_IN, "{}").unwrap();
    if has_part {
        second.post(PART, &serde_json::to_string(&measured(1)).unwrap()).unwrap();
    }
    let senders = [first.sender, second.sender];
    let mut process = process_at(first, &senders, stop);
    let wait = if has_part { PATIENCE } else { Duration::ZERO };
    let own = measured(0);
    match process.conclude(Some(&own), Patience { wait, ends: true }) {
        Ok(Concluded::Parts(parts)) => Came::Result(Together::new(0, &own, &parts)),
        Ok(_) => panic!("rank 0 adds up"),
        Err(trouble) => Came::Trouble(trouble, Together::new(0, &own, &[None, None])),
    }
}

#[test]
fn a_signal_to_all_ranks_keeps_what_they_measured_and_one_to_a_rank_leaves_it_to_the_others() {
    let stop = Stop::on_signals().unwrap();
    let Came::Result(together) = interrupted(&stop, true) else { panic!("all are there") };
    assert!(together.ranks.iter().all(|rank| rank.measured.is_some()));
    let Came::Trouble(left, _) = interrupted(&stop, false) else { panic!("one is not there") };
    let left = left.to_string();
    assert!(left.contains("the other ranks go on, and have what this one measured"), "{left}");
}

#[test]
fn a_rank_that_a_signal_ended_before_the_others_is_named() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let address = server();
    let warned = |stopped: [bool; 2]| {
        let [first, second] = stopped.map(|is_stopped| {
            let plan = Plan { share: Share { rank: 0, ranks: 1 }, ..plan(address) };
            let part = ::load::run_share(&plan, &STOP, None, &mut |_| Some(Instant::now()));
            let mut part = part.unwrap();
            part.counts.stopped = is_stopped;
            Measured { host: "h".into(), clock_bound_ns: 1, part }
        });
        let together = Together::new(0, &first, &[None, Some(second)]);
        // On a busy machine they may have begun late as well.
        let all = together.warnings.into_iter().map(|warning| warning.what);
        all.filter(|what| what.contains("signal")).collect::<Vec<String>>()
    };
    let named =
        "Rank 1 of 2 was ended by a signal before the others: its share of the load is not whole";
    assert_eq!(warned([false, true]), [named]);
    assert!(warned([true, true]).is_empty(), "a signal to all");
    assert!(warned([false, false]).is_empty());
}
