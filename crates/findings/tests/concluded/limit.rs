//! Which series a limit is held against.

use analysis::Class;
use analysis::growth::limit::Kept;
use findings::limit::judge;
use findings::reasons::NO_ROW;
use fixtures::{cell, workload};
use model::Run;

const POINTS: [u64; 4] = [10, 100, 1_000, 10_000];

/// A subject that is measured under these parameters, and one that is unavailable; what fails and what has
/// only a rate follows from the second's figures at each value of `per`.
fn run(reason: &str, per: &[(&str, Option<&str>)]) -> Run {
    let info = workload("costs")
        .time("latency")
        .rate("replies", "replies", "replies/s")
        .subjects(["measured", "other"])
        .build();
    let mut cells = Vec::new();
    for &(value, metric) in per {
        for (round, point) in (0..3).flat_map(|round| POINTS.map(|point| (round, point))) {
            let at = |subject| cell("costs", subject, point, round).parameter("per", value);
            let figure = vec![point as f64 * (1.0 + f64::from(round) / 1e3)];
            cells.push(
                at("measured")
                    .samples("latency", figure.clone())
                    .samples("replies", vec![1.0])
                    .build(),
            );
            match metric {
                Some("failed") => cells.push(at("other").failed("no reply").build()),
                Some(metric) => cells.push(at("other").samples(metric, figure).build()),
                None => {}
            }
        }
    }
    fixtures::run(info).rounds(3).unavailable("costs", "other", reason).cells(cells).complete()
}

/// The verdict on all, and the parameters under which the other subject is judged.
fn judged(run: &Run) -> (Kept, Vec<String>) {
    let judgement = judge(&analysis::analyse(run), Class::Linear).unwrap();
    let its_series = judgement.series.iter().filter(|series| series.series == "other");
    let parameters =
        its_series.map(|series| series.parameters.values().next().unwrap().to_string());
    (judgement.verdict, parameters.collect())
}

#[test]
fn what_a_file_has_elsewhere_is_judged_there() {
    let run = run(NO_ROW, &[("1", Some("latency")), ("2", None)]);
    assert_eq!(judged(&run), (Kept::Holds, vec!["1".to_owned()]));
}

#[test]
fn what_failed_stays_open_whatever_else_is_there() {
    let with_failed = [("1", Some("latency")), ("2", Some("failed")), ("3", None)];
    let open_in = |all: &[&str]| (Kept::Open, all.iter().map(|&value| value.to_owned()).collect());
    assert_eq!(judged(&run(NO_ROW, &with_failed)), open_in(&["1", "2"]));
    // A rate is no cost.
    assert_eq!(judged(&run(NO_ROW, &[("1", Some("replies"))])), open_in(&["1"]));
    // It lacks something: that is no hole in a file.
    let elsewhere = [("1", Some("latency")), ("2", None)];
    assert_eq!(judged(&run("no io_uring", &elsewhere)), open_in(&["1", "2"]));
}
