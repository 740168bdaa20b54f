//! Replies per second of a server's CPU time: the workload `dead`, one subject at a time.

use super::super::limit::Limit;
use super::super::table::{Figures, Row};
use super::super::{NOT_POSSIBLE, RUN_MAX, failure_text, samples_of};
use super::{Arena, Contest};
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Ours, and the others with what is demanded of ours beside each.
const OURS: [&str; 3] = ["epoll-level", "epoll-edge", "io_uring-completion"];
const RIVALS: [(&str, f64); 2] = [("nginx", 2.0), ("lighttpd", 1.1)];

/// Runs what follows with as many descriptors as may be had: lighttpd holds half as many connections.
const MANY_DESCRIPTORS: &str =
    "ulimit -n 65536 2>/dev/null || ulimit -n \"$(ulimit -Hn)\"; exec \"$@\"";

/// What is asked for, beside how many dead connections.
struct Setting {
    bytes: u64,
    dead: u64,
    words: String,
    /// The limits speak of small replies. A large one is the kernel's copying, which all pay alike.
    held: bool,
}

/// Rates of each server, a figure a run; or why there are none.
type Rates = BTreeMap<&'static str, Result<Vec<Figures>, String>>;

/// Every one of ours beside every other, in every setting.
pub fn contests(arena: &Arena, tally: &mut Tally) -> Result<Vec<Contest>> {
    let mut contests = Vec::new();
    for setting in settings(&arena.options.dead) {
        let rates = rates(arena, &setting)?;
        for (rival, least) in RIVALS {
            for ours in OURS {
                match pairs(&rates, rival, ours) {
                    Ok(pairs) => {
                        let limit = Limit::Least(least);
                        let row = Row { mechanism: ours.to_owned(), setting: vec![], limit, pairs };
                        let (words, held) = (setting.words.clone(), setting.held);
                        println!("{ours} beside {rival}, {words}: {}", row.in_words());
                        contests.push(Contest { rival, setting: words, row, held });
                    }
                    Err(why) => {
                        let step = format!("bench http: {ours} beside {rival}, {}", setting.words);
                        tally.skip(&step, &why);
                    }
                }
            }
        }
    }
    Ok(contests)
}

fn settings(dead: &[u64]) -> Vec<Setting> {
    let small = dead.iter().map(|&dead| Setting {
        bytes: 128,
        dead,
        words: format!("128 bytes, {dead} dead"),
        held: true,
    });
    let large = Setting { bytes: 1_000_000, dead: 0, words: "1 MB, 0 dead".into(), held: false };
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
            match one(arena, setting, name)? {
                Ok(figures) => list.push(figures),
                Err(why) => *so_far = Err(format!("{name}: {why}")),
            }
        }
        names.reverse();
    }
    Ok(rates)
}

/// One run of one server. The inner error says why there is no figure.
fn one(arena: &Arena, setting: &Setting, name: &str) -> Result<Result<Figures, String>> {
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
        .and_then(|rates| Figures::of(rates, Limit::Least(1.0)))
        .ok_or_else(|| format!("knee measured no cpu: {}", failure_text(&run))))
}

/// The runs of two, side by side.
fn pairs(rates: &Rates, rival: &str, ours: &str) -> Result<Vec<(Figures, Figures)>, String> {
    let of = |name: &str| match rates.get(name) {
        Some(Ok(list)) => Ok(list.clone()),
        Some(Err(why)) => Err(why.clone()),
        None => Err(format!("{name} was not measured")),
    };
    Ok(of(rival)?.into_iter().zip(of(ours)?).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_replies_are_held_and_large_ones_shown() {
        let settings = settings(&[0, 10_000]);
        let said: Vec<(&str, bool)> =
            settings.iter().map(|setting| (setting.words.as_str(), setting.held)).collect();
        let wanted =
            [("128 bytes, 0 dead", true), ("128 bytes, 10000 dead", true), ("1 MB, 0 dead", false)];
        assert_eq!(said, wanted);
    }

    #[test]
    fn a_server_that_is_not_here_has_no_pairs_and_says_why() {
        let one = Figures::of(vec![1.0], Limit::Least(1.0)).unwrap();
        let rates: Rates =
            [("nginx", Err("nginx: not installed".to_owned())), ("epoll-edge", Ok(vec![one; 3]))]
                .into();
        assert_eq!(pairs(&rates, "nginx", "epoll-edge").unwrap_err(), "nginx: not installed");
        assert_eq!(pairs(&rates, "epoll-edge", "epoll-edge").unwrap().len(), 3);
    }
}
