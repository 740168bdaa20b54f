//! What was not the same any more from one run to another.

use super::Measured;
use super::measured::{OWN, WORKERS};
use crate::compare::Difference;
use record::RunSummary;
use std::collections::{BTreeMap, BTreeSet};

/// Facts of a machine that bear on figures, and what they are called; the weightiest first. A key that ends
/// in a dot stands for all that begin so.
const FACTS: &[(&str, &str)] = &[
    ("kernel.release", "kernel"),
    ("kernel.version", "kernel build"),
    ("cpu.governor", "governor"),
    ("cpu.driver", "frequency driver"),
    ("cpu.turbo.", "turbo"),
    ("cpu.smt", "SMT"),
    ("cpu.microcode", "microcode"),
    ("vulnerability.", "mitigation"),
    ("memory.thp", "huge pages"),
    ("hypervisor.", "hypervisor"),
    ("sysctl.", ""),
];

/// The differences: labels, kernel, knee and what else bears on figures; only
/// the `label` where one is asked for.
pub(super) fn differences(
    before: &Measured,
    after: &Measured,
    label: Option<&str>,
) -> Vec<Difference> {
    let (old, new) = (&before.summary, &after.summary);
    let mut all = Vec::new();
    for key in keys(&old.labels, &new.labels) {
        if label.is_none_or(|label| label == key) {
            all.extend(difference(key, label_value(old, key), label_value(new, key)));
        }
    }
    if label.is_some() {
        return all;
    }
    all.extend(facts(&before.machine, &after.machine));
    all.extend(difference("knee", Some(&old.version), Some(&new.version)));
    for key in keys(&before.setting, &after.setting) {
        let known =
            |run: &Measured| run.setting.get(key).filter(|value| !value.is_empty()).cloned();
        all.extend(difference(key, known(before).as_ref(), known(after).as_ref()));
    }
    all
}

/// A label; none where it only says that workers were as they are anyway.
fn label_value<'a>(run: &'a RunSummary, key: &str) -> Option<&'a String> {
    run.labels.get(key).filter(|value| key != WORKERS || value.as_str() != OWN)
}

fn facts(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<Difference> {
    let mut all = Vec::new();
    for (known, name) in FACTS {
        // The kernel's build says nothing new where its release differs.
        if *known == "kernel.version" && !all.is_empty() {
            continue;
        }
        let group = known.ends_with('.');
        for key in keys(before, after) {
            // What one of them does not hold is not known to differ.
            let (Some(old), Some(new)) = (before.get(key), after.get(key)) else { continue };
            if group && key.starts_with(known) {
                let name = format!("{name} {}", key.strip_prefix(known).unwrap_or(key));
                all.extend(difference(name.trim(), Some(old), Some(new)));
            } else if key == *known {
                all.extend(difference(name, Some(old), Some(new)));
            }
        }
    }
    all
}

fn keys<'a>(
    before: &'a BTreeMap<String, String>,
    after: &'a BTreeMap<String, String>,
) -> BTreeSet<&'a str> {
    before.keys().chain(after.keys()).map(String::as_str).collect()
}

fn difference(name: &str, before: Option<&String>, after: Option<&String>) -> Option<Difference> {
    let differs = before != after;
    differs.then(|| Difference {
        what: name.to_owned(),
        base: before.cloned(),
        new: after.cloned(),
    })
}
