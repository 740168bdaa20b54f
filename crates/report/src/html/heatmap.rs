//! The maps: which subject is best where, over two axes at once.
//!
//! They are tables, so that they stand without a script, on paper and for ears. A cell says who
//! leads there by shape and colour, and how clearly by its figure and the strength of the colour:
//! no meaning depends on hue alone.

use super::view::Analysed;
use super::{head, marks, runs};
use crate::text::{self, NO_FIGURE};
use analysis::{Lead, Map};
use findings::format::{count, factor, list, proportion, quantity};
use maud::{Markup, html};
use model::{Parameters, Ratio, WorkloadInfo};

/// Margins from which the colour is a step stronger.
const STEPS: [f64; 3] = [1.1, 1.25, 2.0];
/// Stands where a lead is too close to call.
const CLOSE: &str = "≈";

/// What the parts of one map have in common.
struct Sheet<'a> {
    map: &'a Map,
    /// The parameters that have an effect.
    parameters: Parameters,
    /// The labels of the plot's subjects: colours and shapes follow it.
    plot_labels: &'a [String],
    /// What there is a number of in all: `pipes`, `watched descriptors`.
    counted: String,
    /// What there is a number of in part, where the word for its share does not say it: `tokens`.
    part: Option<&'a str>,
    /// Whether its columns are multiples: `4 per CPU`.
    multiple: bool,
    /// `fastest`.
    best: &'static str,
}

/// The maps of the page's `number`-th workload: one per run and parameters. Its name is no part of
/// an element's name: a table of somebody else is called after its file, with any letters.
pub(super) fn section(
    runs: &[Analysed],
    info: &WorkloadInfo,
    number: usize,
    plot_labels: &[String],
) -> Markup {
    let maps = runs
        .iter()
        .flat_map(|(run, conclusions)| conclusions.analysis.maps.iter().map(move |map| (run, map)));
    let maps = maps.filter(|(_, map)| map.workload == info.name && map.is_wide());
    html! {
        @for (index, (run, map)) in maps.enumerate() {
            @let best = text::metrics::superlative(&map.metric);
            @let multiple = text::parameters::multiple_ratio(info).is_some_and(|ratio| ratio.whole == map.whole);
            @let (counted, part) = (counted(info, map), part(info, map));
            @let parameters = info.effective(&map.parameters);
            @let sheet = Sheet { map, parameters, plot_labels, counted, part, multiple, best };
            (sheet.figure(&format!("map-{number}-{index}"), &runs::suffix(runs, run)))
        }
    }
}

/// What the rows count.
fn counted(info: &WorkloadInfo, map: &Map) -> String {
    if info.axis_parameter == map.whole {
        return info.axis.clone();
    }
    text::parameters::multiple_ratio(info)
        .map_or_else(|| map.whole.clone(), text::parameters::whole_plural)
}

/// What the columns count, where their word (`of pipes`, `per CPU`) says only what it is a share of.
fn part<'a>(info: &'a WorkloadInfo, map: &Map) -> Option<&'a str> {
    let of_map = |ratio: &&Ratio| ratio.whole == map.whole;
    let ratio = info.ratio.as_ref().filter(of_map)?;
    (ratio.multiple || text::parameters::is_share_of(&map.word)).then_some(ratio.part.as_str())
}

