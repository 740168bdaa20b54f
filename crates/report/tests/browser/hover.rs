//! What the page reads out of a point is what the record holds of it.

use crate::fixture::realistic;
use crate::input::Spot;
use crate::page::{ONE, Page, Place, figures, table, with};
use analysis::{PointSummary, Table};
use model::Run;

/// Four significant digits are shown: half a unit of the last is 0.05 % at most.
const ROUNDED: f64 = 0.000_51;

/// A read-out taken apart, times in nanoseconds.
#[derive(Debug, PartialEq)]
struct ReadOut {
    title: String,
    figures: [f64; 6],
    samples: u64,
    rounds: u32,
}

#[test]
fn every_point_reads_out_the_figures_of_the_analysis() {
    with(&ONE, |page| {
        let (run, conclusions) = &ONE[0];
        let mismatches = mismatches(page, run, table(conclusions, "loop", "1"));
        assert!(mismatches.is_empty(), "{mismatches:#?}");
    });
}

#[test]
fn another_metric_and_other_parameters_read_out_theirs() {
    with(&ONE, |page| {
        let (run, conclusions) = &ONE[0];
        page.choose("Metric", "wait");
        page.choose("Parameters", "10 active");
        let mismatches = mismatches(page, run, table(conclusions, "wait", "10"));
        assert!(mismatches.is_empty(), "{mismatches:#?}");
    });
}

#[test]
fn linear_axes_move_the_points_and_not_their_figures() {
    with(&ONE, |page| {
        let (run, conclusions) = &ONE[0];
        for axis in ["log across", "log up"] {
            page.press(&format!("probe.button('{axis}')"), crate::input::Held::Nothing);
        }
        // Close to the axis points lie on each other; the dearest stand alone.
        page.evaluate("probe.only('poll')");
        let mismatches = mismatches(page, run, table(conclusions, "loop", "1"));
        assert!(mismatches.is_empty(), "{mismatches:#?}");
    });
}

#[test]
fn the_card_at_the_point_has_the_text_of_the_line_below() {
    with(&ONE, |page| {
        let marker = page.markers().swap_remove(20);
        page.move_to(Spot { x: marker.x, y: marker.y });
        page.settle();
        let line = page.read_out();
        let words: Vec<String> = page.get(
            "[...document.querySelectorAll('.card strong, .card dt, .card dd')]
                .map((one) => one.textContent)",
        );
        assert_eq!(words.len(), 13, "{words:?}");
        for word in &words {
            assert!(line.contains(word.as_str()), "{word:?} is not in {line:?}");
        }
        let [left, right, edge]: [f64; 3] = page.get(
            "(() => { const card = document.querySelector('.card').getBoundingClientRect();
                const stage = document.querySelector('.stage').getBoundingClientRect();
                return [card.left - stage.left, stage.right - card.right, card.width]; })()",
        );
        assert!(left >= 0.0 && right >= 0.0 && edge > 100.0, "{left} {right} {edge}");
    });
}

#[test]
fn away_from_all_points_nothing_is_read_out() {
    with(&ONE, |page| {
        page.evaluate("probe.only('epoll-level')");
        let marker = page.markers().swap_remove(3);
        page.move_to(Spot { x: marker.x, y: marker.y });
        page.settle();
        assert!(page.read_out().starts_with("epoll-level at 300: "));
        let corner = page.inside(0.5, 0.02);
        page.move_to(corner);
        page.settle();
        assert_eq!(page.read_out(), "");
        assert!(page.get::<bool>("document.querySelector('.card').hidden"));
    });
}

#[test]
fn a_line_names_its_series_between_its_points() {
    with(&ONE, |page| {
        page.evaluate("probe.only('poll')");
        let markers = page.markers();
        let [from, to] = [&markers[4], &markers[5]];
        let (x, y) = (from.x + 0.45 * (to.x - from.x), from.y + 0.45 * (to.y - from.y));
        assert!((to.x - from.x) > 100.0, "{from:?} {to:?}");
        page.move_to(Spot { x, y });
        page.settle();
        assert!(page.read_out().starts_with("poll at 1,000: "), "{}", page.read_out());
        page.move_to(Spot { x, y: y - 60.0 });
        page.settle();
        assert_eq!(page.read_out(), "");
    });
}

