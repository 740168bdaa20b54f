//! Advice as people and programs see it: wide, narrow, long names.

use crate::fixture::pipetest;
use analysis::Estimate;
use analysis::advise::{Advice, GainVerdict, Spot, grounds};
use report::advice::{Source, SourcedAdvice, Substitution, json, process_verdict, text};
use report::layout::{Detail, Style};
use serde_json::json;

/// Advice between two totals that were measured, with an odd number of active ones.
fn advised() -> SourcedAdvice {
    let (_, conclusions) = pipetest::pipetest(20);
    let spot = Spot { total: 500.0, active: 60.5 };
    let advice: Advice =
        grounds(&conclusions.analysis)[0].advise(spot, &[]).expect("it was measured");
    SourcedAdvice {
        advice,
        run: 9,
        date: "2026-11-21".to_owned(),
        source: Source::Recorded,
        substitution: None,
    }
}

fn lines_at(advised: &SourcedAdvice, width: usize) -> Vec<String> {
    let text = text(advised, &Style { colour: false, width, detail: Detail::Headline });
    assert!(text.ends_with('\n'), "{text:?}");
    text.lines().map(str::to_owned).collect()
}

/// The subjects of the ranking and their figures, in order, wherever its lines are folded.
fn assert_ranked(advised: &SourcedAdvice, lines: &[String]) {
    let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
    let whole = words.join(" ");
    let mut rest = whole.as_str();
    for row in &advised.advice.ranking {
        let times = findings::format::factor(row.times);
        for part in [row.label.as_str(), &times] {
            let (_, behind) =
                rest.split_once(part).unwrap_or_else(|| panic!("no {part} in {rest} of {whole}"));
            rest = behind;
        }
    }
}

#[test]
fn the_ranking_is_a_table() {
    let advised = advised();
    for width in [120, 80] {
        let lines = lines_at(&advised, width);
        assert!(lines[0].starts_with("500 watched descriptors, 60.5 of them active at a time"));
        assert_eq!(lines[1], "The cost of an active descriptor:");
        let heads = ["mechanism", "µs", "95", "%", "CI"];
        assert_eq!(lines[2].split_whitespace().collect::<Vec<_>>(), heads);
        let rows = &lines[3..3 + advised.advice.ranking.len()];
        let ends: Vec<usize> = rows.iter().map(|row| row.chars().count()).collect();
        assert!(ends.iter().all(|end| *end == ends[0]), "figures stand to the right: {lines:#?}");
        for (row, line) in advised.advice.ranking.iter().zip(rows) {
            let [value, low, high] = [row.cost_ns.value, row.cost_ns.low, row.cost_ns.high]
                .map(|ns| findings::format::significant(ns / 1e3));
            let times = findings::format::factor(row.times);
            let wanted = format!("{} {value} {low}–{high} {times}", row.label);
            assert_eq!(line.split_whitespace().collect::<Vec<_>>().join(" "), wanted);
        }
    }
}

#[test]
fn forty_columns_have_it_in_parts() {
    let advised = advised();
    let lines = lines_at(&advised, 40);
    assert_ranked(&advised, &lines);
    let heads = lines.iter().filter(|line| line.starts_with("  mechanism")).count();
    assert!(heads > 1, "{lines:#?}");
    // Fewer than 40 are taken as 40.
    assert_eq!(lines_at(&advised, 3), lines);
}

#[test]
fn no_line_is_wider_than_the_terminal_or_ends_in_a_blank() {
    let mut long = advised();
    long.advice.ranking[1].label.push_str(" (emulated by way of another library)");
    for advised in [advised(), long] {
        for width in [40, 41, 60, 80, 83, 84, 90, 120, 200] {
            for line in lines_at(&advised, width) {
                assert!(line.chars().count() <= width, "{width} columns: {line:?}");
                assert_eq!(line, line.trim_end(), "{width} columns");
            }
            assert_ranked(&advised, &lines_at(&advised, width));
        }
    }
}

#[test]
fn programs_get_the_same_under_a_schema() {
    let advised = advised();
    let value = json(&advised);
    assert_eq!(value["schema"], 1);
    assert_eq!((&value["run"], &value["source"]), (&json!(9), &json!("recorded")));
    let ranking = value["advice"]["ranking"].as_array().expect("a ranking");
    assert_eq!(ranking.len(), advised.advice.ranking.len());
}

#[test]
fn a_substitution_is_in_the_text() {
    let substitution = Substitution {
        parameter: "spread".to_owned(),
        wanted: "random".to_owned(),
        used: "tail".to_owned(),
        because: "a process may have 1024 descriptors".to_owned(),
    };
    let advised = SourcedAdvice { substitution: Some(substitution), ..advised() };
    let lines = lines_at(&advised, 120);
    let wanted =
        "Measured with spread tail instead of random: a process may have 1024 descriptors.";
    assert!(lines.iter().any(|line| line == wanted), "{lines:#?}");
    assert_eq!(json(&advised)["substitution"]["used"], "tail");
}

#[test]
fn a_process_gets_a_verdict() {
    let mut advice = advised().advice;
    advice.spot = Spot { total: 2_023.0, active: 18.2 };
    let cheapest = advice.ranking[0].subject.clone();
    let gain = advice.gain(&cheapest, 1_000.0).expect("it was measured");
    assert_eq!(
        process_verdict("nginx", "epoll (edge-triggered)", &advice, Some(&gain)),
        "nginx waits by epoll (edge-triggered): right for 0.9 % active of 2,023; nothing to gain."
    );
    assert_eq!(
        process_verdict("nginx", "epoll (oneshot)", &advice, None),
        "nginx waits by epoll (oneshot), which was not measured for 0.9 % active of 2,023."
    );
    let cost_ns = |value| Estimate { value, low: value - 30.0, high: value + 40.0 };
    advice.ranking.truncate(2);
    for (row, value, times) in [(0, 500.0, 1.0), (1, 2_500.0, 5.0)] {
        let row = &mut advice.ranking[row];
        (row.cost_ns, row.times, row.clearly_behind) = (cost_ns(value), times, times > 1.0);
    }
    (advice.ranking[0].label, advice.ranking[1].label) = ("epoll-level".into(), "poll".into());
    let in_use = advice.ranking[1].subject.clone();
    let text = |events_per_s, wanted| {
        let gain = advice.gain(&in_use, events_per_s).expect("it was measured");
        assert_eq!(gain.verdict, wanted);
        process_verdict("python3", "poll", &advice, Some(&gain))
    };
    assert_eq!(
        text(80_000.0, GainVerdict::Worth),
        "python3 waits by poll, which costs ×5.00 as much as epoll-level for 0.9 % active of 2,023. At its \
         80,000 events/s epoll-level would save 16 % of a CPU (95 % CI 16 % to 16 %)."
    );
    assert!(
        text(400.0, GainVerdict::Negligible).ends_with(
            "At its 400 events/s that is 0.08 % of a CPU (95 % CI 0.078 % to 0.082 %): nothing worth a change."
        ),
        "{}",
        text(400.0, GainVerdict::Negligible)
    );
}
