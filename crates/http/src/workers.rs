//! The threads of a server, how they are told to end, and what each has for all its connections.

use std::io::{PipeReader, PipeWriter, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Instant, SystemTime};

use crate::drivers::{Driver, Row};
use crate::log::Log;
use crate::sending::Way;
use crate::site::Site;
use crate::{Config, Counts, Error, listener};

/// What the workers are to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Order {
    Serve = 0,
    Drain = 1,
    Stop = 2,
}

/// What a worker did, counted by it alone and read by anybody.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    accepted: AtomicU64,
    closed: AtomicU64,
    replies: AtomicU64,
    bytes: AtomicU64,
    pauses: AtomicU64,
    unlogged: AtomicU64,
}

/// Adds where nobody else writes: a plain load and store, without a locked instruction.
#[inline]
fn add(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}

impl Counters {
    pub(crate) fn accepted(&self) {
        add(&self.accepted, 1);
    }

    pub(crate) fn closed(&self) {
        add(&self.closed, 1);
    }

    #[inline]
    pub(crate) fn replied(&self, replies: u32) {
        add(&self.replies, u64::from(replies));
    }

    #[inline]
    pub(crate) fn sent(&self, bytes: usize) {
        add(&self.bytes, bytes as u64);
    }

    pub(crate) fn paused(&self) {
        add(&self.pauses, 1);
    }

    pub(crate) fn sum_into(&self, sum: &mut Counts) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        // Closed first: one that closes meanwhile counts as open, and never as less than none.
        let closed = read(&self.closed);
        let accepted = read(&self.accepted);
        sum.accepted += accepted;
        sum.open += accepted.saturating_sub(closed);
        sum.replies += read(&self.replies);
        sum.bytes += read(&self.bytes);
        sum.pauses += read(&self.pauses);
        sum.unlogged += read(&self.unlogged);
    }
}

/// What a worker has for all its connections.
pub(crate) struct Desk {
    pub site: Site,
    pub log: Option<Log>,
    pub counts: Arc<Counters>,
    /// Since the worker began; taken once a turn.
    pub now_ms: u64,
    /// Every reply is the last of its connection.
    pub draining: bool,
    began: Instant,
    wall: SystemTime,
    /// When `wall` was taken.
    wall_ms: u64,
}

/// How long the time of day is taken from the other clock, which is read anyway.
const WALL_MS: u64 = 500;

impl Desk {
    pub(crate) fn new(site: Site, log: Option<Log>, counts: Arc<Counters>) -> Desk {
        let (began, wall) = (Instant::now(), SystemTime::now());
        let draining = false;
        let mut desk = Desk { site, log, counts, now_ms: 0, draining, began, wall, wall_ms: 0 };
        desk.new_second();
        desk
    }

    /// Takes the time, once for all that is done in one turn.
    #[inline]
    pub(crate) fn tick(&mut self) {
        self.now_ms = self.began.elapsed().as_millis() as u64;
        if self.now_ms - self.wall_ms >= WALL_MS {
            self.wall = SystemTime::now();
            self.wall_ms = self.now_ms;
            self.new_second();
        }
        self.site.tick(self.now_ms, self.wall);
    }

    /// What is done now and then: the log gets its date, and is written.
    fn new_second(&mut self) {
        self.site.tick(self.now_ms, self.wall);
        self.flush_log();
        if let Some(log) = &mut self.log {
            log.tick(self.wall);
        }
    }

    /// Writes the lines of the log that are kept.
    pub(crate) fn flush_log(&mut self) {
        if let Some(log) = self.log.as_mut().filter(|log| !log.is_empty()) {
            log.flush();
            self.counts.unlogged.store(log.lost(), Ordering::Relaxed);
        }
    }

    /// Whether lines of the log wait to be written.
    pub(crate) fn has_lines(&self) -> bool {
        self.log.as_ref().is_some_and(|log| !log.is_empty())
    }

