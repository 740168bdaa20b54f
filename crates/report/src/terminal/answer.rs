//! The answer of a run on one screen: a section for each question that a reader has, the most consequential
//! statement first, in [`LINES_MAX`] lines whatever was measured. A list of figures has all of its groups, in more lines
//! where they need them.

use crate::layout::{
    BOLD, DIM, GAP, GOOD, INDENT, Pen, Style, display_width, widest, wrapped_whole,
};
use crate::text;
use findings::answer::{Answer, FigureGroup, FigureList, Remark, SingleFigure};
use findings::format::{count, counted, percent};
use findings::{Caveat, Conclusions, Finding, Kind, qualifier};
use model::Run;
use std::collections::BTreeSet;

/// Lines of an answer, so that it fits a screen with the prompt below it.
pub const LINES_MAX: usize = 25;
/// Lines of a section that is one sentence.
const SENTENCE_LINES_MAX: usize = 2;
/// Columns of a heading that its sentence stands behind.
const HEADING_WIDTH: usize = 15;

const CHANGES_SIDES: &str = "Changes sides";

/// How soon a section gives way: what stops scaling last, caveats first.
const WEIGHTS: [usize; 6] = [1, 1, 2, 2, 2, 4];
/// Where figures do not fit, the 95 % CI stands only with those that are wider than the first of these shares to either side with
/// which they do.
const WIDE_MIN: [f64; 4] = [0.0, 0.05, 0.25, 1.0];

/// What stands below an answer.
#[derive(Clone, Debug, Default)]
pub struct Pointers {
    /// The command that shows every table, finding and caveat.
    pub all: String,
    /// Where tables, page and record are, one line each.
    pub lines: Vec<String>,
}

/// Statements below a heading; the last ones give way where lines are short.
#[derive(Default)]
struct Section {
    heading: String,
    statements: Vec<Vec<String>>,
    left_out: usize,
}

/// The answer of `run`, of which `conclusions` were drawn, as lines that end in a line feed.
pub fn answer(run: &Run, conclusions: &Conclusions, style: &Style, pointers: &Pointers) -> String {
    let pen = Pen::new(style);
    let answer = Answer::new(run, conclusions);
    let workloads = workload_width(run, &answer);
    let section = |heading: &str, findings: &mut dyn Iterator<Item = &Finding>| {
        pen.finding_section(heading, findings, workloads)
    };
    let rest = sentences(&answer, conclusions).into_iter();
    let rest: Vec<String> = rest.flat_map(|part| pen.sentence_section(&part)).collect();
    let folded = pointers.lines.iter().flat_map(|line| wrapped_whole(line, pen.width, 0, INDENT));
    let pointer_lines: Vec<String> = folded.collect();
    let lines_max = LINES_MAX.saturating_sub(rest.len() + pointer_lines.len());
    let has_caveats = conclusions.caveats.iter().any(|caveat| !answer.trust.says(caveat));
    // Their heading, and how many there are.
    let of_caveats = if has_caveats { 2 } else { 0 };
    let figures = pen.figure_section(run, &answer, lines_max.saturating_sub(of_caveats));
    // Levels of memory are the answer where nothing is above them.
    let is_first = answer.stops_scaling.is_empty() && !answer.levels.is_empty();
    let (first, levels) = if is_first {
        (section("The levels of memory", &mut answer.levels.iter()), &[][..])
    } else {
        (section(title(&answer), &mut answer.stops_scaling.iter()), &answer.levels[..])
    };
    let [first, figures] =
        if answer.is_list() { [figures, Section::default()] } else { [first, figures] };
    let mut sections = vec![
        first,
        section(answer.time_title(), &mut answer.cpu_time.iter()),
        section(CHANGES_SIDES, &mut answer.changes_sides.iter()),
        section("Worth knowing", &mut levels.iter().chain(&answer.worth_knowing)),
        figures,
        pen.caveat_section(conclusions.caveats.iter().filter(|caveat| !answer.trust.says(caveat))),
    ];
    // A list of figures is the answer, and does not give way.
    let weights = if answer.is_list() { [0, 1, 1, 1, 1, 1] } else { WEIGHTS };
    shorten(&mut sections, lines_max, weights);
    let caveats = sections.split_off(sections.len() - 1);
    let mut out = String::new();
    pen.answer_sections(&mut out, &sections, &pointers.all);
    for line in &rest {
        pen.line(&mut out, line);
    }
    for section in caveats.iter().filter(|section| !section.is_empty()) {
        pen.section(&mut out, section, &pointers.all);
    }
    for line in &pointer_lines {
        pen.line(&mut out, &pen.paint(DIM, line));
    }
    out
}

