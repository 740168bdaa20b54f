//! Comparisons of two runs with known truth: few false alarms, real changes are detected at their size, and
//! runs that are not comparable are refused.

mod alarms;
mod changed;
mod contention;
mod detected;
mod drawn;
mod fleet;
mod refused;
mod several;
