//! Which mechanism overtakes which as more of what it watches is active?
//!
//! The pipetest of Ben LaHaise (2002), which David Stevens, Davide Libenzi, Zed Shaw and Jacques
//! Mattheij measured with. T tokens go round in N pipes, whose read ends are watched. In each loop
//! the pending tokens are written, the mechanism is asked once, and each ready pipe is read with all
//! the tokens in it; each goes up by one generation and is pending again until it has reached G.
//! Then the next game begins. One operation is one token passed on: write, its share of the wait,
//! read, and what the mechanism obliges a program to do.
//!
//! The spread says which pipe a token goes to next: *tail* is Zed Shaw's rule (token t always goes
//! to pipe N−t−1, so that only the last T are ever active), *spread* the original one (17 times the
//! generation, and t, and t·(N/T), modulo N), *random* draws by the seed, as many pipes as there are
//! tokens. Past half as many tokens as pipes the original rule puts two into one pipe, so that fewer
//! are active than the share of tokens says: each cell states how many were.

mod game;
mod spread;

use crate::readiness::mechanisms::{self, OWN_DESCRIPTORS, TIMEOUT};
use crate::readiness::objects::{Layout, Object, Objects};
use engine::{
    About, Cell, Defaults, Failure, Fit, LimitCause, MetricInfo, Original, Parameter, Parking,
    Print, Probe, Ratio, Subject, Sweep, Usual, Values, Workload, WorkloadInfo, descriptors_max,
    pairs, strings,
};
use game::{Game, Rules};
use spread::Spread;
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Pipetest = Pipetest;

pub(crate) struct Pipetest;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "pipetest".into(),
        question: "Which mechanism overtakes which as more of what it watches is active?".into(),
        operation: "pass a token on: write it, wait once for all that are under way, read it"
            .into(),
        not_measured: strings([
            "what a server does besides: accepting, parsing, sending",
            "threads: the tokens are what the original called threads, and one thread passes them all",
            "sleeping: something is always under way, so that no wait is ever long",
        ]),
        ratio: Some(Ratio {
            part: "tokens".into(),
            whole: "pipes".into(),
            word: "of pipes".into(),
            multiple: false,
        }),
        points_down: true,
        compared_pairs: pairs([("poll", "epoll-level")]),
        metrics: vec![
            MetricInfo::more("passes", "token passes", "tokens/s"),
            MetricInfo::time("user", "token pass, user CPU"),
            MetricInfo::time("system", "token pass, system CPU"),
        ],
        ..About::plain().info
    },
    parameters: vec![
        Parameter {
            name: "tokens",
            about: "circulating tokens: the maximum number of pipes that are active at once",
            values: Values::ShareOf("pipes"),
            default: Defaults::always(&["1"]),
            sweep: Some(Sweep::new(
                "tokens",
                &["1%", "10%", "40%", "70%", "100%"],
                &[
                    "0.1%", "1%", "10%", "20%", "30%", "40%", "50%", "60%", "70%", "80%", "90%",
                    "100%",
                ],
            )),
        },
        Parameter {
            name: "pipes",
            about: "pipes whose read ends are watched",
            values: Values::AtLeast(1),
            default: Defaults { quick: &["1k"], full: &["1k", "9k"] },
            sweep: Some(Sweep::new(
                "pipes",
                &["10", "100", "1k", "9k"],
                &[
                    "10", "100", "500", "1k", "2k", "3k", "4k", "5k", "6k", "7k", "8k", "9k",
                    "10k", "11k", "12k", "13k", "14k", "15k", "16k", "20k",
                ],
            )),
        },
        Parameter {
            name: "generations",
            about: "how often a token is passed on before it is retired",
            values: Values::AtLeast(1),
            default: Defaults::always(&["1k"]),
            sweep: Some(Sweep::new(
                "generations",
                &["10", "100", "1k"],
                &["10", "100", "1k", "5k"],
            )),
        },
        Parameter {
            name: "spread",
            about: "which pipes are active: only the last ones, all by the original rule, or random ones",
            values: Values::OneOf(Spread::NAMES),
            default: Defaults { quick: &["tail"], full: Spread::NAMES },
            sweep: None,
        },
        Parameter {
            name: "bufsize",
            about: "size of a token in bytes: 8 to 4096",
            values: Values::Between(8, 4096),
            default: Defaults::always(&["16"]),
            sweep: None,
        },
        TIMEOUT,
    ],
    originals: &[Original {
        name: "pipetest",
        original: "pipetest [--poll|--sys-epoll] 10000 THREADS 5000, as Zed Shaw and Jacques Mattheij \
                   ran it (2010)",
        subjects: &["poll", "epoll-level"],
        points: &["10%", "20%", "30%", "40%", "50%", "60%", "70%", "80%", "90%", "100%"],
        parameters: &[
            ("pipes", "10k"),
            ("spread", "tail"),
            ("generations", "5k"),
            ("timeout", "-1"),
        ],
        rounds: None,
        print: Print::Rates("Threads"),
        also: &[],
        hides: &[
            "the active pipes are the last ones: poll's worst case with few of them, since it queues a \
             waiter on every pipe before (--spread spread,random)",
            "below 10 % active, where servers live, nothing was measured (--points 0.1%,1%)",
            "one figure a place, without its spread: 5 % between two of them may be chance",
        ],
    }],
    // Six tables of a dozen points: less than the usual time for each keeps it at twelve minutes.
    usual: Usual { measure_ms: 40, ..Usual::PLAIN },
    ..About::plain()
});

