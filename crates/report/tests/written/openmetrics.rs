//! The `OpenMetrics` export, read by a small strict reader that was written from the specification
//! (version 1.0, the text format) and not from the writer.

use crate::fixture::trajectory::{self, Size};
use crate::fixture::{build, locks, pipetest, realistic, small};
use model::Run;
use report::export::{Material, find};
use std::collections::{BTreeMap, BTreeSet};

/// A family of metrics, as the text declares it.
#[derive(Default)]
struct Family {
    kind: String,
    unit: Option<String>,
    help: Option<String>,
    samples: Vec<Sample>,
}

struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

fn is_name(text: &str, colons: bool) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || (colons && c == ':');
    text.starts_with(first) && text.chars().all(|c| first(c) || c.is_ascii_digit())
}

/// Text of which only a backslash, a quote and a line feed are escaped.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            ('"', _) => panic!("a quote that is not escaped: {text}"),
            (_, true) => out.push(match letters.next() {
                Some('n') => '\n',
                Some(escaped @ ('\\' | '"')) => escaped,
                kind => panic!("an unknown escape {kind:?}: {text}"),
            }),
            (plain, false) => out.push(plain),
        }
    }
    out
}

/// `{a="b",c="d"}` and what follows it.
fn labels(text: &str) -> (BTreeMap<String, String>, &str) {
    let mut labels = BTreeMap::new();
    let mut rest = text.strip_prefix('{').expect("a brace");
    loop {
        let (name, after) = rest.split_once("=\"").expect("a name and a quote");
        assert!(is_name(name, false) && !name.starts_with("__"), "{name}");
        let mut escaped = false;
        let end = after.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let (value, after) = after.split_at(end.expect("the end of the value"));
        assert!(labels.insert(name.to_owned(), unescaped(value)).is_none(), "twice: {name}");
        match after[1..].strip_prefix(',') {
            Some(more) => rest = more,
            None => return (labels, after[1..].strip_prefix('}').expect("a brace")),
        }
    }
}

fn sample(line: &str) -> Sample {
    let (name, rest) = line.split_at(line.find('{').expect("labels"));
    let (labels, rest) = labels(rest);
    let value = rest.strip_prefix(' ').expect("one blank").parse().expect("a number");
    Sample { name: name.to_owned(), labels, value }
}

