//! How long does a build take with few, enough and all jobs at once?
//!
//! Con Kolivas's kernbench, with which spinlocks were compared under over-commit. One operation is one
//! build: the command, run by the shell in the tree's directory, from its start to its end. Its user and
//! system time and its context switches are those that the kernel counted for it and all that it started
//! and waited for (wait4): the same that GNU time shows. The subjects are kernbench's loads; the axis is
//! the CPUs that the build may use.
//!
//! A cell makes its tree of C files, or takes the one that is named; warms up; cleans; builds, and this is
//! timed; and checks that the command ended well, and that the program of a generated tree gives the right
//! answer. A named tree is written to by the commands alone.

mod step;
mod tools;
mod tree;
mod warm;

use crate::shared::cpus::{self, ALL};
use crate::shared::directory;
use crate::shared::runner;
use crate::shared::shortage;
use engine::{
    About, Cell, Defaults, Dependence, Failure, Fit, Kind, LimitCause, MetricInfo, MetricRole,
    Original, Parameter, Print, Probe, Programs, Ran, RunEnd, Runner, RunnerCommand, RunnerOutput,
    Scratch, Subject, SubjectInfo, Usual, Values, Workload, WorkloadInfo, strings,
};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Build = Build;

pub(crate) struct Build;

const COMMAND: Parameter = Parameter {
    name: "command",
    about: "build command, run by the shell; {jobs} is replaced by the number of jobs (by nothing for `maximal`)",
    values: Values::Text,
    default: Defaults::always(&["make -j{jobs}"]),
    sweep: None,
};

const CLEAN: Parameter = Parameter {
    name: "clean",
    about: "command that removes all that was built, run by the shell",
    values: Values::Text,
    default: Defaults::always(&["make clean"]),
    sweep: None,
};

const TREE: Parameter = Parameter {
    name: "tree",
    about: "directory to build in, or `generated`",
    values: Values::DirectoryOr(GENERATED),
    default: Defaults::always(&[GENERATED]),
    sweep: None,
};

const FILES: Parameter = Parameter {
    name: "files",
    about: "C files of the generated tree",
    // All objects stand on the line that links them, which may not be longer.
    values: Values::Between(1, 50_000),
    default: Defaults { quick: &["16"], full: &["96"] },
    sweep: None,
};

const WARM_UP: Parameter = Parameter {
    name: "warm-up",
    about: "what precedes the timed build: another build, reading the tree, or nothing",
    values: Values::OneOf(&["build", "read", "none"]),
    default: Defaults::always(&["build"]),
    sweep: None,
};

/// The tree that is made where none is named.
const GENERATED: &str = "generated";
/// What stands in a command for the number of jobs.
const JOBS: &str = "{jobs}";
/// The last lines of a command that failed which are worth keeping, and how many bytes hold them.
const LINES_KEPT: usize = 20;
const BYTES_KEPT: usize = 4 << 10;
/// What one compiler of a generated tree takes, and more: where there is less memory, the kernel ends some
/// process or other.
const COMPILER_KIB: u64 = 48 << 10;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "build".into(),
        question: "How long does a build take with few, enough and all jobs at once?".into(),
        operation: "one build of a tree, by a command and all that it starts".into(),
        not_measured: strings([
            "making the tree, warming up and cleaning",
            "what the command leaves running or does not wait for",
            "the disk: sources and compiler are in the page cache, or come to be there with --warm-up none",
        ]),
        dependences: vec![Dependence {
            parameter: FILES.name.into(),
            depends_on: TREE.name.into(),
            values: vec![GENERATED.into()],
        }],
        averages: true,
        command_parameters: strings([COMMAND.name, CLEAN.name]),
        metrics: vec![
            MetricInfo::time("elapsed", "build"),
            MetricInfo::time("user", "build, on its CPUs in user mode")
                .with_role(MetricRole::CpuPart),
            MetricInfo::time("system", "build, on its CPUs in the kernel")
                .with_role(MetricRole::CpuPart),
            MetricInfo::more("percent cpu", "CPU time over elapsed time", "%")
                .with_role(MetricRole::CpuShare),
            MetricInfo::less(
                "context switches",
                "times that the kernel took a CPU away (involuntary)",
                "switches",
            ),
            MetricInfo::less("sleeps", "times that a process waited (voluntary)", "sleeps"),
        ],
        ..About::plain().info
    },
    kind: Kind::Named,
    parameters: vec![ALL, COMMAND, CLEAN, TREE, FILES, WARM_UP],
    programs: Programs::Compiler,
    usual: Usual { rounds: 5, cell_ms_max: 1_800_000, ..Usual::PLAIN },
    originals: &[Original {
        name: "kernbench",
        original: "Con Kolivas's kernbench 0.42 (2007), five runs of each load",
        subjects: &["half", "optimal", "maximal"],
        points: &["all"],
        parameters: &[],
        rounds: Some(5),
        print: Print::Averages,
        also: &[],
        hides: &[
            "kernbench built a kernel, this a tree of C files: name one with --tree and --command",
            "kernbench's figures of the optimal and maximal loads, but for the elapsed time, are means over \
             the runs of the loads before as well: their deviations say so. Here each load stands for itself",
            "what optimal is: 4 jobs for each CPU here and in versions to 0.42; later ones have 1",
            "a context switch is an involuntary one, a sleep a voluntary one (GNU time's %c and %w)",
            "kernbench warmed up once, before all runs, and waited 5 s before each; here each run is warmed \
             up (--warm-up), and the loads take turns",
        ],
    }],
    ..About::plain()
});

