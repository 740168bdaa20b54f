//! Descriptors that stay ready: as long as a level-triggered one is, no wait on it blocks.
//!
//! Whether a descriptor of another process is ready is asked of a duplicate, by a poll that returns at
//! once; that takes nothing from it. What is ready each time that it is asked may be read all the same,
//! as fast as more comes. So the calls that serve descriptors are looked at too, once there is one.

use std::collections::BTreeMap;
use std::io;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::calls::Service;
use crate::observation::{Answer, StaysReady};
use crate::process::Process;

/// So many duplicates are held at a time.
const BATCH: usize = 64;
/// A descriptor was ready each time of so many, or more.
const SAMPLES_MIN: u32 = 3;
/// It was reported so often at least while the calls were looked at that serve it.
const REPORTS_MIN: f64 = 20.0;
/// What is served no more than once in so many reports is hardly ever served.
const REPORTS_PER_SERVICE: f64 = 20.0;

/// What is waited for of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest {
    pub descriptor: i32,
    pub events: PollFlags,
}

/// Those that are ready now, and for what.
pub fn ready(process: &Process, watched: &[Interest]) -> io::Result<Vec<Interest>> {
    let mut ready = Vec::new();
    for batch in watched.chunks(BATCH) {
        let mut duplicates = Vec::new();
        for &interest in batch {
            match process.duplicate(interest.descriptor) {
                Ok(duplicate) => duplicates.push((interest, duplicate)),
                // It has been closed since.
                Err(error) if error.raw_os_error() == Some(Errno::BADF.raw_os_error()) => {}
                Err(error) => return Err(error),
            }
        }
        let fds =
            duplicates.iter().map(|(interest, duplicate)| PollFd::new(duplicate, interest.events));
        let mut fds: Vec<PollFd> = fds.collect();
        poll(&mut fds, Some(&Timespec::default()))?;
        let events = fds.iter().map(PollFd::revents);
        let answers = duplicates.iter().zip(events).filter(|(_, events)| !events.is_empty());
        ready.extend(answers.map(|((Interest { descriptor, .. }, _), events)| Interest {
            descriptor: *descriptor,
            events,
        }));
    }
    Ok(ready)
}

/// The descriptors of one thing that is waited on that were ready each time that they were asked.
#[derive(Debug, Default)]
pub struct Candidates {
    /// They are not asked again before this.
    pub due_ns: u64,
    /// How many were ready the last time.
    ready: usize,
    all: BTreeMap<i32, Candidate>,
}

#[derive(Debug)]
struct Candidate {
    events: PollFlags,
    samples: u32,
    /// By how many waits it was reported while the calls that serve it were looked at.
    reports: f64,
    served: u64,
    /// What calls on it answered that did not serve it.
    answer: Option<Answer>,
}

impl Candidates {
    /// They have been asked once more.
    pub fn sample(&mut self, ready: &[Interest]) {
        let mut before = std::mem::take(&mut self.all);
        for &Interest { descriptor, events } in ready {
            let new = Candidate { events, samples: 0, reports: 0.0, served: 0, answer: None };
            let mut candidate = before.remove(&descriptor).unwrap_or(new);
            candidate.events &= events;
            candidate.samples += 1;
            if !candidate.events.is_empty() {
                self.all.insert(descriptor, candidate);
            }
        }
        self.ready = ready.len();
    }

    /// Whether any has been ready more than once.
    pub fn are_likely(&self) -> bool {
        self.all.values().any(|candidate| candidate.samples > 1)
    }

    /// A wait has returned so many events: all that are ready, unless it had room for no more.
    pub fn report(&mut self, events: u64, is_full: bool) {
        let share = if is_full { (events as f64 / self.ready.max(1) as f64).min(1.0) } else { 1.0 };
        self.all.values_mut().for_each(|candidate| candidate.reports += share);
    }

    /// A call that serves descriptors, or tries to, has returned.
    pub fn serve(&mut self, service: &Service, answer: i64) {
        for descriptor in service.descriptors() {
            let Some(candidate) = self.all.get_mut(&descriptor) else { continue };
            if service.served(answer) {
                candidate.served += 1;
            } else {
                candidate.answer = Some(Answer::from_call(answer));
            }
        }
    }

