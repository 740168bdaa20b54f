//! A run as a file for other programs: one file here and one line in the table for each format.
//!
//! Nothing is rounded and nothing is left out silently: where a format can't hold what is missing,
//! `docs/export.md` says so.

mod material;
mod narrowed;
mod picture;
mod sampled;

pub use material::{Content, Format, Material, Selection, What};
pub use narrowed::{narrowed, selected};

/// Declares each module, and gives its format a row.
macro_rules! table {
    ($($format:ident,)*) => {
        $(pub(crate) mod $format;)*

        /// Every format.
        pub const TABLE: &[Format] = &[$($format::FORMAT,)*];
    };
}

table! {
    csv,
    json,
    jsonl,
    gnuplot,
    svg,
    png,
    markdown,
    openmetrics,
    github_action_benchmark,
    bencher,
    folded,
    pprof,
    perf_script,
    speedscope,
}

/// The format of that name.
pub fn find(name: &str) -> Option<&'static Format> {
    TABLE.iter().find(|format| format.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_a_command_line_and_each_is_there_once() {
        for (index, format) in TABLE.iter().enumerate() {
            assert!(
                format.name.chars().all(|c| c == '-' || c.is_ascii_lowercase()),
                "{}",
                format.name
            );
            assert!(!format.about.is_empty(), "{}", format.name);
            let first = TABLE.iter().position(|entry| entry.name == format.name);
            assert_eq!(first, Some(index), "{}", format.name);
        }
        assert!(find("csv").is_some() && find("xml").is_none());
    }
}
