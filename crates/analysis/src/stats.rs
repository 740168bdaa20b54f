//! The statistics kit: what a textbook has, under its textbook name.

pub mod bootstrap;
pub mod moments;
pub mod normal;
pub mod poisson;
pub mod quantiles;
pub mod random;
pub mod regression;
pub mod sign_test;
pub mod student;
pub(crate) mod whole_quantile;

/// Half the width of a 95 % CI in standard errors, for normal noise of known size.
pub const NORMAL_95: f64 = 1.96;

/// No factor is further from one than a million times: its logarithm.
pub const FACTOR_LOG_MAX: f64 = 13.8;
