//! The frame of a page about several runs: its head and answer, a section for each group, what was left out, the
//! runs, and what a mark means.

use crate::html::{document_head, head, moment};
use analysis::history::LeftOut;
use findings::left_out;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::RunSummary;

const OWN_STYLE: &str = include_str!("../../assets/history.css");
/// The page's own parts of the script come last; they share one scope.
const SCRIPTS: [&str; 2] =
    [include_str!("../../assets/page.js"), include_str!("../../assets/history.js")];

/// What a page about several runs has, from above to below.
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    pub(super) question: &'a str,
    pub(super) facts: Markup,
    pub(super) answer: Markup,
    pub(super) sections: Vec<Markup>,
    pub(super) left_out: &'a [LeftOut],
    pub(super) runs: &'a [RunSummary],
    /// What a mark in a panel means.
    pub(super) note: Markup,
}

impl Frame<'_> {
    pub(super) fn page(&self) -> String {
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                (document_head(self.title, &[OWN_STYLE]))
                body {
                    a.skip href="#answer" { "Skip to the answer" }
                    (head::masthead(self.title, Some(self.question), &self.facts))
                    main {
                        (head::answer(&self.answer))
                        @for section in &self.sections { (section) }
                        (left_out(self.left_out))
                        (runs(self.runs))
                    }
                    footer { p { (self.note) } }
                    script { @for script in SCRIPTS { (PreEscaped(script)) } }
                }
            }
        };
        printable::clean(&markup.into_string(), false)
    }
}

fn left_out(parts: &[LeftOut]) -> Markup {
    html! {
        @if !parts.is_empty() {
            section #left-out aria-labelledby="left-out-head" {
                h2 #left-out-head { "Left out" }
                ul.caveats { @for left in parts { li { (left_out::of_history(left)) } } }
            }
        }
    }
}

/// Every run with its labels, to be looked up; the script takes from here what it says of a run.
fn runs(runs: &[RunSummary]) -> Markup {
    html! {
        section #runs aria-labelledby="runs-head" {
            h2 #runs-head { "The runs" }
            div.scroll tabindex="0" role="region" aria-labelledby="runs-head" {
                table.figures {
                    caption { span.unseen { "The runs, the last first" } }
                    thead { tr {
                        @for head in ["run", "date", "labels", "knee", "id"] { th scope="col" { (head) } }
                    } }
                    tbody {
                        @for run in runs.iter().rev() {
                            @let labels: Vec<String> =
                                run.labels.iter().map(|(key, value)| format!("{key} {value}")).collect();
                            tr {
                                th scope="row" { (run.number) }
                                td { time datetime=(run.started) { (moment(&run.started)) } }
                                td { (labels.join(", ")) }
                                td { (run.version) }
                                td { code { (run.id) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
