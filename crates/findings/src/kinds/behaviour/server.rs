//! What a server is seen to do to its connections and replies: data, and its sentence.

use crate::format::{count, multiple, quantity, time};
use crate::thresholds::{
    CLOSING_SHARE_MIN, GROWTH_CONNECTIONS_MIN, IDLE_CLOSED_SHARE_MIN, PER_CONNECTION_MIN,
};
use model::Warning;
use schemars::JsonSchema;
use serde::Serialize;

/// A pause is no stall that is shorter, or less than so many times what a reply usually takes. Source: usual.
const STALL_S_MIN: f64 = 0.25;
const STALL_FACTOR_MIN: f64 = 20.0;
/// In less CPU time nothing is divided. Source: twenty ticks of the kernel's clock.
const WORK_S_MIN: f64 = 0.2;

/// What a server is seen to do.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "behaviour", rename_all = "kebab-case")]
pub enum ServerBehaviour {
    /// It never replies over some connections.
    ServesSome {
        /// How many connections it replied to.
        served: u64,
        /// How many made requests.
        asked: u64,
        /// Whether its processes had no descriptor left.
        has_no_descriptor: bool,
    },
    /// It replies, and grants nothing.
    Fails {
        /// Requests that failed by their status.
        failures: u64,
        /// How many had any status.
        answered: u64,
        /// All of them by class of status, 1xx to 5xx.
        statuses: [u64; 5],
    },
    /// Its replies name another target.
    Redirects {
        /// That target.
        to: String,
    },
    /// It sends what is no reply.
    Misfits {
        /// What that is.
        clause: String,
        /// What changes it.
        remedy: &'static str,
    },
    /// It ends connections within their replies.
    EndsReplies {
        /// How many replies it ended.
        short: u64,
        /// Of how many.
        replies: u64,
    },
    /// It gave no reply for a time, or again and again, although requests were under way.
    Stalls {
        /// When the longest began, in seconds from the start of what counts.
        from_s: f64,
        /// How long that took, in seconds.
        length_s: f64,
        /// How often it did.
        times: u64,
        /// How long that took in all, in seconds.
        total_s: f64,
    },
    /// Its queue of connections that wait for `accept` was full.
    OverflowsAcceptQueue {
        /// How often the queue was full.
        overflows: u64,
        /// The maximum of the times that connections took to be made, in seconds.
        connect_s: f64,
        /// Connections and requests that timed out.
        timed_out: u64,
    },
    /// It ends each connection with its first reply.
    ClosesAfterReply {
        /// Whether the reply says so.
        is_announced: bool,
        /// The replies are of HTTP/1.0.
        http_10: bool,
    },
    /// It ends each connection after a number of replies.
    ClosesAfterRequests {
        /// How many.
        requests: u64,
    },
    /// It ends connections that do nothing.
    ClosesIdle {
        /// For how long those had been idle, at the median.
        after_ms: u64,
        /// How many it ended.
        closed: u64,
        /// Of how many that were opened.
        opened: u64,
    },
    /// It holds fewer connections than were asked for.
    HoldsFewer {
        /// How many.
        opened: u64,
        /// Of how many.
        asked: u64,
    },
    /// Its replies wait for acknowledgements that the client's kernel delays.
    DelayedReply {
        /// What a reply takes, in milliseconds.
        delayed_ms: f64,
        /// What it takes with immediate acknowledgements.
        immediate_ms: f64,
    },
    /// One of its processes does most of the work.
    DividesUnevenly {
        /// How many there are.
        workers: u64,
        /// The part of their CPU time that one has.
        busiest_share: f64,
    },
    /// Processes of it ended while requests were under way.
    LosesWorkers {
        /// How many.
        ended: u64,
        /// Of how many.
        workers: u64,
    },
    /// It is slower when it has just started.
    WarmsUp {
        /// How long its rate rose, in seconds.
        seconds: f64,
        /// Replies a second at first.
        cold_per_s: f64,
        /// Replies a second then.
        warm_per_s: f64,
    },
    /// It has a thread for each connection.
    ThreadPerConnection(GrowthPerConnection),
    /// It has a process for each connection.
    ProcessPerConnection(GrowthPerConnection),
}

