//! What the kernel lets this user do at all.

use super::{Check, Diagnosis, Group, Machine, Remedy, Unknown};
use stacks::ProfileError;

/// The family.
pub static GROUP: Group = Group {
    name: "Permissions",
    distorts_times: false,
    checks: &[
        Check {
            name: "io_uring",
            looks_at: "whether io_uring works here (kernel.io_uring_disabled, a container's seccomp profile)",
            why: "without it io_uring-oneshot and io_uring-multishot are unavailable",
            workloads: &["poll", "pipetest"],
            fix_risk: Some("an administrator may have switched io_uring off for safety"),
            look: |machine| Ok(io_uring(machine)),
        },
        Check {
            name: "perf-events",
            looks_at: "who may trace with perf events (kernel.perf_event_paranoid)",
            why: "`knee advise --pid` counts a live process's waits with them",
            workloads: &[],
            fix_risk: Some("it would let every user trace every process"),
            look: perf_events,
        },
        Check {
            name: "profile",
            looks_at: "who may sample call stacks, and see the kernel's functions \
                       (kernel.perf_event_paranoid, kernel.kptr_restrict)",
            why: "`--profile` of `knee run` and `knee advise` says which functions take the time",
            workloads: &[],
            fix_risk: Some("it would show more of the kernel to every user"),
            look: profile,
        },
        Check {
            name: "tracepoints",
            looks_at: "whether the kernel's tracepoints can be read (tracefs)",
            why: "`knee advise --pid` finds a live process's waits with them",
            workloads: &[],
            fix_risk: None,
            look: |machine| Ok(tracepoints(machine)),
        },
    ],
};

fn io_uring(machine: &Machine) -> Diagnosis {
    let Some(refusal) = &machine.uring_refusal else { return Diagnosis::ok("yes") };
    let file = "/proc/sys/kernel/io_uring_disabled";
    // Kernels before 6.6 have no such switch, and a sandbox refuses whatever it says.
    let remedy = match machine.number(file) {
        Ok(1..) => Remedy::setting(file, 0),
        _ => Remedy::None,
    };
    Diagnosis::bad("no", refusal, remedy)
}

fn perf_events(machine: &Machine) -> Result<Diagnosis, Unknown> {
    if let Some(refusal @ (ProfileError::Sandboxed | ProfileError::NoPerfEvents)) =
        &machine.profile_refusal
    {
        return Ok(no_samples(refusal));
    }
    let file = "/proc/sys/kernel/perf_event_paranoid";
    let text = machine.read(file)?;
    let level: i64 =
        text.parse().map_err(|_| Unknown(format!("{file} holds no whole number, but `{text}`")))?;
    if machine.is_root || level < 0 {
        let who = if level < 0 { "all users" } else { "root, as you are" };
        return Ok(Diagnosis::ok(format!("{who} ({level})")));
    }
    Ok(Diagnosis::warn(format!("root ({level})"), "or run it with sudo", Remedy::setting(file, -1)))
}

fn no_samples(refusal: &ProfileError) -> Diagnosis {
    let remedy = refusal.remedy().map_or(Remedy::None, Remedy::advice);
    Diagnosis::warn("no", refusal.reason(), remedy)
}

/// Up to this level of `kernel.perf_event_paranoid`, users may sample what the kernel does for them.
const LEVEL_WITH_KERNEL_MAX: i64 = 1;

fn profile(machine: &Machine) -> Result<Diagnosis, Unknown> {
    if let Some(refusal) = &machine.profile_refusal {
        return Ok(no_samples(refusal));
    }
    let file = "/proc/sys/kernel/perf_event_paranoid";
    let level = machine.read(file)?;
    let level: i64 = level
        .parse()
        .map_err(|_| Unknown(format!("{file} holds no whole number, but `{level}`")))?;
    if !machine.is_root && level > LEVEL_WITH_KERNEL_MAX {
        let remedy = Remedy::setting(file, LEVEL_WITH_KERNEL_MAX);
        let message = "the kernel's part is hidden: run it with sudo, or";
        return Ok(Diagnosis::warn(format!("user code only ({level})"), message, remedy));
    }
    // 0: whoever may sample the kernel; 1: root; 2: none.
    let file = "/proc/sys/kernel/kptr_restrict";
    let visible_max = u64::from(machine.is_root);
    match machine.number(file)? {
        restricted if restricted <= visible_max => Ok(Diagnosis::ok("user code and kernel")),
        _ => {
            let remedy = Remedy::setting(file, visible_max);
            let message = "the kernel hides the addresses of its functions";
            Ok(Diagnosis::warn("user code; the kernel without names", message, remedy))
        }
    }
}

