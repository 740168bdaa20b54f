//! The guest's side of a run: whatever is measured goes over the wire, and counts when the host has kept it.

use crate::console::mishaps_here;
use crate::message::{FromGuest, Profiled, ToGuest};
use crate::wire::{WireFault, receive, send};
use archive::{Error, RunWriter};
use model::{Cell, Ending, Profile, Run};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Hands a run to the host.
#[derive(Debug)]
pub struct WireWriter<P> {
    port: P,
    /// Set where the host needs nothing more.
    stop: Arc<AtomicBool>,
    /// How many frames, stacks and functions' code of the profile the host has.
    sent: [usize; 3],
}

impl<P: Read + Write> WireWriter<P> {
    /// A writer over `port`, which sets `stop` where the host needs nothing more.
    pub fn new(port: P, stop: Arc<AtomicBool>) -> WireWriter<P> {
        WireWriter { port, stop, sent: [0; 3] }
    }

    /// The same, to a host that has `profile` from an earlier boot.
    #[must_use]
    pub fn going_on(self, profile: &Profile) -> WireWriter<P> {
        let sent = [profile.frames.len(), profile.stacks.len(), profile.code.len()];
        WireWriter { sent, ..self }
    }

    /// Hands over `message`, and waits until the host has kept it.
    fn hand_over(&mut self, message: &FromGuest) -> Result<i64, Error> {
        let answer = send(&mut self.port, message).and_then(|()| receive(&mut self.port));
        let what = match answer {
            Ok(ToGuest::Kept(number)) => return Ok(number),
            Ok(ToGuest::Enough(number)) => {
                self.stop.store(true, Ordering::Relaxed);
                return Ok(number);
            }
            Ok(ToGuest::Lost(why)) => why,
            Ok(ToGuest::Job(_)) => WireFault::Damaged("a second job".to_owned()).to_string(),
            Err(fault) => fault.to_string(),
        };
        Err(Error::Invalid { path: PathBuf::from("the host"), what })
    }
}

impl<P: Read + Write> RunWriter for WireWriter<P> {
    fn begin(&mut self, run: &Run) -> Result<i64, Error> {
        self.hand_over(&FromGuest::Begin(Box::new(run.clone())))
    }

    fn commit(&mut self, _run: i64, cell: &Cell) -> Result<(), Error> {
        self.hand_over(&FromGuest::Cell(Box::new(cell.clone()))).map(drop)
    }

    fn commit_profiled(&mut self, _run: i64, profile: &Profile, cell: usize) -> Result<(), Error> {
        let Profile { frames, stacks, code, .. } = profile;
        let [has_frames, has_stacks, has_code] = self.sent;
        self.hand_over(&FromGuest::Profiled(Box::new(Profiled {
            cell: profile.cells[cell].clone(),
            frames: frames[has_frames..].to_vec(),
            stacks: stacks[has_stacks..].to_vec(),
            code: code[has_code..].to_vec(),
        })))?;
        self.sent = [frames.len(), stacks.len(), code.len()];
        Ok(())
    }

    fn finish(&mut self, _run: i64, ending: &Ending) -> Result<(), Error> {
        let (ending, mishaps) = (Box::new(ending.clone()), mishaps_here());
        self.hand_over(&FromGuest::Finish { ending, mishaps }).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_host_that_needs_nothing_more_stops_the_run() {
        let (host, port) = UnixStream::pair().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let mut writer = WireWriter::new(port, Arc::clone(&stop));
        for (answer, is_stopped) in [(ToGuest::Kept(3), false), (ToGuest::Enough(3), true)] {
            send(&mut &host, &answer).unwrap();
            assert_eq!(writer.hand_over(&FromGuest::Up).unwrap(), 3);
            assert_eq!(stop.load(Ordering::Relaxed), is_stopped);
        }
        send(&mut &host, &ToGuest::Lost("no space".into())).unwrap();
        assert!(writer.hand_over(&FromGuest::Up).unwrap_err().to_string().contains("no space"));
    }
}
