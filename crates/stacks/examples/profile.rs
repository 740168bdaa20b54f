//! Samples a program for as long as it runs, and writes the functions that it was most often in to standard error, as
//! tab-separated columns (the share of the samples in it and what it calls, in itself, the function, its module): `cargo run -p knee-stacks --example profile -- 997 sh -c 'seq 1000000 | sort'`, with the samples a
//! second first. Without any words it prints the usual rate of this machine.
//!
//! `cargo xtask bench profile` measures with it what sampling costs, and compares it with `perf record`.

use rustix::process::Pid;
use stacks::Profiler;
use std::collections::{BTreeSet, HashMap};
use std::process::Command;
use std::time::Duration;

const FUNCTIONS_MAX: usize = 40;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        println!("{}", stacks::usual_rate_hz());
        return Ok(());
    }
    let [frequency, program, arguments @ ..] = &words[..] else {
        return Err("name the samples a second, and a program".into());
    };
    let frequency_hz: u64 = frequency.parse()?;
    Profiler::check()?;
    let mut child = Command::new(program).args(arguments).spawn()?;
    let mut profiler = Profiler::start(Pid::from_child(&child), frequency_hz)?;
    let status = loop {
        std::thread::sleep(Duration::from_millis(50));
        profiler.take();
        if let Some(status) = child.try_wait()? {
            break status;
        }
    };
    let profile = profiler.finish(&|_, _| true);
    let mut samples: HashMap<u32, (u64, u64)> = HashMap::new();
    for stack in profile.samples.iter().map(|sample| &sample.stack) {
        let functions: BTreeSet<u32> = stack.iter().copied().collect();
        for frame in functions {
            samples.entry(frame).or_default().0 += 1;
        }
        if let Some(innermost) = stack.last() {
            samples.entry(*innermost).or_default().1 += 1;
        }
    }
    let mut functions: Vec<(u32, (u64, u64))> = samples.into_iter().collect();
    functions.sort_by_key(|&(_, (inclusive, itself))| std::cmp::Reverse(inclusive + itself));
    eprintln!(
        "# {} samples by {:?}; not seen: {:?}",
        profile.samples.len(),
        profile.event,
        profile.limits
    );
    for (frame, (inclusive, itself)) in functions.into_iter().take(FUNCTIONS_MAX) {
        let frame = &profile.frames[frame as usize];
        let [inclusive, itself] =
            [inclusive, itself].map(|count| count as f64 / profile.samples.len() as f64);
        eprintln!("{inclusive:.5}\t{itself:.5}\t{}\t{}", frame.function, frame.module);
    }
    std::process::exit(status.code().unwrap_or(1));
}
