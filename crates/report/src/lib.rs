//! Findings in, text out: tables in a terminal, JSON for programs, one self-contained HTML page, and
//! exports for other programs.
//!
//! Nothing here measures or concludes; it takes a [`model::Run`] and its [`findings::Conclusions`]
//! and says them, whole: what has no figure is named with its reason.
#![forbid(unsafe_code)]

pub mod advice;
pub mod export;
mod guests;
pub mod history;
pub mod html;
pub mod json;
pub mod layout;
pub mod matrix;
pub mod schemas;
pub mod terminal;
mod text;
mod worded;

pub use text::averages::name as average_name;
