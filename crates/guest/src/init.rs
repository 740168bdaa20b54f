//! The first program of a guest: mounts what knee needs, starts it, and turns the machine off when it has ended.

use crate::console::{INIT_ENDED, INIT_FAILED};
use crate::kernel::Machine;
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::system::{RebootCommand, reboot, sethostname};
use rustix::termios::tcdrain;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use sys::process::{reap, this_program};

/// The hidden subcommand that measures in a guest.
pub const GUEST_COMMAND: &str = "__guest";

/// What a guest's figures need of file systems: type, where, and the kernel option without which it is missing.
const MOUNTS: [(&str, &str, &str); 5] = [
    ("proc", "/proc", "CONFIG_PROC_FS"),
    ("sysfs", "/sys", "CONFIG_SYSFS"),
    ("devtmpfs", "/dev", "CONFIG_DEVTMPFS"),
    ("tmpfs", "/tmp", "CONFIG_TMPFS"),
    ("tmpfs", "/run", "CONFIG_TMPFS"),
];
/// As many descriptors as a process can be given.
const DESCRIPTORS: u64 = 1 << 20;
/// Of two kernels, `date` may be without a clock: a name that says where a run came from.
const HOST_NAME: &[u8] = b"guest";

/// The variable by which the first process of a guest knows that it is one: that of a container is the first, too.
pub(crate) const MARK: &str = "knee_guest";

/// Whether this process is the first of a guest that `knee vm` booted.
pub fn is_init() -> bool {
    is_first_of_guest(std::process::id(), |name| std::env::var_os(name).is_some())
}

fn is_first_of_guest(id: u32, has_variable: impl Fn(&str) -> bool) -> bool {
    id == 1 && has_variable(MARK)
}

/// What the first process does, to its end. It never returns: the machine is turned off.
pub fn main() -> ! {
    // The console is all that it has before the wire is there; the host reads it.
    let line = match prepare() {
        Err(what) => Some((INIT_FAILED, what)),
        Ok(()) => measure().err().map(|what| (INIT_ENDED, what)),
    };
    if let Some((kind, what)) = line {
        // The console may be in the middle of a line.
        eprintln!("\n{kind}{what}");
        // The serial port loses what it has not sent when the machine is off.
        let _ = tcdrain(io::stderr());
    }
    let _ = reboot(RebootCommand::PowerOff);
    // A kernel that can't turn the machine off panics here, and QEMU ends.
    std::process::exit(1)
}

fn prepare() -> Result<(), String> {
    for (kind, path, option) in MOUNTS {
        match mount(kind, path, kind, MountFlags::empty(), None) {
            // A kernel may have mounted /dev itself.
            Ok(()) | Err(Errno::BUSY) => {}
            Err(Errno::NODEV) => {
                return Err(format!("this kernel has no {kind}: it needs {option}=y"));
            }
            Err(errno) => return Err(format!("mounting {path}: {errno}")),
        }
    }
    if !Machine::here().is_some_and(|machine| Path::new(machine.wire_device()).exists()) {
        let option = "CONFIG_SERIAL_8250_NR_UARTS of at least 2";
        return Err(format!("this kernel has no second serial port: it needs {option}"));
    }
    raise_descriptors().map_err(|error| format!("raising the limit of descriptors: {error}"))?;
    sethostname(HOST_NAME).map_err(|error| format!("naming the machine: {error}"))?;
    // Without a network there is no loopback either: what needs it says so.
    let _ = sys::loopback::up();
    Ok(())
}

fn raise_descriptors() -> io::Result<()> {
    let maximum = fs::read_to_string("/proc/sys/fs/nr_open")?;
    let maximum = maximum.trim().parse().unwrap_or(DESCRIPTORS).min(DESCRIPTORS);
    let limit = getrlimit(Resource::Nofile);
    let maximum = maximum.max(limit.maximum.unwrap_or(0));
    Ok(setrlimit(Resource::Nofile, Rlimit { current: Some(maximum), maximum: Some(maximum) })?)
}

/// Runs this program as the instrument, and reaps what it leaves.
fn measure() -> Result<(), String> {
    let console = || File::options().write(true).open("/dev/console");
    let failed = |error: io::Error| format!("starting: {error}");
    let mut command: Command = this_program();
    command.arg(GUEST_COMMAND).env_clear().env("HOME", "/tmp").env("TMPDIR", "/tmp");
    command
        .env("LD_LIBRARY_PATH", "/lib")
        .env("PATH", "/usr/bin:/bin")
        .stdin(std::process::Stdio::null());
    command.stdout(console().map_err(failed)?).stderr(console().map_err(failed)?);
    let mut child = command.spawn().map_err(sys::limits::explained).map_err(failed)?;
    let status: ExitStatus = child.wait().map_err(failed)?;
    while let Ok(Some(_)) = reap() {}
    if status.success() { Ok(()) } else { Err(format!("measuring ended with {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_process_of_a_container_is_no_guest() {
        assert!(is_first_of_guest(1, |name| name == MARK));
        assert!(!is_first_of_guest(1, |_| false), "it would turn the machine off");
        assert!(!is_first_of_guest(2, |_| true));
    }
}