/// A load: how many jobs there are for so many CPUs; none is without a number.
struct Load {
    name: &'static str,
    summary: &'static str,
    note: &'static str,
    jobs: fn(u64) -> Option<u64>,
}

const LOADS: &[Load] = &[
    Load {
        name: "half",
        summary: "half as many jobs as CPUs, but 3 at least, as kernbench made of 2",
        note: "-j max(CPUs / 2, 3)",
        jobs: |cpus| Some((cpus / 2).max(3)),
    },
    Load {
        name: "optimal",
        summary: "4 jobs for each CPU, as kernbench to 0.42 (later ones: 1)",
        note: "-j 4 × CPUs",
        jobs: |cpus| Some(4 * cpus),
    },
    Load {
        name: "maximal",
        summary: "as many jobs as there are: {jobs} becomes nothing, as in `make -j`",
        note: "-j without a number",
        jobs: |_| None,
    },
];

impl Load {
    fn from_cell(cell: &Cell) -> Result<&'static Load, Failure> {
        cell.find_subject(LOADS, |load| load.name)
    }

    fn subject(&self) -> Subject {
        let info = SubjectInfo { note: self.note.into(), ..SubjectInfo::named(self.name) };
        Subject::new(info, self.summary)
    }

    /// As one gives it to make: `-j 3`, or `-j` without a number.
    fn flag(&self, cpus: u64) -> String {
        (self.jobs)(cpus).map_or_else(|| "-j".to_owned(), |jobs| format!("-j {jobs}"))
    }

    /// The command with the number of its jobs.
    fn command(&self, command: &str, cpus: u64) -> String {
        let jobs = (self.jobs)(cpus).map_or_else(String::new, |jobs| jobs.to_string());
        command.replace(JOBS, &jobs)
    }
}

impl Workload for Build {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        LOADS.iter().map(Load::subject).collect()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        let (Ok(tree), Ok(command)) = (cell.text(TREE.name), cell.text(COMMAND.name)) else {
            return Fit::Measure;
        };
        let missing = if tree == GENERATED {
            tools::missing(&command)
        } else {
            let is_directory = Path::new(&*tree).is_dir();
            (!is_directory).then(|| format!("--tree: {tree} is no directory"))
        };
        if let Some(message) = missing {
            let (what, cause) = ("The build".into(), LimitCause::Other { clause: message });
            return Fit::Leave { what, cause, remedy: String::new() };
        }
        too_much(cell).unwrap_or(Fit::Measure)
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        cpus::choose(cell)?;
        let load = Load::from_cell(cell)?;
        let (typed, cpus) = (cell.text(COMMAND.name)?, cell.number(ALL.name)?);
        let command = load.command(&typed, cpus);
        if typed.contains(JOBS) {
            probe.fact("jobs", load.flag(cpus));
        }
        probe.fact("command", &*command);
        let mut site = Site::open(cell, probe)?;
        let clean = cell.text(CLEAN.name)?;
        match &*cell.text(WARM_UP.name)? {
            "build" => {
                site.done(&clean)?;
                site.done(&command)?;
            }
            "read" => warm::read(&site.tree)?,
            _ => {}
        }
        site.done(&clean)?;
        site.settle()?;
        let ran = site.timed(&command, probe)?;
        site.well(&command, ran.end)?;
        site.right()?;
        give(probe, &ran);
        Ok(())
    }
}

