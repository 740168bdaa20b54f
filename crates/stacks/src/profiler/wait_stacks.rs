//! The stacks of waits: what they are for, and the line of the program that waits or ends the wait.

use super::processes::{Processes, interned};
use super::wait_kind::{is_interrupt, of_program, wait_kind};
use super::waits::{Reason, WaitSpan};
use super::{LOOKUP_MAX, Naming};
use crate::code::source_lines::{SourceSite, source_sites};
use crate::profile::SampledWait;
use crate::symbols::addresses::CodeAddress;
use model::{Frame, FrameKind, WaitKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;

/// Modules of which a user means the caller.
const LIBRARIES: &[&str] =
    &["libc.", "libc-", "libpthread", "ld-", "libstdc++", "libc++", "libgcc_s", "libm."];
/// Functions of which a user means the caller, in programs that contain their library.
const LIBRARY_FUNCTIONS: &[&str] = &[
    "std::",
    "core::",
    "alloc::",
    "lock_api::",
    "parking_lot::",
    "parking_lot_core::",
    "pthread_",
    "__pthread_",
    "__lll_",
    "__futex_",
    "futex_",
    "syscall",
    "runtime.",
    "sync.",
    "internal/",
];

/// What Go's threads look for work in.
const GO_SCHEDULER: &str = "runtime.schedule";

/// A part of the stack of a wait.
#[derive(Default)]
struct Part {
    /// From the root on.
    nodes: Vec<u32>,
    /// The index among them of the function of the program that matters.
    site: Option<usize>,
}

/// What a stack of a wait is made of.
type Key = (u32, Option<u32>, Reason);

impl Naming {
    /// The waits with their stacks, as [`model::Wait::read`] takes them.
    pub(super) fn waits(&mut self, processes: &Processes, spans: &[WaitSpan]) -> Vec<SampledWait> {
        let keys: BTreeSet<Key> = spans.iter().map(key).collect();
        let parts = keys.into_iter().map(|key| (key, self.parts(processes, key)));
        let parts: Vec<(Key, (WaitKind, Part, Part))> = parts.collect();
        let sites = parts.iter().flat_map(|(_, (_, waiter, waker))| [waiter, waker]);
        let sites = sites.filter_map(|part| Some(part.nodes[part.site?]));
        let lines = self.lines(processes, sites.collect());
        let stacks: HashMap<Key, Vec<u32>> = parts
            .into_iter()
            .map(|(key, (kind, waiter, waker))| (key, self.stack(kind, &waiter, &waker, &lines)))
            .collect();
        let wait = |span: &WaitSpan| {
            let WaitSpan { begin_ns, end_ns, first_ns, count, .. } = *span;
            SampledWait { begin_ns, end_ns, first_ns, count, stack: stacks[&key(span)].clone() }
        };
        spans.iter().map(wait).collect()
    }

    fn parts(&self, processes: &Processes, (node, waker, reason): Key) -> (WaitKind, Part, Part) {
        let mut waiter = Part { nodes: processes.path(node), site: None };
        let kind = match reason {
            Reason::NoCpu => Some(WaitKind::Cpu),
            Reason::OthersHaveCpu => Some(WaitKind::CpuOfOthers),
            Reason::Throttled => Some(WaitKind::Throttled),
            Reason::Waits | Reason::Is(_) => None,
        };
        if let Some(kind) = kind {
            return (kind, waiter, Part::default());
        }
        let nodes = waker.map(|waker| processes.path(waker)).unwrap_or_default();
        let mut waker = Part { nodes, site: None };
        let kind = match reason {
            Reason::Is(kind) => of_program(kind, &self.frames_of(&waiter)),
            _ => wait_kind(&self.frames_of(&waiter), &self.frames_of(&waker)),
        };
        if is_interrupt(&self.frames_of(&waker)) {
            waker = Part::default();
        }
        waiter.site = site(&self.frames_of(&waiter));
        waker.site = site(&self.frames_of(&waker));
        (kind, waiter, waker)
    }

    fn frames_of(&self, part: &Part) -> Vec<&Frame> {
        let frame = |node: &u32| &self.frames[self.of_nodes[node] as usize];
        part.nodes.iter().map(frame).collect()
    }

    fn stack(
        &mut self,
        kind: WaitKind,
        waiter: &Part,
        waker: &Part,
        lines: &HashMap<u32, SourceSite>,
    ) -> Vec<u32> {
        let mut stack = self.part(waiter, lines);
        let kind = interned(&mut self.frames, made(FrameKind::Wait, kind.name()));
        stack.insert(1.min(stack.len()), kind);
        if let [process, ..] = waker.nodes[..] {
            stack.push(interned(&mut self.frames, made(FrameKind::Waker, "ended by")));
            // One that ends has no stack in its program any more.
            let has_site = waker.site.is_some();
            stack.extend(if has_site {
                self.part(waker, lines)
            } else {
                vec![self.of_nodes[&process]]
            });
        }
        stack
    }

    fn part(&mut self, part: &Part, lines: &HashMap<u32, SourceSite>) -> Vec<u32> {
        let mut frames = Vec::new();
        for (index, node) in part.nodes.iter().enumerate() {
            let frame = self.of_nodes[node];
            frames.push(frame);
            if part.site == Some(index)
                && let Some(SourceSite { inlined, line }) = lines.get(node)
            {
                if let Some(function) = inlined {
                    let outer = self.frames[frame as usize].clone();
                    let function = printable::replace_unprintable(function);
                    frames.push(interned(&mut self.frames, Frame { function, ..outer }));
                }
                frames.push(interned(&mut self.frames, made(FrameKind::Line, line)));
            }
        }
        frames
    }

    /// The line at each of these nodes; without debug information the offset in the function.
    fn lines(&self, processes: &Processes, nodes: BTreeSet<u32>) -> HashMap<u32, SourceSite> {
        let until = Instant::now() + LOOKUP_MAX;
        let mut by_file: BTreeMap<usize, Vec<(u32, u64)>> = BTreeMap::new();
        let mut lines = HashMap::new();
        for node in nodes {
            let address = processes.address(node);
            let Some(resolved) = self.resolved.get(&address) else { continue };
            let line = format!("+{:#x}", resolved.offset);
            lines.insert(node, SourceSite { inlined: None, line });
            if let (CodeAddress::File(file, _), Some(symbol)) = (address, &resolved.symbol) {
                let linked = symbol.start.saturating_add(symbol.offset);
                by_file.entry(file).or_default().push((node, linked));
            }
        }
        for (file, addresses) in by_file {
            let Some(file) = processes.files.open(file) else { continue };
            let linked: Vec<u64> = addresses.iter().map(|(_, address)| *address).collect();
            let Ok(sites) = source_sites(&file, &linked, until) else { continue };
            for ((node, _), sites) in addresses.iter().zip(sites) {
                let is_of_library =
                    |site: &SourceSite| site.inlined.as_deref().is_some_and(is_library_function);
                lines.extend(sites.into_iter().find(|s| !is_of_library(s)).map(|s| (*node, s)));
            }
        }
        lines
    }
}

fn key(span: &WaitSpan) -> Key {
    (span.node, span.waker, span.reason)
}

fn made(kind: FrameKind, function: &str) -> Frame {
    Frame { function: function.to_owned(), module: String::new(), kind }
}

/// The index of the innermost function that is the program's own; where all are a library's, of the innermost one that the
/// program contains, in which a function of its own may be inlined; else of the innermost one. A thread of Go's that looks
/// for work has none: what waits is no thread.
fn site(frames: &[&Frame]) -> Option<usize> {
    let is_user = |frame: &Frame| matches!(frame.kind, FrameKind::User | FrameKind::Jit);
    let is_contained = |frame: &&Frame| {
        is_user(frame) && !LIBRARIES.iter().any(|library| frame.module.starts_with(library))
    };
    let is_own = |frame: &&Frame| is_contained(frame) && !is_library_function(&frame.function);
    let is_named = |frame: &&Frame| is_user(frame) && !frame.function.is_empty();
    let last = |is: &dyn Fn(&&Frame) -> bool| frames.iter().rposition(is);
    let contained = || last(&|frame| is_contained(frame) && is_named(frame));
    if frames.iter().any(|frame| frame.function.starts_with(GO_SCHEDULER)) {
        return None;
    }
    last(&is_own).or_else(contained).or_else(|| last(&is_named))
}

fn is_library_function(name: &str) -> bool {
    // `<&std::io::Stdout as std::io::Write>::write`
    let name = name.trim_start_matches(['<', '&']);
    LIBRARY_FUNCTIONS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use FrameKind::{Kernel, Process, User};

    #[test]
    fn the_site_is_the_innermost_function_of_the_program() {
        let frame = |(function, module, kind): (&str, &str, FrameKind)| Frame {
            function: function.into(),
            module: module.into(),
            kind,
        };
        let at = |frames: &[(&str, &str, FrameKind)]| {
            let frames: Vec<Frame> = frames.iter().copied().map(frame).collect();
            site(&frames.iter().collect::<Vec<_>>())
        };
        let process = ("mt", "", Process);
        let kernel = ("futex_do_wait", "kernel", Kernel);
        let [start, lock] =
            [("start_thread", "libc.so.6", User), ("pthread_mutex_lock", "libc.so.6", User)];
        assert_eq!(at(&[process, start, ("push", "mt", User), lock, kernel]), Some(2));
        let rust = ("std::sys::sync::mutex::futex::Mutex::lock_contended", "mt", User);
        assert_eq!(at(&[process, start, ("push", "mt", User), rust, kernel]), Some(2));
        assert_eq!(at(&[process, start, lock, kernel]), Some(2), "all are a library's");
        let begin = ("std::sys::backtrace::__rust_begin_short_backtrace", "mt", User);
        assert_eq!(at(&[process, start, begin, lock, kernel]), Some(2), "or contained");
        assert_eq!(at(&[process, kernel]), None);
    }
}
