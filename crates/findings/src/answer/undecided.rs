//! How many verdicts are open, and the command that decides them.

use super::material::Material;
use super::series::Series;
use super::verdict_group::VerdictGroup;
use crate::caveats::more_rounds::MoreRounds;
use crate::finding::sentence::{Sentence, text};
use crate::format::{count, factor};
use crate::kinds::Data;
use crate::thresholds::GROWN_FACTOR_MIN;
use analysis::{ComparisonOutcome, trust::widths};
use model::Run;
use serde::Serialize;

/// Flags of `knee run` with a value that say where results go, or that a decision changes.
const DROPPED_WITH_VALUE: &[&str] = &["--record", "--output", "-o", "--rounds", "-r"];
/// The same without a value.
const DROPPED: &[&str] = &["--json", "-j", "--all", "-a", "--resume"];
/// A command with more words is named by what changes in it.
const COMMAND_WORDS_MAX: usize = 9;
/// Open series that are named.
const NAMED_MAX: usize = 2;

/// The verdicts that are open.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Undecided {
    /// Orders of growth and trends.
    pub series: usize,
    /// Comparisons of two subjects.
    pub comparisons: usize,
    /// All verdicts of both sorts.
    pub total: usize,
    /// Subjects of open series that cost far more at the last point than at the first, the one that costs
    /// most first: how they grow is open, not that they do.
    pub grown: Vec<String>,
    /// What gives the figures more rounds, best a command; empty where nothing is open.
    pub remedy: String,
    /// How many, in a sentence; empty where none are.
    pub sentence: Sentence,
}

impl Undecided {
    pub(super) fn new(material: &Material<'_>) -> Self {
        let series = Series::all(material);
        let open: Vec<&Series<'_>> =
            series.iter().filter(|series| series.group == VerdictGroup::Undecided).collect();
        let mut grown: Vec<&Series<'_>> =
            open.iter().copied().filter(|series| series.factor >= GROWN_FACTOR_MIN).collect();
        grown.sort_by(|first, second| second.factor.total_cmp(&first.factor));
        let open_series = open.len();
        let (mut comparisons, mut open_comparisons) = (0, 0);
        for (_, finding) in material.table_findings() {
            let Data::Crossover(data) = &finding.data else { continue };
            comparisons += 1;
            open_comparisons += usize::from(is_open(&data.comparison.outcome));
        }
        let (total, open) = (series.len() + comparisons, open_series + open_comparisons);
        Self {
            series: open_series,
            comparisons: open_comparisons,
            total,
            remedy: if open == 0 { String::new() } else { remedy(material.run) },
            sentence: sentence(open_series, open_comparisons, total, &grown),
            grown: grown.into_iter().map(|series| series.row.subject.clone()).collect(),
        }
    }

    /// Whether nothing is open.
    pub fn is_empty(&self) -> bool {
        self.series + self.comparisons == 0
    }
}

/// Whether the comparison says neither which subject leads nor that they are the same.
fn is_open(outcome: &ComparisonOutcome) -> bool {
    match outcome {
        ComparisonOutcome::Throughout { .. } | ComparisonOutcome::Crosses { .. } => false,
        ComparisonOutcome::TooClose { .. } => !outcome.is_same(),
        ComparisonOutcome::Unsettled { .. } | ComparisonOutcome::Unknown { .. } => true,
    }
}

/// `7 of 96 verdicts: 4 series (poll ×391, select ×337, …) and 3 comparisons`.
fn sentence(series: usize, comparisons: usize, total: usize, grown: &[&Series<'_>]) -> Sentence {
    let noun = |number: usize, noun: &str| match number {
        0 => None,
        1 => Some(format!("1 {}", noun.trim_end_matches('s'))),
        _ => Some(format!("{} {noun}", count(number as u64))),
    };
    // `series` is its own plural.
    let of_series =
        (series > 0).then(|| format!("{} series{}", count(series as u64), named(grown)));
    let sorts: Vec<String> =
        of_series.into_iter().chain(noun(comparisons, "comparisons")).collect();
    if sorts.is_empty() {
        return Sentence::default();
    }
    let open = count((series + comparisons) as u64);
    let sorts = crate::format::list(&sorts);
    Sentence::new([text(format!("{open} of {} verdicts: {sorts}", count(total as u64)))])
}

/// The first of those that grew, with their factors, in brackets.
fn named(grown: &[&Series<'_>]) -> String {
    let mut names: Vec<String> = grown
        .iter()
        .take(NAMED_MAX)
        .map(|series| format!("{} {}", series.row.subject, factor(series.factor)))
        .collect();
    if grown.len() > NAMED_MAX {
        names.push("…".to_owned());
    }
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

/// The command of the run with more rounds, or what changes in it.
fn remedy(run: &Run) -> String {
    let (_, max) = widths::rounds(run, None);
    let more = MoreRounds::new(run, 2 * max.max(1));
    let MoreRounds::Rounds(rounds) = more else { return more.remedy() };
    let words = repeatable(&run.summary.command);
    let is_plain =
        |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_=.,%".contains(c));
    if analysis::is_predicted(run) || words.len() > COMMAND_WORDS_MAX || !words.iter().all(is_plain)
    {
        return more.remedy();
    }
    match words.as_slice() {
        ["run", ..] => format!("knee {} --rounds {rounds}", words.join(" ")),
        _ => more.remedy(),
    }
}

/// The words of a command behind the program's name, without those that [`DROPPED`] lists.
fn repeatable(command: &[String]) -> Vec<&str> {
    let mut words = command.iter().skip(1).map(String::as_str);
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        let flag = word.split('=').next().unwrap_or(word);
        if DROPPED_WITH_VALUE.contains(&flag) {
            if flag == word {
                words.next();
            }
        } else if !DROPPED.contains(&flag) {
            kept.push(word);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{repeatable, sentence};

    #[test]
    fn a_command_is_repeated_without_where_its_results_went() {
        let command = "knee run poll --rounds=3 --record x.db -o y.html --points 1,2 --json -r 3 -a --resume=4";
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        assert_eq!(repeatable(&words), ["run", "poll", "--points", "1,2"]);
    }

    #[test]
    fn what_is_open_is_counted() {
        assert_eq!(
            sentence(1, 1, 9, &[]).to_string(),
            "2 of 9 verdicts: 1 series and 1 comparison"
        );
        assert_eq!(sentence(0, 2, 9, &[]).to_string(), "2 of 9 verdicts: 2 comparisons");
        assert_eq!(sentence(0, 0, 9, &[]).to_string(), "");
    }
}
