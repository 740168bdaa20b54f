//! A comparison as a page: the page of both runs overlaid, with the comparison's own section first.
//!
//! What a tint says, a sign and a word say too; the intervals are drawn without a script.

use super::{
    Counts, Pair, advice, changes, held_in, identity, interval, judged, legend, medians, place_of,
    sign, tag, times, title, unit, word,
};
use crate::figures::{NONE, Unit, figure, whole};
use crate::html::{Front, page_with};
use analysis::compare::{
    Change, ComparedPoint, ComparedRow, ComparedTable, Comparison, Direction, Ratio, Verdict,
};
use findings::Conclusions;
use findings::run_changes::sentence;
use maud::{Markup, html};
use record::Run;

const STYLE: &str = include_str!("../../assets/comparison.css");
/// The drawing of an interval, in units of its own.
const STRIP_WIDTH: f64 = 180.0;
const STRIP_HEIGHT: f64 = 20.0;
/// Beyond so much to either side an interval is cut off: it tells nothing but that it is wide.
const REACH_MAX: f64 = 1000.0;

/// The page of `runs`, the base first and the new one second.
pub fn page(runs: &[(Run, Conclusions)], comparison: &Comparison) -> String {
    let [(base, _), (new, _), ..] = runs else { return crate::html::page(runs) };
    let pair = Pair { base, new, comparison };
    let front = Front {
        anchor: ("comparison", "the comparison"),
        title: ", compared",
        style: STYLE,
        section: section(&pair),
    };
    page_with(runs, Some(&front))
}

fn section(pair: &Pair) -> Markup {
    let of = pair.comparison;
    let (main, others): (Vec<&ComparedTable>, Vec<&ComparedTable>) =
        of.tables.iter().partition(|table| table.headline);
    html! {
        section #comparison aria-labelledby="comparison-head" tabindex="-1" {
            h2 #comparison-head { "Comparison" }
            dl.pair {
                dt { "Base" } dd { (identity(pair.base)) }
                dt { "New" } dd { (identity(pair.new)) }
            }
            (differences(of))
            h3 { "Verdicts" }
            (verdicts(of))
            h3 { "Changed" }
            (changed(of))
            @for (number, table) in main.iter().enumerate() {
                (compared(pair, table, &format!("compared-{number}")))
            }
            @if !of.tables.is_empty() { p.legend-line { (legend(of)) "." } }
            @if !others.is_empty() {
                details {
                    summary { "The other metrics: " (others.len()) " tables" }
                    @for (number, table) in others.iter().enumerate() {
                        (compared(pair, table, &format!("compared-other-{number}")))
                    }
                }
            }
            (how_sure(pair))
        }
    }
}

fn differences(of: &Comparison) -> Markup {
    let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
    html! {
        h3 { "Conditions that differ" }
        @if of.differences.is_empty() { p { "Nothing that is recorded of them differs." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Conditions that differ" {
                table.facts aria-label="Conditions that differ" {
                    thead { tr {
                        th scope="col" { "what" } th scope="col" { "base" } th scope="col" { "new" }
                    } }
                    tbody {
                        @for one in &of.differences {
                            tr { th scope="row" { (one.what) } td { (cell(&one.base)) } td { (cell(&one.new)) } }
                        }
                    }
                }
            }
        }
    }
}

fn verdicts(of: &Comparison) -> Markup {
    let counts = [
        ("series", Counts::of_series(of.tables.iter())),
        ("points", Counts::of_points(of.tables.iter())),
    ];
    html! {
        @if of.tables.is_empty() { p { "None: nothing was measured by both." } } @else {
            ul.verdicts {
                @for (what, counts) in counts {
                    li {
                        span.of { (whole(counts.total() as u64)) " " (what) ": " }
                        @for (verdict, count) in counts.each() {
                            @let none = if count == 0 { " none" } else { "" };
                            span class={ "tag " (class(verdict)) (none) } {
                                (sign(verdict)) " " (whole(count as u64)) " " (word(verdict))
                            } " "
                        }
                    }
                }
            }
        }
    }
}

fn changed(of: &Comparison) -> Markup {
    let changes = changes(of);
    html! {
        @if changes.is_empty() { p { "Nothing that is clear of chance and larger than the margin." } }
        @for group in changes.chunk_by(|a, b| place_of(a) == place_of(b)) {
            p.group { (place_of(group[0])) }
            ul.findings { @for change in group { (item(of, change)) } }
        }
    }
}

