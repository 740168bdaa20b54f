//! The order of the subjects at each point.

use crate::pairs::comparisons::Comparisons;
use crate::{Ranking, Row};

/// The order of the subjects at each of `points`.
pub(crate) fn rankings(
    comparisons: &Comparisons<'_>,
    rows: &[Row],
    points: &[u64],
) -> Vec<Ranking> {
    let ranking = |(index, &point): (usize, &u64)| {
        let dead = rows.iter().filter(|row| {
            row.cells[index].is_none() && row.unfinished.iter().any(|cells| cells.point == point)
        });
        let unfinished = dead.map(|row| row.subject.clone()).collect();
        Ranking { point, subjects: comparisons.ranking(point), unfinished }
    };
    points.iter().enumerate().map(ranking).collect()
}
