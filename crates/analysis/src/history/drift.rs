//! Whether a sequence changed its level gradually, and not at single runs.

use super::levels::{LevelChange, Reading, apart};
use crate::Estimate;
use crate::stats::moments::mean;
use crate::stats::regression::least_squares;

/// A line through all figures that explains them better than the levels between `changes` do, as what it
/// rises from the first figure to the last; `None` where levels explain them as well or there are none.
///
/// Both are compared by Schwarz's criterion: a line has two parameters, levels have one each and one for each
/// change. A line that rises by chance does not count: without changes there is no drift.
pub fn rise(readings: &[Reading], changes: &[LevelChange]) -> Option<Estimate> {
    let first = changes.first()?;
    let values: Vec<f64> = readings.iter().map(|reading| reading.value).collect();
    let apart = apart(&values);
    // What stands apart would outweigh all else.
    let counting: Vec<usize> = (0..values.len()).filter(|&at| !apart[at]).collect();
    let y: Vec<f64> = counting.iter().map(|&at| values[at]).collect();
    let x: Vec<f64> = counting.iter().map(|&at| at as f64).collect();
    let slope = least_squares(&x, &y).filter(|slope| slope.low > 0.0 || slope.high < 0.0)?;
    let one_way = changes.iter().all(|change| change.by.value * first.by.value > 0.0);
    if !one_way {
        return None;
    }
    let counted = |to: usize| counting.iter().filter(|&&at| at < to).count();
    let mut ends: Vec<usize> = changes.iter().map(|change| counted(change.at)).collect();
    ends.push(y.len());
    let mut from = 0;
    let mut level_squares = 0.0;
    for to in ends {
        level_squares += squares(&y[from..to], |_| mean(&y[from..to]));
        from = to;
    }
    let (x_mean, y_mean) = (mean(&x), mean(&y));
    let line_squares = squares(&y, |at| y_mean + slope.value * (x[at] - x_mean));
    let count = y.len() as f64;
    let levels = count * level_squares.ln() + (2 * changes.len() + 1) as f64 * count.ln();
    let line = count * line_squares.ln() + 2.0 * count.ln();
    let times = |by: f64| by * (readings.len() - 1) as f64;
    (line < levels).then(|| Estimate {
        value: times(slope.value),
        low: times(slope.low),
        high: times(slope.high),
    })
}

fn squares(figures: &[f64], expected: impl Fn(usize) -> f64) -> f64 {
    figures.iter().enumerate().map(|(at, figure)| (figure - expected(at)).powi(2)).sum()
}
