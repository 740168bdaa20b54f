//! What was not the same any more from one run to another.

use super::measured::{Measured, OWN, WORKERS};
use crate::compare::Difference;
use crate::compare::differences::differing;
use model::{HOST_FACTS, Host, HostRole, fact_text};

/// Labels, kernel, knee and what else bears on figures; only the `label` where one is asked for.
pub(super) fn differences(
    before: &Measured,
    after: &Measured,
    label: Option<&str>,
) -> Vec<Difference> {
    let labels = |run: &Measured| {
        let mut labels = run.summary.labels.clone();
        // That workers were as they are anyway says nothing.
        labels.retain(|key, value| key != WORKERS || value != OWN);
        labels.retain(|key, _| label.is_none_or(|label| label == key));
        labels
    };
    let mut all = differing(&labels(before), &labels(after));
    if label.is_some() {
        return all;
    }
    all.extend(facts(&before.machine, &after.machine));
    let versions = [before, after].map(|run| &run.summary.version);
    all.extend(difference("knee", versions));
    all.extend(differing(&before.setting, &after.setting));
    all
}

fn facts(before: &Host, after: &Host) -> Vec<Difference> {
    let mut all = Vec::new();
    for fact in HOST_FACTS.iter().filter(|fact| fact.roles.contains(&HostRole::Cause)) {
        // The kernel's build says nothing new where its release differs.
        if fact.key == "kernel.version" && !all.is_empty() {
            continue;
        }
        for (key, old) in before.facts.iter().filter(|(key, _)| fact.covers(key)) {
            // What one of them does not hold is not known to differ.
            let Some(new) = after.facts.get(key) else { continue };
            let name = if fact.key.ends_with('.') {
                format!("{} {}", fact.label, key.strip_prefix(fact.key).unwrap_or(key))
            } else {
                fact.label.to_owned()
            };
            let texts = [old, new].map(|value| fact_text(key, value));
            all.extend(difference(name.trim(), texts.each_ref()));
        }
    }
    all
}

fn difference(name: &str, [before, after]: [&String; 2]) -> Option<Difference> {
    let (base, new) = (Some(before.clone()), Some(after.clone()));
    (before != after).then(|| Difference { what: name.to_owned(), base, new })
}
