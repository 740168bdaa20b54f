//! Samples processes of known behaviour, and writes the text of made-up samples.

use super::stack_sample::sampler::PERIOD_NS;
use super::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

const LONG: Duration = Duration::from_millis(200);
/// Long enough for the slowest machine: a test that waits this long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
const CHILD: &str = "STACKS_TEST_CHILD";

#[inline(never)]
fn spin_in_a_test() {
    loop {
        std::hint::spin_loop();
    }
}

/// What the tests look at: two threads that spin, three that wait for ever, and the one that reads.
#[test]
#[ignore = "the other tests start it in a process of its own"]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    for _ in 0..2 {
        thread::spawn(spin_in_a_test);
    }
    for _ in 0..3 {
        thread::spawn(|| {
            loop {
                thread::park();
            }
        });
    }
    println!("\nready");
    // It ends with the test that started it.
    std::io::stdin().read_line(&mut String::new()).unwrap();
    std::process::exit(0);
}

/// Ended when it is dropped.
pub(crate) struct Started(pub Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Started {
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Writes a line to it, and leaves its input open.
    pub fn go(&mut self) {
        let input = self.0.stdin.as_mut().expect("its input is a pipe");
        input.write_all(b"\n").expect("it reads");
    }
}

pub(crate) fn start(command: &mut Command) -> (Started, BufReader<ChildStdout>) {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (Started(child), out)
}

/// The child above, once all its threads have been started. The reader keeps its output open.
pub(crate) fn start_child() -> (Started, BufReader<ChildStdout>) {
    let words = ["--exact", "tests::child", "--ignored", "--nocapture", "--test-threads=2"];
    let mut command = Command::new(std::env::current_exe().unwrap());
    let (child, mut out) = start(command.args(words).env(CHILD, "1"));
    let mut line = String::new();
    while line.trim() != "ready" {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the child ended");
    }
    (child, out)
}

/// Looks until it is as it should be: a thread that was started need not wait yet.
fn until(look: impl Fn() -> StackSample, wanted: impl Fn(&StackSample) -> bool) -> StackSample {
    let start = Instant::now();
    loop {
        let sample = look();
        if wanted(&sample) {
            return sample;
        }
        assert!(start.elapsed() < PATIENCE, "{}\n{sample}", sample.summary());
    }
}

fn request(roots: &[Pid]) -> StackRequest<'_> {
    StackRequest { roots, duration: LONG, sampled: &|| (), lookup_max: LOOKUP_MAX }
}

fn threads_in(program: &Program, wanted: impl Fn(&ThreadState) -> bool) -> usize {
    program.threads.iter().filter(|(state, _)| wanted(state)).map(|(_, count)| count).sum()
}

fn in_futex(state: &ThreadState) -> bool {
    matches!(state, ThreadState::Blocked { call, .. } if call == "futex")
}

fn in_read(state: &ThreadState) -> bool {
    matches!(state, ThreadState::Blocked { call, .. } if call == "read")
}

/// Every thread of the child has got to where it stays: on a busy machine they come there one by one.
fn all_stand_where_they_stay(program: &Program) -> bool {
    let runs = |state: &ThreadState| *state == ThreadState::Running;
    let [futex, read] = [threads_in(program, in_futex), threads_in(program, in_read)];
    futex == 4 && read == 1 && threads_in(program, runs) == 2
}

#[test]
fn threads_that_spin_are_named_by_function_and_threads_that_wait_by_call() {
    let (child, _out) = start_child();
    let sample = until(
        || sample(&request(&[child.pid()])),
        |sample| {
            // Of a few, one that fell into the kernel would say something else.
            let sampled = sample.samples >= 20 || !sample.limitations.is_empty();
            sampled && sample.programs.first().is_some_and(all_stand_where_they_stay)
        },
    );
    let program = &sample.programs[0];
    assert!(program.is_target && program.processes == 1 && program.cpu_ns > 0, "{sample}");
    if sample.samples == 0 {
        assert!(!sample.limitations.is_empty(), "{sample}");
        return eprintln!("SKIPPED in part: perf events are refused here: {sample}");
    }
    let (function, count) = &program.functions[0];
    assert_eq!(function.name.as_deref(), Some("stacks::tests::spin_in_a_test"), "{sample}");
    assert_eq!(function.module, None, "the program itself needs no name: {sample}");
    assert!(*count * 2 > sample.samples, "{sample}");
    let summary = sample.summary();
    assert!(summary.contains("samples in stacks::tests::spin_in_a_test; "), "{summary}");
    // The harness's own thread waits for the test in a futex as well.
    assert!(summary.contains("4 of 7 threads wait in futex, 1 waits in read"), "{summary}");
    let detail = sample.to_string();
    assert!(detail.contains("stacks::tests::spin_in_a_test+0x"), "{detail}");
    assert!(detail.contains("4 wait in futex at "), "{detail}");
}

