//! `knee selftest` and its controls: each compares this knee, on this machine, with a known truth, and can fail.

mod bench;
mod clock;
mod curves;
pub mod disk;
mod dying;
mod harness;
mod lock;
mod oscillator;
mod same;
mod slower;
mod text;

use crate::exit::{Exit, Trouble};
use crate::output::{print, print_json, style};
use analysis::compare::{Comparison, Terms, compare};
use bench::Bench;
use clap::Args;
use clap::builder::PossibleValuesParser;
use findings::left_out;
use model::Run;
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// The flags of `knee selftest`.
#[derive(Args, Debug)]
#[command(after_help = more())]
pub struct Selftest {
    /// Controls to run [default: all of them]
    #[arg(value_name = "CONTROL")]
    #[arg(value_parser = PossibleValuesParser::new(CONTROLS.iter().map(|control| control.name)), hide_possible_values = true)]
    pub controls: Vec<String>,
    /// Print JSON
    #[arg(short, long)]
    pub json: bool,
}

fn more() -> String {
    let mut text = String::from("Controls, each of which proves that …\n");
    for control in CONTROLS {
        let _ = writeln!(text, "  {:<14} {}", control.name, control.proves);
    }
    text.push_str(
        "\nWhat is not shown at once is tried again with twice the rounds. Nothing of it goes into your \
         record.\n\nExit codes: 0 all was proved that this machine has the means for; 1 a control \
         failed; 4 none failed,\nand one could not be decided; 5 the machine has the means for none.",
    );
    text
}

/// Runs the controls and prints their outcomes, after an interruption those of the completed ones.
pub fn selftest(ask: &Selftest) -> Result<Exit, Trouble> {
    let start = Instant::now();
    let wanted = |control: &&Control| {
        ask.controls.is_empty() || ask.controls.iter().any(|name| name == control.name)
    };
    let controls: Vec<&'static Control> = CONTROLS.iter().filter(wanted).collect();
    let mut bench = Bench::new(controls.len())?;
    let mut all: Vec<Proved> = Vec::new();
    let mut cut_off = None;
    for control in &controls {
        match proved(control, &mut bench) {
            Ok(proved) => all.push(proved),
            Err(trouble) => {
                cut_off = Some(trouble);
                break;
            }
        }
    }
    drop(bench);
    let not_run = controls[all.len()..].iter().map(|control| control.name).collect();
    let interrupted = cut_off.as_ref().is_some_and(|trouble| trouble.exit == Exit::Interrupted);
    let tested = Tested { all, not_run, interrupted, took: start.elapsed() };
    let printed = if ask.json {
        print_json(&json(&tested))
    } else {
        print(&text::table(&tested, &style(false)))
    };
    match cut_off {
        Some(trouble) => Err(trouble),
        None => printed.map(|()| tested.exit()),
    }
}

pub struct Control {
    pub name: &'static str,
    pub proves: &'static str,
    prove: fn(&mut Bench) -> Result<Proof, Trouble>,
}

/// Every control, in the order in which they run: the basics first.
pub const CONTROLS: &[Control] = &[
    clock::CONTROL,
    oscillator::CONTROL,
    harness::CONTROL,
    curves::CONTROL,
    same::IN_TURNS,
    same::ONE_AFTER_THE_OTHER,
    slower::BY_3_PERCENT,
    slower::BY_10_PERCENT,
    slower::TWICE,
    lock::CONTROL,
    dying::CONTROL,
    disk::CONTROL,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Proved,
    Failed,
    Undecided,
    /// This machine, or this build, has no means to show it.
    NotPossible,
}

impl State {
    pub const ALL: [State; 4] =
        [State::Proved, State::Undecided, State::Failed, State::NotPossible];

    pub fn name(self) -> &'static str {
        match self {
            State::Proved => "proved",
            State::Failed => "failed",
            State::Undecided => "undecided",
            State::NotPossible => "not here",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Proof {
    pub state: State,
    /// The figures in words, with the reason where it is not proved.
    pub seen: String,
    pub figures: Value,
}

impl Proof {
    fn new(state: State, seen: impl Into<String>, figures: Value) -> Proof {
        Proof { state, seen: seen.into(), figures }
    }

    fn not_possible(why: impl Into<String>) -> Proof {
        Proof::new(State::NotPossible, why, json!({}))
    }
}

pub struct Proved {
    pub control: &'static Control,
    pub proof: Proof,
    pub took: Duration,
}

pub struct Tested {
    pub all: Vec<Proved>,
    /// Those that did not: the one that was cut off and all after it.
    pub not_run: Vec<&'static str>,
    pub interrupted: bool,
    pub took: Duration,
}

impl Tested {
    /// A control that failed weighs more than one that could not be decided.
    pub fn exit(&self) -> Exit {
        let any = |state| self.all.iter().any(|proved| proved.proof.state == state);
        if any(State::Failed) || !self.not_run.is_empty() {
            Exit::Failed
        } else if any(State::Undecided) {
            Exit::Inconclusive
        } else if !any(State::Proved) {
            Exit::NotPossibleHere
        } else {
            Exit::Done
        }
    }
}

pub fn proved(control: &'static Control, bench: &mut Bench) -> Result<Proved, Trouble> {
    let start = Instant::now();
    bench.title(control.name);
    let proof = (control.prove)(bench)?;
    Ok(Proved { control, proof, took: start.elapsed() })
}

fn signed(value: f64, decimals: usize) -> String {
    let value = unsigned_zero(value, decimals);
    format!("{value:+.decimals$}")
}

/// The figure, or zero without a minus where it is rounded to that.
fn unsigned_zero(value: f64, decimals: usize) -> f64 {
    if value.abs() < 0.5 * 10.0_f64.powf(-(decimals as f64)) { 0.0 } else { value }
}

fn of_two(base: &Run, new: &Run, terms: &Terms, judged: impl Fn(&Comparison) -> Proof) -> Proof {
    compare(base, new, terms).map_or_else(
        |refusal| {
            let why = left_out::refusal(&refusal);
            let seen = format!("two runs of one plan are not compared: {why}");
            Proof::new(State::Failed, seen, json!({}))
        },
        |comparison| judged(&comparison),
    )
}

/// Tries once more, with twice the rounds, what is not shown at first: machines are busy.
fn twice(
    rounds: u32,
    mut prove: impl FnMut(u32) -> Result<Proof, Trouble>,
) -> Result<Proof, Trouble> {
    let first = prove(rounds)?;
    if !matches!(first.state, State::Failed | State::Undecided) {
        return Ok(first);
    }
    let mut second = prove(2 * rounds)?;
    let before = first.state.name();
    second.seen =
        format!("{} (at the second try, with twice the rounds; the first: {before})", second.seen);
    Ok(second)
}

pub fn json(tested: &Tested) -> Value {
    let row = |Proved { control, proof, took }: &Proved| {
        json!({
            "control": control.name,
            "proves": control.proves,
            "state": proof.state.name(),
            "seen": proof.seen,
            "figures": proof.figures,
            "took_ms": took.as_millis() as u64,
        })
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "passed": tested.exit() == Exit::Done,
        "interrupted": tested.interrupted,
        "took_ms": tested.took.as_millis() as u64,
        "controls": tested.all.iter().map(row).collect::<Vec<Value>>(),
        "not_run": tested.not_run,
    })
}

#[cfg(test)]
mod tests;
