//! What is written of runs: terminal, page's answer, JSON, exports and comparisons; and what is read back.

#[path = "../fixture/mod.rs"]
mod fixture;

mod advice;
mod answer;
mod comparison;
mod comparison_schema;
mod exchange;
mod export;
mod history;
mod json;
mod multiples;
mod openmetrics;
mod profile_exports;
mod profile_instructions;
mod profiles;
mod side_by_side;
mod terminal;
