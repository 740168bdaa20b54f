//! The workloads. A new one is one file in the directory of its kind, and one line in the table here.
#![forbid(unsafe_code)]

use engine::{Workload, WorkloadRole};
use std::sync::OnceLock;

mod shared {
    //! What several directories use: the machine's C library, CPUs, a directory for files, embedded programs, what runs
    //! commands, counted system calls, what the machine runs out of, turns of a loop, threads or processes side by side.
    pub(crate) mod c_library;
    pub(crate) mod calls;
    pub(crate) mod cpus;
    pub(crate) mod crew;
    pub(crate) mod directory;
    pub(crate) mod embedded;
    pub(crate) mod fairness;
    pub(crate) mod quota;
    pub(crate) mod runner;
    pub(crate) mod shortage;
    pub(crate) mod turns;
    pub(crate) mod waits;
}

pub use self::locks::lock::{OwnLock, add_locks, algorithms};
pub use controls::null::bare_ns;
pub use controls::synthetic::SLOWER;
pub use servers::{drivers, local};

/// Declares the directories with their modules, and puts each workload's `WORKLOAD` into the table, in this
/// order. What the workloads of a directory share stands in brackets.
macro_rules! table {
    ($($(#[$about:meta])* $directory:ident [$($visible:vis $shared:ident),*] { $($file:ident,)* })*) => {
        $($(#[$about])* mod $directory {
            $($visible mod $shared;)*
            $(pub(super) mod $file;)*
        })*

        /// Every workload of knee's own.
        pub static TABLE: &[&dyn Workload] = &[$($(&$directory::$file::WORKLOAD,)*)*];
    };
}

table! {
    /// Mechanisms that say which descriptors are ready, in an event loop.
    readiness [pub(crate) mechanisms, objects] {
        poll,
        pipetest,
        waiters,
    }
    /// Sockets: opened, bound, accepted, closed.
    sockets [pub(crate) tcp] {
        socket,
        bind,
        accept,
        close,
    }
    /// Memory maps: made, touched, given back.
    memory [pages] {
        mmap,
        touch,
        munmap,
    }
    /// Caches and main memory: loads, stores and first touches by the size of what is in use.
    caches [] {
        memory,
    }
    /// Many open or mapped files.
    files [layout] {
        open,
        manyfiles,
    }
    /// Processes and threads: started and reaped.
    processes [forker, limits, parameters] {
        fork,
        reap,
        thread,
    }
    /// Locks under CPU over-commit.
    locks [] {
        lock,
    }
    /// System calls by several threads or processes at once.
    syscalls [operations, parameters] {
        syscalls,
    }
    /// Whole web servers under load, with dead connections and large files.
    servers [client, pub drivers, pub local, served, tls, warm] {
        connect,
        request,
        dead,
        download,
    }
    /// Processes that build a tree of files, as `make -j` does.
    builds [] {
        build,
    }
    /// What basic operations cost, as lmbench measures them.
    baselines [program, rows] {
        baseline,
    }
    /// Commands of the user's own.
    commands [] {
        command,
    }
    /// Workloads that prove the instrument.
    controls [] {
        null,
        fault,
        synthetic,
    }
}

/// What this program offers, where that is not the table.
static OFFERED: OnceLock<Vec<&'static dyn Workload>> = OnceLock::new();

/// Workloads that stand before those of the table, or instead of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// Before the table; a workload of the same name in it gives way.
    Offered,
    /// The table's controls stay.
    ControlsOnly,
}

/// Adds a program's own workloads: at its start, before anything asks for them, in every process of it.
///
/// # Panics
/// If it comes too late, or twice.
pub fn add(own: &[&'static dyn Workload], builtin: Builtin) {
    let is_own = |name: &str| own.iter().any(|row| row.name() == name);
    let stays = |row: &&&'static dyn Workload| {
        let is_control = row.about().info.role == WorkloadRole::Control;
        !is_own(row.name()) && (builtin == Builtin::Offered || is_control)
    };
    let offered = own.iter().chain(TABLE.iter().filter(stays)).copied().collect();
    assert!(
        OFFERED.set(offered).is_ok(),
        "workloads are added once, before anything asks for them"
    );
}

/// Every workload that this program offers: the table, unless it [added](add) its own.
pub fn all() -> &'static [&'static dyn Workload] {
    OFFERED.get_or_init(|| TABLE.to_vec())
}

