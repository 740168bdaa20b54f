//! What the facts of a host are for: one table of their keys, with the roles that each plays.
//!
//! Whoever asks *is this the same machine*, *may a run go on here*, *what may have caused a change* asks this
//! table. A new fact is one row.

use crate::{Fact, Host, fact_text};
use HostRole::{Cause, Constant, Fleeting, Hardware, Identity, Resume, Waiting};

/// What a fact of a host is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostRole {
    /// It says which machine it is, among equal ones.
    Identity,
    /// Runs are compared only where it is the same.
    Hardware,
    /// An interrupted run goes on only where it is the same.
    Resume,
    /// It should not change during a run.
    Constant,
    /// A change of it may explain a change of figures.
    Cause,
    /// It says how those wait that meet at a lock of the kernel.
    Waiting,
    /// It is never the same twice, and so no condition of measuring.
    Fleeting,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostFact {
    /// The key; one that ends in a dot stands for all keys that begin so.
    pub key: &'static str,
    /// What a sentence calls it; where it is empty, its key.
    pub label: &'static str,
    /// Its roles.
    pub roles: &'static [HostRole],
}

/// The key of the host's name: as the kernel knows it, or as `--host-name` gave it.
pub const HOST_NAME: &str = "host.name";
/// The key of a keyed hash of the machine's id, which is the same after each boot.
pub const HOST_ID: &str = "host.machine_id";
/// The key of what gave the host its name, where the kernel did not: the flag `--host-name`, or a launcher.
pub const HOST_NAMED_BY: &str = "host.named_by";
/// The key of a keyed hash of the id that the kernel draws at each boot.
pub const HOST_BOOT: &str = "host.boot";
/// The key of the container that it was measured in: `docker`. Absent outside of one.
pub const CONTAINER: &str = "container.kind";
/// The key of the CPUs that the control groups of its processes allow, of which the tightest counts, or [`NO_LIMIT`].
pub const CPU_QUOTA: &str = "cpu.quota_cpus";
/// The key of the time after which a CPU quota begins anew.
pub const CPU_QUOTA_PERIOD: &str = "cpu.quota.period_ms";
/// What to do about a CPU quota.
pub const QUOTA_REMEDY: &str =
    "measure without it (a container's --cpus or limits.cpu, a unit's CPUQuota=)";
/// The key of the memory that the control groups of its processes allow, or [`NO_LIMIT`].
pub const MEMORY_LIMIT: &str = "memory.limit_kib";
/// The value of a limit where there is none.
pub const NO_LIMIT: &str = "none";
/// The key of how nice its processes are to others: 0 is usual, 19 gives way to all.
pub const NICE: &str = "process.nice";

/// The key of how the kernel's spinlocks wait: `test-and-set`, `queued` or `paravirtual`.
pub const SPINLOCKS: &str = "kernel.spinlocks";

/// The CPUs of the machine that are online.
pub const CPUS_ONLINE: &str = "cpu.online";

/// The beginning of the keys of what the CPUs of a virtual machine had of its host's: `vm.cpu.0.time_s`.
pub const GUEST_CPU: &str = "vm.cpu.";

/// The key of what ran the instructions of a guest of `knee vm`: [`EMULATOR`], or `kvm`. Other machines have none.
pub const ACCELERATOR: &str = "vm.accelerator";
/// QEMU's word for emulation.
pub const EMULATOR: &str = "tcg";

/// The keys of what identifies the host of a guest: its boot, and its machine id. A container may have no machine id.
pub const GUEST_HOST_BOOT: &str = "vm.host.boot";
/// The key of the machine id of a guest's host.
const GUEST_HOST_ID: &str = "vm.host.machine_id";
/// The key of the [`CPU_QUOTA`] of a guest's host, which holds for the guest as well.
pub const GUEST_HOST_CPU_QUOTA: &str = "vm.host.quota_cpus";
/// The keys of the quotas that hold for what runs on a machine.
pub const CPU_QUOTAS: [&str; 2] = [CPU_QUOTA, GUEST_HOST_CPU_QUOTA];
const GUEST_HOSTS: [&str; 2] = [GUEST_HOST_BOOT, GUEST_HOST_ID];

