//! Servers of the user's own: a command that starts one, or the address of one that runs already.
//!
//! A command is run by `sh` in the directory in which knee was started, with its output in a log of the cell.
//! `{cert}` and `{key}` are files of a certificate of `localhost`, which a server with TLS is to have.
//! `{port}` is where it has to listen, `{root}` the directory that it has to serve, `{workers}` how many
//! workers it is to have; further words are `--set`'s.

use super::{LOG, Running, Server, ServerOrigin, Setup, reserved_port};
use crate::commands::command::needs_shell;
use crate::servers::local::LocalServer;
use crate::servers::tls;
use engine::{Custom, Failure, Template, caller_descriptors_max};
use load::{Target, Tls, TlsOptions, Url};
use quantities::template;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The words that have a value in every cell.
pub(crate) const WORDS: [&str; 5] = [PORT, ROOT, WORKERS, CERT, KEY];
const PORT: &str = "port";
const ROOT: &str = "root";
pub(crate) const WORKERS: &str = "workers";
/// The files of its certificate and of the key, where it has TLS.
const CERT: &str = "cert";
const KEY: &str = "key";

/// How long an address of several may take to answer.
const FIRST_ANSWER: Duration = Duration::from_secs(5);

/// How a server of the user's own is reached.
#[derive(Clone, Debug)]
pub(crate) enum OwnServer {
    /// This command starts it, in this directory.
    Command { text: String, directory: PathBuf, tls: TlsOptions },
    /// It runs already; with TLS it is verified so.
    Url { text: String, tls: Option<TlsOptions> },
}

impl OwnServer {
    /// Whether a command starts it.
    pub fn is_command(&self) -> bool {
        matches!(self, OwnServer::Command { .. })
    }

    /// The command or the address.
    pub fn text(&self) -> &str {
        match self {
            OwnServer::Command { text, .. } | OwnServer::Url { text, .. } => text,
        }
    }

    /// Whether its command names a certificate.
    fn has_certificate(&self) -> bool {
        self.is_command() && template::words(self.text()).contains(&CERT)
    }

    /// Whether its address says that it speaks TLS, or that it does not.
    pub fn is_tls(&self) -> Option<bool> {
        match self {
            OwnServer::Command { .. } => None,
            OwnServer::Url { tls, .. } => Some(tls.is_some()),
        }
    }

    /// What of TLS it is asked for by default: `no`, `full`.
    pub fn usual_tls(&self) -> &'static str {
        if self.has_certificate() || self.is_tls() == Some(true) { tls::FULL } else { tls::NONE }
    }

    /// How it is verified, where it has a certificate of its own.
    pub fn tls(&self) -> Option<TlsOptions> {
        match self {
            OwnServer::Command { tls, .. } if !self.has_certificate() => Some(tls.clone()),
            _ => None,
        }
    }

    /// Whether it serves the directory that it is given.
    pub fn serves_root(&self) -> bool {
        matches!(self, OwnServer::Command { text, .. } if template::words(text).contains(&ROOT))
    }
}

/// The servers that `custom` adds. `words` are those that `--set` gives values.
pub(crate) fn rows(custom: &Custom, words: &[&str]) -> Result<Vec<Server>, String> {
    let tls = tls_options(custom)?;
    let command = |row: &Template| {
        let names: Vec<&str> = WORDS.iter().chain(words).copied().collect();
        template::check(&row.text, &names)?;
        if !template::words(&row.text).contains(&PORT) {
            return Err(format!(
                "`{}` has no {{port}}: knee chooses the port, such as ./server --port {{port}}",
                row.text
            ));
        }
        let (text, directory, tls) = (row.text.clone(), custom.directory.clone(), tls.clone());
        server(row, OwnServer::Command { text, directory, tls })
    };
    let url = |row: &Template| {
        template::check(&row.text, words)?;
        let url = Url::parse(&row.text)?;
        if url.is_tls && template::words(&row.text).is_empty() {
            // Before the run begins: each cell would fail of the same.
            Tls::new(&url.host, &tls)?;
        }
        server(row, OwnServer::Url { text: row.text.clone(), tls: url.is_tls.then(|| tls.clone()) })
    };
    custom.servers.iter().map(command).chain(custom.urls.iter().map(url)).collect()
}

