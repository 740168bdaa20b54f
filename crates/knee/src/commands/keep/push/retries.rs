//! A push is tried again while the archive's server has no time, restarts, or can't be reached.

use super::PUSH_MAX;
use crate::exit::note;
use crate::remedies::explained;
use archive::{Archive, Error, Merged, ServerFault};
use model::{Run, RunState};
use std::thread;
use std::time::{Duration, Instant};

/// Until a server that has not answered once is given up: the URL may be wrong.
const UNANSWERED_MAX: Duration = Duration::from_secs(60);
/// Before the second attempt; twice as long before each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Pushes runs one by one, over one connection as long as that lasts.
pub struct Pusher<O> {
    open: O,
    archive: Option<Box<dyn Archive>>,
    has_answered: bool,
    /// Why the archive was given up. It is not tried again for the next run.
    given_up: Option<String>,
    first_pause: Duration,
}

impl<O: FnMut() -> Result<Box<dyn Archive>, Error>> Pusher<O> {
    pub fn new(open: O) -> Pusher<O> {
        Pusher {
            open,
            archive: None,
            has_answered: false,
            given_up: None,
            first_pause: FIRST_PAUSE,
        }
    }

    pub fn push(&mut self, run: &Run) -> Result<Merged, String> {
        // A load can't go on.
        if run.summary.state != RunState::Complete && !run.is_load() {
            return Err("it is not complete".to_owned());
        }
        if let Some(reason) = &self.given_up {
            return Err(reason.clone());
        }
        let begun = Instant::now();
        let (mut pause, mut noted) = (self.first_pause, None);
        loop {
            let error = match self.attempt(run) {
                Ok(pushed) => return Ok(pushed),
                Err(error) => error,
            };
            let limit = if self.has_answered { PUSH_MAX } else { UNANSWERED_MAX };
            // Many machines that are refused at once are not to come back at once.
            let jittered = pause.mul_f64(0.5 + fastrand::f64());
            if !is_passing(&error) || begun.elapsed() + jittered > limit {
                let reason = explained(&error);
                if self.archive.is_none() {
                    self.given_up = Some(reason.clone());
                }
                return Err(reason);
            }
            // A server that answers at last is given more time.
            if noted != Some(limit) {
                noted = Some(limit);
                let minutes = limit.as_secs() / 60;
                let minutes = printable::quantity(minutes, "minute");
                note(&format!("{}: trying again for {minutes}, Ctrl-C ends it", explained(&error)));
            }
            thread::sleep(jittered);
            pause = (2 * pause).min(PAUSE_MAX);
        }
    }

    fn attempt(&mut self, run: &Run) -> Result<Merged, Error> {
        let archive = match &mut self.archive {
            Some(archive) => archive,
            none => {
                let opened = (self.open)();
                self.has_answered |= !matches!(
                    opened,
                    Err(Error::Server { fault: ServerFault::Unreachable { .. }, .. })
                );
                none.insert(opened?)
            }
        };
        let pushed = archive::merge(&mut **archive, run);
        if pushed.as_ref().is_err_and(is_passing) {
            // The connection may be of no use any more.
            self.archive = None;
        }
        pushed
    }
}

fn is_passing(error: &Error) -> bool {
    use ServerFault as F;
    match error {
        Error::Server { fault, .. } => matches!(
            fault,
            F::Busy { .. } | F::Lost { .. } | F::Unreachable { .. } | F::Silent { .. }
        ),
        Error::Busy { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::archive::SqliteArchive;

    fn server(fault: ServerFault) -> Error {
        Error::Server { path: "postgres://host/perf".into(), fault }
    }

    /// A pusher that does not wait between attempts.
    fn hasty<O: FnMut() -> Result<Box<dyn Archive>, Error>>(open: O) -> Pusher<O> {
        Pusher { first_pause: Duration::from_nanos(1), ..Pusher::new(open) }
    }

    #[test]
    fn an_archive_that_has_no_time_is_tried_again_until_it_has() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("archive.db");
        let run = fixtures::run(fixtures::workload("null")).complete();
        let cause = || "x".to_owned();
        let mut faults = vec![
            ServerFault::Lost(cause()),
            ServerFault::Busy(cause()),
            ServerFault::Unreachable(cause()),
        ];
        let mut pusher = hasty(move || match faults.pop() {
            Some(fault) => Err(server(fault)),
            None => SqliteArchive::open(&file).map(|archive| Box::new(archive) as Box<dyn Archive>),
        });
        let first = pusher.push(&run);
        assert!(matches!(first, Ok(Merged::Copied(1))), "{first:?}");
    }

    #[test]
    fn what_does_not_pass_is_not_tried_again_nor_for_the_next_run() {
        let run = fixtures::run(fixtures::workload("null")).complete();
        for fault in [
            ServerFault::LoginRefused("no such role".to_owned()),
            ServerFault::BadUrl("x".to_owned()),
            ServerFault::DiskFull,
        ] {
            let mut attempts = 0;
            let mut pusher = hasty(|| {
                attempts += 1;
                Err(server(fault.clone()))
            });
            for _ in 0..2 {
                let reason = pusher.push(&run).err();
                assert_eq!(reason, Some(explained(&server(fault.clone()))));
            }
            assert_eq!(attempts, 1, "{fault}");
        }
    }
}
