//! The runs of a fleet, from the record: one of each rank, and what is missing of them.

use crate::commands::record_file::RecordFile;
use crate::commands::{archives, nothing_yet, record_location};
use crate::exit::{Trouble, complain};
use ::record::{FleetMember, HOST_NAME, Outcome, Run, RunState, RunSummary};
use ::report::side_by_side::{FleetHead, SideBySide};
use analysis::compare::{Fleet, Terms, compare_fleet};
use clap::Args;
use findings::Conclusions;
use findings::format::{count, list};

#[derive(Args, Clone, Debug, Default)]
pub struct FleetFlag {
    /// The machines of a fleet with the median machine, the unlike ones named: `last`, or an id
    #[arg(long, value_name = "FLEET", num_args = 0..=1, default_missing_value = "last")]
    pub fleet: Option<String>,
}

/// The machines of a fleet: the median machine first.
pub struct Machines {
    /// The runs, with what is concluded from each.
    pub runs: Vec<(Run, Conclusions)>,
    /// How they compare with the median machine.
    pub fleet: Fleet,
    /// What they are called, and what is said of them.
    pub head: FleetHead,
}

impl Machines {
    /// The machines side by side.
    pub fn side(&self) -> SideBySide<'_> {
        let Self { runs, fleet, head } = self;
        SideBySide { runs, several: &fleet.several, words: &[], fleet: Some(head) }
    }
}

/// Reads and compares the runs of the fleet that `name` means; `narrow` leaves what is wanted of them.
pub fn machines(
    name: &str,
    record_file: &RecordFile,
    terms: &Terms,
    narrow: impl FnOnce(&mut Vec<Run>) -> Result<(), Trouble>,
) -> Result<Machines, Trouble> {
    let location = record_location(record_file)?;
    let named = record_file.named().is_some();
    let archive = archives::open_read_only(&location).map_err(|error| nothing_yet(error, named))?;
    let summaries = archive.runs()?;
    let id = fleet_id(&summaries, name)?;
    let (members, mut missing) = members(&summaries, &id);
    let mut runs = Vec::new();
    for summary in &members {
        match archive.load(summary.number) {
            Ok(run) => runs.push(run),
            Err(error) => complain(&format!("knee: run {} is left out: {error}", summary.number)),
        }
    }
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
    let size = members.first().and_then(|run| run.fleet.as_ref()?.size);
    let machines = match size {
        Some(size) if size as usize != runs.len() => {
            format!("{} machines of {}", runs.len(), count(u64::from(size)))
        }
        _ => format!("{} machines", runs.len()),
    };
    let head = FleetHead::new(format!("{id} · {machines}"), &fleet, &names, missing);
    let all = [fleet.median.clone()].into_iter().chain(runs);
    let runs = all.map(|run| {
        let conclusions = findings::conclude(&run);
        (run, conclusions)
    });
    Ok(Machines { runs: runs.collect(), fleet, head })
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
            let newest_ids: Vec<String> = ids.iter().take(5).map(|id| (*id).to_owned()).collect();
            let name = printable::one_line(name);
            Err(Trouble::usage(format!(
                "--fleet {name}: no fleet is called so; there is {}",
                list(&newest_ids)
            )))
        }
        _ => {
            let all: Vec<String> = matches.iter().map(|id| (***id).to_owned()).collect();
            Err(Trouble::usage(format!("--fleet {name} could be {}", list(&all))))
        }
    }
}

/// The newest run of each rank, by rank; and which ranks have none, or several.
fn members<'a>(runs: &'a [RunSummary], id: &str) -> (Vec<&'a RunSummary>, Vec<String>) {
    let member = |run: &'a RunSummary| run.fleet.as_ref().filter(|member| member.id == id);
    let mut newest: Vec<&RunSummary> = Vec::new();
    let mut repeated: Vec<String> = Vec::new();
    for run in runs.iter().rev() {
        let Some(FleetMember { rank, .. }) = member(run) else { continue };
        let is_newer = newest.iter().any(|newer| {
            let newer_rank = member(newer).and_then(|member| member.rank);
            newer_rank == *rank && (rank.is_some() || newer.host == run.host)
        });
        if is_newer {
            let name = rank.map_or_else(|| run.host.clone(), |rank| format!("rank {rank}"));
            if !repeated.contains(&name) {
                repeated.push(name);
            }
        } else {
            newest.push(run);
        }
    }
    newest.sort_by_key(|run| (member(run).and_then(|member| member.rank), run.number));
    let size = newest.first().and_then(|run| member(run)?.size);
    let has = |rank: u32| {
        newest.iter().any(|run| member(run).is_some_and(|member| member.rank == Some(rank)))
    };
    let absent: Vec<u32> = (0..size.unwrap_or(0)).filter(|&rank| !has(rank)).collect();
    let mut notes = Vec::new();
    match absent[..] {
        [] => {}
        [rank] => notes.push(format!("Rank {rank} has no run here.")),
        _ => notes.push(format!("Ranks {} have no run here.", list(&ranges(&absent)))),
    }
    if !repeated.is_empty() {
        let has = if repeated.len() == 1 { "has" } else { "have" };
        notes.push(format!(
            "{} {has} several runs under this id: the newest is shown.",
            list(&repeated)
        ));
    }
    (newest, notes)
}

/// `1 to 4`, `7`.
fn ranges(ranks: &[u32]) -> Vec<String> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &rank in ranks {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == rank => *last = rank,
            _ => ranges.push((rank, rank)),
        }
    }
    let text = |(first, last): (u32, u32)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    };
    ranges.into_iter().map(text).collect()
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

/// What of a run was not measured.
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