/// The beginning of the keys of caches of data: `cpu.cache.l1d_kib` is 48, and `cpu.cache.l3.cpus` names the CPUs that
/// share the cache `l3`.
pub const CACHE: &str = "cpu.cache.";

/// Every fact that has a role, those first that weigh most when two runs differ.
pub const HOST_FACTS: &[HostFact] = &[
    fact(HOST_NAME, "host", &[Identity]),
    fact(HOST_ID, "machine id", &[Identity, Resume]),
    fact(HOST_NAMED_BY, "", &[Fleeting]),
    fact("kernel.release", "kernel", &[Resume, Constant, Cause]),
    fact("kernel.version", "kernel build", &[Cause]),
    fact(SPINLOCKS, "spinlocks", &[Cause, Waiting]),
    fact("kernel.name", "", &[Hardware]),
    fact("vulnerability.", "mitigation", &[Cause]),
    fact("cpu.governor", "governor", &[Constant, Cause]),
    fact("cpu.driver", "frequency driver", &[Cause]),
    fact("cpu.turbo.", "turbo", &[Cause]),
    fact("cpu.smt", "SMT", &[Constant, Cause]),
    fact("cpu.model", "", &[Hardware, Resume, Constant]),
    fact(CPUS_ONLINE, "CPUs of the machine", &[Hardware]),
    fact("cpu.count", "usable CPUs", &[Hardware, Resume, Cause]),
    fact("cpu.allowed", "CPU mask", &[Cause]),
    fact(NICE, "nice", &[Cause]),
    fact("cpu.microcode", "microcode", &[Cause]),
    fact(CPU_QUOTA, "CPU quota", &[Resume, Constant, Cause]),
    fact(CPU_QUOTA_PERIOD, "period of the CPU quota", &[Cause]),
    fact(CACHE, "caches", &[Cause]),
    fact("cpu.", "", &[]),
    fact("hypervisor.present", "hypervisor present", &[Hardware, Cause]),
    fact("hypervisor.vendor", "hypervisor vendor", &[Hardware, Cause]),
    fact("hypervisor.", "hypervisor", &[Cause]),
    fact("cloud.instance_type", "instance type", &[Hardware, Cause]),
    fact("cloud.", "cloud", &[Cause]),
    fact("container.", "container", &[Cause]),
    fact("machine.product", "machine", &[Hardware, Cause]),
    fact(ACCELERATOR, "accelerator", &[Hardware, Cause]),
    fact("vm.up.time_s", "", &[Fleeting]),
    fact("vm.plan.time_s", "", &[Fleeting]),
    fact(GUEST_CPU, "", &[Fleeting]),
    fact("vm.rest.time_s", "", &[Fleeting]),
    fact(GUEST_HOST_ID, "host of the guest", &[Hardware, Cause]),
    fact(GUEST_HOST_BOOT, "", &[Fleeting]),
    fact("vm.host.cpu", "CPU of the guest's host", &[Hardware, Cause]),
    fact("vm.qemu", "QEMU", &[Hardware, Cause]),
    fact("vm.cpu_model", "CPU model of the guest", &[Cause]),
    fact("vm.memory_mib", "memory of the guest", &[Cause]),
    fact("vm.append", "kernel's command line", &[Cause]),
    fact(GUEST_HOST_CPU_QUOTA, "CPU quota of the guest's host", &[Cause]),
    fact("vm.", "", &[Cause]),
    fact("machine", "", &[]),
    fact("memory.thp", "huge pages", &[Cause]),
    fact("memory.total", "", &[]),
    fact(MEMORY_LIMIT, "memory limit", &[Cause]),
    fact("memory.available", "", &[Fleeting]),
    fact("limit.", "", &[]),
    // The kernel derives it from the memory that is free when it boots: it is another at each boot.
    fact("sysctl.fs.file-max", "", &[]),
    fact("sysctl.", "", &[Cause]),
    fact("clock.", "", &[]),
    fact("simulated", "", &[]),
    fact("fleet.", "", &[Fleeting]),
    fact(HOST_BOOT, "", &[Fleeting]),
    fact("load.", "", &[Fleeting]),
    fact("busiest.", "", &[Fleeting]),
    fact("uptime", "", &[Fleeting]),
];

