//! How fast does a server send one large file, and does it keep that up?
//!
//! Felix von Leitner's fragmentation graph: the throughput over the time of a download. One operation is
//! one MB (1,000,000 bytes) of a file that one client takes as fast as it comes; its sample stands at the
//! MB that have come by then. The subjects are the ways in which ours sends a file, and the servers of
//! others.
//!
//! At the same time a second client may take another file at 4 MB/s, from a buffer of its own that is mostly
//! full. The file may lie in one piece or in many, which is verified (FIEMAP), and be in the page cache
//! or on the disk only, which is verified too (mincore). On a disk without a head that moves, pieces
//! cost little.

mod file;
mod slow;
mod transfer;

use crate::servers::drivers::{self, Running, Server, Setup};
use crate::servers::served::{self, CUSTOM_KEYS, CpuSplit, OwnServers};
use crate::servers::tls::{self, Encryption, TLS};
use crate::shared::cpus::stay_on;
use crate::shared::directory;
use crate::shared::quota::{self, QUOTA};
use engine::{
    About, Cell, Check, Custom, Defaults, Failure, Fit, Kind, LimitCause, MetricInfo, MetricRole,
    Parameter, Probe, Subject, Sweep, Usual, Values, Workload, WorkloadInfo, pairs, strings,
};
use file::{Large, Layout, MB};
use slow::Slow;
use std::borrow::Cow;
use std::path::Path;
use std::sync::LazyLock;
use transfer::Source;

/// The row of the table.
pub(crate) const WORKLOAD: Download = Download { own: OwnServers::NONE };

pub(crate) struct Download {
    own: OwnServers,
}

const MEGABYTES: Parameter = Parameter {
    name: "megabytes",
    about: "size of the downloaded file in MB",
    values: Values::Between(1, 100_000),
    default: Defaults::always(&["64"]),
    sweep: Some(Sweep::new("MB that have come", &["64"], &["256"])),
};

const SLOW_CLIENTS: Parameter = Parameter {
    name: "second-client",
    about: "second client: none, or one that downloads another file at 4 MB/s",
    values: Values::OneOf(&["nothing", "slow"]),
    default: Defaults { quick: &["nothing"], full: &["nothing", "slow"] },
    sweep: None,
};

const LAID: Parameter = Parameter {
    name: "laid",
    about: "layout of the file on its disk: a few pieces, or one for every 64 KiB",
    values: Values::OneOf(&["contiguous", "fragmented"]),
    default: Defaults { quick: &["contiguous"], full: &["contiguous", "fragmented"] },
    sweep: None,
};

const CACHE: Parameter = Parameter {
    name: "cache",
    about: "whether the file is in the page cache (hot) or only on its disk (cold)",
    values: Values::OneOf(&["hot", "cold"]),
    default: Defaults { quick: &["hot"], full: &["hot", "cold"] },
    sweep: None,
};

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "download".into(),
        question: "How fast does a server send a large file, and does it keep that up?".into(),
        operation: "one MB of a large file that one client takes as fast as it comes".into(),
        not_measured: strings([
            "a network: both ends are here",
            "a disk by itself: fio does",
            "the first MB alone: what buffers held when its head came is among them",
        ]),
        compared_pairs: pairs([
            ("sendfile", "mmap"),
            ("sendfile", "splice"),
            ("sendfile", "nginx"),
        ]),
        metrics: vec![
            MetricInfo::more("throughput", "MB of the download", "MB/s"),
            MetricInfo::time("cpu", "MB, on the server's CPUs").with_role(MetricRole::Cpu),
        ],
        ..About::trajectory().info
    },
    kind: Kind::Named,
    parameters: vec![MEGABYTES, SLOW_CLIENTS, LAID, CACHE, TLS, QUOTA],
    custom_keys: CUSTOM_KEYS,
    usual: Usual { rounds: 3, call_ms_max: 1_000, ..Usual::TRAJECTORY },
    ..About::trajectory()
});

