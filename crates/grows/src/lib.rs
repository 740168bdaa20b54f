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
//! not used up. The verdict is that of `knee judge`.
#![forbid(unsafe_code)]

mod timed;

pub use analysis::Class;
pub use analysis::growth::limit::Kept;
pub use findings::limit::JudgedSeries;

use analysis::growth::limit::LIMITS;
use foreign_tables::{Input, Request, samples};
use std::io::Cursor;
use std::time::{Duration, Instant};
use timed::{Measure, Timed};

/// Rounds before the first verdict: one shows no spread.
const ROUNDS_MIN: u32 = 3;
/// Rounds after which none is added, whatever the budget.
const ROUNDS_MAX: u32 = 30;
const BUDGET_DEFAULT: Duration = Duration::from_secs(2);

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
        let mut points = points.into();
        points.sort_unstable();
        points.dedup();
        assert!(points.len() >= 2, "{}: name two points or more", self.name);
        Over { name: self.name, points }
    }
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
        Growth { name, points, timed, rounds: 0, lines: String::new(), budget: BUDGET_DEFAULT }
    }
}

/// A function over points, measured when it is held against a limit.
pub struct Growth<M> {
    name: String,
    points: Vec<u64>,
    timed: M,
    rounds: u32,
    /// Samples so far, as lines of a table.
    lines: String,
    budget: Duration,
}

impl<M: Measure> Growth<M> {
    /// How long rounds are added while the verdict is open: 2 s by default.
    #[must_use]
    pub fn budget(self, budget: Duration) -> Self {
        Self { budget, ..self }
    }

    /// Measures until it is clear whether the cost grows at most like `limit`, or the budget is used up. What stays open is
    /// returned as such.
    ///
    /// # Panics
    /// If it grows faster.
    pub fn at_most(&mut self, limit: Class) -> JudgedSeries {
        let judged = self.judge(limit);
        assert!(judged.verdict != Kept::Fails, "{}", judged.sentence);
        judged
    }

    /// The same, where what stays open panics, too.
    ///
    /// # Panics
    /// Unless it surely does.
    pub fn surely_at_most(&mut self, limit: Class) -> JudgedSeries {
        let judged = self.judge(limit);
        assert!(judged.verdict == Kept::Holds, "{}", judged.sentence);
        judged
    }

    /// The same without a panic for what was measured.
    ///
    /// # Panics
    /// If `limit` is no class, but a word for several, such as [`Class::Grows`].
    pub fn judge(&mut self, limit: Class) -> JudgedSeries {
        assert!(LIMITS.contains(&limit), "{limit:?} is no limit: name one of {LIMITS:?}");
        let end = Instant::now() + self.budget;
        loop {
            while self.rounds < ROUNDS_MIN {
                self.round();
            }
            let judged = self.verdict(limit);
            let is_over = || Instant::now() >= end;
            if judged.verdict != Kept::Open || self.rounds >= ROUNDS_MAX || is_over() {
                return judged;
            }
            // As many again: four times as many halve an interval.
            for _ in 0..self.rounds {
                if !is_over() && self.rounds < ROUNDS_MAX {
                    self.round();
                }
            }
        }
    }

    fn round(&mut self) {
        let last = self.points.len() - 1;
        for turn in 0..=last {
            // Forwards and backwards in turns: what gets slower by and by is not taken for growth.
            let index = if self.rounds.is_multiple_of(2) { turn } else { last - turn };
            let value_ns = self.timed.call_ns(index);
            let name = format!("\"{}\"", self.name.replace('"', "\"\""));
            let [point, round] =
                [self.points[index], u64::from(self.rounds)].map(|n| n.to_string());
            let row = [name, point, round, value_ns.to_string(), "ns\n".to_owned()];
            self.lines += &row.join(",");
        }
        self.rounds += 1;
    }

    /// What the samples so far say.
    fn verdict(&self, limit: Class) -> JudgedSeries {
        let table = samples::COLUMNS.join(",") + "\n" + &self.lines;
        let input = Input::new(&self.name, Box::new(Cursor::new(table)));
        // The table is made above, with a cost at two points or more.
        let foreign = foreign_tables::read(&Request::default(), input, Vec::new())
            .unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let judgement = findings::limit::judge(&analysis::analyse(&foreign.run), limit);
        let series = judgement.and_then(|judgement| judgement.series.into_iter().next());
        series.unwrap_or_else(|| panic!("{}: no cost was measured", self.name))
    }
}
