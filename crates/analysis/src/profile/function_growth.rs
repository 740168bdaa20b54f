//! How the time that operations spend in one function grows along the axis: by the rules of every other cost.

use crate::Growth;
use crate::growth::growth;
use crate::growth::levels::Level;
use crate::thresholds::SAME_MAX;

/// Samples of one function at one point, and the time of an operation that each stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Samples {
    pub(crate) point: u64,
    pub(crate) count: u64,
    pub(crate) each_ns: f64,
}

/// How a function with these samples grows; `None` with fewer than two points, or without any sample.
///
/// Half a sample is added to each count: none may have been one, and zero has no logarithm.
pub(crate) fn function_growth(samples: &[Samples]) -> Option<Growth> {
    if samples.len() < 2 || samples.iter().all(|samples| samples.count == 0) {
        return None;
    }
    let levels: Vec<Level> = samples
        .iter()
        .map(|&Samples { point, count, each_ns }| {
            let expected = count as f64 + 0.5;
            // Errors beyond these are part of every curve's likelihood.
            Level::new(point, (expected * each_ns).ln(), Some(1.0 / expected.sqrt()))
        })
        .collect();
    Some(growth(&levels, SAME_MAX.ln()))
}
