//! One gnuplot script that carries its data and draws one image a table.
//!
//! A trajectory is drawn as Felix von Leitner drew his in 2003: linear axes, every call of every round
//! a dot, nothing averaged away; the medians lie on top. What is measured at points is drawn as medians
//! with their intervals on logarithmic axes, on which zero has a position of its own before the smallest point.
//! It runs in gnuplot 5 and 6.

use super::material::{
    COLOURS, Content, Format, LOGARITHMIC_FROM, Material, identity, machine_and_clock, measured,
};
use crate::text;
use analysis::{Analysis, PointSummary, Row, Table};
use findings::format::{Unit, count, quantity};
use model::Run;
use printable::one_line;
use std::collections::BTreeSet;
use std::io::{self, Write};

const HEAD: &str = "# A gnuplot script of knee's.\n";

pub(super) const FORMAT: Format = Format {
    name: "gnuplot",
    about: "one script with its data that draws every call as a dot, or medians with intervals",
    mark: HEAD,
    choices: &[],
    check: |_| Ok(()),
    content: Content::Figures,
    write,
};

/// gnuplot's numbers of filled marks: circle, square, triangle, diamond, triangle down, pentagon.
const MARKS: [u32; 6] = [7, 5, 9, 13, 11, 15];
/// The top of a plot, as a multiple of the 95th percentile: a few interrupted calls among thousands must not
/// flatten the rest.
const TOP_OVER_P95: f64 = 2.0;

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    let (run, analysis) = (material.run, material.analysis());
    out.write_all(HEAD.as_bytes())?;
    let how = if ::analysis::is_predicted(run) { "Computed by" } else { "Measured on" };
    let lines = [format!("Of {}.", identity(run)), format!("{how} {}.", machine_and_clock(run))];
    let caveats =
        material.conclusions().caveats.iter().map(|caveat| format!("Warning: {}", caveat.line()));
    for line in lines.into_iter().chain(caveats) {
        writeln!(out, "# {}", comment(&line))?;
    }
    out.write_all(PREAMBLE.as_bytes())?;
    let mut names = BTreeSet::new();
    for (number, (table, rows)) in (1..).zip(measured(analysis)) {
        let plot = Plot { run, table, rows, number, unit: unit(table) };
        plot.write(out, &image(table, analysis, &mut names))?;
    }
    out.write_all(b"unset output\n")
}

/// Chooses the terminal, unless the caller did, and how its files end.
const PREAMBLE: &str = r#"#
# It draws one image a table into the directory where it is run:
#   gnuplot FILE.gp
# Another terminal, another directory, and the whole height where calls that took long are cut off:
#   gnuplot -e "terminal='svg'; directory='/tmp'; whole=1" FILE.gp

set encoding utf8
if (!exists("terminal")) terminal = strstrt(GPVAL_TERMINALS, " pngcairo ") ? "pngcairo" : strstrt(GPVAL_TERMINALS, " svg ") ? "svg" : "dumb"
if (!exists("directory")) directory = "."
kind = word(terminal, 1)
if (words(terminal) == 1 && strstrt(" pngcairo png svg canvas jpeg ", " ".kind." ")) terminal = terminal." size 1000,700"
if (words(terminal) == 1 && kind eq "dumb") terminal = terminal." size 120,40"
eval "set terminal ".terminal
ending = kind
if (strstrt(kind, "cairo")) ending = kind[1:strstrt(kind, "cairo") - 1]
if (kind eq "dumb") ending = "txt"
if (kind eq "postscript") ending = "ps"
if (kind eq "canvas") ending = "html"
on_screen = strstrt(" qt wxt x11 aqua windows ", " ".kind." ") > 0
"#;

/// Times of single calls are in microseconds, as the originals had them.
fn unit(table: &Table) -> Unit {
    if table.trajectory && table.metric.unit == "ns" {
        Unit { symbol: "µs".to_owned(), per: 1e3 }
    } else {
        text::metrics::unit(table)
    }
}

