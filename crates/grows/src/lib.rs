//! Asserts in tests how the cost of a function grows.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! grows::cost("lookup")
//!     .over([1_000, 3_000, 10_000, 30_000, 100_000])
//!     .setup(|n| (0..n).map(|key| (key, key)).collect::<BTreeMap<_, _>>())
//!     .measure(|map| map.get(&700).copied())
//!     .at_most(grows::Class::Linear);
//! ```
//!
//! The function is timed at each point, in rounds that take the points in turns, while the verdict is open and the budget is
//! not used up. The verdict is that of `knee judge`. On Linux, time in which the thread waits for a CPU does not count.
//!
//! The cost may be any number, such as bytes or calls ([`Prepared::metric`]). With [`Cost::threads`] several threads call
//! the function, and the rate is held against what one does. [`bench`] is a harness for `cargo bench`.
#![forbid(unsafe_code)]

mod bench;
mod clock;
mod rounds;
mod series;
mod threads;
mod timed;

pub use analysis::Class;
pub use analysis::growth::limit::Kept;
pub use bench::{Bench, bench};
pub use findings::limit::{JudgedScaling, JudgedSeries};

use analysis::growth::limit::LIMITS;
use rounds::Rounds;
use series::{CALLS, Series};
use std::time::Duration;
use threads::Threads;
use timed::{Measure, Number, Timed};

/// What samples of time are in.
const NS: &str = "ns";

/// The cost of a function, by the name that its verdict has.
pub fn cost(name: &str) -> Cost {
    Cost { name: name.to_owned() }
}

/// See [`cost`].
pub struct Cost {
    name: String,
}

impl Cost {
    /// The points, at least two; five tell more classes apart than three.
    ///
    /// # Panics
    /// With fewer than two.
    #[must_use]
    pub fn over(self, points: impl Into<Vec<u64>>) -> Over {
        let points = ascending(points.into());
        assert!(points.len() >= 2, "{}: name two points or more", self.name);
        Over { name: self.name, points }
    }

    /// How many threads call the function at once. 1 is always measured; what is more than the CPUs is left out, since
    /// more threads than CPUs take turns.
    #[must_use]
    pub fn threads(self, counts: impl Into<Vec<u64>>) -> Workers {
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64);
        let mut counts = counts.into();
        counts.push(1);
        counts.retain(|count| (1..=cpus).contains(count));
        Workers { name: self.name, counts: ascending(counts) }
    }
}

fn ascending(mut points: Vec<u64>) -> Vec<u64> {
    points.sort_unstable();
    points.dedup();
    points
}

/// A cost over points.
pub struct Over {
    name: String,
    points: Vec<u64>,
}

impl Over {
    /// What makes the argument of a point, outside of the timed region.
    pub fn setup<A>(self, setup: impl FnMut(u64) -> A) -> Prepared<A> {
        let arguments = self.points.iter().copied().map(setup).collect();
        Prepared { name: self.name, points: self.points, arguments }
    }

    /// The function of a point itself.
    pub fn measure<R>(self, mut function: impl FnMut(u64) -> R) -> Growth<impl Measure> {
        self.setup(|point| point).measure(move |point: &mut u64| function(*point))
    }

    /// A function of a point that returns its cost: see [`Prepared::metric`].
    pub fn metric(self, unit: &str, mut function: impl FnMut(u64) -> f64) -> Growth<impl Measure> {
        self.setup(|point| point).metric(unit, move |point: &mut u64| function(*point))
    }
}

/// Points, each with its argument.
pub struct Prepared<A> {
    name: String,
    points: Vec<u64>,
    arguments: Vec<A>,
}

impl<A> Prepared<A> {
    /// The function that is timed. Its result is not optimised away.
    pub fn measure<R>(self, function: impl FnMut(&mut A) -> R) -> Growth<impl Measure> {
        let Self { name, points, arguments } = self;
        let timed = Timed::new(function, arguments);
        Growth { rounds: Rounds::new(Series::new(&name, NS), points, timed) }
    }

    /// A function that returns its cost, of which less is better, in `unit`: bytes that it allocates, pages that it reads,
    /// comparisons.
    pub fn metric(self, unit: &str, function: impl FnMut(&mut A) -> f64) -> Growth<impl Measure> {
        let Self { name, points, arguments } = self;
        let number = Number { function, arguments };
        Growth { rounds: Rounds::new(Series::new(&name, unit), points, number) }
    }
}

/// A function over points, measured when it is held against a limit.
pub struct Growth<M> {
    rounds: Rounds<M>,
}

impl<M: Measure> Growth<M> {
    /// How long rounds are added while the verdict is open: 2 s by default.
    #[must_use]
    pub fn budget(mut self, budget: Duration) -> Self {
        self.rounds.budget = budget;
        self
    }

    /// Measures until it is clear whether the cost grows at most like `limit`, or the budget is used up. What stays open is
    /// returned as such.
    ///
    /// # Panics
    /// If it grows faster.
    #[track_caller]
    pub fn at_most(&mut self, limit: Class) -> JudgedSeries {
        let judged = self.judge(limit);
        refuse(judged.verdict, &[Kept::Fails], &judged.sentence);
        judged
    }

