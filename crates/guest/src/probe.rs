//! Whether KVM runs a program here: a device that can be opened may still hang whatever runs on it.

use crate::kernel::Machine;
use crate::machine::program;
use engine::{Guarded, Scratch};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// A boot sector that writes [`LETTER`] to the port of QEMU's `isa-debugcon` and ends it by that of `isa-debug-exit`.
const PROGRAM: [u8; 10] = [0xb0, LETTER, 0xe6, 0xe9, 0xb0, 0x01, 0xe6, 0xf4, 0xeb, 0xfe];
const LETTER: u8 = b'k';
/// KVM takes less than a tenth of a second; where it hangs, it hangs for good.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);
const DEVICE: &str = "/dev/kvm";

/// Whether KVM runs a program of a few instructions here, or why not; on arm64, only whether its device can be opened.
/// `knee` is this program, and `directory` takes a directory for it.
///
/// # Errors
/// Why not.
pub fn kvm_works(knee: &Path, directory: &Path) -> Result<(), String> {
    let device = fs::File::options().read(true).write(true).open(DEVICE);
    device.map_err(|error| format!("{DEVICE}: {error}"))?;
    match Machine::here() {
        Some(Machine::X86) => runs(knee, "kvm", directory),
        Some(Machine::Arm) => Ok(()),
        None => Err("QEMU for this architecture is not known here".into()),
    }
}

/// Whether QEMU runs the program by this accelerator, in a directory of its own below `directory`.
fn runs(knee: &Path, accelerator: &str, directory: &Path) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    let directory = Scratch::new(&directory.join("probe")).map_err(failed)?;
    let path = |name: &str| directory.path().join(name);
    let mut sector = [0_u8; 512];
    sector[..PROGRAM.len()].copy_from_slice(&PROGRAM);
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    fs::write(path("image"), sector).map_err(failed)?;
    let words: Vec<OsString> = words(accelerator).iter().map(OsString::from).collect();
    let log = path("log");
    let mut qemu =
        Guarded::start(knee, &words, directory.path(), &[], None, Some(&log)).map_err(failed)?;
    let begun = Instant::now();
    while !qemu.has_ended().map_err(failed)? {
        if begun.elapsed() > PATIENCE {
            // Where it hangs in the kernel, it may never end: the guard alone waits for it.
            thread::spawn(move || drop(qemu));
            let seconds = PATIENCE.as_secs();
            return Err(format!("a guest of five instructions did not end within {seconds} s"));
        }
        thread::sleep(PAUSE);
    }
    if fs::read(path("said")).is_ok_and(|letters| letters == [LETTER]) {
        return Ok(());
    }
    let log = fs::read(&log).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let line = log.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
    Err(format!("QEMU with it ended before its guest: {}", printable::one_line(line)))
}

/// QEMU's words. It runs in the directory of the files: a path may have a comma, which separates options.
fn words(accelerator: &str) -> [&str; 15] {
    [
        program(Machine::X86),
        "-nodefaults",
        "-no-user-config",
        "-display",
        "none",
        "-accel",
        accelerator,
        "-drive",
        "file=image,format=raw,if=floppy",
        "-chardev",
        "file,id=said,path=said",
        "-device",
        "isa-debugcon,iobase=0xe9,chardev=said",
        "-device",
        "isa-debug-exit,iobase=0xf4,iosize=4",
    ]
}
