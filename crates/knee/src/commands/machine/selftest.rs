//! `knee selftest`: compares knee, on this machine, with known truths.

use crate::exit::{Exit, Trouble};
use crate::output::{print, print_json, style};
use crate::selftest::{self, Bench, CONTROLS, Control, Proved, Tested};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::fmt::Write;
use std::time::Instant;

/// The flags of `knee selftest`.
#[derive(Args, Debug)]
#[command(after_help = more())]
pub struct Selftest {
    /// Controls to run [default: all of them]
    #[arg(value_name = "CONTROL")]
    #[arg(value_parser = PossibleValuesParser::new(names()), hide_possible_values = true)]
    pub controls: Vec<String>,
    /// Print JSON
    #[arg(short, long)]
    pub json: bool,
}

fn names() -> Vec<&'static str> {
    CONTROLS.iter().map(|control| control.name).collect()
}

/// What `--help` says below the flags.
fn more() -> String {
    let mut text = String::from("Controls, each of which proves that …\n");
    for control in CONTROLS {
        // Writing to a String can't fail.
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
        match selftest::proved(control, &mut bench) {
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
        print_json(&selftest::json(&tested))
    } else {
        print(&selftest::text::table(&tested, &style(false)))
    };
    match cut_off {
        Some(trouble) => Err(trouble),
        None => printed.map(|()| tested.exit()),
    }
}
