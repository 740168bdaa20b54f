//! What the workloads over servers share: servers as subjects, a file to serve, and who runs where.

use crate::readiness::mechanisms::{OWN_DESCRIPTORS, at_most};
use crate::servers::client::{Client, reset};
use crate::servers::drivers::{self, Counted, Running, Server, Setup};
use crate::servers::tls::{self, Encryption, TLS};
use crate::servers::warm::warm_up;
use crate::shared::calls;
use crate::shared::cpus::{self, allowed};
use crate::shared::directory;
use crate::shared::quota::{self, QUOTA};
use crate::shared::shortage;
use engine::{
    About, Cell, Check, Custom, Defaults, Failure, Fit, LimitCause, Probe, Scratch, Subject,
    SubjectInfo, WorkloadInfo, descriptors_max, word_axis, word_parameters,
};
use load::Stream;
use quantities::template;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The name of the file that is served.
pub(crate) const FILE: &str = "file.txt";

/// The servers that the user adds to a workload, and the words of their commands that `--set` gives values.
#[derive(Debug)]
pub(crate) struct OwnServers {
    servers: Vec<Server>,
    words: Vec<&'static str>,
    /// The workload with them; absent where there are none.
    pub about: Option<About>,
}

/// What adds them, in suites and as flags.
pub(crate) const CUSTOM_KEYS: &[&str] =
    &["server", "url", "yes-i-own-this-host", "ca", "insecure", "set", "directory"];

impl OwnServers {
    /// None.
    pub const NONE: OwnServers = OwnServers { servers: Vec::new(), words: Vec::new(), about: None };

    /// What `custom` adds to the workload of `about`. `axis` is the parameter that was named as the axis.
    pub fn new(custom: &Custom, axis: Option<&str>, about: &About) -> Result<OwnServers, String> {
        let Custom { servers, urls, ca, insecure, words, directory, search_paths, .. } =
            custom.clone();
        let own = Custom {
            servers,
            urls,
            ca,
            insecure,
            words,
            directory,
            search_paths,
            ..Custom::default()
        };
        if own != *custom {
            return Err(
                "its subjects are servers: --server, --url and --set are for it, the other \
                        flags of your own are for knee run command"
                    .to_owned(),
            );
        }
        let axis = axis.filter(|axis| custom.words.contains_key(*axis));
        let mut added = word_parameters(custom, axis.unwrap_or_default());
        added.extend(axis.map(|axis| word_axis(custom, axis)));
        let words: Vec<&'static str> = added.iter().map(|parameter| parameter.name).collect();
        let is_taken =
            |word: &&&str| about.parameter(word).is_some() || drivers::own::WORDS.contains(*word);
        if let Some(word) = words.iter().find(is_taken) {
            return Err(format!("{{{word}}} has values of its own: give yours another name"));
        }
        let servers = drivers::own::rows(custom, &words)?;
        let texts = || custom.templates().map(|template| template.text.as_str());
        if let Some(unused) =
            words.iter().find(|word| !texts().any(|text| template::words(text).contains(word)))
        {
            return Err(format!("--set {unused}: no server or URL has {{{unused}}}"));
        }
        let mut parameters = about.parameters.clone();
        parameters.extend(added);
        let speaks: BTreeSet<_> = servers.iter().filter_map(Server::usual_tls).collect();
        for parameter in parameters.iter_mut().filter(|row| row.name == TLS.name) {
            if speaks.contains(tls::FULL) {
                // Each by what it speaks.
                let both: &[&str] =
                    if speaks.len() > 1 { &[tls::NONE, tls::FULL] } else { &[tls::FULL] };
                parameter.default = Defaults::always(both);
            }
        }
        let has_workers =
            texts().any(|text| template::words(text).contains(&drivers::own::WORKERS));
        for parameter in parameters.iter_mut().filter(|row| row.name == drivers::own::WORKERS) {
            if !has_workers {
                // No other number would be shown.
                parameter.default = Defaults::always(&["1"]);
            }
        }
        let info = WorkloadInfo { compared_pairs: pairs(&servers), ..about.info.clone() };
        let about = About { info, parameters, ..about.clone() };
        Ok(OwnServers { servers, words, about: Some(about) })
    }

    /// The workload, which is as `without` where there are none.
    pub fn about<'a>(&'a self, without: &'a About) -> &'a About {
        self.about.as_ref().unwrap_or(without)
    }