impl Sheet<'_> {
    fn figure(&self, id: &str, suffix: &str) -> Markup {
        let map = self.map;
        let title = format!("Which is {} where{suffix}", self.best);
        html! {
            figure.map aria-labelledby={ (id) "-head" } {
                h3 #{ (id) "-head" } { (title) }
                p.fixed {
                    (map.metric.name)
                    @for is_named in text::parameters::pairs(&self.parameters) { " · " (is_named) }
                }
                (self.legend())
                div.scroll tabindex="0" role="region" aria-labelledby={ (id) "-head" } {
                    table.heat aria-describedby={ (id) "-how" } {
                        caption { span.unseen { (title) } }
                        (self.head())
                        tbody { @for row in 0..map.totals.len() { (self.row(row)) } }
                    }
                }
                figcaption #{ (id) "-how" } { (self.how_to_read()) }
                details {
                    summary { "The same in words and figures" }
                    (self.text_table(&format!("{id}-words")))
                }
            }
        }
    }

    fn how_to_read(&self) -> String {
        let Map { word, metric, .. } = self.map;
        let (best, counted) = (self.best, &self.counted);
        let more = if best == "fastest" { "as fast" } else { "as good" };
        let column = match self.part {
            Some(part) if self.multiple => format!("a number of {part} {word}"),
            Some(part) => format!("a number of {part}, as a share {word}"),
            None => format!("the share of them ({word})"),
        };
        format!(
            "A row is a number of {counted}, a column {column}. Shape and colour name the {best} \
             there by {}; ×1.31 is 1.31 times {more} as the next, and a stronger colour a larger \
             lead.",
            metric.name
        )
    }

    /// How many share the first lead that is shared, besides the one shown.
    fn tied(&self) -> Option<usize> {
        let mut leads = self.map.leads.iter().flatten().flatten();
        leads.find(|lead| lead.is_shared()).map(|lead| lead.tied.len())
    }

    fn head(&self) -> Markup {
        let Map { word, shares, .. } = self.map;
        html! {
            thead {
                tr {
                    th.number scope="col" rowspan="2" { (self.counted) }
                    th.across scope="colgroup" colspan=(shares.len()) {
                        @if let Some(part) = self.part {
                            (part) @if self.multiple { " " } @else { ", share " }
                        }
                        (word)
                    }
                }
                tr { @for &ratio in shares { th scope="col" { (proportion(ratio, self.multiple)) } } }
            }
        }
    }

    fn row(&self, row: usize) -> Markup {
        html! {
            tr {
                th.number scope="row" { (count(self.map.totals[row])) }
                @for cell in &self.map.leads[row] { (self.cell(cell.as_ref())) }
            }
        }
    }

    fn cell(&self, lead: Option<&Lead>) -> Markup {
        let Some(lead) = lead else {
            return html! { td.lead-cell.blank { (NO_FIGURE) span.unseen { " not compared" } } };
        };
        let (look, sentence) = (self.look(&lead.best), self.sentence(lead));
        html! {
            @if lead.is_shared() {
                td.lead-cell.shared style=(look.hue()) data-subject=(lead.best) {
                    // The words are heard once: as a title of the cell they would be heard again.
                    span.pointed aria-hidden="true" title=(sentence) {
                        (marks::marker(look))
                        span.margin { (CLOSE) (lead.tied.len()) }
                    }
                    span.unseen { (sentence) }
                }
            } @else if !lead.clear {
                td.lead-cell.close title=(sentence) {
                    span aria-hidden="true" { (CLOSE) }
                    span.unseen { "too close to call" }
                }
            } @else {
                td class={ "lead-cell lead-" (step(lead.margin.value)) } style=(look.hue())
                    data-subject=(lead.best) title=(sentence) {
                    (marks::marker(look))
                    span.unseen { (self.label(&lead.best)) " " }
                    span.margin { (factor(lead.margin.value)) }
                }
            }
        }
    }

    /// Names, shapes and colours of those that lead somewhere; then the strengths and the signs.
    fn legend(&self) -> Markup {
        let leads: Vec<&Lead> = self.map.leads.iter().flatten().flatten().collect();
        let is_named = |lead: &&&Lead| lead.clear || lead.is_shared();
        let times = |subject: &str| {
            leads.iter().filter(is_named).filter(|lead| lead.best == subject).count()
        };
        let subjects = self.map.subjects.iter().map(|(subject, label)| (subject, label));
        html! {
            ul.map-legend.flow {
                @for (subject, label) in subjects.filter(|(subject, _)| times(subject) > 0) {
                    @let look = self.look(subject);
                    li {
                        span.key.lead-2 style=(look.hue()) aria-hidden="true" { (marks::marker(look)) }
                        (label)
                    }
                }
                @if let Some(tied) = self.tied() {
                    li {
                        span.key.shared aria-hidden="true" { (CLOSE) (tied) }
                        "the one shown, with the best median, and " (quantity(tied as u64, "other"))
                        ", too close to call"
                    }
                }
                @if leads.iter().any(|lead| !lead.clear && !lead.is_shared()) {
                    li { span.key.close aria-hidden="true" { (CLOSE) } "too close to call" }
                }
                @if self.map.leads.iter().flatten().any(Option::is_none) {
                    li { span.key.blank aria-hidden="true" { (NO_FIGURE) } "not compared" }
                }
                @if leads.iter().any(|lead| lead.clear) { (strengths()) }
            }
        }
    }

    /// The map as a plain table: the leader, the next, and the lead with its interval.
    fn text_table(&self, id: &str) -> Markup {
        let Map { word, shares, .. } = self.map;
        let caption = html! {
            "The " (self.best) " by " (self.map.metric.name)
            ", and the lead before the next, with the 95 % CI"
        };
        let share = |&ratio: &f64| format!("{} {word}", proportion(ratio, self.multiple));
        let shares: Vec<String> = shares.iter().map(share).collect();
        let columns = shares.iter().map(|share| (share.as_str(), false));
        let columns: Vec<(&str, bool)> =
            [(self.counted.as_str(), true)].into_iter().chain(columns).collect();
        let sentence = |lead: &Option<Lead>| {
            lead.as_ref().map_or_else(|| NO_FIGURE.to_owned(), |lead| self.sentence(lead))
        };
        let rows = self.map.totals.iter().zip(&self.map.leads).map(|(total, leads)| {
            let texts = [count(*total)].into_iter().chain(leads.iter().map(sentence));
            texts.map(|text| html! { (text) }).collect()
        });
        head::table((id, "in-words"), &caption, &head::rows(&columns, rows))
    }

    /// One cell in a sentence.
    fn sentence(&self, lead: &Lead) -> String {
        let (best, second) = (self.label(&lead.best), self.label(&lead.second));
        if lead.clear {
            format!("{best} before {second}: {} ({})", factor(lead.margin.value), interval(lead))
        } else if lead.is_shared() {
            format!("{} are too close to call", self.leaders(lead))
        } else {
            format!("{best} and {second} are too close to call ({})", interval(lead))
        }
    }

    /// Those who share the lead, the fastest first.
    fn leaders(&self, lead: &Lead) -> String {
        let all = std::iter::once(&lead.best).chain(&lead.tied);
        list(all.map(|subject| self.label(subject)))
    }

    /// As the plot shows it; who has no place there comes after those who have.
    fn look(&self, subject: &str) -> marks::Look {
        let label = self.label(subject);
        let drawn = self.plot_labels.iter().position(|drawn| drawn == label);
        let own = || self.map.subjects.iter().position(|(name, _)| name == subject);
        marks::look(drawn.unwrap_or_else(|| self.plot_labels.len() + own().unwrap_or_default()))
    }

    fn label<'a>(&'a self, subject: &'a str) -> &'a str {
        let entry = self.map.subjects.iter().find(|(name, _)| name == subject);
        entry.map_or(subject, |(_, label)| label)
    }
}

/// What each strength of a colour stands for.
fn strengths() -> Markup {
    let [first, .., last] = STEPS;
    let mut sentence = vec![format!("lead under ×{first}")];
    sentence.extend(STEPS.windows(2).map(|ends| format!("to ×{}", ends[1])));
    sentence.push(format!("×{last} and more"));
    html! {
        li.strengths {
            @for (step, text) in sentence.iter().enumerate() {
                span.strength {
                    span class={ "key lead-" (step) } aria-hidden="true" {}
                    (text)
                }
            }
        }
    }
}

/// How strong the colour of a lead is, from 0.
fn step(margin: f64) -> usize {
    STEPS.iter().filter(|min| margin >= **min).count()
}

/// `×1.28 to ×1.34`; of figures that stand alone, nothing but the figure is known.
fn interval(lead: &Lead) -> String {
    let margin = lead.margin;
    if margin.low < margin.high {
        format!("{}–{}", factor(margin.low), factor(margin.high))
    } else {
        factor(margin.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_lead_is_stronger() {
        assert_eq!([1.0, 1.09, 1.1, 1.3, 2.0, 90.0].map(step), [0, 0, 1, 2, 3, 3]);
    }
}
