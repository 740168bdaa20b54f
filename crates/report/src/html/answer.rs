//! The answer at the head of the page: the terminal's sections in the same order, with a small plot at each
//! finding.

use super::findings::sentence;
use super::head;
use super::profile;
use super::runs;
use super::spark;
use super::view::{Analysed, anchor};
use crate::text;
use analysis::Table;
use findings::answer::{Answer, FigureList, Remark};
use findings::format::{count, counted};
use findings::{Finding, Kind, Section, Sentence, Tone};
use maud::{Markup, html};
use model::{Run, WorkloadInfo};

/// From this number of runs on, the head of the page has one statement of each.
const SEVERAL: usize = 3;
/// Runs in the head of the page; further ones are folded away.
const RUNS_MAX: usize = 4;

/// What the answer of one run is laid out with.
struct Layout<'a> {
    run: &'a Run,
    tables: &'a [Table],
    workloads: &'a [&'a WorkloadInfo],
}

/// The first sentence of an answer without its further clauses: the title of the page.
pub(super) fn headline(answer: &Answer) -> String {
    let sentence = answer.headline().to_string();
    let clause = sentence.split("; ").next().unwrap_or_default();
    clause.trim_end_matches('.').to_owned()
}

/// The answer of the only run, or what is most important in those of all, each below its name and `facts`.
pub(super) fn section(
    runs: &[Analysed],
    answers: &[Answer],
    workloads: &[&WorkloadInfo],
    facts: impl Fn(usize) -> Markup,
) -> Markup {
    let layout =
        |run: usize| Layout { run: &runs[run].0, tables: &runs[run].1.analysis.tables, workloads };
    if let [only] = answers {
        return head::answer(&layout(0).answer(only, "h3"));
    }
    let in_brief = |(index, answer): (usize, &Answer)| {
        let name = runs::name(runs, &runs[index].0);
        let (few, facts) = (runs.len() < SEVERAL, facts(index));
        layout(index).in_brief(answer, &name, few, &facts)
    };
    let all: Vec<Markup> = answers.iter().enumerate().map(in_brief).collect();
    let (shown, folded) = all.split_at(all.len().min(RUNS_MAX));
    head::answer(&html! {
        @for run in shown { (run) }
        @if !folded.is_empty() {
            details.more {
                summary { (folded.len()) " more runs" }
                @for run in folded { (run) }
            }
        }
    })
}

/// The answers of the runs on their own, folded away, where the page is about something else.
pub(super) fn of_each_run(
    runs: &[Analysed],
    answers: &[Answer],
    workloads: &[&WorkloadInfo],
) -> Markup {
    html! {
        section #each-run aria-labelledby="each-run-head" {
            h2 #each-run-head { "The runs on their own" }
            @for ((run, conclusions), answer) in runs.iter().zip(answers) {
                @let layout = Layout { run, tables: &conclusions.analysis.tables, workloads };
                h3 { (runs::name(runs, run)) ": " (headline(answer)) }
                details { summary { "Its answer" } (layout.answer(answer, "h4")) }
            }
        }
    }
}

/// A heading of an answer: `level` is its element.
fn heading(level: &str, text: &str) -> Markup {
    html! {
        @if level == "h4" { h4 { (text) } } @else { h3 { (text) } }
    }
}

impl Layout<'_> {
    fn answer(&self, answer: &Answer, level: &str) -> Markup {
        html! {
            (self.statements(level, "What stops scaling", &answer.stops_scaling))
            (self.statements(level, answer.time_title(), &answer.cpu_time))
            (self.statements(level, "Changes sides", &answer.changes_sides))
            (self.rest(level, answer))
        }
    }

    /// One of several answers: the first statements of what stops scaling and what changes sides; the rest is
    /// folded away. Of a `few` runs more is shown, and their `facts`.
    fn in_brief(&self, answer: &Answer, name: &str, few: bool, facts: &Markup) -> Markup {
        let first = answer.stops_scaling.iter().chain(&answer.changes_sides);
        let first: Vec<Markup> = first.map(|finding| self.finding(finding)).collect();
        let (shown, folded) = first.split_at(first.len().min(if few { 2 } else { 1 }));
        html! {
            h3.run-name { (name) }
            @if few { (facts) }
            @if shown.is_empty() { p { (answer.headline()) } }
            (head::statements(shown))
            details.more {
                summary { "More of " (name) }
                @if !few { (facts) }
                (head::statements(folded))
                (self.statements("h4", answer.time_title(), &answer.cpu_time))
                (self.rest("h4", answer))
            }
        }
    }

    /// What follows what stops scaling and what changes sides.
    fn rest(&self, level: &str, answer: &Answer) -> Markup {
        html! {
            @let worth_knowing = [&answer.levels[..], &answer.worth_knowing].concat();
            (self.statements(level, "Worth knowing", &worth_knowing))
            dl.answer-rest {
                @for list in &answer.figures { (figures(self.run, list, answer.figures.len() > 1)) }
                (self.holdings("Does not grow", answer, true))
                (self.holdings("Holds or rises", answer, false))
                @for Remark { heading, text, remedy } in answer.remarks() {
                    @if !text.is_empty() {
                        (head::line(heading, &head::with_remedy(&text, remedy)))
                    }
                }
            }
        }
    }

    fn statements(&self, level: &str, text: &str, statements: &[Finding]) -> Markup {
        let items: Vec<Markup> = statements.iter().map(|finding| self.finding(finding)).collect();
        html! {
            @if !items.is_empty() { (heading(level, text)) (head::statements(&items)) }
        }
    }

    fn finding(&self, finding: &Finding) -> Markup {
        // No small plot shows functions: their bands and flame graphs do.
        let is_of_functions = finding.data.section() == Section::CpuTime;
        let table = self.tables.iter().find(|table| finding.is_about(table));
        let advised = finding.advice.as_ref().map_or(&[][..], |advice| &advice.subjects);
        html! {
            @if let Some(table) = table.filter(|_| !is_of_functions) {
                (spark::plot(table, [&finding.subjects, advised]))
            }
            div {
                p {
                    (self.workload(&finding.workload)) (sentence(&finding.sentence))
                    @if let Some(index) = self.index(&finding.workload).filter(|_| is_of_functions) {
                        " " a href={ "#" (profile::anchor(index)) } { "functions" }
                    }
                }
                @if let Some(advice) = &finding.advice {
                    p.advice { "→ " (sentence(&advice.sentence)) }
                }
            }
        }
    }

    /// Where a workload stands on the page.
    fn index(&self, name: &str) -> Option<usize> {
        self.workloads.iter().position(|workload| workload.name == name)
    }

    /// A link to the section of a workload, where there are several.
    fn workload(&self, name: &str) -> Markup {
        html! {
            @if let Some(index) = self.index(name).filter(|_| self.workloads.len() > 1) {
                a.workload-name href={ "#" (anchor(index)) } { (name) } " "
            }
        }
    }

    /// What does not grow, or holds: a line with the number of series, behind which they stand.
    fn holdings(&self, heading: &str, answer: &Answer, is_cost: bool) -> Markup {
        let holds = |finding: &&Finding| (finding.data.kind() == Kind::Growth) == is_cost;
        let holdings: Vec<&Finding> = answer.holds.iter().filter(holds).collect();
        let series: usize = holdings.iter().map(|finding| finding.subjects.len()).sum();
        let tables = holdings.chunk_by(|a, b| a.is_of_same_table(b)).count();
        html! {
            @if !holdings.is_empty() {
                (head::line(heading, &html! { details {
                    summary { (series) " series" @if tables > 1 {
                        " in " (counted(&count(tables as u64), "tables"))
                    } }
                    ul.holdings { @for holding in holdings {
                        li { (self.workload(&holding.workload)) (sentence(&holding.text())) }
                    } }
                } }))
            }
        }
    }
}

