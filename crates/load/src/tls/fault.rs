//! Why a handshake fails, each cause with its remedy.

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io;

/// Why there is no TLS with a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "fault", rename_all = "kebab-case")]
pub enum TlsFault {
    /// Its answer is none of TLS.
    #[error("the server does not speak TLS on this port")]
    NotTls,
    /// It did not answer in time.
    #[error("the server did not answer the TLS handshake in time")]
    Silent,
    /// It ended the connection.
    #[error("the server ended the connection during the TLS handshake")]
    Ended,
    /// No trusted certificate vouches for its own.
    #[error("the server's certificate is from an unknown issuer")]
    UnknownIssuer,
    /// Its certificate is that of a CA, which vouches for others.
    #[error("the server's certificate is that of a CA, which is no server's")]
    CaCertificate,
    /// Its certificate is for other names.
    #[error("the server's certificate is for another name")]
    NameMismatch,
    /// Its certificate has expired.
    #[error("the server's certificate has expired")]
    Expired,
    /// Its certificate is not valid yet.
    #[error("the server's certificate is not valid yet")]
    NotValidYet,
    /// It has no version of the protocol that is spoken here.
    #[error("the server has neither TLS 1.2 nor 1.3 with a common cipher")]
    Version,
    /// Anything else.
    #[error("the TLS handshake failed: {error}")]
    Failed {
        /// In one line.
        error: String,
    },
}

impl TlsFault {
    /// By what the protocol's implementation found.
    pub(crate) fn from_error(error: &Error) -> TlsFault {
        match error {
            Error::InvalidMessage(InvalidMessage::InvalidContentType) => TlsFault::NotTls,
            Error::InvalidCertificate(error) => TlsFault::from_certificate(error),
            Error::PeerIncompatible(_)
            | Error::AlertReceived(AlertDescription::ProtocolVersion) => TlsFault::Version,
            error => TlsFault::Failed { error: error.to_string() },
        }
    }

    fn from_certificate(error: &CertificateError) -> TlsFault {
        match error {
            // One of the issuer's name is trusted, and did not sign it.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                TlsFault::UnknownIssuer
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                TlsFault::NameMismatch
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                TlsFault::Expired
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                TlsFault::NotValidYet
            }
            CertificateError::Other(error)
                if error.0.downcast_ref() == Some(&webpki::Error::CaUsedAsEndEntity) =>
            {
                TlsFault::CaCertificate
            }
            error => TlsFault::Failed { error: error.to_string() },
        }
    }

    /// By what came of a handshake over a socket that waits.
    pub(crate) fn from_io(error: &io::Error) -> Option<TlsFault> {
        let own = error.get_ref().and_then(|error| error.downcast_ref());
        match error.kind() {
            _ if own.is_some() => own.map(TlsFault::from_error),
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => Some(TlsFault::Ended),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Some(TlsFault::Silent),
            _ => None,
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            TlsFault::NotTls => "use http://, or the port of TLS",
            TlsFault::Silent | TlsFault::Ended => {
                "use http:// if it is no port of TLS, or see the server's log"
            }
            TlsFault::UnknownIssuer => "--ca FILE with the issuer's certificate, or --insecure",
            TlsFault::CaCertificate => {
                "a certificate with basicConstraints=CA:FALSE, or --insecure"
            }
            TlsFault::NameMismatch => "use a name of the certificate in the URL, or --insecure",
            TlsFault::Expired => "renew it, check this machine's clock, or --insecure",
            TlsFault::NotValidYet => "check this machine's clock, or --insecure",
            TlsFault::Version => "enable TLS 1.2 or 1.3 at the server",
            TlsFault::Failed { .. } => "see the server's log",
        }
    }
}
