//! Whether the texts of a document can be shown as they are: a control character could give orders to a
//! terminal or begin a line of its own in a list, and an invisible one could turn or hide its neighbours.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The last output of a failed cell's command, unchanged: kept, and shown nowhere.
const KEPT: &str = "detail";

/// Refuses the first text with a character that is not printable, keys included.
pub(super) fn check(bytes: &[u8]) -> serde_json::Result<()> {
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let shown = Texts { shown: true };
    shown.deserialize(&mut parser)?;
    parser.end()
}

/// All texts of a value. What comes of it says whether it is the word [`KEPT`].
#[derive(Clone, Copy)]
struct Texts {
    shown: bool,
}

impl<'de> DeserializeSeed<'de> for Texts {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<bool, D::Error> {
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Texts {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<bool, E> {
        if self.shown && !text.chars().all(printable::is_printable) {
            return Err(E::custom("a text with a control or an invisible character in it"));
        }
        Ok(text == KEPT)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<bool, A::Error> {
        while items.next_element_seed(self)?.is_some() {}
        Ok(false)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<bool, A::Error> {
        while let Some(kept) = fields.next_key_seed(Texts { shown: true })? {
            fields.next_value_seed(Texts { shown: self.shown && !kept })?;
        }
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
}
