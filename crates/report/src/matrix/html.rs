//! A matrix as a page: the page of all runs overlaid, with what changed and the tables first.
//!
//! Every tint has a sign and a word; the intervals are drawn without a script.

use super::changes::{headline, listed, ranked_changes};
use super::counts::Counts;
use super::facts::FactRow;
use super::sheet::{Entry, Sheet, SheetLine};
use super::sight::{notes, sight};
use super::text::{
    advice, confidence, in_unit, left_out, legend, range, ratio_factor, sign, tag, word,
};
use super::{Matrix, MatrixTable, Reference};
use crate::guests::{self, Guests};
use crate::html::spark::{self, Accent};
use crate::html::{Front, head, page_with};
use crate::text::{NO_FIGURE, metrics};
use analysis::compare::{
    Change, ComparedPoint, ComparedTable, Comparison, Direction, Ratio, Terms, compare_several,
};
use analysis::thresholds::MARGIN;
use findings::Conclusions;
use findings::answer::listed as listed_in;
use findings::format::{count, list, significant};
use findings::run_changes::sentence;
use maud::{Markup, html};
use model::Run;

/// The size of an interval's drawing, in SVG units.
const STRIP_WIDTH: f64 = 180.0;
const STRIP_HEIGHT: f64 = 20.0;
/// Facts that differ, as far as the answer names them.
const FACTS_MAX: usize = 4;
/// Intervals are cut off beyond this ratio.
const REACH_MAX: f64 = 1000.0;

/// The page of `matrix`, which is of these `runs`.
pub fn page(runs: &[(Run, Conclusions)], matrix: &Matrix<'_>) -> String {
    let fleet = matrix.fleet_head().and_then(|fleet| fleet.sentences.first());
    let title = match (fleet, matrix.ranked().first()) {
        (Some(sentence), _) => sentence.trim_end_matches('.').to_owned(),
        (None, Some((run, worst))) => format!("{}{}", matrix.label(*run), headline(worst)),
        (None, None) => format!("{} runs next to each other", runs.len()),
    };
    let run_name = |(run, column): (usize, &super::Column<'_>)| match (matrix.reference, run) {
        (Reference::First, 0) if !matrix.is_pair() => format!("Base: {}", column.name),
        _ => column.name.clone(),
    };
    let analysed = runs.iter().map(|(run, conclusions)| (run, Some(&conclusions.analysis)));
    let guests = Guests::new(analysed);
    let front = Front {
        title,
        run_names: matrix.run_columns().enumerate().map(run_name).collect(),
        answer: answer(matrix),
        section: html! {
            (section(matrix))
            @if let Some(guests) = guests { (guests::section(&guests)) }
        },
    };
    page_with(runs, Some(&front))
}

/// What changed, with a small plot each; then how many series did not, and what could explain it.
fn answer(matrix: &Matrix<'_>) -> Markup {
    html! {
        @if let Some(fleet) = matrix.fleet_head() {
            p { (fleet.title) }
            @for sentence in &fleet.sentences { p { (sentence) } }
        } @else {
            @for (column, comparison) in matrix.ranked() { (changes(matrix, column, comparison)) }
        }
        dl.answer-rest {
            @for (column, comparison) in matrix.comparisons() {
                (verdict_counts(&matrix.label(column), comparison))
            }
            @for refusal in matrix.refusals() { (head::line("Not compared", &html! { (refusal) })) }
            (explanations(matrix))
        }
    }
}

/// What one run's changes are; of two runs the title says the headline.
fn changes(matrix: &Matrix<'_>, column: usize, comparison: &Comparison) -> Markup {
    let all = ranked_changes(comparison);
    let is_named = !matrix.is_pair();
    // The headline of a single change has no plot.
    let listed = match (is_named, all.len()) {
        (false, 1) => vec![(String::new(), all)],
        _ => listed(matrix, comparison, usize::MAX),
    };
    html! {
        @if is_named { p.group { (matrix.label(column)) (headline(comparison)) "." } }
        @else if !listed.is_empty() { h3 { "What changed" } }
        @for (scope, changes) in &listed {
            @if listed.len() > 1 { p.group { (scope) } }
            @let statements: Vec<Markup> =
                changes.iter().map(|change| statement(comparison, change)).collect();
            (head::statements(&statements))
        }
    }
}

