//! The runs of a fleet, from the record: one of each rank, and what is missing of them.

use crate::commands::keep::record_file::RecordFile;
use crate::commands::measure::launchers::is_recurring_id;
use crate::commands::{concluded_runs, loaded, opened};
use crate::exit::Trouble;
use ::report::matrix::{FleetHead, Matrix};
use analysis::compare::{Fleet, Terms, compare_fleet};
use clap::Args;
use findings::Conclusions;
use findings::format::{count, list};
use jiff::{SignedDuration, Timestamp};
use model::{HOST_NAME, Outcome, Run, RunState, RunSummary};

#[derive(Args, Clone, Debug, Default)]
pub struct FleetFlag {
    /// The machines of a fleet with the median machine, the unlike ones named: `last`, or an id
    #[arg(long, value_name = "FLEET", num_args = 0..=1, default_missing_value = "last")]
    pub fleet: Option<String>,
}

/// The machines of a fleet: the median machine first.
pub struct Machines {
    pub runs: Vec<(Run, Conclusions)>,
    pub fleet: Fleet,
    pub head: FleetHead,
    /// How many more ranks there are, as far as a launcher or a flag counts them.
    pub ranks_missing: usize,
}

impl Machines {
    pub fn matrix(&self) -> Matrix<'_> {
        Matrix::fleet(&self.runs, &self.fleet.several, &self.head)
    }
}

/// Reads and compares the runs of the fleet that `name` means; `narrow` leaves what is wanted of them.
pub fn machines(
    name: &str,
    record_file: &RecordFile,
    terms: &Terms,
    narrow: impl FnOnce(&mut Vec<Run>) -> Result<(), Trouble>,
) -> Result<Machines, Trouble> {
    let archive = opened(record_file)?;
    let summaries = archive.runs()?;
    let id = fleet_id(&summaries, name)?;
    let (members, mut missing) = members(&summaries, &id);
    let loaded = members.iter().filter_map(|summary| loaded(&*archive, summary.number));
    let mut runs: Vec<Run> = loaded.collect();
    narrow(&mut runs)?;
    let names = names(&runs);
    missing.extend(runs.iter().zip(&names).filter_map(|(run, name)| failed(run, name)));
    let has_figures = |run: &Run| run.cells.iter().any(|cell| cell.outcome == Outcome::Measured);
    let (runs, names): (Vec<Run>, Vec<String>) =
        runs.into_iter().zip(names).filter(|(run, _)| has_figures(run)).unzip();
    let fleet = compare_fleet(&runs.iter().collect::<Vec<_>>(), terms).ok_or_else(|| {
        let number = runs.len();
        let lacks = missing.iter().flat_map(|line| ["; ", line]).collect::<String>();
        let lacks = lacks.trim_end_matches('.');
        Trouble::not_possible(format!(
            "{id}: runs with figures here: {number}; it takes two{lacks}"
        ))
    })?;
    let size = members.iter().filter_map(|run| run.fleet.as_ref()?.size).max();
    let ranks = size.map_or(members.len(), |size| size as usize);
    let ranks_missing = ranks.saturating_sub(runs.len());
    let machines = match size {
        Some(size) if size as usize != runs.len() => {
            format!("{} machines of {}", runs.len(), count(u64::from(size)))
        }
        _ => format!("{} machines", runs.len()),
    };
    let head = FleetHead::new(format!("{id} · {machines}"), &fleet, &names, missing);
    let all = [fleet.median.clone()].into_iter().chain(runs);
    Ok(Machines { runs: concluded_runs(all), fleet, head, ranks_missing })
}

