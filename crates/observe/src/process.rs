//! What `/proc` says of a process: who it is, its threads, its children, what its threads wait in,
//! and how many descriptors its epoll sets watch.

use printable::is_printable;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, PidfdGetfdFlags, geteuid, pidfd_getfd, pidfd_open, test_kill_process,
};

use sys::proc::{self, Stat};

use crate::calls::{Call, Entered};
use crate::error::{Child, Error, as_root};
use crate::observation::Triggers;
use crate::ready::Interest;

/// Names from elsewhere are cut to so many characters.
const NAME_MAX: usize = 60;

/// A process that may be looked into.
#[derive(Debug)]
pub struct Process {
    pub pid: u32,
    pub name: String,
    /// Stands for this process, and for no other that is given its number later.
    handle: OwnedFd,
}

impl Process {
    /// The process of this number, if it can be watched, and by us.
    pub fn find(pid: u32) -> Result<Self, Error> {
        let not = |why: String| Err(Error::NotWatchable { pid, why });
        let number = match i32::try_from(pid).ok().map(Pid::from_raw) {
            None => return Err(Error::Missing(pid)),
            Some(None) => return not("no process has that number".into()),
            Some(Some(number)) => number,
        };
        if pid == std::process::id() {
            return not("that is the program that would watch".into());
        }
        let status = match proc::text(pid, "status") {
            Ok(status) => status,
            Err(_) if test_kill_process(number) != Err(Errno::SRCH) => return Err(hidden(pid)),
            Err(_) => return Err(Error::Missing(pid)),
        };
        let field_text = |key| proc::field(&status, key).unwrap_or_default();
        let name = tame(field_text("Name:"));
        let group: u32 = field_text("Tgid:").parse().unwrap_or(pid);
        if group != pid {
            return not(format!(
                "it is a thread of process {group} ({}); name that",
                name_of(group)
            ));
        }
        check_alive_by(pid, &status)?;
        if Stat::read(pid).is_some_and(|stat| stat.is_kernel_thread) {
            return not(format!("{name} is a thread of the kernel"));
        }
        may_look_into(pid, &name, field_text("Uid:"))?;
        if is_32_bit(pid) {
            return not(format!("{name} is a program of 32 bits; only those of 64 bits can be"));
        }
        let handle = match pidfd_open(number, PidfdFlags::empty()) {
            Ok(handle) => handle,
            Err(Errno::SRCH) => return Err(Error::Ended(pid)),
            Err(error) => {
                return Err(Error::io(format!("can't hold on to process {pid}"), error));
            }
        };
        Ok(Process { pid, name, handle })
    }

    /// This process, which is never found: it is for tests.
    #[cfg(test)]
    pub fn own() -> Self {
        let pid = rustix::process::getpid();
        let handle = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        Process { pid: std::process::id(), name: "own".into(), handle }
    }

    /// Waits for so long, or until the process ends; returns whether it has.
    pub fn ended_within(&self, time: Duration) -> bool {
        let mut events = [PollFd::new(&self.handle, PollFlags::IN)];
        let time = Timespec::try_from(time).ok();
        // A signal cuts the nap short, which does no harm.
        matches!(poll(&mut events, time.as_ref()), Ok(ready) if ready > 0)
    }

    /// Its threads, in order of number.
    pub fn threads(&self) -> Vec<u32> {
        let mut threads: Vec<u32> = proc::threads(self.pid).collect();
        threads.sort_unstable();
        threads
    }

    /// Its children, of whatever thread.
    pub fn children(&self) -> Vec<Child> {
        let mut children = proc::children(self.pid);
        children.sort_unstable();
        children.into_iter().map(|pid| Child { pid, name: title(pid) }).collect()
    }

