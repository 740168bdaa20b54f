//! A comparison as a page: the page of both runs overlaid, with the comparison's own section first.
//!
//! Every tint has a sign and a word; the intervals are drawn without a script.

use super::counts::{Counts, Pair};
use super::sight::{notes, sight};
use super::text::{
    advice, changes, confidence, headline, identities, in_unit, interval, legend, medians,
    ranked_changes, ratio_factor, scope, sign, tag, title, unit, word,
};
use crate::history::sentences::difference;
use crate::html::spark::{self, Accent};
use crate::html::{Front, head, page_with};
use crate::side_by_side::guests;
use crate::text::{NO_FIGURE, metrics};
use analysis::compare::{
    Change, ComparedPoint, ComparedRow, ComparedTable, Comparison, Direction, Ratio, Verdict,
};
use findings::Conclusions;
use findings::emulation::Emulation;
use findings::format::{Unit, count, list, significant};
use findings::left_out;
use findings::run_changes::sentence;
use maud::{Markup, html};
use model::Run;

const STYLE: &str = include_str!("../../assets/comparison.css");
/// The size of an interval's drawing, in SVG units.
const STRIP_WIDTH: f64 = 180.0;
const STRIP_HEIGHT: f64 = 20.0;
/// Facts that differ, as far as the answer names them.
const FACTS_MAX: usize = 4;
/// Intervals are cut off beyond this ratio.
const REACH_MAX: f64 = 1000.0;

/// The page of `runs`, the base first and the new one second.
pub fn page(runs: &[(Run, Conclusions)], comparison: &Comparison) -> String {
    let [(base, _), (new, _), ..] = runs else { return crate::html::page(runs) };
    let pair = Pair { base, new, comparison };
    let front = Front {
        title: headline(comparison),
        style: STYLE,
        run_names: vec!["Base".to_owned(), "New".to_owned()],
        answer: answer(&pair),
        section: html! {
            (section(&pair))
            @if let Some(guests) = guests::of_runs(runs) { (guests::section(&guests)) }
        },
    };
    page_with(runs, Some(&front))
}

/// What changed, with a small plot each; then how many series did not, and what could explain it.
fn answer(pair: &Pair) -> Markup {
    let comparison = pair.comparison;
    let changes: Vec<Markup> = ranked_changes(comparison)
        .into_iter()
        .map(|change| statement(comparison, change))
        .collect();
    let facts: Vec<String> = comparison.differences.iter().map(difference).collect();
    let more = facts.len().saturating_sub(FACTS_MAX);
    html! {
        @if !changes.is_empty() { h3 { "What changed" } (head::statements(&changes)) }
        dl.answer-rest {
            @if comparison.tables.is_empty() {
                (head::line("Verdicts", &html! { "None: the runs have no series in common." }))
            }
            @for (what, counts) in verdict_counts(comparison) {
                @if counts.total() > 0 { (head::line(what, &tags(counts))) }
            }
            @if let Some(advice) = advice(pair) {
                (head::line("Not decided", &head::with_remedy(&advice.what, &advice.remedy)))
            }
            @if let Some(sight) = sight(pair) { (head::line("Can be seen", &html! { (sight) })) }
            (head::line("Facts that differ", &html! {
                @if facts.is_empty() { "None that was recorded." }
                @else {
                    (list(&facts[..facts.len() - more])) @if more > 0 { ", " a href="#facts" { (more) " more" } }
                }
            }))
            @if let Some(emulation) = Emulation::from_runs([pair.base, pair.new]) {
                (head::line("Warning", &html! { (emulation.sentence()) }))
            }
            @if !comparison.left_out.is_empty() {
                (head::line("Left out", &html! { a href="#left-out" { (comparison.left_out.len()) } }))
            }
        }
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
        div { p {
            (change_tag(change)) " " (sentence(comparison, change))
        } }
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

/// The comparison in full: facts, changes by their parameters, tables, confidence.
fn section(pair: &Pair) -> Markup {
    let comparison = pair.comparison;
    let (headline, secondary): (Vec<&ComparedTable>, Vec<&ComparedTable>) =
        comparison.tables.iter().partition(|table| table.headline);
    let [base, new] = identities(pair);
    html! {
        section #comparison aria-labelledby="comparison-head" {
            h2 #comparison-head { "Comparison" }
            dl.pair {
                dt { "Base" } dd { (base) }
                dt { "New" } dd { (new) }
            }
            @for (number, table) in headline.iter().enumerate() {
                (compared(pair, table, &format!("compared-{number}")))
            }
            @if !comparison.tables.is_empty() { p.legend-line { (legend(comparison)) "." } }
            @if !secondary.is_empty() {
                details {
                    summary { "The other metrics: " (secondary.len()) " tables" }
                    @for (number, table) in secondary.iter().enumerate() {
                        (compared(pair, table, &format!("compared-secondary-{number}")))
                    }
                }
            }
            (differences(pair))
            h3 { "Changed" }
            (changed(pair))
            (confidence_section(pair))
        }
    }
}

fn differences(pair: &Pair) -> Markup {
    let comparison = pair.comparison;
    let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| NO_FIGURE.to_owned());
    html! {
        h3 #facts { "Facts that differ" }
        @if comparison.differences.is_empty() { p { "No recorded fact differs." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Facts that differ" {
                table.facts {
                    caption { span.unseen { "Facts that differ between the runs" } }
                    thead { tr {
                        th scope="col" { "what" } th scope="col" { "base" } th scope="col" { "new" }
                    } }
                    tbody {
                        @for fact in &comparison.differences {
                            tr { th scope="row" { (fact.what) } td { (cell(&fact.base)) } td { (cell(&fact.new)) } }
                        }
                    }
                }
            }
        }
        @for note in notes(pair) { p { (note) } }
    }
}

