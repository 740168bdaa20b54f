//! Profiles of programs of known behaviour.

use super::*;
use crate::SampledWait;
use crate::tests::{PATIENCE, Started, start, start_child};
use rustix::io::Errno;
use std::io::{BufRead, Read};
use std::process::Command;
use std::thread;
use sys::perf::{Sampling, Target};

const FREQUENCY_HZ: u64 = 997;

/// Opens clocks on threads alone, as where the system allows no more.
fn only_descent(target: Target, sampling: Sampling) -> std::io::Result<Event> {
    match target {
        Target::Cpu(_) => Err(Errno::ACCESS.into()),
        target @ Target::Descent { .. } => Event::clock(target, sampling),
    }
}

/// And in user mode alone.
fn only_user(target: Target, sampling: Sampling) -> std::io::Result<Event> {
    match sampling.modes {
        Modes::All => Err(Errno::ACCESS.into()),
        Modes::User => only_descent(target, sampling),
    }
}

/// Whether profiles can be taken here; says so if not.
fn is_refused() -> bool {
    let refusal = Profiler::check().err();
    if let Some(refusal) = &refusal {
        eprintln!("SKIPPED: {refusal}");
    }
    refusal.is_some()
}

/// Takes until there are so many samples, and names them.
fn profile(mut profiler: Profiler, samples: usize) -> SampledStacks {
    let start = Instant::now();
    while profiler.processes.samples.len() < samples {
        assert!(start.elapsed() < PATIENCE, "{} samples", profiler.processes.samples.len());
        thread::sleep(Duration::from_millis(20));
        profiler.take();
    }
    profiler.finish(&|_, _| true)
}

fn functions(profile: &SampledStacks, sample: &TimedSample) -> Vec<String> {
    let frame = |index: &u32| profile.frames[*index as usize].function.clone();
    sample.stack.iter().map(frame).collect()
}

fn share_of(profile: &SampledStacks, is: impl Fn(&TimedSample) -> bool) -> f64 {
    let count = profile.samples.iter().filter(|sample| is(sample)).count();
    count as f64 / profile.samples.len() as f64
}