    /// Notes the last reply, to the request that began with `line`.
    pub(crate) fn write_log(&mut self, peer: Option<&SocketAddr>, line: &[u8]) {
        let said = self.site.said();
        if let Some(log) = &mut self.log {
            log.note(peer, line, said);
        }
    }
}

/// By what a worker is told, and told to look.
#[derive(Debug)]
pub(crate) struct Bell {
    order: AtomicU8,
    rings: PipeReader,
    rope: PipeWriter,
}

impl Bell {
    fn new() -> std::io::Result<Bell> {
        let (rings, rope) = std::io::pipe()?;
        rustix::io::ioctl_fionbio(&rings, true)?;
        rustix::io::ioctl_fionbio(&rope, true)?;
        Ok(Bell { order: AtomicU8::new(Order::Serve as u8), rings, rope })
    }

    /// What is to be watched for reading.
    pub(crate) fn rings(&self) -> BorrowedFd<'_> {
        self.rings.as_fd()
    }

    /// Takes what rang, and says what the order is.
    pub(crate) fn answer(&self) -> Order {
        let mut bytes = [0_u8; 64];
        // What can't be read does not ring; the order counts.
        while rustix::io::read(&self.rings, &mut bytes[..]).is_ok_and(|taken| taken > 0) {}
        match self.order.load(Ordering::Acquire) {
            0 => Order::Serve,
            1 => Order::Drain,
            _ => Order::Stop,
        }
    }

    /// Gives an order; a greater one stays.
    fn order(&self, order: Order) {
        self.order.fetch_max(order as u8, Ordering::AcqRel);
        // A full pipe rings already.
        let _ = (&self.rope).write(&[0]);
    }
}

/// Drains or stops a server from elsewhere; of one that has ended it does nothing.
#[derive(Clone, Debug)]
pub struct Stopper {
    bells: Vec<Arc<Bell>>,
}

impl Stopper {
    /// As [`crate::Server::drain`].
    pub fn drain(&self) {
        self.order(Order::Drain);
    }

    /// As [`crate::Server::stop`].
    pub fn stop(&self) {
        self.order(Order::Stop);
    }

    pub(crate) fn order(&self, order: Order) {
        self.bells.iter().for_each(|bell| bell.order(order));
    }
}

/// What a worker is made of.
pub(crate) struct Station {
    pub bell: Arc<Bell>,
    pub desk: Desk,
    pub listener: OwnedFd,
    pub config: Config,
    pub way: &'static Way,
}

/// All workers of a server.
#[derive(Debug)]
pub(crate) struct Crew {
    stopper: Stopper,
    counters: Vec<Arc<Counters>>,
    threads: Vec<JoinHandle<()>>,
    ends: Receiver<Result<(), Error>>,
    remarks: Vec<String>,
}

fn died() -> Error {
    Error::Failed("a worker died".to_owned())
}

/// How a worker tells that it has begun, and of what is not as it should be.
type Begun = Result<Option<String>, Error>;

impl Crew {
    pub(crate) fn start(
        config: &Config,
        row: Row,
        way: &'static Way,
        address: SocketAddr,
    ) -> Result<Crew, Error> {
        let failed = |error| Error::Failed(format!("starting a worker: {error}"));
        let bells = (0..config.workers).map(|_| Bell::new().map(Arc::new));
        let stopper = Stopper { bells: bells.collect::<Result<_, _>>().map_err(failed)? };
        let (end, ends) = channel();
        let mut crew =
            Crew { stopper, counters: Vec::new(), threads: Vec::new(), ends, remarks: Vec::new() };
        let (begun, begins) = channel::<Begun>();
        for number in 0..config.workers {
            let counters = Arc::<Counters>::default();
            crew.counters.push(Arc::clone(&counters));
            let bell = Arc::clone(&crew.stopper.bells[number]);
            let (config, begun, end) = (config.clone(), begun.clone(), end.clone());
            let body = move || {
                let worker = Worker { number, config, row, way, address, bell, counters };
                let ended = catch_unwind(AssertUnwindSafe(|| worker.work(begun)));
                // Nobody hears it where the server is gone.
                let _ = end.send(ended.unwrap_or_else(|_| Err(died())));
            };
            let thread = std::thread::Builder::new().name(format!("httpd-{number}")).spawn(body);
            crew.threads.push(thread.map_err(failed)?);
        }
        drop(begun);
        for _ in 0..config.workers {
            let told = begins.recv().unwrap_or_else(|_| Err(died()))?;
            crew.remarks.extend(told);
        }
        crew.remarks.sort();
        crew.remarks.dedup();
        Ok(crew)
    }

