//! How much two subjects differ at points that are words, where nothing grows.

use super::prelude::*;
use crate::format::{ci, factor, significant};
use analysis::stats::moments::{mean, sample_deviation};
use analysis::stats::quantiles::median_of;
use analysis::stats::student;
use analysis::{Row, Table};
use model::{Cell, FailureReason, Metric, Outcome, Run};

/// A ratio from here on is written as a factor, below as a percentage.
const FACTOR_MIN: f64 = 2.0;

/// The first subject, and the second if there is one, at a point that is a word.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// The word: `half`.
    pub at: String,
    /// How it compares.
    pub relation: Relation,
}

/// How the figure of one subject compares with that of another.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "relation")]
pub enum Relation {
    /// Their ratio.
    Ratio {
        /// The first over the second: of figures that were repeated, of their medians.
        ratio: f64,
        /// Its 95 % CI, where figures were repeated or their deviations are known.
        ci: Option<(f64, f64)>,
    },
    /// They are equal, and not above zero.
    Equal,
    /// They have no ratio: one is not above zero.
    NoRatio,
    /// The one subject has no figure.
    Unmeasured {
        /// The reason that stands in its place.
        because: String,
    },
}

/// A figure as tables show it, and what is known of how much it varies.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figure {
    value: f64,
    logs: Option<Logs>,
}

/// The logarithms of a figure's repetitions: relative, so that one far off widens an interval and does not move it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Logs {
    mean: f64,
    deviation: f64,
    count: u64,
}

impl FindingKind for Difference {
    const TAG: Tag = Tag::new("difference", Tone::Neutral);

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let Some(words) = context.named_points else { return Vec::new() };
        context.tables().flat_map(|table| of_table(context, words, table)).collect()
    }

    fn rank(&self) -> f64 {
        match &self.relation {
            Relation::Ratio { ratio, .. } => stake(*ratio),
            Relation::Equal | Relation::NoRatio => 1.0,
            Relation::Unmeasured { .. } => f64::INFINITY,
        }
    }

    /// `byte is 18.4 % below ticket at half (-j 3) (95 % CI 14.3–22.2 %)`
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let Self { at, relation } = &all[0];
        let at = format!("at {at}{}", names.qualifier());
        let mut subjects = names.subjects.iter().map(|subject| names.label(subject));
        let first = subjects.next().unwrap_or_else(|| text(""));
        let second = subjects.next().unwrap_or_else(|| text(""));
        let same = || ("is the same as".to_owned(), String::new());
        let (verb, rest) = match relation {
            Relation::Ratio { ratio, ci: Some((low, high)) } if *low < 1.0 && *high > 1.0 => {
                let [ratio, low, high] = [*ratio, *low, *high].map(of_it);
                let rest = format!(": {ratio}, {}", ci(&low, &high));
                ("can't be distinguished from".to_owned(), rest)
            }
            Relation::Ratio { ratio, ci } => size(*ratio).map_or_else(same, |size| {
                let ci = ci.map(|(low, high)| format!(" (95 % CI {})", span(low, high)));
                (format!("is {size}"), ci.unwrap_or_default())
            }),
            Relation::Equal => same(),
            Relation::NoRatio => {
                let rest = text(format!(" have no ratio {at}: one is not above zero"));
                return Sentence::new([first, text(" and "), second, rest]);
            }
            Relation::Unmeasured { because } => {
                return Sentence::new([first, text(format!(" did not finish {at}: {because}"))]);
            }
        };
        Sentence::new([first, text(format!(" {verb} ")), second, text(format!(" {at}{rest}"))])
    }
}

fn of_table(context: &Context<'_>, words: &[String], table: &Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    for &point in &table.points {
        let word = (point as usize).checked_sub(1).and_then(|index| words.get(index));
        let at = word.map_or("", String::as_str);
        let figures = table
            .rows
            .iter()
            .filter_map(|row| Some((row, Figure::new(context.run, table, row, point)?)));
        let figures: Vec<(&Row, Figure)> = figures.collect();
        if let Some(((first, base), rest)) = figures.split_first() {
            findings.extend(rest.iter().map(|(row, figure)| {
                let subjects = vec![row.subject.clone(), first.subject.clone()];
                let relation = figure.relation_to(*base);
                Finding::about(table, subjects, Difference::at(at, relation)).with_headline(true)
            }));
        }
        findings.extend(table.rows.iter().filter_map(|row| {
            let because = why_unmeasured(context.run, table, row, point)?.to_owned();
            let data = Difference::at(at, Relation::Unmeasured { because });
            Some(Finding::about_row(table, row, data).with_headline(true))
        }));
    }
    findings
}