#[test]
fn threads_that_run_already_are_sampled_however_much_is_allowed() {
    if is_refused() {
        return;
    }
    let ways: [(Open<'_>, bool); 3] =
        [(&Event::clock, true), (&only_descent, true), (&only_user, false)];
    for (open, with_kernel) in ways {
        let (child, _out) = start_child();
        let before_ns = Clock::Monotonic.now();
        let profiler = Profiler::start_with(child.pid(), FREQUENCY_HZ, open).unwrap();
        let has_whole_stacks = profiler.clocks.setting.sampling.stack_bytes == 8192;
        let profile = profile(profiler, 100);
        let after_ns = Clock::Monotonic.now();
        if cfg!(target_arch = "x86_64") && has_whole_stacks {
            // The C library has no frame pointers.
            let is_whole = share_of(&profile, |sample| {
                let functions = functions(&profile, sample);
                ["clone3", "clone", "_start"].iter().any(|root| functions[1].ends_with(root))
            });
            assert!(is_whole > 0.9, "{is_whole} of {profile:?}");
        }
        let spins = share_of(&profile, |sample| {
            let functions = functions(&profile, sample);
            functions.iter().any(|function| function == "stacks::tests::spin_in_a_test")
        });
        assert!(spins > 0.5, "{spins} of {profile:?}");
        let spin = |(index, _): &&(u32, _)| {
            profile.frames[*index as usize].function == "stacks::tests::spin_in_a_test"
        };
        let (_, code) = profile.code.iter().find(spin).expect("its code");
        assert!(code.as_ref().is_ok_and(|code| !code.bytes.is_empty()), "{code:?}");
        for sample in &profile.samples {
            assert!((before_ns..after_ns).contains(&sample.time_ns));
            assert_eq!(profile.frames[sample.stack[0] as usize].kind, FrameKind::Process);
            assert!(sample.stack.len() > 1);
        }
        let is_kernel_hidden =
            profile.limits.iter().any(|limit| matches!(limit, ProfileLimit::KernelHidden { .. }));
        let has_kernel = profile.frames.iter().any(|frame| frame.kind.is_kernel());
        assert!(with_kernel || (is_kernel_hidden && !has_kernel), "{:?}", profile.limits);
        assert!((profile.sample_ns - 1e9 / FREQUENCY_HZ as f64).abs() < 1.0);
    }
}

#[test]
fn what_a_process_starts_is_named_when_it_has_gone_and_its_file_too() {
    if is_refused() {
        return;
    }
    let directory = std::env::temp_dir().join(format!("knee-profiled-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("copied");
    // It works for itself and in the kernel, ends, and its file is removed, while the shell goes on.
    let loops = "i=0; while [ $i -lt 30000 ]; do : < /dev/null; i=$((i+1)); done";
    let script = format!("read line; \"$0\" -c '{loops}'; rm \"$0\"; echo; read line");
    for open in [&Event::clock as Open<'_>, &only_descent] {
        std::fs::copy("/bin/sh", &file).unwrap();
        let (mut child, mut out) = start(Command::new("sh").args(["-c", &script]).arg(&file));
        let mut profiler = Profiler::start_with(child.pid(), FREQUENCY_HZ, open).unwrap();
        child.go();
        let done = thread::spawn(move || out.read_line(&mut String::new()));
        while !done.is_finished() {
            thread::sleep(Duration::from_millis(20));
            profiler.take();
        }
        let has_kernel = profiler.clocks.setting.sampling.modes == Modes::All;
        let profile = profiler.finish(&|_, _| true);
        let is_copied = |sample: &TimedSample| functions(&profile, sample)[0] == "copied";
        assert!(share_of(&profile, is_copied) > 0.5, "{profile:?}");
        let opens = |sample: &TimedSample| {
            let functions = functions(&profile, sample);
            functions.iter().any(|function| function.contains("open"))
        };
        assert!(share_of(&profile, opens) > 0.0 || !has_kernel, "{profile:?}");
        let is_program = |frame: &Frame| frame.kind == FrameKind::User && frame.module == "copied";
        assert!(profile.frames.iter().any(is_program), "{:?}", profile.frames);
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn only_the_wanted_samples_are_named_and_other_processes_are_left_out() {
    if is_refused() {
        return;
    }
    let (_stranger, _its_out) = start_child();
    let (child, mut out) = start(Command::new("sh").args(["-c", "read line; echo"]));
    let profiler = Profiler::start(child.pid(), FREQUENCY_HZ).unwrap();
    thread::sleep(Duration::from_millis(50));
    drop(child);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    let profile = profiler.finish(&|_, _| true);
    assert!(profile.samples.len() < 20, "a shell that waits: {profile:?}");
    let (child, _out) = start_child();
    let mut profiler = Profiler::start(child.pid(), FREQUENCY_HZ).unwrap();
    while profiler.processes.samples.len() < 10 {
        profiler.take();
    }
    let none = profiler.finish(&|_, _| false);
    assert!(none.samples.is_empty() && none.waits.is_empty() && none.frames.is_empty(), "{none:?}");
    assert!(none.unwanted >= 10);
}

#[test]
fn a_thread_has_clocks_once_and_those_without_are_counted() {
    if is_refused() {
        return;
    }
    let (mut shell, mut out) =
        start(Command::new("sh").args(["-c", "read line; sleep 1000 & echo; wait"]));
    let mut profiler = Profiler::start_with(shell.pid(), FREQUENCY_HZ, &only_descent).unwrap();
    shell.go();
    out.read_line(&mut String::new()).unwrap();
    let root = shell.pid().as_raw_pid().cast_unsigned();
    let threads = threads_below(root);
    assert_eq!(threads.len(), 2, "{threads:?}");
    profiler.attach(shell.pid());
    assert!(
        threads.iter().all(|(_, tid)| profiler.clocks.has(*tid) == (*tid == root)),
        "inherited"
    );
    // Also when the record of its start was taken long ago.
    thread::sleep(Duration::from_millis(10));
    profiler.take();
    profiler.attach(shell.pid());
    assert!(
        threads.iter().all(|(_, tid)| profiler.clocks.has(*tid) == (*tid == root)),
        "inherited"
    );
    let only_waits = |limit: &ProfileLimit| matches!(limit, ProfileLimit::WaitsSampled { .. });
    assert!(profiler.hidden.iter().all(only_waits), "{:?}", profiler.hidden);

    let (child, _its_out) = start_child();
    let of_child = threads_below(child.pid().as_raw_pid().cast_unsigned()).len();
    assert!(of_child > 1);
    profiler.clocks.threads_max = 2;
    profiler.attach(child.pid());
    let limits = profiler.finish(&|_, _| true).limits;
    let wanted = |limit: &ProfileLimit| {
        matches!(limit, ProfileLimit::ProcessHidden { program, .. }
            if program.starts_with(&format!("{} thread", of_child - 1)))
    };
    assert!(limits.iter().any(wanted), "{limits:?}");
    for (pid, _) in threads {
        let pid = Pid::from_raw(pid.cast_signed()).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

#[test]
fn waits_are_sampled_by_states_where_switches_are_hidden() {
    if is_refused() {
        return;
    }
    let (mut shell, mut out) = start(Command::new("sh").args(["-c", "read line; echo; read line"]));
    let mut profiler = Profiler::start_with(shell.pid(), FREQUENCY_HZ, &only_descent).unwrap();
    thread::sleep(Duration::from_millis(100));
    shell.go();
    out.read_line(&mut String::new()).unwrap();
    profiler.take();
    let profile = profiler.finish(&|_, _| true);
    let frames = |wait: &SampledWait| -> Vec<&Frame> {
        wait.stack.iter().map(|&index| &profile.frames[index as usize]).collect()
    };
    let waits = profile.waits.iter().map(|wait| (wait, model::Wait::read(&frames(wait)).unwrap()));
    let of_pipe = waits.filter(|(_, read)| read.kind == model::WaitKind::Pipe);
    // The shell has symbols or not, but its read has.
    let is_whole = |wait: &SampledWait| frames(wait).iter().any(|f| f.function.contains("read"));
    let counts: Vec<u64> =
        of_pipe.filter(|(wait, _)| is_whole(wait)).map(|(w, _)| w.count).collect();
    assert!(counts.iter().any(|&count| count > 3), "{:?} {:?}", profile.waits, profile.frames);
}

#[test]
fn nothing_comes_after_the_stop_however_much_is_allowed() {
    if is_refused() {
        return;
    }
    for open in [&Event::clock as Open<'_>, &only_descent] {
        let (child, _out) = start_child();
        let mut profiler = Profiler::start_with(child.pid(), FREQUENCY_HZ, open).unwrap();
        while profiler.processes.samples.is_empty() {
            profiler.take();
        }
        profiler.stop();
        let stopped_ns = Clock::Monotonic.now();
        profiler.attach(child.pid());
        thread::sleep(Duration::from_millis(50));
        let samples = profiler.finish(&|_, _| true).samples;
        assert!(!samples.is_empty());
        assert!(samples.iter().all(|sample| sample.time_ns <= stopped_ns), "{samples:?}");
    }
}

#[test]
fn a_process_that_has_gone_is_refused_and_the_rest_is_still_sampled() {
    if is_refused() {
        return;
    }
    let mut gone = Command::new("true").spawn().unwrap();
    let pid = Pid::from_child(&gone);
    gone.wait().unwrap();
    let raw = pid.as_raw_pid().cast_unsigned();
    assert_eq!(Profiler::start(pid, FREQUENCY_HZ).err(), Some(ProfileError::NoProcess(raw)));
    let (child, _out) = start_child();
    for open in [&Event::clock as Open<'_>, &only_descent] {
        let own = Pid::from_child(&child.0);
        let (idle, _its_out): (Started, _) = start(Command::new("sleep").arg("1000"));
        let mut profiler = Profiler::start_with(idle.pid(), FREQUENCY_HZ, open).unwrap();
        assert_eq!(profiler.try_attach(pid), Err(ProfileError::NoProcess(raw)));
        profiler.attach(own);
        let profile = profile(profiler, 20);
        let is_attached =
            |sample: &TimedSample| functions(&profile, sample)[0].starts_with("stacks");
        assert!(share_of(&profile, is_attached) > 0.5, "{profile:?}");
    }
}
