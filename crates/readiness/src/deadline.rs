//! Waiting to the end: what a signal interrupts goes on with the time that is left.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

/// Calls `take` with the time left until it takes something (returns more than zero), fails or the
/// time is up (then the answer is zero). Interruptions by signals and empty hands before the time
/// are tried again.
///
/// Reads no clock when `timeout` is `None` or zero, as no program would.
#[inline]
pub(crate) fn wait(
    timeout: Option<Duration>,
    mut take: impl FnMut(Option<Duration>) -> io::Result<usize>,
) -> io::Result<usize> {
    let finite = timeout.filter(|timeout| !timeout.is_zero());
    // A deadline beyond the clock's range is none.
    let deadline = finite.and_then(|timeout| Instant::now().checked_add(timeout));
    let mut left = timeout;
    loop {
        match take(left) {
            Ok(0) if left == Some(Duration::ZERO) => return Ok(0),
            Ok(0) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            done => return done,
        }
        if let Some(deadline) = deadline {
            // Zero is tried once more: it tells a last-moment event from none.
            left = Some(deadline.saturating_duration_since(Instant::now()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers from a script, and keeps the time-outs that it was called with.
    fn play(
        timeout: Option<Duration>,
        script: Vec<io::Result<usize>>,
    ) -> (io::Result<usize>, Vec<Option<Duration>>) {
        let mut script = script.into_iter();
        let mut asked = Vec::new();
        let answer = wait(timeout, |left| {
            asked.push(left);
            script.next().expect("called once too often")
        });
        assert!(script.next().is_none(), "the script was not played to its end");
        (answer, asked)
    }

    fn interrupted() -> io::Result<usize> {
        Err(ErrorKind::Interrupted.into())
    }

    #[test]
    fn no_time_asks_once_and_asks_again_only_after_a_signal() {
        let zero = Some(Duration::ZERO);
        let (answer, asked) = play(zero, vec![interrupted(), interrupted(), Ok(0)]);
        assert_eq!((answer.unwrap(), asked), (0, vec![zero; 3]));
    }

    #[test]
    fn for_ever_asks_until_there_is_something() {
        let (answer, asked) = play(None, vec![Ok(0), interrupted(), Ok(3)]);
        assert_eq!((answer.unwrap(), asked), (3, vec![None; 3]));
    }

    #[test]
    fn a_signal_leaves_only_the_time_that_is_left() {
        let hour = Duration::from_secs(3_600);
        let (answer, asked) = play(Some(hour), vec![interrupted(), Ok(0), Ok(1)]);
        assert_eq!(answer.unwrap(), 1);
        assert_eq!(asked[0], Some(hour));
        assert!(asked[1] <= asked[0] && asked[2] <= asked[1] && asked[2].is_some(), "{asked:?}");
    }

    #[test]
    fn the_time_ends() {
        let mut calls = 0;
        let answer = wait(Some(Duration::from_micros(50)), |_| {
            calls += 1;
            Ok(0)
        });
        assert_eq!(answer.unwrap(), 0);
        assert!(calls >= 2, "the last call has no time left");
    }

    #[test]
    fn other_errors_end_it() {
        let (answer, _) = play(None, vec![Err(ErrorKind::NotFound.into())]);
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::NotFound);
        // A deadline that no clock reaches waits for ever.
        let (answer, asked) = play(Some(Duration::MAX), vec![Ok(0), Ok(2)]);
        assert_eq!((answer.unwrap(), asked), (2, vec![Some(Duration::MAX); 2]));
    }
}
