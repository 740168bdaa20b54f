//! A guest while it runs, as its host sees it.

use crate::machine::{CONSOLE, Hardware, WIRE};
use crate::message::{FromGuest, ToGuest};
use crate::wire::{WireFault, receive, send};
use engine::{Guarded, Scratch};
use std::fs;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use thiserror::Error;

/// A guest that was started. QEMU and all that belongs to it end when this value is dropped, or when this process
/// does.
#[derive(Debug)]
pub struct Guest {
    qemu: Guarded,
    wire: UnixStream,
    /// The directory of its console and its wire.
    directory: Scratch,
}

/// Why a guest has nothing more to say.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GuestFault {
    /// QEMU could not be started.
    #[error("QEMU can't be started: {0}")]
    NotStarted(String),
    /// It did not answer in time.
    #[error("the guest did not answer within {0:?}{1}")]
    Late(Duration, Console),
    /// QEMU ended.
    #[error("the guest ended{0}")]
    Ended(Console),
    /// What came is damaged.
    #[error("{0}{1}")]
    Damaged(String, Console),
}

/// What the end of a guest's console says, after a colon; nothing where it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Console(pub String);

impl std::fmt::Display for Console {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return f.write_str("; its console is empty");
        }
        write!(f, ": {}", self.0)
    }
}

/// QEMU makes its socket within this time, or not at all.
const START_MAX: Duration = Duration::from_secs(20);
/// How often a guest that says nothing is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// More of a console is not read: the reason of a panic stands near its end.
const CONSOLE_MAX: usize = 64 << 10;
/// Lines that say why a kernel or this program in it stopped, the most telling first.
const TELLING: [&str; 8] = [
    "knee:",
    "Kernel panic",
    "Oops",
    "BUG:",
    "general protection fault",
    "Unable to handle",
    "VFS: Unable",
    "qemu-system",
];