impl Workload for Pipetest {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        mechanisms::subjects()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        let Ok(rules) = Rules::from_cell(cell) else { return Fit::Measure }; // measuring says what is wrong
        if rules.tokens > rules.pipes {
            let (tokens, pipes) = (rules.tokens as u64, rules.pipes as u64);
            return Fit::Leave {
                what: format!("{tokens} tokens in {pipes} pipes"),
                cause: LimitCause::Parameter { label: "pipes".into(), value: pipes },
                remedy: "ask for at most as many tokens as pipes: --points 10%,100%".into(),
            };
        }
        let max = pipes_max(&rules);
        if rules.pipes > max {
            return mechanisms::at_most("pipes", rules.pipes as u64, max as u64);
        }
        Fit::Measure
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let rules = Rules::from_cell(cell)?;
        if rules.tokens > rules.pipes {
            let (tokens, pipes) = (rules.tokens, rules.pipes);
            return Err(Failure::new(format!("{tokens} tokens are too many for {pipes} pipes")));
        }
        let written = rules.spread.written(rules.tokens, rules.pipes);
        let park = 2 * rules.pipes + OWN_DESCRIPTORS > descriptors_max();
        let layout = Layout::watched_here(Object::Pipe, rules.pipes, &written, park);
        let mut pipes = Objects::open(&layout, &mut None, &mut |_, _| Ok(()))?;
        let row = mechanisms::row(&cell.subject)?;
        let mut game = Game::new(row, &pipes, &rules, mechanisms::timeout(cell)?)?;
        probe.steady_turns("passes", &mut game, Game::turn, Game::check)?;
        probe.cpu("passes", "user", "system");
        game.finish(probe)?;
        drop(game);
        pipes.close(&mut None)
    }
}

/// The most pipes that can be watched here: all read ends, and the write ends of those that are ever
/// written to, are this process's own; the other write ends are parked, a chunk at a time.
fn pipes_max(rules: &Rules) -> usize {
    let capacity = descriptors_max().saturating_sub(OWN_DESCRIPTORS);
    match rules.spread {
        Spread::Tail => {
            let parked = capacity.saturating_sub(rules.tokens + Parking::chunk());
            parked.max(capacity / 2)
        }
        Spread::Original | Spread::Random => capacity / 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(pipes: usize, tokens: usize, spread: &str) -> Cell {
        let (pipes, tokens) = (pipes.to_string(), tokens.to_string());
        let parameters = [
            ("pipes", pipes.as_str()),
            ("tokens", &tokens),
            ("spread", spread),
            ("generations", "10"),
            ("bufsize", "16"),
            ("timeout", "-1"),
        ];
        Cell {
            subject: "poll".into(),
            parameters: parameters.map(|(name, value)| (name.into(), value.into())).into(),
            seed: 1,
            ..Cell::default()
        }
    }

    #[test]
    fn what_does_not_fit_is_left_out_or_clamped() {
        assert_eq!(Pipetest.fit(&cell(10, 10, "tail")), Fit::Measure);
        assert!(matches!(Pipetest.fit(&cell(10, 11, "tail")), Fit::Leave { .. }));
        for spread in Spread::NAMES {
            let max = pipes_max(&Rules::from_cell(&cell(10, 1, spread)).unwrap());
            assert_eq!(Pipetest.fit(&cell(max, 1, spread)), Fit::Measure, "{spread}");
            let over = Pipetest.fit(&cell(max + 1, 1, spread));
            let clamp = max as u64;
            assert!(matches!(over, Fit::AtMost { max, .. } if max == clamp), "{over:?}");
        }
    }

    #[test]
    fn peers_of_a_tail_can_be_parked() {
        let max = |spread| pipes_max(&Rules::from_cell(&cell(10, 1, spread)).unwrap());
        assert!(max("tail") > max("random"));
    }
}
