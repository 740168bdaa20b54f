//! Runs of unusual shapes: trajectories, zeros, a single point, a single sample, odd names.

use crate::fixture::realistic;
use crate::page::{Page, Runs, with_made};
use model::Run;

/// The hand-made run after `change`, analysed anew.
fn changed(change: impl Fn(&mut Run)) -> Runs {
    let (mut run, _) = realistic(4);
    run.cells.retain(|cell| ["poll", "epoll-level"].contains(&cell.key.subject.as_str()));
    change(&mut run);
    let conclusions = findings::conclude(&run);
    vec![(run, conclusions)]
}

fn drawn(page: &mut Page) -> usize {
    page.get("probe.plot(0).drawn.reduce((sum, series) => sum + series.samples, 0)")
}

fn samples(run: &Run) -> usize {
    let headline = &run.plan.workloads[0].metrics[0].name;
    let cells = run.cells.iter().filter(|cell| cell.key.parameters["active"] == "1");
    let metrics = cells.flat_map(|cell| &cell.metrics).filter(|metric| metric.name == *headline);
    metrics.map(|metric| metric.samples.len()).sum()
}

#[test]
fn samples_of_zero_have_a_place_on_a_logarithmic_axis() {
    let runs = changed(|run| {
        for metric in run.cells.iter_mut().flat_map(|cell| &mut cell.metrics) {
            metric.samples[0] = 0.0;
        }
    });
    with_made(&runs, |page| {
        assert_eq!(drawn(page), samples(&runs[0].0));
        let texts: Vec<String> = page.get("probe.written().map((one) => one.text)");
        assert!(texts.contains(&"0".to_owned()), "{texts:?}");
    });
}

#[test]
fn a_single_point_with_a_single_sample_is_drawn() {
    let runs = changed(|run| {
        run.cells.retain(|cell| cell.key.point == 100 && cell.key.round == 0);
        for metric in run.cells.iter_mut().flat_map(|cell| &mut cell.metrics) {
            metric.samples.truncate(1);
        }
    });
    with_made(&runs, |page| {
        assert_eq!((drawn(page), samples(&runs[0].0)), (2, 2));
        assert_eq!(page.markers().len(), 2);
    });
}

#[test]
fn a_name_that_looks_like_markup_stays_a_name() {
    let odd = "<b onclick='nobody()'>\"poll\" & </script><script>nobody()</script>";
    let runs = changed(|run| {
        let subjects = run.plan.workloads.iter_mut().flat_map(|info| &mut info.subjects);
        for subject in subjects.filter(|subject| subject.name == "poll") {
            subject.label = odd.to_owned();
        }
    });
    with_made(&runs, |page| {
        let names: Vec<String> = page.get("probe.plot(0).data.subjects");
        assert!(names.contains(&odd.to_owned()), "{names:?}");
        let text: String = page.get("document.querySelector('.legend').textContent");
        assert!(text.contains(odd), "{text}");
        let texts: Vec<String> =
            page.get("[...document.querySelectorAll('tbody th')].map((one) => one.textContent)");
        assert!(texts.contains(&odd.to_owned()), "{texts:?}");
    });
}

#[test]
fn a_trajectory_draws_each_sample_at_its_own_place() {
    let runs = changed(|run| {
        run.cells.retain(|cell| cell.key.point == 10_000);
        for metric in run.cells.iter_mut().flat_map(|cell| &mut cell.metrics) {
            metric.positions = (1..=metric.samples.len() as u64).map(|n| n * 2_000).collect();
        }
    });
    with_made(&runs, |page| {
        let series = "probe.plot(0).shown.reduce((sum, one) => sum + one.samples.x.length, 0)";
        assert_eq!(page.get::<usize>(series), samples(&runs[0].0));
        let positions: Vec<f64> = page.get(
            "[...new Set(probe.plot(0).shown.flatMap((one) => [...one.samples.x]))].sort((a, b) => a - b)",
        );
        let wanted: Vec<u64> = (1..=4).map(|n| n * 2_000).collect();
        assert_eq!(positions.iter().map(|position| *position as u64).collect::<Vec<_>>(), wanted);
    });
}
