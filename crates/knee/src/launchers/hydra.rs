//! hydra, which starts the programs of MPICH, MVAPICH and Intel MPI: `mpiexec -n 8 knee run …`.
//!
//! No variable names the job. The ranks of one start have a common space of keys, whose name each asks of the proxy that
//! started it (PMI-1 over the inherited descriptor `PMI_FD`): the proxy answers by itself, and nobody waits for another rank.

use super::{Environment, Launcher, Position};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
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
    let job = fd.and_then(|fd| i32::try_from(fd).ok()).and_then(job);
    Ok(Some(Position { rank, size, job, host: None }))
}

/// The name of the job's space of keys: asked for once.
fn job(fd: i32) -> Option<String> {
    static NAME: OnceLock<Option<String>> = OnceLock::new();
    let ask = || {
        let proxy = UnixStream::from(sys::plain::inherited(fd).ok()?);
        proxy.set_read_timeout(Some(ANSWER_WAIT_MAX)).ok()?;
        space_name(&proxy)
    };
    NAME.get_or_init(ask).clone()
}

/// Asks the proxy for the name of the space of keys. There is no hello: whoever said hello has to say goodbye, and the proxy
/// hears nobody of this rank afterwards. So a script may start knee several times, and another MPI program after it.
fn space_name(proxy: &UnixStream) -> Option<String> {
    let answer = asked(proxy, "cmd=get_my_kvsname\n")?;
    let name = value(&answer, "kvsname")?;
    Some(name.strip_prefix("kvs_").unwrap_or(name).to_owned())
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
        const ANSWER: &str = "cmd=my_kvsname kvsname=kvs_811_0_1804_amber\n";
        const ANSWERS: &[&str] = &[ANSWER, ANSWER];
        let proxy = proxy(there, ANSWERS);
        for _ in 0..2 {
            assert_eq!(space_name(&here).as_deref(), Some("811_0_1804_amber"));
        }
        assert_eq!(proxy.join().unwrap(), ["cmd=get_my_kvsname"; 2], "no goodbye");
    }

    #[test]
    fn a_proxy_that_speaks_otherwise_names_nothing() {
        let (here, there) = UnixStream::pair().unwrap();
        let refused = proxy(there, &["cmd=failed rc=-1\n"]);
        assert_eq!(space_name(&here), None);
        refused.join().unwrap();
        let (here, there) = UnixStream::pair().unwrap();
        drop(there);
        assert_eq!(space_name(&here), None);
    }
}