/// The id of the fleet that is meant: `last`, an id, or the beginning of one.
fn fleet_id(runs: &[RunSummary], name: &str) -> Result<String, Trouble> {
    let mut ids: Vec<&str> = Vec::new();
    for member in runs.iter().rev().filter_map(|run| run.fleet.as_ref()) {
        if !ids.contains(&member.id.as_str()) {
            ids.push(&member.id);
        }
    }
    let Some(newest) = ids.first() else {
        let what = "no run here is of a fleet; `srun -N 8 knee run …` measures one, or --fleet NAME (docs/fleet.md)";
        return Err(Trouble::not_possible(what));
    };
    if name.eq_ignore_ascii_case("last") {
        return Ok((*newest).to_owned());
    }
    if let Some(id) = ids.iter().find(|id| **id == name) {
        return Ok((*id).to_owned());
    }
    let matches: Vec<&&str> = ids.iter().filter(|id| id.starts_with(name)).collect();
    match matches[..] {
        [id] => Ok((*id).to_owned()),
        [] => {
            let name = printable::one_line(name);
            Err(Trouble::usage(format!(
                "--fleet {name}: no fleet is called so; there is {}",
                list(ids.iter().take(5))
            )))
        }
        _ => Err(Trouble::usage(format!("--fleet {name} could be {}", list(matches)))),
    }
}

/// The newest run of each rank in the newest start, by rank; and which ranks have none, or several.
fn members<'a>(runs: &'a [RunSummary], id: &str) -> (Vec<&'a RunSummary>, Vec<String>) {
    let mut newest: Vec<&RunSummary> = Vec::new();
    let mut repeats: Vec<(&RunSummary, &RunSummary)> = Vec::new();
    let has_id = |run: &&RunSummary| run.fleet.as_ref().is_some_and(|member| member.id == id);
    let mut of_fleet: Vec<&RunSummary> = runs.iter().filter(has_id).collect();
    of_fleet.sort_by_key(|run| std::cmp::Reverse((began(run), run.number)));
    for run in of_fleet {
        match newest.iter().find(|newer| is_same_rank(newer, run)) {
            Some(newer) => repeats.push((*newer, run)),
            None => newest.push(run),
        }
    }
    let (mut members, mut earlier) = of_newest_start(&newest, &repeats, is_recurring_id(id));
    members.sort_by_key(|run| (rank(run), run.number));
    earlier.sort_by_key(|run| (rank(run), run.number));
    repeats.retain(|(newer, _)| members.iter().any(|run| run.number == newer.number));
    let sizes = members.iter().filter_map(|run| run.fleet.as_ref()?.size);
    let mut notes = Vec::new();
    notes.extend(absent(sizes.max().unwrap_or(0), members.iter().chain(&earlier).copied()));
    notes.extend(earlier.iter().map(|run| {
        let (name, number) = (name(run), run.number);
        format!("{name} has no run of the newest start: run {number} is of an earlier one, and left out.")
    }));
    let mut repeated: Vec<String> = repeats.iter().map(|(newer, _)| name(newer)).collect();
    repeated.sort();
    repeated.dedup();
    if !repeated.is_empty() {
        let has = if repeated.len() == 1 { "has" } else { "have" };
        notes.push(format!(
            "{} {has} several runs under this id: the newest is shown.",
            list(&repeated)
        ));
    }
    (members, notes)
}

fn rank(run: &RunSummary) -> Option<u32> {
    run.fleet.as_ref()?.rank
}

/// Whether two runs of a fleet are of one rank, or of one host where nothing numbers them.
fn is_same_rank(first: &RunSummary, second: &RunSummary) -> bool {
    rank(first) == rank(second) && (rank(first).is_some() || first.host == second.host)
}

fn name(run: &RunSummary) -> String {
    rank(run).map_or_else(|| run.host.clone(), |rank| format!("rank {rank}"))
}

/// When a run began; the beginning of time where it doesn't say.
fn began(run: &RunSummary) -> Timestamp {
    run.started.parse().unwrap_or(Timestamp::UNIX_EPOCH)
}

/// When a run ended; when it began, where it has not or was cut off.
fn ended(run: &RunSummary) -> Timestamp {
    let ended = run.ended.as_ref().and_then(|ended| ended.parse().ok());
    ended.unwrap_or_else(|| began(run))
}

/// Between two ranks of one start, unless their runs are longer: a pod may wait for its image.
const START_GAP_MAX: SignedDuration = SignedDuration::from_mins(10);

