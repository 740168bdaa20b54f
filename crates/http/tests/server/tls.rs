//! TLS over every mechanism: the same replies, sessions that resume, and clients that speak none.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use crate::common::{
    SMALL, Site, available, client, mixed_are_answered, read_reply, request, until,
};
use http::{Certificate, Server};
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore, StreamOwned};

type Encrypted = StreamOwned<ClientConnection, TcpStream>;

/// A client that trusts this certificate only.
fn config(certificate: &Certificate) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(certificate.chain.as_bytes()).unwrap()).unwrap();
    ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
        .into()
}

fn connect(server: &Server, config: &Arc<ClientConfig>) -> Encrypted {
    let connection = ClientConnection::new(Arc::clone(config), "localhost".try_into().unwrap());
    StreamOwned::new(connection.unwrap(), client(server))
}

/// Checks a server with TLS of each mechanism, which then has to end in good order.
fn each_encrypted(check: impl Fn(&Server, &Arc<ClientConfig>)) {
    let (site, certificate) = (Site::new(), Certificate::new_of_localhost().unwrap());
    let config = config(&certificate);
    for mechanism in available() {
        let certificate = Some(certificate.clone());
        let server = site.start(mechanism, |config| config.certificate = certificate);
        check(&server, &config);
        server.stopper().drain();
        assert_eq!(server.wait().unwrap().open, 0, "{mechanism}");
    }
}

#[test]
fn replies_are_the_same_and_those_behind_each_other_are_all_answered() {
    each_encrypted(|server, config| {
        let mut stream = connect(server, config);
        for _ in 0..20 {
            stream.write_all(&request("GET", "/small")).unwrap();
            assert_eq!(read_reply(&mut stream, false).body, SMALL);
        }
        let many = request("GET", "/small").repeat(3_000);
        stream.write_all(&many).unwrap();
        for _ in 0..3_000 {
            assert_eq!(read_reply(&mut stream, false).body, SMALL);
        }
        mixed_are_answered(&mut stream);
        until(server, |counts| counts.replies == 3_023 && counts.accepted == 1);
    });
}

#[test]
fn a_last_reply_ends_with_notice_and_the_next_connection_resumes_the_session() {
    each_encrypted(|server, config| {
        let kinds = (0..3).map(|_| {
            let mut stream = connect(server, config);
            stream
                .write_all(b"GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                .unwrap();
            let mut came = Vec::new();
            // An end without notice would be an error.
            stream.read_to_end(&mut came).unwrap();
            assert!(came.ends_with(SMALL));
            stream.conn.handshake_kind().unwrap()
        });
        let kinds: Vec<HandshakeKind> = kinds.collect();
        assert_eq!(kinds[1..], [HandshakeKind::Resumed, HandshakeKind::Resumed], "{kinds:?}");
    });
}

#[test]
fn a_client_that_speaks_no_tls_gets_an_alert_and_goes() {
    each_encrypted(|server, config| {
        let mut stream = client(server);
        stream.write_all(&request("GET", "/small")).unwrap();
        let mut came = Vec::new();
        // It may be reset, since it sent what nothing reads.
        let _ = stream.read_to_end(&mut came);
        assert!(came.is_empty() || came[0] == 21, "an alert: {came:?}");
        until(server, |counts| counts.open == 0);
        // One that leaves within its handshake, and one within a reply.
        drop(connect(server, config));
        let mut leaves = connect(server, config);
        leaves.write_all(&request("GET", "/big")).unwrap();
        drop(leaves);
        let mut stays = connect(server, config);
        stays.write_all(&request("GET", "/small")).unwrap();
        assert_eq!(read_reply(&mut stays, false).body, SMALL);
        drop(stays);
        until(server, |counts| counts.open == 0);
    });
}