    /// Every server as a subject; those of knee only by name where there are some of the user's own.
    pub fn subjects(&self) -> Vec<Subject> {
        let by_name_only = !self.servers.is_empty();
        let servers_of_knee = drivers::all();
        let all = self.servers.iter().chain(&servers_of_knee);
        let row = |server: &Server| Subject {
            by_name_only: by_name_only && !server.is_own(),
            unused: self.unused_words(server),
            ..subject(server)
        };
        all.map(row).collect()
    }

    /// The words that a server's command or address does not have.
    pub fn unused_words(&self, server: &Server) -> Vec<String> {
        let used = template::words(server.text());
        let unused = self.words.iter().filter(|word| !used.contains(word));
        unused.map(ToString::to_string).collect()
    }

    /// Those of the user's own.
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// The server that a subject is.
    pub fn server(&self, subject: &str) -> Result<Server, Failure> {
        let own = self.servers.iter().find(|server| server.name == subject);
        let server = own.cloned().or_else(|| drivers::find(subject));
        server.ok_or_else(|| Failure::new(format!("there is no server {subject}")))
    }

    /// The values of their words in a cell.
    pub fn word_values(&self, cell: &Cell) -> Result<BTreeMap<String, String>, Failure> {
        let value = |word: &&'static str| Ok(((*word).to_owned(), cell.text(word)?.into_owned()));
        self.words.iter().map(value).collect()
    }
}

/// Each of the first few with each: all of many would be more comparisons than anybody reads.
fn pairs(servers: &[Server]) -> Vec<(String, String)> {
    const SERVERS_MAX: usize = 4;
    let names: Vec<&'static str> = servers.iter().map(|server| server.name).collect();
    if names.len() > SERVERS_MAX {
        return Vec::new();
    }
    let with_later = |(index, &name): (usize, &&str)| {
        names[index + 1..].iter().map(|&later| (name.into(), later.into())).collect::<Vec<_>>()
    };
    names.iter().enumerate().flat_map(with_later).collect()
}

/// A server of the user's own that serves another file than that of the workload has other work: it is no alternative to
/// those of knee.
fn subject(server: &Server) -> Subject {
    let operation = if server.serves_files() { "" } else { "the reply of a server of one's own" };
    let [name, label, note, operation] =
        [server.name, server.label, server.note, operation].map(String::from);
    let info = SubjectInfo { name, label, note, operation, ..SubjectInfo::default() };
    let checked = server.clone();
    let available = Check::new(move || checked.available());
    Subject { available, ..Subject::new(info, server.summary) }
}

/// Whether this process and one worker of the server can hold so many connections between them.
pub(crate) fn connections_fit(own: &OwnServers, cell: &Cell, parameter: &'static str) -> Fit {
    let Ok(server) = own.server(&cell.subject) else { return Fit::Measure };
    let requested = cell.number(parameter).unwrap_or(0);
    fit(&server, cell, parameter, requested, server.capacity().saturating_sub(16) as u64)
}

/// Whether this process and `server`, which holds `max` in all, can hold so many connections, and speak as the cell asks.
pub(crate) fn fit(
    server: &Server,
    cell: &Cell,
    parameter: &'static str,
    requested: u64,
    max: u64,
) -> Fit {
    match serves(server, cell) {
        Fit::Measure => {}
        unfit => return unfit,
    }
    let here = here();
    if requested <= max.min(here) {
        Fit::Measure
    } else if max < here {
        too_many(server, parameter, requested, max)
    } else {
        at_most(parameter, requested, here)
    }
}

/// Whether a server speaks what a cell asks for, and can have its quota.
pub(crate) fn serves(server: &Server, cell: &Cell) -> Fit {
    if server.is_running() && cell.parameters.contains_key(QUOTA.name) {
        let what = format!("{} under a CPU quota", server.label);
        let clause = "knee does not start it".to_owned();
        return Fit::Leave { what, cause: LimitCause::Other { clause }, remedy: String::new() };
    }
    tls::fit(server, cell)
}

/// Connections that this process can hold.
fn here() -> u64 {
    descriptors_max().saturating_sub(OWN_DESCRIPTORS + 16) as u64
}

