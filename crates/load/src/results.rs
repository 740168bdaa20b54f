//! What a load came to: counts and distributions of threads, intervals and processes, which add up.

pub(crate) mod counts;
pub(crate) mod distribution;
pub(crate) mod interval;
pub(crate) mod misfit;
pub(crate) mod outcome;
pub(crate) mod part;

#[cfg(test)]
mod tests;
