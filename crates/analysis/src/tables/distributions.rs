//! How single operations are distributed: the histograms of rounds, merged.

use crate::Distribution;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use model::SubjectInfo;

/// Steps of a curve in each half of what is left: 0, 10, …, 50 %, 55, …, 75 %, 77.5, ….
const STEPS: u32 = 5;

/// Whether there is a histogram that can't be read.
pub fn unreadable(text: &str) -> bool {
    !text.is_empty() && read(text).is_none()
}

/// A histogram as a record keeps it; none where it can't be read.
pub(crate) fn read(text: &str) -> Option<Histogram<u64>> {
    let bytes = STANDARD.decode(text).ok()?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).ok()
}

/// The histograms of rounds as one distribution, that of `subject` at `point`; `None` where none can be read: see
/// [`unreadable`].
pub(crate) fn merged<'a>(
    kept: impl Iterator<Item = &'a str>,
    subject: &SubjectInfo,
    point: u64,
) -> Option<Distribution> {
    let mut histograms = kept.filter_map(read).filter(|round| !round.is_empty());
    let (mut all, mut rounds) = (histograms.next()?, 1);
    for round in histograms {
        // Those of other bounds grow into each other.
        all.auto(true);
        rounds += u32::from(all.add(&round).is_ok());
    }
    let at = |share: f64| all.value_at_quantile(share) as f64;
    Some(Distribution {
        subject: subject.name.clone(),
        label: subject.label.clone(),
        point,
        rounds,
        count: all.len(),
        min: all.min() as f64,
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p99_9: at(0.999),
        max: all.max() as f64,
        curve: shares(all.len()).into_iter().map(|share| (share, at(share))).collect(),
    })
}

/// The shares at which a curve of `count` operations has a figure: the more operations, the closer to 1.
fn shares(count: u64) -> Vec<f64> {
    let mut shares = Vec::new();
    let mut left = 1.0;
    while left * count as f64 > 1.0 {
        shares.extend(
            (0..STEPS).map(|step| 1.0 - left * (1.0 - 0.5 * f64::from(step) / f64::from(STEPS))),
        );
        left *= 0.5;
    }
    shares.push(1.0);
    shares
}
