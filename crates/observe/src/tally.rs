//! The waits as they are counted, one account for each thing that is waited on, and what they come
//! to in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::calls::{Call, Entered, Key, Service};
use crate::estimate::{self, Block};
use crate::observation::{StaysReady, Triggers, Waiter, Watched};
use crate::ready::Candidates;
use crate::tap::Wait;

/// The time is cut into so many slices, each a block of the bootstrap.
pub const SLICES: u64 = 64;

/// Accounts of everything that is waited on.
#[derive(Debug, Default)]
pub struct Tally {
    began_ns: u64,
    slice_ns: u64,
    accounts: BTreeMap<Key, Account>,
    /// The calls that serve descriptors are looked at, too.
    pub sees_services: bool,
}

/// One thing that is waited on.
#[derive(Debug, Default)]
pub struct Account {
    waits_by: [u64; 7],
    threads: BTreeSet<u32>,
    slices: BTreeMap<u64, Sums>,
    /// How often how many descriptors were watched, as the arguments say.
    bounds: BTreeMap<u32, u64>,
    /// A wait that was not seen to return, but was found.
    unreturned: Option<Entered>,
    /// When how many descriptors were watched, as the system says.
    pub sizes: Vec<Size>,
    /// How an epoll set's descriptors were watched at the last reading.
    pub triggers: Option<Triggers>,
    /// The last wait that returned.
    pub last: Option<Entered>,
    /// How many waits returned how many events.
    answers: BTreeMap<u64, u64>,
    /// Its descriptors that were always ready.
    pub candidates: Candidates,
    /// Not before this is the size read again.
    pub due_ns: u64,
}

/// A size that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub time_ns: u64,
    pub count: u64,
    /// What the arguments were at that time.
    pub bound: u64,
}

/// Sums of a slice of time.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    waits: u64,
    empty: u64,
    failed: u64,
    /// Empty waits that were seen from their beginning, and how long they took.
    timed: u64,
    timed_ns: u64,
    full: u64,
    productive: u64,
    events: u64,
    /// The sum of the arguments' bounds over productive waits.
    bounds: u64,
    min: u64,
    max: u64,
}

impl Tally {
    /// Nothing yet; the slices are those of `time_ns` from `began_ns` on.
    pub fn new(began_ns: u64, time_ns: u64) -> Self {
        Tally { began_ns, slice_ns: (time_ns / SLICES).max(1), ..Tally::default() }
    }

    pub fn accounts(&mut self) -> impl Iterator<Item = (Key, &mut Account)> {
        self.accounts.iter_mut().map(|(key, account)| (*key, account))
    }

    pub fn account(&mut self, key: Key) -> &mut Account {
        self.accounts.entry(key).or_default()
    }

    /// Whether any wait has been seen, or found.
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    /// Whether there is a poll or select of which only the arguments are known.
    pub fn has_unread(&self) -> bool {
        let unread = |(key, account): (&Key, &Account)| {
            matches!(key, Key::Thread(..)) && account.sizes.is_empty()
        };
        self.accounts.iter().any(unread)
    }

    /// A thread was found in a wait.
    pub fn waiting(&mut self, tid: u32, entered: Entered) {
        if entered.is_pause() {
            return;
        }
        let account = self.account(entered.key(tid));
        account.unreturned = Some(entered);
        account.threads.insert(tid);
    }

    /// A wait has returned.
    pub fn count(&mut self, tid: u32, wait: Wait) {
        let slice = wait.time_ns.saturating_sub(self.began_ns) / self.slice_ns;
        let entered = wait.entered;
        if entered.is_pause() {
            return;
        }
        let events = u64::try_from(wait.answer).unwrap_or(0);
        let sees_services = self.sees_services;
        if let (true, Key::Epoll(set), 1..) = (sees_services, entered.key(tid), events) {
            self.accounts.values_mut().for_each(|account| account.candidates.serve_set(set));
        }
        let account = self.account(entered.key(tid));
        account.threads.insert(tid);
        account.last = Some(entered);
        if events > 0 {
            *account.answers.entry(events).or_default() += 1;
        }
        if sees_services && events > 0 {
            account.candidates.report(events, entered.capacity() == Some(events));
        }
        account.waits_by[entered.call.index()] += 1;
        if let Some(bound) = entered.bound() {
            *account.bounds.entry(bound).or_default() += 1;
        }
        account.slices.entry(slice).or_default().add(wait);
    }

