//! Which system calls stop scaling with threads?
//!
//! What Anton Blanchard's will-it-scale asks since 2009: one thread repeats an operation as fast as it can; then
//! two do, and so on up to the CPUs and beyond. An operation without a lock in common does twice as much on two
//! CPUs. Where threads meet at a lock of the kernel, or only at a cache line, they do less; and where processes do
//! more than threads, it is something that threads of a process share.
//!
//! A cell has one pass. Its workers are kept to a CPU each, in turns, as will-it-scale's are: the scheduler may leave two
//! on one CPU for longer than a cell takes. They set up what they have to themselves, begin together, and count what they
//! do, each on cache lines of its own, until they are stopped. Counting begins when each has done something. The answer of every call is
//! checked by the worker that made it, within the loop, as a program would.

use super::operations::{Ground, Operation, TABLE};
use super::parameters::{BY, THREADS, WORKERS_MAX, parallel};
use crate::shared::crew::{By, Crew, Ending};
use crate::shared::{c_library, cpus, directory};
use engine::{
    About, Cell, Check, Failure, Fit, Kind, LimitCause, MetricInfo, MetricRole, Probe, Subject,
    SubjectInfo, Usual, Workload, WorkloadInfo, pairs, strings,
};
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Syscalls = Syscalls;

pub(crate) struct Syscalls;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "syscalls".into(),
        question: "Which system calls stop scaling with threads?".into(),
        operation: "one turn of a loop that makes the calls and checks what they answer".into(),
        not_measured: strings([
            "what workers set up before they begin: files, descriptors, sockets",
            "how the scheduler places workers: each is kept to one of --cpus, in turns",
            "the disk: files are small, and stay in the page cache",
            "CPU time of the children that fork-exit starts",
        ]),
        ratio: Some(cpus::per_cpu(THREADS.name)),
        parallel: Some(parallel()),
        compared_pairs: pairs([
            ("open-close-one", "open-close-separate"),
            ("epoll-ctl-one", "epoll-ctl-separate"),
            ("accept-one", "accept-reuseport"),
        ]),
        metrics: vec![
            MetricInfo::more("operations", "operations of all", "operations/s"),
            MetricInfo::more("each", "operations of one thread or process", "operations/s"),
            MetricInfo::time("cpu", "operation, on all CPUs").with_role(MetricRole::Cpu),
            MetricInfo::more("fairness", "Jain's index of the workers' operations", "")
                .with_role(MetricRole::Fairness),
        ],
        ..About::plain().info
    },
    kind: Kind::Named,
    parameters: vec![THREADS, BY, cpus::ALL],
    usual: Usual { rounds: 9, ..Usual::PLAIN },
    ..About::plain()
});

impl Workload for Syscalls {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        TABLE.iter().map(|operation| subject(operation)).collect()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        let threads = cell.number(THREADS.name).unwrap_or(0);
        let operation = TABLE.iter().find(|operation| operation.name == cell.subject);
        let is_another = operation.is_some_and(|operation| !operation.beyond_cpus);
        match cell.number(cpus::ALL.name) {
            Ok(cpus) if is_another && threads > cpus => Fit::AtMost {
                parameter: THREADS.name,
                max: cpus,
                cause: LimitCause::Other {
                    clause: "beyond one for each CPU it is another operation, a switch to the next"
                        .into(),
                },
                remedy: String::new(),
            },
            _ => cpus::threads_at_most(cell, &THREADS, WORKERS_MAX),
        }
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        cpus::choose(cell)?;
        let operation = cell.find_subject(TABLE, |operation| operation.name)?;
        let directory = directory::make(cell, probe)?;
        let ground = Ground { directory: directory.path().into() };
        let life = (operation.prepare)(&ground)?;
        let crew = Crew {
            workers: cell.number(THREADS.name)? as usize,
            life: &life,
            cpus: cpus::allowed()?,
            clock: probe.clock(),
            ending: Ending::After(probe.time()),
            right: true,
        };
        crew.count(By::from_cell(cell)?)?.state("operations", probe);
        Ok(())
    }
}

fn subject(operation: &'static Operation) -> Subject {
    let Operation { name, group, summary, contends, over_loopback, .. } = *operation;
    let shared = operation.shared_by_threads;
    let summary = match contends {
        "" => summary.to_owned(),
        _ => format!("{summary}; all meet at {contends}"),
    };
    let (group, shared) = (group.into(), shared.into());
    let note = operation.of_c_library.then(c_library::note).unwrap_or_default();
    let info = SubjectInfo { group, shared, note, ..SubjectInfo::separate(name) };
    let available = Check::needed(over_loopback, || sys::loopback::check(false));
    Subject { available, ..Subject::new(info, &summary) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_another_operation_beyond_the_cpus_is_measured_up_to_them() {
        let fit = |subject: &str, threads: u64| {
            let parameters = [("threads", threads), ("cpus", 2)];
            let parameters = parameters.map(|(name, number)| (name.to_owned(), number.into()));
            let subject = subject.to_owned();
            WORKLOAD.fit(&Cell { subject, parameters: parameters.into(), ..Cell::default() })
        };
        for threads in [1, 2] {
            assert_eq!(fit("sched-yield", threads), Fit::Measure);
        }
        let Fit::AtMost { parameter, max, .. } = fit("sched-yield", 4) else {
            panic!("a yield with others waiting is a switch to them");
        };
        assert_eq!((parameter, max), ("threads", 2));
        assert_eq!(fit("getppid", 8), Fit::Measure);
        assert!(matches!(fit("getppid", 1_025), Fit::AtMost { max: WORKERS_MAX, .. }));
    }
}
