//! Samples a program for as long as it runs, and prints the functions that it was most often in:
//! `cargo run -p stacks --example profile -- sh -c 'seq 1000000 | sort'`.

use rustix::process::Pid;
use std::collections::HashMap;
use std::process::Command;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (program, arguments) = words.split_first().ok_or("name a program")?;
    stacks::Profiler::check()?;
    let mut child = Command::new(program).args(arguments).spawn()?;
    let mut profiler = stacks::Profiler::start(Pid::from_child(&child), 997)?;
    while child.try_wait()?.is_none() {
        std::thread::sleep(Duration::from_millis(50));
        profiler.take();
    }
    let profile = profiler.finish(&|_| true);
    let mut samples: HashMap<u32, u64> = HashMap::new();
    for innermost in profile.samples.iter().filter_map(|sample| sample.stack.last()) {
        *samples.entry(*innermost).or_default() += 1;
    }
    let mut functions: Vec<(u32, u64)> = samples.into_iter().collect();
    functions.sort_by_key(|&(_, samples)| std::cmp::Reverse(samples));
    println!(
        "{} samples by {:?}; not seen: {:?}",
        profile.samples.len(),
        profile.event,
        profile.limits
    );
    for (frame, samples) in functions.into_iter().take(20) {
        let frame = &profile.frames[frame as usize];
        let share = 100.0 * samples as f64 / profile.samples.len() as f64;
        println!("{share:5.1} %  {} ({})", frame.function, frame.module);
    }
    Ok(())
}