impl Guest {
    /// Boots `hardware` with `initramfs`, in `directory`, which is made and removed with this value. `knee` is this
    /// program, and `cpus` are those of the host that the guest's share; all, where there are none.
    ///
    /// # Errors
    /// [`GuestFault::NotStarted`].
    pub fn boot(
        knee: &Path,
        hardware: &Hardware,
        initramfs: &Path,
        directory: &Path,
        cpus: &[usize],
    ) -> Result<Guest, GuestFault> {
        let failed = |error: io::Error| GuestFault::NotStarted(error.to_string());
        let directory = Scratch::new(directory).map_err(failed)?;
        let words = hardware.words(initramfs);
        let log = directory.path().join("qemu");
        let mut qemu =
            Guarded::start_with_log(knee, &words, directory.path(), cpus, &log).map_err(failed)?;
        let begun = Instant::now();
        let wire = loop {
            match UnixStream::connect(directory.path().join(WIRE)) {
                Ok(wire) => break wire,
                Err(_) if qemu.has_ended().unwrap_or(true) || begun.elapsed() > START_MAX => {
                    let output = fs::read_to_string(&log).unwrap_or_default();
                    return Err(GuestFault::NotStarted(telling(&output)));
                }
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        };
        wire.set_read_timeout(Some(LOOK)).map_err(failed)?;
        Ok(Guest { qemu, wire, directory })
    }

    /// Sends `message`.
    ///
    /// # Errors
    /// Why the guest can't have it.
    pub fn send(&mut self, message: &ToGuest) -> Result<(), GuestFault> {
        let sent = send(&mut self.wire, message);
        sent.map_err(|fault| self.fault(&fault))
    }

    /// The next message, which comes within `patience`. `is_over` may end the wait sooner.
    ///
    /// # Errors
    /// Why there is none, with what the console says.
    pub fn receive(
        &mut self,
        patience: Duration,
        is_over: &dyn Fn() -> bool,
    ) -> Result<FromGuest, GuestFault> {
        let mut port = Patient { guest: self, until: Instant::now() + patience, is_over };
        let message = receive(&mut port);
        message.map_err(|fault| match fault {
            WireFault::Port(error) if error.kind() == io::ErrorKind::TimedOut => {
                GuestFault::Late(patience, self.console())
            }
            fault => self.fault(&fault),
        })
    }

    fn fault(&mut self, fault: &WireFault) -> GuestFault {
        match fault {
            WireFault::Ended => GuestFault::Ended(self.console()),
            WireFault::Port(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                GuestFault::Ended(self.console())
            }
            fault => GuestFault::Damaged(fault.to_string(), self.console()),
        }
    }

    /// The line of the console that says most about why the guest stopped.
    pub fn console(&self) -> Console {
        Console(telling(&self.whole_console()))
    }

    /// The end of the console.
    pub fn whole_console(&self) -> String {
        let bytes = fs::read(self.directory.path().join(CONSOLE)).unwrap_or_default();
        let from = bytes.len().saturating_sub(CONSOLE_MAX);
        String::from_utf8_lossy(&bytes[from..]).into_owned()
    }

    /// The time that each of the guest's CPUs had on the CPUs of the host so far, in clock ticks, by their number;
    /// and that of all other threads of QEMU.
    pub fn cpu_ticks(&self) -> (Vec<u64>, u64) {
        let pids = self.qemu.pids();
        let tasks = pids.iter().filter_map(|pid| fs::read_dir(format!("/proc/{pid}/task")).ok());
        let (mut cpus, mut rest) = (Vec::new(), 0);
        for task in tasks.flatten().flatten() {
            let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            match thread_of(&stat) {
                Some((Some(cpu), ticks)) => cpus.push((cpu, ticks)),
                Some((None, ticks)) => rest += ticks,
                None => {}
            }
        }
        cpus.sort_unstable();
        (cpus.into_iter().map(|(_, ticks)| ticks).collect(), rest)
    }
}

/// Of a line of `/proc/PID/task/TID/stat` of QEMU: the number of the guest's CPU that the thread is, if it is one, and
/// its ticks.
fn thread_of(stat: &str) -> Option<(Option<u32>, u64)> {
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    let mut words = rest.split_whitespace().skip(11);
    let mut ticks = || words.next()?.parse::<u64>().ok();
    let ticks = ticks()? + ticks()?;
    let number = name.strip_prefix("CPU ").and_then(|rest| rest.split('/').next());
    Some((number.and_then(|number| number.parse().ok()), ticks))
}

/// A read from the wire that waits until it is over.
struct Patient<'a> {
    guest: &'a mut Guest,
    until: Instant,
    is_over: &'a dyn Fn() -> bool,
}

impl Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.guest.wire.read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if Instant::now() > self.until || (self.is_over)() {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    if self.guest.qemu.has_ended()? {
                        return Ok(0);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

/// The line of `console` that says most about an end: a known one, or else the last.
fn telling(console: &str) -> String {
    let lines = || console.lines().map(str::trim).filter(|line| !line.is_empty());
    let of_kind = |kind: &&str| lines().find(|line| line.contains(*kind));
    let line = TELLING.iter().find_map(of_kind).or_else(|| lines().next_back());
    printable::one_line(line.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_telling_line_is_quoted() {
        let panic = "[    1.2] random: crng init done\n[    1.3] Kernel panic - not syncing: No working init found.\n\
                     [    1.4] Rebooting";
        assert_eq!(telling(panic), "[ 1.3] Kernel panic - not syncing: No working init found.");
        assert_eq!(telling("knee: no devtmpfs\nKernel panic - not syncing"), "knee: no devtmpfs");
        assert_eq!(telling("a\n\nb\n"), "b");
        assert_eq!(telling(""), "");
    }

    #[test]
    fn threads_of_qemu_are_distinguished() {
        let stat = |name: &str| format!("12 ({name}) S 1 2 3 4 5 6 7 8 9 10 70 5 0 0 20");
        assert_eq!(thread_of(&stat("CPU 3/TCG")), Some((Some(3), 75)));
        assert_eq!(thread_of(&stat("qemu (system)")), Some((None, 75)));
        assert_eq!(thread_of("12"), None);
    }
}