    /// The wait that a thread sleeps in just now, if it does. `Err` if we may not know.
    pub fn sleeps_in(&self, tid: u32) -> io::Result<Option<Entered>> {
        match proc::text(format_args!("{}/task/{tid}", self.pid), "syscall") {
            Ok(text) => Ok(entered(&text)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error),
            // The thread has ended, or the kernel does not tell.
            Err(_) => Ok(None),
        }
    }

    /// What the epoll set watches that is `epoll` to the thread `tid`; `None` if that is no epoll set any
    /// more.
    ///
    /// The kernel holds the set's lock meanwhile, for about a microsecond a descriptor.
    pub fn watched(&self, tid: u32, epoll: i32) -> Option<Vec<Entry>> {
        let process = self.pid;
        let link = fs::read_link(format!("/proc/{process}/task/{tid}/fd/{epoll}"))
            .or_else(|_| fs::read_link(format!("/proc/{process}/fd/{epoll}")));
        if link.ok()?.as_os_str() != "anon_inode:[eventpoll]" {
            return None;
        }
        let info = fs::read(format!("/proc/{process}/task/{tid}/fdinfo/{epoll}"))
            .or_else(|_| fs::read(format!("/proc/{process}/fdinfo/{epoll}")));
        Some(entries(&info.ok()?))
    }

    /// A duplicate of one of its descriptors.
    pub fn duplicate(&self, descriptor: i32) -> io::Result<OwnedFd> {
        Ok(pidfd_getfd(&self.handle, descriptor, PidfdGetfdFlags::empty())?)
    }

    /// What a link in its directory of descriptors says: `socket:[4711]`, or a path.
    pub fn link(&self, descriptor: i32) -> String {
        let link = fs::read_link(format!("/proc/{}/fd/{descriptor}", self.pid));
        link.map_or_else(|_| String::new(), |link| tame(&link.to_string_lossy()))
    }

    /// What it has mapped, a line each.
    pub fn maps(&self) -> String {
        proc::text(self.pid, "maps").unwrap_or_default()
    }

    /// Whether what the descriptor stands for is among `maps`, as packet sockets and perf events are read.
    pub fn is_in(&self, maps: &str, descriptor: i32) -> bool {
        let link = self.link(descriptor);
        !link.is_empty() && maps.lines().any(|line| line.ends_with(&link))
    }

    /// Whether it has an io_uring.
    pub fn has_uring(&self) -> bool {
        let directory = fs::read_dir(format!("/proc/{}/fd", self.pid));
        directory.into_iter().flatten().flatten().take(LINKS_MAX).any(|entry| {
            fs::read_link(entry.path())
                .is_ok_and(|link| link.as_os_str() == "anon_inode:[io_uring]")
        })
    }
}

/// So many processes are asked whether they have the other end of a pipe.
const PROCESSES_MAX: usize = 4_000;
/// So many of a process's descriptors are looked at for an io_uring.
const LINKS_MAX: usize = 20_000;

/// `EPOLLET` and `EPOLLONESHOT`, among the events of a descriptor.
const EDGE: u32 = 1 << 31;
const ONESHOT: u32 = 1 << 30;

/// A descriptor of an epoll set, with its events, where the line has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    descriptor: Option<i32>,
    events: u32,
}

impl Entry {
    /// What waits report of it as long as it is ready: nothing, if it is not level-triggered.
    pub fn level(self) -> Option<Interest> {
        let is_level = self.events & (EDGE | ONESHOT) == 0;
        // The upper half has flags of epoll.
        let events = PollFlags::from_bits_retain(self.events as u16);
        Some(Interest { descriptor: self.descriptor.filter(|_| is_level)?, events })
    }
}

/// The descriptors of an epoll set, by its `fdinfo`: a line for each, with its events in hexadecimal.
fn entries(info: &[u8]) -> Vec<Entry> {
    let lines = info.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"tfd:"));
    lines.map(|line| entry(line).unwrap_or_default()).collect()
}

