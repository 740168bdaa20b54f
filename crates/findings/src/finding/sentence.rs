//! Sentences in parts, so that a page can set subjects off without searching for their names.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fmt;

/// A sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub struct Sentence(Vec<Part>);

/// A part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The label of a subject.
    Subject(String),
    /// What stands between labels.
    Text(String),
}

impl Sentence {
    /// The sentence of these parts.
    pub fn new(parts: impl IntoIterator<Item = Part>) -> Self {
        Self(parts.into_iter().collect())
    }

    /// Its parts, from left to right.
    pub fn parts(&self) -> &[Part] {
        &self.0
    }
}

impl Serialize for Sentence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Text between labels.
pub fn text(text: impl Into<String>) -> Part {
    Part::Text(text.into())
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(items: impl IntoIterator<Item = Part>) -> Vec<Part> {
    list_with("and", items)
}

/// The same with another conjunction: `a, b or c`.
pub fn list_with(conjunction: &str, items: impl IntoIterator<Item = Part>) -> Vec<Part> {
    list_of(conjunction, items.into_iter().map(|item| vec![item]).collect())
}

/// The same of items of several parts each.
pub fn list_of(conjunction: &str, items: Vec<Vec<Part>>) -> Vec<Part> {
    let count = items.len();
    let mut parts = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        match count - index {
            _ if index == 0 => {}
            1 => parts.push(text(format!(" {conjunction} "))),
            _ => parts.push(text(", ")),
        }
        parts.extend(item);
    }
    parts
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| part.fmt(f))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Subject(text) | Self::Text(text)) = self;
        f.write_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_in_and() {
        let listed = |names: &[&str]| {
            let parts = names.iter().map(|&name| Part::Subject(name.to_owned()));
            Sentence::new(list(parts)).to_string()
        };
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b"]), "a and b");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
    }
}
