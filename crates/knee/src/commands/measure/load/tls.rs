//! The flags of `https://`, and whether there is TLS with the server at all.

use crate::exit::Trouble;
use ::load::{Address, NoStream, Plan, Stream, Target, Tls, TlsOptions, Url};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// How the server of an `https://` URL is verified.
#[derive(Args, Clone, Debug)]
pub struct TlsFlags {
    /// Trust the certificates of this file (PEM) too, besides those of the system
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca: Option<PathBuf>,
    /// Do not verify the server's certificate
    #[arg(long)]
    insecure: bool,
    /// A full TLS handshake for each connection, as of a new client; without it, connections resume sessions
    #[arg(long)]
    no_resume: bool,
}

/// How a server was verified.
#[derive(Serialize, JsonSchema)]
pub struct TlsView {
    /// Whether its certificate was verified.
    verified: bool,
    /// The file of further certificates that were trusted.
    ca: Option<String>,
    /// Whether connections resumed sessions.
    resume: bool,
}

impl TlsView {
    pub fn new(tls: &Tls) -> TlsView {
        let TlsOptions { ca, insecure, no_resume } = &tls.options;
        let ca = ca.as_ref().map(|file| file.display().to_string());
        TlsView { verified: !insecure, ca, resume: !no_resume }
    }
}

pub fn target(url: &Url, address: Address, flags: &TlsFlags) -> Result<Target, String> {
    let TlsFlags { ca, insecure, no_resume } = flags.clone();
    if !url.is_tls && (ca.is_some() || insecure || no_resume) {
        return Err("--ca, --insecure and --no-resume are for https:// URLs".to_owned());
    }
    let options = TlsOptions { ca, insecure, no_resume };
    let tls = url.is_tls.then(|| Tls::new(&url.host, &options)).transpose()?;
    Ok(Target { tls, ..Target::new(address, url.host_header(), url.path.clone()) })
}

/// Shakes hands once: why there is no TLS is one cause for all connections.
pub fn check(plan: &Plan) -> Result<(), Trouble> {
    if plan.target.tls.is_none() {
        return Ok(());
    }
    match Stream::connect(&plan.target, plan.timeout) {
        Err(no_tls @ NoStream::Tls(_)) => {
            Err(Trouble::failed(format!("{}: {no_tls}", plan.target.address)))
        }
        Err(NoStream::Io(_)) | Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddr};

    #[test]
    fn a_file_without_certificates_is_refused_by_its_flag() {
        let directory = tempfile::tempdir().unwrap();
        let empty = directory.path().join("empty.pem");
        std::fs::write(&empty, "no certificate").unwrap();
        let address = Address::from(SocketAddr::from((Ipv4Addr::LOCALHOST, 443)));
        let url = Url::parse("https://localhost/").unwrap();
        let missing = directory.path().join("none");
        for (file, why) in [(empty, "has no certificate"), (missing, "No such")] {
            let flags = TlsFlags { ca: Some(file), insecure: false, no_resume: false };
            let message = target(&url, address.clone(), &flags).unwrap_err();
            assert!(message.contains(why) && message.contains("--ca"), "{message}");
        }
    }
}
