//! The names of points where x is words, and the deviations of their means.

use super::columns::Columns;
use super::rows::{Row, Taken};
use findings::NamedPoints;

/// The words on the axis of the rows, where there are some; `count` is how many figures each mean is of.
pub fn named_points(taken: &Taken, columns: &Columns, count: Option<u64>) -> Option<NamedPoints> {
    let deviation = |row: &Row| {
        let parameters = columns.named_parameters(&taken.tables[row.table]);
        let key = (taken.subjects[row.subject].clone(), parameters, row.point.digits);
        Some((key, row.deviation?))
    };
    taken.axis.is_words().then(|| NamedPoints {
        names: taken.axis.words(),
        count,
        deviations: taken.rows.iter().filter_map(deviation).collect(),
    })
}
