//! What is checked before a guest is booted: that its kernel can be one, that memory and disk hold it, and that it can
//! measure what is asked for.

use super::root;
use crate::commands::measure::config::NamedSuite;
use crate::commands::measure::run;
use crate::commands::measure::run::flags::Run as RunFlags;
use crate::exit::{Exit, Trouble};
use engine::Programs;
use findings::format::list;
use guest::{Hardware, Kernel, Machine};
use rustix::fs::statvfs;
use std::io;
use std::path::Path;

/// Memory that the host keeps for itself, in MiB.
const SPARED_MIB: u64 = 256;
/// A guest with less does not come up with any kernel, in MiB.
const MEMORY_MIN_MIB: u64 = 64;
/// Disk that the console and the log of a guest take, and more, in bytes.
const LOGS_BYTES: u64 = 4 << 20;
/// A kernel cuts off what of its command line is longer, in bytes.
const COMMAND_LINE_MAX: usize = 2047;

/// Refuses what no guest can measure: words that are wrong anywhere, and workloads of programs that are not there.
pub fn check_measured(measured: &RunFlags, suite: Option<&NamedSuite>) -> Result<(), Trouble> {
    let workloads = root::workloads(measured, suite);
    let needs_programs = |name: &&String| {
        let row = ::workloads::find(name);
        row.is_some_and(|row| row.about().programs == Programs::Commands)
    };
    if let Some(name) = workloads.iter().find(needs_programs) {
        let what =
            format!("{name} can't be measured by `knee vm`: a guest has none of your programs");
        return Err(Trouble::usage(what));
    }
    match run::planned(measured) {
        // A kernel may be able to do what this machine is not.
        Err(trouble) if trouble.exit == Exit::Usage => Err(trouble),
        _ => Ok(()),
    }
}

pub fn check_kernel(kernel: &Kernel) -> Result<(), String> {
    let here = Machine::here();
    if here != Some(kernel.machine) {
        let (image, here) = (kernel.machine.name(), here.map_or("another one", Machine::name));
        return Err(format!("it is for {image}, and a guest runs this knee, which is for {here}"));
    }
    let Some((configuration, needs)) = kernel.lacks() else { return Ok(()) };
    let needs = list(needs.iter().map(|need| format!("{}=y ({})", need.option, need.purpose)));
    Err(format!("by {} it lacks what a guest needs: {needs}", configuration.display()))
}

/// Refuses a command line that a kernel would not read as it was typed.
pub fn check_command_line(hardware: &Hardware) -> Result<(), Trouble> {
    let line = hardware.command_line();
    if line.chars().any(char::is_control) {
        return Err(Trouble::usage("--append: a kernel's command line is one line of plain text"));
    }
    match line.len() {
        0..=COMMAND_LINE_MAX => Ok(()),
        length => Err(Trouble::usage(format!(
            "--append: the kernel's command line has {length} bytes, and a kernel reads {COMMAND_LINE_MAX}"
        ))),
    }
}

pub fn check_memory(all: &[&Hardware]) -> Result<(), Trouble> {
    if let Some(side) = all.iter().find(|side| side.memory_mib < MEMORY_MIN_MIB) {
        let what = format!("--memory: a guest needs {MEMORY_MIN_MIB} MiB at least");
        return Err(Trouble::usage(format!("{what}, and {} MiB are too few", side.memory_mib)));
    }
    let wanted: u64 = all.iter().map(|side| side.memory_mib).sum();
    let available_kib = sys::proc::memory_kib("MemAvailable:");
    let Some(available_mib) = available_kib.map(|kib| kib >> 10) else { return Ok(()) };
    if wanted + SPARED_MIB <= available_mib {
        return Ok(());
    }
    let guests = printable::quantity(all.len() as u64, "guest");
    let what = format!(
        "--memory: {guests} of {wanted} MiB together, and {available_mib} MiB are available"
    );
    Err(Trouble::not_possible(format!("{what}: give each less")))
}

/// Refuses a root of so many `bytes`, and what `guests` write, where the disk of `directory` can't hold it.
///
/// # Errors
/// [`io::ErrorKind::StorageFull`].
pub fn check_disk(directory: &Path, bytes: u64, guests: usize) -> io::Result<()> {
    let Ok(disk) = statvfs(directory) else { return Ok(()) };
    let (wanted, available) = (bytes + guests as u64 * LOGS_BYTES, disk.f_bavail * disk.f_frsize);
    if wanted <= available {
        return Ok(());
    }
    let what = format!(
        "{}: the guests need {} MiB, and {} MiB are free; TMPDIR names another directory",
        directory.parent().unwrap_or(directory).display(),
        wanted.div_ceil(1 << 20),
        available >> 20
    );
    Err(io::Error::new(io::ErrorKind::StorageFull, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_too_small_is_refused_with_what_is_free() {
        let directory = std::env::temp_dir().join("knee-vm-1");
        let parent = directory.parent().unwrap();
        assert!(check_disk(parent, 0, 0).is_ok());
        let error = check_disk(parent, 1 << 60, 2).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().contains("the guests need 1099511627784 MiB, and "), "{error}");
    }
}