/// The `newest` runs of all ranks, the newest first, as those of the newest start and those of earlier ones. `repeats` are
/// pairs of two runs of one rank, the newer first. The id of one start may be that of another that came long before.
fn of_newest_start<'a>(
    newest: &[&'a RunSummary],
    repeats: &[(&'a RunSummary, &'a RunSummary)],
    is_recurring: bool,
) -> (Vec<&'a RunSummary>, Vec<&'a RunSummary>) {
    let Some(last) = newest.first().map(|run| began(run)) else { return Default::default() };
    // Where ranks ran again, the others did so about then, or are of the start before.
    let again = repeats.iter().map(|(newer, _)| began(newer)).min();
    let before = repeats.iter().map(|(_, older)| began(older)).max();
    let middle = again.zip(before).map(|(again, before)| before + again.duration_since(before) / 2);
    let mut members: Vec<&RunSummary> = Vec::new();
    let (mut first, mut duration_max) = (last, SignedDuration::ZERO);
    newest.iter().copied().partition(|run| {
        let is_near = || first.duration_since(ended(run)) <= duration_max.max(START_GAP_MAX);
        let is_member = began(run) == last
            || ended(run) > last
            || middle.map_or_else(|| !is_recurring || is_near(), |middle| began(run) >= middle);
        if is_member {
            members.push(run);
            first = first.min(began(run));
            duration_max = duration_max.max(ended(run).duration_since(began(run)));
        }
        is_member
    })
}

fn absent<'a>(size: u32, runs: impl Iterator<Item = &'a RunSummary>) -> Option<String> {
    let mut present: Vec<u32> = runs.filter_map(rank).filter(|rank| *rank < size).collect();
    present.push(size);
    present.sort_unstable();
    let (mut ranges, mut next) = (Vec::new(), 0);
    for rank in present {
        match rank.saturating_sub(next) {
            0 => {}
            1 => ranges.push(next.to_string()),
            _ => ranges.push(format!("{next} to {}", rank - 1)),
        }
        next = rank.saturating_add(1);
    }
    match &ranges[..] {
        [] => None,
        [rank] if !rank.contains(' ') => Some(format!("Rank {rank} has no run here.")),
        _ => Some(format!("Ranks {} have no run here.", list(&ranges))),
    }
}

/// What each run is called: by its host where these tell them apart, else by its rank and host.
fn names(runs: &[Run]) -> Vec<String> {
    let host = |run: &Run| run.host_before.fact(HOST_NAME).map(str::to_owned);
    let hosts: Option<Vec<String>> = runs.iter().map(host).collect();
    let is_distinct = |names: &Vec<String>| {
        names.iter().enumerate().all(|(at, name)| !names[..at].contains(name))
    };
    if let Some(hosts) = hosts.filter(is_distinct) {
        return hosts;
    }
    let name = |(at, run): (usize, &Run)| {
        let rank = run.host_before.fleet().and_then(|member| member.rank);
        let rank = rank.map_or_else(|| format!("run {}", at + 1), |rank| format!("rank {rank}"));
        host(run).map_or_else(|| rank.clone(), |host| format!("{rank} on {host}"))
    };
    runs.iter().enumerate().map(name).collect()
}