impl Difference {
    fn at(at: &str, relation: Relation) -> Self {
        Self { at: at.to_owned(), relation }
    }
}

fn cells<'a>(run: &'a Run, table: &Table, row: &Row, point: u64) -> impl Iterator<Item = &'a Cell> {
    table.cells(run, &row.subject).filter(move |cell| cell.key.point == point)
}

/// What stands in the place of a figure, if that says something.
fn why_unmeasured<'a>(run: &'a Run, table: &Table, row: &Row, point: u64) -> Option<&'a str> {
    cells(run, table, row, point).find_map(|cell| match &cell.outcome {
        Outcome::Failed { reason: FailureReason::Reported { message }, .. } => {
            Some(message.as_str())
        }
        _ => None,
    })
}

impl Figure {
    /// That of a series at a point: of one row its figure, of several their median.
    fn new(run: &Run, table: &Table, row: &Row, point: u64) -> Option<Self> {
        let metrics: Vec<&Metric> =
            cells(run, table, row, point).flat_map(|cell| &cell.metrics).collect();
        if let [metric] = *metrics
            && let [value] = *metric.samples
        {
            let deviation = metric.deviation.map(|deviation| (deviation, metric.operations));
            return Some(Self::of_mean(value, deviation));
        }
        let samples: Vec<f64> =
            metrics.iter().flat_map(|metric| &metric.samples).copied().collect();
        let value = median_of(&mut samples.clone())?;
        Some(Self { value, logs: Logs::new(&samples) })
    }

    /// A mean whose deviation, of so many figures, may be known.
    fn of_mean(value: f64, deviation: Option<(f64, u64)>) -> Self {
        let logs =
            |(deviation, count)| Logs { mean: value.ln(), deviation: deviation / value, count };
        Self { value, logs: deviation.map(logs) }
    }

    fn relation_to(self, base: Self) -> Relation {
        if self.value <= 0.0 || base.value <= 0.0 {
            return if self.value.total_cmp(&base.value).is_eq() {
                Relation::Equal
            } else {
                Relation::NoRatio
            };
        }
        Relation::Ratio { ratio: self.value / base.value, ci: self.ratio_ci(base) }
    }

    /// The 95 % CI of the ratio, by the logarithms and Welch's degrees of freedom; it holds the ratio itself.
    fn ratio_ci(self, base: Self) -> Option<(f64, f64)> {
        let (new, old) = (self.logs?, base.logs?);
        let ratio = self.value / base.value;
        let [new_part, old_part] =
            [new, old].map(|logs| logs.deviation.powi(2) / logs.count as f64);
        let variance = new_part + old_part;
        if variance <= 0.0 {
            return Some((ratio, ratio));
        }
        let freedom = variance.powi(2)
            / (new_part.powi(2) / (new.count as f64 - 1.0)
                + old_part.powi(2) / (old.count as f64 - 1.0));
        // Rounded down: a little wider than it has to be.
        let half = student::quantile_95(freedom.max(1.0) as usize) * variance.sqrt();
        let middle = new.mean - old.mean;
        Some(((middle - half).exp().min(ratio), (middle + half).exp().max(ratio)))
    }
}

impl Logs {
    /// `None` where a figure is not above zero.
    fn new(samples: &[f64]) -> Option<Self> {
        let logs: Vec<f64> = samples.iter().map(|sample| sample.ln()).collect();
        let deviation = sample_deviation(&logs).filter(|deviation| deviation.is_finite())?;
        Some(Self { mean: mean(&logs), deviation, count: logs.len() as u64 })
    }
}

/// `18.4 % below`, `5.0 % above`, `×3.40 of`; none where both are the same.
fn size(ratio: f64) -> Option<String> {
    let percent = (ratio - 1.0).abs() * 100.0;
    let text = format!("{percent:.1}");
    match ratio {
        _ if text == "0.0" => None,
        ratio if ratio >= FACTOR_MIN => Some(format!("×{} of", significant(ratio))),
        ratio if ratio < 1.0 => Some(format!("{text} % below")),
        _ => Some(format!("{text} % above")),
    }
}

/// `18.4 % below it`, `as much`.
fn of_it(ratio: f64) -> String {
    size(ratio).map_or_else(|| "as much".to_owned(), |size| format!("{size} it"))
}