/// Moves the mouse to each point that is shown, and says where the read-out is not the table's.
pub fn mismatches(page: &mut Page, run: &Run, table: &Table) -> Vec<String> {
    let markers = page.markers();
    let expected: usize = table.rows.iter().map(|row| row.cells.iter().flatten().count()).sum();
    let mut mismatches = Vec::new();
    if markers.iter().map(|marker| &marker.subject).any(|name| *name != markers[0].subject)
        && markers.len() != expected
    {
        mismatches.push(format!("{} points are shown of {expected}", markers.len()));
    }
    for marker in markers {
        page.move_to(Spot { x: marker.x, y: marker.y });
        let text = page.read_out();
        let point = figures(table, &marker.subject, marker.point);
        mismatches.extend(difference(&text, &marker, point));
        let of_record = samples(run, table, &marker);
        if of_record.len() as u64 != point.samples || of_record.first() != Some(&point.min) {
            mismatches.push(format!("{marker:?}: the table itself is not the record's"));
        }
    }
    mismatches
}

/// The samples of a place as they stand in the record, least first.
fn samples(run: &Run, table: &Table, marker: &Place) -> Vec<f64> {
    let subject =
        &table.rows.iter().find(|row| row.label == marker.subject).expect("a row").subject;
    let cells = run.cells.iter().filter(|cell| {
        cell.key.subject == *subject
            && cell.key.point == marker.point
            && cell.key.parameters == table.parameters
    });
    let metrics = cells.flat_map(|cell| &cell.metrics).filter(|m| m.name == table.metric.name);
    let mut samples: Vec<f64> = metrics.flat_map(|metric| metric.samples.clone()).collect();
    samples.sort_unstable_by(f64::total_cmp);
    samples
}

fn difference(text: &str, marker: &Place, point: &PointSummary) -> Option<String> {
    let Some(read_out) = parsed(text) else {
        return Some(format!("{marker:?}: can't be read: {text:?}"));
    };
    let title = format!("{} at {}", marker.subject, grouped(marker.point));
    let median = &point.median;
    let wanted = [median.value, median.low, median.high, point.min, point.p99, point.max];
    let is_near = |(read_out, wanted): (&f64, &f64)| (read_out / wanted - 1.0).abs() < ROUNDED;
    let same = read_out.title == title
        && read_out.figures.iter().zip(&wanted).all(is_near)
        && (read_out.samples, read_out.rounds) == (point.samples, point.rounds);
    (!same).then(|| format!("{title}: {text:?} is not {wanted:?}"))
}

/// `poll at 100: median 12.25 µs, 95 % CI 12.1 µs–12.4 µs, min …, samples 100 in 5 rounds`.
fn parsed(text: &str) -> Option<ReadOut> {
    let (title, rest) = text.split_once(": ")?;
    let parts: Vec<&str> = rest.split(", ").collect();
    let [median, interval, min, p99, max, samples] = parts.as_slice() else { return None };
    let (low, high) = interval.strip_prefix("95 % CI ")?.split_once('–')?;
    let (samples, rounds) = samples.strip_prefix("samples ")?.split_once(" in ")?;
    Some(ReadOut {
        title: title.to_owned(),
        figures: [
            nanoseconds(median.strip_prefix("median ")?)?,
            nanoseconds(low)?,
            nanoseconds(high)?,
            nanoseconds(min.strip_prefix("min ")?)?,
            nanoseconds(p99.strip_prefix("p99 ")?)?,
            nanoseconds(max.strip_prefix("max ")?)?,
        ],
        samples: samples.replace(',', "").parse().ok()?,
        rounds: rounds.split(' ').next()?.parse().ok()?,
    })
}

fn nanoseconds(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ')?;
    let scale = match unit {
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    Some(number.replace(',', "").parse::<f64>().ok()? * scale)
}

fn grouped(point: u64) -> String {
    match point {
        0..1_000 => point.to_string(),
        _ => format!("{},{:03}", point / 1_000, point % 1_000),
    }
}

#[test]
fn a_read_out_is_taken_apart_as_it_is_written() {
    let text = "poll at 1,000: median 109.4 µs, 95 % CI 1,021 ns–110 µs, min 1 ms, \
                p99 2 s, max 3 ns, samples 1,500 in 5 rounds";
    let read_out = parsed(text).expect("it can be read");
    assert_eq!(read_out.title, "poll at 1,000");
    let wanted = [109_400.0, 1_021.0, 110_000.0, 1e6, 2e9, 3.0];
    assert!(
        read_out.figures.iter().zip(wanted).all(|(a, b): (&f64, f64)| (a / b - 1.0).abs() < 1e-9)
    );
    assert_eq!((read_out.samples, read_out.rounds), (1_500, 5));
    let (_, conclusions) = realistic(1);
    let unlike = figures(table(&conclusions, "loop", "1"), "poll", 1_000);
    let marker = Place { subject: "poll".to_owned(), run: 0, point: 1_000, x: 0.0, y: 0.0 };
    assert!(difference(text, &marker, unlike).is_some());
}