/// The workload of this name, of those that this program offers.
pub fn find(name: &str) -> Option<&'static dyn Workload> {
    all().iter().copied().find(|row| row.name() == name)
}

#[cfg(test)]
mod tests {
    use super::TABLE;
    use engine::{ProfileRate, RunRequest};
    use std::time::Duration;

    #[test]
    fn each_workload_has_a_deadline_of_its_own() {
        let request = RunRequest {
            workloads: ["poll", "build"].map(String::from).to_vec(),
            subjects: ["poll", "optimal"].map(String::from).to_vec(),
            ..RunRequest::default()
        };
        let plan = engine::plan(&request, TABLE).unwrap();
        let [poll, build] = ["poll", "build"].map(|name| plan.cell_deadline_ms(name));
        assert!(poll < build, "{poll} ms is that of poll alone, {build} ms of builds");
        assert_eq!((plan.deadlines_ms(), plan.deadline_ms), ((poll, build), build));
        let request = RunRequest { deadline: Some(Duration::from_secs(7)), ..request };
        let plan = engine::plan(&request, TABLE).unwrap();
        assert_eq!(plan.deadlines_ms(), (7_000, 7_000), "what the user says holds for all");
    }

    #[test]
    fn a_parameter_without_an_effect_makes_no_further_cells() {
        let words = |values: &[&str]| values.iter().map(|&value| value.into()).collect();
        let request = RunRequest {
            workloads: vec!["poll".into()],
            subjects: vec!["poll".into()],
            points: words(&["10"]),
            parameters: [
                ("activity".into(), words(&["spaced", "random"])),
                ("position".into(), words(&["last", "first"])),
            ]
            .into(),
            rounds: Some(1),
            ..RunRequest::default()
        };
        let plan = engine::plan(&request, TABLE).unwrap();
        let mut planned: Vec<[String; 2]> = plan
            .cells
            .iter()
            .map(|key| ["activity", "position"].map(|name| key.parameters[name].to_string()))
            .collect();
        planned.sort();
        let expected = [["random", "last"], ["spaced", "first"], ["spaced", "last"]];
        assert_eq!(planned, expected, "random ones have no position, and the first value stands");
    }

    #[test]
    fn what_a_parameter_depends_on_is_a_parameter_with_these_values() {
        for about in TABLE.iter().map(|workload| workload.about()) {
            let workload = &about.info.name;
            for dependence in &about.info.dependences {
                let name = &dependence.parameter;
                assert!(about.parameter(name).is_some(), "{workload}: no {name}");
                let name = &dependence.depends_on;
                let depends_on = about.parameter(name).expect(name);
                for value in &dependence.values {
                    let read = depends_on.read(&value.text());
                    let checked = depends_on.check(&read, depends_on.name);
                    assert_eq!(checked.as_ref(), Ok(value), "{workload}: {value}");
                }
            }
        }
    }

    #[test]
    fn a_profile_changes_nothing_of_the_rounds() {
        let request = RunRequest { seed: Some(7), quick: true, ..RunRequest::default() };
        let profiled = RunRequest { profile: Some(ProfileRate::Hz(499)), ..request.clone() };
        let [without, mut with] =
            [request, profiled].map(|request| engine::plan(&request, TABLE).unwrap());
        let profile = with.profile.take().unwrap();
        assert_eq!((profile.frequency_hz, profile.measure_ms), (499, 500));
        assert_eq!(without.profile, None);
        assert_eq!(with, without);
    }

    #[test]
    fn a_profiled_metric_is_measured_for_a_second_or_for_longer() {
        let measure_ms = |time_ms: u64| {
            let time = Some(Duration::from_millis(time_ms));
            let request = RunRequest {
                workloads: vec!["poll".into()],
                time,
                profile: Some(ProfileRate::Hz(997)),
                ..RunRequest::default()
            };
            engine::plan(&request, TABLE).unwrap().profile.unwrap().measure_ms
        };
        assert_eq!((measure_ms(30), measure_ms(3_000)), (1_000, 3_000));
    }

    #[test]
    fn every_workload_names_what_it_has() {
        for about in TABLE.iter().map(|row| row.about()) {
            let (workload, own) = (&about.info.name, about.axis());
            let has = |name: &str| about.parameter(name).is_some();
            assert!(about.axes().any(|axis| axis.name == own), "{workload}: its axis");
            if let Some(ratio) = &about.info.ratio {
                assert!(has(&ratio.part) && has(&ratio.whole), "{workload}: {ratio:?}");
            }
        }
    }
}
