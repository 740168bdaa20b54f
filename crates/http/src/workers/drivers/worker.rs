//! What all drivers share: connections with their sockets, the loop of a worker, sending and closing.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};
use rustls::ServerConfig;

use super::Setup;
use super::pace::Pace;
use super::slab::{Key, Slab};
use crate::Error;
use crate::connection::{Connection, Next};
use crate::response::Body;
use crate::workers::context::Context;
use crate::workers::listener::{self, Accepted};
use crate::workers::sending::Sending;
use crate::workers::sending::outbox::{Outbox, Progress};
use crate::workers::session::{Came, Session};
use crate::workers::wakeup::{Wakeup, WorkerOrder};

/// A connection, its socket, and what the driver knows of it.
pub(super) struct Link<S> {
    pub socket: OwnedFd,
    pub connection: Connection,
    /// Where what goes over the socket is encrypted.
    pub session: Option<Box<Session>>,
    /// What the socket did not take yet.
    pub outbox: Option<Box<Outbox>>,
    /// It goes as soon as the driver can let go of it.
    pub closing: bool,
    pub state: S,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flush {
    Complete,
    /// The socket takes no more for now.
    Full,
    /// The turn's share is used up.
    Paused,
    Failed,
}

impl<S> Link<S> {
    /// Puts into the outbox what the socket takes later.
    pub(super) fn keep_unsent(&mut self, bytes: Vec<u8>, body: Option<Body>) {
        self.outbox = Some(Box::new(Outbox::new(bytes, body)));
    }

    /// Sends from the outbox, as far as the socket takes it and `budget` allows.
    pub(super) fn flush(
        &mut self,
        context: &mut Context,
        sending: &mut dyn Sending,
        budget: &mut usize,
    ) -> Flush {
        let Some(outbox) = &mut self.outbox else { return Flush::Complete };
        let (sent, progress) =
            outbox.push(self.socket.as_fd(), self.session.as_deref_mut(), sending, budget);
        self.connection.sent(sent, context);
        match progress {
            Progress::Complete => {
                self.outbox = None;
                Flush::Complete
            }
            Progress::Full => Flush::Full,
            Progress::Paused => Flush::Paused,
            Progress::Failed(error) if error.kind() == ErrorKind::Interrupted => Flush::Paused,
            Progress::Failed(_) => Flush::Failed,
        }
    }

