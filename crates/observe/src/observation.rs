//! What was seen of a process, and remarks on it.

use crate::calls::Call;
use crate::estimate::Estimate;
use crate::file::File;
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::fmt;
use std::time::Duration;

/// So many threads of a process are watched.
pub const THREADS_MAX: usize = 512;

/// What was seen of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The process.
    pub pid: u32,
    /// Its name, fit to print.
    pub name: String,
    /// The most of its threads that were watched at once.
    pub threads: usize,
    /// How long it took, pauses included.
    pub took: Duration,
    /// For how long its waits were seen.
    pub looked: Duration,
    /// In how many looks.
    pub looks: u32,
    /// The share of its time that being watched cost the busiest thread, by estimate.
    pub cost: f64,
    /// What it waits on, what returned most events first.
    pub waiters: Vec<Waiter>,
    /// Samples that found no room; each is a wait that was not counted.
    pub lost: u64,
    /// Remarks besides the figures.
    pub remarks: Vec<Remark>,
}

/// One thing that is waited on: an epoll set, or what one thread hands to poll or select.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiter {
    /// The call; for an epoll set, the one that is used most on it.
    pub call: Call,
    /// The epoll set's descriptor.
    pub epoll: Option<i32>,
    /// The threads that wait on it, by number.
    pub threads: Vec<u32>,
    /// How many descriptors it watches, select once for each set that one is in; `None` if the set was gone before
    /// that could be read, or is one of more than 4,096.
    pub watched: Option<Watched>,
    /// How the descriptors of an epoll set are watched, at the last reading; `None` for poll and select,
    /// and for a set that was gone before it could be read.
    pub triggers: Option<Triggers>,
    /// Waits that returned.
    pub waits: u64,
    /// Waits that returned nothing because their time was up.
    pub empty: u64,
    /// How long after its beginning an empty wait ended, in the mean: its time-out. `None` if none was seen
    /// from its beginning.
    pub empty_after: Option<Duration>,
    /// Waits that ended with an error, which is a signal as a rule.
    pub failed: u64,
    /// Waits of epoll that returned as many events as they had room for: more may have been ready.
    pub full: u64,
    /// Events that were returned.
    pub events: u64,
    /// The most events that one wait returned.
    pub events_most: u64,
    /// Events per wait that returned any; `None` if none did.
    pub events_per_wait: Option<Estimate>,
    /// Active to total: events to watched descriptors, over the waits that returned any event.
    pub ratio: Option<Estimate>,
    /// Waits a second.
    pub waits_per_s: f64,
    /// Descriptors that were ready each time that they were asked, and are hardly ever served, so that no
    /// wait blocks. Only level-triggered ones are asked.
    pub stay_ready: Vec<StaysReady>,
    /// Waits that returned no more events than there are such descriptors: nothing was done for them.
    pub for_nothing: u64,
    /// The CPU time that its threads used, in CPUs: 1.0 is one CPU. `None` if the kernel keeps no account
    /// of it.
    pub cpus: Option<f64>,
}

/// A descriptor that stays ready and is hardly ever served.
#[derive(Clone, Debug, PartialEq)]
pub struct StaysReady {
    /// Its number.
    pub descriptor: i32,
    /// What it is ready for.
    pub events: ReadyFor,
    /// By how many waits it was reported while the calls that serve it were looked at. Where waits had room
    /// for less than what was ready, this is an estimate.
    pub reports: f64,
    /// The calls that took something from it or gave it something meanwhile.
    pub served: u64,
    /// The last answer of a call on it that did neither.
    pub answer: Option<Answer>,
    /// What it stands for; `None` if it is closed by now.
    pub file: Option<File>,
}

/// What a descriptor is ready for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadyFor {
    /// Reading, or accepting.
    pub reading: bool,
    /// Writing.
    pub writing: bool,
    /// The other end has hung up, or there is an error: it is reported whatever is asked for.
    pub ended: bool,
}

impl From<PollFlags> for ReadyFor {
    fn from(events: PollFlags) -> ReadyFor {
        let reading = PollFlags::IN | PollFlags::PRI | PollFlags::RDNORM | PollFlags::RDBAND;
        let writing = PollFlags::OUT | PollFlags::WRNORM | PollFlags::WRBAND;
        let ended = PollFlags::ERR | PollFlags::HUP | PollFlags::RDHUP;
        ReadyFor {
            reading: events.intersects(reading),
            writing: events.intersects(writing),
            ended: events.intersects(ended),
        }
    }
}

/// An answer of a call that took nothing from a descriptor and gave it nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// 0 bytes.
    EndOfFile,
    /// An error, by its number.
    Error(i32),
}

impl Answer {
    pub(crate) fn from_call(answer: i64) -> Answer {
        if answer == 0 { Answer::EndOfFile } else { Answer::Error(-answer as i32) }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::EndOfFile => f.write_str("the end of the file"),
            Answer::Error(number) => Errno::from_raw_os_error(*number).fmt(f),
        }
    }
}

