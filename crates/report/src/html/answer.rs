//! The answer at the head of the page: the terminal's sections in the same order, with a small plot at each
//! statement.

use super::findings::sentence;
use super::runs;
use super::spark::{self, Groups};
use super::view::{Analysed, anchor};
use analysis::Table;
use findings::answer::{Answer, Holding, Statement};
use findings::format::{count, counted};
use findings::{Finding, Tone};
use maud::{Markup, html};
use record::WorkloadInfo;

/// Statements of a section that are not folded away.
const STATEMENTS_MAX: usize = 5;

/// What the answer of one run is laid out with.
struct Layout<'a> {
    tables: &'a [Table],
    workloads: &'a [&'a WorkloadInfo],
}

/// The first sentence of an answer without its further clauses: the title of the page.
pub(super) fn headline(answer: &Answer) -> String {
    let sentence = answer.headline().to_string();
    let clause = sentence.split("; ").next().unwrap_or_default();
    clause.trim_end_matches('.').to_owned()
}

/// The answers of all runs.
pub(super) fn section(
    runs: &[Analysed],
    answers: &[Answer],
    workloads: &[&WorkloadInfo],
) -> Markup {
    html! {
        section #answer aria-labelledby="answer-head" tabindex="-1" {
            h2 #answer-head.unseen { "Answer" }
            @for ((run, conclusions), answer) in runs.iter().zip(answers) {
                @let layout = Layout { tables: &conclusions.analysis.tables, workloads };
                @if runs.len() > 1 { p.run-name { (runs::name(runs, run)) } }
                (layout.answer(answer))
            }
        }
    }
}

impl Layout<'_> {
    fn answer(&self, answer: &Answer) -> Markup {
        let Answer { undecided, not_measured, trust, .. } = answer;
        html! {
            (self.statements("What stops scaling", &answer.stops_scaling))
            (self.statements("Changes sides", &answer.changes_sides))
            (self.statements("Worth knowing", &answer.worth_knowing))
            dl.answer-rest {
                (self.holdings("Does not grow", answer, true))
                (self.holdings("Holds or rises", answer, false))
                (line("Not decided", &undecided.sentence.to_string(), &undecided.remedy))
                (line("Unavailable", &not_measured.unavailable_clauses().join("; "), ""))
                (line("Not measured", &not_measured.sentence(), ""))
                (line("Trust", &trust.sentence(), &trust.remedy))
            }
        }
    }

    /// A section of statements; of a long one the last statements are folded away.
    fn statements(&self, heading: &str, statements: &[Statement]) -> Markup {
        // A single statement takes no more room than the line that unfolds it.
        let is_long = statements.len() > STATEMENTS_MAX + 1;
        let shown = if is_long { STATEMENTS_MAX } else { statements.len() };
        let (shown, folded) = statements.split_at(shown);
        html! {
            @if !shown.is_empty() {
                h3 { (heading) }
                ul.statements { @for statement in shown { (self.statement(statement)) } }
            }
            @if !folded.is_empty() {
                details.more {
                    summary { (folded.len()) " more" }
                    ul.statements { @for statement in folded { (self.statement(statement)) } }
                }
            }
        }
    }

    fn statement(&self, statement: &Statement) -> Markup {
        let table = self.tables.iter().find(|table| statement.is_about(table));
        let advised = statement.advice.as_ref().map_or(&[][..], |advice| &advice.subjects);
        let groups = Groups { subjects: &statement.subjects, advised };
        html! {
            li {
                @if let Some(table) = table { (spark::plot(table, &groups)) }
                div {
                    p { (self.workload(&statement.workload)) (sentence(&statement.sentence)) }
                    @if let Some(advice) = &statement.advice {
                        p.advice { "→ " (sentence(&advice.sentence)) }
                    }
                }
            }
        }
    }

    /// A link to the section of a workload, where there are several.
    fn workload(&self, name: &str) -> Markup {
        let index = self.workloads.iter().position(|workload| workload.name == name);
        html! {
            @if let Some(index) = index.filter(|_| self.workloads.len() > 1) {
                a.workload-name href={ "#" (anchor(index)) } { (name) } " "
            }
        }
    }

    /// What does not grow, or holds: a line with the number of series, behind which they stand.
    fn holdings(&self, heading: &str, answer: &Answer, is_cost: bool) -> Markup {
        let holdings: Vec<&Holding> =
            answer.holds.iter().filter(|holding| holding.is_cost == is_cost).collect();
        let series: usize = holdings.iter().map(|holding| holding.subjects.len()).sum();
        html! {
            @if !holdings.is_empty() {
                div {
                    dt { (heading) }
                    dd { details {
                        summary { (series) " series" @if holdings.len() > 1 {
                            " in " (counted(&count(holdings.len() as u64), "tables"))
                        } }
                        ul.holdings { @for holding in holdings {
                            li { (self.workload(&holding.workload)) (sentence(&holding.sentence)) }
                        } }
                    } }
                }
            }
        }
    }
}

