//! How a rate grows with threads or processes that work side by side, up to one for each CPU.

use super::FindingKind;
use crate::conclusions::context::Context;
use crate::finding::Finding;
use crate::finding::names::Names;
use crate::finding::sentence::{Sentence, text};
use crate::finding::verdict::{Tag, Verdict};
use crate::format::{self, count, counted, factor, interval, multiple, significant};
use analysis::{Estimate, Row, SpeedupVerdict, Table};

pub use analysis::Speedup;

impl FindingKind for Speedup {
    const NAME: &'static str = "speedup";
    const IS_WORTH_KNOWING: bool = false;

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let finding = |(table, row): (&Table, &Row)| {
            Some(Finding::about_row(table, row, row.speedup.clone()?))
        };
        context.rows().filter_map(finding).collect()
    }

    /// How many times more would be done in proportion.
    fn rank(&self) -> f64 {
        (self.linear / self.factor.value).max(1.0)
    }

    /// `getppid scales: operations/s rise ×1.98 from 1 to 2 threads (95 % CI 1.93–2.02), of ×2 in
    /// proportion.`
    fn sentence(&self, names: &Names<'_>) -> Sentence {
        let rest = format!(" {}.", verdict(self, names));
        Sentence::new(names.head().into_iter().chain([text(rest)]))
    }

    fn tag(&self) -> Tag {
        Verdict::from(self).tag()
    }
}

fn verdict(speedup: &Speedup, names: &Names<'_>) -> String {
    let (word, rates) = (format::speedup(speedup.verdict), names.counted());
    let threads = |point: u64| counted(&count(point), names.axis());
    let range = format!("from {} to {}", count(speedup.from), threads(speedup.to));
    let (change, ci) = (factor(speedup.factor.value), interval(speedup.factor, significant));
    let linear = format!("of ×{} in proportion", multiple(speedup.linear));
    match speedup.verdict {
        SpeedupVerdict::Scales | SpeedupVerdict::Rises => {
            format!("{word}: {rates} rise {change} {range}{ci}, {linear}")
        }
        SpeedupVerdict::Holds | SpeedupVerdict::Undecided => {
            let is = if speedup.verdict == SpeedupVerdict::Holds { "" } else { "is " };
            format!("{is}{word}: {rates} {change} {range}{ci}, {linear}")
        }
        SpeedupVerdict::Falls | SpeedupVerdict::Collapses | SpeedupVerdict::Peaks => {
            let behind = speedup.peak.zip(speedup.after_peak);
            let (from, change) =
                behind.map_or((speedup.from, speedup.factor), |(peak, change)| (peak.at, change));
            let at = if speedup.verdict == SpeedupVerdict::Peaks {
                format!(" at {}", threads(from))
            } else {
                String::new()
            };
            let range = format!("from {} to {}", count(from), threads(speedup.to));
            format!("{word}{at}: {rates} {}", fall(change, &range))
        }
    }
}

/// `fall ÷1.31 from 1 to 2 threads (95 % CI 1.20–1.44)`.
fn fall(change: Estimate, range: &str) -> String {
    let fall = change.inverse();
    format!("fall {} {range}{}", format::fall(fall.value), interval(fall, significant))
}
