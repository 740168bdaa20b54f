//! Where ranks meet.

use crate::server::{PATIENCE, shared};
use archive::PostgresMeeting;
use archive::{Meeting, Posting};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[test]
fn ranks_see_what_the_others_of_their_fleet_post_and_which_of_them_live() {
    let Some(server) = shared() else { return };
    let (_archive, url) = server.archive();
    let join = |fleet, rank, sender| {
        PostgresMeeting::join(&url, fleet, rank, sender, Arc::default()).unwrap()
    };
    let big = i64::MAX - 5;
    let (mut first, mut second) = (join("a", 0, big), join("a", 1, 7));
    let mut elsewhere = join("b", 0, 8);
    first.post("check-in", "one").unwrap();
    first.post("check-in", "one, again").unwrap();
    second.post("check-in", "two").unwrap();
    second.post("part", "").unwrap();
    elsewhere.post("check-in", "three").unwrap();
    let posting = |rank, sender, is_present, body: &str| Posting {
        rank,
        sender,
        is_present,
        body: body.to_owned(),
    };
    let all = second.postings("check-in", true).unwrap();
    assert_eq!(all, [posting(0, big, true, "one, again"), posting(1, 7, true, "two")]);
    assert_eq!(second.postings("check-in", false).unwrap()[0], posting(0, big, true, ""));
    drop(first);
    // The server notices that it has gone, and lets go of its lock.
    let begun = Instant::now();
    while second.postings("check-in", false).unwrap()[0].is_present {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(second.postings("check-in", false).unwrap()[1].is_present);
    let clock = [second.clock_ns().unwrap(), second.clock_ns().unwrap()];
    assert!(clock[0] > 1_700_000_000_000_000_000 && clock[0] <= clock[1], "{clock:?}");
}
