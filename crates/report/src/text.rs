//! Texts that terminal, page and exports share.

pub(crate) mod averages;
pub(crate) mod distributions;
pub(crate) mod instructions;
pub(crate) mod leads;
pub(crate) mod metrics;
pub(crate) mod notes;
pub(crate) mod parameters;
pub(crate) mod runs;
pub(crate) mod tables;

/// Stands where there is no figure.
pub(crate) const NO_FIGURE: &str = "–";