const fn fact(key: &'static str, label: &'static str, roles: &'static [HostRole]) -> HostFact {
    HostFact { key, label, roles }
}

impl HostFact {
    /// The row of `key`, and its place in the table; `None` for a fact without a role.
    pub fn find(key: &str) -> Option<(usize, &'static HostFact)> {
        HOST_FACTS.iter().enumerate().find(|(_, fact)| fact.covers(key))
    }

    /// Whether it is the row of `key`.
    pub fn covers(&self, key: &str) -> bool {
        if self.key.ends_with('.') { key.starts_with(self.key) } else { key == self.key }
    }

    /// Whether the fact of `key` plays `role`.
    pub fn has_role(key: &str, role: HostRole) -> bool {
        HostFact::find(key).is_some_and(|(_, fact)| fact.roles.contains(&role))
    }
}

/// A fact in which two hosts differ, with its values as [`fact_text`] has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostDifference<'a> {
    /// Its key.
    pub key: &'a str,
    /// Its value on the first host.
    pub first: String,
    /// Its value on the second.
    pub second: String,
}

/// A cache of data, as the kernel describes it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
pub struct CpuCache {
    /// Its level, counted from 1.
    pub level: u8,
    /// Its size in KiB.
    pub kib: u64,
    /// Whether several CPUs share it.
    pub shared: bool,
}

impl Host {
    /// The caches of data, by level.
    pub fn caches(&self) -> Vec<CpuCache> {
        let cache = |key: &String| {
            let name = key.strip_prefix(CACHE)?.strip_suffix("_kib")?;
            let level = name.strip_prefix('l')?.trim_end_matches('d').parse().ok()?;
            let shared = self.facts.contains_key(&format!("{CACHE}{name}.cpus"));
            Some(CpuCache { level, kib: self.number(key)? as u64, shared })
        };
        let mut all: Vec<CpuCache> = self.facts.keys().filter_map(cache).collect();
        all.sort_unstable();
        all
    }

    /// The seconds that each CPU of a virtual machine ran on those of its host, by their numbers; none of another machine.
    pub fn guest_cpu_seconds(&self) -> Vec<f64> {
        (0..).map_while(|cpu: u32| self.number(&format!("{GUEST_CPU}{cpu}.time_s"))).collect()
    }

    /// The CPUs that a quota allows, where one holds here.
    pub fn cpu_quota(&self) -> Option<f64> {
        CPU_QUOTAS.iter().find_map(|key| self.number(key))
    }

    /// Whether it is a guest that `knee vm` booted, and that is gone.
    pub fn is_guest(&self) -> bool {
        self.fact(ACCELERATOR).is_some()
    }

    /// Whether QEMU emulated its CPU: then its times are no machine's, and only ratios to another such guest count.
    pub fn is_emulated(&self) -> bool {
        self.fact(ACCELERATOR) == Some(EMULATOR)
    }

