//! Dead connections: each sends one request, reads its reply, and then does nothing.
//!
//! Processes of their own hold them. Each may open as many descriptors as this one, and they end with it,
//! whatever ends it.

mod hold;
mod outcome;

pub use outcome::{DeadOutcome, IdleTimes};

use crate::error::Error;
use crate::plan::Target;
use crate::results::counts::IDLE_MS_MIN;
use hold::{Answer, HolderOrder, Share};
use rustix::process::{Resource, Signal, getrlimit};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use sys::fork::die_with_parent;
use sys::process::this_program;
use sys::signal::SignalSet;

/// The hidden subcommand under which the program is to call [`dead_main`].
pub const DEAD_COMMAND: &str = "__dead";

/// Descriptors that a holder needs for itself.
const HOLDER_OWN: usize = 32;
const STOP_CHECK: Duration = Duration::from_millis(50);
/// Connections from one address if several can be used: far fewer than it has ports, so that finding a
/// free one stays cheap.
const PER_SOURCE: usize = 10_000;

/// Where dead connections are held.
#[derive(Clone, Debug, Default)]
pub enum Housing {
    /// In processes of this program, which calls [`dead_main`] for [`DEAD_COMMAND`]. They end with
    /// the thread that opened them, so that this is to be the main thread.
    #[default]
    ThisProgram,
    /// In threads of this process, which has the descriptors then.
    Threads,
}

/// How dead connections are opened and held.
#[derive(Clone, Debug)]
pub struct Holding {
    /// Where they are held.
    pub housing: Housing,
    /// Source addresses that they take in turn; empty leaves that to the kernel.
    pub sources: Vec<IpAddr>,
    /// One without its whole reply by then has failed.
    pub timeout: Duration,
}

impl Holding {
    /// In processes of this program; where the target is on the loopback interface of IPv4, from
    /// as many of its addresses as leave each enough ports.
    pub fn new(target: &Target, count: usize) -> Holding {
        let sources = match target.address.tcp().map(|address| address.ip()) {
            Some(IpAddr::V4(address)) if address.is_loopback() && count > PER_SOURCE => {
                loopback_sources(count.div_ceil(PER_SOURCE))
            }
            _ => Vec::new(),
        };
        Holding { housing: Housing::ThisProgram, sources, timeout: Duration::from_secs(30) }
    }
}

/// Addresses of the loopback interface from 127.0.0.2 on.
pub fn loopback_sources(count: usize) -> Vec<IpAddr> {
    let first = u32::from(Ipv4Addr::new(127, 0, 0, 2));
    (0..count.min(1 << 20) as u32).map(|n| IpAddr::from(Ipv4Addr::from(first + n))).collect()
}

/// Connections that stay open and do nothing.
#[derive(Debug)]
pub struct Dead {
    holders: Vec<Holder>,
    /// What became of them until they were opened, and until they were last [counted](Dead::alive).
    pub outcome: DeadOutcome,
}

impl Dead {
    /// Opens `count` of them, held as `holding` says: when this returns, each has had the reply to its one request, or is
    /// counted among the errors of the [`Dead::outcome`]. It is given up when `stop` is set: a server that does not answer may
    /// be waited for long.
    ///
    /// # Errors
    /// Where they can't be held at all, and where it was given up.
    pub fn open(
        target: &Target,
        count: usize,
        holding: &Holding,
        stop: &AtomicBool,
    ) -> Result<Dead, Error> {
        let failed = |error: io::Error| Error::Failed(format!("holding dead connections: {error}"));
        let mut dead = Dead { holders: Vec::new(), outcome: DeadOutcome::default() };
        let capacity = descriptors_max().saturating_sub(HOLDER_OWN).max(1);
        let holders = count.div_ceil(capacity);
        for number in 0..holders {
            let mut holder = Holder::start(&holding.housing).map_err(failed)?;
            let order = Share {
                address: target.address.clone(),
                request: target.request(true),
                tls: target.tls.as_ref().map(|tls| (tls.host.clone(), tls.options.clone())),
                count: count / holders + usize::from(number < count % holders),
                // Each begins with another address, so that the turns don't meet.
                sources: rotated(&holding.sources, number),
                timeout_ms: holding.timeout.as_millis() as u64,
            };
            holder.order(&HolderOrder::Open(order)).map_err(failed)?;
            dead.holders.push(holder);
        }
        for number in 0..holders {
            match dead.holders[number].answer_until(stop).map_err(failed)? {
                Some(Answer::Opened(opened)) => dead.outcome += &opened,
                Some(Answer::Alive { .. }) => return Err(unexpected_answer()),
                None => {
                    dead.holders.drain(..).for_each(Holder::kill);
                    let why = "dead connections were given up while they were opened";
                    return Err(Error::Failed(why.into()));
                }
            }
        }
        Ok(dead)
    }

    /// How many processes or threads hold them.
    pub fn holders(&self) -> usize {
        self.holders.len()
    }

    /// How many are still open, according to their holders.
    ///
    /// # Errors
    /// Where a holder is gone.
    pub fn alive(&mut self) -> Result<u64, Error> {
        self.request(&HolderOrder::Count)
    }