/// The name of a table's image, without its ending, with the parameters in which tables differ:
/// `poll-loop-active-10`.
fn image(table: &Table, analysis: &Analysis, taken: &mut BTreeSet<String>) -> String {
    let mut words = vec![table.workload.clone()];
    if table.metric.name != table.workload {
        words.push(table.metric.name.clone());
    }
    let siblings = || analysis.tables.iter().filter(|sibling| sibling.workload == table.workload);
    for (name, value) in &table.parameters {
        if siblings().any(|sibling| sibling.parameters.get(name) != Some(value)) {
            words.extend([name.to_owned(), value.to_string()]);
        }
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._%".contains(c) { c } else { '-' };
    let name: String = words.join("-").chars().map(plain).take(180).collect();
    let numbered = (2..).map(|n| format!("{name}-{n}"));
    let free = [name.clone()].into_iter().chain(numbered).find(|name| !taken.contains(name));
    let name = free.unwrap_or(name);
    taken.insert(name.clone());
    name
}

/// One image.
struct Plot<'a> {
    run: &'a Run,
    table: &'a Table,
    rows: Vec<&'a Row>,
    number: usize,
    unit: Unit,
}

const LOOK: &str = "\
set key outside bottom center horizontal
set rmargin 5
set grid lt 1 lw 0.5 lc rgb '#e0e0e0'
set border 3
set tics nomirror
";

/// How far a linear axis goes.
struct Height {
    bottom: f64,
    top: f64,
    /// Where it ends if nothing is cut off.
    whole: f64,
    above: usize,
    samples: usize,
}