/// What a build came to, a sample of each metric.
fn give(probe: &mut Probe, ran: &Ran) {
    let (used, elapsed_ns) = (&ran.used, probe.clock().ns(ran.before, ran.after));
    let (user_ns, system_ns) = (used.user_ns as f64, used.system_ns as f64);
    let figures = [
        elapsed_ns,
        user_ns,
        system_ns,
        100.0 * (user_ns + system_ns) / elapsed_ns,
        used.switches_involuntary as f64,
        used.switches_voluntary as f64,
    ];
    for (metric, figure) in ABOUT.info.metrics.iter().zip(figures) {
        probe.given(&metric.name, &[figure], 1);
    }
}

/// Why all files of a generated tree can't be compiled at once here.
fn too_much(cell: &Cell) -> Option<Fit> {
    let unbounded = Load::from_cell(cell).is_ok_and(|load| (load.jobs)(1).is_none());
    if !unbounded || cell.text(TREE.name).ok()? != GENERATED {
        return None;
    }
    without_memory(cell.number(FILES.name).ok()?, shortage::available_kib())
}

/// That so many compilers at once have no room.
fn without_memory(files: u64, available_kib: u64) -> Option<Fit> {
    let max = available_kib / COMPILER_KIB;
    (files > max).then(|| Fit::Leave {
        what: format!("The maximal load of {files} files at once"),
        cause: LimitCause::Memory { available_mib: available_kib >> 10, each_kib: COMPILER_KIB },
        remedy: format!("--files {}", max.max(1)),
    })
}

/// Where a cell builds, with its scratch directory.
struct Site {
    scratch: Scratch,
    runner: Runner,
    tree: PathBuf,
    /// What the program of a generated tree prints.
    answer: Option<String>,
}

impl Site {
    fn open(cell: &Cell, probe: &mut Probe) -> Result<Site, Failure> {
        let runner = runner::start(probe)?;
        let named = cell.text(TREE.name)?;
        if named != GENERATED {
            let tree = fs::canonicalize(&*named)
                .map_err(|error| Failure::call(format!("the tree {named}"), error))?;
            let scratch =
                Scratch::new(&cell.scratch).map_err(shortage::during("making a directory"))?;
            probe.fact("tree", tree.display().to_string());
            return Ok(Site { scratch, runner, tree, answer: None });
        }
        let scratch = directory::make(cell, probe)?;
        let tree = scratch.path().join("tree");
        let files = cell.number(FILES.name)?;
        let made = fs::create_dir(&tree).and_then(|()| tree::make(&tree, files));
        let made = made.map_err(shortage::during("making the tree"))?;
        probe.fact("lines of C", made.lines as u64);
        probe.fact("compiler", tools::version("cc"));
        probe.fact("make", tools::version("make"));
        Ok(Site { scratch, runner, tree, answer: Some(made.answer) })
    }

    fn output(&self) -> PathBuf {
        self.scratch.path().join("output")
    }

    /// Runs a command by the shell in the tree, with its output in a file.
    fn run(&mut self, command: &str) -> Result<Ran, Failure> {
        let order = RunnerCommand {
            group: None,
            call_tracepoint: None,
            words: ["sh", "-c", command].map(str::to_owned).to_vec(),
            directory: self.tree.clone(),
            input: None,
            output: RunnerOutput::Log(self.output()),
            time_limit: None,
        };
        let failed = |error| Failure::call(format!("running `{command}`"), error);
        self.runner.run(&order).map_err(failed)
    }

    /// Runs a command that has to end well, untimed.
    fn done(&mut self, command: &str) -> Result<(), Failure> {
        let ran = self.run(command)?;
        self.well(command, ran.end)
    }

    /// Runs the command, and says when.
    fn timed(&mut self, command: &str, probe: &mut Probe) -> Result<Ran, Failure> {
        let ran = self.run(command)?;
        probe.region("elapsed", ran.before, ran.after, 1);
        if ran.left > 0 {
            probe.fact("processes that the command left, now ended", ran.left);
        }
        Ok(ran)
    }

