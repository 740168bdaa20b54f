//! The CPUs: whether their speed is steady, and what each system call pays.

use super::{ALL, Check, Diagnosis, Group, Machine, Remedy, Setting, Unknown};
use engine::cpu_quotas;
use model::{CPU_QUOTA, NO_LIMIT, QUOTA_REMEDY, Throttling, fact_text};
use printable::{count, quantity};
use sys::cpus::in_list;

/// The family.
pub static GROUP: Group = Group {
    name: "CPU",
    distorts_times: true,
    checks: &[
        Check {
            name: "governor",
            looks_at: "what chooses the CPUs' frequency (cpufreq)",
            why: "a frequency that follows the load makes short work look slow: the first points most",
            workloads: ALL,
            fix_risk: None,
            look: governor,
        },
        Check {
            name: "turbo",
            looks_at: "whether CPUs go beyond their rated frequency (turbo, boost)",
            why: "how far they go depends on heat and on what else runs, so rounds differ",
            workloads: ALL,
            fix_risk: None,
            look: turbo,
        },
        Check {
            name: "smt",
            looks_at: "whether CPUs share a core (SMT)",
            why: "what runs on the other half of a core takes its caches and its time",
            workloads: ALL,
            fix_risk: Some("it takes half of the CPUs from everything that runs"),
            look: smt,
        },
        Check {
            name: "cpu-quota",
            looks_at: "the CPU time that control groups allow (cpu.max, cpu.cfs_quota_us)",
            why: "a thread that has used it up stops until the next period, and figures contain that: \
                  work that grows seems to grow faster",
            workloads: ALL,
            fix_risk: None,
            look: quota,
        },
        Check {
            name: "cpus",
            looks_at: "the CPUs that this process may use (a cpuset, taskset)",
            why: "fewer than the machine has are as good as a smaller machine",
            workloads: ALL,
            fix_risk: None,
            look: allowed,
        },
        Check {
            name: "mitigations",
            looks_at: "what the kernel does against faults of the CPU",
            why: "each system call pays for them: compare machines only where they are the same",
            workloads: ALL,
            fix_risk: None,
            look: mitigations,
        },
        Check {
            name: "hypervisor",
            looks_at: "whether this is a virtual machine",
            why: "page faults and waking up cost more there, and a neighbour may take the CPU",
            workloads: ALL,
            fix_risk: None,
            look: hypervisor,
        },
        Check {
            name: "clock-source",
            looks_at: "the clock that the kernel reads",
            why: "any but the TSC costs many times as much to read, which shows where each call is \
                  timed",
            workloads: ALL,
            fix_risk: Some("the kernel chose another clock, perhaps because the TSC is not steady"),
            look: clock_source,
        },
    ],
};

const CPUFREQ: &str = "/sys/devices/system/cpu/cpufreq";

fn governor(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let names = machine.names(CPUFREQ);
    let policies: Vec<String> = names
        .iter()
        .filter(|name| name.starts_with("policy"))
        .map(|name| format!("{CPUFREQ}/{name}"))
        .filter(|directory| machine.has(&format!("{directory}/scaling_governor")))
        .collect();
    if policies.is_empty() {
        let why = "the kernel controls no frequency here: firmware or a hypervisor does";
        return Err(Unknown(why.into()));
    }
    let mut governors = Vec::new();
    let mut settings = Vec::new();
    for directory in policies {
        let file = format!("{directory}/scaling_governor");
        let now = machine.read(&file)?;
        if now != "performance" {
            governors.push(now);
            settings.push(Setting { file, value: "performance".into() });
        }
    }
    governors.sort();
    governors.dedup();
    if governors.is_empty() {
        return Ok(Diagnosis::ok("performance"));
    }
    let can = settings.iter().all(|setting| {
        let list = setting.file.replace("scaling_governor", "scaling_available_governors");
        machine.read(&list).is_ok_and(|list| list.split_whitespace().any(|g| g == "performance"))
    });
    let remedy = if can {
        Remedy::Settings(settings)
    } else {
        Remedy::command(format!("{}modprobe cpufreq_performance", machine.sudo()))
    };
    Ok(Diagnosis::warn(governors.join(", "), "the frequency follows the load", remedy))
}

