//! What a guest's console says: the line that explains an end best, and what went wrong in a kernel that went on.

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What the end of a guest's console says, after a colon; that it is empty, where it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Console {
    /// Its most telling line.
    pub line: String,
    /// What sort of line that is.
    pub kind: LineKind,
    /// What is known of such a line: what the guest lacks.
    pub hint: &'static str,
}

/// What the line of a console says, by the word that it is found by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineKind {
    /// The guest's first program can't begin: another boot ends the same way.
    InitFailed,
    /// The guest's first program ended too early.
    InitEnded,
    /// The kernel stopped.
    Panic,
    /// The kernel met a fault of its own.
    Oops,
    /// Anything else, or nothing.
    #[default]
    Other,
}

/// What went wrong in a kernel that went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MishapKind {
    /// It met a fault of its own, and ended what it was at.
    Oops,
    /// It met a state that should not be.
    Warning,
    /// One of its CPUs did not run, or did nothing else, for seconds.
    Stall,
}

/// What its messages say of that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mishap {
    /// What it is.
    pub kind: MishapKind,
    /// The first line that says so.
    pub line: String,
}

impl MishapKind {
    /// What the kernel did, and what it did then: `had an oops and went on`.
    pub fn sentence(self) -> &'static str {
        match self {
            MishapKind::Oops => "had an oops and went on",
            MishapKind::Warning => "warned of a state that should not be",
            MishapKind::Stall => "found that a CPU stood still for seconds",
        }
    }
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

/// A record of the kernel's log is no longer, and no more of them are read.
const RECORD_MAX: usize = 8 << 10;
const RECORDS_MAX: usize = 1 << 17;
/// More of a console is not read.
const READ_MAX: u64 = 1 << 20;
/// A console that is longer is that of a guest that does nothing but complain.
pub(crate) const BYTES_MAX: u64 = 64 << 20;
/// Precedes why the first program of a guest can't begin. Nothing else writes this on a console.
pub(crate) const INIT_FAILED: &str = "knee-init-failed: ";
/// Precedes how it ended, where that was too early.
pub(crate) const INIT_ENDED: &str = "knee-init-ended: ";
/// Lines that say why a guest stopped, the most telling first.
const TELLING: [(&str, LineKind); 8] = [
    (INIT_FAILED, LineKind::InitFailed),
    ("Kernel panic", LineKind::Panic),
    (INIT_ENDED, LineKind::InitEnded),
    ("Oops", LineKind::Oops),
    ("BUG:", LineKind::Oops),
    ("general protection fault", LineKind::Oops),
    ("Unable to handle", LineKind::Oops),
    ("Initramfs unpacking failed", LineKind::Other),
];
/// Lines of a kernel that went on, the more special ones first.
const MISHAPS: [(&str, MishapKind); 11] = [
    ("soft lockup", MishapKind::Stall),
    ("hard LOCKUP", MishapKind::Stall),
    ("workqueue lockup", MishapKind::Stall),
    ("self-detected stall", MishapKind::Stall),
    ("detected stalls on CPUs", MishapKind::Stall),
    ("detected expedited stalls", MishapKind::Stall),
    ("WARNING: CPU:", MishapKind::Warning),
    ("Oops", MishapKind::Oops),
    ("BUG:", MishapKind::Oops),
    ("general protection fault", MishapKind::Oops),
    ("Unable to handle", MishapKind::Oops),
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
        let of_kind = |&(word, kind): &(&str, LineKind)| {
            let mut named = lines().filter(|line| line.contains(word));
            // The first fault of a kernel brings forth the others; what init says last is why it ended.
            let line = match kind {
                LineKind::InitFailed | LineKind::InitEnded => named.next_back(),
                _ => named.next(),
            };
            Some((line?, kind))
        };
        let last = || Some((lines().next_back()?, LineKind::Other));
        let (line, kind) = TELLING.iter().find_map(of_kind).or_else(last).unwrap_or_default();
        let is_known = |(pattern, _): &&(&str, &str)| line.contains(pattern);
        let hint = HINTS.iter().find(is_known).filter(|_| kind == LineKind::Panic);
        let own = [INIT_FAILED, INIT_ENDED].into_iter().find_map(|word| line.split_once(word));
        let line = printable::one_line(own.map_or(line, |(_, message)| message));
        Console { line, kind, hint: hint.map_or("", |(_, hint)| hint) }
    }

    /// Whether another boot ends the same way: init says so, or it is a panic that is known.
    pub fn is_final(&self) -> bool {
        self.kind == LineKind::InitFailed || !self.hint.is_empty()
    }
}