    /// A call has returned that serves descriptors, or tries to.
    pub fn serve(&mut self, service: &Service, answer: i64) {
        for account in self.accounts.values_mut() {
            account.candidates.serve(service, answer);
        }
    }

    /// What it all comes to, those with the most events first. `looked_s` is for how long.
    pub fn waiters(&self, looked_s: f64) -> Vec<Waiter> {
        let middle = |slice: u64| self.began_ns + slice * self.slice_ns + self.slice_ns / 2;
        let mut waiters: Vec<Waiter> = self
            .accounts
            .iter()
            .map(|(key, account)| account.waiter(*key, looked_s, &middle))
            .collect();
        waiters.sort_by_key(|waiter| std::cmp::Reverse((waiter.events, waiter.waits)));
        waiters
    }
}

impl Sums {
    fn add(&mut self, wait: Wait) {
        self.waits += 1;
        self.failed += u64::from(wait.answer < 0);
        self.empty += u64::from(wait.answer == 0);
        if let (0, Some(took_ns)) = (wait.answer, wait.took_ns) {
            self.timed += 1;
            self.timed_ns += took_ns;
        }
        let events = u64::try_from(wait.answer).unwrap_or(0);
        if events == 0 {
            return;
        }
        self.full += u64::from(wait.entered.capacity() == Some(events));
        self.min = if self.productive == 0 { events } else { self.min.min(events) };
        self.max = self.max.max(events);
        self.productive += 1;
        self.events += events;
        self.bounds += u64::from(wait.entered.bound().unwrap_or(0));
    }
}

impl Account {
    /// A thread that waits on it, by whose table its descriptor is to be read.
    pub fn thread(&self) -> Option<u32> {
        self.threads.last().copied()
    }

    fn waiter(&self, key: Key, looked_s: f64, middle: &dyn Fn(u64) -> u64) -> Waiter {
        let sum = |figure: fn(&Sums) -> u64| self.slices.values().map(figure).sum::<u64>();
        let waits = sum(|sums| sums.waits);
        let productive = self.slices.iter().filter(|(_, sums)| sums.productive > 0);
        let blocks = |below: &dyn Fn(u64, &Sums) -> Option<f64>| -> Vec<Block> {
            let block = |(slice, sums): (&u64, &Sums)| {
                let below = below(*slice, sums)?;
                let each = below / sums.productive as f64;
                let (min, max) = (sums.min as f64 / each, sums.max as f64 / each);
                Some(Block { above: sums.events as f64, below, min, max })
            };
            productive.clone().filter_map(block).collect()
        };
        let watched_by = |slice, sums: &Sums| {
            self.watched_in(key, middle(slice), sums).filter(|&watched| watched > 0.0)
        };
        let timed = sum(|sums| sums.timed);
        let mean_ns = sum(|sums| sums.timed_ns).checked_div(timed);
        let stay_ready = self.candidates.stay_ready();
        Waiter {
            call: self.call(key),
            epoll: if let Key::Epoll(epoll) = key { Some(epoll) } else { None },
            threads: self.threads.iter().copied().collect(),
            watched: self.watched(key),
            triggers: self.triggers,
            waits,
            empty: sum(|sums| sums.empty),
            empty_after: mean_ns.map(Duration::from_nanos),
            failed: sum(|sums| sums.failed),
            full: sum(|sums| sums.full),
            events: sum(|sums| sums.events),
            events_most: self.slices.values().map(|sums| sums.max).max().unwrap_or(0),
            events_per_wait: estimate::ratio(&blocks(&|_, sums| Some(sums.productive as f64))),
            ratio: estimate::ratio(&blocks(&watched_by)),
            waits_per_s: if looked_s > 0.0 { waits as f64 / looked_s } else { 0.0 },
            for_nothing: self.for_nothing(&stay_ready),
            stay_ready,
            cpus: None,
        }
    }