fn turbo(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let switches = [
        ("/sys/devices/system/cpu/intel_pstate/no_turbo", "0", "1"),
        ("/sys/devices/system/cpu/cpufreq/boost", "1", "0"),
    ];
    let Some((file, on, off)) = switches.into_iter().find(|(file, ..)| machine.has(file)) else {
        let why = "nothing here shows it: firmware or a hypervisor decides";
        return Err(Unknown(why.into()));
    };
    if machine.read(file)? == on {
        return Ok(Diagnosis::warn(
            "on",
            "the frequency follows the heat",
            Remedy::setting(file, off),
        ));
    }
    Ok(Diagnosis::ok("off"))
}

fn smt(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let file = "/sys/devices/system/cpu/smt/control";
    match machine.read(file)?.as_str() {
        "on" => Ok(Diagnosis::warn("on", "CPUs share cores", Remedy::setting(file, "off"))),
        "off" | "forceoff" => Ok(Diagnosis::ok("off")),
        "notsupported" | "notimplemented" => Ok(Diagnosis::ok("none")),
        text => Err(Unknown(format!("{file} holds `{text}`, which is not known"))),
    }
}

fn quota(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let hidden = || Unknown("the control groups of this process can't be seen".into());
    let quotas = cpu_quotas(&machine.path("/")).ok_or_else(hidden)?;
    let Some(quota) = quotas.first() else { return Ok(Diagnosis::ok(NO_LIMIT)) };
    let stopped = quotas.iter().filter_map(|quota| quota.throttling);
    let stopped = stopped.max_by_key(|throttling| throttling.throttled_periods);
    let stopped = match stopped {
        Some(Throttling { periods, throttled_periods, .. }) => format!(
            "it was used up in {} of {} so far",
            count(throttled_periods),
            quantity(periods, "period")
        ),
        None => "how often it was used up is not known".to_owned(),
    };
    let cpus = fact_text(CPU_QUOTA, &quota.cpus().into());
    let period_ms = quota.period_us as f64 / 1e3;
    let value = format!("{cpus} (periods of {period_ms} ms)");
    Ok(Diagnosis::warn(value, stopped, Remedy::advice(QUOTA_REMEDY)))
}

fn allowed(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let hidden = || Unknown("/proc/self/status does not say which CPUs are allowed".into());
    let status = machine.read("/proc/self/status")?;
    let list = sys::proc::field(&status, "Cpus_allowed_list:").ok_or_else(hidden)?;
    let online = machine.read("/sys/devices/system/cpu/online")?;
    let counts = [list, online.as_str()].map(|list| in_list(list).map(|cpus| cpus.len()));
    let [Some(own), Some(all)] = counts else { return Err(hidden()) };
    Ok(Diagnosis::ok(if own < all {
        format!("{own} of {all}: {list}")
    } else {
        format!("all {all}")
    }))
}

/// What costs time in each system call, by the words that the kernel has for it.
const COSTLY: &[(&str, &str)] = &[
    ("PTI", "page-table isolation"),
    ("Clear CPU buffers", "cleared CPU buffers"),
    ("Retpolines", "retpolines"),
    ("untrained return thunk", "untrained returns"),
    ("Safe RET", "safe returns"),
    ("IBRS", "IBRS"),
    ("IBPB", "IBPB"),
];

fn mitigations(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let directory = "/sys/devices/system/cpu/vulnerabilities";
    let faults = machine.names(directory);
    if faults.is_empty() {
        return Err(Unknown(format!("there is nothing in {directory}")));
    }
    let mut paid: Vec<&str> = Vec::new();
    for fault in &faults {
        let text = machine.read(&format!("{directory}/{fault}"))?;
        for &(word, name) in COSTLY {
            // What comes first is what is done; `; IBPB: disabled` behind it is not.
            let does = text.split([';', ',']).map(str::trim).any(|part| {
                let part = part.trim_start_matches("Mitigation: ");
                part.trim_start_matches("Vulnerable: ").starts_with(word)
                    && !part.contains("disabled")
                    && !part.contains("not affected")
            });
            if does && !paid.contains(&name) {
                paid.push(name);
            }
        }
    }
    if paid.is_empty() {
        return Ok(Diagnosis::ok("none that each system call pays for"));
    }
    let remedy = Remedy::advice("boot with mitigations=off, where every program is trusted");
    Ok(Diagnosis::warn(paid.join(", "), "", remedy))
}