/// A number of threads or processes that grows with the connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GrowthPerConnection {
    /// How many there were without these connections.
    pub before: u64,
    /// How many with them.
    pub after: u64,
    /// How many connections.
    pub connections: u64,
}

impl GrowthPerConnection {
    fn is_one_each(&self) -> bool {
        let came = self.after.saturating_sub(self.before) as f64;
        self.connections >= GROWTH_CONNECTIONS_MIN
            && came >= PER_CONNECTION_MIN * self.connections as f64
    }
}

impl ServerBehaviour {
    /// How its processes divided the work of `cpu_s` seconds of CPU time.
    pub fn of_workers(workers: u64, ended: u64, cpu_s: f64, busiest_share: f64) -> Option<Self> {
        let even = 1.0 / workers.max(1) as f64;
        if ended > 0 {
            return Some(Self::LosesWorkers { ended, workers });
        }
        let is_uneven = workers > 1 && busiest_share >= f64::midpoint(1.0, even);
        let is_busy = cpu_s >= WORK_S_MIN;
        (is_uneven && is_busy).then_some(Self::DividesUnevenly { workers, busiest_share })
    }

    /// Pauses, by their beginnings and lengths in seconds, that are no matter of how long replies take, which is `usual_ns`.
    pub fn of_pauses(pauses: impl Iterator<Item = (f64, f64)>, usual_ns: f64) -> Option<Self> {
        let length_min_s = STALL_S_MIN.max(STALL_FACTOR_MIN * usual_ns / 1e9);
        let long: Vec<(f64, f64)> = pauses.filter(|(_, length)| *length >= length_min_s).collect();
        let (from_s, length_s) = *long.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let total_s = long.iter().map(|(_, length_s)| length_s).sum();
        Some(Self::Stalls { from_s, length_s, times: long.len() as u64, total_s })
    }

    /// What it does to connections that make requests: `closed` of `connections` ended after so many replies.
    pub fn of_closings(
        (closed, connections): (u64, u64),
        is_announced: bool,
        http_10: bool,
        (replies_min, replies_max): (u64, u64),
    ) -> Option<Self> {
        let is_rule = closed as f64 >= connections as f64 * CLOSING_SHARE_MIN;
        if closed == 0 || !is_rule || replies_min != replies_max {
            return None;
        }
        Some(match replies_max {
            1 => Self::ClosesAfterReply { is_announced, http_10 },
            requests => Self::ClosesAfterRequests { requests },
        })
    }

    /// What it does to connections that do nothing: of `opened` it has `closed` after being idle for
    /// `after_ms` at the median.
    pub fn of_idle(after_ms: u64, closed: u64, opened: u64) -> Option<Self> {
        let is_rule = closed > 0 && closed as f64 >= opened as f64 * IDLE_CLOSED_SHARE_MIN;
        is_rule.then_some(Self::ClosesIdle { after_ms, closed, opened })
    }

    /// What grows with its connections: a process for each, or else a thread for each.
    pub fn of_growth(processes: GrowthPerConnection, threads: GrowthPerConnection) -> Option<Self> {
        if processes.is_one_each() {
            return Some(Self::ProcessPerConnection(processes));
        }
        threads.is_one_each().then_some(Self::ThreadPerConnection(threads))
    }

    /// What is seen, without its subject: `closes idle connections after 5 s: dead connections can't be held`.
    pub fn sentence(&self) -> String {
        self.words().1
    }

    /// Sentence and remedy: `… → TCP_NODELAY in the server`.
    pub fn line(&self) -> String {
        let (_, what, remedy) = self.words();
        Warning { what, remedy: remedy.to_owned() }.line()
    }

