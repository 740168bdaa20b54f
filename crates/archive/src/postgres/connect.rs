//! From a URL to a connection that is encrypted where it has to be, and that notices a cut link.

use super::LONG_ANSWER_MAX;
use super::client::{Client, QueryError, Waiting};
use super::fault::{of_connecting, one_line, server_error};
use super::password::{self, Found, Login};
use crate::{DatabaseUrl, Error, ServerFault};
use printable::percent_decoded;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Until a connection is there, with encryption and login. A server of another kind may never answer.
const CONNECT_MAX: Duration = Duration::from_secs(9);
/// Until one of a host's addresses answers.
const ADDRESS_MAX: Duration = Duration::from_secs(4);
/// Until data without an acknowledgement is taken for lost. A cut link is noticed within 10 s.
const SILENCE_MAX: Duration = Duration::from_secs(8);
/// From the last data to the first question whether the other side still lives, and between questions.
const PROBE_AFTER: Duration = Duration::from_secs(3);
const PROBE_EVERY: Duration = Duration::from_secs(1);
const PROBES: u32 = 5;

/// Where PostgreSQL puts its sockets, by distribution.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];
const PORT: u16 = 5432;

/// Until a server that is silent while it has something to do is given up. The system of a server that is stopped still
/// acknowledges data, so that the times above notice nothing.
const ANSWER_MAX: Duration = Duration::from_secs(120);

/// What is set for the time of a connection. A server that loses us is not to keep our locks. How long a statement that
/// reads may take is for the server's administrator to say.
const SESSION: &str = "SET client_min_messages = warning; SET lock_timeout = '60s'; \
     SET idle_in_transaction_session_timeout = '60s'; SET tcp_keepalives_idle = 10; \
     SET tcp_keepalives_interval = 3; SET tcp_keepalives_count = 3";

/// Connects to the database of a URL.
pub(crate) fn connect(url: &DatabaseUrl) -> Result<Client, Error> {
    connect_until(url, Arc::default(), ANSWER_MAX)
}

/// The same for as long as `stop` is not set, with a server that may be silent for `silence_max`.
pub(crate) fn connect_until(
    url: &DatabaseUrl,
    stop: Arc<AtomicBool>,
    silence_max: Duration,
) -> Result<Client, Error> {
    let waiting = Waiting { silence_max, long_answer_max: LONG_ANSWER_MAX, stop };
    connect_within(url, CONNECT_MAX, waiting)
}

fn connect_within(url: &DatabaseUrl, limit: Duration, waiting: Waiting) -> Result<Client, Error> {
    let path = url.shown();
    let target = Target::parse(url).map_err(|fault| server_error(path, fault))?;
    let ignored = target.ignored.clone();
    // Nothing in the protocol limits how long a server may think about a login, or about the first command after it.
    let ready = target.connect(limit, waiting).and_then(|mut client| {
        client.with_silence_max(limit, |client| client.batch_execute(SESSION))?;
        Ok(client)
    });
    ready.map_err(|error| {
        let fault = match (of_connecting(&error), ignored) {
            (ServerFault::LoginRefused(cause), Some(ignored)) => {
                ServerFault::LoginRefused(format!("{cause}; {ignored}"))
            }
            (fault, _) => fault,
        };
        server_error(path, fault)
    })
}

/// Refuses a URL that can't be understood.
pub(crate) fn check(url: &DatabaseUrl) -> Result<(), Error> {
    Target::parse(url).map(drop).map_err(|fault| server_error(url.shown(), fault))
}

/// Where to connect to, and how.
struct Target {
    config: Config,
    /// Absent where the connection is not encrypted.
    tls: Option<MakeRustlsConnect>,
    /// Why a password file was passed over.
    ignored: Option<String>,
}

impl Target {
    fn connect(self, limit: Duration, waiting: Waiting) -> Result<Client, QueryError> {
        match self.tls {
            Some(tls) => Client::connect(&self.config, tls, limit, waiting),
            None => Client::connect(&self.config, NoTls, limit, waiting),
        }
    }

