//! The statistics kit: what a textbook has, under its textbook name.
//!
//! | module | what it has |
//! | --- | --- |
//! | `quantiles` | quantiles and medians of samples, sorting |
//! | `logs` | sums of what only logarithms can hold |
//! | `moments` | means and deviations |
//! | `bootstrap` | medians with intervals, intervals from replicates |
//! | `sign_test` | the interval of a median by order statistics alone |
//! | `student` | Student's t: p-values and quantiles |
//! | `regression` | slopes: Theil and Sen's, least squares |
//! | `poisson` | intervals of counts and of shares of them |
//! | `random` | seeded draws |
//! | `thresholds` | the numbers that decide |
//! | `whole_quantile` | quantiles of all operations of a load, with CIs |

pub mod bootstrap;
pub mod logs;
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
