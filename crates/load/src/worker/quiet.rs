//! How long no reply came although requests were in flight.

use crate::results::counts::{STALL_S_MIN, Stall};

/// A thread that did not look for so long can't tell a quiet server from its own pause: several times the longest wait.
const OWN_PAUSE_NS: i64 = 200_000_000;

/// The times without a reply.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    /// The last moment that is known not to be part of one.
    last_ns: i64,
    looked_ns: i64,
    /// When the first of the requests was sent that were given up since.
    pub(super) gave_up_ns: Option<i64>,
    /// All that may be stalls, by their beginnings and ends; absent until a reply was waited for.
    pauses: Option<Vec<(i64, i64)>>,
}

impl Quiet {
    /// Now events are looked for.
    pub(super) fn look(&mut self, now_ns: i64) {
        if now_ns - self.looked_ns > OWN_PAUSE_NS {
            // Until the pause none came to what was given up.
            if let Some(sent_ns) = self.gave_up_ns {
                self.note(sent_ns, self.looked_ns);
            }
            self.last_ns = now_ns;
        }
        self.looked_ns = now_ns;
    }

    /// A request that was sent then was given up: whether a reply comes at all is still waited for.
    pub(super) fn give_up(&mut self, sent_ns: i64) {
        self.gave_up_ns = Some(self.gave_up_ns.map_or(sent_ns, |first| first.min(sent_ns)));
    }

    /// A reply has come to a request that was sent then; or the load has ended, and none has.
    pub(super) fn end(&mut self, sent_ns: i64, now_ns: i64) {
        let sent_ns = self.gave_up_ns.take().map_or(sent_ns, |first| first.min(sent_ns));
        self.note(sent_ns, now_ns);
        self.last_ns = now_ns;
    }

    /// None came until then to a request that was sent at `sent_ns`.
    fn note(&mut self, sent_ns: i64, until_ns: i64) {
        let from_ns = self.last_ns.max(sent_ns);
        let pauses = self.pauses.get_or_insert_default();
        if (until_ns - from_ns) as f64 / 1e9 >= STALL_S_MIN {
            pauses.push((from_ns, until_ns));
        }
    }

    /// All that are long, from `zero_ns` on; none where no reply was waited for.
    pub(super) fn stalls(&self, zero_ns: i64) -> Option<Vec<Stall>> {
        let all = self.pauses.as_ref()?.iter().map(|pause| stall(*pause, zero_ns));
        Some(all.filter(Stall::is_long).collect())
    }
}

fn stall((from_ns, until_ns): (i64, i64), zero_ns: i64) -> Stall {
    let from_ns = from_ns.max(zero_ns);
    let seconds = |ns: i64| ns.max(0) as f64 / 1e9;
    Stall { from_s: seconds(from_ns - zero_ns), length_s: seconds(until_ns - from_ns) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn stalls(quiet: &Quiet, zero_ns: i64) -> Vec<(f64, f64)> {
        let all = quiet.stalls(zero_ns).unwrap();
        all.iter().map(|stall| (stall.from_s, stall.length_s)).collect()
    }

    #[test]
    fn a_pause_of_its_own_ends_a_stall_and_hides_none() {
        let mut quiet = Quiet::default();
        for ms in (0..=1_000).step_by(100) {
            quiet.look(ms * MS);
        }
        quiet.give_up(200 * MS);
        quiet.look(1_500 * MS);
        quiet.end(1_400 * MS, 1_600 * MS);
        assert_eq!(stalls(&quiet, 0), [(0.2, 0.8)]);
    }

    #[test]
    fn a_time_without_a_request_or_without_a_look_is_no_stall() {
        let mut quiet = Quiet::default();
        assert_eq!(quiet.stalls(0), None);
        for ms in 0..=500 {
            quiet.look(ms * MS);
        }
        quiet.end(490 * MS, 500 * MS);
        assert_eq!(stalls(&quiet, 0), []);
        for ms in (500..=2_500).step_by(50) {
            quiet.look(ms * MS);
        }
        quiet.end(1_000 * MS, 2_500 * MS);
        assert_eq!(stalls(&quiet, 0), [(1.0, 1.5)]);
        // Time-outs in between do not end it.
        for ms in (2_500..=6_500).step_by(50) {
            quiet.look(ms * MS);
        }
        quiet.give_up(2_500 * MS);
        quiet.give_up(4_500 * MS);
        quiet.end(6_400 * MS, 6_500 * MS);
        // The generator itself had no turn.
        quiet.look(19_000 * MS);
        quiet.end(6_600 * MS, 19_001 * MS);
        assert_eq!(stalls(&quiet, 0), [(1.0, 1.5), (2.5, 4.0)]);
        assert_eq!(stalls(&quiet, 2_400 * MS), [(0.1, 4.0)]);
    }
}
