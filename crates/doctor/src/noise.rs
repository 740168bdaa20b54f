//! What else uses the machine.

use super::machine::Watched;
use super::{ALL, Check, Diagnosis, Group, Machine, Remedy, Unknown};
use printable::quantity;
use sys::proc::{Stat, TICK_NS};

/// The family.
pub static GROUP: Group = Group {
    name: "Noise",
    distorts_times: true,
    checks: &[
        Check {
            name: "steal",
            looks_at: "CPU time that a hypervisor takes away, over a short look",
            why: "a call that it interrupts looks slow, and nothing else shows why",
            workloads: ALL,
            fix_risk: None,
            look: steal,
        },
        Check {
            name: "load",
            looks_at: "processes that run or wait for a CPU (load)",
            why: "knee waits for the CPU with them, and its intervals widen",
            workloads: ALL,
            fix_risk: None,
            look: load,
        },
        Check {
            name: "busiest",
            looks_at: "the processes that use most CPU, over a short look",
            why: "they take CPU time and caches from what is measured",
            workloads: ALL,
            fix_risk: None,
            look: busiest,
        },
    ],
};

/// Processes that are named at most.
const NAMED_MAX: usize = 3;
/// A smaller share of one CPU is not worth a name.
const SHARE_MIN: f64 = 0.10;

fn steal(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let Watched { before, after, .. } = &machine.watched;
    let (Some(before), Some(after)) = (before.cpus, after.cpus) else {
        return Err(Unknown("/proc/stat can't be read, or shows no steal".into()));
    };
    let total = after.total.saturating_sub(before.total);
    if total == 0 {
        return Err(Unknown("no time passed on the CPUs' counters meanwhile".into()));
    }
    let percent = 100.0 * after.steal.saturating_sub(before.steal) as f64 / total as f64;
    let value = format!("{percent:.0} %");
    let remedy = Remedy::advice("measure on a host that is not shared, or when it is quiet");
    Ok(match percent {
        much if much > 10.0 => Diagnosis::bad(value, "neighbours are busy", remedy),
        some if some > 1.0 => Diagnosis::warn(value, "neighbours are busy", remedy),
        _ => Diagnosis::ok(value),
    })
}

fn load(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let text = machine.read("/proc/loadavg")?;
    let first = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    let load =
        first.ok_or_else(|| Unknown(format!("/proc/loadavg holds no load, but `{text}`")))?;
    let cpus = machine.cpus()?;
    let value = format!("{load:.2} on {}, over the last minute", quantity(cpus, "CPU"));
    let remedy = Remedy::advice("end what else runs, or measure again later");
    Ok(if load > 2.0 * cpus as f64 {
        Diagnosis::bad(value, "there is more to do than the CPUs can", remedy)
    } else if load > 0.5 * cpus as f64 {
        Diagnosis::warn(value, "the machine is busy", remedy)
    } else {
        Diagnosis::ok(value)
    })
}

/// A process, and what it used of one CPU.
struct Busy<'a> {
    pid: u32,
    name: &'a str,
    share: f64,
}

