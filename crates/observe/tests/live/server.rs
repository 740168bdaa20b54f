//! Processes to be watched: this test program again, as one that waits in a known way.

use rustix::process::{Signal, set_parent_process_death_signal};
use std::cell::{Cell, OnceCell};
use std::env;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MODE: &str = "OBSERVE_SERVER";
/// A server says a word each time it has done so many rounds.
const ROUNDS: usize = 100;
/// Who watches asks whether to stop some fifty times a second, and reads sizes before the tenth time.
const LONG_ENOUGH: u32 = 12;

/// A process that waits in a known way. It is killed when this value goes away.
pub struct Server {
    child: Child,
    words: Arc<AtomicUsize>,
}

impl Server {
    /// Starts one, and returns once it has printed that it is ready.
    pub fn start(mode: &str) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command
            .args(["--exact", "server::serves", "--ignored", "--nocapture", "--test-threads=1"])
            .env(MODE, mode);
        Self::total(command)
    }

    /// Any program that prints lines, of which the first one means that it is ready.
    pub fn total(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = lines.by_ref().map_while(Result::ok).find(|line| line.ends_with("READY"));
        assert!(ready.is_some(), "the server did not start");
        let words = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&words);
        std::thread::spawn(move || {
            for _ in lines.map_while(Result::ok) {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Server { child, words }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A condition to stop at: it has done so many hundred rounds more since the first look, which may be long in coming.
    pub fn done(&self, hundreds: usize) -> impl Fn() -> bool {
        let (words, until) = (Arc::clone(&self.words), OnceCell::new());
        let now = move || words.load(Ordering::Relaxed);
        move || now() >= *until.get_or_init(|| now() + hundreds)
    }

    /// A condition to stop at, for a server that changes on a signal: the signal is sent once it has
    /// been looked at for a while, and has then done so many hundred rounds more.
    pub fn report_then_end(&self, hundreds: usize) -> impl Fn() -> bool {
        let words = Arc::clone(&self.words);
        let stdin = self.child.stdin.as_ref().unwrap();
        let (asked, until) = (Cell::new(0), Cell::new(usize::MAX));
        move || {
            asked.set(asked.get() + 1);
            if asked.get() == LONG_ENOUGH {
                until.set(words.load(Ordering::Relaxed) + hundreds);
                (&*stdin).write_all(b"!").unwrap();
            }
            words.load(Ordering::Relaxed) >= until.get()
        }
    }

    /// Ends it without taking note of its end.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server's part.
#[test]
#[ignore = "the child's part of other tests"]
fn serves() {
    // Nothing is left behind should the tests be killed.
    set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
    let mode = env::var(MODE).unwrap_or_default();
    match mode.as_str() {
        "epoll" => rounds(|| epoll(50, 3, PAUSE, usize::MAX), 1),
        "busy" => rounds(|| epoll(20, 2, None, usize::MAX), 1),
        "short" => {
            println!("READY");
            assert_eq!(std::io::stdin().read(&mut [0]).unwrap(), 1);
            epoll(9, 1, PAUSE, 200);
        }
        "narrow" => rounds(narrow, 1),
        "unread" => rounds(unread, 1),
        "unread-poll" => rounds(unread_poll, 1),
        "writable" => rounds(writable, 1),
        "saturated" => rounds(saturated, 1),
        "edge" => rounds(edge, 1),
        "poll" => rounds(poll, 1),
        "select" => rounds(select, 1),
        "threads" => threads(),
        "shared" => shared(),
        "grows" => grows(),
        "idle" => idle(),
        "many" => many(),
        "uring" => uring(),
        "parent" => parent(),
        "quiet" => quiet(),
        name => panic!("no server is called {name:?}"),
    }
}

/// A wait without an event lasts so long, so that the machine is not kept busy.
const PAUSE: Option<Duration> = Some(Duration::from_millis(2));

/// Says that it is ready, and then waits in so many threads.
fn rounds(work: impl Fn() + Sync, threads: usize) {
    println!("READY");
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(&work);
        }
        work();
    });
}

/// Pipes, of which some are given a byte each before a wait, and emptied after it.
struct Pipes(Vec<(PipeReader, PipeWriter)>);

impl Pipes {
    fn new(count: usize) -> Self {
        Pipes((0..count).map(|_| std::io::pipe().unwrap()).collect())
    }

    fn fill(&mut self, count: usize) {
        self.0[..count].iter_mut().for_each(|(_, writer)| writer.write_all(b"!").unwrap());
    }

    fn empty(&mut self, count: usize) {
        let mut byte = [0];
        self.0[..count].iter_mut().for_each(|(reader, _)| reader.read_exact(&mut byte).unwrap());
    }

    fn epoll(&self) -> std::os::fd::OwnedFd {
        let epoll = sys::epoll::create().unwrap();
        for (reader, _) in &self.0 {
            sys::epoll::add(epoll.as_fd(), reader.as_fd(), libc::EPOLLIN as u32, 0).unwrap();
        }
        epoll
    }
}

fn say_so_often(round: usize) {
    if round.is_multiple_of(ROUNDS) {
        println!("more");
    }
}

