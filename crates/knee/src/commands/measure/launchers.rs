//! What started this process as one of several, on one machine or on many: its rank, their number, the host and the job,
//! from what the launcher sets. One file a launcher, one line in the table.
//!
//! All ranks come to the same id of their fleet without talking to each other: it is made of the launcher's own id of the
//! job.

mod hydra;
mod kubernetes;
mod open_mpi;
mod pmi;
mod slurm;

pub use pmi::Space;
#[cfg(test)]
pub use pmi::tests::spaces;

use crate::exit::Trouble;
use clap::Args;
use model::{FLEET_ID, FLEET_LAUNCHER, FLEET_RANK, FLEET_SIZE, Fact, HOST_NAME, HOST_NAMED_BY};
use std::collections::BTreeMap;
use std::io;

/// Every launcher. One that starts another's processes comes before that other: hydra uses Slurm to start its own.
const TABLE: &[&Launcher] =
    &[&hydra::LAUNCHER, &open_mpi::LAUNCHER, &slurm::LAUNCHER, &kubernetes::LAUNCHER];

struct Launcher {
    /// The beginning of its fleets' ids: `slurm`.
    name: &'static str,
    /// What a user types to start one: `srun`.
    command: &'static str,
    /// Where this process stands; `None` where it was not started by this launcher.
    position: fn(&Environment<'_>) -> Result<Option<Position>, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Position {
    rank: u32,
    /// How many there are; `None` where the launcher does not say.
    size: Option<u32>,
    /// What only the processes of this start have in common; `None` where the launcher does not say.
    job: Option<String>,
    /// What the launcher calls the machine; `None` where that is the host name.
    host: Option<String>,
}

struct Environment<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Environment<'_> {
    /// A variable that is set, and not empty.
    fn text(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    fn number(&self, name: &str) -> Result<Option<u32>, String> {
        let read = |text: String| {
            text.trim().parse().map_err(|_| {
                let text = printable::one_line(&text);
                format!("{name} is `{text}`, which is no number from 0 on")
            })
        };
        self.text(name).map(read).transpose()
    }
}

/// More than any launcher starts.
const RANKS_MAX: u32 = 1 << 20;

/// Whether a launcher starts several fleets of one id: Open MPI numbers its jobs anew, a job of Kubernetes that is created
/// again has its old name, and hydra's ports are used again.
pub fn is_recurring_id(id: &str) -> bool {
    [open_mpi::LAUNCHER.name, kubernetes::LAUNCHER.name, hydra::LAUNCHER.name]
        .iter()
        .any(|name| id.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')))
}

fn ranks(environment: &Environment<'_>, name: &str) -> Result<Option<u32>, String> {
    match environment.number(name)? {
        Some(size) if size == 0 || size > RANKS_MAX => {
            Err(format!("{name} is {size}, which is no number of ranks"))
        }
        size => Ok(size),
    }
}

/// The flags that say what no launcher says, or otherwise.
#[derive(Args, Clone, Debug, Default)]
pub struct FleetFlags {
    /// Fleet of this run: runs that are compared as machines [default: the launcher's job]
    ///
    /// Runs with one name are a fleet: `knee show --fleet NAME`. Slurm, hydra, Open MPI and indexed jobs of Kubernetes
    /// name it themselves (docs/fleet.md).
    #[arg(long, value_name = "NAME", hide_short_help = true, value_parser = fleet_name)]
    pub fleet: Option<String>,
    /// Rank of this run in its fleet, from 0 on [default: the launcher's]
    #[arg(long, value_name = "R", hide_short_help = true, requires = "fleet")]
    pub rank: Option<u32>,
    /// Number of ranks in the fleet [default: the launcher's]
    #[arg(long = "of", value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u32).range(1..=i64::from(RANKS_MAX)))]
    pub ranks: Option<u32>,
}

fn fleet_name(typed: &str) -> Result<String, String> {
    let name = typed.trim();
    let is_name = |c: char| c.is_alphanumeric() || "-_.:+".contains(c);
    let is_good = !name.is_empty() && name.chars().count() <= 64 && name.chars().all(is_name);
    if name.eq_ignore_ascii_case("last") {
        return Err("`last` means the newest fleet; take another name".to_owned());
    }
    is_good.then(|| name.to_owned()).ok_or_else(|| {
        format!("`{typed}` is no name of a fleet: up to 64 letters, digits and any of - _ . : +")
    })
}

/// The facts of this process's place in its fleet; none where it was started alone.
pub fn facts(flags: &FleetFlags) -> Result<BTreeMap<String, Fact>, Trouble> {
    facts_in(flags, &Environment { variable: &own_variable }).map_err(Trouble::usage)
}

/// The facts of a name that was typed for this machine.
pub fn typed_host(name: Option<&String>) -> impl Iterator<Item = (String, Fact)> {
    let facts = |name: &String| {
        let by: Fact = "--host-name".into();
        [(HOST_NAME.to_owned(), name.as_str().into()), (HOST_NAMED_BY.to_owned(), by)]
    };
    name.into_iter().flat_map(facts)
}

fn own_variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

fn facts_in(
    flags: &FleetFlags,
    environment: &Environment<'_>,
) -> Result<BTreeMap<String, Fact>, String> {
    let mut started: Option<(&Launcher, Position)> = None;
    for launcher in TABLE {
        let position = (launcher.position)(environment)
            .map_err(|why| format!("{why}; {} sets it", launcher.command))?;
        if let Some(position) = position {
            started = Some((launcher, position));
            break;
        }
    }
    let position = started.as_ref().map(|(_, position)| position);
    let rank = flags.rank.or(position.map(|position| position.rank));
    let size = flags.ranks.or(position.and_then(|position| position.size));
    if flags.ranks.is_some() && rank.is_none() {
        return Err("--of needs a rank: no launcher started this process, so --rank R does".into());
    }
    let by = || match &started {
        Some((launcher, _)) if flags.rank.is_none() || flags.ranks.is_none() => launcher.command,
        _ => "the command line",
    };
    if let (Some(rank), Some(size)) = (rank, size)
        && rank >= size
    {
        return Err(format!("{} says rank {rank} of {size}; ranks are 0 to {}", by(), size - 1));
    }
    let Some(id) = fleet_id(flags, started.as_ref(), size)? else { return Ok(BTreeMap::new()) };
    let mut facts = BTreeMap::from([(FLEET_ID.to_owned(), id.into())]);
    facts.extend(rank.map(|rank| (FLEET_RANK.to_owned(), u64::from(rank).into())));
    facts.extend(size.map(|size| (FLEET_SIZE.to_owned(), u64::from(size).into())));
    if let Some((launcher, position)) = started {
        facts.insert(FLEET_LAUNCHER.to_owned(), launcher.name.into());
        if let Some(host) = position.host {
            facts.insert(HOST_NAME.to_owned(), host.into());
            facts.insert(HOST_NAMED_BY.to_owned(), launcher.name.into());
        }
    }
    Ok(facts)
}

/// Joins the space of keys of this process's start, as which rank of how many; `None` where its launcher has none. It can be joined once, and before
/// the [`facts`] are asked for.
pub fn space() -> Result<Option<(u32, u32, Space)>, Trouble> {
    let environment = Environment { variable: &own_variable };
    let number = |name| environment.number(name).map_err(Trouble::usage);
    let size = ranks(&environment, "PMI_SIZE").map_err(Trouble::usage)?;
    let (Some(fd), Some(rank), Some(size)) = (number("PMI_FD")?, number("PMI_RANK")?, size) else {
        return Ok(None);
    };
    if rank >= size {
        let what =
            format!("PMI_RANK is {rank} and PMI_SIZE is {size}; ranks are 0 to {}", size - 1);
        return Err(Trouble::usage(what));
    }
    let space = i32::try_from(fd)
        .map_err(io::Error::other)
        .and_then(Space::join)
        .map_err(|error| Trouble::failed(format!("PMI-1 over PMI_FD {fd}: {error}")))?;
    Ok(Some((rank, size, space)))
}

/// The id of the fleet; `None` where this process was started alone.
fn fleet_id(
    flags: &FleetFlags,
    started: Option<&(&Launcher, Position)>,
    size: Option<u32>,
) -> Result<Option<String>, String> {
    if let Some(name) = &flags.fleet {
        return Ok(Some(name.clone()));
    }
    let Some((launcher, position)) = started.filter(|_| size != Some(1)) else { return Ok(None) };
    let Some(job) = &position.job else {
        let Launcher { command, .. } = launcher;
        let rank = position.rank;
        return Err(format!(
            "{command} started this as rank {rank} and does not say of which job: --fleet NAME does, the same on \
             every rank"
        ));
    };
    Ok(Some(format!("{}-{job}", launcher.name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    /// The facts of a process with these variables.
    fn with(
        flags: &FleetFlags,
        variables: &[(&str, &str)],
    ) -> Result<BTreeMap<String, Fact>, String> {
        let variable = |name: &str| {
            let row = variables.iter().find(|(key, _)| *key == name);
            row.map(|(_, value)| (*value).to_owned())
        };
        facts_in(flags, &Environment { variable: &variable })
    }

    fn alone(variables: &[(&str, &str)]) -> Result<BTreeMap<String, Fact>, String> {
        with(&FleetFlags::default(), variables)
    }

    fn facts_of(pairs: &[(&str, Fact)]) -> BTreeMap<String, Fact> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    }

    const SLURM: [(&str, &str); 5] = [
        ("SLURM_JOB_ID", "1234"),
        ("SLURM_STEP_ID", "0"),
        ("SLURM_PROCID", "2"),
        ("SLURM_STEP_NUM_TASKS", "3"),
        ("SLURMD_NODENAME", "node2"),
    ];

    #[test]
    fn slurm_says_all_of_it() {
        let expected = facts_of(&[
            (FLEET_ID, "slurm-1234.0".into()),
            (FLEET_RANK, 2.into()),
            (FLEET_SIZE, 3.into()),
            (FLEET_LAUNCHER, "slurm".into()),
            (HOST_NAME, "node2".into()),
            (HOST_NAMED_BY, "slurm".into()),
        ]);
        assert_eq!(alone(&SLURM).unwrap(), expected);
        let cluster = [&SLURM[..], &[("SLURM_CLUSTER_NAME", "red")]].concat();
        assert_eq!(alone(&cluster).unwrap()[FLEET_ID], "slurm-red-1234.0".into());
    }

    /// A batch script runs once in its allocation, whatever number of tasks that has.
    #[test]
    fn a_batch_script_is_no_fleet() {
        let script =
            [("SLURM_JOB_ID", "7"), ("SLURM_PROCID", "0"), ("SLURM_NTASKS", "3")].as_slice();
        assert_eq!(alone(script), Ok(BTreeMap::new()));
        assert_eq!(alone(&[]), Ok(BTreeMap::new()));
    }

    #[test]
    fn one_process_is_no_fleet_unless_it_has_a_name() {
        let mut single = SLURM;
        single[2].1 = "0";
        single[3].1 = "1";
        assert_eq!(alone(&single), Ok(BTreeMap::new()));
        let named = FleetFlags { fleet: Some("nightly".into()), ..FleetFlags::default() };
        assert_eq!(with(&named, &single).unwrap()[FLEET_ID], "nightly".into());
        assert_eq!(with(&named, &[]).unwrap(), facts_of(&[(FLEET_ID, "nightly".into())]));
    }

    #[test]
    fn open_mpi_and_kubernetes_say_what_they_can() {
        let mpi = [
            ("OMPI_COMM_WORLD_RANK", "1"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("PMIX_NAMESPACE", "prterun-amber-811@1"),
        ];
        let facts = alone(&mpi).unwrap();
        assert_eq!(facts[FLEET_ID], "open-mpi-prterun-amber-811@1".into());
        assert_eq!([&facts[FLEET_RANK], &facts[FLEET_SIZE]], [&1.into(), &4.into()]);
        let pod = [("JOB_COMPLETION_INDEX", "2"), ("HOSTNAME", "knee-2")];
        let facts = alone(&pod).unwrap();
        assert_eq!(facts[FLEET_ID], "kubernetes-knee".into());
        assert_eq!(facts[FLEET_RANK], 2.into());
        assert!(!facts.contains_key(FLEET_SIZE) && !facts.contains_key(HOST_NAME));
        let sized = FleetFlags { ranks: Some(3), ..FleetFlags::default() };
        assert_eq!(with(&sized, &pod).unwrap()[FLEET_SIZE], 3.into());
        let renamed = [("JOB_COMPLETION_INDEX", "2"), ("HOSTNAME", "renamed")];
        assert!(alone(&renamed).unwrap_err().contains("--fleet NAME"));
    }

    /// hydra starts its proxies by Slurm: what is between them is hydra's.
    #[test]
    fn mpiexec_within_slurm_is_hydra() {
        let both = [&SLURM[..], &[("PMI_RANK", "5"), ("PMI_SIZE", "8"), ("MPI_LOCALNRANKS", "4")]];
        let named = FleetFlags { fleet: Some("x".into()), ..FleetFlags::default() };
        let facts = with(&named, &both.concat()).unwrap();
        assert_eq!(
            [FLEET_RANK, FLEET_SIZE, FLEET_LAUNCHER].map(|key| facts[key].clone()),
            [5.into(), 8.into(), "hydra".into()]
        );
        assert!(alone(&both.concat()).unwrap_err().contains("mpiexec"), "PMI_FD is missing");
    }

    #[test]
    fn a_bad_value_is_one_clear_line() {
        let changed = |name: &str, value: &'static str| {
            let set = |&(key, old): &(&'static str, &'static str)| {
                if key == name { (key, value) } else { (key, old) }
            };
            alone(&SLURM.iter().map(set).collect::<Vec<_>>()).unwrap_err()
        };
        assert_eq!(
            changed("SLURM_PROCID", "two"),
            "SLURM_PROCID is `two`, which is no number from 0 on; srun sets it"
        );
        assert_eq!(changed("SLURM_PROCID", "3"), "srun says rank 3 of 3; ranks are 0 to 2");
        assert!(changed("SLURM_STEP_NUM_TASKS", "0").contains("no number of ranks"));
        assert!(changed("SLURM_STEP_NUM_TASKS", "4000000000").contains("no number of ranks"));
        assert!(!changed("SLURM_PROCID", "a\nb").contains('\n'));
        let flags = |rank, ranks| FleetFlags { fleet: Some("x".into()), rank, ranks };
        let refused = with(&flags(Some(4), Some(3)), &[]).unwrap_err();
        assert_eq!(refused, "the command line says rank 4 of 3; ranks are 0 to 2");
        assert!(with(&flags(None, Some(3)), &[]).unwrap_err().contains("--rank"));
    }

    #[test]
    fn names_of_fleets_can_be_typed_again() {
        for good in ["nightly-1124", "slurm-1234.0", "a:b+c_d"] {
            assert_eq!(fleet_name(good).as_deref(), Ok(good));
        }
        for bad in ["", " ", "a b", "a/b", "last", "a,b", &"x".repeat(65)] {
            assert!(fleet_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_document_has_a_row_for_each_launcher() {
        let document = include_str!("../../../../../docs/fleet.md");
        for launcher in TABLE {
            let row =
                document.lines().find(|line| line.starts_with(&format!("| `{}-", launcher.name)));
            let row = row.unwrap_or_else(|| panic!("no row of {}", launcher.name));
            for variable in variables_of(launcher) {
                assert!(row.contains(&format!("`{variable}`")), "{variable}: {row}");
            }
        }
    }

    fn variables_of(launcher: &Launcher) -> BTreeSet<String> {
        let asked = RefCell::new(BTreeSet::new());
        // Some are asked for only where another one is absent.
        for absent in ["", "HYDI_CONTROL_FD", "SLURM_STEP_NUM_TASKS", "PMIX_NAMESPACE"] {
            let variable = |name: &str| {
                asked.borrow_mut().insert(name.to_owned());
                // Nothing answers on a descriptor of the test.
                (![absent, "PMI_FD"].contains(&name)).then(|| "1".to_owned())
            };
            let position = (launcher.position)(&Environment { variable: &variable });
            assert!(position.is_ok(), "{position:?}");
        }
        asked.into_inner()
    }
}