    /// A wait on a descriptor that is an epoll set itself returned events.
    pub fn serve_set(&mut self, set: i32) {
        if let Some(candidate) = self.all.get_mut(&set) {
            candidate.served += 1;
        }
    }

    /// Those that stay ready and are hardly ever served.
    pub fn stay_ready(&self) -> Vec<StaysReady> {
        let is_unserved = |candidate: &Candidate| {
            candidate.samples >= SAMPLES_MIN
                && candidate.reports >= REPORTS_MIN
                && candidate.served as f64 * REPORTS_PER_SERVICE <= candidate.reports
        };
        let all = self.all.iter().filter(|(_, candidate)| is_unserved(candidate));
        let stays_ready = |(&descriptor, candidate): (&i32, &Candidate)| StaysReady {
            descriptor,
            events: candidate.events.into(),
            reports: candidate.reports,
            served: candidate.served,
            answer: candidate.answer,
            file: None,
        };
        all.map(stays_ready).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn interest(descriptor: i32) -> Interest {
        Interest { descriptor, events: PollFlags::IN }
    }

    fn read(descriptor: u64) -> Service {
        Service::new(libc::SYS_read, [descriptor, 0, 64, 0, 0, 0]).unwrap()
    }

    /// Asked so often, with 100 waits of so many events after each.
    fn sampled(times: usize, mut between: impl FnMut(&mut Candidates)) -> Candidates {
        let mut candidates = Candidates::default();
        for _ in 0..times {
            candidates.sample(&[interest(5), interest(6)]);
            for _ in 0..100 {
                candidates.report(2, false);
                between(&mut candidates);
            }
        }
        candidates
    }

    fn numbers(candidates: &Candidates) -> Vec<i32> {
        candidates.stay_ready().iter().map(|stays| stays.descriptor).collect()
    }

    #[test]
    fn what_is_ready_and_read_is_no_finding() {
        assert_eq!(numbers(&sampled(3, |_| ())), [5, 6]);
        assert_eq!(numbers(&sampled(2, |_| ())), [], "twice is chance");
        assert_eq!(numbers(&sampled(3, |candidates| candidates.serve(&read(5), 64))), [6]);
        let mut waits = 0;
        let rarely = sampled(3, |candidates| {
            waits += 1;
            if waits % 25 == 0 {
                candidates.serve(&read(5), 64);
            }
        });
        assert_eq!(numbers(&rarely), [5, 6]);
        let ends = sampled(3, |candidates| candidates.serve(&read(6), 0));
        assert_eq!(ends.stay_ready()[1].answer, Some(Answer::EndOfFile));
    }

    #[test]
    fn what_was_not_ready_once_begins_anew() {
        let mut candidates = sampled(3, |_| ());
        candidates.sample(&[interest(6)]);
        candidates.sample(&[interest(5), interest(6)]);
        assert_eq!(numbers(&candidates), [6]);
    }

    #[test]
    fn a_wait_whose_capacity_is_less_reports_a_part() {
        let mut candidates = Candidates::default();
        let all: Vec<Interest> = (0..1_000).map(interest).collect();
        for _ in 0..3 {
            candidates.sample(&all);
        }
        (0..160).for_each(|_| candidates.report(64, true));
        assert_eq!(candidates.stay_ready(), [], "each was reported ten times");
    }

    #[test]
    fn our_own_descriptors_are_asked() {
        use std::os::fd::AsRawFd as _;
        let (full, mut writer) = std::io::pipe().unwrap();
        let (empty, _kept) = std::io::pipe().unwrap();
        writer.write_all(b"!").unwrap();
        let process = Process::own();
        let watched = [empty.as_raw_fd(), full.as_raw_fd()].map(interest);
        match ready(&process, &watched) {
            Ok(ready) => assert_eq!(ready, [interest(full.as_raw_fd())]),
            Err(error) => println!("SKIPPED: descriptors can't be duplicated here: {error}"),
        }
    }
}