fn no_events(count: usize) -> Vec<libc::epoll_event> {
    vec![libc::epoll_event { events: 0, u64: 0 }; count]
}

/// Each round is a wait with `active` events of `total`, and one without if there is a pause.
fn epoll(total: usize, active: usize, pause: Option<Duration>, rounds: usize) {
    let mut pipes = Pipes::new(total);
    let epoll = pipes.epoll();
    let mut events = no_events(64);
    for round in 1..=rounds {
        pipes.fill(active);
        assert_eq!(sys::epoll::wait(epoll.as_fd(), &mut events, None).unwrap(), active);
        pipes.empty(active);
        if pause.is_some() {
            assert_eq!(sys::epoll::wait(epoll.as_fd(), &mut events, pause).unwrap(), 0);
        }
        say_so_often(round);
    }
}

/// 3 of 10 are active, but each wait has room for one.
fn narrow() {
    let mut pipes = Pipes::new(10);
    let epoll = pipes.epoll();
    let mut events = no_events(1);
    for round in 1.. {
        pipes.fill(3);
        assert_eq!(sys::epoll::wait(epoll.as_fd(), &mut events, None).unwrap(), 1);
        pipes.empty(3);
        assert_eq!(sys::epoll::wait(epoll.as_fd(), &mut events, PAUSE).unwrap(), 0);
        say_so_often(round);
    }
}

/// One of 8 has a byte that is never read, and one has lost its other end.
fn unread() {
    let mut pipes = Pipes::new(8);
    pipes.fill(1);
    let epoll = pipes.epoll();
    let (_last, writer) = pipes.0.pop().unwrap();
    drop(writer);
    loop {
        assert_eq!(sys::epoll::wait(epoll.as_fd(), &mut no_events(64), None).unwrap(), 2);
    }
}

/// One of 8 has a byte that is never read.
fn unread_poll() {
    let mut pipes = Pipes::new(8);
    pipes.fill(1);
    let entry = |fd: i32| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let entries = pipes.0.iter().map(|(reader, _)| entry(reader.as_raw_fd()));
    let mut entries: Vec<libc::pollfd> = entries.collect();
    loop {
        assert_eq!(sys::poll::poll(&mut entries, None).unwrap(), 1);
    }
}

/// A pipe is watched for writing, and nothing is written; 3 others are in use.
fn writable() {
    let mut pipes = Pipes::new(3);
    let epoll = pipes.epoll();
    let (_kept, writer) = std::io::pipe().unwrap();
    sys::epoll::add(epoll.as_fd(), writer.as_fd(), libc::EPOLLOUT as u32, 0).unwrap();
    for round in 0_u64.. {
        if round.is_multiple_of(100) {
            pipes.fill(3);
            assert_eq!(sys::epoll::wait(epoll.as_fd(), &mut no_events(64), None).unwrap(), 4);
            pipes.empty(3);
        }
        assert_eq!(sys::epoll::wait(epoll.as_fd(), &mut no_events(64), None).unwrap(), 1);
    }
}

/// 4 are always ready, as more comes as fast as it is read.
fn saturated() {
    let mut pipes = Pipes::new(4);
    let epoll = pipes.epoll();
    pipes.fill(4);
    loop {
        pipes.fill(4);
        assert_eq!(sys::epoll::wait(epoll.as_fd(), &mut no_events(64), None).unwrap(), 4);
        pipes.empty(4);
    }
}

/// One has a byte that is never read, but is edge-triggered; another is in use.
fn edge() {
    let mut pipes = Pipes::new(1);
    let epoll = pipes.epoll();
    let (unread, mut writer) = std::io::pipe().unwrap();
    let events = (libc::EPOLLIN | libc::EPOLLET) as u32;
    sys::epoll::add(epoll.as_fd(), unread.as_fd(), events, 0).unwrap();
    writer.write_all(b"!").unwrap();
    assert_eq!(sys::epoll::wait(epoll.as_fd(), &mut no_events(64), None).unwrap(), 1);
    loop {
        pipes.fill(1);
        assert_eq!(sys::epoll::wait(epoll.as_fd(), &mut no_events(64), None).unwrap(), 1);
        pipes.empty(1);
    }
}

/// 40 of 48 entries count; 2 are active.
fn poll() {
    let mut pipes = Pipes::new(40);
    let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut fds: Vec<libc::pollfd> =
        pipes.0.iter().map(|(reader, _)| entry(reader.as_raw_fd())).collect();
    (0..8).for_each(|index| fds.insert(5 * index, entry(-1)));
    for round in 1.. {
        pipes.fill(2);
        assert_eq!(sys::poll::poll(&mut fds, None).unwrap(), 2);
        pipes.empty(2);
        assert_eq!(sys::poll::poll(&mut fds, PAUSE).unwrap(), 0);
        say_so_often(round);
    }
}

