//! Replies per second of a server's CPU time: the workload `dead`, one subject at a time.

use super::super::limit::Limit;
use super::super::table::{Figures, Row};
use super::super::{NOT_POSSIBLE, RUN_MAX, failure_text, samples_of};
use super::{Arena, Comparison};
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Ours, and each rival with the ratio that ours has to reach.
const OURS: [&str; 3] = ["epoll-level", "epoll-edge", "io_uring-completion"];
const RIVALS: [(&str, f64); 2] = [("nginx", 2.0), ("lighttpd", 1.1)];

/// Runs what follows with as many descriptors as may be had: lighttpd holds half as many connections.
const MANY_DESCRIPTORS: &str =
    "ulimit -n 65536 2>/dev/null || ulimit -n \"$(ulimit -Hn)\"; exec \"$@\"";

/// What is asked for, with how many dead connections.
struct Setting {
    bytes: u64,
    dead: u64,
    words: String,
    /// The limits speak of small replies. A large one is the kernel's copying, which all pay alike.
    is_bounded: bool,
}

/// Rates of each server, a figure a run; or why there are none.
type Rates = BTreeMap<&'static str, Result<Vec<Figures>, String>>;

/// Each of ours with each rival, in every setting.
pub fn comparisons(arena: &Arena, tally: &mut Tally) -> Result<Vec<Comparison>> {
    let mut comparisons = Vec::new();
    for setting in settings(&arena.options.dead) {
        let rates = rates(arena, &setting)?;
        for (rival, min) in RIVALS {
            for ours in OURS {
                match pairs(&rates, rival, ours) {
                    Ok(pairs) => {
                        let limit = Limit::Least(min);
                        let row = Row { mechanism: ours.to_owned(), setting: vec![], limit, pairs };
                        let (words, is_bounded) = (setting.words.clone(), setting.is_bounded);
                        println!("{ours} and {rival}, {words}: {}", row.in_words());
                        comparisons.push(Comparison { rival, setting: words, row, is_bounded });
                    }
                    Err(why) => {
                        let step = format!("bench http: {ours} and {rival}, {}", setting.words);
                        tally.skip(&step, &why);
                    }
                }
            }
        }
    }
    Ok(comparisons)
}

fn settings(dead: &[u64]) -> Vec<Setting> {
    let small = dead.iter().map(|&dead| Setting {
        bytes: 128,
        dead,
        words: format!("128 bytes, {dead} dead"),
        is_bounded: true,
    });
    let large =
        Setting { bytes: 1_000_000, dead: 0, words: "1 MB, 0 dead".into(), is_bounded: false };
    small.chain([large]).collect()
}

/// Runs all in turn, and backwards in every other pair, so that a drift of the machine hits all alike.
fn rates(arena: &Arena, setting: &Setting) -> Result<Rates> {
    let mut names: Vec<&'static str> =
        RIVALS.map(|(name, _)| name).into_iter().chain(OURS).collect();
    let mut rates = Rates::new();
    for _ in 0..arena.options.pairs {
        for &name in &names {
            let so_far = rates.entry(name).or_insert_with(|| Ok(Vec::new()));
            let Ok(list) = so_far else { continue };
            match measure(arena, setting, name)? {
                Ok(figures) => list.push(figures),
                Err(why) => *so_far = Err(format!("{name}: {why}")),
            }
        }
        names.reverse();
    }
    Ok(rates)
}

/// One run of one server. The inner error says why there is no figure.
fn measure(arena: &Arena, setting: &Setting, name: &str) -> Result<Result<Figures, String>> {
    let mut command = Command::new("sh");
    command.args(["-c", MANY_DESCRIPTORS, "sh"]).arg(&arena.knee).args([
        "run",
        "dead",
        "--subjects",
        name,
        "--rounds",
        "1",
        "--workers",
        "1",
    ]);
    command.args(["--points", &setting.dead.to_string(), "--bytes", &setting.bytes.to_string()]);
    command.args(["--time", &format!("{}ms", arena.options.time_ms), "--json", "--record"]);
    command.arg(arena.scratch.path().join("bench.db"));
    let done = shell::bounded(&mut command, RUN_MAX)?;
    let why = done.stderr.trim();
    match done.status.code() {
        Some(0) => {}
        Some(NOT_POSSIBLE) => return Ok(Err(why.trim_start_matches("knee: ").to_owned())),
        _ => bail!("{} failed ({}): {why}", shell::display(&command), done.status),
    }
    let run: Value = serde_json::from_str(&done.stdout).context("knee run --json")?;
    let rates: Option<Vec<f64>> = samples_of(&run, name, "cpu")
        .map(|samples_ns| samples_ns.into_iter().map(|cpu_ns| 1e9 / cpu_ns).collect());
    Ok(rates
        .and_then(|rates| Figures::new(rates, Limit::Least(1.0)))
        .ok_or_else(|| format!("knee measured no cpu: {}", failure_text(&run))))
}

/// The runs of two, side by side.
fn pairs(rates: &Rates, rival: &str, ours: &str) -> Result<Vec<(Figures, Figures)>, String> {
    let figures_of = |name: &str| match rates.get(name) {
        Some(Ok(list)) => Ok(list.clone()),
        Some(Err(why)) => Err(why.clone()),
        None => Err(format!("{name} was not measured")),
    };
    Ok(figures_of(rival)?.into_iter().zip(figures_of(ours)?).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_replies_are_held_and_large_ones_shown() {
        let settings = settings(&[0, 10_000]);
        let output: Vec<(&str, bool)> =
            settings.iter().map(|setting| (setting.words.as_str(), setting.is_bounded)).collect();
        let wanted =
            [("128 bytes, 0 dead", true), ("128 bytes, 10000 dead", true), ("1 MB, 0 dead", false)];
        assert_eq!(output, wanted);
    }

    #[test]
    fn a_server_that_is_not_here_has_no_pairs_and_says_why() {
        let measure = Figures::new(vec![1.0], Limit::Least(1.0)).unwrap();
        let rates: Rates = [
            ("nginx", Err("nginx: not installed".to_owned())),
            ("epoll-edge", Ok(vec![measure; 3])),
        ]
        .into();
        assert_eq!(pairs(&rates, "nginx", "epoll-edge").unwrap_err(), "nginx: not installed");
        assert_eq!(pairs(&rates, "epoll-edge", "epoll-edge").unwrap().len(), 3);
    }
}