/// `tfd:        7 events: 80000019 data: …`.
fn entry(line: &[u8]) -> Option<Entry> {
    let mut words = std::str::from_utf8(line).ok()?.split_whitespace().skip(1);
    let descriptor = words.next()?.parse().ok();
    words.find(|word| *word == "events:")?;
    Some(Entry { descriptor, events: u32::from_str_radix(words.next()?, 16).ok()? })
}

/// How many of them are watched in which way.
pub fn triggers(entries: &[Entry]) -> Triggers {
    let mut triggers = Triggers::default();
    for Entry { events, .. } in entries {
        // What is both is armed again for each event, as oneshot alone is.
        *if events & ONESHOT != 0 {
            &mut triggers.oneshot
        } else if events & EDGE != 0 {
            &mut triggers.edge
        } else {
            &mut triggers.level
        } += 1;
    }
    triggers
}

/// What a `syscall` file says: a number, six arguments and two addresses, or `running`.
fn entered(text: &str) -> Option<Entered> {
    let mut words = text.split_whitespace();
    let call = Call::of_number(words.next()?.parse().ok()?)?;
    let mut args = [0; 6];
    for arg in &mut args {
        *arg = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    }
    Some(Entered { call, args })
}

/// A name as it may be printed: a process can call itself what it likes.
pub fn tame(name: &str) -> String {
    let visible = |c: char| if c.is_control() { '?' } else { c };
    name.trim().chars().map(visible).filter(|&c| is_printable(c)).take(NAME_MAX).collect()
}

/// `1234 (python3)`.
pub fn named(pid: u32) -> String {
    format!("{pid} ({})", name_of(pid))
}

/// The descriptors of all processes that are ends of pipes, by what their links say. One scan finds them.
pub struct PipeEnds(HashMap<PathBuf, Vec<(u32, i32)>>);

impl PipeEnds {
    /// Those of all processes, of `own` first.
    pub fn read(own: u32) -> PipeEnds {
        let mut ends: HashMap<PathBuf, Vec<(u32, i32)>> = HashMap::new();
        for pid in std::iter::once(own).chain(proc::pids()).take(PROCESSES_MAX) {
            for descriptor in proc::numbers_in(format!("/proc/{pid}/fd")) {
                let link = fs::read_link(format!("/proc/{pid}/fd/{descriptor}"));
                let is_pipe = |link: &PathBuf| link.as_os_str().as_bytes().starts_with(b"pipe:");
                if let Some(link) = link.ok().filter(is_pipe) {
                    ends.entry(link).or_default().push((pid, descriptor.cast_signed()));
                }
            }
        }
        PipeEnds(ends)
    }

    /// The process that has the other end of the pipe `link`, of which `descriptor` of `pid` is one end.
    pub fn other_end(&self, pid: u32, descriptor: i32, link: &str) -> Option<String> {
        let own = writes(pid, descriptor)?;
        let ends = self.0.get(Path::new(link))?;
        ends.iter().find(|&&(pid, end)| writes(pid, end) == Some(!own)).map(|(pid, _)| named(*pid))
    }
}

/// Whether a descriptor is open for writing.
fn writes(pid: u32, descriptor: i32) -> Option<bool> {
    let info = proc::text(pid, &format!("fdinfo/{descriptor}")).ok()?;
    let flags = u32::from_str_radix(proc::field(&info, "flags:")?, 8).ok()?;
    Some(flags & 0o3 != 0)
}

fn name_of(pid: u32) -> String {
    proc::comm(pid).map_or_else(|_| "?".into(), |name| tame(&name))
}

/// What a process calls itself: its command line, or its name if it has none.
fn title(pid: u32) -> String {
    let line = proc::text(pid, "cmdline").unwrap_or_default();
    let words: Vec<&str> = line.split('\0').filter(|word| !word.is_empty()).collect();
    let title = tame(&words.join(" "));
    if title.is_empty() { name_of(pid) } else { title }
}