/// The verdicts that a run has so far, in about `lines_max` lines; none before its first verdict.
pub fn answer_so_far(
    run: &Run,
    conclusions: &Conclusions,
    style: &Style,
    lines_max: usize,
) -> Option<String> {
    let pen = Pen::new(style);
    let answer = Answer::new(run, conclusions);
    if answer.stops_scaling.is_empty() && answer.without_finding().is_none() {
        return None;
    }
    let below = verdicts_that_hold(&answer, conclusions).into_iter();
    let below: Vec<String> = below.flat_map(|part| pen.sentence_section(&part)).collect();
    let workloads = workload_width(run, &answer);
    let mut sections = vec![
        pen.finding_section(title(&answer), answer.stops_scaling.iter(), workloads),
        pen.finding_section(CHANGES_SIDES, answer.changes_sides.iter(), workloads),
    ];
    shorten(&mut sections, lines_max.saturating_sub(below.len() + 1), WEIGHTS);
    let [cells, planned] = [run.cells.len(), run.plan.cells.len()].map(|cells| count(cells as u64));
    // With a budget, the number of cells is not known.
    let planned = run.plan.budget.is_none().then(|| format!(" of {planned}"));
    let cells = counted(&format!("{cells}{}", planned.unwrap_or_default()), "cells");
    let mut out = String::new();
    pen.line(&mut out, &format!("So far, after {cells}:"));
    pen.answer_sections(&mut out, &sections, "when the run has ended");
    for line in &below {
        pen.line(&mut out, line);
    }
    Some(out)
}

impl Section {
    fn is_empty(&self) -> bool {
        self.statements.is_empty() && self.left_out == 0
    }

    fn lines(&self) -> usize {
        let below: usize = self.statements.iter().map(Vec::len).sum();
        1 + below + usize::from(self.left_out > 0)
    }
}

/// The sections that say something, and the first one: its heading is the answer in short, with or without statements below it.
fn shown(sections: &[Section]) -> impl Iterator<Item = &Section> {
    let (first, further) = sections.split_at(1);
    first.iter().chain(further.iter().filter(|section| !section.is_empty()))
}

/// Leaves out statements until the sections have `lines` at most: always the last one of the section that
/// has most lines for its weight. A section of weight 0 keeps all, and the first one its first: it is the answer.
fn shorten(sections: &mut [Section], lines: usize, weights: [usize; 6]) {
    while shown(sections).map(Section::lines).sum::<usize>() > lines {
        let gives_way = |(index, section): &(usize, &mut Section)| {
            weights[*index] > 0 && section.statements.len() > usize::from(*index == 0)
        };
        let with_statements = sections.iter_mut().enumerate().filter(gives_way);
        let weight = |(index, section): &(usize, &mut Section)| weights[*index] * section.lines();
        let Some((_, largest)) = with_statements.max_by_key(weight) else { return };
        largest.statements.pop();
        largest.left_out += 1;
    }
}

/// The heading of the first section.
fn title(answer: &Answer) -> &'static str {
    if answer.measurement.cells == 0 {
        return "Nothing was measured";
    }
    if !answer.stops_scaling.is_empty() {
        return "What stops scaling here";
    }
    answer.without_finding().unwrap_or("No order of growth was measured")
}

/// The sections of one sentence.
fn sentences<'a>(answer: &'a Answer, conclusions: &Conclusions) -> Vec<Remark<'a>> {
    let measured = Remark::new("Measured", answer.measurement.sentence(), "");
    let hold = verdicts_that_hold(answer, conclusions).into_iter();
    hold.chain(answer.remarks()).chain([measured]).collect()
}

/// The sections of what neither grows nor falls.
fn verdicts_that_hold(answer: &Answer, conclusions: &Conclusions) -> [Remark<'static>; 3] {
    [
        Remark::new("Does not grow", holding(answer, conclusions, true), ""),
        Remark::new("Scales", scaling(answer), ""),
        Remark::new("Holds or rises", holding(answer, conclusions, false), ""),
    ]
}

