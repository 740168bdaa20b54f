//! What Linux shows in `/proc` of processes and of the machine: one reader for each file that several crates read.
//!
//! A process or thread is given as `/proc` has it: `4711`, `self`, `4711/task/4712`. One that is gone, or hidden from
//! this user, is an error, none or empty. Names may be of any bytes: what is no UTF-8 in a text is replaced.

mod machine;
mod stat;
mod tree;

pub use machine::{CpuTicks, TICK_NS, has_cpu_flag, memory_kib, setting, tasks};
pub use stat::Stat;
pub use tree::{ancestors, children, children_of_thread, descendants, numbers_in, pids, threads};

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most that is read of a file: a process may say that any of its memory is its command line.
const TEXT_BYTES_MAX: u64 = 16 << 20;

/// The text of a file of a process or thread: `comm`, `status`, `maps`.
///
/// # Errors
/// As open(2) and read(2): it is gone, or another user's.
pub fn text(process: impl Display, file: &str) -> io::Result<String> {
    read(Path::new(&format!("/proc/{process}/{file}")))
}

fn read(path: &Path) -> io::Result<String> {
    // Most of these files fit: two reads, where an empty buffer would be grown by many.
    let mut bytes = Vec::with_capacity(4096);
    File::open(path)?.take(TEXT_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The name of a process, of 15 bytes at most.
///
/// # Errors
/// It is gone.
pub fn comm(process: impl Display) -> io::Result<String> {
    Ok(text(process, "comm")?.trim_end().to_owned())
}

/// The CPU time that a thread has used, in nanoseconds, where the kernel keeps account of it.
pub fn thread_cpu_ns(pid: u32, tid: u32) -> Option<u64> {
    let text = text(format_args!("{pid}/task/{tid}"), "schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// How many descriptors this process has, the one that counts them included.
pub fn open_descriptors() -> usize {
    numbers_in("/proc/self/fd").count()
}

/// What follows `name` at the beginning of a line, without blanks around it: `Tgid:` of a `status`, `Slab:` of
/// `meminfo`.
pub fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// The number that such a field begins with; of memory, in KiB.
pub fn number(text: &str, name: &str) -> Option<u64> {
    field(text, name)?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_the_rest_of_its_line() {
        let status =
            "Name:\ta b\nVmRSS:\t    1234 kB\nUid:\t5\t6\nTCP: inuse 12\nMax open files  unlimited";
        assert_eq!(field(status, "Name:"), Some("a b"));
        assert_eq!(field(status, "RSS:"), None);
        assert_eq!(number(status, "VmRSS:"), Some(1_234));
        assert_eq!(number(status, "Uid:"), Some(5));
        assert_eq!((number(status, "TCP:"), number(status, "Max open files")), (None, None));
    }

    #[test]
    fn this_process_has_a_name_and_what_is_gone_has_none() {
        assert!(!comm("self").unwrap().is_empty());
        // Beyond the largest number that Linux gives.
        assert_eq!(comm(u32::MAX).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(thread_cpu_ns(u32::MAX, u32::MAX), None);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let path = std::env::temp_dir().join(format!("knee-proc-{}", std::process::id()));
        std::fs::write(&path, b"caf\xff\0x").unwrap();
        let text = read(&path);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text.unwrap(), "caf\u{fffd}\0x");
    }
}