/// Whether its program is an ELF file of 32 bits, whose system calls have numbers of their own.
fn is_32_bit(pid: u32) -> bool {
    use std::io::Read as _;
    let mut begin = [0; 5];
    let file = fs::File::open(format!("/proc/{pid}/exe"));
    file.and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == *b"\x7fELF\x01"
}

/// Whether a process has not ended: one that its parent has not waited for is still in /proc.
///
/// # Errors
/// [`Error::Missing`], or [`Error::NotWatchable`] with the parent.
pub fn check_alive(pid: u32) -> Result<(), Error> {
    check_alive_by(pid, &proc::text(pid, "status").map_err(|_| Error::Missing(pid))?)
}

fn check_alive_by(pid: u32, status: &str) -> Result<(), Error> {
    let field_text = |key| proc::field(status, key).unwrap_or_default();
    // The first thread may end before the others, and then looks the same.
    if !field_text("State:").starts_with(['Z', 'X']) || proc::threads(pid).count() > 1 {
        return Ok(());
    }
    let (name, parent) = (tame(field_text("Name:")), field_text("PPid:").parse().unwrap_or(0));
    let parent_name = name_of(parent);
    let why = format!(
        "{name} has ended, and its parent, process {parent} ({parent_name}), has not noticed yet"
    );
    Err(Error::NotWatchable { pid, why })
}

fn hidden(pid: u32) -> Error {
    Error::NotPermitted {
        what: format!("/proc hides process {pid} from this user"),
        remedy: as_root().into(),
    }
}

/// Whether the kernel lets us see the process's descriptors, as it does for those of the same user.
fn may_look_into(pid: u32, name: &str, users: &str) -> Result<(), Error> {
    let directory = format!("/proc/{pid}/fdinfo");
    let seen = fs::read_dir(&directory).and_then(|entries| {
        // Listing may be permitted where reading is not. One that can be read is enough.
        for entry in entries {
            match fs::read(entry?.path()) {
                // Closed since the directory was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                read => return read.map(drop),
            }
        }
        Ok(())
    });
    match seen {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let owner = users.split_whitespace().next().and_then(|user| user.parse().ok());
            Err(not_ours(pid, name, owner.unwrap_or(0)))
        }
        Err(_) if !Path::new(&directory).exists() => Err(Error::Ended(pid)),
        Err(error) => Err(Error::io(format!("can't read {directory}"), error)),
    }
}

/// For a process that may not be inspected: its owner, and how to get permission.
fn not_ours(pid: u32, name: &str, owner: u32) -> Error {
    let user = geteuid();
    let (what, remedy): (String, &str) = if user.is_root() {
        ("can't be looked into from here, not even by root".into(), as_root())
    } else if owner == user.as_raw() {
        ("lets nobody but root look into it".into(), as_root())
    } else {
        let passwd = fs::read("/etc/passwd").unwrap_or_default();
        let owner = user_name(&String::from_utf8_lossy(&passwd), owner);
        (format!("belongs to {owner}"), as_root())
    };
    Error::NotPermitted { what: format!("process {pid} ({name}) {what}"), remedy: remedy.into() }
}

