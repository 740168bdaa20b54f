//! Whatever bytes come, in whatever pieces: no crash, every reply whole and right, and the same replies as
//! if all had come at once.
#![no_main]

#[path = "../../tests/hostile/replies.rs"]
mod replies;

use http::fuzzing::Exchange;
use libfuzzer_sys::fuzz_target;
use replies::{Site, check, without_boundaries};
use std::cell::RefCell;

/// Bytes at the beginning that say where the others are cut.
const CUTS: usize = 3;

thread_local! {
    static STAGE: RefCell<(Site, Exchange)> = RefCell::new({
        let site = Site::new();
        let exchange = Exchange::new(&site.root()).expect("a directory that was just made");
        (site, exchange)
    });
}

fuzz_target!(|data: &[u8]| {
    if data.len() < CUTS {
        return;
    }
    let (cuts, bytes) = data.split_at(CUTS);
    // What is no request is refused at the end of a line at the latest, so there has to be one.
    let bytes = [bytes, b"\n"].concat();
    STAGE.with_borrow_mut(|(site, exchange)| exercise(site, exchange, cuts, &bytes));
});

fn exercise(site: &Site, exchange: &mut Exchange, cuts: &[u8], bytes: &[u8]) {
    let mut ends: Vec<usize> = cuts.iter().map(|&cut| bytes.len() * cut as usize / 256).collect();
    ends.extend([0, bytes.len()]);
    ends.sort_unstable();
    ends.dedup();
    let pieces = exchange.play(ends.windows(2).map(|ends| &bytes[ends[0]..ends[1]]));
    let heads = bytes.windows(5).any(|five| five == b"HEAD ");
    match check(&pieces.output, site, heads) {
        Ok(count) => assert_eq!(count as u64, pieces.replies, "replies that were not counted"),
        Err(why) => panic!("{why}"),
    }
    let whole = exchange.play([bytes]);
    let same = without_boundaries(&whole.output) == without_boundaries(&pieces.output);
    assert!(same, "at once it says something else");
    assert_eq!(whole.closed, pieces.closed, "at once it closes, or does not");
}
