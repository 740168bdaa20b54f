//! A guest while it runs, as its host sees it.

use crate::connect::connect;
use crate::console::{self, BYTES_MAX, Console, LineKind};
use crate::machine::{CONSOLE, Hardware, LOG, MONITOR, WIRE};
use crate::message::{FromGuest, ToGuest};
use crate::monitor::Monitor;
use crate::wire::{WireFault, receive, send};
use engine::{Guarded, Scratch};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sys::proc::{self, Stat};
use thiserror::Error;

/// A guest that was started. QEMU and all that belongs to it end when this value is dropped, or when this process
/// does.
#[derive(Debug)]
pub struct Guest {
    qemu: Guarded,
    wire: UnixStream,
    monitor: Monitor,
    /// Whether anything came over the wire.
    has_spoken: bool,
    /// The directory of its console and its wire.
    directory: Scratch,
}

/// Why a guest has nothing more to say.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GuestFault {
    /// This machine could not start it.
    #[error("this machine can't start QEMU: {0}")]
    Host(String),
    /// QEMU did not begin with what it was given, by its own words.
    #[error("QEMU can't be started: {0}")]
    Refused(String),
    /// QEMU failed while the guest ran, by its own words.
    #[error("QEMU failed: {0}")]
    Crashed(String),
    /// QEMU stopped it before knee in it was up, and stays itself: what runs the guest can't run its kernel.
    #[error("QEMU stopped the guest: {0}; --accel tcg emulates it")]
    Stopped(String),
    /// It did not answer in time.
    #[error("the guest did not answer within {0:?}{1}")]
    Late(Duration, Console),
    /// It was silent until the time was over.
    #[error(
        "the guest said nothing within {0:?}: either it hangs, or it has no serial console \
         (CONFIG_SERIAL_8250_CONSOLE=y; arm64: CONFIG_SERIAL_AMBA_PL011_CONSOLE=y)"
    )]
    Silent(Duration),
    /// QEMU ended.
    #[error("the guest ended{0}")]
    Ended(Console),
    /// It ended, and was silent until then.
    #[error(
        "the guest ended before its console began: it has too little --memory, or its kernel does not run on this CPU"
    )]
    Mute,
    /// What came is damaged.
    #[error("{0}{1}")]
    Damaged(String, Console),
}

/// QEMU makes its socket within this time, or not at all.
const START_MAX: Duration = Duration::from_secs(20);
/// How often a guest that says nothing is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// A guest that dies is booted so often.
const BOOTS_MAX: u32 = 3;
/// What came over the wire of the message at hand is kept up to this length, in bytes.
const SEEN_MAX: usize = 4 << 10;
/// Precedes what QEMU says that it does not do, and goes on.
const QEMU_WARNING: &str = "warning: ";

impl GuestFault {
    /// How often a guest with this fault is booted at most: once, where another boot ends the same way, and twice where
    /// each boot takes minutes.
    pub fn boots_max(&self) -> u32 {
        match self {
            fault if fault.is_final() => 1,
            GuestFault::Late(..) | GuestFault::Silent(_) | GuestFault::Mute => 2,
            _ => BOOTS_MAX,
        }
    }

    fn is_final(&self) -> bool {
        match self {
            GuestFault::Host(_) | GuestFault::Refused(_) | GuestFault::Stopped(_) => true,
            GuestFault::Silent(_) | GuestFault::Mute | GuestFault::Crashed(_) => false,
            GuestFault::Late(_, console)
            | GuestFault::Ended(console)
            | GuestFault::Damaged(_, console) => console.is_final(),
        }
    }

    /// Whether what was asked for can't be had: a kernel that can't be a guest, or words that QEMU does not know.
    pub fn is_usage(&self) -> bool {
        self.is_final() && !matches!(self, GuestFault::Host(_) | GuestFault::Stopped(_))
    }

    /// Whether the guest's kernel ran, and can't go on by what its own console says: another accelerator changes nothing.
    pub fn is_of_kernel(&self) -> bool {
        self.is_usage() && !matches!(self, GuestFault::Refused(_))
    }

    /// Whether it says nothing of the kernel: QEMU or the machine that it runs on failed.
    pub fn is_of_host(&self) -> bool {
        matches!(
            self,
            GuestFault::Host(_)
                | GuestFault::Refused(_)
                | GuestFault::Crashed(_)
                | GuestFault::Stopped(_)
        )
    }
}

