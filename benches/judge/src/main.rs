//! How often verdicts on functions of known growth are wrong while CPUs are busy: the crate grows, and bigoish.
//!
//! `cargo xtask bench grows` runs it, next to a loop of `cargo check`. The exit code is 1 if more than one linear function in a
//! thousand fails, or less than 99 of 100 quadratic ones.

use grows::{Class, Kept};
use std::collections::{BTreeMap, HashMap, LinkedList};
use std::env;
use std::hint::black_box;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The points of a test that has two seconds.
const POINTS: [u64; 5] = [30, 100, 300, 1_000, 3_000];
/// What the documentation of bigoish asks for: twenty points over orders of magnitude. It calls the function at least
/// fifty times at each, which leaves no time for 3,000.
const POINTS_OF_BIGOISH: (u64, u64, u32) = (30, 1_000, 20);

/// It judges one of so many linear and of so many quadratic functions: the latter take it minutes.
const SHARES_OF_BIGOISH: [u32; 2] = [10, 40];

/// A function with its name, of an amount of work.
type Function = (&'static str, fn(u64) -> u64);

const LINEAR: &[Function] = &[
    ("sum", |n| (0..n).fold(0, |sum, item| sum ^ black_box(item))),
    ("vector", |n| (0..n).collect::<Vec<u64>>().len() as u64),
    ("text", |n| (0..n).map(|_| 'a').collect::<String>().len() as u64),
    ("hash map", |n| (0..n).map(|key| (key, key)).collect::<HashMap<_, _>>().len() as u64),
    ("list", |n| (0..n).collect::<LinkedList<_>>().into_iter().sum()),
    ("reverse", |n| (0..n).rev().collect::<Vec<_>>().iter().rev().copied().sum()),
    ("zeros", |n| vec![0_u8; n as usize * 64].iter().map(|byte| u64::from(*byte)).sum()),
    ("remainders", |n| (0..n).fold(0, |sum, item| sum + black_box(item % 7))),
];

const QUADRATIC: &[Function] = &[
    ("pairs", |n| (0..n).flat_map(|a| (0..n).map(move |b| a ^ b)).fold(0, |sum, item| sum ^ item)),
    ("front", |n| {
        let mut items = Vec::new();
        (0..n).for_each(|item| items.insert(0, [item; 16]));
        items.len() as u64
    }),
    ("find", |n| {
        let items: Vec<u64> = (0..n).collect();
        items.iter().filter(|item| items.contains(black_box(item))).count() as u64
    }),
    ("bubble", |n| {
        let mut items: Vec<u64> = (0..n).rev().collect();
        for end in (1..items.len()).rev() {
            for at in 0..end {
                if items[at] > items[at + 1] {
                    items.swap(at, at + 1);
                }
            }
        }
        items[0]
    }),
    ("copies", |n| {
        let items: BTreeMap<u64, u64> = (0..n).map(|key| (key, key)).collect();
        (0..n).map(|_| items.values().sum::<u64>()).fold(0, |sum, item| sum ^ item)
    }),
];

/// The verdicts on functions of one growth, all held against linear.
#[derive(Default)]
struct Counts {
    holds: u32,
    open: u32,
    fails: u32,
    seconds: Vec<f64>,
}

impl Counts {
    fn add(&mut self, verdict: Kept, took: Duration) {
        match verdict {
            Kept::Holds => self.holds += 1,
            Kept::Open => self.open += 1,
            Kept::Fails => self.fails += 1,
        }
        self.seconds.push(took.as_secs_f64());
    }

    fn row(&mut self, judge: &str, functions: &str) {
        self.seconds.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let last = self.seconds.len().saturating_sub(1);
            self.seconds.get((last as f64 * share) as usize).copied().unwrap_or(0.0)
        };
        let Self { holds, open, fails, .. } = self;
        let (median, tail, max) = (at(0.5), at(0.99), at(1.0));
        println!(
            "| {judge} | {functions} | {holds} | {open} | {fails} | {median:.2} | {tail:.2} | {max:.2} |"
        );
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "--spin") {
        spin();
    }
    let number =
        |at: usize, default: u32| words.get(at).and_then(|n| n.parse().ok()).unwrap_or(default);
    let (linear, quadratic, busy) = (number(0, 1_000), number(1, 200), number(2, 6));
    let spinning: Vec<Child> = (0..busy).map(|_| spinner()).collect();
    // A panic is a verdict here.
    set_hook(Box::new(|_| {}));
    println!("| judge | functions | holds | open | fails | s: median | 99 % | max |");
    println!("|---|---|---:|---:|---:|---:|---:|---:|");
    let mut is_kept = true;
    let kinds = [(LINEAR, "linear", linear), (QUADRATIC, "quadratic", quadratic)];
    for (functions, growth, count) in kinds {
        let mut counts = Counts::default();
        for (name, times, function) in drawn(functions, count) {
            let start = Instant::now();
            let judged = grows::cost(name).over(POINTS).measure(function).judge(Class::Linear);
            counts.add(judged.verdict, start.elapsed());
            let expected = if growth == "linear" { Kept::Holds } else { Kept::Fails };
            if judged.verdict != expected {
                eprintln!("{growth} {name} ×{times}: {}", judged.sentence);
            }
        }
        counts.row("grows", growth);
        is_kept &= match growth {
            "linear" => counts.fails <= count.div_ceil(1_000),
            _ => counts.fails * 100 >= count * 99,
        };
    }
    for ((functions, growth, count), share) in kinds.into_iter().zip(SHARES_OF_BIGOISH) {
        let mut counts = Counts::default();
        for (_, _, function) in drawn(functions, count.div_ceil(share)) {
            let start = Instant::now();
            let verdict = bigoish(function);
            counts.add(verdict, start.elapsed());
        }
        counts.row("bigoish", growth);
    }
    for mut child in spinning {
        // It may have ended with the terminal.
        let _ = child.kill();
        let _ = child.wait();
    }
    ExitCode::from(u8::from(!is_kept))
}

/// Functions of a kind, each with its name and how often it does its work.
fn drawn(
    functions: &'static [Function],
    count: u32,
) -> impl Iterator<Item = (&'static str, u64, impl Fn(u64) -> u64)> {
    let mut random = fastrand::Rng::with_seed(43);
    (0..count).map(move |_| {
        let (name, function) = functions[random.usize(..functions.len())];
        let times = random.u64(1..4);
        (name, times, move |n| (0..times).map(|_| function(black_box(n))).sum())
    })
}

/// What bigoish says: that a line fits the function best, or it panics.
fn bigoish(function: impl Fn(u64) -> u64) -> Kept {
    let (first, last, count) = POINTS_OF_BIGOISH;
    let ratio = (last as f64 / first as f64).powf(1.0 / f64::from(count - 1));
    let points = (0..count).map(|at| (first as f64 * ratio.powi(at as i32)).round() as u64);
    let inputs: Vec<(usize, u64)> = points.map(|n| (n as usize, n)).collect();
    let fits = || bigoish::assert_best_fit(bigoish::N, function, inputs);
    if catch_unwind(AssertUnwindSafe(fits)).is_ok() { Kept::Holds } else { Kept::Fails }
}

/// A process that uses a CPU until this one ends.
fn spinner() -> Child {
    let program = env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.arg("--spin").stdin(Stdio::piped()).spawn().expect("a process more")
}

fn spin() -> ! {
    std::thread::spawn(|| {
        // Its end is that of the process that started this one.
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    loop {
        black_box(0);
    }
}
