//! Texts with their positions, and what is wrong with one.

/// A value as it was typed, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The value.
    pub typed: String,
    /// Where it stands.
    pub position: Position,
}

impl Placed {
    /// What is wrong with it.
    pub(crate) fn wrong(&self, what: impl Into<String>) -> Wrong {
        Wrong { position: self.position, what: what.into() }
    }
}

/// A place in a text, both counted from 1; columns are characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// The first thing that is wrong with a text, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {what}", position.line, position.column)]
pub struct Wrong {
    /// Where.
    pub position: Position,
    /// What, and how to fix it.
    pub what: String,
}

impl Wrong {
    /// What it quotes of the text may have anything in it, orders to a terminal included.
    pub(crate) fn without_controls(self) -> Wrong {
        Wrong { what: self.what.replace(char::is_control, " "), ..self }
    }
}