/// `another user (www-data)`, or with the number if the file has no name for it.
fn user_name(passwd: &str, user: u32) -> String {
    let name = passwd.lines().find_map(|line| {
        let mut parts = line.split(':');
        let name = parts.next()?;
        (parts.nth(1)?.parse() == Ok(user)).then(|| tame(name))
    });
    format!("another user ({})", name.unwrap_or_else(|| format!("number {user}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    #[test]
    fn watched_descriptors_are_lines() {
        let count = |info: &[u8]| triggers(&entries(info)).total();
        let info = include_bytes!("../tests/recorded/eventpoll.fdinfo");
        assert_eq!(count(info), 3);
        // Cut within a line: the line has begun, so there is one.
        let third = info.len() - 30;
        assert_eq!(count(&info[..third]), 3);
        assert_eq!(count(b""), 0);
        assert_eq!(count(b"pos:\t0\nflags:\t02\nxtfd: 1\n tfd: 2\n\xff\xfe\n"), 0);
    }

    #[test]
    fn how_a_descriptor_is_watched_is_in_its_events() {
        let info = include_bytes!("../tests/recorded/eventpoll.fdinfo");
        let level: Vec<Interest> = entries(info).into_iter().filter_map(Entry::level).collect();
        let is = |descriptor, events| Interest {
            descriptor,
            events: PollFlags::from_bits_retain(events),
        };
        assert_eq!(level, [is(6, 0x19), is(10, 1)]);
        let triggers = |info: &[u8]| triggers(&entries(info));
        assert_eq!(triggers(info), Triggers { level: 2, edge: 1, oneshot: 0 });
        let both = b"tfd: 8 events: c0002001 data: 0\ntfd: 9 events: 40000001 data: 0\ntfd: 10 eve";
        assert_eq!(triggers(both), Triggers { level: 1, edge: 0, oneshot: 2 });
        assert_eq!(triggers(b"tfd: 8 events: zz\n").level, 1, "as epoll_ctl does without a flag");
    }

    #[test]
    fn a_sleeping_threads_call_is_read() {
        let args = |text| entered(text).map(|entered| entered.args);
        if cfg!(target_arch = "x86_64") {
            let text = "232 0x5 0x7ffd1 0x10 0xffffffffffffffff 0x0 0x0 0x7ffd 0x7f12\n";
            assert_eq!(args(text), Some([5, 0x7ffd1, 16, u64::MAX, 0, 0]));
            assert_eq!(args("232 0x5 0x7ffd1"), None);
            assert_eq!(args("232 5 0 0 0 0 0"), None);
        }
        for text in ["running\n", "-1 0x7ffd 0x7f12", "", "0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0"] {
            assert_eq!(entered(text), None, "{text}");
        }
    }

    #[test]
    fn names_are_made_fit_to_print() {
        assert_eq!(tame("a\x1b[31mb\nc\u{202e}d"), "a?[31mb?cd");
        let turning = ['\u{200e}', '\u{200f}', '\u{202a}', '\u{202c}', '\u{2066}', '\u{2069}'];
        let hiding = ['\u{ad}', '\u{200b}', '\u{2028}', '\u{2060}', '\u{feff}', '\u{e0041}'];
        for unseen in turning.into_iter().chain(hiding) {
            assert_eq!(tame(&format!("a{unseen}b")), "ab", "{unseen:?}");
        }
        for kept in ["caf\u{e9} \u{fffd}", "\u{646}\u{200c}\u{647}", "\u{1f469}\u{200d}\u{1f4bb}"] {
            assert_eq!(tame(kept), kept);
        }
        assert_eq!(tame(&"x".repeat(500)).len(), NAME_MAX);
    }

    /// The kernel cuts a name after 15 bytes, within a character if need be.
    #[test]
    fn a_process_may_be_called_anything() {
        let long = format!("{}\u{fffd}", "\u{e9}".repeat(7));
        for (octal, name) in [(r"caf\377", "caf\u{fffd}"), (&r"\303\251".repeat(9), &long)] {
            let script = format!("printf '{octal}' > /proc/$$/comm && echo done; read end");
            let mut command = Command::new("sh");
            command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut field_text = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut field_text).unwrap();
            let process = Process::find(child.id());
            // Its input ends, and so does it.
            drop(child.stdin.take());
            child.wait().unwrap();
            assert_eq!(field_text, "done\n", "it could not rename itself");
            assert_eq!(process.unwrap().name, name);
        }
    }

    #[test]
    fn users_have_names_or_numbers() {
        let passwd = "root:x:0:0::/:/bin/sh\nbroken\nwww-data:x:33:33::/:/bin/false\n";
        assert_eq!(user_name(passwd, 33), "another user (www-data)");
        assert_eq!(user_name(passwd, 4000), "another user (number 4000)");
    }
}
