//! Data with the words that are made of it, in one object: for programs that show both.

use model::Warning;
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
    sentence: String,
}

impl<'a, T> Worded<'a, T, Stated> {
    pub(crate) fn stated(data: &'a T, sentence: String) -> Self {
        Self { data, words: Stated { sentence } }
    }
}

impl<'a, T> Worded<'a, T, Warning> {
    pub(crate) fn warned(data: &'a T, words: Warning) -> Self {
        Self { data, words }
    }
}