fn hypervisor(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let info = machine.read("/proc/cpuinfo")?;
    match sys::proc::has_cpu_flag(&info, "hypervisor") {
        Some(false) => Ok(Diagnosis::ok("no")),
        Some(true) => {
            let vendor = machine.read("/sys/class/dmi/id/sys_vendor");
            let vendor =
                vendor.map_or_else(|_| "yes".to_owned(), |vendor| format!("yes, {vendor}"));
            Ok(Diagnosis::warn(
                vendor,
                "measure on the bare machine what is to be compared",
                Remedy::None,
            ))
        }
        None => Err(Unknown("/proc/cpuinfo has no flags that would say so".into())),
    }
}

/// Clocks that a program reads without a system call: those of x86 and of arm64.
const FAST_CLOCKS: [&str; 2] = ["tsc", "arch_sys_counter"];

fn clock_source(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let directory = "/sys/devices/system/clocksource/clocksource0";
    let file = format!("{directory}/current_clocksource");
    let now = machine.read(&file)?;
    if FAST_CLOCKS.contains(&now.as_str()) {
        return Ok(Diagnosis::ok(now));
    }
    let available = machine.read(&format!("{directory}/available_clocksource"))?;
    let remedy = if available.split_whitespace().any(|source| source == "tsc") {
        Remedy::setting(file, "tsc")
    } else {
        Remedy::advice("boot with clocksource=tsc, where the TSC can be trusted")
    };
    Ok(Diagnosis::warn(now, "reading it is slow", remedy))
}

#[cfg(test)]
mod tests {
    use crate::State;
    use crate::fake::Fake;
    use crate::setting::write;

    #[test]
    fn a_cpu_quota_is_named_with_what_it_stopped() {
        let mount = "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw";
        let fake = Fake::new().with("/proc/self/mountinfo", mount);
        assert_eq!(fake.finds("cpu-quota").0, State::Unknown);
        fake.set("/proc/self/cgroup", "0::/job");
        fake.set("/sys/fs/cgroup/job/cpu.max", "max 100000");
        assert_eq!(fake.finds("cpu-quota").1, "none: ");
        fake.set("/sys/fs/cgroup/job/cpu.max", "20000 100000");
        let stat = "nr_periods 1200\nnr_throttled 1\nthrottled_usec 5";
        fake.set("/sys/fs/cgroup/job/cpu.stat", stat);
        let (state, text, remedy) = fake.finds("cpu-quota");
        let wanted = "0.2 CPUs (periods of 100 ms): it was used up in 1 of 1,200 periods so far";
        assert_eq!((state, text.as_str()), (State::Warn, wanted));
        assert!(remedy.contains("CPUQuota="), "{remedy}");
    }

    #[test]
    fn a_cpuset_is_named() {
        let fake = Fake::new().with("/proc/self/status", "Name: knee\nCpus_allowed_list:\t2-3\n");
        fake.set("/sys/devices/system/cpu/online", "0-7\n");
        assert!(fake.finds("cpus").1.starts_with("2 of 8: 2-3"));
        fake.set("/sys/devices/system/cpu/online", "2-3\n");
        assert!(fake.finds("cpus").1.starts_with("all 2"));
    }

    fn policies(governors: &[&str]) -> Fake {
        let fake = Fake::new();
        for (number, governor) in governors.iter().enumerate() {
            let directory = format!("/sys/devices/system/cpu/cpufreq/policy{number}");
            fake.set(&format!("{directory}/scaling_governor"), governor);
            fake.set(&format!("{directory}/scaling_available_governors"), "performance powersave");
        }
        fake
    }

    #[test]
    fn every_policy_has_to_perform() {
        assert_eq!(policies(&["performance", "performance"]).finds("governor").0, State::Ok);
        let fake = policies(&["performance", "powersave", "schedutil"]);
        let (state, output, command) = fake.finds("governor");
        assert!(state == State::Warn && output.starts_with("powersave, schedutil"), "{output}");
        let wanted = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor";
        assert_eq!(command, format!("echo performance | tee {wanted}"));
        fake.set(
            "/sys/devices/system/cpu/cpufreq/policy1/scaling_available_governors",
            "powersave",
        );
        assert_eq!(fake.finds("governor").2, "modprobe cpufreq_performance");
    }

