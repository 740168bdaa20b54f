//! `knee load` over TLS, with a server that many people run.

use crate::common::http::Nginx;
use crate::common::{Came, Knee};
use model::Outcome;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::Value;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

/// nginx at a port with TLS and at one without, with the file `/x.txt`.
struct Server {
    tls: SocketAddr,
    plain: SocketAddr,
    directory: tempfile::TempDir,
    nginx: Nginx,
}

impl Server {
    /// None where nginx is not installed.
    fn start() -> Option<Server> {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        certify(&path("ca.pem"), &path("cert.pem"), &path("key.pem"));
        std::fs::write(path("x.txt"), "hello").unwrap();
        let [tls, plain] = [free_address(), free_address()];
        let own = directory.path().display();
        let lines = format!(
            "listen {plain};\nlisten {tls} ssl;\nssl_certificate {own}/cert.pem;\n\
             ssl_certificate_key {own}/key.pem;\nssl_session_cache shared:sessions:1m;\n"
        );
        let nginx = Nginx::start_with(directory.path(), &lines)?;
        Some(Server { tls, plain, directory, nginx })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Files of a CA, and of a server's certificate for `localhost`.
fn certify(ca: &Path, certificate: &Path, key: &Path) {
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap();
    let own = KeyPair::generate().unwrap();
    let parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let signed = parameters.signed_by(&own, &issuer).unwrap();
    std::fs::write(ca, issuer.pem()).unwrap();
    std::fs::write(certificate, signed.pem()).unwrap();
    std::fs::write(key, own.serialize_pem()).unwrap();
}

fn json(came: &Came) -> Value {
    serde_json::from_str(&came.out).unwrap_or_else(|error| panic!("{error}: {came:?}"))
}

#[test]
fn a_server_is_loaded_over_tls_that_is_verified() {
    let Some(server) = Server::start() else { return };
    let knee = Knee::new();
    let url = format!("https://localhost:{}/x.txt", server.tls.port());
    let ca = server.path("ca.pem");
    let ca = ca.to_str().unwrap();
    let own = ["load", &url, "--ca", ca, "--requests", "40", "--no-keep-alive"];
    let came = knee.run(&own);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.starts_with(&url), "{came:?}");
    assert!(came.out.contains("  TLS         4"), "{came:?}");
    assert!(came.out.contains(" full, ") && came.out.contains(" resumed; TLSv1."), "{came:?}");
    assert!(!came.out.contains("--insecure"), "{came:?}");
    let figures =
        json(&knee.run(&[&own[..], &["--json", "--no-resume", "--connections", "1"]].concat()));
    let handshakes = &figures["handshakes"];
    // A connection that is opened for a request that another one has sent needs one, too.
    assert!(handshakes["full"].as_u64() >= Some(40) && handshakes["resumed"] == 0, "{figures}");
    assert_eq!(figures["handshake"]["count"], handshakes["full"], "{figures}");
    assert_eq!(figures["plan"]["tls"]["verified"], true, "{figures}");
    // Dead connections are encrypted, too.
    let dead =
        json(&knee.run(&["load", &url, "--ca", ca, "--requests", "10", "--dead", "20", "--json"]));
    assert_eq!((&dead["dead"]["opened"], &dead["dead"]["alive_at_end"]), (&20.into(), &20.into()));
}

#[test]
fn workloads_measure_a_server_over_tls_that_is_verified_or_say_that_it_is_not() {
    let Some(server) = Server::start() else { return };
    std::fs::write(server.path("big"), vec![7; 1_500_000]).unwrap();
    let (knee, quick) = (Knee::new(), ["--rounds", "1", "--time", "20ms"]);
    let url = |file: &str| format!("mine=https://localhost:{}/{file}", server.tls.port());
    let ca = server.path("ca.pem");
    let own = [&["--ca", ca.to_str().unwrap()], &quick[..]].concat();
    let each = ["run", "connect", "request", "dead", "--points", "20", "--alive", "4", "--url"];
    let came = knee.run(&[&each[..], &[&*url("x.txt")], &own[..]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let cells = knee.last_run().cells;
    assert_eq!(cells.len(), 3, "{came:?}");
    for cell in &cells {
        assert_eq!(cell.outcome, Outcome::Measured, "{:?}", cell.key);
        let has_handshake = cell.metrics.iter().any(|metric| metric.name == "handshake");
        assert_eq!(has_handshake, cell.key.workload == "connect", "{:?}", cell.key);
    }
    assert!(!knee.run(&["show"]).out.contains("--insecure"));
    let big = ["run", "download", "--points", "1", "--second-client", "slow", "--url"];
    let came = knee.run(&[&big[..], &[&*url("big")], &own[..]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let unverified = ["run", "request", "--points", "5", "--insecure", "--url"];
    let came = knee.run(&[&unverified[..], &[&*url("x.txt")], &quick[..]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(knee.run(&["show"]).out.contains("not verified (--insecure)"), "{came:?}");
    let unknown = ["run", "request", "--points", "5", "--url"];
    let came = knee.run(&[&unknown[..], &[&*url("x.txt")], &quick[..]].concat());
    assert_eq!(came.code, Some(1), "{came:?}");
    let Outcome::Failed { reason, .. } = &knee.last_run().cells[0].outcome else {
        panic!("{came:?}")
    };
    assert!(reason.to_string().contains("from an unknown issuer → --ca FILE"), "{reason}");
}

#[test]
fn servers_that_are_started_are_measured_with_tls_and_without() {
    let (knee, quick) = (Knee::new(), ["--rounds", "1", "--time", "20ms", "--points", "20"]);
    let all = [
        "run",
        "connect",
        "dead",
        "--subjects",
        "epoll-level,nginx",
        "--alive",
        "4",
        "--workers",
        "1",
    ];
    let came = knee.run(&[&all[..], &["--tls", "no,full,resumed"], &quick[..]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    let servers = if Path::new("/usr/sbin/nginx").exists() { 2 } else { 1 };
    assert_eq!(run.cells.len(), servers * 2 * 3, "{came:?}");
    for cell in &run.cells {
        assert_eq!(cell.outcome, Outcome::Measured, "{:?}", cell.key);
        let is_tls = cell.key.parameters["tls"] != "no";
        let has_handshake = cell.metrics.iter().any(|metric| metric.name == "handshake");
        assert_eq!(has_handshake, is_tls && cell.key.workload == "connect", "{:?}", cell.key);
        assert_eq!(cell.facts.contains_key("TLS"), is_tls, "{:?}", cell.facts);
    }
    let came = knee.run(&["run", "download", "--points", "2", "--rounds", "1", "--tls", "full"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.contains("reads what it encrypts"), "{came:?}");
}

/// A server of one thread for each connection, with the certificate that it gets, if it gets one.
const OF_PYTHON: &str = r#"
import socket, ssl, sys, threading
port, certificate = sys.argv[1], sys.argv[2:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
if certificate: context.load_cert_chain(*certificate)
def serve(stream):
    try:
        if certificate: stream = context.wrap_socket(stream, server_side=True)
        with stream:
            while stream.recv(65536):
                stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
    except OSError:
        pass
listener = socket.create_server(("127.0.0.1", int(port)))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"#;

#[test]
fn a_server_of_ones_own_gets_its_certificate() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("server.py");
    std::fs::write(&script, OF_PYTHON).unwrap();
    let command = format!("py=python3 {} {{port}} {{cert}} {{key}}", script.display());
    let (knee, quick) = (Knee::new(), ["--rounds", "1", "--time", "20ms", "--points", "20"]);
    let own = ["run", "connect", "--server", &command];
    for (more, values) in [(&[][..], &["full"][..]), (&["--tls", "no,full"], &["no", "full"])] {
        let came = knee.run(&[&own[..], &quick[..], more].concat());
        assert_eq!(came.code, Some(0), "{came:?}");
        let cells = knee.last_run().cells;
        assert_eq!(cells.len(), values.len(), "{came:?}");
        for cell in &cells {
            let tls = &cell.key.parameters["tls"];
            let has_handshake = cell.metrics.iter().any(|metric| metric.name == "handshake");
            assert!(values.iter().any(|value| *tls == **value), "{cell:?}");
            assert_eq!(has_handshake, *tls == "full", "{cell:?}");
        }
    }
}

#[test]
fn a_certificate_that_is_not_verified_is_named_everywhere() {
    let Some(server) = Server::start() else { return };
    let knee = Knee::new();
    let url = format!("https://{}/x.txt", server.tls);
    let record = server.path("record.db");
    let own = ["load", &url, "--duration", "200ms", "--insecure"];
    let recorded = [&own[..], &["--record", record.to_str().unwrap()]].concat();
    let came = knee.run(&recorded);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.contains("was not verified (--insecure)"), "{came:?}");
    let shown = knee.run(&["show", "--record", record.to_str().unwrap(), "--all"]);
    assert!(shown.out.contains("was not verified"), "{shown:?}");
    let exported = knee.run(&["show", "--record", record.to_str().unwrap(), "--json"]);
    assert!(exported.out.contains("\"unverified\""), "{exported:?}");
    let figures = json(&knee.run(&[&own[..], &["--json"]].concat()));
    assert_eq!(figures["plan"]["tls"]["verified"], false, "{figures}");
}

#[test]
fn without_tls_there_is_one_line_with_a_remedy() {
    let Some(server) = Server::start() else { return };
    let refused = |url: String, part: &str| {
        let came = Knee::new().run(&["load", &url]);
        assert_eq!((came.code, came.out.as_str()), (Some(1), ""), "{came:?}");
        assert_eq!(came.err.trim_end().lines().count(), 1, "{came:?}");
        assert!(came.err.contains(part), "{came:?}");
    };
    let unknown = "from an unknown issuer → --ca FILE";
    refused(format!("https://localhost:{}/x.txt", server.tls.port()), unknown);
    let no_tls = "does not speak TLS on this port → use http://";
    refused(format!("https://{}/x.txt", server.plain), no_tls);
}

#[test]
fn a_unix_socket_is_loaded_and_its_server_found() {
    let Some(server) = Server::start() else { return };
    let socket = server.nginx.socket();
    let socket = socket.to_str().unwrap();
    let own = ["load", "http://localhost/x.txt", "--unix", socket, "--requests", "2k"];
    let came = Knee::new().run(&own);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.contains(&format!("http://localhost/x.txt at {socket}")), "{came:?}");
    let figures = json(&Knee::new().run(&[&own[..], &["--json", "--dead", "10"]].concat()));
    assert_eq!((&figures["replies"], &figures["address"]), (&2_000.into(), &socket.into()));
    assert_eq!(figures["server"]["processes"], 1, "{figures}");
    assert_eq!(figures["dead"]["alive_at_end"], 10, "{figures}");
}
