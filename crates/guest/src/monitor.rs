//! QEMU's monitor: what QEMU says of its guest as data (QMP), over a socket of its own.

use serde::Deserialize;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

/// Ends the negotiation of capabilities: QEMU reports no event before it.
const GREETING: &[u8] = b"{\"execute\":\"qmp_capabilities\"}\n";
/// The event of a guest whose CPUs QEMU stopped. knee never asks for that: QEMU can't go on, as after an internal error
/// of KVM, and the process stays.
const STOP: &str = "STOP";
/// A message without an end is dropped at this length, in bytes.
const MESSAGE_MAX: usize = 64 << 10;

/// The connection to it.
#[derive(Debug)]
pub(crate) struct Monitor {
    stream: UnixStream,
    /// The begin of a message whose end has not come.
    pending: Vec<u8>,
    has_stopped: bool,
}

/// One line of QMP; most of them are no events.
#[derive(Deserialize)]
struct Message {
    event: Option<String>,
}

impl Monitor {
    /// Asks for events over this connection.
    pub fn new(mut stream: UnixStream) -> io::Result<Monitor> {
        stream.write_all(GREETING)?;
        stream.set_nonblocking(true)?;
        Ok(Monitor { stream, pending: Vec::new(), has_stopped: false })
    }

    /// Whether QEMU has stopped its guest for good, as far as it has reported that until now.
    pub fn has_stopped(&mut self) -> bool {
        let mut bytes = [0; 1024];
        while let Ok(length @ 1..) = self.stream.read(&mut bytes) {
            self.pending.extend_from_slice(&bytes[..length]);
            self.read_messages();
        }
        self.has_stopped
    }

    /// Reads the messages that have come whole.
    fn read_messages(&mut self) {
        while let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.pending.drain(..=end).collect();
            let message = serde_json::from_slice::<Message>(&line);
            let event = message.ok().and_then(|message| message.event);
            self.has_stopped |= event.is_some_and(|event| event == STOP);
        }
        if self.pending.len() > MESSAGE_MAX {
            self.pending.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_that_qemu_stopped_is_known_by_its_event() {
        let (host, mut qemu) = UnixStream::pair().unwrap();
        let mut monitor = Monitor::new(host).unwrap();
        let mut asked = [0; GREETING.len()];
        qemu.read_exact(&mut asked).unwrap();
        assert_eq!(asked, GREETING);
        let mut after = |text: &str| {
            qemu.write_all(text.as_bytes()).unwrap();
            monitor.has_stopped()
        };
        assert!(!after("{\"QMP\": {\"version\": {}, \"capabilities\": [\"oob\"]}}\r\n"));
        assert!(!after(
            "{\"return\": {}}\r\n{\"event\": \"RTC_CHANGE\", \"data\": {}}\r\nSTOP\r\n"
        ));
        assert!(!after("{\"timestamp\": {\"seconds\": 1}, \"event\": \"ST"));
        assert!(after("OP\"}\r\n"), "a message may come in parts");
        assert!(after(""), "and it stays so");
    }

    #[test]
    fn a_qemu_that_is_gone_has_not_stopped_its_guest() {
        let (host, qemu) = UnixStream::pair().unwrap();
        let mut monitor = Monitor::new(host).unwrap();
        drop(qemu);
        assert!(!monitor.has_stopped());
    }
}
