//! Loads over TLS: handshakes, resumption, what a server may do wrong, and why there is no TLS with it.

use crate::common::{Answer, OK, Server};
use load::{
    Arrivals, Dead, Handshakes, Holding, Housing, NoStream, Outcome, Plan, Shape, Stream, Target,
    Tls, TlsFault, TlsOptions, pipelines,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A CA, in a file, and certificates of it.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    directory: tempfile::TempDir,
}

impl Authority {
    fn new() -> Authority {
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let issuer = CertifiedIssuer::self_signed(parameters, key).unwrap();
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("ca.pem"), issuer.pem()).unwrap();
        Authority { issuer, directory }
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    fn trusted(&self) -> TlsOptions {
        TlsOptions { ca: Some(self.file()), ..TlsOptions::default() }
    }

    /// The configuration of a server with a certificate for `localhost` that is changed first.
    fn server(&self, change: impl FnOnce(&mut CertificateParams)) -> ServerConfig {
        let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        change(&mut parameters);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        Authority::configured(certificate.der().clone(), key)
    }

    /// The configuration of a server with this certificate.
    fn configured(
        certificate: CertificateDer<'static>,
        key: PrivatePkcs8KeyDer<'static>,
    ) -> ServerConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth();
        let mut config =
            builder.with_single_cert(vec![certificate], PrivateKeyDer::from(key)).unwrap();
        config.send_tls13_tickets = 2;
        config
    }
}

/// How a server ends its connections, and how it sends.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Keeps,
    /// A byte at a time, as far as the kernel lets it.
    InBytes,
    /// After a reply whose end is that of the connection, with the notice that it is, or without.
    Closes {
        notice: bool,
    },
}

/// Serves each connection in a thread of its own, to its end.
fn serve(config: ServerConfig, manner: Manner) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let config = Arc::new(config);
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            std::thread::spawn(move || answer(socket, config, manner));
        }
    });
    address
}

/// Sends a byte at a time where that is its manner.
struct Pieces(TcpStream, Manner);

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let length = if self.1 == Manner::InBytes { bytes.len().min(1) } else { bytes.len() };
        self.0.write(&bytes[..length])
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

fn answer(socket: TcpStream, config: Arc<ServerConfig>, manner: Manner) {
    socket.set_nodelay(true).unwrap();
    let connection = ServerConnection::new(config).unwrap();
    let mut stream = rustls::StreamOwned::new(connection, Pieces(socket, manner));
    let mut pending = Vec::new();
    let mut bytes = [0; 4096];
    // A client that is gone has read what it needed.
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        pending.extend_from_slice(&bytes[..count]);
        while let Some(end) = pending.windows(4).position(|four| four == b"\r\n\r\n") {
            pending.drain(..end + 4);
            let Manner::Closes { notice } = manner else {
                let _ = stream.write_all(OK);
                continue;
            };
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nuntil the end");
            if notice {
                stream.conn.send_close_notify();
            }
            let _ = stream.flush();
            return;
        }
    }
}

fn target(address: SocketAddr, host: &str, options: &TlsOptions) -> Target {
    let tls = Some(Tls::new(host, options).unwrap());
    Target { tls, ..Target::new(address, host, "/") }
}

fn plan(target: Target) -> Plan {
    Plan { timeout: Duration::from_secs(60), ..Plan::new(target) }
}

fn run(plan: &Plan) -> Outcome {
    load::run(plan, &AtomicBool::new(false), None).unwrap()
}

fn handshakes(outcome: &Outcome) -> Handshakes {
    outcome.counts.handshakes.clone().unwrap()
}

#[test]
fn requests_go_over_connections_that_are_verified() {
    let ca = Authority::new();
    let address = serve(ca.server(|_| {}), Manner::Keeps);
    let plan = plan(target(address, "localhost", &ca.trusted()));
    let closed =
        Plan { connections: 4, threads: 2, requests: Some(400), duration: None, ..plan.clone() };
    let outcome = run(&closed);
    assert_eq!((outcome.counts.replies, outcome.counts.errors.total()), (400, 0), "{outcome:?}");
    let shaken = handshakes(&outcome);
    assert_eq!(shaken.full + shaken.resumed, 4, "{shaken:?}");
    assert_eq!(shaken.negotiated.unwrap().0, "TLSv1.3");
    assert_eq!(outcome.handshake.unwrap().count, 4);
    // Each request and reply is a piece of its own, and in a pipeline several are one.
    let pipelined = Plan { pipeline: 8, ..closed.clone() };
    assert_eq!(run(&pipelined).counts.replies, 400);
    assert_eq!(pipelines(&plan.target), Some(true));
    let arrivals = Arrivals::Constant { per_s: 2_000.0 };
    let open = Plan { shape: Shape::Open(arrivals), ..closed.clone() };
    assert_eq!(run(&open).counts.replies, 400);
    let sessions = Plan { shape: Shape::Sessions(arrivals), calls: Some(2), ..closed };
    let outcome = run(&sessions);
    assert_eq!((outcome.counts.replies, outcome.counts.errors.total()), (400, 0), "{outcome:?}");
}

