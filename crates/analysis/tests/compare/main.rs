//! Two runs beside each other, with known truth: few false alarms, real changes found at their size, and
//! what isn't comparable refused.

mod alarms;
mod changed;
mod drawn;
mod found;
mod refused;