fn tracepoints(machine: &Machine) -> Diagnosis {
    match &machine.tracepoints_refusal {
        None => Diagnosis::ok("yes"),
        Some((why, remedy)) => Diagnosis::warn("no", why, Remedy::advice(remedy)),
    }
}

#[cfg(test)]
mod tests {
    use crate::State;
    use crate::fake::{Fake, finds};

    #[test]
    fn io_uring_is_judged_by_a_try() {
        let file = "/proc/sys/kernel/io_uring_disabled";
        let fake = Fake::new().with(file, "0");
        assert_eq!(fake.finds("io_uring").0, State::Ok);
        let mut machine = fake.machine();
        machine.uring_refusal = Some("a sandbox refuses it".into());
        let (state, output, command) = finds(&machine, "io_uring");
        assert_eq!((state, &*command), (State::Bad, ""), "no command opens a sandbox");
        assert!(output.contains("a sandbox refuses it"), "{output}");
        machine.is_root = false;
        fake.set(file, "2");
        let (_, _, command) = finds(&machine, "io_uring");
        assert_eq!(command, "sudo sysctl -w kernel.io_uring_disabled=0");
    }

    #[test]
    fn perf_events_are_for_root_or_for_all_users() {
        let file = "/proc/sys/kernel/perf_event_paranoid";
        let fake = Fake::new().with(file, "2");
        assert_eq!(fake.finds("perf-events").0, State::Ok);
        let mut machine = fake.machine();
        machine.is_root = false;
        let (state, _, command) = finds(&machine, "perf-events");
        assert_eq!(state, State::Warn);
        assert_eq!(command, "sudo sysctl -w kernel.perf_event_paranoid=-1");
        fake.set(file, "-1");
        assert_eq!(finds(&machine, "perf-events").0, State::Ok);
        let mut machine = fake.machine();
        machine.profile_refusal = Some(stacks::ProfileError::Sandboxed);
        let (state, output, command) = finds(&machine, "perf-events");
        assert!(state == State::Warn && output.contains("sandbox"), "{output}");
        assert!(command.contains("seccomp") && !command.contains("sudo"), "{command}");
    }

    #[test]
    fn stacks_are_sampled_with_the_kernel_without_it_or_not_at_all() {
        let level = "/proc/sys/kernel/perf_event_paranoid";
        let pointers = "/proc/sys/kernel/kptr_restrict";
        let fake = Fake::new().with(level, "2").with(pointers, "1");
        assert_eq!(fake.finds("profile").0, State::Ok, "for root");
        let mut machine = fake.machine();
        machine.is_root = false;
        let (state, output, command) = finds(&machine, "profile");
        assert_eq!(state, State::Warn);
        assert!(output.starts_with("user code only (2)"), "{output}");
        assert_eq!(command, "sudo sysctl -w kernel.perf_event_paranoid=1");
        fake.set(level, "1");
        let (state, _, command) = finds(&machine, "profile");
        assert_eq!((state, &*command), (State::Warn, "sudo sysctl -w kernel.kptr_restrict=0"));
        fake.set(pointers, "0");
        assert_eq!(finds(&machine, "profile").0, State::Ok);
        fake.set(pointers, "2");
        assert_eq!(fake.finds("profile").2, "sysctl -w kernel.kptr_restrict=1");
        machine.profile_refusal = Some(stacks::ProfileError::Sandboxed);
        let (state, output, command) = finds(&machine, "profile");
        assert!(state == State::Warn && output.contains("sandbox"), "{output}");
        assert!(command.contains("--cap-add PERFMON"), "{command}");
    }

    #[test]
    fn tracepoints_are_judged_by_a_try() {
        let fake = Fake::new();
        assert_eq!(fake.finds("tracepoints").0, State::Ok);
        let mut machine = fake.machine();
        machine.tracepoints_refusal = Some(("no tracefs".into(), "another kernel".into()));
        let (state, output, command) = finds(&machine, "tracepoints");
        assert!(state == State::Warn && output.contains("no tracefs"), "{output}");
        assert_eq!(command, "another kernel");
    }
}
