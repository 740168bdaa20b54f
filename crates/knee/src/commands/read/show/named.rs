//! What the words of `knee show` name: workloads, and runs.

use crate::commands::keep::record_file::RecordFile;
use crate::exit::Trouble;
use archive::RunRef;
use findings::format::list;
use model::Run;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// Only these are shown; all where none is named.
    pub(super) workloads: Vec<String>,
    /// The runs, the last one where none is named.
    pub(super) runs: Vec<String>,
    pub(super) has_runs: bool,
}

impl Named {
    /// Refuses a part of a single run: whoever reads its JSON, as `knee import` does, takes it for the whole run.
    pub(super) fn refuse_part(&self, file: &RecordFile) -> Result<(), Trouble> {
        let ([run], [workload, ..]) = (&self.runs[..], &self.workloads[..]) else { return Ok(()) };
        let (workload, whole) = (printable::one_line(workload), super::command(run, file.flag()));
        Err(Trouble::usage(format!("--json has all of a run, not {workload} only: {whole} --json")))
    }
}

/// The name of a workload is never a run: `dead` could begin an id. What names no run can be a workload of the user's.
pub(super) fn parse(words: &[String]) -> Result<Named, Trouble> {
    let (mut workloads, mut runs) = (Vec::new(), Vec::new());
    for word in words {
        let is_known = workloads::find(word).is_some();
        let is_name = word.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
        if is_known || (is_name && RunRef::parse(word).is_err()) {
            workloads.push(word.clone());
        } else {
            RunRef::parse(word)?;
            runs.push(word.clone());
        }
    }
    let has_runs = !runs.is_empty();
    if !has_runs {
        runs.push("last".to_owned());
    }
    Ok(Named { workloads, runs, has_runs })
}

/// Leaves of each run the workloads that were named; one of the runs has to have each.
pub(super) fn narrow(runs: &mut [Run], workloads: &[String]) -> Result<(), Trouble> {
    let mut measured: Vec<String> = Vec::new();
    for info in runs.iter().flat_map(|run| &run.plan.workloads) {
        if !measured.contains(&info.name) {
            measured.push(info.name.clone());
        }
    }
    if let Some(missing) = workloads.iter().find(|name| !measured.contains(name)) {
        let what = if runs.len() == 1 { "the run has" } else { "the runs have" };
        return Err(Trouble::usage(format!(
            "{missing}: {what} no such workload, and it names no run; {what} {}",
            list(&measured)
        )));
    }
    if workloads.is_empty() {
        return Ok(());
    }
    for run in runs {
        let is_named = |name: &String| workloads.contains(name);
        run.plan.workloads.retain(|info| is_named(&info.name));
        run.plan.unavailable.retain(|subject| is_named(&subject.workload));
        run.plan.cells.retain(|key| is_named(&key.workload));
        let concerns = |key: &model::CellKey| is_named(&key.workload);
        run.plan
            .changes
            .retain(|change| change.cells.is_empty() || change.cells.iter().any(concerns));
        run.cells.retain(|cell| is_named(&cell.key.workload));
        run.profile.cells.retain(|cell| is_named(&cell.key.workload));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(words: &[&str]) -> (Vec<String>, Vec<String>) {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let Named { workloads, runs, .. } = parse(&words).unwrap();
        (workloads, runs)
    }

    fn all(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn the_name_of_a_workload_is_never_a_run() {
        assert_eq!(named(&["dead", "7"]), (all(&["dead"]), all(&["7"])));
        assert_eq!(named(&["./dead"]), (vec![], all(&["./dead"])), "a file is a file");
        assert_eq!(named(&["deadbeef"]), (vec![], all(&["deadbeef"])));
        assert_eq!(named(&[]), (vec![], all(&["last"])));
        assert_eq!(named(&["a.db", "poll", "b.db:2"]), (all(&["poll"]), all(&["a.db", "b.db:2"])));
        assert_eq!(named(&["my-own"]), (all(&["my-own"]), all(&["last"])));
        assert!(parse(&all(&["the best"])).is_err());
    }
}