impl Plot<'_> {
    fn write(&self, out: &mut dyn Write, image: &str) -> io::Result<()> {
        let table = self.table;
        for (number, row) in (1..).zip(&self.rows) {
            self.medians(out, number, row)?;
        }
        let height = if table.trajectory { Some(self.samples(out)?) } else { None };
        let title = quoted(&text::parameters::of_table(self.run, table));
        let file = quoted(&format!("/{image}."));
        let measure = text::metrics::measure(&table.metric, &self.unit);
        let (across, up) = (quoted(&table.axis), quoted(&measure));
        writeln!(out, "\nreset\nset termoption noenhanced")?;
        writeln!(out, "if (!on_screen) set output directory.{file}.ending")?;
        writeln!(out, "title = {title}\nset xlabel {across}\nset ylabel {up}")?;
        out.write_all(LOOK.as_bytes())?;
        match height {
            Some(height) => self.trajectory(out, &height)?,
            None => self.steady(out)?,
        }
        writeln!(out, "if (on_screen) pause -1 {}", quoted(&format!("{image}: Enter goes on")))
    }

    /// What the data of a series are called.
    fn block(&self, what: &str, number: usize) -> String {
        format!("${what}_{}_{number}", self.number)
    }

    /// The block of medians of a series: point, median, and the ends of its interval.
    fn medians(&self, out: &mut dyn Write, number: usize, row: &Row) -> io::Result<()> {
        writeln!(out, "\n{} << EOD", self.block("medians", number))?;
        for at in row.cells.iter().flatten() {
            let figure = |recorded: f64| short(recorded / self.unit.per);
            let median = at.median;
            let (low, high) = (figure(median.low), figure(median.high));
            writeln!(out, "{} {} {low} {high}", at.point, figure(median.value))?;
        }
        writeln!(out, "EOD")
    }

    /// The blocks of samples, one a series, and how high they go.
    fn samples(&self, out: &mut dyn Write) -> io::Result<Height> {
        let mut all: Vec<f64> = Vec::new();
        let mut top = 0.0_f64;
        for (number, row) in (1..).zip(&self.rows) {
            writeln!(out, "\n{} << EOD", self.block("calls", number))?;
            let mut figures: Vec<f64> = Vec::new();
            for (position, recorded) in self.calls(row) {
                let figure = recorded / self.unit.per;
                writeln!(out, "{position} {}", short(figure))?;
                figures.push(figure);
            }
            writeln!(out, "EOD")?;
            figures.sort_by(f64::total_cmp);
            let p95 = figures.get(figures.len().saturating_sub(1) * 95 / 100).copied();
            top = top.max(p95.unwrap_or_default() * TOP_OVER_P95);
            all.append(&mut figures);
        }
        let bottom = all.iter().copied().fold(0.0, f64::min);
        let max = all.iter().copied().fold(0.0, f64::max);
        let whole = if max > bottom { max } else { bottom + 1.0 };
        let top = if top > bottom { top.min(whole) } else { whole };
        let above = all.iter().filter(|&&figure| figure > top).count();
        Ok(Height { bottom, top, whole, above, samples: all.len() })
    }

    /// Every call of a series: its position on the axis, and what was measured.
    fn calls(&self, row: &Row) -> impl Iterator<Item = (u64, f64)> {
        self.table.cells(self.run, &row.subject).flat_map(|cell| {
            let metrics =
                cell.metrics.iter().filter(|metric| metric.name == self.table.metric.name);
            metrics.flat_map(|metric| {
                let position =
                    |n: usize| metric.positions.get(n).copied().unwrap_or(cell.key.point);
                metric.samples.iter().enumerate().map(move |(n, sample)| (position(n), *sample))
            })
        })
    }

    fn trajectory(&self, out: &mut dyn Write, height: &Height) -> io::Result<()> {
        let rounds = self.points().map(|at| at.rounds).max().unwrap_or_default();
        let rounds = quantity(u64::from(rounds), "round");
        let all = quoted(&format!("every call of {rounds} is a dot; the lines are medians"));
        let [above, calls] = [height.above, height.samples].map(|number| count(number as u64));
        let above = format!("{above} of {calls} calls took longer and lie at the upper edge");
        let (whole, above) = (short(height.whole), quoted(&above));
        writeln!(out, "top = exists(\"whole\") ? {whole} : {}", short(height.top))?;
        writeln!(out, "set title title.\"\\n\".{all}.({whole} > top ? \"\\n\".{above} : '')")?;
        let far = self
            .points()
            .map(|at| at.point)
            .chain(self.rows.iter().flat_map(|row| self.calls(row).map(|(position, _)| position)));
        writeln!(out, "set xrange [0:{}]", far.max().unwrap_or(1).max(1))?;
        writeln!(out, "set yrange [{}:top]", short(height.bottom))?;
        let series = || (1..).zip(&self.rows);
        let medians =
            |number: usize| format!("{} using 1:2 with lines", self.block("medians", number));
        let dots = series().map(|(number, _)| {
            let (block, colour) = (self.block("calls", number), COLOURS[(number - 1) % COLOURS.len()]);
            format!("{block} using 1:($2 > top ? top : $2) with points pt 7 ps 0.25 lc rgb '{colour}' notitle")
        });
        // A white line beneath each keeps it apart from dots of its colour.
        let casing = series().map(|(number, _)| medians(number) + " lw 5 lc rgb 'white' notitle");
        let lines = series().map(|(number, row)| {
            let (look, title) = (look(number - 1), quoted(&row.label));
            format!("{} lw 2.5 {look} title {title}", medians(number))
        });
        plot(out, dots.chain(casing).chain(lines))
    }

    fn steady(&self, out: &mut dyn Write) -> io::Result<()> {
        let rounds = format!("{}, with 95 % CIs", text::metrics::rounds(self.run));
        writeln!(out, "set title title.\"\\n\".{}", quoted(&rounds))?;
        let per = self.unit.per;
        let (mut x, mut y) = (Span::NONE, Span::NONE);
        let mut has_zero = false;
        for at in self.points() {
            has_zero |= at.point == 0;
            if at.point > 0 {
                x.take(at.point as f64);
            }
            for figure in [at.median.low, at.median.value, at.median.high] {
                y.take(figure / per);
            }
        }
        let x_position = if has_zero { x.write_from_zero(out)? } else { x.write(out, 'x')? };
        y.write(out, 'y')?;
        let series = (1..).zip(&self.rows).map(|(number, row)| {
            let mark = MARKS[(number - 1) % MARKS.len()];
            let (block, look) = (self.block("medians", number), look(number - 1));
            let title = quoted(&row.label);
            format!("{block} using {x_position}:2:3:4 with yerrorlines lw 1.5 pt {mark} ps 0.9 {look} title {title}")
        });
        plot(out, series)
    }

    fn points(&self) -> impl Iterator<Item = &PointSummary> {
        self.rows.iter().flat_map(|row| row.cells.iter().flatten())
    }
}

/// Colour and dashes of a series; no two of 40 are alike.
fn look(index: usize) -> String {
    let colour = COLOURS[index % COLOURS.len()];
    format!("dt {} lc rgb '{colour}'", index / COLOURS.len() % 5 + 1)
}

