//! What comes from a server that is no reply to a request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};

/// Bytes of the start that are kept.
const START_BYTES: usize = 40;

/// What came that is no reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Misfit {
    /// TLS: an alert, or a handshake.
    Tls,
    /// HTTP/2: its first frame is one of settings.
    Http2,
    /// Another protocol.
    Foreign {
        /// The first line.
        start: String,
    },
    /// A reply of HTTP that breaks its rules.
    Malformed {
        /// The first line.
        start: String,
    },
    /// Bytes that no request was left for.
    Surplus {
        /// The first line.
        start: String,
    },
    /// A reply that had begun, and did not end before the time-out.
    Endless {
        /// Bytes of its body that came.
        came_bytes: u64,
        /// The length that it announces; absent where it comes in chunks, or ends with its connection.
        announced_bytes: Option<u64>,
    },
}

impl Misfit {
    /// By the bytes that came instead of a reply.
    pub(crate) fn of_start(bytes: &[u8]) -> Misfit {
        match bytes {
            // A record's type, and versions 3.0 (SSL) to 3.4.
            [21 | 22, 3, 0..=4, ..] => Misfit::Tls,
            // A frame of type 4 (SETTINGS) on stream 0.
            [_, _, _, 4, _, 0, 0, 0, 0, ..] => Misfit::Http2,
            _ if bytes.starts_with(b"HTTP/1.") => Misfit::Malformed { start: line(bytes) },
            _ => Misfit::Foreign { start: line(bytes) },
        }
    }

    /// By the bytes that came within a reply.
    pub(crate) fn within(bytes: &[u8]) -> Misfit {
        Misfit::Malformed { start: line(bytes) }
    }

    /// By the bytes that came after a reply.
    pub(crate) fn of_surplus(bytes: &[u8]) -> Misfit {
        Misfit::Surplus { start: line(bytes) }
    }

    /// By the part of a reply's body that came, and the length that its head announces.
    pub(crate) fn endless((came_bytes, announced_bytes): (u64, Option<u64>)) -> Misfit {
        Misfit::Endless { came_bytes, announced_bytes }
    }

    /// What changes it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Misfit::Tls => "use https://",
            Misfit::Http2 | Misfit::Foreign { .. } => {
                "a port of the server that speaks HTTP/1.1, or a proxy before it"
            }
            Misfit::Malformed { .. } => "the server's replies: curl -v shows one",
            Misfit::Surplus { .. } => "Content-Length in the server's replies",
            Misfit::Endless { .. } => {
                "Content-Length, or the last chunk, in the server's replies; --timeout if it needs longer"
            }
        }
    }
}

/// A clause about the server: `speaks TLS on this port`.
impl Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Tls => f.write_str("speaks TLS on this port"),
            Misfit::Http2 => f.write_str("speaks HTTP/2 on this port"),
            Misfit::Foreign { start } => {
                write!(f, "speaks no HTTP on this port: it sends {start:?}")
            }
            Misfit::Malformed { start } => write!(f, "sends malformed replies: {start:?}"),
            Misfit::Surplus { start } => {
                write!(f, "sends more than its replies announce: {start:?}")
            }
            Misfit::Endless { came_bytes, announced_bytes: Some(announced) } => {
                write!(f, "announces {announced} bytes in a reply, and sends {came_bytes}")
            }
            Misfit::Endless { came_bytes, announced_bytes: None } => {
                write!(
                    f,
                    "does not end its replies: {came_bytes} bytes came of a body without a length"
                )
            }
        }
    }
}

fn line(bytes: &[u8]) -> String {
    let first = bytes.split(|byte| b"\r\n".contains(byte)).next().unwrap_or_default();
    let start = &first[..first.len().min(START_BYTES)];
    String::from_utf8_lossy(start).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_names_what_came() {
        let clause = |bytes: &[u8]| Misfit::of_start(bytes).to_string();
        assert_eq!(clause(&[21, 3, 3, 0, 2, 2, 40]), "speaks TLS on this port");
        assert_eq!(
            clause(b"SSH-2.0-OpenSSH_9.2\r\n"),
            "speaks no HTTP on this port: it sends \"SSH-2.0-OpenSSH_9.2\""
        );
        assert_eq!(clause(b"HTTP/1.1 999"), "sends malformed replies: \"HTTP/1.1 999\"");
        assert_eq!(clause(&[0xff; 200]).matches('\u{fffd}').count(), START_BYTES);
    }
}
