//! Data with the words that are made of it, in one object: for programs that show both.

use schemars::JsonSchema;
use serde::Serialize;

/// Data and its words.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Worded{T}")]
pub(crate) struct Worded<'a, T, W> {
    #[serde(flatten)]
    data: &'a T,
    #[serde(flatten)]
    words: W,
}

/// A sentence of it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Stated {
    pub(crate) sentence: String,
}

impl<'a, T, W> Worded<'a, T, W> {
    pub(crate) fn new(data: &'a T, words: W) -> Self {
        Self { data, words }
    }
}
