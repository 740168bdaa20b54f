//! A picture of the tables, one below the other: medians with their intervals, without a browser.
//!
//! Axes are logarithmic where they span enough; zero then stands half a decade before the smallest point.

use super::material::{COLOURS, LOGARITHMIC_FROM, Material, measured};
use crate::text;
use analysis::{PointSummary, Row, Table};
use findings::format::count;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};
use printable::{one_line, significant};
use std::io;
use std::ops::Range;

/// The width of a picture, and the least height of a table, in pixels.
const SIZE: (u32, u32) = (960, 480);
/// The height of a name, and of what stands above and below the names.
const NAME_HEIGHT: u32 = 20;
const AROUND_NAMES: u32 = 80;
/// The width of the column of names.
const NAMES_WIDTH: i32 = 200;
/// More points than this have ticks at decades.
const TICKS_MAX: usize = 12;
const FONT: &str = "sans-serif";

/// The tables of a picture, each with its series.
pub(super) struct Picture<'a> {
    material: &'a Material<'a>,
    tables: Vec<(&'a Table, Vec<&'a Row>)>,
}

type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;
type Area<B> = DrawingArea<B, plotters::coord::Shift>;

impl<'a> Picture<'a> {
    pub(super) fn new(material: &'a Material<'a>) -> Self {
        let selected = measured(material.analysis()).map(|(table, mut rows)| {
            rows.retain(|row| material.selection.has_subject(&row.subject));
            (table, rows)
        });
        Picture { material, tables: selected.filter(|(_, rows)| !rows.is_empty()).collect() }
    }

    /// Its width and height, in pixels.
    pub(super) fn size(&self) -> (u32, u32) {
        (SIZE.0, self.tables.iter().map(|(_, rows)| height(rows)).sum())
    }

    /// Draws it on what has its size. Texts are measured in a font of knee's own, in which pixels have them, too: a server
    /// has none.
    pub(super) fn draw<B: DrawingBackend>(&self, on: B) -> io::Result<()> {
        let font = register_font(FONT, FontStyle::Normal, dejavu::sans::regular());
        font.map_err(|_| io::Error::other("the font can't be read"))?;
        let drawn = || -> Drawn<B> {
            let root = on.into_drawing_area();
            root.fill(&WHITE)?;
            let mut rest = root.clone();
            for (table, rows) in &self.tables {
                let (area, below) = rest.split_vertically(height(rows));
                panel(self.material, table, rows, &area)?;
                rest = below;
            }
            root.present()
        };
        drawn().map_err(|error| io::Error::other(error.to_string()))
    }
}

/// That of a table, in pixels: each of its names has a line.
fn height(rows: &[&Row]) -> u32 {
    SIZE.1.max(AROUND_NAMES + NAME_HEIGHT * rows.len() as u32)
}

/// One table.
fn panel<B: DrawingBackend>(
    material: &Material,
    table: &Table,
    rows: &[&Row],
    area: &Area<B>,
) -> Drawn<B> {
    let (run, unit) = (material.run, text::metrics::unit(table));
    let title = text::parameters::of_table(run, table);
    let (plot, names) = area.split_horizontally(SIZE.0.cast_signed() - NAMES_WIDTH);
    let points = |row: &Row| -> Vec<PointSummary> {
        let all = row.cells.iter().flatten();
        all.filter(|at| material.selection.has_point(at.point)).cloned().collect()
    };
    let series: Vec<Vec<PointSummary>> = rows.iter().map(|row| points(row)).collect();
    let ends = |at: &PointSummary| [at.median.low, at.median.high].map(|end| end / unit.per);
    let x = Axis::of_points(series.iter().flatten().map(|at| at.point as f64).collect());
    let y = Axis::new(series.iter().flatten().flat_map(ends).collect());
    let mut chart = ChartBuilder::on(&plot)
        .caption(one_line(&title), (FONT, 16))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(224, 224, 224))
        .x_desc(one_line(&table.axis))
        .y_desc(one_line(&text::metrics::measure(&table.metric, &unit)))
        .label_style((FONT, 13))
        .draw()?;
    for ((index, points), row) in (0_i32..).zip(&series).zip(rows) {
        let colour = colour(index);
        let at = |point: &PointSummary, figure: f64| (point.point as f64, figure / unit.per);
        let line = points.iter().map(|point| at(point, point.median.value));
        chart.draw_series(LineSeries::new(line.clone(), colour.stroke_width(2)))?;
        chart.draw_series(line.map(|position| Circle::new(position, 3, mark(index))))?;
        let bars = points.iter().map(|point| {
            PathElement::new(
                vec![at(point, point.median.low), at(point, point.median.high)],
                colour,
            )
        });
        chart.draw_series(bars)?;
        let top = 44 + NAME_HEIGHT.cast_signed() * index;
        names.draw(&Circle::new((8, top + 7), 4, mark(index)))?;
        names.draw(&Text::new(one_line(&row.label), (20, top), (FONT, 13)))?;
    }
    let note = TextStyle::from((FONT, 12)).pos(Pos::new(HPos::Right, VPos::Bottom));
    let note = note.color(&RGBColor(96, 96, 96));
    names.draw(&Text::new(
        format!("{}, with 95 % CIs", text::metrics::rounds(run)),
        (NAMES_WIDTH - 12, height(rows).cast_signed() - 8),
        note,
    ))
}

