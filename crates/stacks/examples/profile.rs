//! Samples a program for as long as it runs, and writes the functions that it was most often in to standard error, as
//! tab-separated columns: `cargo run -p stacks --example profile -- 997 sh -c 'seq 1000000 | sort'`, with the samples a
//! second first.
//!
//! `cargo xtask bench profile` measures with it what sampling costs, and compares it with `perf record`.

use rustix::process::Pid;
use stacks::Profiler;
use std::collections::HashMap;
use std::process::Command;
use std::time::Duration;

const FUNCTIONS_MAX: usize = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [frequency, program, arguments @ ..] = &words[..] else {
        return Err("name the samples a second, and a program".into());
    };
    // No divisor of the timers that programs use: 997, say.
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
    let mut samples: HashMap<u32, u64> = HashMap::new();
    for innermost in profile.samples.iter().filter_map(|sample| sample.stack.last()) {
        *samples.entry(*innermost).or_default() += 1;
    }
    let mut functions: Vec<(u32, u64)> = samples.into_iter().collect();
    functions.sort_by_key(|&(_, samples)| std::cmp::Reverse(samples));
    eprintln!(
        "# {} samples by {:?}; not seen: {:?}",
        profile.samples.len(),
        profile.event,
        profile.limits
    );
    for (frame, samples) in functions.into_iter().take(FUNCTIONS_MAX) {
        let frame = &profile.frames[frame as usize];
        let share = samples as f64 / profile.samples.len() as f64;
        eprintln!("{share:.5}\t{}\t{}", frame.function, frame.module);
    }
    std::process::exit(status.code().unwrap_or(1));
}