    fn parse(url: &DatabaseUrl) -> Result<Target, ServerFault> {
        let Parameters { rest, ssl_mode, root } = Parameters::read(url.with_secrets())?;
        // The client quotes what it does not understand, which may be a password.
        let wrong = |_| bad_url("the URL can't be read; it is postgres://USER@HOST:PORT/DATABASE");
        let mut config: Config = rest.parse().map_err(wrong)?;
        // A password is of one host, and so is the question whether the way there needs encryption.
        if !config.get_hostaddrs().is_empty() || config.get_hosts().len() > 1 {
            return Err(bad_url("the URL names one host, and no hostaddr"));
        }
        let ignored = add_defaults(&mut config)?;
        config
            .application_name("knee")
            .connect_timeout(ADDRESS_MAX)
            .tcp_user_timeout(SILENCE_MAX)
            .keepalives(true)
            .keepalives_idle(PROBE_AFTER)
            .keepalives_interval(PROBE_EVERY)
            .keepalives_retries(PROBES);
        let is_near = config.get_hosts().iter().all(is_near);
        let encrypted = match ssl_mode.as_deref() {
            None => !is_near,
            Some("disable") => false,
            Some("require" | "verify-ca" | "verify-full") => true,
            Some(_) => {
                return Err(bad_url("sslmode is `disable`, or `verify-full` for any other host"));
            }
        };
        config.ssl_mode(if encrypted { SslMode::Require } else { SslMode::Disable });
        let tls = encrypted.then(|| tls(root.as_deref())).transpose()?;
        Ok(Target { config, tls, ignored })
    }
}

fn bad_url(what: &str) -> ServerFault {
    ServerFault::BadUrl(what.to_owned())
}

/// Whether nothing goes over a network to get there.
fn is_near(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost"
                || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

/// Adds what the URL leaves open, as PostgreSQL's own programs do: from the environment, or by default.
/// Returns why a password file was passed over.
fn add_defaults(config: &mut Config) -> Result<Option<String>, ServerFault> {
    let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    if config.get_ports().is_empty() {
        let port = variable("PGPORT").map_or(Ok(PORT), |port| port.parse());
        config.port(port.map_err(|_| bad_url("PGPORT is no port"))?);
    }
    let port = config.get_ports()[0];
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        let has_socket =
            |directory: &&str| Path::new(directory).join(format!(".s.PGSQL.{port}")).exists();
        let socket = SOCKET_DIRECTORIES.into_iter().find(has_socket).map(str::to_owned);
        config.host(variable("PGHOST").or(socket).unwrap_or_else(|| "localhost".to_owned()));
    }
    if config.get_user().is_none() {
        let user = variable("PGUSER").or_else(|| variable("USER")).or_else(|| variable("LOGNAME"));
        config.user(
            &user.ok_or_else(|| bad_url("the URL names no user: postgres://USER@HOST/DATABASE"))?,
        );
    }
    if config.get_dbname().is_none() {
        let user = config.get_user().unwrap_or_default().to_owned();
        config.dbname(variable("PGDATABASE").unwrap_or(user));
    }
    if config.get_password().is_some() {
        return Ok(None);
    }
    let host = match config.get_hosts() {
        [Host::Tcp(name), ..] => name.clone(),
        [Host::Unix(directory), ..] => directory.to_string_lossy().into_owned(),
        [] => String::new(),
    };
    let login = Login {
        host: &host,
        port,
        database: config.get_dbname().unwrap_or_default(),
        user: config.get_user().unwrap_or_default(),
    };
    let Found { password, ignored } = password::find(&login);
    if let Some(password) = password {
        config.password(password);
    }
    Ok(ignored)
}

/// No list of root certificates is larger: a system's has 200 KiB.
const ROOTS_MIB_MAX: u64 = 16;