#[test]
fn functions_are_looked_up_for_as_long_as_is_asked_for() {
    let (child, _out) = start_child();
    let roots = [child.pid()];
    let sample = until(
        || sample(&StackRequest { lookup_max: Duration::ZERO, ..request(&roots) }),
        |sample| sample.samples > 0 || !sample.limitations.is_empty(),
    );
    let mut functions = sample.programs.iter().flat_map(|program| &program.functions);
    let own = functions.find(|(function, _)| {
        function.name.as_deref().is_some_and(|name| name.contains("spin_in_a_test"))
    });
    assert!(own.is_none(), "{sample}");
}

#[test]
fn where_sampling_is_denied_the_reason_is_given_and_calls_are_named() {
    let (child, _out) = start_child();
    let denied = |_, _| Err(std::io::Error::from(rustix::io::Errno::ACCESS));
    let sample = until(
        || sample_with(&request(&[child.pid()]), &denied),
        |sample| sample.programs.first().is_some_and(all_stand_where_they_stay),
    );
    assert_eq!(sample.samples, 0);
    let summary = sample.summary();
    assert!(summary.contains("4 of 7 threads wait in futex"), "{summary}");
    assert!(summary.contains("2 run"), "{summary}");
    let detail = sample.to_string();
    assert!(detail.contains("\nNot sampled: "), "{detail}");
}

#[test]
fn a_limit_on_descriptors_ends_sampling_and_nothing_else() {
    let (child, _out) = start_child();
    let full = |_, _| Err(std::io::Error::from(rustix::io::Errno::MFILE));
    let sample = until(
        || sample_with(&request(&[child.pid()]), &full),
        |sample| sample.programs.first().is_some_and(all_stand_where_they_stay),
    );
    let detail = sample.to_string();
    assert!(detail.contains("\nNot sampled: no more descriptors may be open"), "{detail}");
    assert_eq!(sample.programs[0].processes, 1);
}

#[test]
fn another_program_is_named_with_its_call() {
    let (child, _out) = start(Command::new("sh").args(["-c", "sleep 1000; true"]));
    let wanted = ["sleep (waits in clock_nanosleep)", "sleep (waits in nanosleep)"];
    // The shell's own turn ends with the start of the other, whose own ends with its sleep.
    let shell = "\nsh, 0 % of a CPU: waits in wait4 at ";
    let waits = |sample: &StackSample| {
        sample.samples == 0
            && sample.to_string().contains(shell)
            && wanted.contains(&sample.summary().as_str())
    };
    until(|| sample(&request(&[child.pid()])), waits);
}

#[test]
fn processes_that_come_and_go_are_no_trouble() {
    let (child, _out) = start(Command::new("sh").args(["-c", "while :; do /bin/true; done"]));
    let sample = until(
        || sample(&request(&[child.pid()])),
        |sample| sample.programs.iter().any(|program| program.processes_later > 0),
    );
    assert!(sample.programs.iter().any(|program| program.name == "sh"), "{sample}");
}

#[test]
fn a_process_that_has_gone_is_ending() {
    let mut child = Command::new("true").spawn().unwrap();
    let pid = Pid::from_child(&child);
    child.wait().unwrap();
    let sample = sample(&StackRequest { duration: Duration::ZERO, ..request(&[pid]) });
    assert_eq!(sample.summary(), "it was just ending");
    assert_eq!(sample.to_string(), "Looked at for 0.0 s: 0 processes, 0 threads, 0 samples.");
}

fn named(name: &str) -> Function {
    Function { name: Some(name.into()), module: None, offset: Some(0x16) }
}

fn waits(call: &str) -> ThreadState {
    ThreadState::Blocked { call: call.into(), caller: Some(named("syscall")) }
}

/// A program, what its threads do, and where it was found, of 200 ms.
fn program(name: &str, threads: &[(ThreadState, usize)], functions: &[(&str, u64)]) -> Program {
    let samples: u64 = functions.iter().map(|(_, count)| count).sum();
    Program {
        name: name.into(),
        processes: 1,
        threads: threads.iter().cloned().collect(),
        cpu_ns: samples * PERIOD_NS,
        samples,
        functions: functions.iter().map(|&(name, count)| (named(name), count)).collect(),
        ..Program::default()
    }
}

fn made_up(target: Program, other_programs: Vec<Program>) -> StackSample {
    let target = Program { is_target: true, ..target };
    let programs: Vec<Program> = std::iter::once(target).chain(other_programs).collect();
    let samples = programs.iter().map(|program| program.samples).sum();
    StackSample { programs, samples, duration: LONG, limitations: Vec::new() }
}

