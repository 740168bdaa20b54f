//! Distributions of times, which add up.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::AddAssign;

/// The longest time that a distribution distinguishes: an hour.
const TIME_NS_MAX: u64 = 3_600_000_000_000;

/// A distribution of times in nanoseconds, of which three digits are kept. It takes hundreds of kilobytes in memory, and some
/// as text: an `HdrHistogram`, V2, deflated, in base 64.
#[derive(Clone, Debug, Default)]
pub(crate) enum Distribution {
    #[default]
    Empty,
    Open(Histogram<u64>),
    Packed(String),
}

/// A distribution.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Quantiles {
    /// How many values.
    pub count: u64,
    /// The minimum.
    pub min: f64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub stddev: f64,
    /// Half are at most this.
    pub p50: f64,
    /// 90 % are at most this.
    pub p90: f64,
    /// 99 % are at most this.
    pub p99: f64,
    /// 99.9 % are at most this.
    pub p99_9: f64,
    /// The maximum.
    pub max: f64,
    /// All of them: an `HdrHistogram`, V2, deflated, in base 64.
    pub histogram: String,
}

impl Quantiles {
    /// How many are at most so many nanoseconds; none of no values.
    pub fn count_within(&self, time_ns: u64) -> u64 {
        let Ok(histogram) = decode(&self.histogram) else { return 0 };
        histogram.count_between(0, time_ns)
    }
}

impl Distribution {
    #[inline]
    pub(crate) fn record(&mut self, time_ns: i64) {
        self.open().saturating_record(time_ns.max(1) as u64);
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Distribution::Empty)
    }

    /// Gives back the memory that recording and adding take.
    pub(crate) fn pack(&mut self) {
        if let Distribution::Open(histogram) = self {
            *self = Distribution::Packed(encode(histogram));
        }
    }

    pub(crate) fn subtract(&mut self, part: &Distribution) {
        // What a part has, the whole has.
        let _ = self.open().subtract(&*part.histogram());
    }

    pub(crate) fn histogram(&self) -> Cow<'_, Histogram<u64>> {
        match self {
            Distribution::Empty => Cow::Owned(histogram()),
            Distribution::Open(histogram) => Cow::Borrowed(histogram),
            // It was packed here, or checked when it was read.
            Distribution::Packed(text) => Cow::Owned(decode(text).unwrap_or_else(|_| histogram())),
        }
    }

    #[inline]
    fn open(&mut self) -> &mut Histogram<u64> {
        if !matches!(self, Distribution::Open(_)) {
            *self = Distribution::Open(self.histogram().into_owned());
        }
        match self {
            Distribution::Open(histogram) => histogram,
            _ => unreachable!("it was opened"),
        }
    }

    pub(crate) fn quantiles(&self) -> Quantiles {
        let histogram = self.histogram();
        if histogram.is_empty() {
            return Quantiles::default();
        }
        let at = |quantile: f64| histogram.value_at_quantile(quantile) as f64;
        Quantiles {
            count: histogram.len(),
            min: histogram.min() as f64,
            mean: histogram.mean(),
            stddev: histogram.stdev(),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p99_9: at(0.999),
            max: histogram.max() as f64,
            histogram: encode(&histogram),
        }
    }
}

impl AddAssign<&Distribution> for Distribution {
    fn add_assign(&mut self, more: &Distribution) {
        if self.is_empty() {
            self.clone_from(more);
        } else if !more.is_empty() {
            // All have the same bounds, so this can't fail.
            let _ = self.open().add(&*more.histogram());
        }
    }
}

impl Serialize for Distribution {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Distribution::Empty => serializer.serialize_str(""),
            Distribution::Open(histogram) => serializer.serialize_str(&encode(histogram)),
            Distribution::Packed(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() {
            return Ok(Distribution::Empty);
        }
        decode(&text).map_err(D::Error::custom)?;
        Ok(Distribution::Packed(text))
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, TIME_NS_MAX, 3)
        .unwrap_or_else(|_| unreachable!("bounds that hold"))
}

fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    STANDARD.encode(bytes)
}

/// The distribution with the bounds that all have here, so that it can be added to any.
fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("a histogram: {error}");
    let bytes = STANDARD.decode(text).map_err(|error| wrong(&error))?;
    let read = Deserializer::new().deserialize::<u64, _>(&mut &bytes[..]);
    let mut all = histogram();
    all.add(read.map_err(|error| wrong(&error))?).map_err(|error| wrong(&error))?;
    Ok(all)
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Times {
    /// From the intended time of a request to the end of its reply.
    pub latency: Distribution,
    /// From the moment that it was sent; empty in a closed loop, where it would equal `latency`.
    pub service: Distribution,
    /// How long the requests had waited that were given up or never sent.
    pub given_up: Distribution,
}

impl Times {
    /// The latencies, with the waits of requests that were given up or never sent.
    pub(crate) fn at_least(&self) -> Distribution {
        let mut all = self.latency.clone();
        all += &self.given_up;
        all
    }

    pub(crate) fn pack(&mut self) {
        self.latency.pack();
        self.service.pack();
        self.given_up.pack();
    }
}

impl AddAssign<&Times> for Times {
    fn add_assign(&mut self, more: &Times) {
        self.latency += &more.latency;
        self.service += &more.service;
        self.given_up += &more.given_up;
    }
}
