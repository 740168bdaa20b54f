//! The certificate of a server, and what TLS is spoken with.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::Error;

/// No chain of certificates and no key is larger.
const PEM_MIB_MAX: u64 = 1;

/// A certificate with its chain and its key, in PEM.
#[derive(Clone)]
pub struct Certificate {
    /// The certificate of the server first.
    pub chain: String,
    /// The key of the first.
    pub key: String,
}

impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Certificate").field("chain", &self.chain).finish_non_exhaustive()
    }
}

impl Certificate {
    /// A new one, signed by itself, of `localhost`, 127.0.0.1 and `::1`, with a key on the curve P-256.
    ///
    /// # Errors
    /// Where the system gives no random numbers.
    pub fn new_of_localhost() -> Result<Certificate, Error> {
        let names = ["localhost", "127.0.0.1", "::1"].map(String::from);
        let made = rcgen::generate_simple_self_signed(names)
            .map_err(|error| Error::Failed(format!("making a certificate: {error}")))?;
        Ok(Certificate { chain: made.cert.pem(), key: made.signing_key.serialize_pem() })
    }

    /// Reads both files, which may be one.
    ///
    /// # Errors
    /// Where one can't be read, or has none of what it is to have.
    pub fn read(chain: &Path, key: &Path) -> Result<Certificate, Error> {
        let text = |file: &Path| {
            let bytes =
                sys::file::read(file, PEM_MIB_MAX).map_err(|error| invalid(file, &error))?;
            String::from_utf8(bytes).map_err(|_| invalid(file, &"it is no text, as PEM is"))
        };
        let certificate = Certificate { chain: text(chain)?, key: text(key)? };
        certificate.chain_der().map_err(|error| invalid(chain, &error))?;
        certificate.key_der().map_err(|error| invalid(key, &error))?;
        Ok(certificate)
    }

    fn chain_der(&self) -> Result<Vec<CertificateDer<'static>>, String> {
        let chain: Result<Vec<_>, _> =
            CertificateDer::pem_slice_iter(self.chain.as_bytes()).collect();
        match chain {
            Ok(chain) if chain.is_empty() => {
                Err("it has no certificate (-----BEGIN CERTIFICATE-----)".to_owned())
            }
            chain => chain.map_err(|error| error.to_string()),
        }
    }

    fn key_der(&self) -> Result<PrivateKeyDer<'static>, String> {
        PrivateKeyDer::from_pem_slice(self.key.as_bytes()).map_err(|_| {
            "it has no private key without a password (-----BEGIN PRIVATE KEY-----)".to_owned()
        })
    }

    /// What every connection of a server has in common: HTTP/1.1 only, and tickets that resume sessions with any worker.
    pub(crate) fn config(&self) -> Result<Arc<ServerConfig>, Error> {
        let wrong = |error: String| Error::Invalid(format!("the certificate: {error}"));
        let refused = |error: rustls::Error| wrong(error.to_string());
        let mut config = ServerConfig::builder_with_provider(ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .map_err(refused)?
            .with_no_client_auth()
            .with_single_cert(self.chain_der().map_err(wrong)?, self.key_der().map_err(wrong)?)
            .map_err(refused)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.ticketer = ring::Ticketer::new().map_err(refused)?;
        Ok(config.into())
    }
}

fn invalid(file: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::Invalid(format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_read_as_it_was_made_and_what_is_none_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let [chain, key] = ["cert.pem", "key.pem"].map(|name| directory.path().join(name));
        let made = Certificate::new_of_localhost().unwrap();
        std::fs::write(&chain, &made.chain).unwrap();
        std::fs::write(&key, &made.key).unwrap();
        Certificate::read(&chain, &key).unwrap().config().unwrap();
        let refused =
            |chain: &Path, key: &Path| Certificate::read(chain, key).unwrap_err().to_string();
        assert!(refused(&key, &key).contains("key.pem: it has no certificate"));
        assert!(refused(&chain, &chain).contains("cert.pem: it has no private key"));
        assert!(refused(&chain, &directory.path().join("none")).contains("none: "));
        // A key of another certificate.
        std::fs::write(&key, Certificate::new_of_localhost().unwrap().key).unwrap();
        assert!(Certificate::read(&chain, &key).unwrap().config().is_err());
    }
}
