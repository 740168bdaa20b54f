//! The small plot of a table: medians on logarithmic axes, drawn without a script. Sentences state the same,
//! so screen readers skip it.

use analysis::{Row, Table};
use maud::{Markup, html};

/// Its size in pixels.
const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 32.0;
/// Left free on each side, for the ends of lines.
const MARGIN: f64 = 3.0;
/// How far zero stands below the smallest positive value, in decades.
const ZERO_GAP: f64 = 0.5;
/// A range below this factor is not drawn as if it were large.
const FACTOR_MIN: f64 = 4.0;

/// A point of the plane, in pixels.
type Position = (f64, f64);

/// The values of one direction on a logarithmic axis.
pub(crate) struct Axis {
    zero: f64,
    start: f64,
    span: f64,
}

impl Axis {
    /// The axis of `values` that spans `factor_min` at least.
    pub(crate) fn new(values: impl Iterator<Item = f64> + Clone, factor_min: f64) -> Option<Self> {
        let positive = values.clone().filter(|value| *value > 0.0).map(f64::log10);
        let (min, max) = positive.fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), value| {
            (min.min(value), max.max(value))
        });
        if min > max {
            return None;
        }
        let zero = min - ZERO_GAP;
        let has_zero = values.into_iter().any(|value| value <= 0.0);
        let start = if has_zero { zero } else { min };
        let missing = (factor_min.log10() - (max - start)).max(0.0);
        Some(Self {
            zero,
            start: start - missing / 2.0,
            span: (max - start + missing).max(f64::MIN_POSITIVE),
        })
    }

    /// Where a value stands, as a share of the axis.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let position = if value > 0.0 { value.log10() } else { self.zero };
        (position - self.start) / self.span
    }
}

/// How a line of a small plot is set off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Accent {
    /// Not at all.
    Pale,
    /// As what is right.
    Good,
    /// As what the plot is about.
    Bad,
}

/// The plot of `table`, with those set off that it is about, and those to use instead.
pub(super) fn plot(table: &Table, [subjects, advised]: [&[String]; 2]) -> Markup {
    let accent = |row: &Row| match row {
        row if subjects.contains(&row.subject) => Accent::Bad,
        row if advised.contains(&row.subject) => Accent::Good,
        _ => Accent::Pale,
    };
    let medians = |row: &Row| -> Vec<(f64, f64)> {
        row.cells.iter().flatten().map(|cell| (cell.point as f64, cell.median.value)).collect()
    };
    lines(table.rows.iter().map(|row| (accent(row), medians(row))).collect())
}

/// The plot of a sequence: one value after the other at equal distances.
pub(crate) fn sequence(accent: Accent, values: &[f64]) -> Markup {
    // On a logarithmic axis powers are at equal distances.
    let position = |index: usize| 10_f64.powf(index as f64 / values.len() as f64);
    let line = values.iter().enumerate().map(|(index, value)| (position(index), *value));
    lines(vec![(accent, line.collect())])
}

/// Lines on logarithmic axes, each with its values.
pub(crate) fn lines(mut lines: Vec<(Accent, Vec<(f64, f64)>)>) -> Markup {
    // What is set off lies above the others.
    lines.sort_by_key(|(accent, _)| *accent);
    let all: Vec<(f64, f64)> = lines.iter().flat_map(|(_, line)| line).copied().collect();
    let axes = Axis::new(all.iter().map(|point| point.0), 1.0)
        .zip(Axis::new(all.iter().map(|point| point.1), FACTOR_MIN));
    let position = |(x, y): (f64, f64), (across, up): &(Axis, Axis)| -> Position {
        let inner = (WIDTH - 2.0 * MARGIN, HEIGHT - 2.0 * MARGIN);
        (MARGIN + inner.0 * across.share(x), HEIGHT - MARGIN - inner.1 * up.share(y))
    };
    html! {
        svg.spark viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT) aria-hidden="true" {
            @if let Some(axes) = &axes {
                @for (accent, line) in &lines {
                    @let line: Vec<Position> =
                        line.iter().map(|point| position(*point, axes)).collect();
                    @if let Some((x, y)) = line.last() {
                        g class={ "spark-" (*accent as u8) } {
                            path d=(path(&line)) {}
                            circle cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="2" {}
                        }
                    }
                }
            }
        }
    }
}

/// A line through positions, as the `d` of a path.
fn path(line: &[Position]) -> String {
    let points: Vec<String> = line.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    format!("M{}", points.join("L"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_are_even_and_zero_is_half_a_decade_below_the_smallest() {
        let axis = Axis::new([0.0, 10.0, 1_000.0].into_iter(), 1.0).expect("an axis");
        let tenths =
            [0.0, 10.0, 100.0, 1_000.0].map(|value| (axis.share(value) * 10.0).round() as u8);
        assert_eq!(tenths, [0, 2, 6, 10]);
        assert!(Axis::new([0.0].into_iter(), 1.0).is_none());
    }

    #[test]
    fn a_flat_series_runs_through_the_middle() {
        let axis = Axis::new([7.0, 7.0].into_iter(), FACTOR_MIN).expect("an axis");
        assert!((axis.share(7.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_path_moves_once() {
        assert_eq!(path(&[(1.0, 2.0), (3.25, 4.0)]), "M1.0 2.0L3.2 4.0");
    }
}
