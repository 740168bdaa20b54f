//! The findings: sentences under what they hold under, with a tag for the eye that runs down.

use super::{Analysed, runs};
use crate::words;
use crate::words::{Tone, Verdict};
use analysis::{Analysis, Contest, Finding, FindingKind, Row, Standing, Table};
use maud::{Markup, html};
use record::Run;

/// The section with all findings of all runs.
pub(super) fn section(runs: &[Analysed]) -> Markup {
    html! {
        section #findings aria-labelledby="findings-head" tabindex="-1" {
            h2 #findings-head { "Findings" }
            @for (run, analysis) in runs {
                @if runs.len() > 1 { h3 { (runs::name(runs, run)) } }
                @let (headline, rest): (Vec<&Finding>, Vec<&Finding>) =
                    words::arranged(analysis.findings.iter())
                        .into_iter()
                        .partition(|finding| finding.headline);
                @if headline.is_empty() { p { (words::nothing_found(analysis)) } }
                (grouped(run, analysis, &headline))
                @if !rest.is_empty() {
                    details {
                        summary { "The other metrics: " (rest.len()) " findings" }
                        (grouped(run, analysis, &rest))
                    }
                }
            }
        }
    }
}

/// Findings under the parameters that they hold under.
fn grouped(run: &Run, analysis: &Analysis, findings: &[&Finding]) -> Markup {
    let place = |finding: &Finding| {
        (finding.workload.clone(), finding.parameters.clone(), finding.metric.clone())
    };
    html! {
        @for group in findings.chunk_by(|a, b| place(a) == place(b)) {
            p.group { (heading(run, group[0])) }
            ul.findings {
                @for finding in group { li { (sentence(analysis, finding)) } }
            }
        }
    }
}

/// `poll · loop · 1 active of N watched socketpairs`; a metric that has its workload's name is not said
/// twice.
fn heading(run: &Run, finding: &Finding) -> String {
    let parameters = words::parameters(run, &finding.workload, &finding.parameters);
    let metric = Some(&finding.metric).filter(|metric| **metric != finding.workload);
    let parts = [Some(&finding.workload), metric, Some(&parameters)];
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" · ")
}

/// A sentence with its subjects set off, and before it what it comes to as a tag: for the eye that
/// runs down the list, since the sentence says the same.
fn sentence(analysis: &Analysis, finding: &Finding) -> Markup {
    let table = analysis.tables.iter().find(|table| is_about(finding, table));
    let labels: Vec<&str> = match table {
        Some(table) if finding.subjects.len() > 1 => {
            let subjects = finding.subjects.iter();
            subjects.filter_map(|subject| label(table, subject)).collect()
        }
        _ => row_of(analysis, finding).map(|row| row.label.as_str()).into_iter().collect(),
    };
    html! {
        @if let Some(tag) = tag_of(analysis, finding) { span.tags aria-hidden="true" { (tag) } }
        span.sentence { (set_off(&finding.sentence, &labels)) }
    }
}

/// The text with names in it set off: a single one stands first, those of several anywhere.
fn set_off(text: &str, labels: &[&str]) -> Markup {
    if let [] | [_] = labels {
        let label = labels.first().copied().unwrap_or_default();
        let rest = text.strip_prefix(label).filter(|_| !label.is_empty());
        return html! { @if let Some(rest) = rest { strong { (label) } (rest) } @else { (text) } };
    }
    html! {
        @for piece in pieces(text, labels) {
            @if labels.contains(&piece) { strong { (piece) } } @else { (piece) }
        }
    }
}

/// The text cut before and after each of the names in it. A name that is part of another word, as
/// `poll` is of `epoll-level`, is none.
fn pieces<'a>(text: &'a str, labels: &[&str]) -> Vec<&'a str> {
    let in_word = |c: char| c.is_alphanumeric() || "-_/".contains(c);
    let whole = |from: usize, to: usize| {
        let before = text[..from].chars().next_back();
        let after = text[to..].chars().next();
        !before.is_some_and(in_word) && !after.is_some_and(in_word)
    };
    let mut spans: Vec<(usize, usize)> = labels
        .iter()
        .filter(|label| !label.is_empty())
        .flat_map(|label| text.match_indices(*label).map(|(at, _)| (at, at + label.len())))
        .filter(|(from, to)| whole(*from, *to))
        .collect();
    // Where one name begins with another, the longer is meant.
    spans.sort_unstable_by_key(|&(from, to)| (from, std::cmp::Reverse(to)));
    let mut pieces = Vec::new();
    let mut done = 0;
    for (from, to) in spans {
        if from >= done {
            pieces.extend([&text[done..from], &text[from..to]]);
            done = to;
        }
    }
    pieces.push(&text[done..]);
    pieces
}

fn is_about(finding: &Finding, table: &Table) -> bool {
    table.workload == finding.workload
        && table.parameters == finding.parameters
        && table.metric.name == finding.metric
}

