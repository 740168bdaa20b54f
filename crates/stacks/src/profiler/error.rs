//! Why nothing can be sampled, and what fixes it.

use rustix::io::Errno;
use std::fmt::{self, Display, Formatter};
use std::io;
use sys::proc::setting;

/// Above this level of `kernel.perf_event_paranoid`, some kernels refuse everything to all but root.
const LEVEL_OF_USERS_MAX: i64 = 2;

/// Why nothing can be sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileError {
    /// The kernel has no perf events, or a sandbox acts as if it had none.
    NoPerfEvents,
    /// `kernel.perf_event_paranoid`, at this level, allows them to root alone.
    Forbidden(i64),
    /// A sandbox or a security module refuses the call: a container does.
    Sandboxed,
    /// The process of this number is another user's.
    ForeignProcess(u32),
    /// There is no process of this number.
    NoProcess(u32),
    /// No more memory may be locked for the samples; `kernel.perf_event_mlock_kb`, where that can be read.
    MemoryLimit(Option<u64>),
    /// No more descriptors may be open.
    DescriptorLimit,
    /// Anything else, by the answer of the system.
    System(String),
}

impl ProfileError {
    /// From the answer of `perf_event_open` for the process `pid`.
    pub(crate) fn from_open(
        error: &io::Error,
        pid: u32,
        perf_level: Option<i64>,
        is_root: bool,
    ) -> Self {
        match (Errno::from_io_error(error), perf_level) {
            (Some(Errno::NOSYS), _) | (Some(Errno::ACCESS | Errno::PERM), None) => {
                ProfileError::NoPerfEvents
            }
            (Some(Errno::ACCESS | Errno::PERM), Some(perf_level))
                if perf_level > LEVEL_OF_USERS_MAX && !is_root =>
            {
                ProfileError::Forbidden(perf_level)
            }
            // The kernel itself answers EACCES: it does so for a process that may not be traced.
            (Some(Errno::ACCESS), _) if pid != std::process::id() => {
                ProfileError::ForeignProcess(pid)
            }
            (Some(Errno::ACCESS | Errno::PERM), _) => ProfileError::Sandboxed,
            (Some(Errno::SRCH), _) => ProfileError::NoProcess(pid),
            (Some(Errno::MFILE | Errno::NFILE), _) => ProfileError::DescriptorLimit,
            _ => ProfileError::System(error.to_string()),
        }
    }

    /// From the answer to a ring's `mmap`.
    pub(crate) fn from_ring(error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(Errno::PERM | Errno::NOMEM) => {
                ProfileError::MemoryLimit(setting("kernel.perf_event_mlock_kb"))
            }
            _ => ProfileError::System(error.to_string()),
        }
    }
}

impl ProfileError {
    /// What is missing, in a few words.
    pub fn reason(&self) -> String {
        match self {
            ProfileError::NoPerfEvents => {
                "this kernel has no perf events, or a sandbox hides them".into()
            }
            ProfileError::Forbidden(perf_level) => {
                format!("kernel.perf_event_paranoid is {perf_level}: only root may sample")
            }
            ProfileError::Sandboxed => {
                "a sandbox or a security module refuses perf_event_open, which the kernel allows"
                    .into()
            }
            ProfileError::ForeignProcess(pid) => format!("process {pid} is another user's"),
            ProfileError::NoProcess(pid) => format!("there is no process {pid}"),
            ProfileError::MemoryLimit(kilobytes) => {
                let setting = kilobytes.map_or_else(String::new, |kilobytes| {
                    format!(" (kernel.perf_event_mlock_kb is {kilobytes})")
                });
                format!("no more memory may be locked for samples{setting}")
            }
            ProfileError::DescriptorLimit => "no more descriptors may be open".into(),
            ProfileError::System(error) => format!("perf_event_open: {error}"),
        }
    }

    /// What fixes it, where that is known.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            ProfileError::NoPerfEvents => {
                Some("run outside of the container, or on a kernel with CONFIG_PERF_EVENTS")
            }
            ProfileError::Forbidden(_) => {
                Some("run as root, or sudo sysctl -w kernel.perf_event_paranoid=1")
            }
            ProfileError::Sandboxed => Some(
                "in a container: --cap-add PERFMON, and a seccomp profile that allows perf_event_open",
            ),
            ProfileError::ForeignProcess(_) => Some("run as root, or as that user"),
            ProfileError::MemoryLimit(_) => {
                Some("run as root, or sudo sysctl -w kernel.perf_event_mlock_kb=8192")
            }
            ProfileError::DescriptorLimit => Some("raise ulimit -n"),
            ProfileError::NoProcess(_) | ProfileError::System(_) => None,
        }
    }
}

/// One line: what is missing, and what fixes it.
impl Display for ProfileError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason())?;
        self.remedy().map_or(Ok(()), |remedy| write!(f, " → {remedy}"))
    }
}

impl std::error::Error for ProfileError {}

/// `kernel.perf_event_paranoid`; none where the kernel has no perf events.
pub(crate) fn perf_level() -> Option<i64> {
    setting("kernel.perf_event_paranoid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_is_distinguished_and_says_what_fixes_it() {
        let own = std::process::id();
        let from = |errno: Errno, pid, level, is_root| {
            ProfileError::from_open(&errno.into(), pid, level, is_root)
        };
        assert_eq!(from(Errno::NOSYS, own, Some(2), true), ProfileError::NoPerfEvents);
        assert_eq!(from(Errno::ACCESS, own, None, true), ProfileError::NoPerfEvents);
        let forbidden = ProfileError::Forbidden(3);
        assert_eq!(from(Errno::ACCESS, own, Some(3), false), forbidden);
        assert_eq!(from(Errno::PERM, own, Some(2), false), ProfileError::Sandboxed);
        assert_eq!(from(Errno::PERM, 1, Some(4), true), ProfileError::Sandboxed);
        let foreign = ProfileError::ForeignProcess(1);
        assert_eq!(from(Errno::ACCESS, 1, Some(2), false), foreign);
        assert_eq!(from(Errno::SRCH, 1, Some(2), false), ProfileError::NoProcess(1));
        assert_eq!(from(Errno::MFILE, 1, Some(2), false), ProfileError::DescriptorLimit);
        let memory = ProfileError::from_ring(&Errno::PERM.into());
        assert!(matches!(memory, ProfileError::MemoryLimit(_)), "{memory:?}");
        for error in [
            ProfileError::NoPerfEvents,
            forbidden,
            ProfileError::Sandboxed,
            foreign,
            memory,
            ProfileError::DescriptorLimit,
        ] {
            let text = error.to_string();
            assert!(text.contains(" → ") && !text.contains(['\n', '|']), "{text}");
        }
    }
}
