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
//!     const TAG: Tag = Tag::new("example", Tone::Neutral);
//!     fn find(context: &Context<'_>) -> Vec<Finding> { … Finding::about_row(table, row, Self { factor }) … }
//!     fn rank(&self) -> f64 { self.factor }
//!     fn sentence(all: &[Self], names: &Names<'_>) -> Sentence { … }
//! }
//! ```

use crate::conclusions::context::Context;
use crate::finding::Finding;
use crate::finding::names::Names;
use crate::finding::sentence::{Sentence, text};
use crate::finding::verdict::{Tag, Tone};
use crate::format;
use analysis::Remedy;
use schemars::JsonSchema;
use serde::Serialize;

/// A kind of finding: what it looks for, which of it is one finding, how it is ordered and how it reads.
pub trait FindingKind: Sized {
    /// The finding in a word or two, where it is the same for all.
    const TAG: Tag = Tag::new("finding", Tone::Neutral);

    /// Where an answer has it, where that is the same for all.
    const SECTION: Section = Section::WorthKnowing;

    /// All of this kind, one for each subject or pair of subjects.
    fn find(context: &Context<'_>) -> Vec<Finding>;

    /// Where an answer has it.
    fn section(&self) -> Section {
        Self::SECTION
    }

    /// What is at stake at the far end of the axis, as a factor of time or throughput: 1 where nothing is,
    /// 391 where a cost has grown ×391, 8.6 where a rate has fallen to 1/8.6, infinite where nothing works
    /// any more. Of two findings the one with the greater rank matters more.
    fn rank(&self) -> f64;

    /// Whether `second`, of another subject of the table and of the same section, is one finding with this.
    fn joins(&self, _second: &Self) -> bool {
        false
    }

    /// `all` that was joined, at least one, as a sentence without a full stop. It is made of the data and of names alone.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence;

    /// The first of its subjects, where its data say that.
    fn subject(&self) -> Option<&str> {
        None
    }

    /// What the sentence leaves out of the figures of this one: its CI, what it depends on; may be empty.
    fn detail(&self, _names: &Names<'_>) -> String {
        String::new()
    }

    /// The finding in a word or two.
    fn tag(_all: &[Self]) -> Tag {
        Self::TAG
    }

    /// The point at which another subject may be better, where an answer looks for one.
    fn advised_at(&self) -> Option<u64> {
        None
    }

    /// What to measure to decide what is open; none where nothing is, or where no run decides it.
    fn remedy(&self) -> Option<Remedy> {
        None
    }
}

/// What every kind needs.
pub(crate) mod prelude {
    pub(crate) use super::{FindingKind, Section, stake};
    pub(crate) use crate::conclusions::context::Context;
    pub(crate) use crate::finding::Finding;
    pub(crate) use crate::finding::names::Names;
    pub(crate) use crate::finding::range::Range;
    pub(crate) use crate::finding::sentence::{Part, Sentence, text};
    pub(crate) use crate::finding::verdict::{Tag, Tone};
    pub(crate) use schemars::JsonSchema;
    pub(crate) use serde::Serialize;
}

/// Where an answer has a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// A cost that grows, a rate that falls, cells that did not finish.
    StopsScaling,
    /// Where the CPU time goes that grows.
    CpuTime,
    /// One subject overtakes another.
    ChangesSides,
    /// Levels of memory.
    Levels,
    /// What is worth knowing besides.
    WorthKnowing,
    /// A cost that does not grow, or a rate that does not fall.
    Holds,
    /// The figures do not decide.
    Open,
    /// Only the list of all findings has it.
    ListOnly,
}

/// A factor as something at stake, whichever way it goes: 4 for a quarter; 1 where it is not known.
pub(crate) fn stake(factor: f64) -> f64 {
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

        /// What was found, of one subject or several.
        #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
        #[serde(tag = "kind", content = "data", rename_all = "kebab-case")]
        pub enum Data {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $Type(Vec<$file::$Type>),)*
        }

        $(impl From<$file::$Type> for Data {
            fn from(data: $file::$Type) -> Self {
                Self::$Type(vec![data])
            }
        })*

        impl Data {
            /// Its kind.
            pub const fn kind(&self) -> Kind {
                match self {
                    $(Self::$Type(_) => Kind::$Type,)*
                }
            }

            pub(crate) fn joins(&self, second: &Self) -> bool {
                match (self, second) {
                    $((Self::$Type(all), Self::$Type(more)) => {
                        let first = all.first().zip(more.first());
                        self.section() == second.section() && first.is_some_and(|(a, b)| a.joins(b))
                    })*
                    _ => false,
                }
            }

            pub(crate) fn join(&mut self, second: Self) {
                match (self, second) {
                    $((Self::$Type(all), Self::$Type(more)) => all.extend(more),)*
                    _ => {}
                }
            }
        }

        /// What all of one kind give, whichever it is.
        macro_rules! each {
            ($data:expr, $all:ident => $value:expr) => {
                match $data {
                    $(Data::$Type($all) => $value,)*
                }
            };
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
    growth::Growth,
    trend::Trend,
    unfinished::Unfinished,
    speedup::Speedup,
    sharing::Sharing,
    scaling::Scaling,
    knee::Knee,
    fairness::Fairness,
    memory_levels::MemoryLevels,
    modes::Modes,
    step::Step,
    drift::Drift,
    attribution::Attribution,
    waits::Waits,
    throttled::Throttled,
    system_calls::SystemCalls,
    behaviour::Behaviour,
    ranking::Ranking,
    trade_off::TradeOff,
    spread::Spread,
    crossover::Crossover,
    difference::Difference,
}

