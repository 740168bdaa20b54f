//! What reads runs: shows, reports and compares them, lists what there is, and advises from them.

pub mod advise;
pub mod compare;
pub mod fleet;
pub mod history;
pub mod list;
pub mod report;
pub mod show;