/// The ways in which `knee httpd` sends a file, with their summaries. It runs over [`MECHANISM`].
const WAYS: [(&str, &str); 3] = [
    ("sendfile", "ours with sendfile, over epoll-level"),
    ("mmap", "ours with mmap and writev"),
    ("splice", "ours with splice through a pipe"),
];
const MECHANISM: &str = "epoll-level";

/// A subject: a server, and how it sends where that is chosen.
struct DownloadRow {
    name: &'static str,
    summary: &'static str,
    server: Server,
    sending: Option<&'static str>,
}

/// The user's own, ours in each way, and every foreign server.
fn rows(own: &OwnServers) -> Vec<DownloadRow> {
    let own = own.servers().iter().map(|server| DownloadRow {
        name: server.name,
        summary: server.summary,
        server: server.clone(),
        sending: None,
    });
    let ways = drivers::find(MECHANISM).into_iter().flat_map(|server| {
        WAYS.map(|(name, summary)| DownloadRow {
            name,
            summary,
            server: server.clone(),
            sending: Some(name),
        })
    });
    let foreign = drivers::all().into_iter().filter(|server| !server.is_ours).map(|server| {
        DownloadRow { name: server.name, summary: server.summary, server, sending: None }
    });
    own.chain(ways).chain(foreign).collect()
}

fn row(own: &OwnServers, cell: &Cell) -> Result<DownloadRow, Failure> {
    let row = rows(own).into_iter().find(|row| row.name == cell.subject);
    row.ok_or_else(|| Failure::new(format!("no subject of download is called {}", cell.subject)))
}

/// What is read of the connection at a time.
const BUFFER_BYTES: usize = 256 << 10;

impl Workload for Download {
    fn about(&self) -> &About {
        self.own.about(&ABOUT)
    }

    fn subjects(&self) -> Vec<Subject> {
        let has_own = !self.own.servers().is_empty();
        let subject = |row: DownloadRow| Subject {
            by_name_only: has_own && !row.server.is_own(),
            unused: self.own.unused_words(&row.server),
            available: Check::new(move || row.server.available()),
            ..Subject::plain(row.name, row.summary)
        };
        rows(&self.own).into_iter().map(subject).collect()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        let is = |name, value| cell.text(name).is_ok_and(|set| set == value);
        if let Ok(DownloadRow { name, server, .. }) = row(&self.own, cell) {
            if !is(TLS.name, "no") && server.is_ours && name != WAYS[0].0 {
                return Fit::Leave {
                    what: format!("{name} with TLS"),
                    cause: LimitCause::Other {
                        clause: "knee httpd reads what it encrypts, however it sends other files"
                            .to_owned(),
                    },
                    remedy: String::new(),
                };
            }
            match served::serves(&server, cell) {
                Fit::Measure => {}
                unfit => return unfit,
            }
        }
        if is(LAID.name, "fragmented")
            && let Err(fit) = file::reports_pieces()
        {
            return fit;
        }
        if is(CACHE.name, "cold")
            && let Err(fit) = file::forgets()
        {
            return fit;
        }
        file::fit(MEGABYTES.name, cell.number(MEGABYTES.name).unwrap_or(0))
    }