/// What went wrong in the kernel of `console`, which went on: the first line of each kind.
pub(crate) fn mishaps(console: &str) -> Vec<Mishap> {
    let kind_of =
        |line: &str| MISHAPS.iter().find(|(word, _)| line.contains(word)).map(|(_, kind)| *kind);
    let all = console.lines().filter_map(|line| Some((kind_of(line)?, line)));
    let mut firsts: Vec<Mishap> = Vec::new();
    for (kind, line) in all {
        if firsts.iter().all(|first| first.kind != kind) {
            firsts.push(Mishap { kind, line: printable::one_line(line) });
        }
    }
    firsts.sort_by_key(|mishap| mishap.kind);
    firsts
}

/// What went wrong in the kernel that runs this program, by its own log. A quiet console does not show warnings.
pub fn mishaps_here() -> Vec<Mishap> {
    mishaps(&kernel_log().unwrap_or_default())
}

/// The messages that the kernel still has, as far as they can be read.
fn kernel_log() -> io::Result<String> {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let mut log = File::options().read(true).custom_flags(nonblocking).open("/dev/kmsg")?;
    let (mut text, mut record) = (String::new(), [0; RECORD_MAX]);
    for _ in 0..RECORDS_MAX {
        match log.read(&mut record) {
            Ok(0) => break,
            Ok(length) => text += &message(&String::from_utf8_lossy(&record[..length])),
            // Another message has overwritten it.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            // It was the last one, or the log can't be read.
            Err(_) => break,
        }
    }
    Ok(text)
}

/// The line of a record such as `4,339,5140900,-;a message`, behind which further lines describe its device.
fn message(record: &str) -> String {
    let line = record.lines().next().unwrap_or_default();
    format!("{}\n", line.split_once(';').map_or(line, |(_, message)| message))
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
        let both = "knee-init-failed: no devtmpfs\nKernel panic - not syncing";
        assert_eq!(line(both), "no devtmpfs");
        assert_eq!(line("a\n\nb\n"), "b");
        assert_eq!(line(""), "");
    }

    #[test]
    fn what_another_boot_can_not_change_is_known() {
        let is_final = |text: &str| Console::from_text(text).is_final();
        assert!(is_final("knee-init-failed: this kernel has no tmpfs: it needs CONFIG_TMPFS=y"));
        let rootless = Console::from_text(
            "[ 2] Kernel panic - not syncing: VFS: Unable to mount root fs on x",
        );
        assert!(rootless.is_final() && rootless.to_string().contains("CONFIG_BLK_DEV_INITRD=y"));
        let oops = "[ 9] BUG: kernel NULL pointer dereference\n[ 9] Oops: 0000 [#1] PREEMPT SMP\n\
                    [ 9] Kernel panic - not syncing: Fatal exception";
        assert!(!is_final(oops));
        assert_eq!(Console::from_text("").to_string(), "; its console is empty");
    }

    #[test]
    fn notes_of_knee_and_of_programs_decide_nothing() {
        let console = "knee: KVM does not work here\n[ 3] myprog: Out of memory of its own\n\
                       knee: knee-init wrote nothing";
        let console = Console::from_text(console);
        assert_eq!((console.kind, console.is_final()), (LineKind::Other, false));
        // Its first program ended, for example by a signal: another boot may come further.
        let ended = "knee: a note\nknee-init-ended: measuring ended with signal: 9";
        let ended = Console::from_text(ended);
        assert_eq!((ended.kind, ended.is_final()), (LineKind::InitEnded, false));
        assert_eq!(ended.line, "measuring ended with signal: 9");
        let twice = "knee-init-failed: first\nknee-init-failed: last";
        assert_eq!(Console::from_text(twice).line, "last");
    }

    #[test]
    fn what_does_not_end_a_guest_has_kinds() {
        use MishapKind::{Oops, Stall, Warning};
        let console = "[ 1] quiet\n[ 2] rcu: INFO: rcu_sched self-detected stall on CPU\n\
                       [ 3] WARNING: CPU: 1 PID: 7 at kernel/x.c:1\n\
                       [ 4] watchdog: BUG: soft lockup - CPU#1 stuck for 22s!\n\
                       [ 9] BUG: unable to handle page fault for address: 00\n[ 9] Oops: 0000";
        let mishaps_here = mishaps(console);
        let kinds: Vec<MishapKind> = mishaps_here.iter().map(|mishap| mishap.kind).collect();
        assert_eq!(kinds, [Oops, Warning, Stall]);
        assert_eq!(mishaps_here[0].line, "[ 9] BUG: unable to handle page fault for address: 00");
        assert_eq!(mishaps_here[2].line, "[ 2] rcu: INFO: rcu_sched self-detected stall on CPU");
        let log = [
            "6,1,0,-;Linux version 6.1",
            "4,2,9,-;WARNING: CPU: 0 PID: 1 at x\n SUBSYSTEM=pci\n DEVICE=+pci:BUG:",
        ];
        let [warning] = mishaps(&log.map(message).concat()).try_into().unwrap();
        assert_eq!((warning.kind, warning.line.as_str()), (Warning, "WARNING: CPU: 0 PID: 1 at x"));
        assert_eq!(mishaps("[ 1] quiet\n[ 2] random: crng init done"), []);
    }
}
