//! The levels of memory that a curve over the size of a working set shows, named by the caches that the kernel
//! reports.
//!
//! A level is that of the smallest cache which holds what the subject uses at the end of the level. A second level
//! within a cache that one CPU has to itself is that cache with misses of the TLB. Within a cache that CPUs share, it
//! is that as well if the same on huge pages stays on its level there; else what the machine gets of the cache ends
//! there, and main memory may have begun.

use super::prelude::*;
use crate::format::{Unit, interval, size};
use crate::thresholds::{CACHE_EXCESS_MAX, CACHE_LEFT_SHARE_MIN};
use analysis::{Estimate, Level, Row};
use model::{CpuCache, MemoryAccess};
use std::fmt;

/// The levels of one series.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MemoryLevels {
    /// How many times what is used the working set is.
    pub spread: u64,
    /// The levels, by size.
    pub levels: Vec<MemoryLevel>,
    /// The caches that the kernel reports, by level.
    pub caches: Vec<CpuCache>,
    /// Caches whose level the curve leaves far below their size, by level, with the last point on it, in KiB of what
    /// is used.
    pub left_early: Vec<LeftEarly>,
}

/// A level with its name.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MemoryLevel {
    /// What it is the level of.
    pub name: LevelName,
    /// The first point on it: KiB of the working set.
    pub from: u64,
    /// The last point on it.
    pub to: u64,
    /// Its median over all points, in the metric's unit.
    pub median: Estimate,
}

/// What a level is that of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "memory")]
pub enum LevelName {
    /// A cache.
    Cache {
        /// Its level.
        level: u8,
        /// Whether loads miss the TLB as well.
        misses_tlb: bool,
    },
    /// Less than a shared cache holds by its size, and slower than its level: a slower part of it, or main memory.
    BeyondShare {
        /// The level of the cache.
        level: u8,
    },
    /// More than any cache holds.
    MainMemory,
    /// The kernel reports no caches.
    Unknown,
}

/// A cache that holds less than the kernel says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftEarly {
    /// The level of the cache.
    pub level: u8,
    /// The last point on its level, in KiB of what is used.
    pub kib: u64,
}

impl FindingKind for MemoryLevels {
    const TAG: Tag = Tag::new("levels", Tone::Neutral);
    const SECTION: Section = Section::Levels;

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let host = &context.run.host_before;
        // An emulated CPU names caches that it does not have.
        let caches = if host.is_emulated() { Vec::new() } else { host.caches() };
        Finding::of_rows(context.headline_rows(), |table, row| {
            let subjects = &context.workload(table)?.subjects;
            let subject = subjects.iter().find(|subject| subject.name == row.subject)?;
            let access = subject.memory_access.as_ref()?;
            let huge = table.rows.iter().find(|huge| huge.subject == access.huge_page_subject);
            let levels = Self::new(row, access, huge, &caches);
            (row.levels.len() > 1).then_some(levels)
        })
    }

    fn rank(&self) -> f64 {
        let ends = self.levels.first().zip(self.levels.last());
        ends.map_or(1.0, |(first, last)| stake(last.median.value / first.median.value))
    }

    /// `pages, which uses 1/64 of the working set: L1 (kernel 48 KiB) 1.21 ns (95 % CI 1.20–1.22) to 3 MiB, L2 (kernel 2 MiB)
    /// 4.02 ns (3.98 to 4.10) to 32 MiB; the kernel says 2 MiB, and the curve leaves L2 at 512 KiB`
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let levels = all[0].levels_text(names.metric_unit());
        let uses = match all[0].spread {
            1 => String::new(),
            spread => format!(", which uses 1/{spread} of the working set"),
        };
        names.claim(format!("{uses}: {levels}{}", all[0].early_text()))
    }
}

impl MemoryLevels {
    /// The levels of `row`, which goes over memory by `access`, and by the same access on huge pages in the row `huge`.
    fn new(row: &Row, access: &MemoryAccess, huge: Option<&Row>, caches: &[CpuCache]) -> Self {
        let spread = access.spread.max(1);
        let mut levels: Vec<MemoryLevel> = Vec::new();
        let mut left_early: Vec<LeftEarly> = Vec::new();
        for level in &row.levels {
            let used_kib = level.to / spread;
            let holds = |cache: &&CpuCache| used_kib as f64 <= cache.kib as f64 * CACHE_EXCESS_MAX;
            let name = match caches.iter().find(holds) {
                None if caches.is_empty() => LevelName::Unknown,
                None => LevelName::MainMemory,
                Some(cache) => name_within(cache, &levels, level, huge),
            };
            levels.push(MemoryLevel { name, from: level.from, to: level.to, median: level.median });
        }
        for (index, level) in levels.iter().enumerate() {
            let LevelName::Cache { level: number, .. } = level.name else { continue };
            let Some(cache) = caches.iter().find(|cache| cache.level == number) else { continue };
            // The last level that the cache has; it is left where another one follows.
            let is_left = |next: &&MemoryLevel| !matches!(next.name, LevelName::Cache { level, .. } if level == number);
            let Some(next) = levels.get(index + 1).filter(is_left) else { continue };
            let kib = level.to / spread;
            let is_early = (kib as f64) < cache.kib as f64 * CACHE_LEFT_SHARE_MIN;
            // What lies between may not have been measured.
            let could_be_seen = next.from / spread < cache.kib;
            if is_early && could_be_seen {
                left_early.push(LeftEarly { level: number, kib });
            }
        }
        Self { spread, levels, caches: caches.to_vec(), left_early }
    }