    /// A fact that is a text, by its key.
    pub fn fact(&self, key: &str) -> Option<&str> {
        match self.facts.get(key)? {
            Fact::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A fact that is a number, by its key, which names the unit.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.facts.get(key)?.number()
    }

    /// The facts of `role` in which this host differs from `second`, in the order of the table. A fact
    /// that one of them lacks is not known to differ.
    pub fn differing<'a>(&'a self, second: &'a Host, role: HostRole) -> Vec<HostDifference<'a>> {
        let mut all: Vec<(usize, HostDifference<'a>)> = Vec::new();
        for (key, first) in &self.facts {
            let Some((rank, fact)) = HostFact::find(key) else { continue };
            let Some(second) = second.facts.get(key) else { continue };
            let [first, second] = [first, second].map(|fact| fact_text(key, fact));
            if fact.roles.contains(&role) && first != second {
                all.push((rank, HostDifference { key, first, second }));
            }
        }
        all.sort_by_key(|(rank, _)| *rank);
        all.into_iter().map(|(_, difference)| difference).collect()
    }

    /// Whether it is the machine that `second` is.
    pub fn machine_match<'a>(&'a self, second: &'a Host) -> MachineMatch<'a> {
        let is_same = self.is_same_machine(second);
        let differing = self.differing_hardware(second, is_same);
        match is_same {
            _ if !differing.is_empty() => MachineMatch::OtherHardware(differing),
            Some(true) => MachineMatch::Same,
            Some(false) => MachineMatch::Twin,
            None => MachineMatch::Alike,
        }
    }

    /// Whether the process that measured it was on the machine that `here` is: that of a guest is on the guest's host. Not
    /// where one of them does not say which machine it is.
    pub fn was_measured_from(&self, here: &Host) -> bool {
        let equal = |own: &str, here_key: &str| {
            self.fact(own).is_some_and(|id| here.fact(here_key) == Some(id))
        };
        if self.is_guest() {
            return equal(GUEST_HOST_BOOT, HOST_BOOT) || equal(GUEST_HOST_ID, HOST_ID);
        }
        // A container may have no machine id; a boot is of one machine.
        equal(HOST_BOOT, HOST_BOOT) || self.is_same_machine(here) == Some(true)
    }

    /// Whether it says which machine it is.
    pub fn has_machine_id(&self) -> bool {
        self.facts.contains_key(HOST_ID)
    }

    /// Whether it says that it is the machine that `second` is; `None` where one of them does not say which it is.
    ///
    /// Different machine ids are different machines. Equal ids are one machine, unless its names differ and it booted in
    /// between: then one is a copy of the other's disk. Without ids the names decide. Names count where both come
    /// from one source: a launcher may call a machine otherwise than its kernel does. In a container, a name that no person gave
    /// is drawn for each, and says nothing.
    pub fn is_same_machine(&self, second: &Host) -> Option<bool> {
        let hosts = [self, second];
        let fact = |key: &str| hosts.map(|host| host.fact(key));
        let equal = |key: &str| matches!(fact(key), [Some(first), Some(second)] if first == second);
        let has_both = |key: &str| fact(key).iter().all(Option::is_some);
        if has_both(HOST_ID) && !equal(HOST_ID) {
            return Some(false);
        }
        let has = |host: &Host, key: &str| host.facts.contains_key(key);
        let is_named = |host: &Host| {
            has(host, HOST_NAME) && (has(host, HOST_NAMED_BY) || !has(host, CONTAINER))
        };
        let [first_source, second_source] = fact(HOST_NAMED_BY);
        let are_named = first_source == second_source && hosts.iter().all(|host| is_named(host));
        let [first_name, second_name] =
            fact(HOST_NAME).map(|name| short_name(name.unwrap_or_default()));
        let names_differ = are_named && first_name != second_name;
        let booted_between = has_both(HOST_BOOT) && !equal(HOST_BOOT);
        let have_ids = hosts.map(Host::has_machine_id);
        match have_ids {
            // Of one boot is one machine, however it is called meanwhile; only names that were given say otherwise.
            [true, true] => Some(!(names_differ && (first_source.is_some() || booted_between))),
            [false, false] if names_differ => Some(false),
            _ => None,
        }
    }

    /// How many CPUs a process may use is a matter of its mask: it stands for the machine's number of CPUs only where
    /// records lack that number, and don't say that it is one machine.
    fn differing_hardware<'a>(
        &'a self,
        second: &'a Host,
        is_same: Option<bool>,
    ) -> Vec<HostDifference<'a>> {
        let hosts = [self, second];
        let has_online = hosts.iter().all(|host| host.facts.contains_key(CPUS_ONLINE));
        let is_mask = has_online || is_same == Some(true);
        let mut differing = self.differing(second, Hardware);
        differing.retain(|difference| !(is_mask && difference.key == "cpu.count"));
        let accelerators = hosts.map(|host| host.fact(ACCELERATOR));
        let is_one_host = GUEST_HOSTS.iter().any(|key| {
            let [first, second] = hosts.map(|host| host.facts.get(*key));
            first.is_some() && first == second
        });
        if is_one_host && accelerators.iter().all(Option::is_some) {
            // A guest sees the hypervisor that `--cpu` lets it see, whatever its host is.
            differing.retain(|difference| !difference.key.starts_with("hypervisor."));
        }
        let has_facts = hosts.iter().all(|host| !host.facts.is_empty());
        // Every guest has the fact: a host without it is no guest.
        if has_facts && accelerators.iter().flatten().count() == 1 {
            let [first, second] = accelerators.map(|name| name.unwrap_or("none").to_owned());
            differing.push(HostDifference { key: ACCELERATOR, first, second });
        }
        differing
    }
}