/// Both ends of an interval that lies on one side: `14.3 to 22.2 %`, `×3.10 to ×3.70`.
fn span(low: f64, high: f64) -> String {
    if low >= FACTOR_MIN {
        return format!("{}–{}", factor(low), factor(high));
    }
    let percent = |ratio: f64| (ratio - 1.0).abs() * 100.0;
    let (min, max) = if high <= 1.0 { (high, low) } else { (low, high) };
    format!("{:.1}–{:.1} %", percent(min), percent(max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::stats::moments::squares_about;

    fn of_mean(value: f64, deviation: f64) -> Figure {
        Figure::of_mean(value, Some((deviation, 5)))
    }

    fn sentence(figure: Figure, base: Figure) -> String {
        let subjects = ["a".to_owned(), "b".to_owned()];
        let cells = ["a", "b"].map(|name| fixtures::cell("w", name, 1, 0).samples("t", vec![1.0]));
        let workload = fixtures::workload("w").time("t").subjects(["a", "b"]);
        let analysis = analysis::analyse(&fixtures::run(workload).cells(cells).complete());
        let names = Names::of_table(&subjects, &analysis.tables[0], String::new());
        Difference::sentence(&[Difference::at("x", figure.relation_to(base))], &names).to_string()
    }

    /// Reference: `scipy`'s `t.ppf(0.975, 4)` = 2.776445, and Welch's freedom, 4.20, by hand.
    #[test]
    fn an_interval_is_welchs() {
        let (low, high) = of_mean(410.686, 2.493_14).ratio_ci(of_mean(503.002, 19.3737)).unwrap();
        let half = 2.776_445
            * ((2.493_14_f64 / 410.686).powi(2) / 5.0 + (19.3737_f64 / 503.002).powi(2) / 5.0)
                .sqrt();
        let ratio: f64 = 410.686 / 503.002;
        assert!(
            (low - ratio * (-half).exp()).abs() < 1e-6 && (high - ratio * half.exp()).abs() < 1e-6
        );
    }

    #[test]
    fn differences_are_written_by_their_size_and_by_what_is_known() {
        let bare = |value| Figure::of_mean(value, None);
        let cases = [
            (bare(80.0), bare(100.0), "a is 20.0 % below b at x"),
            (bare(150.0), bare(100.0), "a is 50.0 % above b at x"),
            (bare(340.0), bare(100.0), "a is ×3.40 of b at x"),
            (bare(100.0), bare(100.0), "a is the same as b at x"),
            (bare(0.0), bare(0.0), "a is the same as b at x"),
            (bare(0.0), bare(5.0), "a and b have no ratio at x: one is not above zero"),
            (
                of_mean(80.0, 1.0),
                of_mean(100.0, 1.0),
                "a is 20.0 % below b at x (95 % CI 18.6–21.3 %)",
            ),
            (
                of_mean(99.0, 5.0),
                of_mean(100.0, 5.0),
                "a can't be distinguished from b at x: 1.0 % below it, 95 % CI 8.2 % below it to 6.7 % above it",
            ),
            (of_mean(206.0, 0.0), of_mean(206.0, 0.0), "a is the same as b at x"),
        ];
        for (first, second, wanted) in cases {
            assert_eq!(sentence(first, second), wanted);
        }
    }

    /// Connections of two kernels, as lmbench printed them on linux-kernel on 2 October 2002: the mean says the opposite.
    #[test]
    fn a_repetition_that_is_far_off_widens_an_interval_and_does_not_move_it() {
        let figure = |samples: &[f64]| Figure {
            value: median_of(&mut samples.to_vec()).unwrap(),
            logs: Logs::new(samples),
        };
        let base = figure(&[45.2, 43.9, 599_000.0, 44.4, 44.6]);
        let text = sentence(figure(&[48.3, 48.5, 49.0, 48.5, 48.3]), base);
        let wanted =
            "a can't be distinguished from b at x: 8.7 % above it, 95 % CI 99.9 % below it";
        assert!(text.starts_with(wanted), "{text}");
    }

    /// Drawn from normals of known means: the interval holds the true ratio as often as it says.
    #[test]
    fn intervals_hold_the_true_ratio() {
        let mut random = fastrand::Rng::with_seed(2008);
        let mut normal = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let mut drawn = |value: f64, deviation: f64| {
            let all: Vec<f64> = (0..5).map(|_| value + deviation * normal()).collect();
            let deviation = (squares_about(mean(&all), &all) / 4.0).sqrt();
            let repeated =
                Figure { value: median_of(&mut all.clone()).unwrap(), logs: Logs::new(&all) };
            [of_mean(mean(&all), deviation), repeated]
        };
        let mut holds = [0, 0];
        for _ in 0..1_000 {
            let (first, second) = (drawn(80.0, 1.0), drawn(100.0, 5.0));
            for (way, holds) in holds.iter_mut().enumerate() {
                let (low, high) = first[way].ratio_ci(second[way]).unwrap();
                *holds += u32::from(low <= 0.8 && 0.8 <= high);
            }
        }
        assert!(holds.iter().all(|holds| (930..=985).contains(holds)), "{holds:?} of 1,000");
    }
}
