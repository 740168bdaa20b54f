//! A ratio of two sums with a 95 % CI, from blocks of time.
//!
//! Waits that follow each other resemble each other, so single waits are no independent samples;
//! what is drawn again and again are whole blocks of time.

use fastrand::Rng;

const REPLICATES: usize = 1000;

/// With fewer blocks the bootstrap knows too little.
const FEWEST_BLOCKS: usize = 5;

/// A figure with its 95 % CI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

/// One block: two sums, and between which bounds the ratio lay in its single waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub above: f64,
    pub below: f64,
    pub min: f64,
    pub max: f64,
}

/// The ratio of the blocks' sums. With fewer than five blocks the interval is that of the single
/// waits, which is wider than any that could be computed.
pub(crate) fn ratio(blocks: &[Block]) -> Option<Estimate> {
    let value = ratio_of_sums(blocks.iter())?;
    if blocks.len() < FEWEST_BLOCKS {
        let min = blocks.iter().map(|block| block.min).fold(value, f64::min);
        let max = blocks.iter().map(|block| block.max).fold(value, f64::max);
        return Some(Estimate { value, low: min, high: max });
    }
    // The same blocks give the same interval.
    let mut random = Rng::with_seed(0x6b6e_6565);
    let mut replicates: Vec<f64> = (0..REPLICATES)
        .filter_map(|_| {
            ratio_of_sums((0..blocks.len()).map(|_| &blocks[random.usize(..blocks.len())]))
        })
        .collect();
    replicates.sort_by(f64::total_cmp);
    let end = |share: f64| {
        let index = (share * replicates.len() as f64) as usize;
        replicates.get(index.min(replicates.len().saturating_sub(1))).copied().unwrap_or(value)
    };
    // Percentiles of few blocks are too narrow, by what Student's t is wider than the normal.
    let count = blocks.len() as f64;
    let wider = (count / (count - 1.0)).sqrt() * student(count - 1.0) / NORMAL;
    let low = value - (value - end(0.025)).max(0.0) * wider;
    let high = value + (end(0.975) - value).max(0.0) * wider;
    Some(Estimate { value, low: low.max(0.0), high })
}

fn ratio_of_sums<'a>(blocks: impl Iterator<Item = &'a Block>) -> Option<f64> {
    let (above, below) =
        blocks.fold((0.0, 0.0), |sum, block| (sum.0 + block.above, sum.1 + block.below));
    (below > 0.0).then(|| above / below)
}

/// The normal's 97.5 % point.
const NORMAL: f64 = 1.959_964;

/// Student's 97.5 % point by its expansion around the normal's (Abramowitz and Stegun 26.7.5).
fn student(freedom: f64) -> f64 {
    let z = NORMAL;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / freedom + second / freedom.powi(2) + third / freedom.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(above: f64, below: f64) -> Block {
        Block { above, below, min: above / below, max: above / below }
    }

    /// Tables: t at 97.5 % with 4, 10 and 30 degrees of freedom.
    #[test]
    fn students_points_are_those_of_the_tables() {
        for (freedom, point) in [(4.0, 2.776_4), (10.0, 2.228_1), (30.0, 2.042_3)] {
            assert!((student(freedom) - point).abs() < 0.01, "{freedom}: {}", student(freedom));
        }
    }

    #[test]
    fn sums_are_divided_not_ratios_averaged() {
        let blocks: Vec<Block> = (0..20).map(|_| block(10.0, 100.0)).collect();
        assert_eq!(ratio(&blocks), Some(Estimate { value: 0.1, low: 0.1, high: 0.1 }));
        let uneven = [block(1.0, 1.0), block(0.0, 99.0)];
        let got = ratio(&uneven).unwrap();
        assert!((got.value - 0.01).abs() < 1e-12);
        assert_eq!((got.low, got.high), (0.0, 1.0));
        assert_eq!(ratio(&[]), None);
        assert_eq!(ratio(&[block(0.0, 0.0)]), None);
    }

    /// Blocks of skewed sums, whose true ratio is known: mean 3 above to mean 100 below.
    #[test]
    fn intervals_cover_the_true_ratio_as_often_as_they_say() {
        let mut random = Rng::with_seed(2026);
        for count in [6, 12, 40] {
            let covered = (0..400)
                .filter(|_| {
                    let mut skewed = || -(1.0 - random.f64()).ln();
                    let blocks: Vec<Block> = (0..count)
                        .map(|_| {
                            let waits = 20.0 + 20.0 * skewed();
                            block(waits * (2.0 + 0.2 * skewed() + 0.8), waits * 100.0)
                        })
                        .collect();
                    let got = ratio(&blocks).unwrap();
                    (got.low..=got.high).contains(&0.03)
                })
                .count();
            println!("{count} blocks: covered in {covered} of 400");
            assert!((364..400).contains(&covered), "{count} blocks: {covered} of 400");
        }
    }
}
