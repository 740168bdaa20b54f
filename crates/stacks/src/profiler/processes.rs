//! The processes of a profile: their names and mappings over time, and their samples as stacks that are kept once.

use super::clocks::Scope;
use crate::symbols::addresses::{CodeAddress, MappedFiles};
use crate::symbols::maps::{Mapping, Maps};
use crate::threads::{ProcessName, program_of};
use indexmap::IndexSet;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::Hash;
use std::sync::Arc;
use sys::perf::{Forked, Mapped, Named, Record, Sample, UserState};
use sys::proc;

/// A process that has ended is forgotten after this time: a sample of its last moment may come from another CPU.
const FORGOTTEN_AFTER_NS: u64 = 1_000_000_000;
/// Stacks deeper than this are cut: the kernel itself gives no more than 127 addresses, unless a setting allows more.
const DEPTH_MAX: usize = 512;

/// A node of the forest of stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    /// None for a root.
    pub caller: Option<u32>,
    /// The index of a name for a root, of an address for all others.
    pub content: u32,
}

/// A sample whose stack is kept once for all.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackSample {
    pub time_ns: u64,
    pub pid: u32,
    pub tid: u32,
    /// Its innermost node.
    pub node: u32,
}

struct Process {
    name: String,
    /// Whether the name has to be found out, at the first sample.
    is_renamed: bool,
    /// The file that it runs; empty until that is mapped.
    program: String,
    maps: Arc<Maps>,
    began_ns: u64,
}

#[derive(Default)]
pub(super) struct Processes {
    by_pid: HashMap<u32, Process>,
    ended: VecDeque<(u64, u32)>,
    pub files: MappedFiles,
    pub names: IndexSet<String>,
    pub addresses: IndexSet<CodeAddress>,
    pub nodes: IndexSet<Node>,
    pub samples: Vec<StackSample>,
    /// Threads that have inherited their clocks, where clocks are of threads.
    pub started: BTreeSet<u32>,
    /// Records that the kernel dropped, of whatever process.
    lost: u64,
    /// Samples of processes that are not followed.
    foreign: u64,
}

/// The index of a value, which is added if it is new.
pub(super) fn interned<T: Eq + Hash>(values: &mut IndexSet<T>, value: T) -> u32 {
    values.insert_full(value).0 as u32
}

impl Processes {
    /// Follows a process that is there already.
    pub fn follow(&mut self, pid: u32) {
        let process = Process {
            name: proc::comm(pid).unwrap_or_default(),
            is_renamed: true,
            program: program_of(pid),
            maps: Arc::new(Maps::parse(&proc::text(pid, "maps").unwrap_or_default())),
            began_ns: 0,
        };
        self.by_pid.insert(pid, process);
    }

    /// Takes note of one record. They come in the order of their times.
    pub fn add(&mut self, record: &Record<'_>, scope: Scope) {
        match record {
            Record::Sample(sample) => self.sample(sample, scope),
            Record::Mapped(mapped) => self.mapped(mapped),
            Record::Named(named) => self.named(named),
            Record::Forked(forked) => {
                if scope == Scope::Descent {
                    self.started.insert(forked.tid);
                }
                self.forked(forked);
            }
            Record::Ended { pid, tid, time_ns } if pid == tid => {
                self.started.remove(tid);
                if self.by_pid.contains_key(pid) {
                    self.ended.push_back((*time_ns, *pid));
                }
                self.forget(*time_ns);
            }
            Record::Ended { tid, .. } => {
                self.started.remove(tid);
            }
            // That is of waits.
            Record::Resumed(_) => {}
            Record::Lost(lost) => self.lost = self.lost.saturating_add(*lost),
        }
    }

    /// How many samples of the followed processes were dropped: nothing says of which process a dropped record was, so
    /// they are taken to have the same part of these as of the others.
    pub fn lost_samples(&self) -> u64 {
        let followed = self.samples.len() as u128;
        let all = followed + u128::from(self.foreign);
        if all == 0 {
            return self.lost;
        }
        u64::try_from((u128::from(self.lost) * followed).div_ceil(all)).unwrap_or(u64::MAX)
    }