    /// The same, where what stays open panics, too.
    ///
    /// # Panics
    /// Unless it surely does.
    #[track_caller]
    pub fn surely_at_most(&mut self, limit: Class) -> JudgedSeries {
        let judged = self.judge(limit);
        refuse(judged.verdict, &[Kept::Fails, Kept::Open], &judged.sentence);
        judged
    }

    /// The same without a panic for what was measured.
    ///
    /// # Panics
    /// If `limit` is no class, but a word for several, such as [`Class::Grows`].
    #[track_caller]
    pub fn judge(&mut self, limit: Class) -> JudgedSeries {
        assert!(LIMITS.contains(&limit), "{limit:?} is no limit: name one of {LIMITS:?}");
        let is_clear = |judged: &JudgedSeries| judged.verdict != Kept::Open;
        let mut judged = self.rounds.until_clear(|series| growth(series, limit), is_clear);
        judged.sentence += &self.rounds.skipped();
        judged
    }
}

/// Panics where the verdict is one of these, and warns where it is open.
#[track_caller]
fn refuse(verdict: Kept, refused: &[Kept], sentence: &str) {
    assert!(!refused.contains(&verdict), "{sentence}");
    if verdict == Kept::Open {
        eprintln!("warning: {sentence}");
    }
}

/// What the samples say of a limit.
fn growth(series: &Series, limit: Class) -> JudgedSeries {
    let judgement = findings::limit::judge(&analysis::analyse(&series.run()), limit);
    let judged = judgement.and_then(|judgement| judgement.series.into_iter().next());
    // There are samples at two points or more.
    judged.unwrap_or_else(|| panic!("{}: no cost was measured", series.name))
}

/// A function that threads are to call at once.
pub struct Workers {
    name: String,
    counts: Vec<u64>,
}

impl Workers {
    /// What makes that which so many threads share.
    pub fn setup<A: Sync>(self, mut setup: impl FnMut(u64) -> A) -> Shared<A> {
        let points = self.counts.into_iter().map(|count| (count, setup(count))).collect();
        Shared { name: self.name, points }
    }

    /// The function that they call, which shares what it captures.
    pub fn measure<R>(self, function: impl Fn() -> R + Sync) -> Scaling<impl Measure> {
        self.setup(|_| ()).measure(move |()| function())
    }
}

/// Numbers of threads, each with what they share.
pub struct Shared<A> {
    name: String,
    points: Vec<(u64, A)>,
}

impl<A: Sync> Shared<A> {
    /// The function that they call. Its result is not optimised away.
    pub fn measure<R>(self, function: impl Fn(&A) -> R + Sync) -> Scaling<impl Measure> {
        let counts = self.points.iter().map(|(count, _)| *count).collect();
        let threads = Threads { function, points: self.points };
        Scaling { rounds: Rounds::new(Series::new(&self.name, CALLS), counts, threads) }
    }
}

/// The rate of a function over the threads that call it, measured when it is held against a limit.
pub struct Scaling<M> {
    rounds: Rounds<M>,
}

impl<M: Measure> Scaling<M> {
    /// How long rounds are added while the verdict is open: 2 s by default.
    #[must_use]
    pub fn budget(mut self, budget: Duration) -> Self {
        self.rounds.budget = budget;
        self
    }

    /// Measures until it is clear whether each thread does at least this share of what one does alone: at 0.8 two do 1.6
    /// times as much. What stays open is returned as such. It does on a machine with one CPU, or too busy to run all at once.
    ///
    /// # Panics
    /// If each does less.
    #[track_caller]
    pub fn at_least(&mut self, share: f64) -> JudgedScaling {
        let judged = self.judge(share);
        refuse(judged.verdict, &[Kept::Fails], &judged.sentence);
        judged
    }

    /// The same, where what stays open panics, too.
    ///
    /// # Panics
    /// Unless each surely does.
    #[track_caller]
    pub fn surely_at_least(&mut self, share: f64) -> JudgedScaling {
        let judged = self.judge(share);
        refuse(judged.verdict, &[Kept::Fails, Kept::Open], &judged.sentence);
        judged
    }

    /// The same without a panic for what was measured.
    #[track_caller]
    pub fn judge(&mut self, share: f64) -> JudgedScaling {
        self.rounds
            .until_clear(|series| scaling(series, share), |judged| judged.verdict != Kept::Open)
    }
}

/// What the samples say of a share. There are none of a machine too busy to run the threads at once.
fn scaling(series: &Series, share: f64) -> JudgedScaling {
    let analysis = analysis::analyse(&series.run());
    let row = analysis.tables.iter().find_map(|table| table.rows.first());
    row.map_or_else(
        || JudgedScaling {
            verdict: Kept::Open,
            factor: None,
            sentence: format!(
                "open: {} at least ×{share} per thread: other programs had the CPUs; end them, or add to the \
                 budget",
                series.name
            ),
        },
        |row| findings::limit::at_least(row, share, series.axis),
    )
}
