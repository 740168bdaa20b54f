//! Series, rates, profiles and runs of known truth: their verdicts are right, and hardly ever wrong.

mod capacity;
mod clouds;
mod compare;
mod crossing;
mod history;
mod history_levels;
mod kegel;
mod rates;
mod separate;
mod shared_rounds;
mod speedup;
mod synthetic;
mod usl;
mod whole_tails;