/// How many series and points there are of each verdict.
fn verdict_counts(label: &str, comparison: &Comparison) -> Markup {
    let all = [
        ("Series", Counts::of_series(comparison.tables.iter())),
        ("Points", Counts::of_points(comparison.tables.iter())),
    ];
    html! {
        @if comparison.tables.is_empty() {
            (head::line(&format!("{label}Verdicts"), &html! { "None: the runs have no series in common." }))
        }
        @for (what, counts) in all.into_iter().filter(|(_, counts)| counts.total() > 0) {
            (head::line(&format!("{label}{what}"), &tags(counts)))
        }
    }
}

/// What could explain the changes, and what can't be seen.
fn explanations(matrix: &Matrix<'_>) -> Markup {
    let facts: Vec<String> = matrix
        .facts()
        .iter()
        .map(|fact| format!("{} {}", fact.what, matrix.values_text(fact)))
        .collect();
    let more = facts.len().saturating_sub(FACTS_MAX);
    let left_out = left_out(matrix).len();
    html! {
        @if let Some(advice) = advice(matrix) {
            (head::line("Not decided", &head::with_remedy(&advice.what, &advice.remedy)))
        }
        @if let Some(sight) = sight(matrix) { (head::line("Can be seen", &html! { (sight) })) }
        (head::line("Facts that differ", &html! {
            @if facts.is_empty() { "None that was recorded." }
            @else {
                (list(&facts[..facts.len() - more])) @if more > 0 { ", " a href="#facts" { (more) " more" } }
            }
        }))
        @for note in notes(matrix) { (head::line("Warning", &html! { (note) })) }
        @if left_out > 0 { (head::line("Left out", &html! { a href="#left-out" { (left_out) } })) }
    }
}

/// A change with the medians of both runs: those of base pale.
fn statement(comparison: &Comparison, change: &Change) -> Markup {
    let table = comparison.tables.iter().find(|table| {
        (&table.workload, &table.parameters, &table.metric.name)
            == (&change.workload, &change.parameters, &change.metric)
    });
    let accent = match change.direction {
        Some(Direction::Better) => Accent::Good,
        _ => Accent::Bad,
    };
    html! {
        @if let Some(table) = table { (spark::lines(medians_of(table, &change.subjects, accent))) }
        div { p { (change_tag(change)) " " (sentence(comparison, change)) } }
    }
}

/// The medians of `subjects` in both runs as lines.
fn medians_of(
    table: &ComparedTable,
    subjects: &[String],
    accent: Accent,
) -> Vec<(Accent, Vec<(f64, f64)>)> {
    let rows = table.rows.iter().filter(|row| subjects.contains(&row.subject));
    rows.flat_map(|row| {
        let line = |median: fn(&ComparedPoint) -> f64| {
            let cells = table.points.iter().zip(&row.cells);
            cells
                .filter_map(|(point, cell)| Some((*point as f64, median(cell.as_ref()?))))
                .collect()
        };
        [(Accent::Pale, line(|point| point.base.value)), (accent, line(|point| point.new.value))]
    })
    .collect()
}

/// The comparison in full: the runs, tables, facts, confidence.
fn section(matrix: &Matrix<'_>) -> Markup {
    let names = matrix.run_columns().map(|column| &column.name);
    html! {
        section #comparison aria-labelledby="comparison-head" {
            h2 #comparison-head { "Comparison" }
            dl.pair {
                @for (name, identity) in names.zip(matrix.identities()) { dt { (name) } dd { (identity) } }
            }
            (tables(matrix))
            (facts(matrix))
            (confidence_section(matrix))
        }
    }
}

