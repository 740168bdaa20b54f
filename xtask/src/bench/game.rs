//! The games that a plain C program and a workload of ours both play.

use super::limit::Limit;

/// A game, and what is demanded of us in it.
#[derive(Debug)]
pub struct Game {
    /// The word after `bench`.
    pub name: &'static str,
    /// The directory of its C sources.
    pub sources: &'static str,
    /// What makes them play it.
    pub defines: &'static [&'static str],
    /// What of ours does the same as which of them.
    pub plays: Plays,
    /// Whether the last argument of a C program is the time to measure, in milliseconds.
    pub timed: bool,
    /// The unit of both.
    pub unit: &'static str,
    /// What is demanded, of the mechanisms in `bounded`.
    pub limit: Limit,
    /// Mechanisms that are held to the limit.
    pub bounded: &'static [&'static str],
    /// What the table calls the numbers of a setting.
    pub columns: &'static [&'static str],
}

/// Which programs there are.
#[derive(Debug)]
pub enum Plays {
    /// One for each source, which has the name of a subject of that workload; it prints that metric.
    EachSource(&'static str, &'static str),
    /// These.
    Listed(&'static [Listed]),
}

/// One program, and what of ours does the same.
#[derive(Debug)]
pub struct Listed {
    /// What the table calls it.
    pub name: &'static str,
    /// Its source, without `.c`.
    pub source: &'static str,
    /// What the compiler is given besides.
    pub flags: &'static [&'static str],
    /// What the program is given after the number of calls.
    pub words: &'static [&'static str],
    /// The workload, its subject, and the metric.
    pub ours: [&'static str; 3],
    /// How many calls by default.
    pub calls: u64,
}

/// A program of a game, with what of ours does the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Play {
    /// What the table calls it.
    pub name: String,
    /// Its source, without `.c`.
    pub source: String,
    /// What the compiler is given besides.
    pub flags: &'static [&'static str],
    /// What the program is given after its setting.
    pub words: &'static [&'static str],
    /// The workload.
    pub workload: &'static str,
    /// The subject.
    pub subject: String,
    /// The metric.
    pub metric: &'static str,
    /// Where it is measured by default.
    pub usual: Option<Setting>,
}

/// Poller_bench: one of many socketpairs is written to, found and read.
pub const HARNESS: Game = Game {
    name: "harness",
    sources: "benches/c",
    defines: &[],
    plays: Plays::EachSource("poll", "loop"),
    timed: true,
    unit: "ns",
    limit: Limit::Most(1.03),
    bounded: &["select", "poll", "epoll-level"],
    columns: &["watched"],
};

/// Pipetest: tokens go round in many pipes.
pub const PIPETEST: Game = Game {
    name: "pipetest",
    sources: "benches/c",
    defines: &["-DPIPETEST"],
    plays: Plays::EachSource("pipetest", "passes"),
    timed: true,
    unit: "tokens/s",
    limit: Limit::Least(0.97),
    bounded: &["select", "poll", "epoll-level"],
    columns: &["pipes", "tokens"],
};

/// Single calls of one kind, each timed, while what they make piles up.
pub const PRIMITIVES: Game = Game {
    name: "primitives",
    sources: "benches/c/primitives",
    defines: &[],
    plays: Plays::Listed(CALLS),
    timed: false,
    unit: "ns",
    limit: Limit::Within(1.03),
    bounded: &["socket", "bind", "fork", "fork-static", "reap", "mmap", "touch"],
    columns: &["calls"],
};

const CALLS: &[Listed] = &[
    call("socket", &[], &[], ["socket", "ipv4", "socket"], 10_000),
    call("bind", &[], &[], ["bind", "ipv4", "bind"], 10_000),
    call("fork", &[], &[], ["fork", "dynamic", "fork"], 2_000),
    Listed {
        name: "fork-static",
        ..call("fork", &["-static"], &[], ["fork", "static", "fork"], 2_000)
    },
    Listed { name: "reap", ..call("fork", &[], &["reap"], ["reap", "dynamic", "reap"], 2_000) },
    call("mmap", &[], &[], ["mmap", "file", "mmap"], 25_000),
    call("touch", &[], &[], ["touch", "file", "touch"], 25_000),
];

const fn call(
    source: &'static str,
    flags: &'static [&'static str],
    words: &'static [&'static str],
    ours: [&'static str; 3],
    calls: u64,
) -> Listed {
    Listed { name: source, source, flags, words, ours, calls }
}

/// The rules of pipetest that are the same for both: generations, bytes of a token, time-out.
const GENERATIONS: &str = "1000";
const TOKEN_BYTES: &str = "16";
const TIMEOUT: &str = "-1";

/// Where both are measured, and the arguments of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its numbers, by the game's columns.
    pub numbers: Vec<u64>,
    /// The C program's arguments.
    pub plain: Vec<String>,
    /// The flags for `knee run`.
    pub ours: Vec<String>,
}

impl Game {
    /// Its programs, of which the `sources` are all that there are.
    pub fn programs(&self, sources: &[String]) -> Vec<Play> {
        match self.plays {
            Plays::EachSource(workload, metric) => {
                let play = |source: &String| Play {
                    name: source.clone(),
                    source: source.clone(),
                    flags: &[],
                    words: &[],
                    workload,
                    subject: source.clone(),
                    metric,
                    usual: None,
                };
                sources.iter().map(play).collect()
            }
            Plays::Listed(all) => all.iter().map(Listed::play).collect(),
        }
    }

    /// `1000 pipes, 10 tokens`.
    pub fn in_words(&self, setting: &Setting) -> String {
        let named = self.columns.iter().zip(&setting.numbers);
        named.map(|(column, number)| format!("{number} {column}")).collect::<Vec<_>>().join(", ")
    }
}

impl Listed {
    fn play(&self) -> Play {
        let [workload, subject, metric] = self.ours;
        Play {
            name: self.name.to_owned(),
            source: self.source.to_owned(),
            flags: self.flags,
            words: self.words,
            workload,
            subject: subject.to_owned(),
            metric,
            usual: Some(Setting::calls(self.calls)),
        }
    }
}

impl Setting {
    /// So many calls.
    pub fn calls(count: u64) -> Self {
        let word = count.to_string();
        Self { numbers: vec![count], plain: words(&[&word]), ours: words(&["--points", &word]) }
    }

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

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// What a table says of the rules of its settings.
pub fn about_pairs() -> String {
    "one active socketpair; nanoseconds a loop (write + wait + read)".to_owned()
}

/// As [`about_pairs`], for single calls.
pub fn about_calls() -> String {
    "every call timed on its own, while what they make stays; nanoseconds a call".to_owned()
}

/// As [`about_pairs`], for pipetest.
pub fn about_pipes(spread: &str) -> String {
    format!(
        "spread {spread}, {GENERATIONS} generations, {TOKEN_BYTES} bytes a token, time-out \
         {TIMEOUT}; tokens passed on per second"
    )
}
