//! nginx, as distributions configure it: sendfile and `tcp_nopush`, files not cached, one connection
//! accepted at a time. Changed are: no access log, and connections are kept however often and however
//! long they are used.

use super::{CONFIGURATION, Foreign, LOG, Running, Server, Setup, program};
use crate::servers::tls::Encryption;
use engine::{Failure, descriptors_max};

pub(super) fn rows() -> Vec<Server> {
    vec![Server {
        name: "nginx",
        label: "nginx",
        summary: "nginx with a plain configuration, if it is installed",
        note: "its table of connections is allotted when it starts",
        is_ours: false,
        capacity: |descriptors| descriptors.saturating_sub(64),
        installed: |_| program("nginx").map(drop),
        start,
        tls: || Ok(()),
        own: None,
    }]
}

fn start(server: &Server, setup: &Setup) -> Result<Running, Failure> {
    let program = program("nginx").map_err(Failure::new)?;
    let arguments = ["-p", ".", "-e", LOG, "-c", CONFIGURATION];
    let server = Foreign { server, setup, program };
    server.start(|port| configuration(setup, port), &arguments)
}

fn configuration(setup: &Setup, port: u16) -> String {
    let (own, root, workers) = (setup.scratch.display(), setup.root.display(), setup.workers);
    // It drops root's rights, and then can't read what root's tests make.
    let user = if rustix::process::geteuid().is_root() { "user root;\n" } else { "" };
    // Of its last sixteenth it begins to close idle connections: the descriptors end before that.
    let connections = descriptors_max() + descriptors_max() / 8;
    let affinity = affinity(workers, &setup.cpus);
    let (ssl, certificate) = match &setup.encryption {
        None => ("", String::new()),
        Some(Encryption { chain, key, .. }) => {
            let (chain, key) = (chain.display(), key.display());
            (
                " ssl",
                format!(
                    "        ssl_certificate \"{chain}\";\n        ssl_certificate_key \"{key}\";\n        ssl_protocols TLSv1.2 TLSv1.3;\n"
                ),
            )
        }
    };
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("    {kind}_temp_path \"{own}/{kind}\";\n"))
        .concat();
    format!(
        "{user}daemon off;
worker_processes {workers};
{affinity}pid \"{own}/pid\";
error_log \"{own}/{LOG}\";
events {{
    worker_connections {connections};
    multi_accept off;
}}
http {{
    access_log off;
    types {{ text/html html; text/plain txt; }}
    default_type application/octet-stream;
    sendfile on;
    tcp_nopush on;
    open_file_cache off;
    keepalive_timeout 86400s;
    keepalive_requests 1000000000;
{temporary}    server {{
        listen 127.0.0.1:{port}{ssl};
{certificate}        root \"{root}\";
    }}
}}
"
    )
}

/// A CPU for each worker, in turn: bits, the first CPU last.
fn affinity(workers: usize, cpus: &[usize]) -> String {
    let mask = |&cpu: &usize| format!("1{}", "0".repeat(cpu));
    let masks: Vec<String> = cpus.iter().map(mask).collect();
    let masks: Vec<&str> = masks.iter().map(String::as_str).cycle().take(workers).collect();
    if masks.is_empty() {
        return String::new();
    }
    format!("worker_cpu_affinity {};\n", masks.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn workers_have_their_cpus_in_turn() {
        assert_eq!(affinity(3, &[0, 2]), "worker_cpu_affinity 1 100 1;\n");
        assert_eq!(affinity(2, &[]), "");
    }

    #[test]
    fn connections_are_kept_and_nothing_is_logged() {
        let setup = Setup { workers: 2, ..Setup::new(Path::new("/a b"), Path::new("/tmp/own")) };
        let text = configuration(&setup, 8099);
        for wanted in [
            "access_log off;",
            "keepalive_requests 1000000000;",
            "worker_processes 2;",
            "listen 127.0.0.1:8099;",
            "root \"/a b\";",
        ] {
            assert!(text.contains(wanted), "{text}");
        }
    }
}