    /// Takes what came over the socket, and answers into `out`.
    #[inline]
    pub(super) fn received(
        &mut self,
        bytes: &[u8],
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Next {
        if self.session.is_none() {
            return self.connection.received(bytes, context, out);
        }
        let mut plain = std::mem::take(&mut context.plain);
        plain.clear();
        let next = self.received_encrypted(bytes, &mut plain, context, out);
        context.plain = plain;
        next
    }

    fn received_encrypted(
        &mut self,
        bytes: &[u8],
        plain: &mut Vec<u8>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Next {
        let Some(session) = &mut self.session else { return Next::Close };
        let came = session.received(bytes, plain);
        let has_unsent = session.has_unsent();
        if came == Came::Broken {
            return Next::Close;
        }
        let next = if plain.is_empty() {
            Next::Wait
        } else {
            self.connection.received(plain, context, out)
        };
        match next {
            Next::Wait if came == Came::Ended => self.connection.ended(),
            // The handshake has an answer, too. What is on its way already takes it along.
            Next::Wait if has_unsent && self.outbox.is_none() => Next::Send(None),
            next => next,
        }
    }

    pub(super) fn end_sending(&mut self) {
        self.end_session();
        // If the other side is gone already, the next event says so.
        let _ = shutdown(&self.socket, Shutdown::Write);
    }

    /// The last word of what is encrypted.
    pub(super) fn end_session(&mut self) {
        if let Some(session) = &mut self.session {
            session.end(self.socket.as_fd());
        }
    }
}

/// What a worker has, whatever drives it.
pub(super) struct Core<S> {
    pub context: Context,
    pub links: Slab<Link<S>>,
    pub listener: Option<OwnedFd>,
    pub pace: Pace,
    pub sending: Box<dyn Sending>,
    tls: Option<Arc<ServerConfig>>,
    pub wakeup: Arc<Wakeup>,
    /// A connection closed since accepting was last considered.
    pub has_closed: bool,
}

impl<S> Core<S> {
    pub(super) fn open(setup: Setup) -> Result<Core<S>, Error> {
        let Setup { wakeup, context, listener, config, way, tls } = setup;
        let sending =
            (way.open)().map_err(|error| Error::Failed(format!("{}: {error}", way.name)))?;
        Ok(Core {
            context,
            links: Slab::new(),
            listener: Some(listener),
            pace: Pace::new(config.limits),
            sending,
            tls,
            wakeup,
            has_closed: false,
        })
    }

    pub(super) fn insert(&mut self, socket: OwnedFd, state: S) -> Key {
        let peer = self.context.log.as_ref().and_then(|_| listener::peer(&socket));
        let connection = Connection::new(self.context.now_ms, peer);
        self.context.counts.accepted.add(1);
        let session = self.tls.as_ref().and_then(Session::new).map(Box::new);
        self.links.insert(Link { socket, connection, session, outbox: None, closing: false, state })
    }

    /// Forgets a connection; its socket closes with what is returned.
    pub(super) fn remove(&mut self, key: Key) -> Option<Link<S>> {
        let mut link = self.links.remove(key)?;
        link.end_session();
        link.connection.closed(&mut self.context);
        self.has_closed = true;
        Some(link)
    }

    #[inline]
    pub(super) fn wait_max(&self) -> Option<Duration> {
        self.pace.wait_max(self.links.len(), &self.context)
    }

    /// Whether accepting resumes in this turn.
    pub(super) fn resumes_accepting(&mut self) -> bool {
        let has_closed = std::mem::take(&mut self.has_closed);
        self.pace.resumes(has_closed, &self.context)
    }

    fn has_drained(&self) -> bool {
        self.context.draining && (self.links.len() == 0 || self.pace.is_drain_over(&self.context))
    }

    fn close_all(&mut self) {
        if let Some(listener) = &self.listener {
            listener::close(listener);
        }
        // The driver's descriptor closes before the sockets do, so that nothing is watched any more.
        for key in self.links.keys() {
            if let Some(link) = self.links.get_mut(key) {
                link.connection.closed(&mut self.context);
            }
        }
        self.context.close_log();
    }
}

/// What a driver does in its own way; [`serve`] is the loop around it.
pub(super) trait Backend {
    /// What it knows of a connection.
    type State;

    fn core(&mut self) -> &mut Core<Self::State>;

    /// Waits, handles what has happened, and returns the order of the turn.
    fn turn(&mut self) -> io::Result<WorkerOrder>;

    /// Serves a socket that was accepted.
    fn add(&mut self, socket: OwnedFd) -> io::Result<()>;

    /// Does with a connection what `next` asks for; `out` is its output.
    fn drive(&mut self, key: Key, next: Next, out: Vec<u8>) -> io::Result<()>;

    /// Lets go of the listener, which is closed already.
    fn forget_listener(&mut self, listener: BorrowedFd<'_>, was_accepting: bool) -> io::Result<()>;

    /// Closes idle connections, after serving what they have sent.
    fn close_idle(&mut self) -> io::Result<()>;

    /// Ends a turn: resumes accepting if there is capacity again.
    fn end_turn(&mut self) -> io::Result<()>;
}

/// Serves until an order ends it; an error names the driver.
pub(super) fn serve(worker: &mut impl Backend, name: &str) -> Result<(), Error> {
    let served = run_loop(worker);
    worker.core().close_all();
    served.map_err(|error| Error::Failed(format!("{name}: {error}")))
}

fn run_loop(worker: &mut impl Backend) -> io::Result<()> {
    loop {
        match worker.turn()? {
            WorkerOrder::Stop => return Ok(()),
            WorkerOrder::Drain => drain(worker)?,
            WorkerOrder::Serve => {}
        }
        let core = worker.core();
        if core.pace.is_check_due(&core.context) {
            check_limits(worker)?;
        }
        worker.end_turn()?;
        if worker.core().has_drained() {
            return Ok(());
        }
    }
}

/// Accepts the connections that wait, stops listening, and closes what is idle.
fn drain(worker: &mut impl Backend) -> io::Result<()> {
    let core = worker.core();
    core.context.draining = true;
    let Some(listener) = core.listener.take() else { return Ok(()) };
    let was_accepting = core.pace.is_accepting();
    core.pace.drain(&core.context);
    while was_accepting && worker.core().links.len() < worker.core().pace.capacity() {
        match listener::accept(listener.as_fd()) {
            Accepted::Socket(socket) => worker.add(socket)?,
            Accepted::Gone => {}
            Accepted::Nothing | Accepted::Exhausted => break,
        }
    }
    listener::close(&listener);
    worker.forget_listener(listener.as_fd(), was_accepting)?;
    worker.close_idle()
}

/// Ends each connection that has reached a limit.
fn check_limits<B: Backend>(worker: &mut B) -> io::Result<()> {
    for key in worker.core().links.keys() {
        let Core { links, pace, context, .. } = worker.core();
        let Some(link) = links.get_mut(key).filter(|link| !link.closing) else { continue };
        let mut out = Vec::new();
        let untaken = || sys::tcp::untaken_bytes(link.socket.as_fd()).unwrap_or(0);
        let next = link.connection.overdue(&pace.limits, context, &mut out, untaken);
        if let Some(next) = next {
            worker.drive(key, next, out)?;
        }
    }
    Ok(())
}

/// The kernel's number of an error.
pub(super) fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