fn busiest(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let Watched { before, after, took } = &machine.watched;
    if after.processes.is_empty() || took.is_zero() {
        return Err(Unknown("no process can be seen in /proc".into()));
    }
    let own = std::process::id();
    let mut busy: Vec<Busy> = after
        .processes
        .iter()
        .filter(|(pid, _)| **pid != own)
        .map(|(&pid, Stat { name, cpu_ticks, .. })| {
            // One that was not there before has used all its time since.
            let then = before.processes.get(&pid).map_or(0, |stat| stat.cpu_ticks);
            let used_ns = cpu_ticks.saturating_sub(then) * TICK_NS;
            Busy { pid, name, share: used_ns as f64 / took.as_nanos() as f64 }
        })
        .filter(|busy| busy.share >= SHARE_MIN)
        .collect();
    busy.sort_by(|a, b| b.share.total_cmp(&a.share));
    busy.truncate(NAMED_MAX);
    let Some(first) = busy.first() else {
        // Where the first process of all can't be seen, nor can others' be.
        return if after.processes.contains_key(&1) {
            Ok(Diagnosis::ok("none above 10 % of a CPU"))
        } else {
            let remedy = if machine.is_root { "" } else { "; sudo shows them" };
            Err(Unknown(format!("others' processes are hidden from you (hidepid){remedy}")))
        };
    };
    let named: Vec<String> = busy
        .iter()
        .map(|Busy { pid, name, share }| format!("{name} {:.0} % (pid {pid})", 100.0 * share))
        .collect();
    let remedy = Remedy::advice(format!(
        "kill {}, if it may end; else keep off its CPU: knee run --pin CPU",
        first.pid
    ));
    Ok(Diagnosis::warn(named.join(", "), "", remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use crate::fake::{Fake, finds};
    use crate::machine::Ticks;
    use std::time::Duration;

    fn stat(busy: u64, idle: u64, steal: u64) -> String {
        format!("cpu {busy} 0 0 {idle} 0 0 0 {steal} 0 0\ncpu0 1 2 3\ncpu1 1 2 3\n")
    }

    /// What a machine shows that had `before` and then `after` in its files a second later.
    fn watched(before: &[(String, String)], after: &[(String, String)]) -> Machine {
        let fake = Fake::new();
        let proc = fake.directory.path().join("proc");
        let mut moments = Vec::new();
        for files in [before, after] {
            for (file, text) in files {
                fake.set(file, text);
            }
            moments.push(Ticks::now(&proc));
        }
        let mut machine = fake.machine();
        let [before, after] = moments.try_into().unwrap();
        machine.watched = Watched { before, after, took: Duration::from_secs(1) };
        machine
    }

    #[test]
    fn steal_is_the_share_of_the_look() {
        for (stolen, wanted, output) in
            [(1, State::Ok, "1 %"), (5, State::Warn, "5 %"), (30, State::Bad, "30 %")]
        {
            let file = |text: String| [("/proc/stat".to_owned(), text)];
            let (before, after) = (stat(100, 900, 50), stat(100, 1_000 - stolen, 50 + stolen));
            let machine = watched(&file(before), &file(after));
            let (state, value, _) = finds(&machine, "steal");
            assert_eq!(state, wanted, "{value}");
            assert!(value.starts_with(output), "{value}");
        }
    }

    #[test]
    fn load_is_compared_with_the_number_of_cpus() {
        let fake = Fake::new().with("/proc/stat", &stat(0, 0, 0));
        for (load, wanted) in [("0.90", State::Ok), ("1.50", State::Warn), ("4.10", State::Bad)] {
            fake.set("/proc/loadavg", &format!("{load} 0 0 1/200 300\n"));
            let (state, output, _) = fake.finds("load");
            assert_eq!(state, wanted, "{output}");
            assert!(output.contains("on 2 CPUs"), "{output}");
        }
    }

    #[test]
    fn the_three_busiest_are_named_with_their_share() {
        let process = |pid: u32, name: &str, ticks: u64| {
            let file = format!("/proc/{pid}/stat");
            (file, format!("{pid} ({name}) S 1 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1\n"))
        };
        let rows: [(u32, &str, u64); 5] =
            [(11, "cc1", 97), (12, "a (b) c", 30), (13, "x", 9), (14, "y", 20), (15, "z", 15)];
        let files = |used: bool| -> Vec<(String, String)> {
            let ticks = |used_ticks: u64| 1_000 + if used { used_ticks } else { 0 };
            rows.iter().map(|(pid, name, used)| process(*pid, name, ticks(*used))).collect()
        };
        let (before, after) = (files(false), files(true));
        let machine = watched(&before, &after);
        let (state, output, command) = finds(&machine, "busiest");
        assert_eq!(state, State::Warn);
        assert!(
            output.starts_with("cc1 97 % (pid 11), a (b) c 30 % (pid 12), y 20 % (pid 14)"),
            "{output}"
        );
        assert!(!output.contains('z') && command.starts_with("kill 11,"), "{output} {command}");
        let (state, output, _) = finds(&watched(&before, &before), "busiest");
        assert!(state == State::Unknown && output.contains("hidden"), "{output}");
        let with_first = [before, vec![process(1, "init", 5)]].concat();
        let (state, output, _) = finds(&watched(&with_first, &with_first), "busiest");
        assert_eq!(state, State::Ok, "{output}");
    }
}
