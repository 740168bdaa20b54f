//! Servers whose figures are known: descriptors watched, events a wait, hence the ratio.

use crate::server::Server;
use crate::{PATIENCE, only, watch};
use observe::{
    Call, Estimate, Observation, ReadyFor, Remark, THREADS_MAX, Triggers, Waiter, Watched,
};
use rustix::process::{Resource, getrlimit, setrlimit};
use std::time::Duration;

/// Watches a server until it has done some hundred rounds more.
fn seen_of(mode: &str, hundreds: usize) -> Option<Observation> {
    let server = Server::start(mode);
    watch(server.pid(), PATIENCE, &server.done(hundreds)).map(|seen| seen.unwrap())
}

fn exactly(count: u64) -> Watched {
    Watched { min: count, median: count, max: count, exact: true }
}

fn assert_is(estimate: Option<Estimate>, expected: f64) {
    let Estimate { value, low, high } = estimate.unwrap();
    for figure in [value, low, high] {
        assert!((figure - expected).abs() < 1e-9, "{estimate:?} is not {expected}");
    }
}

/// The waits with events and those without take turns; a look may begin with either.
fn assert_half_empty(seen: &Observation) {
    let (waits, empty) = (only(seen).waits, only(seen).empty);
    let odd = (2 * empty).abs_diff(waits);
    assert!(waits > 10 && odd <= u64::from(seen.looks), "{empty} of {waits}");
}

fn stopped(seen: &Observation) -> bool {
    matches!(seen.remarks.as_slice(), [Remark::Stopped(_)])
}

#[test]
fn an_epoll_set() {
    let Some(seen) = seen_of("epoll", 4) else { return };
    let waiter = only(&seen);
    assert!(matches!(waiter.call, Call::EpollWait | Call::EpollPwait), "{waiter:?}");
    assert_eq!(waiter.watched, Some(exactly(50)));
    assert_eq!(waiter.triggers.map(Triggers::total), Some(50));
    assert_is(waiter.events_per_wait, 3.0);
    assert_is(waiter.ratio, 0.06);
    assert_half_empty(&seen);
    assert_eq!(waiter.events, 3 * (waiter.waits - waiter.empty));
    assert_eq!((waiter.failed, waiter.full, waiter.events_most), (0, 0, 3));
    assert!(waiter.epoll.is_some() && waiter.threads.len() == 1, "{waiter:?}");
    assert!(waiter.waits_per_s > 0.0 && seen.lost == 0 && stopped(&seen), "{seen:?}");
}

#[test]
fn waits_whose_array_is_too_small_for_all_that_is_active() {
    let Some(seen) = seen_of("narrow", 4) else { return };
    let waiter = only(&seen);
    assert_eq!((waiter.watched, waiter.events_most), (Some(exactly(10)), 1));
    // What is seen is a third of what is active, so a remark is due.
    assert_is(waiter.ratio, 0.1);
    let full = Remark::Full(1.0);
    assert!(seen.remarks.contains(&full), "{:?}", seen.remarks);
    assert!(full.to_string().starts_with("100 % of the waits returned as many events as"));
}

#[test]
fn a_poll_whose_array_has_unused_entries() {
    let Some(seen) = seen_of("poll", 4) else { return };
    let waiter = only(&seen);
    assert!(matches!(waiter.call, Call::Poll | Call::Ppoll), "{waiter:?}");
    assert_eq!((waiter.watched, waiter.epoll), (Some(exactly(40)), None));
    assert_is(waiter.events_per_wait, 2.0);
    assert_is(waiter.ratio, 0.05);
    assert_half_empty(&seen);
}

#[test]
fn a_select_by_the_members_of_its_sets() {
    let Some(seen) = seen_of("select", 4) else { return };
    let waiter = only(&seen);
    assert!(matches!(waiter.call, Call::Select | Call::Pselect6), "{waiter:?}");
    assert_eq!(waiter.watched, Some(exactly(30)));
    assert_is(waiter.events_per_wait, 4.0);
    assert_is(waiter.ratio, 4.0 / 30.0);
    assert_half_empty(&seen);
}