    /// A word for it, its sentence, and its remedy; empty where there is none.
    pub(super) fn words(&self) -> (&'static str, String, &'static str) {
        match *self {
            Self::ServesSome { served, asked, has_no_descriptor } => {
                let asked = quantity(asked, "active connection");
                let what =
                    format!("serves {} of {asked}: the others never got a reply", count(served));
                if has_no_descriptor {
                    let what = what + ", and it has no descriptor left";
                    return ("unserved", what, "ulimit -n of the server");
                }
                ("unserved", what, "more workers in the server, or fewer connections")
            }
            Self::Fails { failures, answered, statuses } => {
                let what = fails(failures, answered, statuses);
                ("fails", what, "the server's log; --success, if these statuses are meant")
            }
            Self::Redirects { ref to } => {
                ("redirects", format!("redirects to {to}"), "ask for that")
            }
            Self::Misfits { ref clause, remedy } => ("fails", clause.clone(), remedy),
            Self::EndsReplies { short, replies } => {
                let [short, replies] = [short, replies].map(count);
                let what = format!("ends {short} of {replies} replies before they are whole");
                ("short", what, "the server's log")
            }
            Self::Stalls { from_s, length_s, times, total_s } => {
                let what = stalls(from_s, length_s, times, total_s);
                ("stalls", what, "what the server, or its machine, did then")
            }
            Self::OverflowsAcceptQueue { overflows, connect_s, timed_out } => {
                let times = quantity(overflows, "time");
                let felt = match timed_out {
                    0 => format!("a connection took up to {}", time(connect_s * 1e9)),
                    _ => format!("{} timed out", count(timed_out)),
                };
                let what = format!("had a full accept queue {times}, and {felt}");
                let remedy =
                    "a longer queue: listen() in the server, net.core.somaxconn; or accept faster";
                ("queue", what, remedy)
            }
            Self::ClosesAfterReply { is_announced, http_10 } => {
                let (how, remedy) = match (http_10, is_announced) {
                    (true, _) => ("HTTP/1.0", "HTTP/1.1 in the server"),
                    (_, true) => ("Connection: close", "keep-alive in the server"),
                    (_, false) => (
                        "not announced",
                        "keep-alive in the server with Content-Length or chunks, or Connection: close in its \
                         replies",
                    ),
                };
                let what = "closes each connection after its reply";
                ("closes", format!("{what} ({how}): connections can't be held"), remedy)
            }
            Self::ClosesAfterRequests { requests } => {
                let after = quantity(requests, "request");
                let remedy = "the server's limit on requests a connection";
                ("closes", format!("closes each connection after {after}"), remedy)
            }
            Self::ClosesIdle { after_ms, closed, opened } => {
                let what = closes_idle(after_ms, closed, opened);
                ("closes", what, "a longer keep-alive time-out in the server")
            }
            Self::HoldsFewer { opened, asked } => {
                let (opened, asked) = (quantity(opened, "connection"), count(asked));
                let what = format!("holds {opened} of the {asked} asked for");
                ("closes", what, "the server's limits on connections and descriptors")
            }
            Self::DelayedReply { delayed_ms, immediate_ms } => {
                let [delayed, immediate] = [delayed_ms, immediate_ms].map(|ms| time(ms * 1e6));
                let what = format!(
                    "answers after {delayed} since its replies wait for delayed acknowledgements \
                     ({immediate} with immediate ones)"
                );
                let remedy = "TCP_NODELAY in the server, or head and body of a reply in one write";
                ("delayed", what, remedy)
            }
            Self::DividesUnevenly { workers, busiest_share } => {
                let (share, workers) = ((100.0 * busiest_share).round(), count(workers));
                let what = format!("has {share} % of its CPU time in one of {workers} processes");
                let remedy = "a listener for each process (SO_REUSEPORT), or connections that are \
                              accepted in turns";
                ("uneven", what, remedy)
            }
            Self::LosesWorkers { ended, workers } => {
                let lost = if ended == workers {
                    "ended".to_owned()
                } else {
                    format!("lost {} of {} processes", count(ended), count(workers))
                };
                ("workers", lost + " while it was asked", "the server's log")
            }
            Self::WarmsUp { seconds, cold_per_s, warm_per_s } => {
                let [cold, warm] = [cold_per_s, warm_per_s].map(|per_s| count(per_s as u64));
                let took = time(seconds * 1e9);
                let what =
                    format!("takes {took} to warm up: {cold} replies/s at first, then {warm}");
                ("cold", what, "warm the server up before it gets its clients")
            }
            Self::ThreadPerConnection(growth) => ("threads", grows("thread", growth), ""),
            Self::ProcessPerConnection(growth) => ("processes", grows("process", growth), ""),
        }
    }
}