/// How servers with TLS are verified.
fn tls_options(custom: &Custom) -> Result<TlsOptions, String> {
    let Custom { ca, insecure, .. } = custom;
    let is_tls = |url: &Template| Url::parse(&url.text).is_ok_and(|url| url.is_tls);
    if (ca.is_some() || *insecure) && custom.servers.is_empty() && !custom.urls.iter().any(is_tls) {
        return Err("--ca and --insecure are for an https:// --url, or a --server with a certificate of its own".to_owned());
    }
    let ca = ca.as_ref().map(|file| custom.directory.join(file));
    Ok(TlsOptions { ca, insecure: *insecure, no_resume: false })
}

fn server(row: &Template, own: OwnServer) -> Result<Server, String> {
    if super::find(&row.name).is_some() {
        return Err(format!(
            "a server of knee's is called {0} already: other={1}",
            row.name, row.text
        ));
    }
    let summary = match own {
        OwnServer::Command { .. } => "a server of your own",
        OwnServer::Url { .. } => "a server of your own that runs already",
    };
    let note = match &own {
        OwnServer::Url { tls: Some(tls), .. } | OwnServer::Command { tls, .. } if tls.insecure => {
            "its certificate is not verified (--insecure)"
        }
        _ => "",
    };
    let name: &'static str = row.name.clone().leak();
    Ok(Server {
        name,
        label: name,
        summary,
        note,
        is_ours: false,
        capacity: match own {
            OwnServer::Command { .. } => |_| caller_descriptors_max().saturating_sub(64),
            OwnServer::Url { .. } => |descriptors| descriptors.saturating_sub(64),
        },
        installed: |_| Ok(()),
        start,
        tls: || Ok(()),
        own: Some(Box::leak(Box::new(own))),
    })
}

fn start(server: &Server, setup: &Setup) -> Result<Running, Failure> {
    match server.own {
        Some(OwnServer::Command { text, directory, .. }) => {
            start_command(server, setup, text, directory)
        }
        Some(OwnServer::Url { text, tls }) => reach(server, setup, text, tls.as_ref()),
        None => Err(Failure::new(format!("{} is no server of your own", server.label))),
    }
}

fn start_command(
    server: &Server,
    setup: &Setup,
    text: &str,
    directory: &Path,
) -> Result<Running, Failure> {
    let failed = |error: io::Error| Failure::call(format!("starting {}", server.label), error);
    // Given back before it is used: not every server is willing to share it.
    let port = reserved_port().map_err(failed)?.1;
    let command = filled(text, setup, port)?;
    let log = setup.scratch.join(LOG);
    // A plain command takes the shell's place: one process less among the server's.
    let exec = if needs_shell(&command) { "" } else { "exec " };
    let words: [OsString; 3] = ["sh".into(), "-c".into(), format!("{exec}{command}").into()];
    let guarded = setup.start(&words, directory, Some(&log)).map_err(failed)?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let started = Running::new(server, ServerOrigin::Started(guarded), address);
    let mut running = Running { log: Some(log), ..started };
    let loopbacks = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
    running.address = running.wait_until_it_listens(&loopbacks, setup.start_max)?;
    if !template::words(text).contains(&ROOT) {
        let address = running.address;
        running.target = Some(Target::new(address, address.to_string(), "/"));
    }
    Ok(running)
}