    /// The levels, each with its figure and its last point, and with its first one where that does not follow.
    fn levels_text(&self, unit: &str) -> String {
        let level = |(index, level): (usize, &MemoryLevel)| {
            let value = level.median.value;
            let figure = Unit::for_table(unit, &[value]);
            let ci = interval(level.median, |value| figure.figure(value));
            let before = index.checked_sub(1).map(|before| &self.levels[before]);
            let from = before.filter(|before| level.from > 2 * before.to);
            let from = from.map_or_else(String::new, |_| format!("from {} ", size(level.from)));
            let (name, median) = (self.name_text(level.name), figure.with_symbol(value));
            format!("{name}{median}{ci} {from}to {}", size(level.to))
        };
        self.levels.iter().enumerate().map(level).collect::<Vec<_>>().join(", ")
    }

    /// `L1 (kernel 48 KiB) `; what the kernel says stands where a level first is that of a cache.
    fn name_text(&self, name: LevelName) -> String {
        let cache = match name {
            LevelName::Unknown => return String::new(),
            LevelName::BeyondShare { .. } => return "then ".to_owned(),
            LevelName::Cache { level, misses_tlb: false } => {
                self.caches.iter().find(|cache| cache.level == level)
            }
            _ => None,
        };
        let kernel = cache.map(|cache| {
            let shared = if cache.shared { ", shared" } else { "" };
            format!("(kernel {}{shared}) ", size(cache.kib))
        });
        format!("{name} {}", kernel.unwrap_or_default())
    }

    /// `; the kernel says 480 MiB, and the curve leaves L3 at 32 MiB`.
    fn early_text(&self) -> String {
        let early = |early: &LeftEarly| {
            let cache = self.caches.iter().find(|cache| cache.level == early.level)?;
            let (level, kernel, kib) = (early.level, size(cache.kib), size(early.kib));
            Some(format!("; the kernel says {kernel}, and the curve leaves L{level} at {kib}"))
        };
        self.left_early.iter().filter_map(early).collect()
    }
}

/// The name of `level` after these `levels`, where `cache` holds what is used.
fn name_within(
    cache: &CpuCache,
    levels: &[MemoryLevel],
    level: &Level,
    huge: Option<&Row>,
) -> LevelName {
    let number = cache.level;
    let Some(before) = levels.iter().rfind(|before| before.name.is_in(number)) else {
        return LevelName::Cache { level: number, misses_tlb: false };
    };
    // The step lies between these points.
    let (last, first) = (before.to, level.from);
    let holds_both = |huge: &Level| huge.from <= last && first <= huge.to;
    let is_flat_on_huge_pages = huge.is_some_and(|huge| huge.levels.iter().any(holds_both));
    if before.name == (LevelName::BeyondShare { level: number }) {
        return before.name;
    }
    if cache.shared && !is_flat_on_huge_pages {
        return LevelName::BeyondShare { level: number };
    }
    LevelName::Cache { level: number, misses_tlb: true }
}

impl fmt::Display for LevelName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cache { level, misses_tlb: false } => write!(out, "L{level}"),
            Self::Cache { level, misses_tlb: true } => write!(out, "L{level} and TLB misses"),
            Self::BeyondShare { level } => {
                write!(out, "a slower part of L{level}, or main memory")
            }
            Self::MainMemory => write!(out, "main memory"),
            Self::Unknown => write!(out, "unknown"),
        }
    }
}