/// Whether two hosts are one machine: the one decision of `compare`, `history` and `advise`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineMatch<'a> {
    /// Both say so.
    Same,
    /// The hardware is equal, and nothing says that they are two: containers and guests have no identity.
    Alike,
    /// The hardware is equal, and they say that they are two.
    Twin,
    /// The hardware differs in these facts.
    OtherHardware(Vec<HostDifference<'a>>),
}

impl MachineMatch<'_> {
    /// Whether figures of both may be joined.
    pub fn is_joinable(&self) -> bool {
        matches!(self, Self::Same | Self::Alike)
    }
}

/// The name of a host without its domain, which some say and some don't, in lower case.
pub fn short_name(name: &str) -> String {
    let short = name.split('.').next().filter(|short| !short.is_empty());
    short.unwrap_or(name).to_lowercase()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn host(facts: &[(&str, &str)]) -> Host {
        numbers(facts, &[])
    }

    pub(crate) fn numbers(facts: &[(&str, &str)], numbers: &[(&str, f64)]) -> Host {
        let texts = facts.iter().map(|&(key, value)| (key.into(), value.into()));
        let numbers = numbers.iter().map(|&(key, value)| (key.into(), value.into()));
        Host { facts: texts.chain(numbers).collect(), ..Host::default() }
    }

    #[test]
    fn every_row_can_be_reached() {
        for (rank, fact) in HOST_FACTS.iter().enumerate() {
            let key =
                if fact.key.ends_with('.') { format!("{}x", fact.key) } else { fact.key.into() };
            assert_eq!(HostFact::find(&key).unwrap().0, rank, "{key}");
        }
        assert_eq!(HostFact::find("loads"), None);
    }

    #[test]
    fn a_limit_that_the_kernel_derives_at_each_boot_is_no_cause() {
        let boot = |files| host(&[("sysctl.fs.file-max", files), ("sysctl.vm.swappiness", files)]);
        let keys: Vec<String> = boot("89439")
            .differing(&boot("89466"), Cause)
            .iter()
            .map(|difference| difference.key.to_owned())
            .collect();
        assert_eq!(keys, ["sysctl.vm.swappiness"]);
    }

    #[test]
    fn caches_are_read_by_level() {
        let sizes = [("l3", 491_520.0), ("l1d", 48.0), ("l2", 2048.0)];
        let sizes = sizes.map(|(name, kib)| (format!("cpu.cache.{name}_kib"), kib));
        let sizes = sizes.each_ref().map(|(key, kib)| (key.as_str(), *kib));
        let host = numbers(&[("cpu.cache.l3.cpus", "0-1"), ("cpu.cache.l4_kib", "?")], &sizes);
        let caches: Vec<_> = host.caches().iter().map(|c| (c.level, c.kib, c.shared)).collect();
        assert_eq!(caches, [(1, 48, false), (2, 2048, false), (3, 480 << 10, true)]);
    }

    #[test]
    fn a_number_is_shown_with_the_unit_of_its_key() {
        let [free, tight] = [1.0, 0.2].map(|cpus| numbers(&[], &[(CPU_QUOTA, cpus)]));
        let differing = free.differing(&tight, Resume);
        assert_eq!([&differing[0].first, &differing[0].second], ["1 CPU", "0.2 CPUs"]);
        assert_eq!(fact_text(CPU_QUOTA, &NO_LIMIT.into()), NO_LIMIT);
        assert_eq!(fact_text("cpu.count", &2.into()), "2");
    }

    #[test]
    fn a_guest_says_what_ran_it() {
        let [emulated, kvm] = ["tcg", "kvm"].map(|word| host(&[(ACCELERATOR, word)]));
        assert!(emulated.is_emulated() && emulated.is_guest());
        assert!(kvm.is_guest() && !kvm.is_emulated());
        assert!(!host(&[("hypervisor.vendor", "TCGTCGTCGTCG")]).is_guest());
        let values = |first: &Host, second: &Host| match first.machine_match(second) {
            MachineMatch::OtherHardware(differing) => {
                let values = |d: &HostDifference<'_>| format!("{} {} {}", d.key, d.first, d.second);
                differing.iter().map(values).collect()
            }
            _ => String::new(),
        };
        assert_eq!(values(&emulated, &kvm), "vm.accelerator tcg kvm");
        assert_eq!(values(&host(&[("cpu.online", "2")]), &kvm), "vm.accelerator none kvm");
        assert_eq!(values(&host(&[]), &kvm), "", "a table of another program");
    }

    #[test]
    fn guests_of_two_hosts_are_on_two_machines() {
        let guest = |own: &[(&str, &str)]| {
            host(&[&[(ACCELERATOR, EMULATOR), (HOST_NAME, "guest")], own].concat())
        };
        let is_joinable = |own: &[(&str, &str)], second: &[(&str, &str)]| {
            guest(own).machine_match(&guest(second)).is_joinable()
        };
        for key in ["vm.host.machine_id", "vm.host.cpu", "vm.qemu"] {
            assert!(!is_joinable(&[(key, "a")], &[(key, "b")]), "{key}");
            assert!(is_joinable(&[(key, "a")], &[(key, "a")]), "{key}");
        }
        // What the two sides of an experiment differ in is no other machine, and may be the cause.
        for key in ["vm.cpu_model", "vm.memory_mib", "vm.append"] {
            assert!(is_joinable(&[(key, "a")], &[(key, "b")]), "{key}");
            assert_eq!(guest(&[(key, "a")]).differing(&guest(&[(key, "b")]), Cause).len(), 1);
        }
    }

    #[test]
    fn another_cpu_mask_is_not_another_machine() {
        let keys = |first: &[(&str, &str)], second: &[(&str, &str)]| -> Vec<String> {
            let (first, second) = (host(first), host(second));
            match first.machine_match(&second) {
                MachineMatch::OtherHardware(differing) => {
                    differing.into_iter().map(|difference| difference.key.to_owned()).collect()
                }
                _ => Vec::new(),
            }
        };
        let [two, masked] =
            [[("cpu.online", "2"), ("cpu.count", "2")], [("cpu.online", "2"), ("cpu.count", "1")]];
        assert_eq!(keys(&two, &masked), [""; 0]);
        assert_eq!(keys(&two, &[("cpu.online", "4"), ("cpu.count", "2")]), ["cpu.online"]);
        // A table of another program may have no number of the machine's CPUs.
        assert_eq!(keys(&two[1..], &masked[1..]), ["cpu.count"]);
        let with_id = |count| [(HOST_ID, "7"), ("cpu.count", count)];
        assert_eq!(keys(&with_id("2"), &with_id("1")), [""; 0]);
    }

    #[test]
    fn a_guest_that_does_not_see_its_hypervisor_is_no_other_machine() {
        let guest = |present, id| {
            host(&[
                (ACCELERATOR, EMULATOR),
                ("cpu.model", "QEMU TCG CPU"),
                ("hypervisor.present", present),
                ("vm.host.machine_id", id),
            ])
        };
        let (seen, unseen) = (guest("yes", "1"), guest("no", "1"));
        assert!(seen.machine_match(&unseen).is_joinable());
        assert!(!seen.machine_match(&guest("no", "2")).is_joinable());
        let keys = |first: &Host, second: &Host| match first.machine_match(second) {
            MachineMatch::OtherHardware(differing) => {
                differing.iter().map(|difference| difference.key.to_owned()).collect()
            }
            _ => Vec::new(),
        };
        assert_eq!(keys(&seen, &guest("no", "2")), ["hypervisor.present", "vm.host.machine_id"]);
        let nameless = |present| host(&[(ACCELERATOR, "kvm"), ("hypervisor.present", present)]);
        assert_eq!(keys(&nameless("yes"), &nameless("no")), ["hypervisor.present"]);
        // In a container without a machine id, guests of one boot of the host are on one machine.
        let of_boot = |present| {
            host(&[(ACCELERATOR, "kvm"), ("hypervisor.present", present), (GUEST_HOST_BOOT, "7")])
        };
        assert_eq!(keys(&of_boot("yes"), &of_boot("no")), [""; 0]);
        let machine = |present| host(&[("cpu.model", "A"), ("hypervisor.present", present)]);
        assert!(!machine("yes").machine_match(&machine("no")).is_joinable());
    }

    #[test]
    fn the_cpus_of_a_guest_are_in_the_order_of_their_numbers() {
        let times = [("vm.cpu.1.time_s", 1.5), ("vm.cpu.0.time_s", 2.25), ("vm.cpus", 2.0)];
        let guest = numbers(&[("vm.cpu_model", "max")], &times);
        assert_eq!(guest.guest_cpu_seconds(), [2.25, 1.5]);
        assert_eq!(host(&[("cpu.count", "2")]).guest_cpu_seconds(), [0.0; 0]);
    }

    #[test]
    fn what_one_host_lacks_is_not_known_to_differ() {
        let old = host(&[("cpu.model", "A"), ("kernel.release", "6.1"), ("load.1m", "1")]);
        let new = host(&[
            ("cpu.model", "B"),
            ("kernel.release", "6.2"),
            ("load.1m", "2"),
            (HOST_ID, "7"),
        ]);
        let keys = |role| -> Vec<&str> {
            old.differing(&new, role).into_iter().map(|difference| difference.key).collect()
        };
        assert_eq!(keys(Resume), ["kernel.release", "cpu.model"]);
        assert_eq!(keys(Hardware), ["cpu.model"]);
        assert_eq!(keys(Identity), [] as [&str; 0]);
        assert_eq!(old.is_same_machine(&new), None);
        assert_eq!(new.is_same_machine(&new), Some(true));
        assert_eq!(new.is_same_machine(&host(&[(HOST_ID, "8")])), Some(false));
    }

    #[test]
    fn names_distinguish_machines_that_have_equal_ids_or_none() {
        let same = |first: &[(&str, &str)], second: &[(&str, &str)]| {
            host(first).is_same_machine(&host(second))
        };
        let [a, b] = [(HOST_NAME, "a"), (HOST_NAME, "b")];
        let (id, boot) = ((HOST_ID, "7"), (HOST_BOOT, "1"));
        let (given, docker) = ((HOST_NAMED_BY, "--host-name"), (CONTAINER, "docker"));
        assert_eq!(same(&[a, id, boot], &[a, id, (HOST_BOOT, "2")]), Some(true), "it booted");
        assert_eq!(same(&[a, id, boot], &[b, id, boot]), Some(true), "it was renamed");
        assert_eq!(same(&[a, id, boot], &[b, id, (HOST_BOOT, "2")]), Some(false), "a copied disk");
        assert_eq!(same(&[a, id, boot, given], &[b, id, boot, given]), Some(false), "as given");
        assert_eq!(same(&[a, id, boot, given], &[b, id, boot]), Some(true), "one name is drawn");
        assert_eq!(same(&[a], &[b]), Some(false));
        assert_eq!(same(&[a], &[a]), None, "many machines are called localhost");
        assert_eq!(same(&[a], &[b, id]), None, "a container without an id");
        assert_eq!(same(&[a, docker], &[b, docker]), None, "names of containers are drawn");
        let drawn = [docker, id];
        assert_eq!(same(&[&[a], &drawn[..]].concat(), &[&[b], &drawn[..]].concat()), Some(true));
        assert_eq!(same(&[a, docker, given], &[b, docker, given]), Some(false));
    }

    #[test]
    fn names_of_two_sources_or_with_a_domain_make_no_second_machine() {
        let same = |first: &[(&str, &str)], second: &[(&str, &str)]| {
            host(first).is_same_machine(&host(second))
        };
        let with_boot = |name, boot| vec![(HOST_NAME, name), (HOST_ID, "7"), (HOST_BOOT, boot)];
        let by_slurm =
            |name, boot| [with_boot(name, boot), vec![(HOST_NAMED_BY, "slurm")]].concat();
        // By hand, then, after a boot, by srun.
        assert_eq!(same(&with_boot("n5.lab.org", "1"), &by_slurm("node-5", "2")), Some(true));
        assert_eq!(same(&with_boot("n5.lab.org", "1"), &with_boot("N5", "2")), Some(true));
        assert_eq!(same(&with_boot("n5", "1"), &with_boot("n6", "2")), Some(false));
        assert_eq!(same(&by_slurm("n5", "1"), &by_slurm("n6", "1")), Some(false));
        // Nothing says that it booted.
        assert_eq!(same(&with_boot("n5", "1"), &with_boot("n6", "1")[..2]), Some(true));
    }

    #[test]
    fn a_guest_was_measured_from_its_host() {
        let here = host(&[(HOST_NAME, "a"), (HOST_ID, "7"), (HOST_BOOT, "1")]);
        let from = |facts: &[(&str, &str)]| host(facts).was_measured_from(&here);
        assert!(from(&[(HOST_NAME, "a"), (HOST_ID, "7")]));
        assert!(!from(&[(HOST_NAME, "a"), (HOST_ID, "8")]));
        assert!(!from(&[(HOST_NAME, "a")]), "many machines have this name");
        assert!(from(&[(CONTAINER, "docker"), (HOST_BOOT, "1")]), "a container without an id");
        assert!(!from(&[(CONTAINER, "docker"), (HOST_BOOT, "2")]));
        let guest = [(ACCELERATOR, EMULATOR), (HOST_ID, "7")];
        assert!(!from(&guest), "the id of an image of the host's disk");
        assert!(from(&[guest[0], (GUEST_HOST_ID, "7")]));
        assert!(from(&[guest[0], (GUEST_HOST_BOOT, "1")]));
        assert!(!from(&[guest[0], (GUEST_HOST_ID, "8")]));
    }

    #[test]
    fn equal_hardware_is_no_machine() {
        let machine = |name, id, product| {
            host(&[(HOST_NAME, name), (HOST_ID, id), ("machine.product", product)])
        };
        let first = machine("a", "1", "m5.large");
        assert_eq!(first.machine_match(&first), MachineMatch::Same);
        assert_eq!(first.machine_match(&machine("b", "2", "m5.large")), MachineMatch::Twin);
        assert_eq!(first.machine_match(&host(&[])), MachineMatch::Alike);
        let larger = machine("a", "1", "m5.xlarge");
        let MachineMatch::OtherHardware(differing) = first.machine_match(&larger) else { panic!() };
        assert_eq!(differing[0].key, "machine.product");
        assert!(MachineMatch::Alike.is_joinable() && !MachineMatch::Twin.is_joinable());
    }
}