/// How many series and points there are of each verdict.
fn verdict_counts(comparison: &Comparison) -> [(&'static str, Counts); 2] {
    [
        ("Series", Counts::of_series(comparison.tables.iter())),
        ("Points", Counts::of_points(comparison.tables.iter())),
    ]
}

fn tags(counts: Counts) -> Markup {
    html! {
        @for (verdict, number) in counts.each() {
            @let none = if number == 0 { " none" } else { "" };
            span class={ "tag " (class(verdict)) (none) } {
                (sign(verdict)) " " (count(number as u64)) " " (word(verdict))
            } " "
        }
    }
}

fn changed(pair: &Pair) -> Markup {
    let changes = changes(pair.comparison);
    html! {
        @if changes.is_empty() { p { "No change that is significant and beyond the margin." } }
        @for group in changes.chunk_by(|a, b| scope(pair, a) == scope(pair, b)) {
            p.group { (scope(pair, group[0])) }
            ul.findings { @for change in group { (item(pair.comparison, change)) } }
        }
    }
}

fn item(comparison: &Comparison, change: &Change) -> Markup {
    html! {
        li {
            span.tags { (change_tag(change)) }
            span.sentence { (sentence(comparison, change)) }
        }
    }
}

/// Sign and word of a change, for the eye: the sentence says the same.
fn change_tag(change: &Change) -> Markup {
    let (sign, word) = tag(change);
    let class = match change.direction {
        Some(Direction::Worse) => class(Verdict::Slower),
        Some(Direction::Better) => class(Verdict::Faster),
        None => "tag-cross",
    };
    html! { span class={ "tag " (class) } aria-hidden="true" { (sign) " " (word) } }
}

const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Undecided => "undecided",
    }
}

fn compared(pair: &Pair, table: &ComparedTable, id: &str) -> Markup {
    let unit = unit(table);
    let in_unit = in_unit(&unit).replacen(' ', ", ", 1);
    let reach = reach(pair.comparison.margin, table);
    html! {
        div.scroll tabindex="0" role="region" aria-labelledby=(id) {
            table.figures.compared {
                caption id=(id) { div {
                    strong { (title(pair, table)) } " · new ÷ base; below it the " (metrics::figures(&table.metric)) ", base → new" (in_unit)
                } }
                thead { tr {
                    th scope="col" { "subject" }
                    th.number scope="col" { "overall" }
                    th scope="col" { (scale(reach)) }
                    @for point in &table.points { th.number scope="col" { (count(*point)) } }
                } }
                tbody { @for row in &table.rows { (line(row, &unit, (pair.comparison.margin, reach))) } }
            }
        }
    }
}