    fn forget(&mut self, now_ns: u64) {
        while let Some(&(time_ns, pid)) = self.ended.front()
            && time_ns + FORGOTTEN_AFTER_NS < now_ns
        {
            self.ended.pop_front();
            // Its number may be another's by now.
            if self.by_pid.get(&pid).is_some_and(|process| process.began_ns <= time_ns) {
                self.by_pid.remove(&pid);
            }
        }
    }

    fn forked(&mut self, forked: &Forked) {
        let Forked { pid, parent, time_ns, .. } = *forked;
        if pid == parent {
            return;
        }
        if let Some(process) = self.by_pid.get(&parent) {
            let child = Process {
                name: process.name.clone(),
                is_renamed: process.is_renamed,
                program: process.program.clone(),
                maps: Arc::clone(&process.maps),
                began_ns: time_ns,
            };
            self.by_pid.insert(pid, child);
        } else {
            // The number of a process that ended, in one that is not followed.
            self.by_pid.remove(&pid);
        }
    }

    fn named(&mut self, named: &Named<'_>) {
        if named.pid != named.tid {
            return;
        }
        let Some(process) = self.by_pid.get_mut(&named.pid) else { return };
        process.name = String::from_utf8_lossy(named.name).into_owned();
        process.is_renamed = true;
        if named.is_exec {
            process.maps = Arc::default();
            process.program = String::new();
        }
    }

    fn mapped(&mut self, mapped: &Mapped<'_>) {
        let Some(process) = self.by_pid.get_mut(&mapped.pid) else { return };
        let path = match mapped.path {
            b"//anon" => String::new(),
            path => String::from_utf8_lossy(path).into_owned(),
        };
        if process.program.is_empty() && mapped.inode > 0 {
            process.program.clone_from(&path);
        }
        let Mapped { start, length, offset, inode, .. } = *mapped;
        let end = start.saturating_add(length);
        Arc::make_mut(&mut process.maps).insert(Mapping { start, end, offset, inode, path });
    }

    fn sample(&mut self, sample: &Sample<'_>, scope: Scope) {
        let Sample { pid, tid, time_ns, .. } = *sample;
        if !self.by_pid.contains_key(&pid) {
            match scope {
                // Of another process.
                Scope::System => {
                    self.foreign += 1;
                    return;
                }
                // The record of its start was lost.
                Scope::Descent => self.follow(pid),
            }
        }
        let node = self.node(sample);
        self.samples.extend(node.map(|node| StackSample { time_ns, pid, tid, node }));
    }

    /// Whether a process is followed.
    pub fn follows(&self, pid: u32) -> bool {
        self.by_pid.contains_key(&pid)
    }

    /// The innermost node of the stack of a sample; none where its process is not followed.
    pub fn node(&mut self, sample: &Sample<'_>) -> Option<u32> {
        let process = self.by_pid.get(&sample.pid)?;
        let callers = |user| self.files.callers(sample.pid, &process.program, &process.maps, &user);
        let callers = sample.user.map(callers).unwrap_or_default();
        let mut chain = joined_chain(sample, &callers);
        if chain.is_empty() {
            chain.push((sample.in_kernel, sample.address));
        }
        self.node_of_chain(sample.pid, &chain)
    }

    /// That of a thread that is in no sample, as far as its stack was copied.
    pub fn node_of_user(&mut self, pid: u32, user: &UserState<'_>) -> Option<u32> {
        let process = self.by_pid.get(&pid)?;
        let callers = self.files.callers(pid, &process.program, &process.maps, user);
        let chain: Vec<(bool, u64)> = callers.into_iter().map(|address| (false, address)).collect();
        self.node_of_chain(pid, &chain)
    }