/// Encryption with a server whose certificate one of these roots vouches for: those of the file, or the system's.
fn tls(root: Option<&Path>) -> Result<MakeRustlsConnect, ServerFault> {
    let fault = |cause: String| ServerFault::Tls(one_line(&cause));
    let mut roots = RootCertStore::empty();
    if let Some(file) = root {
        let in_file = |error: &dyn std::fmt::Display| fault(format!("{}: {error}", file.display()));
        let text = sys::file::read(file, ROOTS_MIB_MAX).map_err(|error| in_file(&error))?;
        for certificate in CertificateDer::pem_slice_iter(&text) {
            let certificate = certificate.map_err(|error| in_file(&error))?;
            roots.add(certificate).map_err(|error| in_file(&error))?;
        }
    } else {
        for certificate in rustls_native_certs::load_native_certs().certs {
            // One that can't be read vouches for no server.
            let _ = roots.add(certificate);
        }
    }
    if roots.is_empty() {
        return Err(fault("there is no root certificate to verify the server with".to_owned()));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| fault(error.to_string()))?;
    Ok(MakeRustlsConnect::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

/// A URL without the parameters that the client does not know.
#[derive(Debug, PartialEq, Eq)]
struct Parameters {
    rest: String,
    ssl_mode: Option<String>,
    root: Option<PathBuf>,
}

impl Parameters {
    fn read(url: &str) -> Result<Parameters, ServerFault> {
        let Some((before, query)) = url.split_once('?') else {
            return Ok(Parameters { rest: url.to_owned(), ssl_mode: None, root: None });
        };
        let (mut rest, mut ssl_mode, mut root) = (Vec::new(), None, None);
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let parts = parameter.split_once('=');
            let parts = parts.map(|(name, value)| (percent_decoded(name), value));
            match parts.as_ref().map(|(name, value)| (name.as_str(), *value)) {
                Some(("sslmode", mode)) => ssl_mode = Some(mode.to_owned()),
                Some(("sslrootcert", file)) => root = Some(percent_decoded(file).into()),
                Some(("password", _)) => {
                    // It would be in lists of processes and in records of command lines.
                    return Err(bad_url(
                        "a password in a parameter of the URL is not taken: use PGPASSWORD or ~/.pgpass",
                    ));
                }
                _ => rest.push(parameter),
            }
        }
        let rest = if rest.is_empty() {
            before.to_owned()
        } else {
            format!("{before}?{}", rest.join("&"))
        };
        Ok(Parameters { rest, ssl_mode, root })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Location;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread;
    use std::time::Instant;

    fn target(url: &str) -> Result<Target, ServerFault> {
        let Location::Postgres(url) = Location::from(url) else { panic!("{url}") };
        Target::parse(&url)
    }

    #[test]
    fn what_crosses_a_network_is_encrypted_unless_the_url_says_otherwise() {
        for local in
            ["postgres://u@localhost/d", "postgres://u@127.0.0.1/d", "postgres://u@%2Frun%2Fpg/d"]
        {
            assert!(target(local).unwrap().tls.is_none(), "{local}");
        }
        assert!(target("postgres://u@db.lab/d?sslmode=disable").unwrap().tls.is_none());
        // Without roots this is refused, which is no unencrypted connection either.
        let far = |url| match target(url) {
            Ok(target) => target.tls.is_some() && target.config.get_ssl_mode() == SslMode::Require,
            Err(fault) => matches!(fault, ServerFault::Tls { .. }),
        };
        assert!(far("postgres://u@db.lab/d") && far("postgres://u@localhost/d?sslmode=require"));
        for weak in ["prefer", "allow", "x"] {
            let fault = target(&format!("postgres://u@db.lab/d?sslmode={weak}")).err();
            assert!(matches!(fault, Some(ServerFault::BadUrl { .. })), "{weak}: {fault:?}");
        }
    }

    #[test]
    fn a_server_that_lets_in_and_then_falls_silent_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let (mut link, _) = listener.accept().unwrap();
            let mut length = [0; 4];
            link.read_exact(&mut length).unwrap();
            let mut startup = vec![0; u32::from_be_bytes(length) as usize - length.len()];
            link.read_exact(&mut startup).unwrap();
            // AuthenticationOk, then ReadyForQuery. What is asked after that stays without an answer.
            link.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").unwrap();
            link
        });
        let url = format!("postgres://u@127.0.0.1:{port}/d");
        let Location::Postgres(url) = Location::from(url.as_str()) else { panic!("{url}") };
        let begun = Instant::now();
        let error = connect_within(&url, Duration::from_secs(1), Waiting::default())
            .err()
            .map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert!(error.contains("nothing came back within 1 s"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(20));
        drop(server.join());
    }

    #[test]
    fn a_url_that_is_none_is_refused_without_quoting_it() {
        for url in ["postgres://u:secret@h:port/d", "postgres://u:secret@h/d?nonsense=secret"] {
            let Some(fault) = target(url).err() else { panic!("{url}") };
            assert!(!fault.to_string().contains("secret"), "{fault}");
        }
        for several in ["u@/d?hostaddr=10.0.0.5", "u@localhost/d?hostaddr=10.0.0.5", "u@a,b/d"] {
            let fault = target(&format!("postgres://{several}")).err();
            assert!(matches!(fault, Some(ServerFault::BadUrl { .. })), "{several}: {fault:?}");
        }
        for url in ["h/d?user=u&password=secret", "h/d?user=u&pass%77ord=secret"] {
            let fault = target(&format!("postgres://{url}")).err();
            assert!(fault.unwrap().to_string().contains("PGPASSWORD"), "{url}");
        }
    }

    #[test]
    fn parameters_of_encryption_are_taken_out_of_the_url() {
        let all = Parameters::read(
            "postgres://h/d?host=/run&sslrootcert=%2Fa%20b.pem&sslmode=verify-full",
        );
        let wanted = Parameters {
            rest: "postgres://h/d?host=/run".into(),
            ssl_mode: Some("verify-full".into()),
            root: Some("/a b.pem".into()),
        };
        assert_eq!(all, Ok(wanted));
    }
}