impl Guest {
    /// Boots `hardware` with `initramfs`, in `directory`, which is made and removed with this value. `knee` is this
    /// program, and `cpus` are those of the host that the guest's share; all, where there are none.
    ///
    /// # Errors
    /// [`GuestFault::Host`], [`GuestFault::Refused`] or [`GuestFault::Mute`].
    pub fn boot(
        knee: &Path,
        hardware: &Hardware,
        initramfs: &Path,
        directory: &Path,
        cpus: &[usize],
    ) -> Result<Guest, GuestFault> {
        let failed = |error: io::Error| GuestFault::Host(error.to_string());
        let directory = Scratch::new(directory).map_err(failed)?;
        let words = hardware.words(initramfs);
        let log = directory.path().join(LOG);
        let mut qemu = Guarded::start(knee, &words, directory.path(), cpus, None, Some(&log))
            .map_err(failed)?;
        let mut has_ended = || qemu.has_ended().unwrap_or(true);
        let mut connected = |name: &str| {
            let socket = connect(directory.path(), name, START_MAX, &mut has_ended);
            let refused = || complaint(&log).map_or(GuestFault::Mute, GuestFault::Refused);
            socket.map_err(failed)?.ok_or_else(refused)
        };
        let (wire, monitor) = (connected(WIRE)?, connected(MONITOR)?);
        let monitor = Monitor::new(monitor).map_err(failed)?;
        wire.set_read_timeout(Some(LOOK)).map_err(failed)?;
        wire.set_write_timeout(Some(LOOK)).map_err(failed)?;
        Ok(Guest { qemu, wire, monitor, has_spoken: false, directory })
    }

    /// Sends `message`, which the guest takes within `patience`. `is_over` may end the wait sooner.
    ///
    /// # Errors
    /// Why the guest can't have it.
    pub fn send(
        &mut self,
        message: &ToGuest,
        patience: Duration,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), GuestFault> {
        self.over_wire(patience, is_over, |port| send(port, message))
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
        let message = self.over_wire(patience, is_over, |port| receive(port))?;
        self.has_spoken = true;
        Ok(message)
    }

