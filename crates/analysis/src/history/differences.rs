//! What was not the same any more from one run to another.

use super::measured::{Measured, OWN, WORKERS};
use crate::compare::Difference;
use model::{Fact, HOST_FACTS, HostRole, RunSummary, fact_text};
use std::collections::{BTreeMap, BTreeSet};

/// Labels, kernel, knee and what else bears on figures; only the `label` where one is asked for.
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
        let [old, new] =
            [before, after].map(|run| run.setting.get(key).filter(|value| !value.is_empty()));
        all.extend(difference(key, old, new));
    }
    all
}

/// A label; none where it only says that workers were as they are anyway.
fn label_value<'a>(run: &'a RunSummary, key: &str) -> Option<&'a String> {
    run.labels.get(key).filter(|value| key != WORKERS || value.as_str() != OWN)
}

fn facts(before: &BTreeMap<String, Fact>, after: &BTreeMap<String, Fact>) -> Vec<Difference> {
    let mut all = Vec::new();
    for fact in HOST_FACTS.iter().filter(|fact| fact.roles.contains(&HostRole::Cause)) {
        // The kernel's build says nothing new where its release differs.
        if fact.key == "kernel.version" && !all.is_empty() {
            continue;
        }
        for key in keys(before, after).into_iter().filter(|key| fact.covers(key)) {
            // What one of them does not hold is not known to differ.
            let (Some(old), Some(new)) = (before.get(key), after.get(key)) else { continue };
            let name = if fact.key.ends_with('.') {
                format!("{} {}", fact.label, key.strip_prefix(fact.key).unwrap_or(key))
            } else {
                fact.label.to_owned()
            };
            let [old, new] = [old, new].map(|value| fact_text(key, value));
            all.extend(difference(name.trim(), Some(&old), Some(&new)));
        }
    }
    all
}

fn keys<'a, V>(
    before: &'a BTreeMap<String, V>,
    after: &'a BTreeMap<String, V>,
) -> BTreeSet<&'a str> {
    before.keys().chain(after.keys()).map(String::as_str).collect()
}

fn difference(name: &str, before: Option<&String>, after: Option<&String>) -> Option<Difference> {
    let (what, base, new) = (name.to_owned(), before.cloned(), after.cloned());
    (base != new).then_some(Difference { what, base, new })
}