fn fails(failures: u64, answered: u64, statuses: [u64; 5]) -> String {
    let classes = ["1xx", "2xx", "3xx", "4xx", "5xx"].into_iter().zip(statuses);
    let classes = classes.filter(|(_, number)| *number > 0);
    let classes = classes.map(|(class, number)| format!("{class} {}", count(number)));
    let classes = classes.collect::<Vec<String>>().join(", ");
    let how_many = if failures == answered { "all".into() } else { count(failures) };
    let all = quantity(answered, "request");
    format!("fails {how_many} of {all} ({classes}): failures are in no rate and no latency")
}

fn stalls(from_s: f64, length_s: f64, times: u64, total_s: f64) -> String {
    let [length, from, total] = [length_s, from_s, total_s].map(|seconds| time(seconds * 1e9));
    let all = match times {
        1 => String::new(),
        times => format!("{total} in all, in {} pauses, the longest for ", count(times)),
    };
    format!("gave no reply for {all}{length} from {from} on, although requests were under way")
}

fn closes_idle(after_ms: u64, closed: u64, opened: u64) -> String {
    let after = match after_ms {
        0..1_000 => format!("{after_ms} ms"),
        _ => format!("{} s", multiple(after_ms as f64 / 1e3)),
    };
    let which = if closed >= opened {
        "dead connections can't be held".to_owned()
    } else {
        format!("{} of {} were closed", count(closed), count(opened))
    };
    format!("closes idle connections after {after}: {which}")
}