/// The families in order, or a panic that says what the specification forbids.
fn read(text: &str) -> Vec<(String, Family)> {
    let body = text.strip_suffix("# EOF\n").expect("the end is marked");
    let mut families: Vec<(String, Family)> = Vec::new();
    let mut seen = BTreeSet::new();
    for line in body.lines() {
        if let Some(rest) = line.strip_prefix("# ") {
            let mut words = rest.splitn(3, ' ');
            let (word, name, text) =
                (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            assert!(is_name(name, true), "{name}");
            if families.last().is_none_or(|(last, _)| last != name) {
                assert!(seen.insert(name.to_owned()), "{name} stands in two places");
                families.push((name.to_owned(), Family::default()));
            }
            let family = &mut families.last_mut().unwrap().1;
            assert!(family.samples.is_empty(), "{name}: described after its samples");
            match word {
                "TYPE" => text.clone_into(&mut family.kind),
                "UNIT" => assert!(family.unit.replace(text.to_owned()).is_none()),
                "HELP" => assert!(family.help.replace(unescaped(text)).is_none()),
                kind => panic!("{kind} is no word of the specification"),
            }
        } else {
            let sample = sample(line);
            let (name, family) = families.last_mut().expect("a family is declared first");
            assert!(sample.name.starts_with(name.as_str()), "{line} is in {name}");
            family.samples.push(sample);
        }
    }
    for (name, family) in &families {
        check(name, family);
    }
    families
}

/// What the specification wants of a family.
fn check(name: &str, family: &Family) {
    assert!(family.help.as_ref().is_some_and(|help| !help.is_empty()), "{name}");
    if let Some(unit) = &family.unit {
        assert!(name.ends_with(&format!("_{unit}")), "{name} in {unit}");
    }
    let mut all = BTreeSet::new();
    let mut points: Vec<BTreeMap<String, String>> = Vec::new();
    for sample in &family.samples {
        assert!(all.insert((&sample.name, &sample.labels)), "{name}: {:?} twice", sample.labels);
        let mut point = sample.labels.clone();
        let quantile = point.remove("quantile");
        match (family.kind.as_str(), sample.name.strip_prefix(name)) {
            ("gauge", Some("")) => assert!(quantile.is_none() && sample.value.is_finite()),
            ("summary", Some("_count")) => {
                assert!(quantile.is_none() && sample.value >= 0.0 && sample.value.fract() == 0.0);
            }
            ("summary", Some("")) => {
                let quantile = quantile.expect("a summary's quantile");
                assert!(quantile.contains('.'), "{quantile} is not canonical");
                assert!((0.0..=1.0).contains(&quantile.parse::<f64>().unwrap()));
                assert!(sample.value >= 0.0, "{name}: {}", sample.value);
            }
            (kind, rest) => panic!("{name}: a {kind} has no {rest:?}"),
        }
        if points.last() != Some(&point) {
            assert!(!points.contains(&point), "{name}: {point:?} stands in two places");
            points.push(point);
        }
    }
}

fn written(run: &Run) -> String {
    let mut bytes = Vec::new();
    let format = find("openmetrics").expect("the format");
    (format.write)(&Material::new(run, None), &mut bytes).expect("written");
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn the_text_is_what_the_specification_says() {
    for (run, _) in [realistic(3), trajectory::before(Size::SMALL), pipetest::pipetest(2)] {
        assert!(read(&written(&run)).len() >= 3);
    }
}

#[test]
fn percentages_are_ratios_degrees_have_no_unit_and_single_operations_a_summary() {
    let (run, conclusions) = locks::locks(3);
    let families = read(&written(&run));
    let family = |name: &str| {
        let sample = families.iter().find(|(escaped, _)| escaped == name);
        &sample.unwrap_or_else(|| panic!("{name} is not there")).1
    };
    assert_eq!(family("knee_lock_fairness").unit, None);
    let single = family("knee_lock_waiting_single_seconds");
    let table =
        conclusions.analysis.tables.iter().find(|table| table.metric.name == "waiting").unwrap();
    let has_label = table
        .distributions
        .iter()
        .find(|has_label| has_label.subject == "mcs" && has_label.point == 8)
        .unwrap();
    let is_it = |sample: &&Sample| {
        sample.labels["subject"] == "mcs"
            && sample.labels["point"] == "8"
            && sample.labels.get("quantile").is_some_and(|has_label| has_label == "0.999")
    };
    let sample = single.samples.iter().find(is_it).expect("a quantile");
    assert!((sample.value * 1e9 / has_label.p99_9 - 1.0).abs() < 1e-12, "{}", sample.value);
    // What was not measured at a point has no figure there, and a control none at all.
    let rates = family("knee_lock_acquisitions_acquisitions_per_second");
    let has = |subject: &str, point: &str| {
        let at = |has_label: &Sample| {
            has_label.labels["subject"] == subject && has_label.labels["point"] == point
        };
        rates.samples.iter().any(at)
    };
    assert!(has("ticket", "16") && !has("ticket", "32") && !has("broken", "32"));

    let (run, conclusions) = build::build(&[1, 2]);
    let families = read(&written(&run));
    let (_, means) =
        families.iter().find(|(name, _)| name == "knee_build_percent_cpu_mean_ratio").unwrap();
    assert_eq!((means.kind.as_str(), means.unit.as_deref()), ("gauge", Some("ratio")));
    let mean = conclusions.analysis.averages[0].rows[3].figures[0].as_ref().unwrap().mean;
    assert!((means.samples[0].value * 100.0 / mean - 1.0).abs() < 1e-12);
    // Three loads on one and on two CPUs, of which one never ended.
    assert_eq!(means.samples.len(), 5);
}

#[test]
fn figures_are_seconds_and_those_of_the_tables() {
    let (run, conclusions) = realistic(3);
    let families = read(&written(&run));
    let (_, family) = families.iter().find(|(name, _)| name == "knee_poll_loop_seconds").unwrap();
    assert_eq!((family.kind.as_str(), family.unit.as_deref()), ("summary", Some("seconds")));
    let table = &conclusions.analysis.tables[0];
    let row = table.rows.iter().find(|row| row.subject == "epoll-level").unwrap();
    let at = row.cells[2].as_ref().unwrap();
    let has_label = |name: &str, value: &str, sample: &Sample| {
        sample.labels.get(name).is_some_and(|sample| sample == value)
    };
    let median = family.samples.iter().find(|sample| {
        has_label("subject", "epoll-level", sample)
            && has_label("point", "100", sample)
            && has_label("quantile", "0.5", sample)
            && table.parameters.iter().all(|(name, value)| has_label(name, &value.text(), sample))
    });
    let median = median.expect("a median");
    assert!((median.value * 1e9 / at.median.value - 1.0).abs() < 1e-12, "{}", median.value);
    assert!(has_label("run", &run.summary.id, median) && has_label("workload", "poll", median));
}

#[test]
fn rates_have_units_of_their_own() {
    let families = read(&written(&pipetest::pipetest(2).0));
    let rate = families.iter().find(|(name, _)| name.ends_with("_tokens_per_second"));
    assert_eq!(rate.unwrap().1.unit.as_deref(), Some("tokens_per_second"));
}

#[test]
fn labels_keep_what_was_typed_and_names_what_is_allowed() {
    let awkward = "a\"b\\c\nd {e}=\"f\",# EOF";
    let mut run = small();
    let old = run.plan.workloads[0].subjects[3].name.clone();
    run.plan.workloads[0].subjects[3].name = awkward.to_owned();
    run.plan.workloads[0].axis = awkward.to_owned();
    let keys = run.plan.cells.iter_mut().chain(run.cells.iter_mut().map(|cell| &mut cell.key));
    for key in keys {
        if key.subject == old {
            key.subject = awkward.to_owned();
        }
        for name in ["run", "2nd-try", "__x", "quantile", "µ"] {
            key.parameters.insert(name.to_owned(), awkward.into());
        }
    }
    let families = read(&written(&run));
    let (_, family) = families.iter().find(|(name, _)| name == "knee_poll_loop_seconds").unwrap();
    let sample = family.samples.iter().find(|sample| sample.labels["subject"] == awkward).unwrap();
    for name in ["parameter_run", "n2nd_try", "x", "parameter_quantile", "unnamed"] {
        assert_eq!(sample.labels[name], awkward, "{name}");
    }
}

#[test]
fn what_took_less_than_nothing_is_no_negative_quantile() {
    let mut run = small();
    for cell in &mut run.cells {
        for sample in cell.metrics.iter_mut().flat_map(|metric| &mut metric.samples) {
            *sample = -1.5;
        }
    }
    assert!(read(&written(&run)).len() > 3);
}

#[test]
fn cells_of_the_run_are_counted_by_state() {
    let (run, _) = realistic(3);
    let families = read(&written(&run));
    let (_, cells) = families.iter().find(|(name, _)| name == "knee_run_cells").unwrap();
    let failed = run.cells.iter().filter(|cell| cell.metrics.is_empty()).count();
    let sample = cells.samples.iter().find(|sample| sample.labels["state"] == "failed").unwrap();
    assert!(failed > 0 && (sample.value - failed as f64).abs() < 0.5);
}
