//! A history for a terminal: sentences, and a table of the lines that changed with a small drawing of each.

use super::groups::{
    Group, SHARED_CAUSE, confidence, emulation, groups, machine, span, too_few, unchanged,
};
use super::sentences;
use crate::layout::{BOLD, Detail, GAP, INDENT, Pen, Style, left, widest};
use crate::matrix::grid::{Grid, GridRow};
use crate::text::NO_FIGURE;
use analysis::history::{History, LeftOut, Line};
use findings::format::{count, factor, list};
use findings::left_out;

/// More runs than so many are drawn from the newest back.
const DRAWN_MAX: usize = 40;
/// A line that moves by less than this is not drawn as if it moved by much.
const SPAN_MIN: f64 = 1.1;
const OVER_TIME: &str = "over time";
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The history as lines that end in a line feed; with [`Detail::All`] every line is drawn.
pub fn text(history: &History, style: &Style) -> String {
    let pen = Pen::new(style);
    let all = style.detail == Detail::All;
    let mut out = String::new();
    let head =
        [history.workload.name.clone(), span(history), machine(&history.machine)].join(" · ");
    pen.paragraph(&mut out, BOLD, &head, (0, INDENT));
    if !history.joint_changes.is_empty() {
        out.push('\n');
        for change in &history.joint_changes {
            pen.sentence(&mut out, &sentences::joint(history, change));
        }
        pen.sentence(&mut out, SHARED_CAUSE);
    }
    for group in groups(history) {
        let drawn: Vec<&Line> =
            group.lines.iter().copied().filter(|line| all || line.has_changed()).collect();
        if drawn.is_empty() {
            continue;
        }
        out.push('\n');
        pen.group(&mut out, history, &group, &drawn);
    }
    out.push('\n');
    let has_failed = history.left_out.iter().any(|left| matches!(left, LeftOut::Failed { .. }));
    if history.changes.is_empty() && history.judged > 0 && !has_failed {
        pen.sentence(&mut out, "Nothing changed.");
    }
    let sentences = [unchanged(history), too_few(history).map(|text| text + ".")];
    for sentence in sentences.into_iter().flatten() {
        pen.sentence(&mut out, &sentence);
    }
    if history.judged > 0 {
        pen.sentence(&mut out, &confidence(history));
    }
    if let Some(emulation) = emulation(history) {
        pen.sentence(&mut out, emulation.sentence());
    }
    if !history.left_out.is_empty() {
        pen.heading(&mut out, "Left out");
        for left in &history.left_out {
            pen.indented(&mut out, &left_out::of_history(left).what);
        }
    }
    out
}

impl Pen {
    /// The sentences of one metric under one set of parameters, and the lines that are drawn, what changed behind each.
    fn group(&self, out: &mut String, history: &History, group: &Group, drawn: &[&Line]) {
        self.paragraph(out, BOLD, &group.title(history), (0, INDENT));
        for change in &group.changes {
            self.indented(out, &sentences::change(history, change));
        }
        let unit = group.unit();
        let drawings = drawn.iter().map(|line| drawing(history.runs.len(), line));
        let drawings: Vec<String> = drawings.collect();
        // Figures stand to the right of their columns; drawings begin below their head.
        let width = widest(drawings.iter().map(String::as_str).chain([OVER_TIME]));
        let row = |(line, drawing): (&&Line, &String)| {
            let figure = |entry: Option<&(usize, analysis::Estimate)>| {
                entry.map_or_else(|| NO_FIGURE.to_owned(), |(_, figure)| unit.figure(figure.value))
            };
            let [first, last] = [line.figures.first(), line.figures.last()].map(figure);
            let cells = [line.figures.len().to_string(), first, last, left(drawing, width)];
            let name = format!("{} at {}", line.label, count(line.point));
            let notes = changes(history, line);
            GridRow { notes, ..GridRow::new(name, cells.map(|text| vec![text]).to_vec()) }
        };
        let rows = drawn.iter().zip(&drawings).map(row).collect();
        let heads = ["runs", "first", "last", &left(OVER_TIME, width)];
        let heads = heads.map(|head| vec![head.to_owned()]).to_vec();
        self.grid(out, &Grid { stub: vec!["series".to_owned()], heads, rows, gap: GAP });
    }
}

/// `run 4 ×0.91, run 12 ×1.13`.
fn changes(history: &History, line: &Line) -> String {
    if let Some(drift) = line.drift {
        return format!("bit by bit {}", factor(drift.value));
    }
    let shift_text = |shift: &analysis::history::Shift| {
        format!("run {} {}", history.runs[shift.at].number, factor(shift.factor.value))
    };
    if line.shifts.is_empty() {
        return if line.has_too_few() { "too few runs" } else { "no change" }.to_owned();
    }
    list(line.shifts.iter().map(shift_text))
}

/// A bar for each run, and a blank where it has no figure: by the logarithm, and of the newest only where
/// there are many.
fn drawing(runs: usize, line: &Line) -> String {
    let from = runs.saturating_sub(DRAWN_MAX);
    let shown: Vec<(usize, f64)> = line
        .figures
        .iter()
        .filter(|(run, figure)| *run >= from && figure.value > 0.0)
        .map(|(run, figure)| (*run, figure.value.ln()))
        .collect();
    let min = shown.iter().map(|(_, level)| *level).fold(f64::INFINITY, f64::min);
    let max = shown.iter().map(|(_, level)| *level).fold(f64::NEG_INFINITY, f64::max);
    let span = (max - min).max(SPAN_MIN.ln());
    let base = f64::midpoint(min, max) - span / 2.0;
    let bar = |value: f64| {
        let step = ((value - base) / span * BARS.len() as f64) as usize;
        BARS[step.min(BARS.len() - 1)]
    };
    let run_bar = |run: usize| {
        shown.iter().find(|(shown, _)| *shown == run).map_or(' ', |(_, level)| bar(*level))
    };
    (from..runs).map(run_bar).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::Estimate;

    fn line(values: &[(usize, f64)]) -> Line {
        let figure =
            |&(run, value): &(usize, f64)| (run, Estimate { value, low: value, high: value });
        Line {
            subject: "a".into(),
            label: "a".into(),
            parameters: model::Parameters::new(),
            metric: model::MetricInfo {
                name: "call".into(),
                about: String::new(),
                unit: "ns".into(),
                lower_is_better: true,
                ..model::MetricInfo::default()
            },
            headline: true,
            axis: "things".into(),
            point: 1,
            figures: values.iter().map(figure).collect(),
            apart: Vec::new(),
            visible: None,
            shifts: Vec::new(),
            drift: None,
            drift_is_fresh: false,
            alarms: Vec::new(),
        }
    }

    #[test]
    fn a_drawing_has_a_bar_a_run_and_makes_little_of_noise() {
        let drawn = |values: &[(usize, f64)], runs| drawing(runs, &line(values));
        assert_eq!(drawn(&[(0, 1.0), (1, 1.0), (3, 2.0)], 4), "▁▁ █");
        assert_eq!(drawn(&[(0, 1.0), (1, 1.01)], 3), "▄▅");
        assert_eq!(drawn(&[(0, 1.0), (1, 0.0), (2, 1.0)], 3), "▅ ▅");
        assert_eq!(drawn(&[], 3), "");
        let many: Vec<(usize, f64)> = (0..60).map(|run| (run, 1.0)).collect();
        assert_eq!(drawn(&many, 60).chars().count(), DRAWN_MAX);
    }
}