/// A workload in brief: its question, its answer in a sentence, a small plot; and that sentence, which is what the plot shows.
pub(super) fn card(runs: &[Analysed], answers: &[Answer], info: &WorkloadInfo) -> (Markup, String) {
    let mut runs = runs.iter().zip(answers);
    let card = runs.find_map(|(analysed, answer)| card_of_run(analysed, answer, info));
    let text = card.as_ref().map(|(.., text)| text.to_string());
    let text = text.or_else(|| figures_of(answers, info));
    let text = text.unwrap_or_else(|| "Not decided.".to_owned());
    let markup = html! {
        p.lead { (info.question) }
        @if let Some((table, shown, text)) = card {
            @if let Some(table) = table { (spark::plot(table, shown)) }
            p { (sentence(&text)) }
        } @else {
            p { (text) }
        }
    };
    (markup, text)
}

/// A load in a sentence, or how many figures a workload has that are no series: `46 figures, each with its 95 % CI.`
fn figures_of(answers: &[Answer], info: &WorkloadInfo) -> Option<String> {
    let mut lists = answers.iter().flat_map(|answer| &answer.figures);
    let list = lists.find(|list| list.workload == info.name)?;
    if let Some(sentence) = &list.sentence {
        return Some(sentence.to_string());
    }
    let figures = counted(&count(list.figures().count() as u64), "figures");
    Some(format!("{figures}, each with its 95 % CI."))
}

/// Figures that are no series, a line for each of their headings.
fn figures(run: &Run, list: &FigureList, several: bool) -> Markup {
    let scope = text::parameters::scope(run, &list.workload, &list.parameters);
    html! {
        @for group in &list.groups {
            @let name = if group.name.is_empty() { &list.workload } else { &group.name };
            (head::line(name, &html! {
                @if several { span.workload-name { (scope) } " " }
                ul.figure-list.flow { @for figure in &group.figures {
                    li { (figure.label) " " b { (figure.level()) } " " span.width { (figure.width()) } }
                } }
            }))
        }
    }
}

/// The table, the subjects that stop scaling and those that hold, and the sentence of a card.
type Card<'a> = (Option<&'a Table>, [&'a [String]; 2], Sentence);

/// The card of one run: what stops scaling, else what changes sides, else what holds, else what is worth
/// knowing, else the first finding that decides something.
fn card_of_run<'a>(
    (_, conclusions): &'a Analysed,
    answer: &'a Answer,
    info: &WorkloadInfo,
) -> Option<Card<'a>> {
    let card = |finding: &'a Finding| {
        let table = conclusions.analysis.tables.iter().find(|table| finding.is_about(table));
        let advised = finding.advice.as_ref().map_or(&[][..], |advice| &advice.subjects);
        let shown = match finding.data.section() {
            Section::Holds => [&[], &finding.subjects[..]],
            Section::Open | Section::ListOnly => [&[][..]; 2],
            _ => [&finding.subjects[..], advised],
        };
        (table, shown, finding.sentence.clone())
    };
    let Answer { stops_scaling, changes_sides, levels, holds, worth_knowing, .. } = answer;
    let chosen = [stops_scaling, changes_sides, levels, holds, worth_knowing].into_iter().flatten();
    // A sentence about one undecided series is no answer about the workload.
    let is_answer = |finding: &&Finding| finding.headline && finding.data.tag().tone != Tone::Open;
    let rest = conclusions.findings.iter().filter(is_answer);
    chosen.chain(rest).find(|finding| finding.workload == info.name).map(card)
}