/// What holds: a sentence where it is all of one table, else the tables: `accept, poll (active = 1; 10 of 13)`.
fn holding(answer: &Answer, conclusions: &Conclusions, is_cost: bool) -> String {
    let holds = |finding: &&Finding| {
        finding.data.kind() != Kind::Speedup && (finding.data.kind() == Kind::Growth) == is_cost
    };
    let holds: Vec<&Finding> = answer.holds.iter().filter(holds).collect();
    let is_series = |finding: &&Finding| {
        matches!(finding.data.kind(), Kind::Growth | Kind::Trend | Kind::Speedup)
    };
    let tables = &conclusions.analysis.tables;
    let label = |group: &[&Finding]| {
        let table = tables.iter().find(|table| group[0].is_about(table))?;
        let has_verdict =
            |finding: &&Finding| is_series(finding) && finding.is_of_same_table(group[0]);
        let series = conclusions.findings.iter().filter(has_verdict);
        let total: BTreeSet<&String> = series.flat_map(|finding| &finding.subjects).collect();
        let part: usize = group.iter().map(|finding| finding.subjects.len()).sum();
        let part = (part < total.len()).then(|| format!("{part} of {}", total.len()));
        let qualifier = qualifier(tables, table);
        let rest = match (qualifier.strip_suffix(')'), part) {
            (Some(open), Some(part)) => format!("{open}; {part})"),
            (None, Some(part)) => format!(" ({part})"),
            (_, None) => qualifier,
        };
        Some(format!("{}{rest}", table.workload))
    };
    let mut series = conclusions.findings.iter().filter(is_series);
    let mut has_others = |only: &Finding| series.any(|finding| finding.workload != only.workload);
    let groups = holds.chunk_by(|a, b| a.is_of_same_table(b));
    match holds.as_slice() {
        [only] if answer.holds.len() == 1 && !has_others(only) => only.sentence.to_string(),
        _ => groups.filter_map(label).collect::<Vec<_>>().join(", "),
    }
}

/// What scales, by tables.
fn scaling(answer: &Answer) -> String {
    let scales = answer.holds.iter().filter(|finding| finding.data.kind() == Kind::Speedup);
    scales.map(|finding| finding.sentence.to_string()).collect::<Vec<_>>().join("; ")
}

/// Columns for the names of workloads before their statements; none where there is one workload.
fn workload_width(run: &Run, answer: &Answer) -> usize {
    let measured = run.plan.workloads.iter().filter(|workload| !workload.is_control());
    if measured.count() < 2 {
        return 0;
    }
    let Answer { stops_scaling, cpu_time, changes_sides, levels, worth_knowing, .. } = answer;
    let sections = [stops_scaling, cpu_time, changes_sides, levels, worth_knowing];
    let names = sections.into_iter().flatten().map(|finding| display_width(&finding.workload));
    names.max().map_or(0, |width| width + INDENT)
}

/// As much of `text` as fits: whole clauses where there are any, else whole words.
fn shortened(text: &str, fits: impl Fn(&str) -> bool) -> String {
    let up_to = |separator: &str| {
        let ends = text.rmatch_indices(separator);
        let parts = ends.map(|(end, _)| text[..end].trim_end_matches(','));
        parts.map(|part| format!("{part}{separator}…")).find(|part| fits(part))
    };
    let whole = fits(text).then(|| text.to_owned());
    whole.or_else(|| up_to("; ")).or_else(|| up_to(" ")).unwrap_or_else(|| text.to_owned())
}