#[test]
fn sessions_are_resumed_unless_each_client_is_new() {
    let ca = Authority::new();
    for versions in [&[&rustls::version::TLS13], &[&rustls::version::TLS12]] {
        let mut config = ca.server(|_| {});
        if versions[0].version == rustls::ProtocolVersion::TLSv1_2 {
            config = tls_12(&ca);
        }
        let address = serve(config, Manner::Keeps);
        let own = Plan {
            keep_alive: false,
            requests: Some(20),
            duration: None,
            ..plan(target(address, "localhost", &ca.trusted()))
        };
        // Each load begins with clients that the server does not know.
        for _ in 0..2 {
            let shaken = handshakes(&run(&own));
            assert_eq!((shaken.full, shaken.resumed), (1, 19), "{shaken:?}");
        }
        let new = TlsOptions { no_resume: true, ..ca.trusted() };
        let new = Plan { target: target(address, "localhost", &new), ..own };
        let shaken = handshakes(&run(&new));
        assert_eq!((shaken.full, shaken.resumed), (20, 0), "{shaken:?}");
    }
}

fn tls_12(ca: &Authority) -> ServerConfig {
    let key = KeyPair::generate().unwrap();
    let parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = parameters.signed_by(&key, &ca.issuer).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap()
}

#[test]
fn records_may_come_in_pieces() {
    let ca = Authority::new();
    let address = serve(ca.server(|_| {}), Manner::InBytes);
    let plan = plan(target(address, "localhost", &ca.trusted()));
    let outcome = run(&Plan { requests: Some(20), duration: None, ..plan });
    assert_eq!((outcome.counts.replies, outcome.counts.errors.total()), (20, 0), "{outcome:?}");
}

#[test]
fn an_end_without_notice_may_be_a_cut() {
    let ca = Authority::new();
    for notice in [true, false] {
        let address = serve(ca.server(|_| {}), Manner::Closes { notice });
        let plan = plan(target(address, "localhost", &ca.trusted()));
        let outcome = run(&Plan { requests: Some(5), duration: None, ..plan });
        let (replies, short) = if notice { (5, 0) } else { (0, 5) };
        let counts = &outcome.counts;
        assert_eq!((counts.replies, counts.errors.short), (replies, short), "{notice}: {counts:?}");
    }
}

/// Why a load has no TLS with the server, and that it says so as a stream does.
fn fault(address: SocketAddr, host: &str, options: &TlsOptions) -> TlsFault {
    let target = target(address, host, options);
    let Err(NoStream::Tls(fault)) = Stream::connect(&target, Duration::from_secs(60)) else {
        panic!("a stream to {host}")
    };
    let outcome =
        run(&Plan { requests: Some(1), duration: Some(Duration::from_millis(50)), ..plan(target) });
    assert_eq!(outcome.counts.replies, 0);
    assert!(outcome.counts.errors.tls > 0, "{outcome:?}");
    assert_eq!(handshakes(&outcome).fault, Some(fault.clone()));
    fault
}

#[test]
fn each_fault_of_a_certificate_has_its_name() {
    let (ca, stranger) = (Authority::new(), Authority::new());
    let good = serve(ca.server(|_| {}), Manner::Keeps);
    assert_eq!(fault(good, "localhost", &stranger.trusted()), TlsFault::UnknownIssuer);
    assert_eq!(fault(good, "other.test", &ca.trusted()), TlsFault::NameMismatch);
    assert_eq!(fault(good, "127.0.0.1", &ca.trusted()), TlsFault::NameMismatch);
    let old = ca.server(|certificate| certificate.not_after = date_time_ymd(2001, 1, 1));
    assert_eq!(fault(serve(old, Manner::Keeps), "localhost", &ca.trusted()), TlsFault::Expired);
    let new = ca.server(|certificate| certificate.not_before = date_time_ymd(4000, 1, 1));
    assert_eq!(fault(serve(new, Manner::Keeps), "localhost", &ca.trusted()), TlsFault::NotValidYet);
    let other_ca = ca.server(|certificate| {
        certificate.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    });
    let other_ca = serve(other_ca, Manner::Keeps);
    assert_eq!(fault(other_ca, "localhost", &ca.trusted()), TlsFault::CaCertificate);
    // As `openssl req -x509` makes them: trusted, and the server's own.
    let own_key = PrivatePkcs8KeyDer::from(ca.issuer.key().serialize_der());
    let own = Authority::configured(ca.issuer.der().clone(), own_key);
    assert_eq!(
        fault(serve(own, Manner::Keeps), "localhost", &ca.trusted()),
        TlsFault::CaCertificate
    );
    // All of these are servers to a client that does not ask.
    let insecure = TlsOptions { insecure: true, ..TlsOptions::default() };
    for address in [good, other_ca] {
        let plan = plan(target(address, "other.test", &insecure));
        let outcome = run(&Plan { requests: Some(3), duration: None, ..plan });
        assert_eq!(outcome.counts.replies, 3, "{outcome:?}");
    }
}

