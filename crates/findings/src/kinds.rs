//! The table of findings. A new kind is one file in this directory and one line here.
//!
//! The file holds a type with the data of one finding, which implements [`FindingKind`]. Its line,
//! `file::Type,`, gives the type a variant in [`Data`] and in [`Kind`], has [`FindingKind::find`] called for
//! every run, and puts the kind into the list of findings: those of one series first, in the order of the
//! table, then those of several. The variant's name in kebab case is the kind's name in JSON; the JSON schema has
//! its fields with their docs.
//!
//! ```text
//! #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
//! pub struct Example { pub factor: f64 }
//!
//! impl FindingKind for Example {
//!     const NAME: &'static str = "example";
//!     fn find(context: &Context<'_>) -> Vec<Finding> { … Finding::about_row(table, row, Self { factor }) … }
//!     fn rank(&self) -> f64 { self.factor }
//!     fn sentence(&self, names: &Names<'_>) -> Sentence { … }
//!     fn tag(&self) -> Tag { Tag { word: "example", tone: Tone::Neutral } }
//! }
//! ```

use crate::conclusions::context::Context;
use crate::finding::Finding;
use crate::finding::names::Names;
use crate::finding::sentence::Sentence;
use crate::finding::verdict::Tag;
use schemars::JsonSchema;
use serde::Serialize;

/// A kind of finding: what it looks for, how it is ordered and how it reads.
pub trait FindingKind: Sized {
    /// Its name in JSON.
    const NAME: &'static str;

    /// Whether *worth knowing* lists it in an answer; kinds that other sections show say no.
    const IS_WORTH_KNOWING: bool = true;

    /// All findings of this kind.
    fn find(context: &Context<'_>) -> Vec<Finding>;

    /// What is at stake at the far end of the axis, as a factor of time or throughput: 1 where nothing is,
    /// 391 where a cost has grown ×391, 8.6 where a rate has fallen to 1/8.6, infinite where nothing works
    /// any more. Of two findings the one with the greater rank matters more.
    fn rank(&self) -> f64;

    /// The finding as a sentence. It is made of the data and of names alone.
    fn sentence(&self, names: &Names<'_>) -> Sentence;

    /// The finding in a word or two.
    fn tag(&self) -> Tag;
}

/// A factor as something at stake, whichever way it goes: 4 for a quarter; 1 where it is not known.
fn stake(factor: f64) -> f64 {
    if factor.is_nan() { 1.0 } else { factor.max(1.0 / factor) }
}

/// Declares each module, and gives its type a variant.
macro_rules! table {
    ($($file:ident::$Type:ident,)*) => {
        $(pub mod $file;)*

        /// The kinds of findings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $Type,)*
        }

        /// What was found.
        #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
        #[serde(tag = "kind", content = "data", rename_all = "kebab-case")]
        pub enum Data {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $Type($file::$Type),)*
        }

        $(impl From<$file::$Type> for Data {
            fn from(data: $file::$Type) -> Self {
                Self::$Type(data)
            }
        })*

        impl Kind {
            /// Every kind, in the order in which findings are listed.
            pub const ALL: &[Self] = &[$(Self::$Type,)*];

            /// See [`FindingKind::IS_WORTH_KNOWING`].
            pub const fn is_worth_knowing(self) -> bool {
                match self {
                    $(Self::$Type => $file::$Type::IS_WORTH_KNOWING,)*
                }
            }

            /// Its name in JSON.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Type => $file::$Type::NAME,)*
                }
            }
        }

        impl Data {
            /// Its kind.
            pub const fn kind(&self) -> Kind {
                match self {
                    $(Self::$Type(_) => Kind::$Type,)*
                }
            }

            /// See [`FindingKind::rank`].
            pub fn rank(&self) -> f64 {
                match self {
                    $(Self::$Type(data) => data.rank(),)*
                }
            }

            /// See [`FindingKind::tag`].
            pub fn tag(&self) -> Tag {
                match self {
                    $(Self::$Type(data) => data.tag(),)*
                }
            }

            /// See [`FindingKind::sentence`].
            pub fn sentence(&self, names: &Names<'_>) -> Sentence {
                match self {
                    $(Self::$Type(data) => data.sentence(names),)*
                }
            }
        }

        /// The findings of every kind, kind by kind.
        fn find_each(context: &Context<'_>) -> Vec<Finding> {
            let mut all = Vec::new();
            $(all.extend($file::$Type::find(context));)*
            all
        }
    };
}

table! {
    harness_cost::HarnessCost,
    control::Control,
    growth::Growth,
    trend::Trend,
    unfinished::Unfinished,
    speedup::Speedup,
    sharing::Sharing,
    scaling::Scaling,
    fairness::Fairness,
    memory_levels::MemoryLevels,
    modes::Modes,
    step::Step,
    drift::Drift,
    attribution::Attribution,
    behaviour::Behaviour,
    ranking::Ranking,
    trade_off::TradeOff,
    crossover::Crossover,
    difference::Difference,
}

/// All findings of a run as they are listed: table by table; in each, first those of one series, subject by
/// subject, then those of several.
pub(crate) fn find(context: &Context<'_>) -> Vec<Finding> {
    let mut all = find_each(context);
    all.sort_by_cached_key(|finding| {
        let mut tables = context.analysis.tables.iter();
        let table = tables.position(|table| finding.is_about(table));
        let subject = match finding.subjects.as_slice() {
            [subject] => table.and_then(|table| {
                let mut rows = context.analysis.tables[table].rows.iter();
                // A control has no row, and stands first.
                Some(rows.position(|row| row.subject == *subject)?.saturating_add(1))
            }),
            _ => Some(usize::MAX),
        };
        (table.unwrap_or(usize::MAX), subject.unwrap_or(0), finding.kind())
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_the_name_of_its_variant() {
        for kind in Kind::ALL {
            let mut kebab = String::new();
            for letter in format!("{kind:?}").chars() {
                if letter.is_uppercase() && !kebab.is_empty() {
                    kebab.push('-');
                }
                kebab.extend(letter.to_lowercase());
            }
            assert_eq!(kind.name(), kebab);
        }
    }

    #[test]
    fn a_stake_is_never_below_one() {
        let stakes = [4.0, 0.25, 1.0, f64::NAN].map(|factor| stake(factor).to_bits());
        assert_eq!(stakes, [4.0, 4.0, 1.0, 1.0].map(f64::to_bits));
        assert!(stake(0.0).is_infinite());
    }
}