/// A table for each headline metric; the others are folded away.
fn tables(matrix: &Matrix<'_>) -> Markup {
    let (headline, secondary): (Vec<&MatrixTable>, Vec<&MatrixTable>) =
        matrix.sections.iter().partition(|section| section.headline);
    let has_best = |section: &&MatrixTable| Sheet::new(matrix, section, true).has_best();
    let best = headline.iter().any(has_best).then_some("★");
    html! {
        @for (number, section) in headline.iter().enumerate() {
            (table(matrix, section, &format!("compared-{number}")))
        }
        @if !matrix.sections.is_empty() { p.legend-line { (legend(matrix, best)) "." } }
        @if !secondary.is_empty() {
            details {
                summary { "The other metrics: " (secondary.len()) " tables" }
                @for (number, section) in secondary.iter().enumerate() {
                    (table(matrix, section, &format!("compared-secondary-{number}")))
                }
            }
        }
    }
}

fn facts(matrix: &Matrix<'_>) -> Markup {
    let facts = matrix.facts();
    let names = matrix.run_columns().map(|column| column.name.as_str());
    let heads: Vec<&str> = ["what"].into_iter().chain(names).collect();
    let row = |fact: &FactRow<'_>| {
        let values = fact.values.iter().map(|value| html! { (value.unwrap_or(NO_FIGURE)) });
        [html! { (fact.what) }].into_iter().chain(values).collect()
    };
    html! {
        h3 #facts { "Facts that differ" }
        @if facts.is_empty() { p { "No recorded fact differs." } } @else {
            (head::listing(("Facts that differ between the runs", "facts"), &heads, facts.iter().map(row)))
        }
    }
}

fn tags(counts: Counts) -> Markup {
    html! {
        @for (verdict, number) in counts.each() {
            @let none = if number == 0 { " none" } else { "" };
            span class={ "tag " (word(verdict)) (none) } {
                (sign(verdict)) " " (count(number as u64)) " " (word(verdict))
            } " "
        }
    }
}

/// Sign and word of a change, for the eye: the sentence says the same.
fn change_tag(change: &Change) -> Markup {
    let (sign, word) = tag(change);
    let class = match change.direction {
        Some(Direction::Worse) => "slower",
        Some(Direction::Better) => "faster",
        None => "tag-cross",
    };
    html! { span class={ "tag " (class) } aria-hidden="true" { (sign) " " (word) } }
}

/// Series down; of two runs the points across, with the interval of the whole drawn, else the runs.
fn table(matrix: &Matrix<'_>, section: &MatrixTable<'_>, id: &str) -> Markup {
    let sheet = Sheet::new(matrix, section, true);
    let unit = if section.is_list { String::new() } else { in_unit(&section.unit()) };
    let figures = metrics::figures(section.metric);
    let [caption, order] = if sheet.points_across {
        ["ratios; below them the ".to_owned(), format!(", {}", sheet.names.join(" → "))]
    } else {
        [String::new(), ", with their ratios".to_owned()]
    };
    let (heads, margin) = (&sheet.heads, matrix.margin());
    let reach = reach(margin, &sheet);
    let across = if sheet.points_across { heads.len() + 1 } else { heads.len() };
    let caption = html! { strong { (section.title) } " · " (caption) (figures) (order) (unit) };
    let body = html! {
        thead { tr {
            th scope="col" { "series" }
            @for (at, head) in heads.iter().enumerate() {
                th.number scope="col" { (head) }
                @if sheet.points_across && at == 0 { th scope="col" { (scale(reach)) } }
            }
        } }
        tbody {
            @for line in &sheet.lines {
                tr.point[line.is_point] {
                    @if line.entries.is_empty() { th scope="row" colspan=(across + 1) { (line.name) } }
                    @else { th scope="row" { (line.name) } }
                    @for (at, entry) in line.entries.iter().enumerate() {
                        (cell(line, entry, sheet.points_across))
                        @if sheet.points_across && at == 0 {
                            (drawn(entry.cell.ratio, margin, reach))
                        }
                    }
                }
            }
        }
    };
    head::table((id, "figures compared"), &caption, &body)
}

