//! A comparison of two runs: for a terminal, as JSON, as Markdown for a pull request, and as a page.
//!
//! All four have the same order: what differed when the runs were measured, how many verdicts there are of each
//! kind, what changed, the ratios, what is left out, and the confidence.

mod counts;
mod html;
mod json;
mod markdown;
mod sight;
mod terminal;
mod text;

pub use counts::{Counts, Pair};
pub use html::page;
pub(crate) use json::CONFIDENCE;
pub use json::{ComparisonView, SCHEMA, value as json};
pub use markdown::text as markdown;
pub use sight::of_another_run;
pub use terminal::text as terminal;
pub(crate) use text::{
    counts_text, headline, identity, in_unit, interval, ranked_changes, ratio, sign, tag,
    with_remedy, word,
};