/// A workload in brief: its question, its answer in a sentence, a small plot.
pub(super) fn card(runs: &[Analysed], answers: &[Answer], info: &WorkloadInfo) -> Markup {
    let (table, [subjects, advised], text) = runs
        .iter()
        .zip(answers)
        .find_map(|(analysed, answer)| card_of_run(analysed, answer, info))
        .unwrap_or((None, [&[][..]; 2], html! { "Not decided." }));
    html! {
        p.lead { (info.question) }
        @if let Some(table) = table { (spark::plot(table, &Groups { subjects, advised })) }
        p { (text) }
    }
}

/// The table, the subjects that stop scaling and those that hold, and the sentence of a card.
type Card<'a> = (Option<&'a Table>, [&'a [String]; 2], Markup);

/// The card of one run: what stops scaling, else what changes sides, else what holds, else what is worth
/// knowing, else the first finding that decides something.
fn card_of_run<'a>(
    (run, conclusions): &'a Analysed,
    answer: &'a Answer,
    info: &WorkloadInfo,
) -> Option<Card<'a>> {
    let analysis = &conclusions.analysis;
    let tables = || analysis.tables.iter().filter(|table| table.workload == info.name);
    let of_it = |statement: &&Statement| statement.workload == info.name;
    let stopping = answer.stops_scaling.iter().chain(&answer.changes_sides).find(of_it);
    if let Some(statement) = stopping {
        let table = tables().find(|table| statement.is_about(table));
        let advised = statement.advice.as_ref().map_or(&[][..], |advice| &advice.subjects);
        return Some((table, [&statement.subjects[..], advised], sentence(&statement.sentence)));
    }
    if let Some(holding) = answer.holds.iter().find(|holding| holding.workload == info.name) {
        let shown = (&holding.parameters, &holding.metric);
        let table = tables().find(|table| (&table.parameters, &table.metric.name) == shown);
        return Some((table, [&[], &holding.subjects[..]], sentence(&holding.sentence)));
    }
    if let Some(statement) = answer.worth_knowing.iter().find(of_it) {
        let table = tables().find(|table| statement.is_about(table));
        return Some((table, [&statement.subjects[..], &[]], sentence(&statement.sentence)));
    }
    // A sentence about one undecided series is no answer about the workload.
    let is_answer = |finding: &&Finding| finding.headline && finding.tag().tone != Tone::Open;
    let mut findings = conclusions.findings.iter().filter(is_answer);
    let finding = findings.find(|finding| finding.workload == info.name)?;
    let table = tables().find(|table| finding.is_about(table));
    Some((table, [&[][..]; 2], sentence(&finding.sentence(run, analysis))))
}

/// A line of the answer with what to do about it; nothing where it is empty.
fn line(heading: &str, text: &str, remedy: &str) -> Markup {
    html! {
        @if !text.is_empty() {
            div {
                dt { (heading) }
                dd {
                    (text)
                    @if remedy.starts_with("knee ") { " → " code { (remedy) } }
                    @else if !remedy.is_empty() { " → " (remedy) }
                }
            }
        }
    }
}