    fn over_wire<T>(
        &mut self,
        patience: Duration,
        is_over: &dyn Fn() -> bool,
        exchange: impl FnOnce(&mut Patient<'_>) -> Result<T, WireFault>,
    ) -> Result<T, GuestFault> {
        let console = self.console_path();
        let mut has_ended =
            || Ok(is_endless(&console) || self.monitor.has_stopped() || self.qemu.has_ended()?);
        let until = Instant::now() + patience;
        let (wire, has_ended) = (&self.wire, &mut has_ended);
        let mut port = Patient { wire, until, is_over, has_ended, seen: Vec::new() };
        let exchanged = exchange(&mut port);
        let is_mute =
            || !self.has_spoken && Console::from_text(&console::read(&console)).line.is_empty();
        let seen = match exchanged {
            Err(WireFault::Damaged(_)) if is_mute() => port.rest(),
            _ => Vec::new(),
        };
        exchanged.map_err(|fault| match fault {
            fault if fault.is_late() => self.late(patience),
            // A kernel with one serial port may take the other one for its console.
            WireFault::Damaged(_) if !seen.is_empty() => {
                GuestFault::Ended(Console::from_text(&String::from_utf8_lossy(&seen)))
            }
            fault => self.fault(&fault),
        })
    }

    fn late(&self, patience: Duration) -> GuestFault {
        match self.console() {
            console if console.line.is_empty() && !self.has_spoken => GuestFault::Silent(patience),
            console => GuestFault::Late(patience, console),
        }
    }

    fn fault(&mut self, fault: &WireFault) -> GuestFault {
        match fault {
            WireFault::Ended => self.ended(),
            WireFault::Port(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
                ) =>
            {
                self.ended()
            }
            fault => GuestFault::Damaged(fault.to_string(), self.console()),
        }
    }

    /// QEMU ended, or stopped its guest: by a fault of its own, or by what its guest did.
    fn ended(&mut self) -> GuestFault {
        let console = self.console();
        if self.monitor.has_stopped() {
            let why = first_complaint(&self.directory.path().join(LOG));
            let why = why.unwrap_or_else(|| "it does not say why".to_owned());
            return if self.has_spoken {
                GuestFault::Crashed(why)
            } else {
                GuestFault::Stopped(why)
            };
        }
        let has_begun = self.has_spoken || !console.line.is_empty();
        match complaint(&self.directory.path().join(LOG)) {
            Some(line) if !has_begun => GuestFault::Refused(line),
            Some(line) if console.kind == LineKind::Other => GuestFault::Crashed(line),
            None if !has_begun => GuestFault::Mute,
            _ => GuestFault::Ended(console),
        }
    }

    /// The line of the console that says most about why the guest stopped.
    pub fn console(&self) -> Console {
        Console::from_text(&console::read(&self.console_path()))
    }

    /// The file of the console, which goes with this value.
    pub fn console_path(&self) -> PathBuf {
        self.directory.path().join(CONSOLE)
    }

    /// Whether any message was received.
    pub fn has_spoken(&self) -> bool {
        self.has_spoken
    }

    /// Whether something has come that was not received, or nothing will come any more.
    pub fn is_readable(&mut self) -> bool {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let is_quiet = matches!(recv(&self.wire, &mut [0], flags), Err(Errno::AGAIN | Errno::INTR));
        !is_quiet || self.monitor.has_stopped()
    }

    /// What is wrong with it where it does nothing but fill its console.
    pub fn complains(&self) -> Option<GuestFault> {
        is_endless(&self.console_path()).then(|| GuestFault::Ended(self.console()))
    }

    /// What QEMU says that it can't do, and goes on without: a flag of the CPU.
    pub fn qemu_warnings(&self) -> Vec<String> {
        let log = console::read(&self.directory.path().join(LOG));
        let warning = |line: &str| {
            let (_, what) = line.split_once(QEMU_WARNING)?;
            Some(printable::one_line(what))
        };
        let mut all: Vec<String> = log.lines().filter_map(warning).collect();
        // It says so for each CPU of the guest.
        all.dedup();
        all
    }

    /// The time that each of the guest's CPUs had on the CPUs of the host so far, in clock ticks, by their number;
    /// and that of all other threads of QEMU.
    pub fn cpu_ticks(&self) -> (Vec<u64>, u64) {
        let (mut cpus, mut rest) = (Vec::new(), 0);
        for pid in self.qemu.pids() {
            let tasks = proc::threads(pid).map(|tid| format!("{pid}/task/{tid}"));
            for stat in tasks.filter_map(Stat::read) {
                match cpu_of_guest(&stat.name) {
                    Some(cpu) => cpus.push((cpu, stat.cpu_ticks)),
                    None => rest += stat.cpu_ticks,
                }
            }
        }
        cpus.sort_unstable();
        (cpus.into_iter().map(|(_, ticks)| ticks).collect(), rest)
    }
}

/// The number of the guest's CPU that a thread of QEMU is, by its name, if it is one.
fn cpu_of_guest(name: &str) -> Option<u32> {
    name.strip_prefix("CPU ")?.split('/').next()?.parse().ok()
}

/// Why QEMU ended, by the last line of its own log that is no warning.
fn complaint(log: &Path) -> Option<String> {
    console::read(log).lines().rfind(is_complaint).map(printable::one_line)
}

/// Why QEMU stopped its guest, by the first such line: the state of the CPU follows it.
fn first_complaint(log: &Path) -> Option<String> {
    console::read(log).lines().find(is_complaint).map(printable::one_line)
}

fn is_complaint(line: &&str) -> bool {
    !line.trim().is_empty() && !line.contains(QEMU_WARNING)
}

/// Whether the console in this file is that of a guest that does nothing but complain.
fn is_endless(console: &Path) -> bool {
    fs::metadata(console).is_ok_and(|file| file.len() > BYTES_MAX)
}

/// The wire, read and written until the wait for it is over: also by a guest that takes or gives a byte now and then.
struct Patient<'a> {
    wire: &'a UnixStream,
    until: Instant,
    is_over: &'a dyn Fn() -> bool,
    /// Whether the guest will never say anything.
    has_ended: &'a mut dyn FnMut() -> io::Result<bool>,
    /// What was read.
    seen: Vec<u8>,
}