fn line(row: &ComparedRow, unit: &Unit, (margin, reach): (f64, f64)) -> Markup {
    let [base, new] = medians(row, unit);
    html! {
        tr {
            th scope="row" { (row.label) }
            td class={ "number " (class(row.overall.verdict)) } {
                (ratio(&row.overall))
                span.interval { (word(row.overall.verdict)) }
            }
            td.drawn {
                (strip(&row.overall, margin, reach))
                @if let Some(interval) = interval(&row.overall) { span.interval { "95 % CI " (interval) } }
            }
            @for (at, cell) in row.cells.iter().enumerate() {
                (point(cell.as_ref(), (&base[at], &new[at])))
            }
        }
    }
}

fn point(cell: Option<&ComparedPoint>, (base, new): (&str, &str)) -> Markup {
    html! {
        @if let Some(ComparedPoint { ratio: judged, .. }) = cell {
            td class={ "number " (class(judged.verdict)) } title=[interval(judged).map(|interval| format!("95 % CI {interval}"))] {
                (ratio(judged))
                span.unseen { " " (word(judged.verdict)) ", " }
                span.interval { (base) " → " (new) }
            }
        } @else { td.number { (NO_FIGURE) } }
    }
}

/// A ratio with its sign, which screen readers skip.
fn ratio(ratio: &Ratio) -> Markup {
    html! {
        (ratio_factor(ratio.ratio.value)) " " span.sign aria-hidden="true" { (sign(ratio.verdict)) }
    }
}

/// How far the drawn intervals of a table reach to either side of 1, as a ratio.
fn reach(margin: f64, table: &ComparedTable) -> f64 {
    let ends = table.rows.iter().filter(|row| interval(&row.overall).is_some());
    let ends = ends.flat_map(|row| [row.overall.ratio.low, row.overall.ratio.high]);
    let factors = ends.filter(|end| *end > 0.0).map(|end| end.max(1.0 / end));
    factors.fold((1.0 + margin).powi(2), f64::max).min(REACH_MAX)
}

/// The head above the drawn intervals: both ends, and 1 between them.
fn scale(reach: f64) -> Markup {
    html! {
        span.unseen { "interval" }
        div.scale aria-hidden="true" {
            span { "×" (significant(1.0 / reach)) } span { "1" } span { "×" (significant(reach)) }
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
        @if interval(ratio).is_some() {
            svg class={ "span " (class(ratio.verdict)) } width=(STRIP_WIDTH) height=(STRIP_HEIGHT)
                viewBox={ "0 0 " (STRIP_WIDTH) " " (STRIP_HEIGHT) } aria-hidden="true" {
                rect.band x=(short(low)) y="0" width=(short(high - low)) height=(STRIP_HEIGHT) {}
                line.unity x1=(x(1.0)) x2=(x(1.0)) y1="0" y2=(STRIP_HEIGHT) {}
                line.bar x1=(short(x(ratio.ratio.low))) x2=(short(x(ratio.ratio.high)))
                    y1=(middle) y2=(middle) {}
                circle cx=(short(x(ratio.ratio.value))) cy=(middle) r="3.5" {}
            }
        }
    }
}

fn confidence_section(pair: &Pair) -> Markup {
    let left_out: Vec<_> = pair.comparison.left_out.iter().map(left_out::of_comparison).collect();
    html! {
        @if !left_out.is_empty() {
            h3 #left-out { "Left out" }
            ul.caveats { @for warning in &left_out { li { (with_remedy(warning)) } } }
        }
        h3 { "Confidence" }
        p { (confidence(pair)) }
        @if let Some(advice) = advice(pair) { p { (with_remedy(&advice)) } }
    }
}

fn with_remedy(warning: &model::Warning) -> Markup {
    html! {
        (warning.what) @if !warning.remedy.is_empty() { " → " code { (warning.remedy) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let none = strip(&ratio(f64::NAN, f64::NAN, f64::NAN), 0.05, 2.0).into_string();
        assert_eq!(none, "");
    }
}