fn failed(run: &Run, name: &str) -> Option<String> {
    let failed = run
        .cells
        .iter()
        .filter(|cell| cell.outcome != Outcome::Measured && !run.is_control(&cell.key))
        .count();
    let cells = |number: usize| count(number as u64);
    let (ended, planned) = (run.cells.len(), run.plan.cells.len());
    match run.summary.state {
        RunState::Complete if failed == 0 => None,
        RunState::Complete => {
            Some(format!("{name}: {} of {} cells failed.", cells(failed), cells(ended)))
        }
        _ => Some(format!("{name} has not ended: {} of {} cells.", cells(ended), cells(planned))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::model::FleetMember;

    fn run(number: i64, id: &str, rank: Option<u32>, size: Option<u32>) -> RunSummary {
        let mut summary =
            fixtures::run(fixtures::workload("poll")).number(number).complete().summary;
        summary.fleet = Some(FleetMember { id: id.to_owned(), rank, size });
        summary
    }

    #[test]
    fn a_fleet_is_named_by_last_an_id_or_its_beginning() {
        let runs = [run(1, "slurm-7.0", Some(0), None), run(2, "slurm-8.0", Some(0), None)];
        let id = |name: &str| fleet_id(&runs, name).map_err(|trouble| trouble.to_string());
        assert_eq!(id("last").as_deref(), Ok("slurm-8.0"));
        assert_eq!(id("slurm-7").as_deref(), Ok("slurm-7.0"));
        assert!(id("slurm").unwrap_err().contains("could be slurm-8.0 and slurm-7.0"));
        assert!(id("x").unwrap_err().contains("there is slurm-8.0 and slurm-7.0"));
        assert!(fleet_id(&[], "last").unwrap_err().to_string().contains("docs/fleet.md"));
    }

    /// A run that began and ended at these minutes.
    fn at(mut summary: RunSummary, began: i64, ended: i64) -> RunSummary {
        let moment =
            |minute| (Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minute)).to_string();
        summary.started = moment(began);
        summary.ended = Some(moment(ended));
        summary
    }

    fn numbers(runs: &[RunSummary], id: &str) -> (Vec<i64>, Vec<String>) {
        let (members, notes) = members(runs, id);
        (members.iter().map(|run| run.number).collect(), notes)
    }

    #[test]
    fn a_rank_of_an_earlier_start_is_no_member() {
        let ranked = |number, rank, began, ended| {
            at(run(number, "nightly", Some(rank), Some(3)), began, ended)
        };
        // Rank 2 has not run on the second day.
        let day = 24 * 60;
        let mut runs = [ranked(1, 0, 0, 9), ranked(2, 1, 0, 12), ranked(3, 2, 1, 11)].to_vec();
        runs.extend([ranked(4, 0, day, day + 9), ranked(5, 1, day + 1, day + 10)]);
        let (shown, notes) = numbers(&runs, "nightly");
        assert_eq!(shown, [4, 5]);
        assert_eq!(
            notes[0],
            "rank 2 has no run of the newest start: run 3 is of an earlier one, and left out."
        );
        // One after the other in one script: `knee run a; knee run b`.
        let turns = [ranked(1, 0, 0, 9), ranked(2, 1, 0, 12), ranked(3, 0, 9, 20)];
        assert_eq!(numbers(&turns, "nightly").0, [3, 2], "rank 1 has not got there");
        // A pod that failed was started again while the others ran on.
        let again = [ranked(1, 0, 0, 30), ranked(2, 1, 0, 4), ranked(3, 1, 10, 40)];
        assert_eq!(numbers(&again, "nightly").0, [1, 3]);
    }

    #[test]
    fn an_id_that_recurs_is_no_fleet_of_all_its_starts() {
        let shown = |id: &str| {
            let ranked =
                |number, rank, began, ended| at(run(number, id, Some(rank), Some(3)), began, ended);
            // The second start had one rank only, and pods of one start wait for each other.
            numbers(&[ranked(1, 0, 0, 20), ranked(2, 1, 90, 99), ranked(3, 2, 105, 110)], id).0
        };
        assert_eq!(shown("kubernetes-knee"), [2, 3]);
        assert_eq!(shown("open-mpi-1"), [2, 3]);
        assert_eq!(shown("evaluation"), [1, 2, 3], "a name is given on purpose");
        assert_eq!(shown("kubernetesque"), [1, 2, 3]);
    }

    #[test]
    fn any_number_of_ranks_is_listed_without_counting_them() {
        let runs = [run(1, "a", Some(7), Some(2)), run(2, "a", Some(0), Some(u32::MAX))];
        let (shown, notes) = numbers(&runs, "a");
        assert_eq!(shown, [2, 1]);
        assert_eq!(notes, ["Ranks 1 to 6 and 8 to 4294967294 have no run here."]);
    }

    #[test]
    fn missing_and_repeated_ranks_are_named() {
        let ranked = |number, rank| run(number, "a", Some(rank), Some(8));
        let runs =
            [ranked(1, 0), ranked(2, 5), ranked(3, 0), ranked(4, 1), run(5, "b", Some(2), Some(8))];
        let (members, notes) = members(&runs, "a");
        assert_eq!(members.iter().map(|run| run.number).collect::<Vec<_>>(), [3, 4, 2]);
        assert_eq!(
            notes,
            [
                "Ranks 2 to 4 and 6 to 7 have no run here.",
                "rank 0 has several runs under this id: the newest is shown."
            ]
        );
    }
}
