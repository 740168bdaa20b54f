//! Distributions as text: an `HdrHistogram`, V2, deflated, in base 64.

use crate::tally::histogram;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::Deserialize;
use serde::de::Error;

pub(crate) fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    STANDARD.encode(bytes)
}

/// The distribution with the bounds that all have here, so that it can be added to any.
pub(crate) fn decode(packed: &str) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD.decode(packed).map_err(|error| format!("a histogram: {error}"))?;
    let read = Deserializer::new().deserialize::<u64, _>(&mut &bytes[..]);
    let read = read.map_err(|error| format!("a histogram: {error}"))?;
    let mut all = histogram();
    all.add(&read).map_err(|error| format!("a histogram: {error}"))?;
    Ok(all)
}

pub(crate) fn serialize<S: serde::Serializer>(
    histogram: &Histogram<u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&encode(histogram))
}

pub(crate) fn deserialize<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Histogram<u64>, D::Error> {
    let packed = String::deserialize(deserializer)?;
    decode(&packed).map_err(D::Error::custom)
}
