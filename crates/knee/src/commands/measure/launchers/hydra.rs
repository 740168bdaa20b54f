//! hydra, which starts the programs of MPICH, MVAPICH and Intel MPI: `mpiexec -n 8 knee run …`.
//!
//! No variable names the job. The ranks of one start have a common space of keys, whose name each asks of the proxy that
//! started it (PMI-1 over the inherited descriptor `PMI_FD`): the proxy answers by itself, and no rank waits for another.
//! It answers one program of each rank. For the programs that a script starts afterwards, the port that all proxies of a start
//! report to stands in its command line.

use super::{Environment, Launcher, Position, pmi};
use std::fs::read_to_string;
use std::path::Path;

pub(super) const LAUNCHER: Launcher = Launcher { name: "hydra", command: "mpiexec", position };

/// From a process up to the proxy that started it: shells, and what sets up namespaces.
const GENERATIONS_MAX: usize = 32;

fn position(environment: &Environment<'_>) -> Result<Option<Position>, String> {
    // Slurm sets the first two as well.
    let is_hydra =
        ["HYDI_CONTROL_FD", "MPI_LOCALNRANKS"].iter().any(|name| environment.text(name).is_some());
    let Some(rank) = environment.number("PMI_RANK")?.filter(|_| is_hydra) else {
        return Ok(None);
    };
    let size = super::ranks(environment, "PMI_SIZE")?;
    // One process is no fleet: it needs no name.
    let fd = environment.number("PMI_FD")?.filter(|_| size != Some(1));
    let asked = fd.and_then(|fd| i32::try_from(fd).ok()).and_then(pmi::space_name);
    let job = asked.or_else(|| {
        fd?;
        control_port(Path::new("/proc"), std::process::id())
    });
    Ok(Some(Position { rank, size, job, host: None }))
}

/// Where the proxy above the process `pid` reports to: `amber:36881`, the same for all proxies of a start.
fn control_port(proc: &Path, pid: u32) -> Option<String> {
    sys::proc::ancestors(proc, pid).take(GENERATIONS_MAX).find_map(|pid| {
        let command = read_to_string(proc.join(format!("{pid}/cmdline"))).ok()?;
        let mut words = command.split('\0');
        let is_proxy = words.next().is_some_and(|program| program.contains("pmi_proxy"));
        let has_port = is_proxy && words.any(|word| word == "--control-port");
        words.next().filter(|port| has_port && !port.is_empty()).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_the_proxy_above_names_the_job() {
        let proc = tempfile::tempdir().unwrap();
        let processes = [
            (40, 30, "knee\0run\0--control-port\0"),
            (30, 20, "sh\0-c\0knee run\0"),
            (20, 10, "/usr/bin/hydra_pmi_proxy\0--control-port\0amber:36881\0--rmk\0user\0"),
            (10, 1, "mpiexec.hydra\0-n\x002\0"),
            (1, 0, "init\0"),
        ];
        for (pid, parent, command) in processes {
            let directory = proc.path().join(pid.to_string());
            std::fs::create_dir(&directory).unwrap();
            std::fs::write(directory.join("cmdline"), command).unwrap();
            let stat = format!("{pid} (a) b) S {parent} 7 7 0 -1 0 1 2 3 4 5 6 0 0 20 0 1");
            std::fs::write(directory.join("stat"), stat).unwrap();
        }
        assert_eq!(control_port(proc.path(), 40).as_deref(), Some("amber:36881"));
        assert_eq!(control_port(proc.path(), 10), None);
    }
}