fn grows(what: &str, growth: GrowthPerConnection) -> String {
    let GrowthPerConnection { before, after, connections } = growth;
    let (before, connections) = (quantity(before, what), quantity(connections, "connection"));
    format!(
        "grows a {what} for each connection: {before}, then {} with {connections}",
        count(after)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_uneven_beyond_half_of_what_one_could_have_more() {
        let uneven =
            |share| Some(ServerBehaviour::DividesUnevenly { workers: 3, busiest_share: share });
        let seen = |ended, cpu_s, share| ServerBehaviour::of_workers(3, ended, cpu_s, share);
        assert_eq!(
            (seen(0, 2.0, 0.7), seen(0, 2.0, 0.6), seen(0, 0.1, 0.9)),
            (uneven(0.7), None, None)
        );
        assert_eq!(seen(1, 0.1, 0.5), Some(ServerBehaviour::LosesWorkers { ended: 1, workers: 3 }));
        let whole =
            ServerBehaviour::of_workers(1, 1, 2.0, 1.0).map(|behaviour| behaviour.sentence());
        assert_eq!(whole.as_deref(), Some("ended while it was asked"));
    }

    #[test]
    fn a_rule_holds_for_nearly_every_connection() {
        let closes = |closed, connections, replies| {
            ServerBehaviour::of_closings((closed, connections), true, true, replies)
        };
        let each = Some(ServerBehaviour::ClosesAfterReply { is_announced: true, http_10: true });
        assert_eq!(closes(100, 110, (1, 1)), each);
        assert_eq!(
            closes(10, 12, (1_000, 1_000)),
            Some(ServerBehaviour::ClosesAfterRequests { requests: 1_000 })
        );
        for none in [(0, 10, (0, 0)), (1, 10, (1, 1)), (10, 10, (1, 7))] {
            assert_eq!(closes(none.0, none.1, none.2), None, "{none:?}");
        }
        let idle = ServerBehaviour::of_idle(5_004, 1_000, 1_000).unwrap();
        assert_eq!(
            idle.sentence(),
            "closes idle connections after 5 s: dead connections can't be held"
        );
        assert_eq!(ServerBehaviour::of_idle(5_004, 3, 1_000), None);
        let silent = ServerBehaviour::of_closings((100, 110), false, false, (1, 1)).unwrap();
        assert!(silent.sentence().contains("after its reply (not announced)"), "{silent:?}");
    }

    #[test]
    fn a_pause_is_a_stall_where_replies_are_faster() {
        let pauses = |all: &[(f64, f64)], usual_ns| {
            ServerBehaviour::of_pauses(all.iter().copied(), usual_ns)
        };
        let pause = |from_s, length_s, usual_ns| pauses(&[(from_s, length_s)], usual_ns);
        assert!(pause(1.0, 3.0, 1e6).is_some() && pause(1.0, 0.1, 1e3).is_none());
        assert_eq!(pause(1.0, 3.0, 1e9), None);
        assert_eq!(
            pause(4.2, 3.0, 1e6).unwrap().sentence(),
            "gave no reply for 3.00 s from 4.20 s on, although requests were under way"
        );
        assert_eq!(
            pauses(&[(1.0, 1.0), (2.1, 1.1), (3.3, 0.1), (3.5, 1.0)], 1e6).unwrap().sentence(),
            "gave no reply for 3.10 s in all, in 3 pauses, the longest for 1.10 s from 2.10 s on, \
             although requests were under way"
        );
    }

    #[test]
    fn failures_have_their_statuses() {
        let fails = |failures, statuses: [u64; 5]| {
            let answered = statuses.iter().sum();
            ServerBehaviour::Fails { failures, answered, statuses }.sentence()
        };
        assert_eq!(
            fails(600, [0, 400, 0, 0, 600]),
            "fails 600 of 1,000 requests (2xx 400, 5xx 600): failures are in no rate and no latency"
        );
        assert!(fails(5, [0, 0, 0, 5, 0]).starts_with("fails all of 5 requests (4xx 5)"));
        let short = ServerBehaviour::EndsReplies { short: 2_000, replies: 100_000 };
        assert_eq!(
            short.line(),
            "ends 2,000 of 100,000 replies before they are whole → the server's log"
        );
        let (overflows, connect_s, timed_out) = (76, 1.03, 0);
        let queue = ServerBehaviour::OverflowsAcceptQueue { overflows, connect_s, timed_out };
        // Each attempt of a connection counts: they may be more than the connections.
        assert_eq!(
            queue.sentence(),
            "had a full accept queue 76 times, and a connection took up to 1.03 s"
        );
    }

    #[test]
    fn a_process_for_each_connection_is_no_thread_for_each() {
        let growth = |after, connections| GrowthPerConnection { before: 2, after, connections };
        let (flat, each) = (growth(4, 100), growth(101, 100));
        assert_eq!(ServerBehaviour::of_growth(flat, flat), None);
        assert_eq!(
            ServerBehaviour::of_growth(flat, each),
            Some(ServerBehaviour::ThreadPerConnection(each))
        );
        assert_eq!(
            ServerBehaviour::of_growth(each, each),
            Some(ServerBehaviour::ProcessPerConnection(each))
        );
        // Two connections may meet two threads of any pool.
        assert_eq!(ServerBehaviour::of_growth(flat, growth(4, 2)), None);
        assert_eq!(
            ServerBehaviour::ThreadPerConnection(each).line(),
            "grows a thread for each connection: 2 threads, then 101 with 100 connections"
        );
    }
}