    /// The innermost node of addresses, the innermost first, each with whether it is in the kernel.
    fn node_of_chain(&mut self, pid: u32, chain: &[(bool, u64)]) -> Option<u32> {
        let Processes { by_pid, files, .. } = self;
        let process = by_pid.get_mut(&pid)?;
        if std::mem::take(&mut process.is_renamed) {
            process.name = process_name(pid, process);
        }
        let (name, maps) = (process.name.clone(), Arc::clone(&process.maps));
        let locate = |address| files.locate(pid, &process.program, &maps, address);
        let stack = located_stack(chain, locate);
        let content = interned(&mut self.names, name);
        let mut node = interned(&mut self.nodes, Node { caller: None, content });
        for address in stack.into_iter().rev() {
            let content = interned(&mut self.addresses, address);
            node = interned(&mut self.nodes, Node { caller: Some(node), content });
        }
        Some(node)
    }
}

/// The call chain of a sample, each address with whether it is in the kernel. Of the program these are `callers`; where the
/// copy of its stack ended, frame pointers lead on, if they led to that place.
fn joined_chain(sample: &Sample<'_>, callers: &[u64]) -> Vec<(bool, u64)> {
    let chain: Vec<(bool, u64)> = sample.chain().take(DEPTH_MAX).collect();
    if callers.len() < 2 {
        return chain;
    }
    let (kernel, user) = chain.split_at(chain.partition_point(|(in_kernel, _)| *in_kernel));
    let last = callers.last();
    let led = user.iter().position(|(_, address)| Some(address) == last);
    let further = led.map(|at| &user[at + 1..]).unwrap_or_default();
    let callers = callers.iter().map(|address| (false, *address));
    kernel.iter().copied().chain(callers).chain(further.iter().copied()).collect()
}

/// The addresses of a chain, the innermost first.
fn located_stack(
    chain: &[(bool, u64)],
    mut locate: impl FnMut(u64) -> CodeAddress,
) -> Vec<CodeAddress> {
    let mut stack = Vec::new();
    let mut previous_mode = None;
    for &(in_kernel, address) in chain {
        // A call returns behind itself: that may be the next function, or the next line.
        let is_return = previous_mode.replace(in_kernel) == Some(in_kernel);
        let address = if is_return { address.wrapping_sub(1) } else { address };
        if in_kernel {
            stack.push(CodeAddress::Kernel(address));
            continue;
        }
        let located = locate(address);
        // Code without frame pointers has other things where they would be.
        if is_return && located == CodeAddress::Unknown {
            break;
        }
        stack.push(located);
    }
    stack
}

