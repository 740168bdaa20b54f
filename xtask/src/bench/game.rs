//! The games that a plain C program and a workload of ours both play.

use super::table::Limit;

/// A game, and what is demanded of us in it.
#[derive(Debug)]
pub struct Game {
    /// The word after `bench`.
    pub name: &'static str,
    /// What makes the C sources play it.
    pub defines: &'static [&'static str],
    /// The workload that plays it.
    pub workload: &'static str,
    /// The metric of that workload that the C programs print.
    pub metric: &'static str,
    /// The unit of both.
    pub unit: &'static str,
    /// What is demanded, of the mechanisms in `held`.
    pub limit: Limit,
    /// Mechanisms that are held to the limit.
    pub held: &'static [&'static str],
    /// What the table calls the numbers of a setting.
    pub columns: &'static [&'static str],
}

/// Poller_bench: one of many socketpairs is written to, found and read.
pub const HARNESS: Game = Game {
    name: "harness",
    defines: &[],
    workload: "poll",
    metric: "loop",
    unit: "ns",
    limit: Limit::Most(1.03),
    held: &["select", "poll", "epoll-level"],
    columns: &["watched"],
};

/// Pipetest: tokens go round in many pipes.
pub const PIPETEST: Game = Game {
    name: "pipetest",
    defines: &["-DPIPETEST"],
    workload: "pipetest",
    metric: "passes",
    unit: "tokens/s",
    limit: Limit::Least(0.97),
    held: &["select", "poll", "epoll-level"],
    columns: &["pipes", "tokens"],
};

/// The rules of pipetest that are the same for both: generations, bytes of a token, time-out.
const GENERATIONS: &str = "1000";
const TOKEN_BYTES: &str = "16";
const TIMEOUT: &str = "-1";

/// Where both are measured, and how each is told.
#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its numbers, by the game's columns.
    pub numbers: Vec<u64>,
    /// The C program's arguments.
    pub plain: Vec<String>,
    /// The flags for `knee run`.
    pub ours: Vec<String>,
}

impl Game {
    /// The game of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        [&HARNESS, &PIPETEST].into_iter().find(|game| game.name == name)
    }

    /// `1000 pipes, 10 tokens`.
    pub fn in_words(&self, setting: &Setting) -> String {
        let named = self.columns.iter().zip(&setting.numbers);
        named.map(|(column, number)| format!("{number} {column}")).collect::<Vec<_>>().join(", ")
    }
}

impl Setting {
    /// One active socketpair of so many.
    pub fn pairs(watched: u64) -> Self {
        let watched_word = watched.to_string();
        Self {
            numbers: vec![watched],
            plain: words(&[&watched_word, "1"]),
            ours: words(&["--points", &watched_word, "--active", "1", "--timeout", "0"]),
        }
    }

    /// So many tokens in so many pipes.
    pub fn pipes(pipes: u64, tokens: u64, spread: &str) -> Self {
        let (pipes_word, tokens_word) = (pipes.to_string(), tokens.to_string());
        let both = [
            ("--pipes", pipes_word.as_str()),
            ("--points", &tokens_word),
            ("--generations", GENERATIONS),
            ("--spread", spread),
            ("--bufsize", TOKEN_BYTES),
            ("--timeout", TIMEOUT),
        ];
        Self {
            numbers: vec![pipes, tokens],
            plain: words(&both.map(|(_, value)| value)),
            ours: words(both.map(|(flag, value)| [flag, value]).as_flattened()),
        }
    }
}

fn words(of: &[&str]) -> Vec<String> {
    of.iter().map(|&word| word.to_owned()).collect()
}

/// What a table says of the rules of its settings.
pub fn about_pairs() -> String {
    "one active socketpair; nanoseconds a loop (write + wait + read)".to_owned()
}

/// As [`about_pairs`], for pipetest.
pub fn about_pipes(spread: &str) -> String {
    format!(
        "spread {spread}, {GENERATIONS} generations, {TOKEN_BYTES} bytes a token, time-out \
         {TIMEOUT}; tokens passed on per second"
    )
}
