//! A walk through a TOML document that knows at each step where it is.

use crate::model::{Placed, Position, Wrong};
use quantities::did_you_mean;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value with its place.
pub struct Node<'a> {
    value: DeValue<'a>,
    position: Position,
    /// Where each line of the text begins, in bytes, and the text.
    text: &'a str,
}

/// Reads a document.
pub fn parsed(text: &str) -> Result<Node<'_>, Wrong> {
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        // The message may have several lines.
        let what = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
        Wrong { position: position(text, at), what }
    })?;
    let position = Position { line: 1, column: 1 };
    Ok(Node { value: DeValue::Table(document.into_inner()), position, text })
}

/// The place of a byte.
fn position(text: &str, at: usize) -> Position {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    Position { line: 1 + before.matches('\n').count(), column: 1 + before[start..].chars().count() }
}

impl<'a> Node<'a> {
    /// What is wrong with this value.
    pub fn wrong(&self, what: impl Into<String>) -> Wrong {
        Wrong { position: self.position, what: what.into() }
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// The entries of a table whose keys are among `keys`, in the order of the text; `whose` says whose
    /// they are: `a suite`.
    pub fn entries(&self, whose: &str, keys: &[&str]) -> Result<Vec<(Placed, Node<'a>)>, Wrong> {
        let entries = self.any_entries(whose)?;
        for (key, _) in &entries {
            if !keys.contains(&key.typed.as_str()) {
                let hint = did_you_mean(&key.typed, keys)
                    .unwrap_or_else(|| format!("it may have {}", keys.join(", ")));
                return Err(key.wrong(format!("{whose} has no `{}`; {hint}", key.typed)));
            }
        }
        Ok(entries)
    }

    /// The entries of a table, in the order of the text.
    pub fn any_entries(&self, whose: &str) -> Result<Vec<(Placed, Node<'a>)>, Wrong> {
        let DeValue::Table(table) = &self.value else {
            return Err(self.wrong(format!("{whose} is a table, not {}", self.kind())));
        };
        let mut all: Vec<(usize, (Placed, Node<'a>))> = table
            .iter()
            .map(|(key, value)| {
                let at = key.span().start;
                let typed = key.get_ref().to_string();
                (at, (Placed { typed, position: position(self.text, at) }, self.child(value)))
            })
            .collect();
        all.sort_by_key(|(at, _)| *at);
        Ok(all.into_iter().map(|(_, entry)| entry).collect())
    }

    /// The members of an array; a single value stands for an array of one.
    pub fn members(&self) -> Vec<Node<'a>> {
        match &self.value {
            DeValue::Array(array) => array.iter().map(|value| self.child(value)).collect(),
            value => vec![Node { value: value.clone(), position: self.position, text: self.text }],
        }
    }

    fn child(&self, value: &Spanned<DeValue<'a>>) -> Node<'a> {
        let position = position(self.text, value.span().start);
        Node { value: value.get_ref().clone(), position, text: self.text }
    }

    /// A text or a number, as one would type it.
    pub fn word(&self) -> Result<Placed, Wrong> {
        let typed = match &self.value {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().replace('_', ""),
            _ => {
                return Err(
                    self.wrong(format!("a text or a number belongs here, not {}", self.kind()))
                );
            }
        };
        Ok(Placed { typed, position: self.position })
    }

    /// Texts or numbers, as one would type them.
    pub fn several(&self) -> Result<Vec<Placed>, Wrong> {
        let all: Vec<Placed> = self.members().iter().map(Node::word).collect::<Result<_, _>>()?;
        if all.is_empty() {
            Err(self.wrong("there is nothing in this list; leave it out"))
        } else {
            Ok(all)
        }
    }

    /// A text.
    pub fn text(&self) -> Result<Placed, Wrong> {
        match &self.value {
            DeValue::String(text) => {
                Ok(Placed { typed: text.to_string(), position: self.position })
            }
            _ => Err(self.wrong(format!("a text in quotes belongs here, not {}", self.kind()))),
        }
    }

    /// `true` or `false`.
    pub fn yes_or_no(&self) -> Result<bool, Wrong> {
        match self.value {
            DeValue::Boolean(yes) => Ok(yes),
            _ => Err(self.wrong(format!("true or false belongs here, not {}", self.kind()))),
        }
    }

    fn kind(&self) -> &'static str {
        match self.value {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        }
    }
}