/// That `server` holds no more than `max`. One that holds fewer than others do is left out: it is no
/// reason for a point that no other server has.
pub(crate) fn too_many(server: &Server, parameter: &'static str, requested: u64, max: u64) -> Fit {
    if server.capacity() as u64 > here() / 4 * 3 {
        return at_most(parameter, requested, max);
    }
    // The same for every point: the plan says it once.
    Fit::Leave {
        what: format!("{} beyond {max} connections", server.label),
        cause: LimitCause::Descriptors { max: server.descriptors_max() as u64 },
        remedy: server.descriptors_remedy().to_owned(),
    }
}

/// A server with a file to serve. Both are gone when this is dropped.
pub(crate) struct Scene {
    pub running: Running,
    /// The length of the file that it serves; absent where it is asked for something of its own.
    pub bytes: Option<u64>,
    scratch: Scratch,
}

impl Scene {
    /// Makes the file and starts the subject's server, on `cpus` only.
    pub fn open(
        own: &OwnServers,
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
        let server = own.server(&cell.subject)?;
        let words = own.word_values(cell)?;
        let (cpus, start_max) = (cpus.into(), cell.start_max());
        let encryption = Encryption::make(cell, scratch.path())?;
        let setup = Setup {
            workers,
            cpus,
            start_max,
            encryption,
            group: quota::group(cell)?,
            words,
            ..Setup::new(&site, scratch.path())
        };
        let running = server.start(&setup)?;
        running.state(probe);
        let bytes = server.serves_files().then_some(bytes);
        Ok(Scene { running, bytes, scratch })
    }

    /// A client that has asked for the file once.
    pub fn client(&self, probe: &mut Probe) -> Result<Client, Failure> {
        let target = self.running.target(FILE);
        let client = match self.bytes {
            Some(bytes) if !self.running.is_own() => Client::new(target, bytes)?,
            bytes => Client::of_any_server(target, bytes)?,
        };
        client.state(probe);
        Ok(client)
    }

    /// Ends the server. Where it has ended by itself, that is why there are no figures.
    pub fn close(self) -> Result<Option<Counted>, Failure> {
        let counted = self.running.stop();
        drop(self.scratch);
        counted
    }
}

/// Operations whose system calls are counted: servers have descriptors for so many more connections.
const COUNTED: u64 = 10;

/// What `act` measures at a server of one worker, on one CPU with its clients unless the cell says
/// otherwise: it gets a client that has asked once, and a place for the connections that stay open. These
/// are reset in the end. `once_more` is one operation more, in which the server's system calls are counted.
pub(crate) fn with_connections(
    own: &OwnServers,
    cell: &Cell,
    probe: &mut Probe,
    bytes: u64,
    act: impl FnOnce(&mut Client, &mut Vec<Stream>, &mut Probe) -> Result<(), Failure>,
    once_more: impl Fn(&mut Client, &mut Vec<Stream>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let cpus = cpus::choose(cell)?;
    let mut scene = Scene::open(own, cell, probe, bytes, 1, &cpus)?;
    let mut open = Vec::new();
    warm_up(&scene.running, &cpus, cell.start_max() / 4, false, probe);
    let quota = scene.running.watch_quota()?;
    let outcome = scene.client(probe).and_then(|mut client| {
        act(&mut client, &mut open, probe)?;
        quota.map_or(Ok(()), |quota| quota.state(probe).map(drop))?;
        calls::count_of_server(&scene.running, probe, || {
            (0..COUNTED).try_for_each(|_| once_more(&mut client, &mut open))?;
            Ok(COUNTED)
        });
        Ok(())
    });
    let outcome = scene.running.judged(outcome.and_then(|()| all_open(&open)));
    reset(open);
    // A failure that was met first says more than how the server ended.
    outcome.and(scene.close().map(drop))
}

/// Whether none of these connections has ended: figures over n open ones would be over fewer.
fn all_open(connections: &[Stream]) -> Result<(), Failure> {
    // What came before the end may not have been read: a session's tickets, or the last word of TLS.
    let has_ended = |stream: &&Stream| {
        let mut ends = [PollFd::new(&stream.socket, PollFlags::RDHUP)];
        !matches!(poll(&mut ends, Some(&Timespec::default())), Ok(0))
    };
    let ended = connections.iter().filter(has_ended).count();
    if ended == 0 {
        return Ok(());
    }
    Err(Failure::new(format!(
        "the server has closed {ended} of {} connections, and did not announce it: connections can't be held",
        connections.len()
    )))
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