/// It is left alone between looks, and its figures are still right.
#[test]
fn a_server_that_does_nothing_but_wait() {
    let server = Server::start("busy");
    let Some(seen) = watch(server.pid(), Duration::from_secs(2), &|| false) else { return };
    let seen = seen.unwrap();
    let waiter = only(&seen);
    assert_eq!(waiter.watched, Some(exactly(20)));
    assert_is(waiter.events_per_wait, 2.0);
    assert_is(waiter.ratio, 0.1);
    assert!(seen.looked <= seen.took && seen.cost > 0.0, "{seen:?}");
    // On a busy machine a ring may run over before it is read.
    let is_unexpected = |remark: &&Remark| !matches!(remark, Remark::Lost(_));
    assert_eq!(seen.remarks.iter().find(is_unexpected), None);
}

/// Long enough for a few looks on a machine with others at work.
const SOME_LOOKS: Duration = Duration::from_secs(4);

/// The only thing that a server waits on, watched for some looks.
fn watched_for_looks(mode: &str) -> Option<(u32, Waiter)> {
    let server = Server::start(mode);
    let seen = watch(server.pid(), SOME_LOOKS, &|| false)?.unwrap();
    if seen.remarks.contains(&Remark::ReadyDenied) {
        eprintln!("SKIPPED: the descriptors of other processes can't be duplicated here");
        return None;
    }
    Some((server.pid(), only(&seen).clone()))
}

#[test]
fn descriptors_that_stay_ready_and_are_never_served() {
    let ended = ReadyFor { ended: true, ..ReadyFor::default() };
    let readable = ReadyFor { reading: true, ..ReadyFor::default() };
    let writable = ReadyFor { writing: true, ..ReadyFor::default() };
    let modes = [
        ("unread", vec![readable, ended]),
        ("unread-poll", vec![readable]),
        ("writable", vec![writable]),
    ];
    for (mode, expected) in modes {
        let Some((pid, waiter)) = watched_for_looks(mode) else { return };
        let events: Vec<ReadyFor> = waiter.stay_ready.iter().map(|stays| stays.events).collect();
        assert_eq!(events, expected, "{mode}: {waiter:#?}");
        for stays in &waiter.stay_ready {
            assert_eq!((stays.served, stays.answer), (0, None), "{mode}");
            assert_eq!(stays.file.as_ref().map(|file| file.kind.as_str()), Some("pipe"), "{mode}");
        }
        let peers = waiter.stay_ready.iter().map(|stays| stays.file.as_ref()?.peer.clone());
        // The process has both ends, but for the one that is gone.
        let has_own_end = |peer: String| peer.starts_with(&format!("{pid} ("));
        let own_ends: Vec<bool> = peers.map(|peer| peer.is_some_and(has_own_end)).collect();
        assert_eq!(own_ends, expected.iter().map(|events| !events.ended).collect::<Vec<_>>());
        assert!(waiter.for_nothing > waiter.waits / 2, "{mode}: {waiter:#?}");
        assert!(waiter.cpus.is_none_or(|cpus| cpus > 0.0), "{mode}");
    }
}

#[test]
fn descriptors_that_stay_ready_and_are_read_and_edge_triggered_ones_are_no_finding() {
    for mode in ["saturated", "edge", "busy"] {
        let Some((_, waiter)) = watched_for_looks(mode) else { return };
        assert!(waiter.waits > 0 && waiter.events > 0, "{mode}: {waiter:#?}");
        assert_eq!((waiter.stay_ready.as_slice(), waiter.for_nothing), (&[][..], 0), "{mode}");
    }
}

/// One thread is there from the start, one begins at a signal, and others come and go all the
/// time.
#[test]
fn threads_each_with_a_set_of_their_own() {
    let server = Server::start("threads");
    let Some(seen) = watch(server.pid(), PATIENCE, &server.report_then_end(8)) else { return };
    let seen = seen.unwrap();
    assert_eq!(seen.waiters.len(), 3, "{seen:#?}");
    assert!(seen.threads >= 3, "{seen:?}");
    for expected in [0.1, 0.2, 1.0 / 3.0] {
        let right = |ratio: f64| (ratio - expected).abs() < 1e-9;
        let has_ratio =
            seen.waiters.iter().any(|waiter| waiter.ratio.is_some_and(|ratio| right(ratio.value)));
        assert!(has_ratio, "no {expected} in {seen:#?}");
    }
    let events: Vec<u64> = seen.waiters.iter().map(|waiter| waiter.events).collect();
    assert!(events.is_sorted_by(|left, right| left >= right), "{events:?}");
}