impl Patient<'_> {
    /// What was read, and what comes before the guest ends: a busy host lets it pause in the middle of a line.
    fn rest(mut self) -> Vec<u8> {
        let mut bytes = [0; 256];
        while self.seen.len() < SEEN_MAX && matches!(self.read(&mut bytes), Ok(1..)) {}
        self.seen
    }

    /// Tries to pass bytes until some have passed; `None` where the guest has ended.
    fn pass(
        &mut self,
        mut pass: impl FnMut(&UnixStream) -> io::Result<usize>,
    ) -> io::Result<Option<usize>> {
        loop {
            if Instant::now() > self.until || (self.is_over)() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match pass(self.wire) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if (self.has_ended)()? {
                        return Ok(None);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                passed => return passed.map(Some),
            }
        }
    }
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let passed = self.pass(|mut wire| wire.write(bytes))?;
        passed.ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let came = self.pass(|mut wire| wire.read(bytes))?.unwrap_or(0);
        let kept = came.min(SEEN_MAX.saturating_sub(self.seen.len()));
        self.seen.extend_from_slice(&bytes[..kept]);
        Ok(came)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// What a guest comes to that does `trickle` with its end of the wire, where `use_port` has half a second for it.
    fn is_late(
        trickle: fn(UnixStream),
        use_port: fn(&mut Patient<'_>) -> Result<(), WireFault>,
    ) -> bool {
        let (host, guest) = UnixStream::pair().unwrap();
        host.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        host.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
        let trickling = thread::spawn(move || trickle(guest));
        let until = Instant::now() + Duration::from_millis(500);
        let (wire, has_ended) = (&host, &mut || Ok(false));
        let mut port = Patient { wire, until, is_over: &|| false, has_ended, seen: Vec::new() };
        let came = use_port(&mut port);
        drop(host);
        trickling.join().unwrap();
        came.is_err_and(|fault| fault.is_late())
    }

    #[test]
    fn a_guest_that_trickles_is_late_as_one_that_says_nothing() {
        let trickle = |mut guest: UnixStream| {
            let head = [&b"knee-1\r\n"[..], &1_000_000_u32.to_le_bytes(), &[0; 4]].concat();
            let mut all = head.into_iter().chain(std::iter::repeat(0));
            while guest.write_all(&[all.next().unwrap()]).is_ok() {
                thread::sleep(Duration::from_millis(5));
            }
        };
        assert!(is_late(trickle, |port| receive::<Vec<String>>(port).map(drop)));
    }

    #[test]
    fn a_guest_that_takes_nothing_is_late() {
        let idle = |guest: UnixStream| {
            thread::sleep(Duration::from_secs(1));
            drop(guest);
        };
        let long: fn(&mut Patient<'_>) -> Result<(), WireFault> = |port| {
            let noise: Vec<u64> =
                (0..400_000_u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
            send(port, &noise)
        };
        assert!(is_late(idle, long));
    }

    #[test]
    fn whose_fault_it_is_decides_whether_a_kernel_can_be_judged() {
        let init = Console::from_text("knee-init-failed: this kernel has no tmpfs");
        let panic = Console::from_text("Kernel panic - not syncing: Fatal exception");
        let is =
            |fault: &GuestFault| [fault.is_of_host(), fault.is_usage(), fault.boots_max() == 1];
        let why = || "no memory".to_owned();
        assert_eq!(is(&GuestFault::Host(why())), [true, false, true]);
        assert_eq!(is(&GuestFault::Refused(why())), [true, true, true]);
        assert_eq!(is(&GuestFault::Crashed(why())), [true, false, false]);
        assert_eq!(is(&GuestFault::Stopped(why())), [true, false, true]);
        assert_eq!(is(&GuestFault::Ended(init)), [false, true, true]);
        assert_eq!(is(&GuestFault::Ended(panic)), [false, false, false]);
        assert_eq!(is(&GuestFault::Mute), [false, false, false]);
        let init = Console::from_text("knee-init-failed: this kernel has no tmpfs");
        assert!(GuestFault::Ended(init).is_of_kernel(), "it ran");
        for no_kernel_ran in
            [GuestFault::Refused(why()), GuestFault::Stopped(why()), GuestFault::Mute]
        {
            assert!(!no_kernel_ran.is_of_kernel(), "{no_kernel_ran}");
        }
    }

    #[test]
    fn what_qemu_says_last_is_why_it_ended() {
        let log = std::env::temp_dir().join(format!("knee-qemu-log-{}", std::process::id()));
        let why = |text: &str| {
            fs::write(&log, text).unwrap();
            complaint(&log)
        };
        let warning = "qemu-system-x86_64: warning: TCG doesn't support requested feature\n";
        assert_eq!(why(warning), None);
        assert_eq!(why(&format!("{warning}no memory\n")).unwrap(), "no memory");
        let stopped = "KVM internal error. Suberror: 1\nextra data[0]: 0x01\nRAX=0\n";
        fs::write(&log, format!("{warning}{stopped}")).unwrap();
        assert_eq!(first_complaint(&log).unwrap(), "KVM internal error. Suberror: 1");
        fs::remove_file(&log).unwrap();
        assert_eq!(complaint(&log), None);
    }

    #[test]
    fn threads_of_qemu_are_distinguished() {
        assert_eq!(cpu_of_guest("CPU 3/TCG"), Some(3));
        assert_eq!(cpu_of_guest("qemu (system)"), None);
    }
}
