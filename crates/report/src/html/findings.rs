//! The findings: sentences under the parameters that they hold under, each with a tag for the eye that runs
//! down the list.

use super::runs;
use super::view::Analysed;
use crate::text;
use findings::{Finding, Part, Sentence, Tag, Tone};
use maud::{Markup, html};
use model::{Run, WorkloadInfo};

/// All findings about a workload, those of every run under its name.
pub(super) fn of_workload(runs: &[Analysed], info: &WorkloadInfo) -> Markup {
    html! {
        h3 { "Findings" }
        @for (run, conclusions) in runs {
            @if runs.len() > 1 { p.run-name { (runs::name(runs, run)) } }
            @let all = conclusions.findings.iter().filter(|finding| finding.workload == info.name);
            @let (headline, rest): (Vec<&Finding>, Vec<&Finding>) =
                all.partition(|finding| finding.headline);
            @if headline.is_empty() { p { (text::notes::no_findings(&conclusions.analysis)) } }
            (grouped(run, &headline))
            @if !rest.is_empty() {
                details {
                    summary { "The other metrics: " (rest.len()) " findings" }
                    (grouped(run, &rest))
                }
            }
        }
    }
}

/// Findings under the parameters that they hold under.
fn grouped(run: &Run, findings: &[&Finding]) -> Markup {
    html! {
        @for group in findings.chunk_by(|a, b| a.is_of_same_table(b)) {
            p.group { (heading(run, group[0])) }
            ul.findings {
                @for finding in group {
                    li {
                        // The sentence says the same.
                        span.tags aria-hidden="true" { (tag(finding.data.tag())) }
                        span.sentence { (sentence(&finding.text())) }
                    }
                }
            }
        }
    }
}

/// `poll · loop · 1 active of N watched socketpairs`; a metric that has its workload's name is written once.
fn heading(run: &Run, finding: &Finding) -> String {
    let parameters = text::parameters::with_axis(run, &finding.workload, &finding.parameters);
    let metric = Some(&finding.metric).filter(|metric| **metric != finding.workload);
    let parts = [Some(&finding.workload), metric, Some(&parameters)];
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" · ")
}

/// A sentence with its subjects set off.
pub(super) fn sentence(sentence: &Sentence) -> Markup {
    html! {
        @for part in sentence.parts() {
            @match part {
                Part::Subject(label) => strong { (label) },
                Part::Text(text) => (text),
            }
        }
    }
}

/// A word or two as a quiet tag.
pub(super) fn tag(tag: Tag) -> Markup {
    let tone = match tag.tone {
        Tone::Low => "low",
        Tone::Middle => "middle",
        Tone::High => "high",
        Tone::Open => "open",
        Tone::Neutral => "cross",
    };
    html! { span class={ "tag tag-" (tone) } { (tag.word) } }
}