/// What to call a process: a program that started itself as `/proc/self/exe` is `exe` for the kernel.
fn process_name(pid: u32, process: &Process) -> String {
    let mut command_line = proc::text(pid, "cmdline").unwrap_or_default();
    if command_line.is_empty() {
        // It has ended.
        command_line.clone_from(&process.program);
    }
    let ProcessName { name, .. } = ProcessName::new(&process.name, &command_line);
    printable::replace_unprintable(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(pid: u32, path: &'static [u8], start: u64, time_ns: u64) -> Record<'static> {
        let (length, offset, inode) = (0x1000, 0, 4711);
        Record::Mapped(Mapped { pid, start, length, offset, inode, path, time_ns })
    }

    fn named(pid: u32, is_exec: bool, name: &'static [u8]) -> Record<'static> {
        Record::Named(Named { pid, tid: pid, is_exec, name, time_ns: 0 })
    }

    fn forked(pid: u32, parent: u32, time_ns: u64) -> Record<'static> {
        Record::Forked(Forked { pid, parent, tid: pid, time_ns })
    }

    /// Numbers beyond the largest that Linux gives.
    const PARENT: u32 = 0x7fff_0000;
    const CHILD: u32 = 0x7fff_0001;

    #[test]
    fn a_child_has_its_parents_mappings_until_it_runs_another_program() {
        let mut processes = Processes::default();
        processes.follow(PARENT);
        for record in [
            mapping(PARENT, b"/bin/parent", 0x1000, 1),
            forked(CHILD, PARENT, 2),
            named(PARENT, false, b"renamed"),
        ] {
            processes.add(&record, Scope::System);
        }
        let path = |processes: &Processes, pid| {
            processes.by_pid[&pid].maps.find(0x1010).map(|mapping| mapping.path.clone())
        };
        assert_eq!(path(&processes, CHILD).as_deref(), Some("/bin/parent"));
        processes.add(&named(CHILD, true, b"exe"), Scope::System);
        assert_eq!(path(&processes, CHILD), None);
        processes.add(&mapping(CHILD, b"/bin/child", 0x1000, 3), Scope::System);
        assert_eq!(path(&processes, CHILD).as_deref(), Some("/bin/child"));
        assert_eq!(path(&processes, PARENT).as_deref(), Some("/bin/parent"));
        assert_eq!(process_name(CHILD, &processes.by_pid[&CHILD]), "child");
        assert_eq!(process_name(PARENT, &processes.by_pid[&PARENT]), "renamed");
        // A thread's name is not its process's.
        let thread = Named { pid: PARENT, tid: 5, is_exec: false, name: b"thread", time_ns: 0 };
        processes.add(&Record::Named(thread), Scope::System);
        assert_eq!(processes.by_pid[&PARENT].name, "renamed");
    }

    #[test]
    fn frame_pointers_lead_on_where_the_copy_of_a_stack_ends() {
        let in_user = 512_u64.wrapping_neg();
        let chain = [in_user, 10, 20, 30, 40];
        let head = [10, 7, 1_000, 0, 1, chain.len() as u64];
        let words = head.into_iter().chain(chain).flat_map(u64::to_ne_bytes);
        let size = 8 + 8 * (head.len() + chain.len()) as u16;
        let kind = [9_u32.to_ne_bytes().to_vec(), 2_u16.to_ne_bytes().to_vec()].concat();
        let bytes: Vec<u8> = kind.into_iter().chain(size.to_ne_bytes()).chain(words).collect();
        let Some(Record::Sample(sample)) = sys::perf::records(&bytes).next() else {
            panic!("no sample")
        };
        let joined = |callers: &[u64]| -> Vec<u64> {
            joined_chain(&sample, callers).into_iter().map(|(_, address)| address).collect()
        };
        assert_eq!(joined(&[10]), [10, 20, 30, 40], "no tables");
        assert_eq!(joined(&[10, 15, 30]), [10, 15, 30, 40]);
        assert_eq!(joined(&[10, 15, 30, 35]), [10, 15, 30, 35], "they led elsewhere");
    }

    #[test]
    fn dropped_records_count_by_the_part_that_is_followed() {
        let mut processes = Processes::default();
        processes.add(&Record::Lost(7), Scope::System);
        assert_eq!(processes.lost_samples(), 7, "of whatever process");
        processes.foreign = 3;
        assert_eq!(processes.lost_samples(), 0);
        processes.samples.push(StackSample { time_ns: 0, pid: 1, tid: 1, node: 0 });
        assert_eq!(processes.lost_samples(), 2);
        processes.add(&Record::Lost(u64::MAX), Scope::System);
        assert_eq!(processes.lost_samples(), u64::MAX / 4 + 1);
    }

    #[test]
    fn what_has_ended_is_forgotten_and_a_number_may_come_again() {
        let mut processes = Processes::default();
        processes.follow(PARENT);
        let ended = |pid, time_ns| Record::Ended { pid, tid: pid, time_ns };
        let later = 2 * FORGOTTEN_AFTER_NS;
        for record in [forked(CHILD, PARENT, 10), ended(CHILD, 20), ended(CHILD + 7, later)] {
            processes.add(&record, Scope::System);
        }
        assert!(!processes.by_pid.contains_key(&CHILD));
        for record in [forked(CHILD, PARENT, 30), ended(CHILD, 40), forked(CHILD, PARENT, 50)] {
            processes.add(&record, Scope::System);
        }
        processes.add(&ended(CHILD + 7, later), Scope::System);
        assert!(processes.by_pid.contains_key(&CHILD), "it is a new one");
        processes.add(&forked(CHILD, CHILD + 8, 60), Scope::System);
        assert!(!processes.by_pid.contains_key(&CHILD), "it is another's");
    }
}