    #[test]
    fn turbo_is_found_by_either_switch() {
        let intel = "/sys/devices/system/cpu/intel_pstate/no_turbo";
        let amd = "/sys/devices/system/cpu/cpufreq/boost";
        for (file, on, off) in [(intel, "0", "1"), (amd, "1", "0")] {
            let fake = Fake::new().with(file, on);
            let (state, _, command) = fake.finds("turbo");
            assert_eq!(state, State::Warn);
            assert_eq!(command, format!("echo {off} | tee {file}"));
            write(&fake.machine(), file, off).unwrap();
            assert_eq!(fake.finds("turbo").0, State::Ok);
        }
    }

    #[test]
    fn cpus_that_share_a_core_are_found() {
        let file = "/sys/devices/system/cpu/smt/control";
        let fake = Fake::new().with(file, "on");
        let (state, _, command) = fake.finds("smt");
        assert_eq!((state, command), (State::Warn, format!("echo off | tee {file}")));
        for (text, wanted) in
            [("off", State::Ok), ("notsupported", State::Ok), ("42", State::Unknown)]
        {
            fake.set(file, text);
            assert_eq!(fake.finds("smt").0, wanted, "{text}");
        }
    }

    #[test]
    fn only_mitigations_that_are_on_and_cost_are_named() {
        let directory = "/sys/devices/system/cpu/vulnerabilities";
        let fake = Fake::new()
            .with(&format!("{directory}/meltdown"), "Not affected")
            .with(
                &format!("{directory}/spectre_v2"),
                "Mitigation: Enhanced / Automatic IBRS; IBPB: disabled; PBRSB-eIBRS: Not affected",
            )
            .with(&format!("{directory}/spectre_v1"), "Mitigation: usercopy/swapgs barriers");
        assert_eq!(fake.finds("mitigations").0, State::Ok);
        fake.set(&format!("{directory}/meltdown"), "Mitigation: PTI");
        fake.set(
            &format!("{directory}/spec_rstack_overflow"),
            "Vulnerable: Safe RET, no microcode",
        );
        let (state, output, _) = fake.finds("mitigations");
        assert_eq!(state, State::Warn);
        assert!(output.starts_with("page-table isolation, safe returns"), "{output}");
    }

    #[test]
    fn a_virtual_machine_is_recognised_by_the_cpus_flags() {
        let fake = Fake::new().with("/proc/cpuinfo", "model name : X\nflags : fpu sse\n");
        assert_eq!(fake.finds("hypervisor").0, State::Ok);
        fake.set("/proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
        fake.set("/sys/class/dmi/id/sys_vendor", "QEMU\n");
        let (state, output, command) = fake.finds("hypervisor");
        assert!(state == State::Warn && output.starts_with("yes, QEMU"), "{output}");
        assert_eq!(command, "", "nothing fixes it");
        fake.set("/proc/cpuinfo", "Features : fp asimd\n");
        assert_eq!(fake.finds("hypervisor").0, State::Unknown);
    }

    #[test]
    fn the_tsc_is_taken_where_it_can_be_had() {
        let directory = "/sys/devices/system/clocksource/clocksource0";
        let fake = Fake::new()
            .with(&format!("{directory}/current_clocksource"), "tsc\n")
            .with(&format!("{directory}/available_clocksource"), "tsc hpet acpi_pm\n");
        assert_eq!(fake.finds("clock-source").0, State::Ok);
        fake.set(&format!("{directory}/current_clocksource"), "arch_sys_counter\n");
        assert_eq!(fake.finds("clock-source").0, State::Ok, "that of arm64");
        fake.set(&format!("{directory}/current_clocksource"), "hpet\n");
        let (state, _, command) = fake.finds("clock-source");
        assert_eq!(state, State::Warn);
        assert_eq!(command, format!("echo tsc | tee {directory}/current_clocksource"));
        fake.set(&format!("{directory}/available_clocksource"), "hpet acpi_pm\n");
        assert!(fake.finds("clock-source").2.starts_with("boot with"));
    }
}
