//! Figures as text, in the words of the findings, so that a table and a sentence agree.

pub(crate) use analysis::words::{
    Unit, count as whole, divided, factor, percent, place, ratio, significant as figure,
};

/// What stands where there is no figure.
pub(crate) const NONE: &str = "–";