fn item(comparison: &Comparison, change: &Change) -> Markup {
    let (sign, word) = tag(change);
    let class = match change.direction {
        Some(Direction::Worse) => class(Verdict::Slower),
        Some(Direction::Better) => class(Verdict::Faster),
        None => "tag-cross",
    };
    html! {
        li {
            span.tags aria-hidden="true" { span class={ "tag " (class) } { (sign) " " (word) } }
            span.sentence { (sentence(comparison, change)) }
        }
    }
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
    let held = held_in(&unit).replacen(' ', ", ", 1);
    let reach = reach(pair.comparison.margin, table);
    html! {
        div.scroll tabindex="0" role="region" aria-labelledby=(id) {
            table.figures.compared {
                caption id=(id) { div {
                    strong { (title(pair, table)) } " · new ÷ base; below it the medians, base → new" (held)
                } }
                thead { tr {
                    th scope="col" { "subject" }
                    @for point in &table.points { th.number scope="col" { (whole(*point)) } }
                    th.number scope="col" { "overall" }
                    th scope="col" { (scale(reach)) }
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
            @for (at, cell) in row.cells.iter().enumerate() {
                (point(cell.as_ref(), (&base[at], &new[at])))
            }
            td class={ "number " (class(row.overall.verdict)) } {
                (said(&row.overall))
                span.interval { (word(row.overall.verdict)) }
            }
            td.drawn {
                (strip(&row.overall, margin, reach))
                @if let Some(told) = interval(&row.overall) { span.interval { "95 % " (told) } }
            }
        }
    }
}

fn point(cell: Option<&ComparedPoint>, (base, new): (&str, &str)) -> Markup {
    html! {
        @if let Some(of) = cell {
            td class={ "number " (class(of.ratio.verdict)) } title=[interval(&of.ratio).map(|told| format!("95 % {told}"))] {
                (said(&of.ratio))
                span.unseen { " " (word(of.ratio.verdict)) ", " }
                span.interval { (base) " → " (new) }
            }
        } @else { td.number { (NONE) } }
    }
}

/// A ratio with its sign, for eyes.
fn said(of: &Ratio) -> Markup {
    html! { (times(of.ratio.value)) " " span.sign aria-hidden="true" { (sign(of.verdict)) } }
}

/// How far the drawn intervals of a table reach to either side of 1, as a ratio.
fn reach(margin: f64, table: &ComparedTable) -> f64 {
    let ends = table.rows.iter().filter(|row| interval(&row.overall).is_some());
    let ends = ends.flat_map(|row| [row.overall.ratio.low, row.overall.ratio.high]);
    let away = ends.filter(|end| *end > 0.0).map(|end| end.max(1.0 / end));
    away.fold((1.0 + margin).powi(2), f64::max).min(REACH_MAX)
}

/// The head above the drawn intervals: both ends, and 1 between them.
fn scale(reach: f64) -> Markup {
    html! {
        span.unseen { "interval" }
        div.scale aria-hidden="true" {
            span { "×" (figure(1.0 / reach)) } span { "1" } span { "×" (figure(reach)) }
        }
    }
}

/// An interval on a logarithmic scale, with the margin behind it.
fn strip(of: &Ratio, margin: f64, reach: f64) -> Markup {
    let place = |ratio: f64| {
        let share = 0.5 + 0.5 * ratio.ln() / reach.ln();
        STRIP_WIDTH * if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 }
    };
    let short = |place: f64| format!("{place:.1}");
    let (low, high) = (place(1.0 / (1.0 + margin)), place(1.0 + margin));
    let middle = STRIP_HEIGHT / 2.0;
    html! {
        @if interval(of).is_some() {
            svg class={ "span " (class(of.verdict)) } width=(STRIP_WIDTH) height=(STRIP_HEIGHT)
                viewBox={ "0 0 " (STRIP_WIDTH) " " (STRIP_HEIGHT) } aria-hidden="true" {
                rect.band x=(short(low)) y="0" width=(short(high - low)) height=(STRIP_HEIGHT) {}
                line.one x1=(place(1.0)) x2=(place(1.0)) y1="0" y2=(STRIP_HEIGHT) {}
                line.bar x1=(short(place(of.ratio.low))) x2=(short(place(of.ratio.high)))
                    y1=(middle) y2=(middle) {}
                circle cx=(short(place(of.ratio.value))) cy=(middle) r="3.5" {}
            }
        }
    }
}

fn how_sure(pair: &Pair) -> Markup {
    let of = pair.comparison;
    html! {
        @if !of.left_out.is_empty() {
            h3 { "Left out" }
            ul.caveats { @for one in &of.left_out { li { (remedied(one)) } } }
        }
        h3 { "How sure" }
        p { (judged(pair)) }
        @if let Some(advice) = advice(pair) { p { (remedied(&advice)) } }
    }
}

fn remedied(warning: &record::Warning) -> Markup {
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