/// The colour of a series, that of the page.
fn colour(index: i32) -> RGBColor {
    let colour = COLOURS[index.cast_unsigned() as usize % COLOURS.len()];
    let hex = u32::from_str_radix(&colour[1..], 16).unwrap_or_default();
    let [_, red, green, blue] = hex.to_be_bytes();
    RGBColor(red, green, blue)
}

/// The mark of a series: where colours come again, they are hollow.
fn mark(index: i32) -> ShapeStyle {
    let is_first = (index.cast_unsigned() as usize) < COLOURS.len();
    if is_first { colour(index).filled() } else { colour(index).stroke_width(1) }
}

/// Where figures lie on an axis.
struct Axis {
    figures: Vec<f64>,
    /// Where zero stands on a logarithmic axis; absent where it is linear.
    zero: Option<f64>,
    /// Whether they are points, which have ticks where they are few.
    are_points: bool,
}

impl Axis {
    fn of_points(figures: Vec<f64>) -> Axis {
        Axis { are_points: true, ..Axis::new(figures) }
    }

    fn new(mut figures: Vec<f64>) -> Axis {
        figures.retain(|figure| figure.is_finite());
        figures.sort_by(f64::total_cmp);
        figures.dedup();
        let above = figures.iter().copied().find(|&figure| figure > 0.0);
        let is_logarithmic = figures.first().is_some_and(|&first| first >= 0.0)
            && above
                .zip(figures.last())
                .is_some_and(|(above, last)| last / above >= LOGARITHMIC_FROM);
        let zero = above.filter(|_| is_logarithmic).map(|above| above.log10() - 0.5);
        Axis { figures, zero, are_points: false }
    }

    fn position(&self, figure: f64) -> f64 {
        match self.zero {
            Some(zero) if figure <= 0.0 => zero,
            Some(_) => figure.log10(),
            None => figure,
        }
    }

    /// Its ends, never the same.
    fn ends(&self) -> (f64, f64) {
        let (first, last) = (self.figures.first(), self.figures.last());
        let (first, last) = (first.copied().unwrap_or(0.0), last.copied().unwrap_or(1.0));
        match self.zero {
            Some(_) => (self.position(first) - 0.1, self.position(last) + 0.1),
            None if last > 0.0 => (first.min(0.0), last * 1.05),
            None => (first, last + 1.0),
        }
    }

    /// Powers of ten, with 2 and 5 between where there are few; on a linear axis even steps.
    fn round_figures(&self) -> Vec<f64> {
        let (start, end) = self.ends();
        if self.zero.is_none() {
            let step = 10_f64.powf((end - start).log10().floor());
            let step = if (end - start) / step < 3.0 { step / 5.0 } else { step };
            let ticks = (0..).map(|index| ((start / step).ceil() + f64::from(index)) * step);
            return ticks.take_while(|&tick| tick <= end).collect();
        }
        let within: &[f64] = if end - start < 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let powers = start.floor() as i32..=end.ceil() as i32;
        let ticks =
            powers.flat_map(|power| within.iter().map(move |part| part * 10_f64.powi(power)));
        ticks.filter(|tick| (start..=end).contains(&tick.log10())).collect()
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, figure: &f64, (low, high): (i32, i32)) -> i32 {
        let (start, end) = self.ends();
        let share = (self.position(*figure) - start) / (end - start);
        low + (share * f64::from(high - low)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        if self.are_points && self.figures.len() <= TICKS_MAX {
            self.figures.clone()
        } else {
            self.round_figures()
        }
    }

    fn range(&self) -> Range<f64> {
        let (start, end) = self.ends();
        if self.zero.is_some() { 10_f64.powf(start)..10_f64.powf(end) } else { start..end }
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, figure: &f64) -> String {
        if self.are_points { count(figure.round() as u64) } else { significant(*figure) }
    }
}
