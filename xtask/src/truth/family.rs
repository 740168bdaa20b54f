//! A family of truths, a case of it, and what a verdict on it is worth.

use super::random::Sample;
use fastrand::Rng;
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::Arc;

/// Cases that have one thing in common.
#[derive(Clone)]
pub struct Family {
    /// What they have in common.
    pub name: String,
    /// Draws one.
    pub draw: Arc<dyn Fn(&mut Rng) -> Case + Send + Sync>,
}

/// What is measured, and how a verdict on it is judged.
pub struct Case {
    /// What knee gets.
    pub input: Input,
    /// The truth, for whoever looks at a wrong verdict.
    pub about: String,
    /// What the verdict in knee's JSON is worth.
    pub judge: Box<dyn Fn(&Value) -> Score + Send>,
}

/// What knee gets of a case, and so the command that reads it.
pub enum Input {
    /// One run of costs.
    Costs(Vec<Sample>),
    /// One run of rates.
    Rates(Vec<Sample>),
    /// Two runs of costs, whose cells took turns or did not.
    Runs {
        /// The first run.
        base: Vec<Sample>,
        /// The second one.
        new: Vec<Sample>,
        /// Whether their cells took turns.
        in_turns: bool,
    },
}

/// What a verdict is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// The truth and nothing else.
    Exact,
    /// Holds the truth, and something else.
    Right,
    /// No verdict.
    Undecided,
    /// Excludes the truth.
    Wrong,
}

/// The scores of a family's cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scores {
    /// Cases.
    pub cases: u32,
    /// Those that are [`Score::Wrong`].
    pub wrong: u32,
    /// Those that are [`Score::Undecided`].
    pub undecided: u32,
    /// Those that are [`Score::Exact`].
    pub exact: u32,
}

impl Scores {
    /// Counts one more.
    pub fn add(&mut self, score: Score) {
        self.cases += 1;
        match score {
            Score::Exact => self.exact += 1,
            Score::Right => {}
            Score::Undecided => self.undecided += 1,
            Score::Wrong => self.wrong += 1,
        }
    }

    /// Both together.
    pub const fn and(self, second: Self) -> Self {
        Self {
            cases: self.cases + second.cases,
            wrong: self.wrong + second.wrong,
            undecided: self.undecided + second.undecided,
            exact: self.exact + second.exact,
        }
    }

    /// A count as a share of all cases, in per cent.
    pub fn percent(&self, count: u32) -> f64 {
        100.0 * f64::from(count) / f64::from(self.cases.max(1))
    }
}

/// The samples as a table of four columns.
pub fn csv(samples: &[Sample]) -> String {
    let mut text = String::from("series,n,round,figure\n");
    for Sample { series, point, round, figure } in samples {
        // A String takes all that is written to it.
        let _ = writeln!(text, "s{series},{point},{round},{figure:.6}");
    }
    text
}
