//! TLS between a server and its clients: a parameter that the workloads over servers share.

use crate::servers::drivers::Server;
use crate::shared::shortage;
use engine::{Cell, Defaults, Failure, Fit, LimitCause, Parameter, Probe, Values};
use load::{Handshakes, TlsOptions};
use std::path::{Path, PathBuf};

/// The parameter.
pub(crate) const TLS: Parameter = Parameter {
    name: "tls",
    about: "TLS: none, connections by full handshakes, or by those that resume a session",
    values: Values::OneOf(&[NONE, FULL, "resumed"]),
    default: Defaults::always(&[NONE]),
    sweep: None,
};
/// Its values where it is only asked whether there is TLS.
pub(crate) const NONE: &str = "no";
pub(crate) const FULL: &str = "full";

/// How connections begin to be encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// Each proves the server's identity, and agrees on new keys.
    Full,
    /// Each resumes a session of an earlier one, as a browser's does.
    Resumed,
}

impl Handshake {
    /// That of a cell; none where nothing is encrypted.
    pub fn from_cell(cell: &Cell) -> Option<Handshake> {
        match &*cell.text(TLS.name).ok()? {
            NONE => None,
            FULL => Some(Handshake::Full),
            _ => Some(Handshake::Resumed),
        }
    }
}

/// What the connections of a cell are encrypted with: the files of a certificate of `localhost` that was made for it, in PEM.
#[derive(Clone, Debug)]
pub struct Encryption {
    handshake: Handshake,
    /// Its certificate.
    pub chain: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

impl Encryption {
    /// That of a cell, in this directory; none where nothing is encrypted.
    pub fn make(cell: &Cell, directory: &Path) -> Result<Option<Encryption>, Failure> {
        let Some(handshake) = Handshake::from_cell(cell) else { return Ok(None) };
        Ok(Some(Encryption { handshake, ..Self::full(directory)? }))
    }

    /// One with full handshakes, in this directory.
    pub fn full(directory: &Path) -> Result<Encryption, Failure> {
        let made = http::Certificate::new_of_localhost()
            .map_err(|error| Failure::new(error.to_string()))?;
        let [chain, key] = ["cert.pem", "key.pem"].map(|name| directory.join(name));
        let write = |file: &Path, text| {
            std::fs::write(file, text).map_err(shortage::during("writing a certificate"))
        };
        write(&chain, made.chain)?;
        write(&key, made.key)?;
        Ok(Encryption { handshake: Handshake::Full, chain, key })
    }

    /// How a client verifies a server with this certificate.
    pub fn options(&self) -> TlsOptions {
        let options = TlsOptions { ca: Some(self.chain.clone()), ..TlsOptions::default() };
        self.with_handshake(options)
    }

    /// The same client, whose connections begin as the cell says.
    pub fn with_handshake(&self, options: TlsOptions) -> TlsOptions {
        TlsOptions { no_resume: self.handshake == Handshake::Full, ..options }
    }
}

/// States what a connection agreed on, where it is encrypted.
pub(crate) fn state(handshake: Option<&Handshakes>, probe: &mut Probe) {
    if let Some((version, suite)) = handshake.and_then(|first| first.negotiated.as_ref()) {
        probe.fact("TLS", format!("{version}, {suite}"));
    }
}

/// Why a server is not measured with TLS, or without.
#[derive(Clone, Debug)]
pub struct Unfit {
    /// In a clause: `it has no mod_openssl`.
    pub clause: String,
    /// What changes that.
    pub remedy: &'static str,
}

/// Whether a server speaks what a cell asks for.
pub(crate) fn fit(server: &Server, cell: &Cell) -> Fit {
    let is_tls = Handshake::from_cell(cell).is_some();
    let Err(Unfit { clause, remedy }) = server.speaks(is_tls) else { return Fit::Measure };
    let with = if is_tls { "with" } else { "without" };
    let what = format!("{} {with} TLS", server.label);
    Fit::Leave { what, cause: LimitCause::Other { clause }, remedy: remedy.to_owned() }
}
