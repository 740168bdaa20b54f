//! How signals end a server: the first one drains it, a second one stops it. If it has not ended soon after
//! that, the process ends whatever it hangs in: a file of a dead network mount, a pipe without a reader.

use crate::exit::{Trouble, complain};
use http::Stopper;
use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::{pipe, unregister};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, sleep};
use std::time::Duration;

/// How long a server may take to end after it was stopped, or after its drain is over.
const GRACE: Duration = Duration::from_secs(1);

/// How long the message about it may take.
const MESSAGE_MAX: Duration = Duration::from_millis(200);

/// Watches for signals until it is dropped.
pub struct Ending {
    state: Arc<Mutex<State>>,
    handlers: [SigId; 2],
}

#[derive(Default)]
struct State {
    signals: usize,
    stopper: Option<Stopper>,
}

impl State {
    fn apply(&self) {
        let Some(stopper) = &self.stopper else { return };
        match self.signals {
            0 => {}
            1 => stopper.drain(),
            _ => stopper.stop(),
        }
    }
}

impl Ending {
    /// Begins, before there is a server: from here on, no signal ends the process in the middle.
    pub fn watch(drain: Duration) -> Result<Ending, Trouble> {
        let (mut receiver, handlers) =
            receiver().map_err(|error| Trouble::failed(format!("waiting for signals: {error}")))?;
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        let wait = move || {
            while receiver.read_exact(&mut [0]).is_ok() {
                let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
                state.signals += 1;
                state.apply();
                let is_first = state.signals == 1;
                let limit = if is_first { drain.saturating_add(GRACE) } else { GRACE };
                // Where none can be started, a third signal kills.
                let _ = thread::Builder::new().spawn(move || end_after(limit));
            }
        };
        thread::Builder::new().spawn(wait).map_err(Trouble::no_thread)?;
        Ok(Ending { state, handlers })
    }

    /// Hands over the server that signals end, also those that came before.
    pub fn end_with(&self, stopper: Stopper) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.stopper = Some(stopper);
        state.apply();
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        // With its handlers go the other ends of the receiver, and its thread ends.
        for handler in self.handlers {
            unregister(handler);
        }
    }
}

/// Receives a byte for each signal, however soon one follows another.
fn receiver() -> io::Result<(UnixStream, [SigId; 2])> {
    let (receiver, sender) = UnixStream::pair()?;
    let handlers = [pipe::register(SIGINT, sender.try_clone()?)?, pipe::register(SIGTERM, sender)?];
    Ok((receiver, handlers))
}

fn end_after(limit: Duration) {
    sleep(limit);
    // Standard error may be what hangs.
    thread::spawn(move || {
        complain(&format!(
            "knee: the server did not end within {limit:?}: a thread hangs in a file, a log or standard \
             output, and the process ends without it"
        ));
    });
    sleep(MESSAGE_MAX);
    std::process::exit(1);
}