impl Pen {
    fn finding_section<'a>(
        &self,
        heading: &str,
        findings: impl Iterator<Item = &'a Finding>,
        workloads: usize,
    ) -> Section {
        let statements = findings.map(|finding| self.finding(finding, workloads)).collect();
        Section { heading: heading.to_owned(), statements, left_out: 0 }
    }

    /// A finding behind its workload, and below it what to use instead.
    fn finding(&self, finding: &Finding, workloads: usize) -> Vec<String> {
        let indent = INDENT + workloads;
        let mut lines = wrapped_whole(&finding.sentence.to_string(), self.width, indent, indent);
        if let Some(first) = lines.first_mut().filter(|_| workloads > 0) {
            let name = format!("{:INDENT$}{:<workloads$}", "", finding.workload);
            *first = format!("{name}{}", first.trim_start());
        }
        if let Some(advice) = &finding.advice {
            let text = format!("→ {}", advice.sentence);
            let advised = wrapped_whole(&text, self.width, indent, indent + INDENT);
            lines.extend(advised.iter().map(|line| self.paint(GOOD, line)));
        }
        lines
    }

    /// The figures that are no series; where they take more than `lines`, without the CIs that are narrow, or without
    /// any.
    fn figure_section(&self, run: &Run, answer: &Answer, lines: usize) -> Section {
        let section = |above: f64| {
            let legend = match above {
                0.0 => None,
                f64::INFINITY => Some("without their 95 % CIs".to_owned()),
                above => Some(format!("± where it is more than {}", percent(above))),
            };
            let legend = legend.map(|legend| format!("{:INDENT$}{legend}", ""));
            let lists = answer.figures.iter();
            let lists = lists.flat_map(|list| self.figure_list(run, list, answer, above));
            let statements = legend.map(|legend| vec![self.paint(DIM, &legend)]).into_iter();
            let sentence = answer.figures_sentence().to_string();
            let heading = sentence.trim_end_matches('.').to_owned();
            Section { heading, statements: statements.chain(lists).collect(), left_out: 0 }
        };
        let fitting = WIDE_MIN.map(section).into_iter().find(|part| part.lines() <= lines);
        fitting.unwrap_or_else(|| section(f64::INFINITY))
    }

    /// Each group of a list: its heading, and behind it its figures, with the 95 % CI where its half is `above`
    /// this share.
    fn figure_list(
        &self,
        run: &Run,
        list: &FigureList,
        answer: &Answer,
        above: f64,
    ) -> Vec<Vec<String>> {
        let names = answer.figures.iter().flat_map(|list| &list.groups).map(|group| &group.name);
        let width = widest(names).max(1) + INDENT;
        let scope = text::parameters::scope(run, &list.workload, &list.parameters);
        let has_scope = answer.figures.len() > 1 || list.sentence.is_some();
        let scope = wrapped_whole(&scope, self.width, INDENT, 2 * INDENT).into_iter();
        let scope = has_scope.then(|| scope.map(|line| self.paint(DIM, &line)).collect());
        let groups = list.groups.iter().map(|group| self.figure_group(group, width, above));
        scope.into_iter().chain(groups).collect()
    }

    fn figure_group(&self, group: &FigureGroup, width: usize, above: f64) -> Vec<String> {
        let entry = |figure: &SingleFigure| {
            let wide = figure.half_width().is_some_and(|half_width| half_width > above);
            let width = if wide { format!(" {}", figure.width()) } else { String::new() };
            format!("{} {}{width}", figure.label, figure.level()).trim_start().to_owned()
        };
        // A narrow screen has the headings on lines of their own.
        let is_narrow = 3 * width > self.width;
        let indent = if is_narrow { 2 * INDENT } else { INDENT + width };
        let mut lines = vec![format!("{:INDENT$}{:<width$}", "", group.name)];
        if is_narrow {
            lines.push(" ".repeat(indent));
        }
        for entry in group.figures.iter().map(entry) {
            let last = lines.last().map_or(0, |line| display_width(line));
            let gap = if last > indent { GAP } else { 0 };
            if last > indent && last + gap + display_width(&entry) > self.width {
                lines.push(format!("{:indent$}{entry}", ""));
            } else if let Some(line) = lines.last_mut() {
                *line = format!("{line}{:gap$}{entry}", "");
            }
        }
        lines
    }

    /// The caveats, each with its remedy.
    fn caveat_section<'a>(&self, caveats: impl Iterator<Item = &'a Caveat>) -> Section {
        let lines = |caveat: &Caveat| wrapped_whole(&caveat.line(), self.width, INDENT, 2 * INDENT);
        let statements = caveats.map(lines).collect();
        Section { heading: "Caveats".to_owned(), statements, left_out: 0 }
    }

    fn answer_sections(&self, out: &mut String, sections: &[Section], all: &str) {
        shown(sections).for_each(|section| self.section(out, section, all));
    }

    fn section(&self, out: &mut String, section: &Section, all: &str) {
        self.paragraph(out, BOLD, &section.heading, (0, INDENT));
        for line in section.statements.iter().flatten() {
            self.line(out, line);
        }
        if section.left_out > 0 {
            let and = if section.statements.is_empty() { "" } else { "… and " };
            let more = format!("{:INDENT$}{and}{} more: {all}", "", section.left_out);
            self.line(out, &self.paint(DIM, &more));
        }
    }

    /// A heading with its sentence behind it. A long sentence is cut, but never a remedy: a reader may want to
    /// type it.
    fn sentence_section(&self, section: &Remark<'_>) -> Vec<String> {
        let Remark { heading, text, remedy } = section;
        if text.is_empty() {
            return Vec::new();
        }
        let wrap = |text: &str| wrapped_whole(text, self.width, HEADING_WIDTH, HEADING_WIDTH);
        let remedy = if remedy.is_empty() { String::new() } else { format!("→ {remedy}") };
        let mut lines = wrap(&format!("{text} {remedy}"));
        if lines.len() > 1 {
            lines = wrap(&shortened(text, |text| wrap(text).len() <= SENTENCE_LINES_MAX));
            lines.extend(wrap(&remedy).into_iter().filter(|_| !remedy.is_empty()));
        }
        let Some(first) = lines.first_mut() else { return Vec::new() };
        let heading = self.paint(BOLD, &format!("{heading:<HEADING_WIDTH$}"));
        *first = format!("{heading}{}", first.trim_start());
        lines
    }
}
