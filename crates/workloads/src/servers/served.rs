//! What the workloads over servers share: servers as subjects, a file to serve, and who runs where.

use crate::readiness::mechanisms::{OWN_DESCRIPTORS, at_most};
use crate::servers::client::{Client, reset};
use crate::servers::drivers::{self, Counted, Running, Server, Setup};
use crate::shared::cpus::{self, allowed};
use crate::shared::directory;
use crate::shared::shortage;
use engine::{Cell, Failure, Fit, Probe, Scratch, SkipCause, Subject, descriptors_max};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

/// The name of the file that is served.
pub(crate) const FILE: &str = "file.txt";

/// Every server as a subject.
pub(crate) fn subjects() -> Vec<Subject> {
    drivers::all().iter().map(subject).collect()
}

fn subject(server: &Server) -> Subject {
    Subject {
        name: server.name,
        label: server.label,
        summary: server.summary,
        note: server.note.into(),
        available: server.available.clone(),
        control: false,
    }
}

/// The server that a subject is.
pub(crate) fn server(subject: &str) -> Result<Server, Failure> {
    drivers::find(subject).ok_or_else(|| Failure::new(format!("there is no server {subject}")))
}

/// Whether this process and one worker of the server can hold so many connections between them.
pub(crate) fn connections_fit(cell: &Cell, parameter: &'static str) -> Fit {
    let Ok(server) = server(&cell.subject) else { return Fit::Measure };
    let requested = cell.number(parameter).unwrap_or(0);
    fit(&server, parameter, requested, server.capacity().saturating_sub(16) as u64)
}

/// Whether this process and `server`, which holds `max` in all, can hold so many connections.
pub(crate) fn fit(server: &Server, parameter: &'static str, requested: u64, max: u64) -> Fit {
    let here = here();
    if requested <= max.min(here) {
        Fit::Measure
    } else if max < here {
        too_many(server, parameter, requested, max)
    } else {
        at_most(parameter, requested, here)
    }
}

/// Connections that this process can hold.
fn here() -> u64 {
    descriptors_max().saturating_sub(OWN_DESCRIPTORS + 16) as u64
}

/// That `server` holds no more than `max`. One that holds fewer than others do is left out: it is no
/// reason for a point that nobody else has.
pub(crate) fn too_many(server: &Server, parameter: &'static str, requested: u64, max: u64) -> Fit {
    if server.capacity() as u64 > here() / 4 * 3 {
        return at_most(parameter, requested, max);
    }
    // The same for every point: the plan says it once.
    let cause = SkipCause::ServerCapacity {
        server: server.label.into(),
        connections_max: max,
        descriptors_max: descriptors_max() as u64,
    };
    Fit::Leave { cause, remedy: String::new() }
}

/// A server with a file to serve. Both are gone when this is dropped.
pub(crate) struct Scene {
    pub running: Running,
    /// What it serves.
    pub bytes: u64,
    scratch: Scratch,
}

impl Scene {
    /// Makes the file and starts the subject's server, on `cpus` only.
    pub fn open(
        cell: &Cell,
        probe: &mut Probe,
        bytes: u64,
        workers: usize,
        cpus: &[usize],
    ) -> Result<Scene, Failure> {
        let scratch = directory::make(cell, probe)?;
        let site = site(&scratch)?;
        std::fs::write(site.join(FILE), vec![b'k'; bytes as usize])
            .map_err(shortage::during("making the file to serve"))?;
        let setup = Setup { workers, cpus: cpus.into(), ..Setup::new(&site, scratch.path()) };
        let running = server(&cell.subject)?.start(&setup)?;
        Ok(Scene { running, bytes, scratch })
    }

    /// A client that has asked for the file once.
    pub fn client(&self) -> Result<Client, Failure> {
        Client::new(self.running.address(), &format!("/{FILE}"), self.bytes)
    }

    /// Ends the server. Where it has ended by itself, that is why there are no figures.
    pub fn close(self) -> Result<Option<Counted>, Failure> {
        let counted = self.running.stop();
        drop(self.scratch);
        counted
    }
}

/// What `act` measures at a server of one worker, on one CPU with its clients unless the cell says
/// otherwise: it gets a client that has asked once, and a place for the connections that stay open. These
/// are reset in the end.
pub(crate) fn with_connections(
    cell: &Cell,
    probe: &mut Probe,
    bytes: u64,
    act: impl FnOnce(Client, &mut Vec<TcpStream>, &mut Probe) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let cpus = cpus::choose(cell)?;
    let mut scene = Scene::open(cell, probe, bytes, 1, &cpus)?;
    let mut open = Vec::new();
    let outcome = scene.client().and_then(|client| act(client, &mut open, probe));
    let outcome = scene.running.judged(outcome);
    reset(open);
    // A failure that was met first says more than how the server ended.
    outcome.and(scene.close().map(drop))
}

/// The directory to serve, next to those of the servers.
pub(crate) fn site(scratch: &Scratch) -> Result<PathBuf, Failure> {
    // Beneath the scratch, which others may reach by a link: the server is to see the same path.
    let directory: &Path = scratch.path();
    let site = directory.join("site");
    std::fs::create_dir(&site).map_err(shortage::during("making a directory"))?;
    Ok(site)
}

/// The CPUs of the server and those of its clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CpuSplit {
    pub server: Vec<usize>,
    pub clients: Vec<usize>,
}

impl CpuSplit {
    /// Apart, as far as there are CPUs: a CPU for each worker from the first on, and the others for the
    /// clients. They share what is too little for both.
    pub fn for_workers(workers: usize) -> Result<CpuSplit, Failure> {
        Ok(CpuSplit::new(&allowed()?, workers))
    }

    fn new(allowed: &[usize], workers: usize) -> CpuSplit {
        let cpus = allowed.len();
        let (server, clients) = match cpus {
            0 | 1 => (allowed, allowed),
            _ if workers < cpus => allowed.split_at(workers),
            _ => (allowed, &allowed[cpus - 1..]),
        };
        debug_assert_eq!(
            server.is_empty(),
            clients.is_empty(),
            "both sides have a CPU, or neither"
        );
        CpuSplit { server: server.into(), clients: clients.into() }
    }

    /// States them.
    pub fn state(&self, probe: &mut Probe) {
        let list = |cpus: &[usize]| {
            cpus.iter().map(ToString::to_string).collect::<Vec<String>>().join(", ")
        };
        probe.fact("CPUs of the server", list(&self.server));
        probe.fact("CPUs of the clients", list(&self.clients));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_and_clients_are_apart_where_there_are_cpus() {
        let cpus = |allowed: &[usize], workers| {
            let cpus = CpuSplit::new(allowed, workers);
            (cpus.server, cpus.clients)
        };
        assert_eq!(cpus(&[3], 1), (vec![3], vec![3]));
        assert_eq!(cpus(&[0, 1], 1), (vec![0], vec![1]));
        assert_eq!(cpus(&[0, 1], 2), (vec![0, 1], vec![1]));
        assert_eq!(cpus(&[0, 1, 2, 3], 2), (vec![0, 1], vec![2, 3]));
        assert_eq!(cpus(&[4, 5], 9), (vec![4, 5], vec![5]));
    }
}