impl Data {
    /// The greatest [`FindingKind::rank`].
    pub fn rank(&self) -> f64 {
        self.ranks().into_iter().fold(1.0, f64::max)
    }

    /// The rank of each.
    pub fn ranks(&self) -> Vec<f64> {
        each!(self, all => all.iter().map(FindingKind::rank).collect())
    }

    /// See [`FindingKind::section`].
    pub fn section(&self) -> Section {
        each!(self, all => all.first().map_or(Section::ListOnly, FindingKind::section))
    }

    /// See [`FindingKind::tag`].
    pub fn tag(&self) -> Tag {
        each!(self, all => FindingKind::tag(all))
    }

    /// The [`FindingKind::remedy`] of each that has one.
    pub fn remedies(&self) -> Vec<Remedy> {
        each!(self, all => all.iter().filter_map(FindingKind::remedy).collect())
    }

    pub(crate) fn advised_at(&self) -> Option<u64> {
        each!(self, all => all.first()?.advised_at())
    }

    pub(crate) fn sentence(&self, names: &Names<'_>) -> Sentence {
        each!(self, all => FindingKind::sentence(all, names))
    }

    pub(crate) fn details(&self, names: &Names<'_>) -> Sentence {
        each!(self, all => details(all, names))
    }
}

/// The sentence and the detail of a single one.
pub fn words<K: FindingKind>(single: &K, names: &Names<'_>) -> [String; 2] {
    [K::sentence(std::slice::from_ref(single), names).to_string(), single.detail(names)]
}

/// What the sentence of `all` leaves out: of each behind its label, where there are several.
fn details<K: FindingKind>(all: &[K], names: &Names<'_>) -> Sentence {
    let mut parts = Vec::new();
    for (index, single) in all.iter().enumerate() {
        let detail = single.detail(names);
        if detail.is_empty() {
            continue;
        }
        parts.extend((!parts.is_empty()).then(|| text("; ")));
        let subject = single.subject().or(names.subjects.get(index).map(String::as_str));
        match subject.filter(|_| all.len() > 1) {
            Some(subject) => parts.extend([names.label(subject), text(format!(" {detail}"))]),
            None => parts.push(text(format::capitalized(&detail))),
        }
    }
    Sentence::new(parts)
}

/// All findings of a run that are wanted, as they are listed: table by table; in each, first those of one series, subject by
/// subject, then those of several.
pub(crate) fn find(context: &Context<'_>, is_wanted: impl Fn(&Finding) -> bool) -> Vec<Finding> {
    let mut all = find_each(context);
    all.retain(is_wanted);
    all.sort_by_cached_key(|finding| {
        let mut tables = context.analysis.tables.iter();
        let table = tables.position(|table| finding.is_about(table));
        let subject = match finding.subjects.as_slice() {
            [subject] => table.and_then(|table| {
                let mut rows = context.analysis.tables[table].rows.iter();
                rows.position(|row| row.subject == *subject)
            }),
            _ => Some(usize::MAX),
        };
        (table.unwrap_or(usize::MAX), subject.unwrap_or(0), finding.data.kind())
    });
    let mut joined: Vec<Finding> = Vec::new();
    for finding in all {
        match joined.iter_mut().find(|first| first.takes(&finding, context)) {
            Some(first) => first.join(finding),
            None => joined.push(finding),
        }
    }
    joined.into_iter().map(|finding| finding.worded(context)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stake_is_never_below_one() {
        let stakes = [4.0, 0.25, 1.0, f64::NAN].map(|factor| stake(factor).to_bits());
        assert_eq!(stakes, [4.0, 4.0, 1.0, 1.0].map(f64::to_bits));
        assert!(stake(0.0).is_infinite());
    }
}
