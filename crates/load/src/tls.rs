//! TLS on the client's side: trusted roots, handshakes, and why one fails.

mod fault;
mod roots;
mod session;

pub use fault::TlsFault;
pub(crate) use session::Session;

use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, HandshakeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::AddAssign;
use std::path::PathBuf;
use std::sync::Arc;

/// Servers whose sessions are remembered.
const SERVERS: usize = 1;

/// How a server is verified, and what its clients remember.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsOptions {
    /// A file of certificates (PEM) that are trusted besides those of the system.
    pub ca: Option<PathBuf>,
    /// Whether any certificate will do.
    pub insecure: bool,
    /// Whether each handshake is a full one, as of a new client. If not, connections resume sessions, as a browser's do.
    pub no_resume: bool,
}

/// TLS with a server of one name.
#[derive(Clone)]
pub struct Tls {
    /// How the server is verified.
    pub options: TlsOptions,
    /// The name that the certificate has to have.
    pub(crate) host: String,
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tls { options, host, .. } = self;
        f.debug_struct("Tls").field("host", host).field("options", options).finish_non_exhaustive()
    }
}

impl Tls {
    /// With the server `host`, a name or an address, without the brackets of IPv6.
    ///
    /// # Errors
    /// In one line: a file of certificates can't be used, there are none, or no certificate can have the name.
    pub fn new(host: &str, options: &TlsOptions) -> Result<Tls, String> {
        // A zone has a meaning on this machine only.
        let plain = host.split('%').next().unwrap_or_default().to_owned();
        let name = ServerName::try_from(plain)
            .map_err(|_| format!("{host}: no certificate can have this name"))?;
        let mut config = roots::config(options)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let (options, host) = (options.clone(), host.to_owned());
        Ok(Tls { options, host, name, config: config.into() }.without_sessions())
    }

    /// The same, for clients that have no session to resume yet.
    pub(crate) fn without_sessions(&self) -> Tls {
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = if self.options.no_resume {
            Resumption::disabled()
        } else {
            Resumption::in_memory_sessions(SERVERS)
        };
        Tls { config: config.into(), ..self.clone() }
    }

    /// A connection whose handshake has not begun.
    pub(crate) fn connection(&self) -> Result<ClientConnection, TlsFault> {
        let connection = ClientConnection::new(Arc::clone(&self.config), self.name.clone());
        connection.map_err(|error| TlsFault::from_error(&error))
    }
}

/// The handshakes of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Handshakes {
    /// Those that proved the server's identity by its certificate, and agreed on new keys.
    pub full: u64,
    /// Those that resumed an earlier session.
    pub resumed: u64,
    /// The protocol version and the cipher suite of the first one: `TLSv1.3`, `TLS13_AES_256_GCM_SHA384`.
    pub negotiated: Option<(String, String)>,
    /// Why the first one failed that did.
    pub fault: Option<TlsFault>,
}

impl Handshakes {
    pub(crate) fn count(&mut self, connection: &ClientConnection) {
        match connection.handshake_kind() {
            Some(HandshakeKind::Resumed) => self.resumed += 1,
            _ => self.full += 1,
        }
        if self.negotiated.is_none() {
            self.negotiated = negotiated(connection);
        }
    }
}

fn negotiated(connection: &ClientConnection) -> Option<(String, String)> {
    let version = connection.protocol_version()?.as_str()?.replace('_', ".");
    let suite = connection.negotiated_cipher_suite()?.suite();
    Some((version, suite.as_str()?.to_owned()))
}

impl AddAssign<&Handshakes> for Handshakes {
    fn add_assign(&mut self, more: &Handshakes) {
        self.full += more.full;
        self.resumed += more.resumed;
        self.negotiated = self.negotiated.take().or_else(|| more.negotiated.clone());
        self.fault = self.fault.take().or_else(|| more.fault.clone());
    }
}
