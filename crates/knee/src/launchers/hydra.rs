//! hydra, which starts the programs of MPICH, MVAPICH and Intel MPI: `mpiexec -n 8 knee run …`.
//!
//! No variable names the job. The ranks of one start have a common space of keys, whose name each asks of the proxy that
//! started it (PMI-1 over the inherited descriptor `PMI_FD`): the proxy answers by itself, and nobody waits for another rank.
//! It answers one program of each rank. For the programs that a script starts afterwards, the port that all proxies of a start
//! report to stands in its command line.

use super::{Environment, Launcher, Position};
use std::fs::read_to_string;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

pub(super) const LAUNCHER: Launcher = Launcher {
    name: "hydra",
    command: "mpiexec",
    variables: &["PMI_RANK", "PMI_SIZE", "PMI_FD", "HYDI_CONTROL_FD", "MPI_LOCALNRANKS"],
    position,
};

/// The proxy is a process of this machine, and answers at once.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(5);
/// From a process up to the proxy that started it: shells, and what sets up namespaces.
const GENERATIONS_MAX: usize = 32;
/// The longest line of PMI-1.
const LINE_BYTES_MAX: usize = 1024;

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
    let asked = fd.and_then(|fd| i32::try_from(fd).ok()).and_then(job);
    let job = asked.or_else(|| {
        fd?;
        control_port(Path::new("/proc"), std::process::id())
    });
    Ok(Some(Position { rank, size, job, host: None }))
}

/// The name of the job's space of keys. It can be asked for once.
fn job(fd: i32) -> Option<String> {
    static NAME: OnceLock<Option<String>> = OnceLock::new();
    let ask = || {
        let proxy = UnixStream::from(sys::plain::inherited(fd).ok()?);
        proxy.set_read_timeout(Some(ANSWER_WAIT_MAX)).ok()?;
        space_name(&proxy)
    };
    NAME.get_or_init(ask).clone()
}

/// Says hello to the proxy, asks for the name of the space of keys, and says goodbye: without that, hydra takes the end of
/// this process for that of a broken program.
fn space_name(proxy: &UnixStream) -> Option<String> {
    let hello = asked(proxy, "cmd=init pmi_version=1 pmi_subversion=1\n")?;
    if value(&hello, "rc") != Some("0") {
        return None;
    }
    let answer = asked(proxy, "cmd=get_my_kvsname\n");
    let _ = asked(proxy, "cmd=finalize\n");
    let answer = answer?;
    let name = value(&answer, "kvsname")?;
    Some(name.strip_prefix("kvs_").unwrap_or(name).to_owned())
}

/// Where the proxy above the process `pid` reports to: `amber:36881`, the same for all proxies of a start.
fn control_port(proc: &Path, mut pid: u32) -> Option<String> {
    for _ in 0..GENERATIONS_MAX {
        let directory = proc.join(pid.to_string());
        let command = read_to_string(directory.join("cmdline")).ok()?;
        let mut words = command.split('\0');
        let is_proxy = words.next().is_some_and(|program| program.contains("pmi_proxy"));
        if is_proxy && words.any(|word| word == "--control-port") {
            return words.next().filter(|port| !port.is_empty()).map(str::to_owned);
        }
        let stat = read_to_string(directory.join("stat")).ok()?;
        pid = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
    }
    None
}

/// The answer to a command: one line.
fn asked(mut proxy: &UnixStream, command: &str) -> Option<String> {
    proxy.write_all(command.as_bytes()).ok()?;
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.len() < LINE_BYTES_MAX {
        proxy.read_exact(&mut byte).ok()?;
        if byte[0] == b'\n' {
            return String::from_utf8(line).ok();
        }
        line.push(byte[0]);
    }
    None
}

/// The value of a key in `cmd=my_kvsname kvsname=kvs_811_0`.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    /// Answers as hydra's proxy does, and returns what it was asked.
    fn proxy(
        end: UnixStream,
        answers: &'static [&'static str],
    ) -> std::thread::JoinHandle<Vec<String>> {
        std::thread::spawn(move || {
            let mut asked = Vec::new();
            let mut lines = BufReader::new(end.try_clone().unwrap()).lines();
            for answer in answers {
                asked.push(lines.next().unwrap().unwrap());
                (&end).write_all(answer.as_bytes()).unwrap();
            }
            asked
        })
    }

    #[test]
    fn the_proxy_names_the_job() {
        let (here, there) = UnixStream::pair().unwrap();
        let answers = &[
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
            "cmd=my_kvsname kvsname=kvs_811_0_1804_amber\n",
            "cmd=finalize_ack\n",
        ];
        let proxy = proxy(there, answers);
        assert_eq!(space_name(&here).as_deref(), Some("811_0_1804_amber"));
        assert_eq!(proxy.join().unwrap()[2], "cmd=finalize");
    }

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
            std::fs::write(directory.join("stat"), format!("{pid} (a) b) S {parent} 7 7")).unwrap();
        }
        assert_eq!(control_port(proc.path(), 40).as_deref(), Some("amber:36881"));
        assert_eq!(control_port(proc.path(), 10), None);
    }

    #[test]
    fn a_proxy_that_speaks_otherwise_names_nothing() {
        let (here, there) = UnixStream::pair().unwrap();
        let refused = proxy(there, &["cmd=response_to_init rc=-1\n"]);
        assert_eq!(space_name(&here), None);
        refused.join().unwrap();
        let (here, there) = UnixStream::pair().unwrap();
        drop(there);
        assert_eq!(space_name(&here), None);
    }
}
