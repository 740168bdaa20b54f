//! What a guest's console says: the line that tells most about an end, and that its kernel went on after an oops.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// What the end of a guest's console says, after a colon; that it is empty, where it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Console {
    /// Its most telling line.
    pub line: String,
    /// What is known of such a line: what the guest lacks.
    pub hint: &'static str,
}

impl fmt::Display for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line.as_str(), self.hint) {
            ("", _) => f.write_str("; its console is empty"),
            (line, "") => write!(f, ": {line}"),
            (line, hint) => write!(f, ": {line} ({hint})"),
        }
    }
}

/// More of a console is not read.
const READ_MAX: u64 = 1 << 20;
/// A console that is longer is that of a guest that does nothing but complain.
pub(crate) const BYTES_MAX: u64 = 64 << 20;
/// Precedes what knee says on the console of its guest.
const OWN: &str = "knee:";
/// Lines that say why a kernel or this program in it stopped, the most telling first.
const TELLING: [&str; 9] = [
    OWN,
    "Kernel panic",
    "Oops",
    "BUG:",
    "general protection fault",
    "Unable to handle",
    "VFS: Unable",
    "qemu-system",
    "Initramfs unpacking failed",
];
/// Of these, those after which a kernel may go on.
const OOPSES: [&str; 6] = [
    "Oops",
    "BUG:",
    "general protection fault",
    "Unable to handle",
    "WARNING: CPU:",
    "self-detected stall",
];
/// Panics that another boot ends in again, and what helps.
const HINTS: [(&str, &str); 5] = [
    (
        "Unable to mount root fs",
        "it took no initramfs: that needs CONFIG_BLK_DEV_INITRD=y, --memory that holds it, and no rdinit= in --append",
    ),
    (
        "No working init found",
        "it started nothing of the initramfs: that needs CONFIG_BLK_DEV_INITRD=y and CONFIG_BINFMT_ELF=y",
    ),
    ("Requested init", "--append names another first program than knee"),
    ("deadlocked on memory", "--memory gives it more"),
    ("Out of memory", "--memory gives it more"),
];

impl Console {
    /// What `text`, the end of a console, says.
    pub fn from_text(text: &str) -> Console {
        let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
        let of_kind = |kind: &&str| lines().find(|line| line.contains(*kind));
        let line = TELLING.iter().find_map(of_kind).or_else(|| lines().next_back());
        let line = printable::one_line(line.unwrap_or_default());
        let hint = HINTS.iter().find(|(pattern, _)| line.contains(pattern));
        Console { hint: hint.map_or("", |(_, hint)| hint), line }
    }

    /// Whether another boot ends the same way: knee in the guest says so, or a panic that is known.
    pub fn is_final(&self) -> bool {
        self.line.contains(OWN) || !self.hint.is_empty()
    }
}

/// The first line of an oops or of a warning in `console`, if its kernel had one.
pub(crate) fn oops(console: &str) -> Option<String> {
    let is_oops = |line: &&str| OOPSES.iter().any(|kind| line.contains(kind));
    console.lines().find(is_oops).map(printable::one_line)
}

/// The end of the console in the file at `path`, as far as it can be read.
pub(crate) fn read(path: &Path) -> String {
    let end = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(READ_MAX)))?;
        let mut bytes = Vec::new();
        file.take(READ_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&end().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_telling_line_is_quoted() {
        let line = |text: &str| Console::from_text(text).line;
        let panic = "[    1.2] random: crng init done\n[    1.3] Kernel panic - not syncing: No working init found.\n\
                     [    1.4] Rebooting";
        assert_eq!(line(panic), "[ 1.3] Kernel panic - not syncing: No working init found.");
        assert_eq!(line("knee: no devtmpfs\nKernel panic - not syncing"), "knee: no devtmpfs");
        assert_eq!(line("a\n\nb\n"), "b");
        assert_eq!(line(""), "");
    }

    #[test]
    fn what_another_boot_can_not_change_is_known() {
        assert!(
            Console::from_text("knee: this kernel has no tmpfs: it needs CONFIG_TMPFS=y")
                .is_final()
        );
        let rootless = Console::from_text(
            "[ 2] Kernel panic - not syncing: VFS: Unable to mount root fs on x",
        );
        assert!(rootless.is_final() && rootless.to_string().contains("CONFIG_BLK_DEV_INITRD=y"));
        let oops = "[ 9] BUG: kernel NULL pointer dereference\n[ 9] Oops: 0000 [#1] PREEMPT SMP\n\
                    [ 9] Kernel panic - not syncing: Fatal exception";
        assert!(!Console::from_text(oops).is_final());
        assert_eq!(Console::from_text("").to_string(), "; its console is empty");
    }

    #[test]
    fn an_oops_that_does_not_end_a_guest_is_found() {
        let console =
            "[ 1] quiet\n[ 9] BUG: unable to handle page fault for address: 00\n[ 9] Oops: 0000";
        assert_eq!(oops(console).unwrap(), "[ 9] BUG: unable to handle page fault for address: 00");
        assert_eq!(oops("[ 1] quiet\n[ 2] random: crng init done"), None);
    }
}
