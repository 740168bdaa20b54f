//! lighttpd as it comes, without an access log. Connections are kept as often and as long as it can
//! count: 65,535 requests, and some nine hours.

use super::{CONFIGURATION, Foreign, LOG, Running, Server, Setup, program};
use crate::servers::tls::{Encryption, Unfit};
use engine::{Failure, descriptors_max};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

pub(super) fn rows() -> Vec<Server> {
    vec![Server {
        name: "lighttpd",
        label: "lighttpd",
        summary: "lighttpd with a plain configuration, if it is installed",
        note: "it holds half as many connections as it may have descriptors",
        is_ours: false,
        // It takes no more of them than half of its descriptors: another may be needed for a file.
        capacity: |descriptors| (descriptors / 2).saturating_sub(16),
        installed: |_| program("lighttpd").map(drop),
        start,
        tls: has_tls,
        own: None,
    }]
}

fn start(server: &Server, setup: &Setup) -> Result<Running, Failure> {
    let program = program("lighttpd").map_err(Failure::new)?;
    let server = Foreign { server, setup, program };
    server.start(|port| configuration(setup, port), &["-D", "-f", CONFIGURATION])
}

/// Whether it has the module, which is a package of its own.
fn has_tls() -> Result<(), Unfit> {
    static HAS_TLS: LazyLock<Result<(), Unfit>> = LazyLock::new(|| {
        let configuration = "server.document-root = \"/\"\nserver.modules = ( \"mod_openssl\" )\n";
        let tried = program("lighttpd").and_then(|program| {
            let mut words = Command::new(program);
            words.args(["-tt", "-f", "-"]).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child =
                words.stdin(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
            if let Some(mut stdin) = child.stdin.take() {
                // One that ends without reading says so by its exit code.
                let _ = stdin.write_all(configuration.as_bytes());
            }
            child.wait().map_err(|error| error.to_string())
        });
        match tried {
            Ok(ended) if ended.success() => Ok(()),
            _ => Err(Unfit {
                clause: "it has no mod_openssl".to_owned(),
                remedy: "install lighttpd-mod-openssl",
            }),
        }
    });
    HAS_TLS.clone()
}

fn configuration(setup: &Setup, port: u16) -> String {
    let (own, root) = (setup.scratch.display(), setup.root.display());
    // What it counts these in ends there.
    let descriptors = descriptors_max().min(65_535);
    let connections = descriptors / 2;
    // One process serves, unless more are asked for: then they share its socket.
    let workers = match setup.workers {
        1 => String::new(),
        many => format!("server.max-worker = {many}\n"),
    };
    let tls = setup.encryption.as_ref().map_or_else(String::new, |Encryption { chain, key, .. }| {
        let (chain, key) = (chain.display(), key.display());
        format!(
            "server.modules += ( \"mod_openssl\" )\nssl.engine = \"enable\"\nssl.pemfile = \"{chain}\"\n\
             ssl.privkey = \"{key}\"\n"
        )
    });
    format!(
        "server.document-root = \"{root}\"
server.bind = \"127.0.0.1\"
server.port = {port}
server.errorlog = \"{own}/{LOG}\"
server.max-fds = {descriptors}
server.max-connections = {connections}
server.max-keep-alive-requests = 65535
server.max-keep-alive-idle = 32767
{workers}{tls}mimetype.assign = ( \".html\" => \"text/html\", \".txt\" => \"text/plain\" )
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn workers_are_only_named_where_there_are_several() {
        let mut setup = Setup::new(Path::new("/www"), Path::new("/tmp/own"));
        assert!(!configuration(&setup, 1).contains("max-worker"));
        setup.workers = 2;
        assert!(configuration(&setup, 1).contains("server.max-worker = 2\n"));
    }
}
