//! Watches a process and prints what it waits for: `cargo run -p knee-observe --example observe -- PID 5`.

use observe::{Estimate, Observation, Waiter, Watched, observe};
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| words.get(index).map(|word| word.parse::<u32>());
    let (pid, seconds) = match (number(0), number(1)) {
        (Some(Ok(pid)), None) => (pid, 5),
        (Some(Ok(pid)), Some(Ok(seconds))) => (pid, seconds),
        _ => {
            eprintln!("usage: observe PID [SECONDS]");
            return ExitCode::from(2);
        }
    };
    match observe(pid, Duration::from_secs(seconds.into()), &|| false) {
        Ok(seen) => {
            print(&seen);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("observe: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print(seen: &Observation) {
    println!(
        "{} ({}): {} threads, {:.1} s, of which seen {:.2} s in {} looks, at {:.1} % of its time",
        seen.name,
        seen.pid,
        seen.threads,
        seen.took.as_secs_f64(),
        seen.looked.as_secs_f64(),
        seen.looks,
        100.0 * seen.cost
    );
    for waiter in &seen.waiters {
        println!("  {}", line(waiter));
    }
    for remark in &seen.remarks {
        println!("  note: {remark}");
    }
}

fn line(waiter: &Waiter) -> String {
    let on = match (waiter.epoll, waiter.threads.as_slice()) {
        (Some(epoll), threads) => {
            format!("{} on descriptor {epoll}, {} threads", waiter.call, threads.len())
        }
        (None, [thread, ..]) => format!("{} of thread {thread}", waiter.call),
        (None, []) => waiter.call.to_string(),
    };
    let watched =
        waiter.watched.map_or("an unknown number".into(), |Watched { min, median, max, exact }| {
            let bound = if exact { "" } else { "at most " };
            format!("{bound}{median} ({min} to {max})")
        });
    let estimate = |figure: Option<Estimate>, scale: f64, unit: &str| {
        figure.map_or("–".into(), |Estimate { value, low, high }| {
            let [value, low, high] = [value, low, high].map(|figure| scale * figure);
            format!("{value:.3}{unit} ({low:.3} to {high:.3})")
        })
    };
    format!(
        "{on}: watches {watched}; {:.0} waits/s, {} seen, {} empty, {} failed, {} full; {} events a \
         wait, at most {}; active {}",
        waiter.waits_per_s,
        waiter.waits,
        waiter.empty,
        waiter.failed,
        waiter.full,
        estimate(waiter.events_per_wait, 1.0, ""),
        waiter.events_most,
        estimate(waiter.ratio, 100.0, " %"),
    )
}