fn plot(out: &mut dyn Write, clauses: impl Iterator<Item = String>) -> io::Result<()> {
    let clauses: Vec<String> = clauses.collect();
    writeln!(out, "plot {}", clauses.join(", \\\n     "))
}

/// The smallest and the largest figure.
struct Span {
    min: f64,
    max: f64,
}

impl Span {
    const NONE: Span = Span { min: f64::INFINITY, max: f64::NEG_INFINITY };

    fn take(&mut self, figure: f64) {
        (self.min, self.max) = (self.min.min(figure), self.max.max(figure));
    }

    /// The range of an axis, never an empty one; logarithmic where it can be, and is easier to read.
    /// Returns the expression for a point's position on it.
    fn write(&self, out: &mut dyn Write, axis: char) -> io::Result<&'static str> {
        let Span { min, max } = *self;
        if min > 0.0 && max / min >= LOGARITHMIC_FROM {
            let (from, to) = (short(min / 1.25), short(max * 1.25));
            writeln!(out, "set logscale {axis}")?;
            writeln!(out, "set {axis}range [{from}:{to}]")?;
            return Ok("1");
        }
        let to = if max > 0.0 { max * 1.05 } else { 1.0 };
        writeln!(out, "set {axis}range [{}:{}]", short(min.min(0.0)), short(to))?;
        Ok("1")
    }

    /// The same for a horizontal axis with a point at zero; the span covers the points above zero. log 0 is
    /// undefined: zero stands half a decade before the smallest point, with a tick `0`, and two strokes show
    /// that the axis is broken there.
    fn write_from_zero(&self, out: &mut dyn Write) -> io::Result<&'static str> {
        let Span { min, max } = *self;
        if max / min < LOGARITHMIC_FROM || !min.is_finite() {
            let max = if max > 0.0 { max } else { 1.0 };
            writeln!(out, "set xrange [0:{}]", short(max * 1.05))?;
            return Ok("1");
        }
        let zero = min / 10_f64.sqrt();
        let (from, to) = (short(zero / 1.25), short(max * 1.25));
        writeln!(out, "set logscale x\nset xrange [{from}:{to}]\nzero = {}", short(zero))?;
        // Ticks of a logarithmic axis would stand between zero and the smallest point as well.
        let decade = 10_f64.powf(min.log10().ceil());
        writeln!(out, "set xtics {},10 rangelimited\nset xtics add ('0' zero)", short(decade))?;
        let crack = short(min / 10_f64.powf(0.25));
        writeln!(out, "set label 1 '//' at first {crack},graph 0 center front")?;
        Ok("($1 > 0 ? $1 : zero)")
    }
}

/// A figure with seven digits that mean something: finer than any screen. What is not finite is 0.
fn short(figure: f64) -> f64 {
    let rounded = format!("{figure:.6e}").parse().unwrap_or_default();
    if figure.is_finite() { rounded } else { 0.0 }
}

/// Text between quotes within which gnuplot takes everything as it is, but for the quote itself.
/// Backticks, which start programs elsewhere in a script, don't belong into a title.
fn quoted(text: &str) -> String {
    format!("'{}'", one_line(text).replace('`', "'").replace('\'', "''"))
}

/// Text that ends with its line: gnuplot reads on after a backslash, even in a comment.
fn comment(text: &str) -> String {
    one_line(text).replace(['`', '\\'], "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_keep_seven_digits() {
        let figures = [
            (0.0, "0"),
            (1.880_000_000_000_000_1, "1.88"),
            (12_345.678_9, "12345.68"),
            (1e9, "1000000000"),
            (0.000_123_456_789, "0.0001234568"),
            (-2.5, "-2.5"),
            (f64::INFINITY, "0"),
            (10.0, "10"),
        ];
        for (figure, text) in figures {
            assert_eq!(short(figure).to_string(), text);
        }
    }

    #[test]
    fn no_text_leaves_its_quotes() {
        assert_eq!(quoted("it's `date`\n"), "'it''s ''date'''");
        assert_eq!(comment("a \\\n`b`\\"), "a ' 'b''");
    }

    #[test]
    fn no_two_series_look_alike() {
        let looks: BTreeSet<String> = (0..40).map(look).collect();
        assert_eq!(looks.len(), 40);
    }
}