    /// Writes out what cleaning left to be written, so that it is none of the build's.
    fn settle(&self) -> Result<(), Failure> {
        let failed = |error| Failure::call(format!("syncing {}", self.tree.display()), error);
        let directory = fs::File::open(&self.tree).map_err(failed)?;
        rustix::fs::syncfs(&directory).map_err(|error| failed(error.into()))
    }

    /// Whether the command ended well; if not, with its last lines.
    fn well(&self, command: &str, end: RunEnd) -> Result<(), Failure> {
        let Some(how) = runner::ending(end) else { return Ok(()) };
        let last = last_lines(&self.end_of_output().unwrap_or_default());
        // The whole stands in the record with the reason.
        let _ = std::io::stderr().write_all(last.join("\n").as_bytes());
        let mut reason = format!("`{command}` {how}");
        if let Some(line) = last.last() {
            // Writing to a String can't fail.
            let _ = write!(reason, ": {line}");
        }
        Err(Failure::new(reason))
    }

    /// The end of the command's output: all of it may be more than the memory holds.
    fn end_of_output(&self) -> io::Result<Vec<u8>> {
        let mut output = File::open(self.output())?;
        let bytes = output.metadata()?.len();
        output.seek(SeekFrom::Start(bytes.saturating_sub(BYTES_KEPT as u64)))?;
        let mut last = Vec::with_capacity(BYTES_KEPT);
        output.take(BYTES_KEPT as u64).read_to_end(&mut last)?;
        if bytes > BYTES_KEPT as u64 {
            // It begins with a whole word: half a URL could show half a password.
            let end = last.iter().position(u8::is_ascii_whitespace).unwrap_or(last.len());
            last.drain(..end);
        }
        Ok(last)
    }

    /// Whether a generated tree's program gives the right answer.
    fn right(&self) -> Result<(), Failure> {
        let Some(answer) = &self.answer else { return Ok(()) };
        let program = self.tree.join(tree::PROGRAM);
        let output = Command::new(&program).output().map_err(|error| {
            Failure::call("the command ended well, but what it was to build can't be run", error)
        })?;
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        if output == *answer {
            return Ok(());
        }
        let (output, answer) = (output.trim(), answer.trim());
        Err(Failure::new(format!("what was built says `{output}`, and `{answer}` is right")))
    }
}

/// The last lines of a command, without what would not stay on them.
fn last_lines(output: &[u8]) -> Vec<String> {
    let last = &output[output.len().saturating_sub(BYTES_KEPT)..];
    let text = String::from_utf8_lossy(last);
    let plain = |line: &str| line.chars().filter(|c| !c.is_control()).collect::<String>();
    let lines: Vec<String> =
        text.lines().map(plain).filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES_KEPT)..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty directory for a test's files.
    pub(super) fn directory(name: &str) -> PathBuf {
        let name = format!("knee-test-{name}-{:016x}", fastrand::u64(..));
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).unwrap();
        directory
    }

    #[test]
    fn loads_have_kernbenchs_numbers_of_jobs() {
        let commands = |cpus| {
            LOADS.iter().map(|load| load.command("make -j{jobs}", cpus)).collect::<Vec<String>>()
        };
        assert_eq!(commands(4), ["make -j3", "make -j16", "make -j"]);
        assert_eq!(commands(1), ["make -j3", "make -j4", "make -j"]);
        assert_eq!(commands(64), ["make -j32", "make -j256", "make -j"]);
    }

    #[test]
    fn all_files_at_once_need_memory_for_all() {
        assert_eq!(without_memory(96, 96 * COMPILER_KIB), None);
        let too_many = without_memory(97, 96 * COMPILER_KIB);
        assert!(matches!(too_many, Some(Fit::Leave { remedy, .. }) if remedy == "--files 96"));
    }

    #[test]
    fn the_last_lines_are_kept_as_lines() {
        assert_eq!(last_lines(b"a\n\n \x1b[31mb\r\n"), ["a", " [31mb"]);
        assert_eq!(last_lines(b""), [""; 0]);
        let many = "line\n".repeat(10_000);
        assert_eq!(last_lines(many.as_bytes()).len(), LINES_KEPT);
    }
}