#[test]
fn a_set_that_several_threads_wait_on_is_one() {
    let Some(seen) = seen_of("shared", 9) else { return };
    let waiter = only(&seen);
    assert_eq!((waiter.threads.len(), waiter.watched), (3, Some(exactly(6))));
    assert!(waiter.waits > 10, "{waiter:?}");
    assert_eq!((waiter.empty, waiter.events), (waiter.waits, 0));
    assert_eq!((waiter.ratio, waiter.events_per_wait), (None, None));
}

#[test]
fn a_set_that_grows() {
    let server = Server::start("grows");
    let Some(seen) = watch(server.pid(), PATIENCE, &server.report_then_end(3)) else { return };
    let seen = seen.unwrap();
    let waiter = only(&seen);
    let Some(Watched { min, max: 105, exact: true, .. }) = waiter.watched else {
        panic!("{waiter:?}")
    };
    assert_eq!(min, 5, "{waiter:?}");
    // Every wait with an event had room for no more.
    assert_eq!(waiter.full, waiter.waits - waiter.empty - waiter.failed);
    let ratio = waiter.ratio.unwrap();
    assert!(ratio.low <= ratio.value && ratio.value <= ratio.high, "{ratio:?}");
    assert!((1.0 / 105.0..=1.0 / 5.0).contains(&ratio.value), "{ratio:?}");
}

#[test]
fn waits_that_never_return_are_found_all_the_same() {
    let server = Server::start("idle");
    let Some(seen) = watch(server.pid(), Duration::from_millis(300), &|| false) else { return };
    let seen = seen.unwrap();
    let mut waits: Vec<(Option<Watched>, bool)> = seen
        .waiters
        .iter()
        .map(|waiter| {
            assert_eq!((waiter.waits, waiter.ratio), (0, None));
            (waiter.watched, waiter.epoll.is_some())
        })
        .collect();
    waits.sort_by_key(|(_, epoll)| *epoll);
    assert_eq!(waits, [(Some(exactly(7)), false), (Some(exactly(12)), true)]);
}

#[test]
fn more_threads_than_are_watched() {
    let mut limit = getrlimit(Resource::Nofile);
    // The other tests run at the same time, and need some as well.
    if limit.maximum.is_some_and(|max| max < 4096) {
        eprintln!("SKIPPED: it takes 4096 descriptors to watch so many threads");
        return;
    }
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let server = Server::start("many");
    let Some(seen) = watch(server.pid(), Duration::from_millis(300), &|| false) else { return };
    let seen = seen.unwrap();
    let [Remark::ThreadsLeftOut { watched, total, out_of_descriptors: false }] = *seen.remarks
    else {
        panic!("{:?}", seen.remarks)
    };
    assert!(watched == THREADS_MAX && total > THREADS_MAX, "{watched} of {total}");
    assert_eq!(seen.threads, THREADS_MAX);
    let waiter = only(&seen);
    assert_eq!(waiter.watched, Some(exactly(4)));
    // All but those of the process that only wait for the others.
    assert!(waiter.threads.len() + 3 > THREADS_MAX, "{}", waiter.threads.len());
}

#[test]
fn a_server_that_ends_meanwhile() {
    let server = Server::start("short");
    // It makes two hundred rounds once it is looked at, and ends.
    let never = server.report_then_end(1_000);
    let Some(seen) = watch(server.pid(), PATIENCE, &never) else { return };
    let seen = seen.unwrap();
    assert!(matches!(seen.remarks.as_slice(), [Remark::Ended(_)]), "{seen:?}");
    let waiter = only(&seen);
    assert_is(waiter.events_per_wait, 1.0);
    // The set may be gone before its size is read.
    if let Some(watched) = waiter.watched {
        assert_eq!(watched, exactly(9));
        assert_is(waiter.ratio, 1.0 / 9.0);
    }
}