impl LevelName {
    /// Whether what is used fits into the cache of this level and into no smaller one.
    fn is_in(self, number: u8) -> bool {
        matches!(self, Self::Cache { level, .. } | Self::BeyondShare { level } if level == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::MemoryAccess;

    fn cache(level: u8, kib: u64, shared: bool) -> CpuCache {
        CpuCache { level, kib, shared }
    }

    fn row(levels: &[(u64, u64, f64)]) -> Row {
        let level = |&(from, to, value): &(u64, u64, f64)| Level {
            from,
            to,
            median: Estimate { value, low: value, high: value },
        };
        Row { levels: levels.iter().map(level).collect(), ..fixture_row() }
    }

    fn fixture_row() -> Row {
        Row {
            subject: "random".into(),
            label: "random".into(),
            note: String::new(),
            operation: String::new(),
            cells: Vec::new(),
            missing: Vec::new(),
            unavailable: None,
            growth: None,
            rate: None,
            scaling: None,
            speedup: None,
            failed: Vec::new(),
            modes: None,
            steps: Vec::new(),
            levels: Vec::new(),
            drift: None,
            short: None,
        }
    }

    fn names(levels: &MemoryLevels) -> Vec<String> {
        levels.levels.iter().map(|level| levels.name_text(level.name).trim().to_owned()).collect()
    }

    const ALL_LINES: MemoryAccess = MemoryAccess { spread: 1, huge_page_subject: String::new() };

    #[test]
    fn levels_are_those_of_the_caches_that_hold_them() {
        let caches = [cache(1, 32, false), cache(2, 1024, false), cache(3, 32 << 10, true)];
        let row = row(&[
            (4, 32, 1.2),
            (64, 768, 4.0),
            (2_048, 24 << 10, 15.0),
            (128 << 10, 1 << 20, 90.0),
        ]);
        let levels = MemoryLevels::new(&row, &ALL_LINES, None, &caches);
        let expected = [
            "L1 (kernel 32 KiB)",
            "L2 (kernel 1 MiB)",
            "L3 (kernel 32 MiB, shared)",
            "main memory",
        ];
        assert_eq!(names(&levels), expected);
        assert_eq!(levels.left_early, []);
        let text = "L1 (kernel 32 KiB) 1.20 ns to 32 KiB, L2 (kernel 1 MiB) 4.00 ns to 768 KiB, \
                    L3 (kernel 32 MiB, shared) 15.0 ns from 2 MiB to 24 MiB, main memory 90.0 ns from 128 MiB to 1 GiB";
        assert_eq!(levels.levels_text("ns"), text);
        let levels = MemoryLevels::new(&row, &ALL_LINES, None, &[]);
        assert_eq!(names(&levels), [""; 4]);
    }

    #[test]
    fn a_second_level_of_a_private_cache_misses_the_tlb() {
        let caches = [cache(1, 48, false), cache(2, 2048, false)];
        // A line of each page: 64 KiB of the set are 1 KiB in a cache.
        let access = MemoryAccess { spread: 64, ..ALL_LINES };
        let row = row(&[(4, 384, 1.2), (512, 3_072, 2.9), (6_144, 65_536, 18.0)]);
        let levels = MemoryLevels::new(&row, &access, None, &caches);
        let expected = ["L1 (kernel 48 KiB)", "L1 and TLB misses", "L2 (kernel 2 MiB)"];
        assert_eq!(names(&levels), expected);
        assert_eq!(levels.left_early, []);
    }

    #[test]
    fn a_shared_cache_that_ends_early_is_reported() {
        let caches = [cache(1, 48, false), cache(3, 480 << 10, true)];
        let small = row(&[(4, 48, 1.2), (8 << 10, 32 << 10, 90.0), (64 << 10, 256 << 10, 160.0)]);
        let levels = MemoryLevels::new(&small, &ALL_LINES, None, &caches);
        assert_eq!(names(&levels)[1..], ["L3 (kernel 480 MiB, shared)", "then"]);
        let early = "; the kernel says 480 MiB, and the curve leaves L3 at 32 MiB";
        assert_eq!(levels.early_text(), early);
        // On huge pages it stays on its level there: the step is the TLB's.
        let huge = row(&[(4, 48, 1.2), (6 << 10, 384 << 10, 90.0)]);
        let levels = MemoryLevels::new(&small, &ALL_LINES, Some(&huge), &caches);
        assert_eq!(names(&levels)[2], "L3 and TLB misses");
        assert_eq!(levels.early_text(), "");
        let huge = row(&[(4, 48, 1.2), (6 << 10, 32 << 10, 90.0), (48 << 10, 512 << 10, 170.0)]);
        let levels = MemoryLevels::new(&small, &ALL_LINES, Some(&huge), &caches);
        assert_eq!(names(&levels)[2], "then");
    }

    #[test]
    fn a_private_cache_that_ends_early_is_reported() {
        let caches = [cache(1, 48, false), cache(2, 2048, false), cache(3, 30 << 10, true)];
        let row = row(&[(4, 48, 1.2), (64, 512, 4.0), (1_536, 16 << 10, 40.0)]);
        let levels = MemoryLevels::new(&row, &ALL_LINES, None, &caches);
        assert_eq!(levels.left_early, [LeftEarly { level: 2, kib: 512 }]);
        let early = "; the kernel says 2 MiB, and the curve leaves L2 at 512 KiB";
        assert_eq!(levels.early_text(), early);
    }
}