/// A server that does this to each connection, after the first bytes of its client.
fn raw(act: fn(TcpStream)) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            if let Ok(1..) = socket.read(&mut [0; 4096]) {
                act(socket);
            }
        }
    });
    address
}

#[test]
fn what_is_no_server_of_tls_is_named() {
    let insecure = TlsOptions { insecure: true, ..TlsOptions::default() };
    let fault = |act| fault(raw(act), "localhost", &insecure);
    let plain = fault(|mut socket| {
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    });
    assert_eq!(plain, TlsFault::NotTls);
    // The alert `protocol_version`, as a server of TLS 1.1 sends it.
    let old = fault(|mut socket| {
        let _ = socket.write_all(&[21, 3, 2, 0, 2, 2, 70]);
    });
    assert_eq!(old, TlsFault::Version);
    let ends = fault(|socket| {
        let _ = socket.shutdown(std::net::Shutdown::Write);
        // All that the client still sends, so that the end is no reset.
        let _ = (&socket).read_to_end(&mut Vec::new());
    });
    assert_eq!(ends, TlsFault::Ended);
    let refuses = fault(|mut socket| {
        let _ = socket.write_all(&[21, 3, 3, 0, 2, 2, 40]);
    });
    assert!(matches!(refuses, TlsFault::Failed { .. }), "{refuses:?}");
}

#[test]
fn a_server_that_stops_in_the_handshake_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let insecure = TlsOptions { insecure: true, ..TlsOptions::default() };
    let target = target(silent.local_addr().unwrap(), "localhost", &insecure);
    let stream = Stream::connect(&target, Duration::from_millis(20));
    assert!(matches!(stream, Err(NoStream::Tls(TlsFault::Silent))), "{stream:?}");
    let plan = Plan { timeout: Duration::from_millis(20), ..plan(target) };
    let outcome = run(&Plan { duration: Some(Duration::from_millis(100)), ..plan });
    assert_eq!(outcome.counts.connections, 0);
    assert!(outcome.counts.errors.timeout > 0, "{outcome:?}");
}

#[test]
fn a_plain_request_recognises_a_server_of_tls() {
    let ca = Authority::new();
    let address = serve(ca.server(|_| {}), Manner::Keeps);
    let target = Target::new(address, "localhost", "/");
    let outcome = run(&Plan { requests: Some(1), duration: None, ..plan(target) });
    assert_eq!(outcome.counts.misfit, Some(load::Misfit::Tls), "{outcome:?}");
}

#[test]
fn dead_connections_are_encrypted_too() {
    let ca = Authority::new();
    let address = serve(ca.server(|_| {}), Manner::Keeps);
    let target = target(address, "localhost", &ca.trusted());
    let timeout = Duration::from_secs(60);
    let holding = Holding { housing: Housing::Threads, sources: Vec::new(), timeout };
    let stop = AtomicBool::new(false);
    let mut dead = Dead::open(&target, 20, &holding, &stop).unwrap();
    assert_eq!((dead.outcome.opened, dead.alive().unwrap()), (20, 20), "{:?}", dead.outcome);
    // Over a server that speaks plainly there is none.
    let plain = Server::start(|_| Answer::Last(OK.to_vec()));
    let target = Target { address: plain.address.into(), ..target };
    let holding = Holding { timeout: Duration::from_millis(50), ..holding };
    let dead = Dead::open(&target, 2, &holding, &stop).unwrap();
    let errors = dead.outcome.errors;
    assert_eq!((dead.outcome.opened, errors.tls + errors.timeout), (0, 2), "{errors:?}");
}