/// How many descriptors of an epoll set are watched in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Triggers {
    /// Level-triggered: reported by each wait while they are ready.
    pub level: u64,
    /// Edge-triggered (`EPOLLET`): reported when something new comes.
    pub edge: u64,
    /// Reported once, then armed again (`EPOLLONESHOT`).
    pub oneshot: u64,
}

/// How many descriptors were watched: over the readings for an epoll set and for select, over the
/// waits for poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The least.
    pub min: u64,
    /// The median.
    pub median: u64,
    /// The most.
    pub max: u64,
    /// They were counted. If not, these are upper bounds from the call's arguments: select's highest
    /// descriptor plus one, or poll's entries, of which some may be marked as unused.
    pub exact: bool,
}

/// A remark on an observation, besides its figures.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Remark {
    /// The process ended after this time.
    Ended(Duration),
    /// Whoever asked wanted no more, after this time.
    Stopped(Duration),
    /// Not all threads were watched.
    ThreadsLeftOut {
        /// So many were.
        watched: usize,
        /// So many there are.
        total: usize,
        /// There were no descriptors left; else it is the limit [`THREADS_MAX`].
        out_of_descriptors: bool,
    },
    /// So many samples found no room.
    Lost(u64),
    /// Of the waits that returned any event, this share returned as many as they had room for: more
    /// descriptors may have been active. Reported for what returned most events.
    Full(f64),
    /// The process's descriptors may not be duplicated, so it is not known which of them stay ready.
    ReadyDenied,
    /// The process's memory may not be read, so poll and select are only known by their arguments.
    MemoryDenied,
    /// It also has an io_uring; what it waits for there is not seen.
    Uring,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::Ended(after) => {
                write!(
                    f,
                    "the process ended after {:.1} s; this is what was seen",
                    after.as_secs_f64()
                )
            }
            Remark::Stopped(after) => write!(f, "stopped after {:.1} s", after.as_secs_f64()),
            Remark::ThreadsLeftOut { watched, total, out_of_descriptors } => {
                write!(f, "{watched} of {total} threads were watched: ")?;
                if *out_of_descriptors {
                    f.write_str("no descriptors were left (ulimit -n)")
                } else {
                    write!(f, "no more than {THREADS_MAX} are")
                }
            }
            Remark::Lost(samples) => write!(f, "{samples} samples of waits were lost"),
            Remark::Full(share) => write!(
                f,
                "{:.0} % of the waits returned as many events as they had room for: more may have \
                 been active, so the ratio is a lower bound",
                100.0 * share
            ),
            Remark::ReadyDenied => f.write_str(
                "the process's descriptors may not be duplicated, so it is not known which of them \
                 stay ready; root may do so",
            ),
            Remark::MemoryDenied => f.write_str(
                "the process's memory may not be read, so what poll and select watch is an upper \
                 bound; root may read it",
            ),
            Remark::Uring => f.write_str(
                "it also has an io_uring, and what it waits for there can't be seen this way",
            ),
        }
    }
}

impl Triggers {
    /// All that are watched.
    pub fn total(self) -> u64 {
        self.level + self.edge + self.oneshot
    }
}

/// Fewer full waits than this are no matter: they change the ratio by less than its interval, as a
/// rule.
const FULL_SHARE: f64 = 0.05;

impl Waiter {
    /// The remark for waits whose array was too small.
    pub(crate) fn full(&self) -> Option<Remark> {
        let productive = self.waits.saturating_sub(self.empty + self.failed);
        let share = self.full as f64 / productive.max(1) as f64;
        // With room for everything that is watched, nothing more can have been active.
        let all = self.watched.is_some_and(|watched| watched.max <= self.events_most);
        (share > FULL_SHARE && !all).then_some(Remark::Full(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_waits_are_remarked_on_where_more_may_have_been_active() {
        let waiter = |full: u64, events_most: u64, watched: u64| Waiter {
            call: Call::EpollWait,
            epoll: Some(5),
            threads: vec![1],
            watched: Some(Watched { min: 1, median: watched, max: watched, exact: true }),
            triggers: None,
            waits: 250,
            empty: 100,
            failed: 50,
            full,
            events: 1_000,
            events_most,
            events_per_wait: None,
            ratio: None,
            waits_per_s: 1.0,
            empty_after: None,
            stay_ready: Vec::new(),
            for_nothing: 0,
            cpus: None,
        };
        // Of 100 waits that returned any event.
        let remark = waiter(12, 64, 1_000).full().unwrap();
        let wanted = "12 % of the waits returned as many events as they had room for: more may have \
                      been active, so the ratio is a lower bound";
        assert_eq!(remark.to_string(), wanted);
        assert_eq!(waiter(5, 64, 1_000).full(), None);
        assert_eq!(waiter(100, 64, 64).full(), None, "there was room for all that is watched");
        assert!(Waiter { watched: None, ..waiter(100, 64, 0) }.full().is_some());
        let idle = Waiter { waits: 150, ..waiter(0, 0, 10) };
        assert_eq!(idle.full(), None);
    }
}