fn label<'a>(table: &'a Table, subject: &str) -> Option<&'a str> {
    table.rows.iter().find(|row| row.subject == subject).map(|row| row.label.as_str())
}

/// The row that a finding about one subject stands on.
fn row_of<'a>(analysis: &'a Analysis, finding: &Finding) -> Option<&'a Row> {
    let [subject] = finding.subjects.as_slice() else { return None };
    let table = analysis.tables.iter().find(|table| is_about(finding, table))?;
    table.rows.iter().find(|row| row.subject == *subject)
}

/// What a finding comes to, in a word or two.
fn tag_of(analysis: &Analysis, finding: &Finding) -> Option<Markup> {
    let quiet = |tone: &str, text: &str| html! { span class={ "tag tag-" (tone) } { (text) } };
    match finding.kind {
        FindingKind::Crossover => {
            let table = analysis.tables.iter().find(|table| is_about(finding, table))?;
            let contest = table.contests.iter().find(|contest| is_told_by(finding, contest))?;
            Some(outcome(&contest.standing))
        }
        FindingKind::Growth | FindingKind::Rate => {
            words::verdict(row_of(analysis, finding)?).map(|verdict| tag(&verdict))
        }
        FindingKind::Mode => Some(quiet("cross", "modes")),
        FindingKind::Step => Some(quiet("cross", "step")),
        FindingKind::Drift => Some(quiet("open", "drift")),
        FindingKind::Unfinished => Some(quiet("high", "did not finish")),
        FindingKind::Scaling => Some(quiet("cross", "scaling")),
        FindingKind::Fairness => Some(quiet("middle", "fairness")),
        FindingKind::Ranking => Some(quiet("cross", "ranking")),
        FindingKind::Trade => Some(quiet("cross", "beside")),
        FindingKind::Difference => Some(quiet("cross", "difference")),
        FindingKind::Control => Some(quiet("open", "control")),
    }
}

/// Whether a finding is about the pair of a contest, in either order.
pub(super) fn is_told_by(finding: &Finding, contest: &Contest) -> bool {
    let pair = [contest.one.as_str(), contest.other.as_str()];
    let [one, other] = finding.subjects.as_slice() else { return false };
    finding.kind == FindingKind::Crossover
        && (pair == [one.as_str(), other.as_str()] || pair == [other.as_str(), one.as_str()])
}

/// Whether some finding of `analysis` tells how a contest of `table` ends.
pub(super) fn tells(analysis: &Analysis, table: &Table, contest: &Contest) -> bool {
    analysis.findings.iter().any(|told| is_about(told, table) && is_told_by(told, contest))
}

/// Whether some finding of `analysis` tells that `row` did not finish.
pub(super) fn tells_end(analysis: &Analysis, table: &Table, row: &Row) -> bool {
    let ends = analysis.findings.iter().filter(|told| told.kind == FindingKind::Unfinished);
    ends.into_iter().any(|told| is_about(told, table) && told.subjects == [row.subject.as_str()])
}

/// How a contest ends as a quiet tag.
fn outcome(standing: &Standing) -> Markup {
    let (tone, text) = match standing {
        Standing::Crosses { .. } => ("cross", "overtakes"),
        _ if standing.is_same() => ("low", "the same"),
        Standing::TooClose { .. } => ("open", "too close"),
        Standing::Throughout { .. } => ("open", "none in range"),
        Standing::Unsettled { .. } => ("open", "unsettled"),
        Standing::Unknown { .. } => ("open", "undecided"),
    };
    html! { span class={ "tag tag-" (tone) } { (text) } }
}

/// An order of growth, or where a rate goes, as a quiet tag.
pub(super) fn tag(verdict: &Verdict) -> Markup {
    let name = match verdict.tone {
        Tone::Low => "low",
        Tone::Middle => "middle",
        Tone::High => "high",
        Tone::Open => "open",
    };
    html! { span class={ "tag tag-" (name) } { (verdict.word) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_set_off_only_where_they_stand_alone() {
        let labels = ["poll", "epoll-level"];
        let text = "poll overtakes epoll-level at 826 tokens; ppoll does not, poll-set neither.";
        let pieces = pieces(text, &labels);
        assert_eq!(pieces.concat(), text);
        let named: Vec<&str> = pieces.into_iter().filter(|piece| labels.contains(piece)).collect();
        assert_eq!(named, ["poll", "epoll-level"]);
    }

    #[test]
    fn of_two_names_that_begin_alike_the_longer_is_meant() {
        let labels = ["kqueue", "kqueue (libkqueue)"];
        let pieces = pieces("kqueue (libkqueue) overtakes kqueue at 5.", &labels);
        assert_eq!(pieces, ["", "kqueue (libkqueue)", " overtakes ", "kqueue", " at 5."]);
    }
}