    /// Waits that returned no more events than there are descriptors that stay ready.
    fn for_nothing(&self, stay_ready: &[StaysReady]) -> u64 {
        self.answers.range(..=stay_ready.len() as u64).map(|(_, waits)| waits).sum()
    }

    /// The call that it is waited on with, most often.
    fn call(&self, key: Key) -> Call {
        if let Key::Thread(_, call) = key {
            return call;
        }
        let all = [Call::EpollWait, Call::EpollPwait, Call::EpollPwait2];
        let max = all.into_iter().rev().max_by_key(|call| self.waits_by[call.index()]);
        let unreturned = self.unreturned.map(|entered| entered.call);
        let counted = max.filter(|call| self.waits_by[call.index()] > 0);
        counted.or(unreturned).unwrap_or(Call::EpollWait)
    }

    /// How many descriptors the productive waits of a slice watched in sum.
    fn watched_in(&self, key: Key, time_ns: u64, sums: &Sums) -> Option<f64> {
        let waits = sums.productive as f64;
        match key {
            // The arguments say how long the array was each time; some entries may not count.
            Key::Thread(_, Call::Poll | Call::Ppoll) => {
                Some(sums.bounds as f64 - self.beyond() as f64 * waits)
            }
            // select's arguments only say what the highest descriptor was.
            Key::Thread(..) if self.sizes.is_empty() => Some(sums.bounds as f64),
            Key::Epoll(_) | Key::Thread(..) => Some(self.size_at(time_ns)? * waits),
        }
    }

    /// The size at a time, on the line between the two readings around it.
    fn size_at(&self, time_ns: u64) -> Option<f64> {
        let after = self.sizes.iter().find(|size| size.time_ns >= time_ns);
        let before = self.sizes.iter().rfind(|size| size.time_ns < time_ns);
        match (before, after) {
            (Some(before), Some(after)) => {
                let share =
                    (time_ns - before.time_ns) as f64 / (after.time_ns - before.time_ns) as f64;
                Some(before.count as f64 + share * (after.count as f64 - before.count as f64))
            }
            (before, after) => before.or(after).map(|size| size.count as f64),
        }
    }

    /// How many of poll's entries are marked as not to be watched; the median of what was read.
    fn beyond(&self) -> u64 {
        let mut beyond: Vec<u64> =
            self.sizes.iter().map(|size| size.bound.saturating_sub(size.count)).collect();
        beyond.sort_unstable();
        beyond.get(beyond.len() / 2).copied().unwrap_or(0)
    }

    fn watched(&self, key: Key) -> Option<Watched> {
        let poll = matches!(key, Key::Thread(_, Call::Poll | Call::Ppoll));
        if !poll && !self.sizes.is_empty() {
            let counts = self.sizes.iter().fold(BTreeMap::new(), |mut counts, size| {
                *counts.entry(size.count).or_default() += 1;
                counts
            });
            return spread(&counts, true);
        }
        let beyond = self.beyond();
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for (bound, waits) in &self.bounds {
            *counts.entry(u64::from(*bound).saturating_sub(beyond)).or_default() += waits;
        }
        if let (true, Some(bound)) =
            (counts.is_empty(), self.unreturned.and_then(|entered| entered.bound()))
        {
            counts.insert(u64::from(bound).saturating_sub(beyond), 1);
        }
        spread(&counts, poll && !self.sizes.is_empty())
    }
}