    pub(crate) fn order(&self, order: Order) {
        self.stopper.order(order);
    }

    pub(crate) fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    pub(crate) fn remarks(&self) -> &[String] {
        &self.remarks
    }

    pub(crate) fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        self.counters.iter().for_each(|counters| counters.sum_into(&mut sum));
        sum
    }

    /// Waits for all to end; where one can't go on, the others are stopped.
    pub(crate) fn wait(&mut self) -> Result<Counts, Error> {
        let mut outcome = Ok(());
        for _ in 0..self.threads.len() {
            let end = self.ends.recv().unwrap_or_else(|_| Err(died()));
            if end.is_err() && outcome.is_ok() {
                outcome = end;
                self.order(Order::Stop);
            }
        }
        for thread in self.threads.drain(..) {
            if thread.join().is_err() && outcome.is_ok() {
                outcome = Err(died());
            }
        }
        outcome.map(|()| self.counts())
    }
}

impl Drop for Crew {
    /// The pipes of the bells are closed after the threads have ended, in the table that they are of.
    fn drop(&mut self) {
        self.order(Order::Stop);
        for thread in self.threads.drain(..) {
            // Who drops a server does not ask how it ended.
            let _ = thread.join();
        }
    }
}

/// One worker, before it begins.
struct Worker {
    number: usize,
    config: Config,
    row: Row,
    way: &'static Way,
    address: SocketAddr,
    bell: Arc<Bell>,
    counters: Arc<Counters>,
}

impl Worker {
    /// Begins, tells that, and serves to the end.
    fn work(self, begun: Sender<Begun>) -> Result<(), Error> {
        let bell = Arc::clone(&self.bell);
        let remark = settle(&bell);
        let driver = self.begin();
        // Where nobody hears it, the start has failed elsewhere: the order to stop is given.
        match driver {
            Ok(driver) => {
                let _ = begun.send(Ok(remark));
                drop(begun);
                driver.run()
            }
            Err(error) => {
                let _ = begun.send(Err(error));
                Ok(())
            }
        }
    }

    fn begin(self) -> Result<Box<dyn Driver>, Error> {
        if !self.config.pin.is_empty() {
            pin(self.config.pin[self.number % self.config.pin.len()])?;
        }
        let site = Site::open(&self.config.root, self.config.cache_bytes)?;
        let log = self.config.log.as_deref().map(Log::open).transpose()?;
        let desk = Desk::new(site, log, self.counters);
        let listener = listener::open(self.address)?;
        let (bell, config, way) = (self.bell, self.config, self.way);
        self.row.open(Station { bell, desk, listener, config, way })
    }
}

/// Gives the thread what is its own: descriptors, and no signals.
fn settle(bell: &Bell) -> Option<String> {
    // With the signals of the process, a handler might write to a descriptor of ours.
    let quiet = sys::thread::block_signals();
    let own = quiet.and_then(|()| sys::thread::own_descriptors(&[bell.rings()]));
    own.err().map(|error| format!("workers share one table of descriptors, and its limit: {error}"))
}

fn pin(cpu: usize) -> Result<(), Error> {
    sys::cpus::pin(&[cpu])
        .map_err(|error| Error::Failed(format!("pinning a worker to CPU {cpu}: {error}")))
}