/// The ratio, and the figures below it; without a ratio the figure.
fn cell(line: &SheetLine<'_>, entry: &Entry<'_>, of_two: bool) -> Markup {
    let cell = entry.cell;
    let Some(judged) = cell.ratio else {
        return html! {
            td.number {
                span title=[cell.missing.as_ref()] { (entry.text(line, false)) } (star(cell.is_best))
            }
        };
    };
    let [base, new] = line.medians(entry);
    let interval = range(judged).map(|interval| format!("95 % CI {interval}"));
    let word = word(judged.verdict);
    html! {
        td class={ "number " (word) } title=[interval.filter(|_| !entry.with_range)] {
            @if !of_two && cell.median.is_some() {
                (new) (star(cell.is_best))
                span.interval { (ratio(judged)) span.unseen { " " (word) } }
            } @else {
                (ratio(judged)) (star(cell.is_best))
                @if of_two && entry.with_range { span.interval { (word) } }
                @else { span.unseen { " " (word) ", " } }
                @if of_two && !entry.with_range { span.interval { (base) " → " (new) } }
            }
            @if let Some(interval) = entry.range().filter(|_| !of_two) { span.interval { (interval) } }
        }
    }
}

fn star(is_best: bool) -> Markup {
    html! {
        @if is_best {
            span.star aria-hidden="true" { "★" } span.unseen { " better than each other run" }
        }
    }
}

/// A ratio with its sign, which screen readers skip.
fn ratio(ratio: &Ratio) -> Markup {
    html! {
        (ratio_factor(ratio.ratio.value)) " " span.sign aria-hidden="true" { (sign(ratio.verdict)) }
    }
}

/// How far the drawn intervals of a table reach to either side of 1, as a ratio.
fn reach(margin: f64, sheet: &Sheet<'_>) -> f64 {
    let wholes = sheet.lines.iter().filter_map(|line| line.entries.first()?.cell.ratio);
    let ends = wholes.filter(|whole| range(whole).is_some());
    let ends = ends.flat_map(|whole| [whole.ratio.low, whole.ratio.high]);
    let factors = ends.filter(|end| *end > 0.0).map(|end| end.max(1.0 / end));
    factors.fold((1.0 + margin).powi(2), f64::max).min(REACH_MAX)
}

/// The head above the drawn intervals: both ends, and 1 between them.
fn scale(reach: f64) -> Markup {
    html! {
        span.unseen { "interval" }
        div.ends.drawn-scale aria-hidden="true" {
            span { "×" (significant(1.0 / reach)) } span { "1" } span { "×" (significant(reach)) }
        }
    }
}

/// The interval of a whole series: drawn, and in figures.
fn drawn(whole: Option<&Ratio>, margin: f64, reach: f64) -> Markup {
    html! {
        td.drawn {
            @if let Some((whole, interval)) = whole.and_then(|whole| Some((whole, range(whole)?))) {
                (strip(whole, margin, reach))
                span.interval { "95 % CI " (interval) }
            }
        }
    }
}