    fn with_custom(
        &self,
        custom: &Custom,
        axis: Option<&str>,
    ) -> Result<Box<dyn Workload>, String> {
        let mut own = OwnServers::new(custom, axis, &ABOUT)?;
        let is_taken = |name| WAYS.iter().any(|(way, _)| *way == name);
        if let Some(server) = custom.servers.iter().find(|server| is_taken(server.name.as_str())) {
            return Err(format!(
                "one of knee's is called {0} already: other={1}",
                server.name, server.text
            ));
        }
        if let Some(server) = own.servers().iter().find(|server| server.needs_root()) {
            return Err(format!(
                "{} is to serve the file that is downloaded: --server '{}=./server --port {{port}} --root \
                 {{root}}'",
                server.name, server.name
            ));
        }
        // What a server that runs already serves is not in knee's hands, nor is where it lies.
        if let Some(about) = own.about.as_mut().filter(|_| !custom.urls.is_empty()) {
            about.parameters.retain(|row| ![LAID.name, CACHE.name].contains(&row.name));
        }
        Ok(Box::new(Download { own }))
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let row = row(&self.own, cell)?;
        let count = cell.number(MEGABYTES.name)?;
        let scratch = directory::make(cell, probe)?;
        let site = served::site(&scratch)?;
        let is_url = row.server.is_own() && !row.server.serves_files();
        let large = if is_url { None } else { Some(make_large(cell, &site, count, probe)?) };
        let slow = cell.text(SLOW_CLIENTS.name)? == "slow";
        if slow && !is_url {
            file::make(&site.join("other"), slow::FILE_MB, Layout::Contiguous)?;
        }
        let cpus = CpuSplit::for_workers(1)?;
        cpus.state(probe);
        let setup = Setup {
            cpus: cpus.server.clone(),
            start_max: cell.start_max(),
            sending: row.sending,
            encryption: Encryption::make(cell, scratch.path())?,
            group: quota::group(cell)?,
            words: self.own.word_values(cell)?,
            ..Setup::new(&site, scratch.path())
        };
        let mut running = row.server.start(&setup)?;
        running.state(probe);
        stay_on(&cpus.clients)?;
        let source = |file, megabytes: u64| Source {
            target: running.target(file),
            bytes: (!is_url).then_some(megabytes * MB as u64),
        };
        let slow = slow.then(|| Slow::start(source("other", slow::FILE_MB))).transpose();
        if let Some(large) = large.filter(|_| setting(cell, &CACHE) == "cold") {
            large.forget()?;
        }
        let source = source("large", count);
        let quota = running.watch_quota()?;
        let outcome = slow.and_then(|slow| {
            let outcome = download(&running, &source, count, probe);
            outcome.and(slow.map_or(Ok(()), Slow::end))
        });
        let outcome =
            outcome.and_then(|()| quota.map_or(Ok(()), |quota| quota.state(probe).map(drop)));
        let outcome = running.judged(outcome);
        // A failure that was met first says more than how the server ended.
        outcome.and(running.stop().map(drop))
    }
}

/// Makes the file that is downloaded.
fn make_large(cell: &Cell, site: &Path, count: u64, probe: &mut Probe) -> Result<Large, Failure> {
    let layout = Layout::from_name(&setting(cell, &LAID));
    let large = file::make(&site.join("large"), count, layout)?;
    if let Some(pieces) = large.pieces {
        probe.fact("pieces of the file", pieces);
    }
    Ok(large)
}

/// The value of a parameter that a cell may lack; then its default.
fn setting(cell: &Cell, parameter: &Parameter) -> String {
    let default = parameter.default.quick.first().copied().unwrap_or_default();
    cell.text(parameter.name).map_or_else(|_| default.to_owned(), Cow::into_owned)
}

/// Takes the file, and times every MB.
fn download(
    running: &Running,
    source: &Source,
    count: u64,
    probe: &mut Probe,
) -> Result<(), Failure> {
    let cpu_ns = || match running.unknown() {
        Some(_) => Ok(None),
        None => running.cpu_ns().map(Some),
    };
    if let Some(why) = running.unknown() {
        probe.fact("CPU and memory of the server", why.to_string());
    }
    let failed = |error: std::io::Error| Failure::call("the server's CPU time", error);
    let mut buffer = vec![0; BUFFER_BYTES];
    let before = cpu_ns().map_err(failed)?;
    let mut transfer = source.open(None).map_err(|error| Failure::call("downloading", error))?;
    tls::state(transfer.stream.handshake().as_ref(), probe);
    transfer.check_length(count)?;
    probe.trajectory("throughput", count, |n| transfer.take_to(n, &mut buffer))?;
    if let Some((before, after)) = before.zip(cpu_ns().map_err(failed)?) {
        let spent_ns = after.saturating_sub(before);
        probe.given("cpu", &[spent_ns as f64 / count as f64], count);
    }
    Ok(())
}
