//! How long a frame of the HTML page's plot takes, with half a million samples in it: panned and
//! zoomed in a headless browser.

mod browser;

use super::{build_example, median};
use crate::setup;
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result, bail};
use browser::Browser;
use clap::Args;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Nineteen of twenty frames are held to this, in milliseconds: slower ones are seen to stutter.
const FRAME_MS_MOST: f64 = 50.0;
/// Frames of each gesture.
const STEPS: usize = 100;
/// Times that each is made; the quietest counts, since others use the machine too.
const PASSES: usize = 3;
/// The window, in CSS pixels.
const WINDOW: (u32, u32) = (1280, 800);
/// Calls, rounds and subjects of the pages: 115,000, 322,000 and 525,000 samples.
const PAGES: [[&str; 3]; 3] = [["5000", "5", "5"], ["10000", "7", "5"], ["25000", "7", "3"]];

/// One gesture on one page.
struct Row {
    samples: u64,
    ratio: u32,
    gesture: &'static str,
    drawing_ms: Spread,
    frame_ms: Spread,
}

/// How long frames took, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    median: f64,
    /// The value that 95 of 100 don't exceed.
    p95: f64,
    max: f64,
}

/// What is asked for.
#[derive(Args)]
pub struct Options {
    /// Write the table to this file as well
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Measures every page at one and at two pixels of the screen to a CSS pixel.
pub fn run(options: &Options, tally: &mut Tally) -> Result<()> {
    let Some(program) = setup::browser() else {
        let why = "no Chromium here: `cargo xtask setup` installs one, or name one in CHROMIUM";
        tally.skip("bench page", why);
        return Ok(());
    };
    let directory = tempfile::tempdir()?;
    let pages = pages(directory.path())?;
    let mut browser = Browser::start(&program, &directory.path().join("profile"))?;
    let mut rows = Vec::new();
    for page in &pages {
        for ratio in [1, 2] {
            browser.resize(WINDOW.0, WINDOW.1, ratio)?;
            browser.open(page)?;
            for gesture in ["pan", "zoom"] {
                let row = measured(&mut browser, gesture, ratio)?;
                judge(&row, load(), tally);
                rows.push(row);
            }
        }
    }
    let text = markdown(&rows);
    print!("\n{text}");
    if let Some(file) = &options.output {
        fs::write(file, text).with_context(|| format!("can't write {}", file.display()))?;
    }
    Ok(())
}

/// The pages, made by the report's own example.
fn pages(directory: &Path) -> Result<Vec<PathBuf>> {
    let maker = build_example("page")?;
    let make = |[calls, rounds, subjects]: [&str; 3]| {
        let page = directory.join(format!("{calls}-{subjects}.html"));
        let mut command = Command::new(&maker);
        let text = shell::output(command.args([calls, "trajectory", rounds, subjects]))?;
        fs::write(&page, text).with_context(|| format!("can't write {}", page.display()))?;
        Ok(page)
    };
    PAGES.into_iter().map(make).collect()
}

/// The quietest of several passes.
fn measured(browser: &mut Browser, gesture: &'static str, ratio: u32) -> Result<Row> {
    let mut passes =
        (0..PASSES).map(|_| pass(browser, gesture, ratio)).collect::<Result<Vec<Row>>>()?;
    passes.sort_by(|left, right| left.frame_ms.p95.total_cmp(&right.frame_ms.p95));
    Ok(passes.swap_remove(0))
}

fn pass(browser: &mut Browser, gesture: &'static str, ratio: u32) -> Result<Row> {
    let script = include_str!("page/gestures.js");
    let result = browser.evaluate(&format!("{script}('{gesture}', {STEPS})"))?;
    if result["outside"] != 0 {
        bail!("{} samples lie outside the resting view: not all are drawn", result["outside"]);
    }
    Ok(Row {
        samples: result["samples"].as_u64().context("the plot counted no samples")?,
        ratio,
        gesture,
        drawing_ms: spread(&result["drawing"])?,
        frame_ms: spread(&result["frame"])?,
    })
}

fn spread(values: &Value) -> Result<Spread> {
    let values = values.as_array().context("no frame was drawn")?;
    let mut sorted: Vec<f64> = values.iter().filter_map(Value::as_f64).collect();
    if sorted.len() != STEPS {
        bail!("{} frames were drawn, and not {STEPS}", sorted.len());
    }
    sorted.sort_by(f64::total_cmp);
    let p95 = sorted[STEPS * 95 / 100 - 1];
    let max = sorted[STEPS - 1];
    Ok(Spread { median: median(sorted).unwrap_or(f64::NAN), p95, max })
}

/// Counts a row against the limit; beyond it on a machine that has more to do than CPUs, nothing is
/// known.
fn judge(row: &Row, load: Option<f64>, tally: &mut Tally) {
    let Row { samples, ratio, gesture, frame_ms, .. } = row;
    let result = format!(
        "{gesture} with {samples} samples at ratio {ratio}: 95 of 100 frames within {:.1} ms",
        frame_ms.p95
    );
    println!("{result}");
    let cpus = std::thread::available_parallelism().map_or(1.0, |count| count.get() as f64);
    match load.filter(|load| *load > cpus) {
        _ if frame_ms.p95 <= FRAME_MS_MOST => tally.pass(1),
        Some(load) => {
            let why = format!("undecided: load {load} on {cpus} CPUs; again on a quiet machine");
            tally.skip(&result, &why);
        }
        None => tally.fail(format!("{result}, more than {FRAME_MS_MOST}")),
    }
}

/// How many processes wanted to run during the last minute; none where the system doesn't say.
fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

fn markdown(rows: &[Row]) -> String {
    let (width, height) = WINDOW;
    let load = load().map_or_else(|| "unknown".to_owned(), |load| load.to_string());
    let mut text = format!(
        "{STEPS} frames of each gesture in headless Chromium, the quietest of {PASSES} passes, {width} \
         by {height}, load {load} at the end; milliseconds. Drawing is the plot's own work, a frame all until the page is free \
         again.\n\n\
         | samples | pixel ratio | gesture | drawing: median | p95 | longest | frame: median | p95 | \
         longest |\n\
         | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    );
    for row in rows {
        let _ = write!(text, "| {} | {} | {} |", row.samples, row.ratio, row.gesture);
        for Spread { median, p95, max } in [row.drawing_ms, row.frame_ms] {
            let _ = write!(text, " {median:.1} | {p95:.1} | {max:.1} |");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(p95: f64) -> Row {
        let spread = Spread { median: 12.0, p95, max: 60.0 };
        Row { samples: 525_000, ratio: 2, gesture: "pan", drawing_ms: spread, frame_ms: spread }
    }

    #[test]
    fn a_spread_is_of_all_frames() {
        let frames: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let wanted = Spread { median: 50.5, p95: 95.0, max: 100.0 };
        assert_eq!(spread(&json!(frames)).unwrap(), wanted);
        assert!(spread(&json!(frames[1..])).is_err());
        assert!(spread(&Value::Null).is_err());
    }

    #[test]
    fn more_than_one_slow_frame_of_twenty_fails_unless_the_machine_is_busy() {
        let judged = |p95, load| {
            let mut tally = Tally::default();
            judge(&row(p95), load, &mut tally);
            tally.summary()
        };
        assert!(judged(50.0, Some(1e6)).contains("1 passed, 0 failed, 0 skipped"));
        assert!(judged(50.1, Some(0.0)).contains("0 passed, 1 failed, 0 skipped"));
        assert!(judged(50.1, None).contains("0 passed, 1 failed, 0 skipped"));
        assert!(judged(50.1, Some(1e6)).contains("0 passed, 0 failed, 1 skipped"));
    }

    #[test]
    fn the_table_has_a_line_for_each_gesture() {
        let text = markdown(&[row(40.0)]);
        let line = "| 525000 | 2 | pan | 12.0 | 40.0 | 60.0 | 12.0 | 40.0 | 60.0 |";
        assert_eq!(text.lines().last(), Some(line));
    }
}
