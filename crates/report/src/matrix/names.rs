//! What runs are called, and which they are.

use super::Matrix;
use crate::html::moment;
use crate::text::metrics;
use analysis::history::across::AcrossValues;
use findings::Conclusions;
use findings::answer::machine;
use model::{HOST_NAME, Run};

impl Matrix<'_> {
    /// Each run in a line: `amber: run 7 (00000000a3f1b2c4), 2026-11-21 14:02 UTC, knee 0.1.0, median of 5 rounds ·
    /// Example CPU, 2 CPUs, Linux 6.18`, the machine where these differ.
    pub(super) fn identities(&self) -> Vec<String> {
        let machines: Vec<_> =
            self.runs().map(|run| (run.host_before.fact(HOST_NAME), machine(run))).collect();
        let differ = machines.iter().any(|machine| machine != &machines[0]);
        let line = |(column, (host, machine)): (&super::Column<'_>, &(Option<&str>, _))| {
            let identity = identity(column.run);
            let named = self.is_pair() || identity.starts_with(&column.name);
            let name = match host {
                Some(host) if self.is_pair() && differ => format!("{host}: "),
                _ if named => String::new(),
                _ => format!("{}: ", column.name),
            };
            let machine: Option<&String> = Option::as_ref(machine).filter(|_| differ);
            let machine = machine.map(|machine| format!(" · {machine}")).unwrap_or_default();
            format!("{name}{identity}, {}{machine}", metrics::rounds(column.run))
        };
        self.run_columns().zip(&machines).map(line).collect()
    }
}

/// The name of a run in a comparison: `run 7 (00000000a3f1b2c4), 2026-11-21 14:02 UTC, knee 0.1.0, commit
/// 3701d31`.
pub(crate) fn identity(run: &Run) -> String {
    let summary = &run.summary;
    let name = match summary.number {
        0 => format!("run {}", summary.id),
        number => format!("run {number} ({})", summary.id),
    };
    let mut parts = vec![name, moment(&summary.started), format!("knee {}", summary.version)];
    parts.extend(summary.labels.iter().map(|(key, value)| format!("{key} {value}")));
    parts.join(", ")
}

/// What each run is called: by its host or by a label of it where these tell the runs apart; else by its number, with
/// the host where these differ; else as `words` have it.
pub(super) fn names(runs: &[(Run, Conclusions)], words: &[String]) -> Vec<String> {
    let runs = || runs.iter().map(|(run, _)| run);
    let host = |run: &Run| run.host_before.fact(HOST_NAME).map(str::to_owned);
    let hosts: Option<Vec<String>> = runs().map(host).collect();
    let differ = runs().zip(runs().skip(1)).any(|(first, second)| host(first) != host(second));
    let numbers = runs().map(|run| {
        let name = match run.summary.number {
            0 => format!("run {}", short_id(run)),
            number => format!("run {number}"),
        };
        let host = host(run).filter(|_| differ);
        host.map_or_else(|| name.clone(), |host| format!("{name} on {host}"))
    });
    let ids = runs().map(|run| format!("run {}", short_id(run)));
    let mut candidates = vec![hosts.unwrap_or_default()];
    let keys = runs().next().into_iter().flat_map(|run| run.summary.labels.keys());
    candidates.extend(
        keys.filter_map(|key| runs().map(|run| run.summary.labels.get(key).cloned()).collect()),
    );
    candidates.extend([numbers.collect(), words.to_vec(), ids.collect()]);
    let is_distinct = |names: &&Vec<String>| {
        names.len() == runs().count()
            && names.iter().enumerate().all(|(at, name)| !names[..at].contains(name))
    };
    let distinct = candidates.iter().find(is_distinct).cloned();
    distinct.unwrap_or_else(|| (1..=runs().count()).map(|at| format!("#{at}")).collect())
}

fn short_id(run: &Run) -> &str {
    run.summary.id.get(..6).unwrap_or(&run.summary.id)
}

/// The values without the end that all of them have: `6.1.0-53` for `6.1.0-53-cloud-amd64`.
pub(super) fn without_end(values: &[String]) -> Vec<String> {
    let Some((first, further)) = values.split_first().filter(|(_, further)| !further.is_empty())
    else {
        return values.to_vec();
    };
    let starts = first.match_indices(['-', '+', ' ']).map(|(at, _)| &first[at..]);
    let mut ends = starts.filter(|end| further.iter().all(|value| value.ends_with(end)));
    let end = ends.next().unwrap_or_default();
    values.iter().map(|value| value.strip_suffix(end).unwrap_or(value).to_owned()).collect()
}

/// What the values are: `3 values of kernel, 5.10.0 to 6.12.90`.
pub(super) fn span(across: &AcrossValues) -> String {
    let (names, key) = (without_end(&across.values), &across.key);
    match names.as_slice() {
        [first, .., last] => format!("{} values of {key}, {first} to {last}", names.len()),
        [only] => format!("1 value of {key}, {only}"),
        [] => format!("no value of {key}"),
    }
}