/// The command with the values of its words.
fn filled(text: &str, setup: &Setup, port: u16) -> Result<String, Failure> {
    let encryption = setup.encryption.as_ref();
    let values = [
        (ROOT, Some(&setup.root)),
        (CERT, encryption.map(|files| &files.chain)),
        (KEY, encryption.map(|files| &files.key)),
    ];
    let words = template::words(text);
    let mut paths = BTreeMap::new();
    for (word, path) in values.into_iter().filter(|(word, _)| words.contains(word)) {
        // Without TLS there is no certificate: a server can take that as its sign.
        let path = path.map_or(Path::new(""), PathBuf::as_path);
        if !is_plain(path) {
            return Err(Failure::new(format!(
                "{} can't stand in a command without quotes → TMPDIR=/another/directory knee run …",
                path.display()
            )));
        }
        paths.insert(word, path.display().to_string());
    }
    Ok(template::fill(text, |word| match word {
        PORT => Some(port.to_string().into()),
        WORKERS => Some(setup.workers.to_string().into()),
        _ => paths.get(word).or_else(|| setup.words.get(word)).map(|value| value.clone().into()),
    }))
}

/// Whether a shell takes a path as it is. A command has it where its user put it, in quotes or not.
fn is_plain(path: &Path) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:=@%".contains(c);
    path.to_str().is_some_and(|path| path.chars().all(is_plain))
}

/// Finds the processes of a server that runs.
fn reach(
    server: &Server,
    setup: &Setup,
    text: &str,
    tls: Option<&TlsOptions>,
) -> Result<Running, Failure> {
    let url = template::fill(text, |word| setup.words.get(word).map(|value| value.clone().into()));
    let url = Url::parse(&url).map_err(Failure::new)?;
    // Whether it may be loaded was asked before the run was planned.
    let addresses = url.addresses(true).map_err(Failure::new)?;
    let address = load::accepting(&addresses, FIRST_ANSWER)
        .map_err(|none| Failure::new(format!("reaching {}: {none}", url.host)))?;
    let has_name = url.has_name();
    let encryption = setup.encryption.as_ref();
    let options = tls.cloned().map(|own| match encryption {
        Some(encryption) => encryption.with_handshake(own),
        None => own,
    });
    let tls = options.map(|options| Tls::new(&url.host, &options)).transpose();
    let tls = tls.map_err(Failure::new)?;
    let target = Some(Target { tls, ..Target::new(address, url.host_header(), url.path) });
    let origin = ServerOrigin::Running(LocalServer::at(address));
    Ok(Running { has_name, target, ..Running::new(server, origin, address) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn custom(servers: &[&str], urls: &[&str]) -> Custom {
        let templates =
            |texts: &[&str]| texts.iter().map(|text| suites::read_template(text)).collect();
        Custom { servers: templates(servers), urls: templates(urls), ..Custom::default() }
    }

    #[test]
    fn a_directory_that_would_change_a_command_is_refused() {
        let rows = rows(&custom(&["x=./x {port} {root}"], &[]), &[]).unwrap();
        for root in ["/tmp/with a space", "/tmp/a;reboot", "/tmp/$(x)", "/tmp/~"] {
            let setup = Setup::new(Path::new(root), Path::new("/nonexistent"));
            let failure = start(&rows[0], &setup).unwrap_err().to_string();
            assert!(failure.contains("TMPDIR="), "{root}: {failure}");
        }
        assert!(is_plain(Path::new("/tmp/knee-1_2.x/site")));
    }

    #[test]
    fn a_template_is_checked_before_anything_starts() {
        let refused =
            |servers: &[&str], urls: &[&str]| rows(&custom(servers, urls), &["depth"]).unwrap_err();
        assert!(refused(&["x=./x 8080"], &[]).contains("has no {port}"));
        assert!(refused(&["x=./x {prot}"], &[]).contains("did you mean {port}"));
        assert!(refused(&["nginx=./x {port}"], &[]).contains("is called nginx already"));
        let insecure = Custom { insecure: true, ..custom(&[], &["x=http://127.0.0.1/"]) };
        assert!(rows(&insecure, &[]).unwrap_err().contains("https"));
        let good = custom(&["x=./x {port} {root} {depth}"], &["y=http://127.0.0.1:80/"]);
        let names: Vec<&str> =
            rows(&good, &["depth"]).unwrap().iter().map(|row| row.name).collect();
        assert_eq!(names, ["x", "y"]);
    }
}
