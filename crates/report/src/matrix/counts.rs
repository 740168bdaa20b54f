//! How many verdicts there are of each kind.

use analysis::compare::{ComparedTable, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

/// How many ratios there are of each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// Worse, and not within the margin.
    pub slower: usize,
    /// Better, and not within the margin.
    pub faster: usize,
    /// Within the margin.
    pub same: usize,
    /// Too close to call.
    pub undecided: usize,
}

impl Counts {
    /// The verdicts of whole series: the overall ratio of each.
    pub fn of_series<'a>(tables: impl Iterator<Item = &'a ComparedTable>) -> Self {
        tables.flat_map(|table| &table.rows).map(|row| row.overall.verdict).collect()
    }

    /// The verdicts of single points.
    pub fn of_points<'a>(tables: impl Iterator<Item = &'a ComparedTable>) -> Self {
        let rows = tables.flat_map(|table| &table.rows);
        rows.flat_map(|row| row.cells.iter().flatten()).map(|point| point.ratio.verdict).collect()
    }

    /// All verdicts.
    pub fn total(self) -> usize {
        self.decided() + self.undecided
    }

    /// All but the undecided.
    pub fn decided(self) -> usize {
        self.slower + self.faster + self.same
    }

    pub(super) fn each(self) -> [(Verdict, usize); 4] {
        [
            (Verdict::Slower, self.slower),
            (Verdict::Faster, self.faster),
            (Verdict::Same, self.same),
            (Verdict::Undecided, self.undecided),
        ]
    }
}

impl FromIterator<Verdict> for Counts {
    fn from_iter<I: IntoIterator<Item = Verdict>>(verdicts: I) -> Self {
        let mut counts = Self::default();
        for verdict in verdicts {
            *match verdict {
                Verdict::Slower => &mut counts.slower,
                Verdict::Faster => &mut counts.faster,
                Verdict::Same => &mut counts.same,
                Verdict::Undecided => &mut counts.undecided,
            } += 1;
        }
        counts
    }
}
