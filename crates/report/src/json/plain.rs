//! Whether the texts of a document can be shown as they are: a control character could give orders to a
//! terminal or begin a line of its own in a list, and an invisible one could turn or hide its neighbours. And whether a
//! record can keep its counts: its integers have a sign.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The last output of a failed cell's command, unchanged: kept, and shown nowhere.
const KEPT: &str = "detail";
/// What has counts in it. Seeds and addresses may be any number.
const COUNTED: &str = "cells";

/// Refuses the first text with a character that is not printable, keys included, and the first count that is too large.
pub(super) fn check(bytes: &[u8]) -> serde_json::Result<()> {
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    Part { shown: true, counted: false }.deserialize(&mut parser)?;
    parser.end()
}

/// A value with all that is in it.
#[derive(Clone, Copy)]
struct Part {
    /// Whether its texts are shown.
    shown: bool,
    /// Whether its numbers are counts.
    counted: bool,
}

/// What a key says of its value, besides what holds for it anyway.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Kept,
    Counted,
    Other,
}

impl<'de> DeserializeSeed<'de> for Part {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Key, D::Error> {
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Key, E> {
        if self.shown && !text.chars().all(printable::is_printable) {
            return Err(E::custom("a text with a control or an invisible character in it"));
        }
        Ok(match text {
            KEPT => Key::Kept,
            COUNTED => Key::Counted,
            _ => Key::Other,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Key, A::Error> {
        while items.next_element_seed(self)?.is_some() {}
        Ok(Key::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Key, A::Error> {
        while let Some(key) = fields.next_key_seed(Part { shown: true, ..self })? {
            let shown = self.shown && key != Key::Kept;
            fields.next_value_seed(Part { shown, counted: self.counted || key == Key::Counted })?;
        }
        Ok(Key::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Key, E> {
        Ok(Key::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Key, E> {
        Ok(Key::Other)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Key, E> {
        if self.counted && i64::try_from(number).is_err() {
            return Err(E::custom(format_args!("{number} is too large")));
        }
        Ok(Key::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Key, E> {
        Ok(Key::Other)
    }

    fn visit_unit<E>(self) -> Result<Key, E> {
        Ok(Key::Other)
    }
}