/// 30 descriptors in the one set, of which 4 are active.
fn select() {
    let mut pipes = Pipes::new(30);
    let fds: Vec<usize> = pipes.0.iter().map(|(reader, _)| reader.as_raw_fd() as usize).collect();
    let count = fds.iter().max().unwrap() + 1;
    let mut whole = vec![0; 16];
    for fd in &fds {
        whole[fd / sys::poll::Word::BITS as usize] |= 1 << (fd % sys::poll::Word::BITS as usize);
    }
    for round in 1.. {
        let select = |pause| {
            let mut set: Vec<sys::poll::Word> = whole.clone();
            sys::poll::select(count, Some(&mut set), None, pause).unwrap()
        };
        pipes.fill(4);
        assert_eq!(select(None), 4);
        pipes.empty(4);
        assert_eq!(select(PAUSE), 0);
        say_so_often(round);
    }
}

/// 10 with 1 active; others come and go that wait on the same 3, of which 1 is active; and at a signal,
/// one more with 20, of which 4 are active.
fn threads() {
    let short = Mutex::new(Pipes::new(3));
    let set = short.lock().unwrap().epoll();
    let come_and_go = || {
        let mut pipes = short.lock().unwrap();
        // Long enough to be found by most of the looks for new threads, short enough to end between them.
        for _ in 0..40 {
            pipes.fill(1);
            assert_eq!(sys::epoll::wait(set.as_fd(), &mut no_events(4), None).unwrap(), 1);
            pipes.empty(1);
            assert_eq!(sys::epoll::wait(set.as_fd(), &mut no_events(4), PAUSE).unwrap(), 0);
        }
    };
    println!("READY");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                scope.spawn(come_and_go).join().unwrap();
            }
        });
        scope.spawn(|| {
            assert_eq!(std::io::stdin().read(&mut [0]).unwrap(), 1);
            epoll(20, 4, PAUSE, usize::MAX);
        });
        epoll(10, 1, PAUSE, usize::MAX);
    });
}

/// Three threads wait on the same 6, and nothing ever comes.
fn shared() {
    let pipes = Pipes::new(6);
    let epoll = pipes.epoll();
    let wait = || {
        let mut events = no_events(4);
        for round in 1.. {
            assert_eq!(sys::epoll::wait(epoll.as_fd(), &mut events, PAUSE).unwrap(), 0);
            say_so_often(round);
        }
    };
    rounds(wait, 3);
}

/// 5 at first; at a signal, one more each round, up to 105. The one that is active fills its room.
fn grows() {
    let mut pipes = Pipes::new(105);
    let epoll = sys::epoll::create().unwrap();
    let add = |reader: &PipeReader| {
        sys::epoll::add(epoll.as_fd(), reader.as_fd(), libc::EPOLLIN as u32, 0).unwrap();
    };
    pipes.0[..5].iter().for_each(|(reader, _)| add(reader));
    let reported = AtomicBool::new(false);
    let (mut events, mut total) = (no_events(1), 5);
    println!("READY");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(std::io::stdin().read(&mut [0]).unwrap(), 1);
            reported.store(true, Ordering::Relaxed);
        });
        for round in 1.. {
            if let (true, Some((reader, _))) =
                (reported.load(Ordering::Relaxed), pipes.0.get(total))
            {
                add(reader);
                total += 1;
            }
            pipes.fill(1);
            assert_eq!(sys::epoll::wait(epoll.as_fd(), &mut events, None).unwrap(), 1);
            pipes.empty(1);
            assert_eq!(sys::epoll::wait(epoll.as_fd(), &mut events, PAUSE).unwrap(), 0);
            say_so_often(round);
        }
    });
}

/// One thread sleeps in epoll over 12, and another in poll over 7, for ever.
fn idle() {
    let (set, array) = (Pipes::new(12), Pipes::new(7));
    let epoll = set.epoll();
    let mut fds: Vec<libc::pollfd> = array
        .0
        .iter()
        .map(|(reader, _)| libc::pollfd {
            fd: reader.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    std::thread::scope(|scope| {
        scope.spawn(|| sys::epoll::wait(epoll.as_fd(), &mut no_events(4), None));
        scope.spawn(|| sys::poll::poll(&mut fds, None));
        println!("READY");
    });
}

/// More threads than are watched, all asleep on the same 4.
fn many() {
    let pipes = Pipes::new(4);
    let epoll = pipes.epoll();
    std::thread::scope(|scope| {
        for _ in 0..observe::THREADS_MAX + 8 {
            scope.spawn(|| sys::epoll::wait(epoll.as_fd(), &mut no_events(4), None));
        }
        println!("READY");
    });
}

fn uring() {
    match io_uring::IoUring::new(4) {
        Ok(_ring) => {
            println!("READY");
            wait_for_the_end();
        }
        Err(error) => println!("no io_uring here: {error}; READY"),
    }
}

/// It makes no waits, but has a child, which ends when this process does: its input ends then.
fn parent() {
    let mut child = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    println!("READY");
    wait_for_the_end();
    child.kill().unwrap();
    child.wait().unwrap();
}

/// It makes no waits, until it is killed.
fn quiet() {
    println!("READY");
    wait_for_the_end();
}

/// Until the tests close the other end: nothing is ever written there.
fn wait_for_the_end() {
    let _ = std::io::stdin().read(&mut [0]);
}