/// An interval on a logarithmic scale, with the margin behind it.
fn strip(ratio: &Ratio, margin: f64, reach: f64) -> Markup {
    let x = |ratio: f64| {
        let share = 0.5 + 0.5 * ratio.ln() / reach.ln();
        STRIP_WIDTH * if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 }
    };
    let short = |x: f64| format!("{x:.1}");
    let (low, high) = (x(1.0 / (1.0 + margin)), x(1.0 + margin));
    let middle = STRIP_HEIGHT / 2.0;
    html! {
        svg class={ "span " (word(ratio.verdict)) } width=(STRIP_WIDTH) height=(STRIP_HEIGHT)
            viewBox={ "0 0 " (STRIP_WIDTH) " " (STRIP_HEIGHT) } aria-hidden="true" {
            rect.band x=(short(low)) y="0" width=(short(high - low)) height=(STRIP_HEIGHT) {}
            line.unity x1=(x(1.0)) x2=(x(1.0)) y1="0" y2=(STRIP_HEIGHT) {}
            line.bar x1=(short(x(ratio.ratio.low))) x2=(short(x(ratio.ratio.high)))
                y1=(middle) y2=(middle) {}
            circle cx=(short(x(ratio.ratio.value))) cy=(middle) r="3.5" {}
        }
    }
}

fn confidence_section(matrix: &Matrix<'_>) -> Markup {
    let left_out = left_out(matrix);
    html! {
        @if !left_out.is_empty() {
            h3 #left-out { "Left out" }
            ul.caveats { @for part in &left_out { li { (head::with_remedy(&part.what, &part.remedy)) } } }
        }
        h3 { "Confidence" }
        p { (confidence(matrix)) }
    }
}

/// The section of a page of `runs` that lie over each other: the figures that are no series, side by side; nothing
/// where fewer than two runs have any.
pub(crate) fn lists(runs: &[(Run, Conclusions)]) -> Markup {
    let has_list = |(run, conclusions): &&(Run, Conclusions)| {
        conclusions.analysis.tables.iter().any(|table| listed_in(run, table).is_some())
    };
    if runs.iter().filter(has_list).count() < 2 {
        return html! {};
    }
    let narrowed: Vec<(Run, Conclusions)> = runs.iter().map(narrowed).collect();
    let terms = Terms { margin: MARGIN, fail_above: None, across: true, all: false };
    let compared: Vec<&Run> = narrowed.iter().map(|(run, _)| run).collect();
    let several = compare_several(&compared, &terms);
    let matrix = Matrix::several(&narrowed, &several, &[]);
    html! {
        section #comparison aria-labelledby="comparison-head" {
            h2 #comparison-head { "Side by side" }
            (tables(&matrix))
            p.legend-line { (confidence(&matrix)) }
        }
    }
}

/// Of a run only the workloads whose figures are listed.
fn narrowed((run, conclusions): &(Run, Conclusions)) -> (Run, Conclusions) {
    let (mut run, mut conclusions) = (run.clone(), conclusions.clone());
    conclusions.analysis.tables.retain(|table| listed_in(&run, table).is_some());
    let names: Vec<&String> =
        conclusions.analysis.tables.iter().map(|table| &table.workload).collect();
    run.plan.workloads.retain(|info| names.contains(&&info.name));
    run.cells.retain(|cell| names.contains(&&cell.key.workload));
    (run, conclusions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::compare::Verdict;

    fn ratio(value: f64, low: f64, high: f64) -> Ratio {
        Ratio { ratio: analysis::Estimate { value, low, high }, verdict: Verdict::Slower }
    }

    #[test]
    fn an_interval_is_drawn_around_the_middle_and_never_beyond_the_ends() {
        let drawn = strip(&ratio(1.0, 0.5, 2.0), 0.05, 2.0).into_string();
        assert!(drawn.contains(r#"x1="0.0" x2="180.0""#), "{drawn}");
        assert!(drawn.contains(r#"cx="90.0""#), "{drawn}");
        let wide = strip(&ratio(1.0, 1e-9, 1e9), 0.05, 2.0).into_string();
        assert!(wide.contains(r#"x1="0.0" x2="180.0""#), "{wide}");
        let none =
            super::drawn(Some(&ratio(f64::NAN, f64::NAN, f64::NAN)), 0.05, 2.0).into_string();
        assert!(!none.contains("svg"), "{none}");
    }
}