/// Least, median and most of counted values.
fn spread(counts: &BTreeMap<u64, u64>, exact: bool) -> Option<Watched> {
    let half = counts.values().sum::<u64>().div_ceil(2);
    let mut below = 0;
    let median = counts.iter().find(|&(_, count)| {
        below += count;
        below >= half
    });
    Some(Watched {
        min: *counts.first_key_value()?.0,
        median: *median?.0,
        max: *counts.last_key_value()?.0,
        exact,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(call: Call, args: [u64; 6], time_ns: u64, answer: i64) -> Wait {
        Wait { time_ns, took_ns: Some(70), entered: Entered { call, args }, answer }
    }

    #[test]
    fn waits_add_up_by_what_they_wait_on() {
        let mut tally = Tally::new(1000, 6400);
        for step in 0..64 {
            let time_ns = 1000 + 100 * step;
            tally.count(7, wait(Call::EpollWait, [5, 0, 16, 0, 0, 0], time_ns, 3));
            tally.count(8, wait(Call::EpollWait, [5, 0, 3, 0, 0, 0], time_ns, 3));
            tally.count(8, wait(Call::EpollPwait, [5, 0, 16, 0, 0, 0], time_ns, 0));
            tally.count(7, wait(Call::Poll, [0, 40, 0, 0, 0, 0], time_ns, -4));
        }
        tally.account(Key::Epoll(5)).sizes = vec![Size { time_ns: 1000, count: 60, bound: 0 }];
        let waiters = tally.waiters(2.0);
        let [epoll, poll] = waiters.as_slice() else { panic!("{waiters:?}") };
        assert_eq!(
            (epoll.call, epoll.epoll, epoll.threads.as_slice()),
            (Call::EpollWait, Some(5), &[7, 8][..])
        );
        assert_eq!((epoll.waits, epoll.empty, epoll.failed, epoll.full), (192, 64, 0, 64));
        assert_eq!((epoll.empty_after, epoll.for_nothing), (Some(Duration::from_nanos(70)), 0));
        assert_eq!((epoll.events, epoll.events_most), (384, 3));
        assert_eq!(epoll.ratio.unwrap().value.to_bits(), 0.05_f64.to_bits());
        assert!((epoll.waits_per_s - 96.0).abs() < 1e-9);
        assert_eq!((poll.waits, poll.failed, poll.events), (64, 64, 0));
        assert_eq!((poll.ratio, poll.events_per_wait), (None, None));
        assert_eq!(poll.watched, Some(Watched { min: 40, median: 40, max: 40, exact: false }));
    }

    #[test]
    fn a_set_that_grows_is_followed_between_its_readings() {
        let size = |time_ns, count| Size { time_ns, count, bound: 0 };
        let account = Account { sizes: vec![size(100, 10), size(200, 30)], ..Account::default() };
        for (time_ns, expected) in [(0, 10.0), (100, 10.0), (150, 20.0), (200, 30.0), (999, 30.0)] {
            assert_eq!(account.size_at(time_ns), Some(expected), "{time_ns}");
        }
        assert_eq!(Account::default().size_at(5), None);
    }

    #[test]
    fn entries_that_poll_passes_over_are_not_watched() {
        let mut tally = Tally::new(0, 64);
        for time_ns in 0..64 {
            tally.count(1, wait(Call::Poll, [0, 100, 0, 0, 0, 0], time_ns, 2));
        }
        tally.account(Key::Thread(1, Call::Poll)).sizes =
            vec![Size { time_ns: 1, count: 80, bound: 100 }];
        let waiter = tally.waiters(1.0).remove(0);
        assert_eq!(waiter.watched, Some(Watched { min: 80, median: 80, max: 80, exact: true }));
        assert!((waiter.ratio.unwrap().value - 0.025).abs() < 1e-12);
    }

    #[test]
    fn a_median_is_that_of_waits() {
        let counts = BTreeMap::from([(5, 1), (6, 10), (900, 2)]);
        let expected = Watched { min: 5, median: 6, max: 900, exact: true };
        assert_eq!(spread(&counts, true), Some(expected));
        assert_eq!(spread(&BTreeMap::new(), true), None);
    }
}
