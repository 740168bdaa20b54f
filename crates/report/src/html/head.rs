//! The head that all pages share: the title is the answer's first sentence; machine and date in one line; then
//! the answer, a list of statements with a small plot each, and short lines.

use analysis::Estimate;
use maud::{Markup, PreEscaped, html};

/// Statements of a section that are not folded away.
const STATEMENTS_MAX: usize = 5;
const MARK: &str = "<svg viewBox='0 0 16 16' width='18' height='18'><path d='M1 12.5h7.5L14.5 2' \
    fill='none' stroke='currentColor' stroke-width='2.4' stroke-linecap='round' \
    stroke-linejoin='round'/></svg>";

/// What stands first: the title, what was asked, and the lines of `facts`.
pub(crate) fn masthead(title: &str, question: Option<&str>, facts: &Markup) -> Markup {
    html! {
        header.masthead {
            p.brand {
                span.mark aria-hidden="true" { (PreEscaped(MARK)) }
                "knee"
                span.brand-what { "where a system stops scaling" }
            }
            h1 { (title) }
            @if let Some(question) = question { p.question { (question) } }
            (facts)
        }
    }
}

/// The answer of a page, which the reader may skip to.
pub(crate) fn answer(content: &Markup) -> Markup {
    html! {
        section #answer aria-labelledby="answer-head" tabindex="-1" {
            h2 #answer-head.unseen { "Answer" }
            (content)
        }
    }
}

/// Statements as a list; of a long one the last are folded away.
pub(crate) fn statements(items: &[Markup]) -> Markup {
    // A single statement takes no more room than the line that unfolds it.
    let is_long = items.len() > STATEMENTS_MAX + 1;
    let shown = if is_long { STATEMENTS_MAX } else { items.len() };
    let (shown, folded) = items.split_at(shown);
    html! {
        @if !shown.is_empty() {
            ul.statements { @for item in shown { li { (item) } } }
        }
        @if !folded.is_empty() {
            details.more {
                summary { (folded.len()) " more" }
                ul.statements { @for item in folded { li { (item) } } }
            }
        }
    }
}

/// A line of the list that ends an answer: what it is about, and what is so.
pub(crate) fn line(heading: &str, content: &Markup) -> Markup {
    html! { div { dt { (heading) } dd { (content) } } }
}

/// A sentence with what to do about it, a command set apart.
pub(crate) fn with_remedy(text: &str, remedy: &str) -> Markup {
    html! {
        (text)
        @if remedy.starts_with("knee ") { " → " code { (remedy) } }
        @else if !remedy.is_empty() { " → " (remedy) }
    }
}

/// The ends of a 95 % CI as they stand below a figure; nothing where it has no width.
pub(crate) fn interval(figure: Estimate, write: impl Fn(f64) -> String) -> Markup {
    html! {
        @if let Some([low, high]) = figure.ci() { span.interval { (write(low)) "–" (write(high)) } }
    }
}

/// A table that scrolls within the page, called by its caption: its id and classes, and its heads and rows.
pub(crate) fn table((id, class): (&str, &str), caption: &Markup, body: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-labelledby=(id) {
            table class=(class) { caption id=(id) { div { (caption) } } (body) }
        }
    }
}

/// A plot of `data`, which a script draws; `name` distinguishes it from others.
pub(super) fn plot(name: &str, label: &str, data: String) -> Markup {
    html! {
        figure.plot data-plot=(name) aria-label=(label) {
            noscript { p.note {
                "The plot needs JavaScript. Its figures stand in the tables below."
            } }
        }
        script type="application/json" id={ "plot-data-" (name) } { (PreEscaped(data)) }
    }
}

/// The class of a column, if figures stand in it.
fn number(is_number: bool) -> Option<&'static str> {
    is_number.then_some("number")
}

/// The heads of columns, with whether figures stand below them.
pub(crate) fn heads(columns: &[(&str, bool)]) -> Markup {
    html! {
        thead { tr { @for (head, is_number) in columns {
            th class=[number(*is_number)] scope="col" { (head) }
        } } }
    }
}

/// The heads of columns and the rows below them, each with its name first.
pub(crate) fn rows(
    columns: &[(&str, bool)],
    rows: impl IntoIterator<Item = Vec<Markup>>,
) -> Markup {
    html! {
        (heads(columns))
        tbody { @for row in rows { tr {
            @for (at, ((_, is_number), cell)) in columns.iter().zip(row).enumerate() {
                @if at == 0 { th class=[number(*is_number)] scope="row" { (cell) } }
                @else { td class=[number(*is_number)] { (cell) } }
            }
        } } }
    }
}

/// A plain table called `label`, of a class of the style: its heads, and its rows, each with its name first.
pub(crate) fn listing(
    (label, class): (&str, &str),
    heads: &[&str],
    lines: impl Iterator<Item = Vec<Markup>>,
) -> Markup {
    let columns: Vec<(&str, bool)> = heads.iter().map(|head| (*head, false)).collect();
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table class=(class) { caption { span.unseen { (label) } } (rows(&columns, lines)) }
        }
    }
}
