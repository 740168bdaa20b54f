//! Why a thread did not run: kinds of waits, and the stacks that they have in a profile.

use crate::{Frame, FrameKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The metric whose regions in a profile have the waits in the timed regions of `metric`.
pub fn waits_metric(metric: &str) -> String {
    format!("{metric} waits")
}

/// What a thread waits for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum WaitKind {
    /// A lock that another thread has: a mutex or the like of the program, or a lock of the kernel.
    Lock,
    /// It could run, but threads of the same processes have its CPU.
    Cpu,
    /// The storage of a file.
    File,
    /// Data or space of a socket, or its peer.
    Socket,
    /// Data or space of a pipe.
    Pipe,
    /// A time that it chose.
    Sleep,
    /// Memory that is not there yet.
    PageFault,
    /// Anything else.
    Other,
    /// That a descriptor is ready: `epoll_wait`, `poll`, `select`, `accept`.
    Readiness,
    /// That another thread has something for it: a condition variable, a semaphore, a barrier, a signal.
    Notification,
    /// The end of a thread or of a process.
    End,
    /// It could run, but other processes have its CPU.
    CpuOfOthers,
    /// It could run on an idle CPU, but its CPU quota is used up.
    Throttled,
}

impl WaitKind {
    /// All of them.
    pub const ALL: [WaitKind; 13] = [
        WaitKind::Lock,
        WaitKind::Cpu,
        WaitKind::File,
        WaitKind::Socket,
        WaitKind::Pipe,
        WaitKind::Sleep,
        WaitKind::PageFault,
        WaitKind::Other,
        WaitKind::Readiness,
        WaitKind::Notification,
        WaitKind::End,
        WaitKind::CpuOfOthers,
        WaitKind::Throttled,
    ];

    /// What the frame of a wait of this kind is called.
    pub const fn name(self) -> &'static str {
        match self {
            WaitKind::Lock => "wait for a lock",
            WaitKind::Cpu => "wait for a CPU",
            WaitKind::File => "wait for a file",
            WaitKind::Socket => "wait for a socket",
            WaitKind::Pipe => "wait for a pipe",
            WaitKind::Sleep => "sleep",
            WaitKind::PageFault => "wait for memory",
            WaitKind::Other => "another wait",
            WaitKind::Readiness => "wait for readiness",
            WaitKind::Notification => "wait for a notification",
            WaitKind::End => "wait for an end",
            WaitKind::CpuOfOthers => "wait for a CPU of others",
            WaitKind::Throttled => "wait for a CPU quota",
        }
    }

    /// Whether a thread could run meanwhile.
    pub const fn is_for_cpu(self) -> bool {
        matches!(self, WaitKind::Cpu | WaitKind::CpuOfOthers | WaitKind::Throttled)
    }

    /// Whether a thread has nothing to do meanwhile, or waits for what others do whose time counts itself, or for other
    /// programs. Such a wait is no cause of anything.
    pub const fn is_idle(self) -> bool {
        use WaitKind::{CpuOfOthers, End, Notification, Readiness};
        matches!(self, Readiness | Notification | End | CpuOfOthers)
    }
}

/// What the stack of a wait says.
///
/// Behind its process it has the kind, as a [`FrameKind::Wait`], then the callers and functions of who waits; then a
/// [`FrameKind::Waker`] and the stack of who ended the wait, where that was seen. In each of both the function of the
/// program that matters has a [`FrameKind::Line`] behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wait<'a> {
    /// What it waits for.
    pub kind: WaitKind,
    /// Where it waits.
    pub site: Option<Site<'a>>,
    /// Where another ends the wait.
    pub waker: Option<Site<'a>>,
}

/// A line of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site<'a> {
    /// The function.
    pub frame: &'a Frame,
    /// `queue.c:41`, or without debug information the offset in the function: `+0x41`.
    pub line: &'a str,
}

impl<'a> Wait<'a> {
    /// From the frames of a stack, its root first; none where it is of no wait.
    pub fn read(frames: &[&'a Frame]) -> Option<Wait<'a>> {
        let kind = frames.iter().find(|frame| frame.kind == FrameKind::Wait)?;
        let kind = WaitKind::ALL.into_iter().find(|any| any.name() == kind.function)?;
        let mut parts = frames.split(|frame| frame.kind == FrameKind::Waker);
        let mut site = || site(parts.next()?);
        Some(Wait { kind, site: site(), waker: site() })
    }
}

fn site<'a>(frames: &[&'a Frame]) -> Option<Site<'a>> {
    let line = frames.iter().position(|frame| frame.kind == FrameKind::Line)?;
    Some(Site { frame: frames.get(line.checked_sub(1)?)?, line: &frames[line].function })
}

#[cfg(test)]
mod tests {
    use super::*;
    use FrameKind::{Kernel, Line, Process, User, Waker};

    fn frames(names: &[(&str, FrameKind)]) -> Vec<Frame> {
        let frame = |&(function, kind): &(&str, FrameKind)| Frame {
            function: function.into(),
            module: String::new(),
            kind,
        };
        names.iter().map(frame).collect()
    }

    #[test]
    fn a_stack_says_who_waits_where_and_who_ends_it() {
        let head = [("mt", Process), (WaitKind::Lock.name(), FrameKind::Wait), ("work", User)];
        let waiter = [("push", User), ("queue.c:41", Line), ("futex_wait", Kernel)];
        let waker = [("", Waker), ("mt", Process), ("pop", User), ("+0x52", Line)];
        let read = |names: &[(&str, FrameKind)]| {
            let frames = frames(names);
            let wait = Wait::read(&frames.iter().collect::<Vec<_>>())?;
            let site = |site: Site<'_>| format!("{} {}", site.frame.function, site.line);
            Some((wait.kind, wait.site.map(site), wait.waker.map(site)))
        };
        let both =
            (WaitKind::Lock, Some("push queue.c:41".to_owned()), Some("pop +0x52".to_owned()));
        assert_eq!(read(&[&head[..], &waiter, &waker].concat()), Some(both.clone()));
        assert_eq!(read(&[&head[..], &waiter].concat()), Some((both.0, both.1, None)));
        let unseen = (WaitKind::Lock, None, both.2);
        assert_eq!(read(&[&head[..], &waker].concat()), Some(unseen));
        assert_eq!(read(&[("mt", Process), ("wait for a lock", User)]), None);
        assert_eq!(read(&[("mt", Process), ("unknown", FrameKind::Wait)]), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn no_two_kinds_have_one_name() {
        let names: std::collections::BTreeSet<&str> =
            WaitKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), WaitKind::ALL.len());
    }
}
