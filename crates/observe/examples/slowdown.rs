//! How much being watched slows a server down: `cargo run --release -p knee-observe --example slowdown`.
//!
//! An event loop that is always busy (a write, an epoll wait over 1,000 descriptors, a read, and so
//! much work of its own) is left alone and watched in turn, pair by pair. What counts is how many
//! rounds it makes per second of its own CPU time: that is the same on a machine with others at work.
//! Arguments: pairs (9), seconds for each side (5), nanoseconds of work a round (0, 1000, 10000).

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

const WATCHED: usize = 1000;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, work] = words.as_slice()
        && first == "serve"
    {
        return serve(Duration::from_nanos(work.parse()?));
    }
    let mut numbers = words.iter().map(|word| word.parse::<u64>());
    let pairs = numbers.next().transpose()?.unwrap_or(9).max(1);
    let time = Duration::from_secs(numbers.next().transpose()?.unwrap_or(5).max(1));
    let mut works: Vec<u64> = numbers.collect::<Result<_, _>>()?;
    if works.is_empty() {
        works = vec![0, 1_000, 10_000];
    }
    println!(
        "work a round   rounds a CPU second   watched to alone: median (least to most)   by its own estimate"
    );
    for work in works {
        compare(work, pairs, time)?;
    }
    Ok(())
}

fn compare(work: u64, pairs: u64, time: Duration) -> Outcome<()> {
    let server = Server::start(work)?;
    let (mut ratios, mut speeds, mut costs) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..pairs {
        let alone = || {
            server.speed_during(|| {
                std::thread::sleep(time);
                Ok(())
            })
        };
        let mut cost = 0.0;
        let mut watched = || {
            server.speed_during(|| {
                cost = observe::observe(server.child.id(), time, &|| false)?.cost;
                Ok(())
            })
        };
        let (alone, watched) = if pair % 2 == 0 {
            let alone = alone()?;
            (alone, watched()?)
        } else {
            let watched = watched()?;
            (alone()?, watched)
        };
        ratios.push(watched / alone);
        speeds.push(alone);
        costs.push(cost);
    }
    for figures in [&mut ratios, &mut speeds, &mut costs] {
        figures.sort_by(f64::total_cmp);
    }
    let median = |figures: &[f64]| figures[figures.len() / 2];
    println!(
        "{work:9} ns   {:19.0}   {:.3} ({:.3} to {:.3}), {pairs} pairs   {:.3}",
        median(&speeds),
        median(&ratios),
        ratios[0],
        ratios[ratios.len() - 1],
        1.0 - median(&costs)
    );
    Ok(())
}

/// The busy event loop in a process of its own, and the last line that it printed.
struct Server {
    child: Child,
    last: Arc<Mutex<(f64, f64)>>,
}

impl Server {
    fn start(work: u64) -> Outcome<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["serve", &work.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        let last = Arc::new(Mutex::new((0.0, 0.0)));
        let slot = Arc::clone(&last);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut figures = line.split(' ').filter_map(|figure| figure.parse::<f64>().ok());
                if let (Some(rounds), Some(seconds), Ok(mut slot)) =
                    (figures.next(), figures.next(), slot.lock())
                {
                    *slot = (rounds, seconds);
                }
            }
        });
        let server = Server { child, last };
        while server.now()?.1 < 0.5 {
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Rounds and CPU seconds up to now, as last reported.
    fn now(&self) -> Outcome<(f64, f64)> {
        Ok(*self.last.lock().map_err(|_| "the reader has ended")?)
    }

    fn speed_during(&self, what: impl FnOnce() -> Outcome<()>) -> Outcome<f64> {
        let before = self.now()?;
        what()?;
        let after = self.now()?;
        Ok((after.0 - before.0) / (after.1 - before.1))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server's side: it reports fifty times a second how many rounds it has made in how much time.
fn serve(work: Duration) -> Outcome<()> {
    let pipes: Vec<_> = (0..WATCHED).map(|_| std::io::pipe()).collect::<Result<_, _>>()?;
    let epoll = sys::epoll::create()?;
    for (reader, _) in &pipes {
        sys::epoll::add(epoll.as_fd(), reader.as_fd(), libc::EPOLLIN as u32, 0)?;
    }
    let (mut reader, mut writer) = (&pipes[0].0, &pipes[0].1);
    let steps = steps_in(work);
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; 16];
    let mut reported = Instant::now();
    for round in 1_u64.. {
        writer.write_all(b"!")?;
        sys::epoll::wait(epoll.as_fd(), &mut events, None)?;
        reader.read_exact(&mut [0])?;
        spin(steps);
        if round.is_multiple_of(64) && reported.elapsed() > Duration::from_millis(20) {
            let used = sys::process::resources();
            println!("{round} {}", (used.user_ns + used.system_ns) as f64 / 1e9);
            reported = Instant::now();
        }
    }
    Ok(())
}

/// Work that takes as much CPU time whatever else the machine does.
fn spin(steps: u64) {
    for step in 0..steps {
        std::hint::black_box(step);
    }
}

/// How many steps of work take so long, by the best of some trials.
fn steps_in(work: Duration) -> u64 {
    const TRIAL: u64 = 1_000_000;
    let trial = |_| {
        let began = Instant::now();
        spin(TRIAL);
        began.elapsed().as_secs_f64()
    };
    let best = (0..20).map(trial).fold(f64::INFINITY, f64::min);
    (work.as_secs_f64() / best * TRIAL as f64) as u64
}