    /// Closes them, and says how many were still open. They are reset rather than shut down, so
    /// that the kernel keeps nothing of them.
    ///
    /// # Errors
    /// Where a holder is gone.
    pub fn close(mut self) -> Result<u64, Error> {
        let alive = self.request(&HolderOrder::Close)?;
        for holder in self.holders.drain(..) {
            holder.end().map_err(|error| Error::Failed(format!("ending a holder: {error}")))?;
        }
        Ok(alive)
    }

    fn request(&mut self, order: &HolderOrder) -> Result<u64, Error> {
        let failed = |error: io::Error| {
            Error::Failed(format!("a holder of dead connections is gone: {error}"))
        };
        for holder in &mut self.holders {
            holder.order(order).map_err(failed)?;
        }
        let (mut alive, mut all_ended_ms) = (0, Vec::new());
        for holder in &mut self.holders {
            match holder.answer().map_err(failed)? {
                Answer::Alive { alive: count, ended_ms } => {
                    alive += count;
                    all_ended_ms.extend(ended_ms);
                }
                Answer::Opened(_) => return Err(unexpected_answer()),
            }
        }
        let (idle_ms, at_once): (Vec<u64>, Vec<u64>) =
            all_ended_ms.into_iter().partition(|ended_ms| *ended_ms >= IDLE_MS_MIN);
        self.outcome.alive_at_end = alive;
        self.outcome.closed_idle = IdleTimes::new(idle_ms);
        self.outcome.closings.unannounced = at_once.len() as u64;
        Ok(alive)
    }
}

impl Drop for Dead {
    fn drop(&mut self) {
        for holder in self.holders.drain(..) {
            // It ends with this process at the latest.
            let _ = holder.end();
        }
    }
}

fn unexpected_answer() -> Error {
    Error::Failed("a holder answered something else".into())
}

fn rotated(sources: &[IpAddr], by: usize) -> Vec<IpAddr> {
    let mut sources = sources.to_vec();
    if !sources.is_empty() {
        let by = by % sources.len();
        sources.rotate_left(by);
    }
    sources
}

pub(crate) fn descriptors_max() -> usize {
    getrlimit(Resource::Nofile).current.map_or(usize::MAX, |limit| limit as usize)
}

#[derive(Debug)]
struct Holder {
    line: BufReader<UnixStream>,
    handle: Handle,
}

#[derive(Debug)]
enum Handle {
    Process(Child),
    Thread(JoinHandle<io::Result<()>>),
}

impl Holder {
    fn start(housing: &Housing) -> io::Result<Holder> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(STOP_CHECK))?;
        let handle = match housing {
            Housing::Threads => {
                let thread = std::thread::Builder::new().spawn(move || hold::serve(&theirs));
                Handle::Thread(thread.map_err(sys::limits::explained)?)
            }
            Housing::ThisProgram => {
                let mut command = this_program();
                command.args([DEAD_COMMAND, &std::process::id().to_string()]);
                command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null());
                Handle::Process(command.spawn().map_err(sys::limits::explained)?)
            }
        };
        Ok(Holder { line: BufReader::new(ours), handle })
    }

    fn order(&mut self, order: &HolderOrder) -> io::Result<()> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        self.line.get_mut().write_all(&line)
    }

    fn answer(&mut self) -> io::Result<Answer> {
        let answer = self.answer_until(&AtomicBool::new(false))?;
        answer.ok_or_else(|| io::ErrorKind::Interrupted.into())
    }

    /// The answer, or none where `stop` was set before it came.
    fn answer_until(&mut self, stop: &AtomicBool) -> io::Result<Option<Answer>> {
        let mut line = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            match self.line.read_until(b'\n', &mut line) {
                Ok(_) if line.ends_with(b"\n") => return Ok(Some(serde_json::from_slice(&line)?)),
                Ok(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
                // A look at `stop`, then on; what has come is kept.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Ends one that is not listening, since it is still opening. A thread can't be, and ends later.
    fn kill(self) {
        if let Handle::Process(mut process) = self.handle {
            // One that has ended already is only waited for.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    fn end(self) -> io::Result<()> {
        drop(self.line);
        match self.handle {
            Handle::Process(mut process) => process.wait().map(|_| ()),
            Handle::Thread(thread) => {
                thread.join().map_err(|_| io::Error::other("a holder panicked"))?
            }
        }
    }
}

/// Holds dead connections until the end of its input, for the process `parent_pid`.
///
/// # Errors
/// Where that process has ended already, or the line to it is broken.
pub fn dead_main(parent_pid: i32) -> Result<(), Error> {
    let failed = |error: io::Error| Error::Failed(format!("holding dead connections: {error}"));
    die_with_parent(parent_pid).map_err(failed)?;
    // Ctrl-C is for the parent process, which still counts these connections.
    let ignored = SignalSet::new(&[Signal::INT.as_raw(), Signal::HUP.as_raw()]).map_err(failed)?;
    sys::signal::block(&ignored).map_err(failed)?;
    let line = io::stdin().as_fd().try_clone_to_owned().map_err(failed)?;
    hold::serve(&UnixStream::from(line)).map_err(failed)
}