#[test]
fn one_clear_function_stands_alone_and_else_the_three_largest() {
    let running = [(ThreadState::Running, 2), (waits("futex"), 30), (waits("read"), 1)];
    let clear = made_up(program("knee worker", &running, &[("a", 388), ("b", 12)]), vec![]);
    let wanted = "97 % of 400 samples in a; 30 of 33 threads wait in futex, 1 waits in read";
    assert_eq!(clear.summary(), wanted);
    let few = [(ThreadState::Running, 16), (waits("futex"), 1)];
    let few = made_up(program("knee worker", &few, &[("a", 100)]), vec![]);
    assert_eq!(few.summary(), "100 % of 100 samples in a", "who waits for the others is left out");
    let functions = [("a", 160), ("b", 120), ("c", 60), ("d", 50), ("e", 10)];
    let several = made_up(program("knee worker", &[(ThreadState::Running, 1)], &functions), vec![]);
    assert_eq!(several.summary(), "40 % of 400 samples in a, 30 % in b, 15 % in c");
    let two = made_up(
        program("knee worker", &[(ThreadState::Running, 1)], &[("a", 55), ("b", 45)]),
        vec![],
    );
    assert_eq!(two.summary(), "55 % of 100 samples in a, 45 % in b");
}

#[test]
fn with_few_samples_the_waits_are_named() {
    let single = made_up(program("knee worker", &[(waits("futex"), 1)], &[("a", 2)]), vec![]);
    assert_eq!(single.summary(), "it waits in futex");
    let helper = Program { is_helper: true, ..program("knee park", &[(waits("read"), 1)], &[]) };
    let helped = made_up(program("knee worker", &[(waits("futex"), 1)], &[]), vec![helper]);
    assert_eq!(helped.summary(), "it waits in futex", "a helper that only serves is left out");
    assert!(helped.to_string().contains("\nknee park, "), "but in the detail: {helped}");
    let mut left = helped;
    left.programs.remove(0);
    assert_eq!(left.summary(), "knee park (waits in read)", "it is all there is");
    let starved = [(ThreadState::WaitingForCpu, 3), (ThreadState::Exited, 1)];
    let starved = made_up(program("knee worker", &starved, &[]), vec![]);
    assert_eq!(starved.summary(), "3 of 4 threads wait for a CPU, 1 has ended, unwaited for");
}

#[test]
fn a_build_is_summed_up_by_its_programs() {
    let make = program("make", &[(waits("wait4"), 1)], &[]);
    let compiler = program("cc1", &[(ThreadState::Running, 4)], &[("a", 300)]);
    let compiler = Program { processes: 4, ..compiler };
    let late =
        Program { processes_later: 2, processes: 0, ..program("as", &[], &[("main_loop", 20)]) };
    let worker = program("knee worker", &[(waits("poll"), 1)], &[]);
    let sample = made_up(worker, vec![compiler, late, make]);
    let wanted = "cc1 ×4 (running), as ×2 (just begun), make (waits in wait4)";
    assert_eq!(sample.summary(), wanted);
    let detail = sample.to_string();
    let lines: Vec<&str> = detail.lines().collect();
    assert_eq!(lines[0], "Looked at for 0.2 s: 6 processes, 6 threads, 320 samples.");
    assert_eq!(lines[1], "knee worker, 0 % of a CPU: waits in poll at syscall+0x16");
    assert_eq!(lines[2], "cc1 ×4, 4 threads, 150 % of a CPU: 4 run");
    assert_eq!(lines[3], "  of 300 samples 100 % in a+0x16");
}

#[test]
fn the_detail_is_bounded() {
    let name = "x".repeat(100);
    let functions = [(name.as_str(), 1); 5];
    let other_programs = vec![program(&name, &[(waits("read"), 1)], &functions); 200];
    let sample =
        made_up(program("knee worker", &[(waits("futex"), 1)], &functions), other_programs);
    let detail = sample.to_string();
    assert!(detail.len() < 3000, "{}", detail.len());
    assert!(detail.contains("more programs"), "{detail}");
}

#[test]
fn functions_say_what_is_known() {
    let say = |name: Option<&str>, module: Option<&str>| {
        let [name, module] = [name, module].map(|text| text.map(str::to_owned));
        let function = Function { name, module, offset: Some(0x16) };
        (function.to_string(), format!("{function:#}"))
    };
    let both = |short: &str, full: &str| (short.to_owned(), full.to_owned());
    assert_eq!(say(Some("a::b"), None), both("a::b", "a::b+0x16"));
    let library = both("memcpy (libc.so.6)", "memcpy+0x16 (libc.so.6)");
    assert_eq!(say(Some("memcpy"), Some("libc.so.6")), library);
    assert_eq!(
        say(None, Some("cc1")),
        both("cc1 (no symbol)", "cc1 (no symbol, most often at +0x16)")
    );
}
