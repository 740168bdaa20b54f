//! The machine at one moment: what a reader needs in order to believe figures, or to repeat them.
//!
//! Whatever can't be read is left out; a fact is never guessed.

use record::{CACHE, CONTAINER, HOST_BOOT, HOST_ID, HOST_NAME, Host, NICE};
use rustix::process::{Resource, getpriority_process, getrlimit};
use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Files that hold one fact each, by the key of that fact.
const FILES: &[(&str, &str)] = &[
    ("kernel.release", "/proc/sys/kernel/osrelease"),
    ("kernel.version", "/proc/sys/kernel/version"),
    ("kernel.name", "/proc/sys/kernel/ostype"),
    (HOST_NAME, "/proc/sys/kernel/hostname"),
    (HOST_BOOT, "/proc/sys/kernel/random/boot_id"),
    ("clock.source", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("cpu.smt", "/sys/devices/system/cpu/smt/control"),
    ("cpu.governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    ("cpu.driver", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"),
    ("cpu.turbo.intel_no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo"),
    ("cpu.turbo.boost", "/sys/devices/system/cpu/cpufreq/boost"),
    ("memory.thp", "/sys/kernel/mm/transparent_hugepage/enabled"),
    (VENDOR, "/sys/class/dmi/id/sys_vendor"),
    (PRODUCT, "/sys/class/dmi/id/product_name"),
    ("hypervisor.name", "/sys/hypervisor/type"),
    ("sysctl.fs.file-max", "/proc/sys/fs/file-max"),
    ("sysctl.fs.nr_open", "/proc/sys/fs/nr_open"),
    ("sysctl.fs.aio-max-nr", "/proc/sys/fs/aio-max-nr"),
    ("sysctl.kernel.io_uring_disabled", "/proc/sys/kernel/io_uring_disabled"),
    ("sysctl.kernel.perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid"),
    ("sysctl.kernel.sched_autogroup_enabled", "/proc/sys/kernel/sched_autogroup_enabled"),
    ("sysctl.net.core.somaxconn", "/proc/sys/net/core/somaxconn"),
    ("sysctl.net.core.busy_poll", "/proc/sys/net/core/busy_poll"),
    ("sysctl.net.unix.max_dgram_qlen", "/proc/sys/net/unix/max_dgram_qlen"),
];

/// The key of who made the machine, as its firmware says it: of a guest that is the hypervisor or the cloud.
const VENDOR: &str = "hypervisor.vendor";
/// The key of what the firmware calls the machine.
const PRODUCT: &str = "machine.product";

/// Clouds, by how the vendor in the firmware of their guests begins.
const CLOUDS: &[Cloud] = &[
    Cloud { vendor: "Amazon EC2", name: "Amazon EC2", type_prefix: Some("") },
    Cloud { vendor: "Scaleway", name: "Scaleway", type_prefix: Some("SCW-") },
    Cloud { vendor: "Google", name: "Google Compute Engine", type_prefix: None },
    Cloud { vendor: "Alibaba Cloud", name: "Alibaba Cloud", type_prefix: None },
    Cloud { vendor: "Tencent Cloud", name: "Tencent Cloud", type_prefix: None },
    Cloud { vendor: "DigitalOcean", name: "DigitalOcean", type_prefix: None },
    Cloud { vendor: "Hetzner", name: "Hetzner", type_prefix: None },
    Cloud { vendor: "Vultr", name: "Vultr", type_prefix: None },
    Cloud { vendor: "Akamai", name: "Akamai", type_prefix: None },
];

/// What the firmware of a cloud's guests says.
struct Cloud {
    /// How their vendor begins.
    vendor: &'static str,
    name: &'static str,
    /// What is before the type of the instance in their product; none where the product is no type.
    type_prefix: Option<&'static str>,
}

/// Files that are there in a container of this kind alone.
const CONTAINERS: &[(&str, &str)] = &[
    ("/.dockerenv", "docker"),
    ("/run/.containerenv", "podman"),
    ("/.singularity.d", "apptainer"),
];

/// Over this long the machine is watched for who else uses it.
const LOOK: Duration = Duration::from_millis(120);

/// Looks at the machine. Takes about an eighth of a second.
pub fn host() -> Host {
    let mut facts = BTreeMap::new();
    for (key, file) in FILES {
        if let Ok(text) = read_to_string(file) {
            facts.insert((*key).to_owned(), text.trim().to_owned());
        }
    }
    identity(&mut facts);
    cloud(&mut facts);
    container(Path::new("/"), &mut facts);
    cpu(&mut facts);
    caches(Path::new("/sys/devices/system/cpu/cpu0/cache"), &mut facts);
    vulnerabilities(&mut facts);
    memory(&mut facts);
    limits(&mut facts);
    load(&mut facts);
    busy(&mut facts);
    Host { taken: now(), facts }
}

/// The present moment: RFC 3339 with offset.
pub fn now() -> String {
    let now = jiff::Zoned::now().round(jiff::Unit::Second);
    now.map_or_else(
        |_| jiff::Timestamp::now().to_string(),
        |now| now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
    )
}

/// Which machine it is, among equal ones, and since which boot.
fn identity(facts: &mut BTreeMap<String, String>) {
    let files = ["/etc/machine-id", "/var/lib/dbus/machine-id"];
    let ids = files.iter().filter_map(|file| read_to_string(file).ok());
    facts.extend(ids.map(|id| id.trim().to_owned()).find(|id| is_machine_id(id)).map(|id| {
        let id = hashed(&id);
        (HOST_ID.to_owned(), id)
    }));
}

/// Whether a text is the id of a machine: an image that is not set up yet has `uninitialized`, as all its copies have.
fn is_machine_id(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_hexdigit();
    text.len() == 32 && text.bytes().all(is_digit) && text.bytes().any(|byte| byte != b'0')
}

/// The cloud that it is a guest of, and the type of its instance, as far as its firmware says.
fn cloud(facts: &mut BTreeMap<String, String>) {
    let fact = |key: &str| facts.get(key).map(String::as_str).unwrap_or_default();
    let (vendor, product) = (fact(VENDOR), fact(PRODUCT));
    let Some(cloud) = CLOUDS.iter().find(|cloud| vendor.starts_with(cloud.vendor)) else { return };
    let of_type = cloud.type_prefix.and_then(|prefix| product.strip_prefix(prefix));
    let of_type = of_type.filter(|name| !name.is_empty()).map(str::to_owned);
    facts.insert("cloud.name".into(), cloud.name.into());
    facts.extend(of_type.map(|name| ("cloud.instance_type".to_owned(), name)));
}

/// The kind of the container that this process is in, below the directory `root`.
fn container(root: &Path, facts: &mut BTreeMap<String, String>) {
    let below = |path: &str| root.join(path.trim_start_matches('/'));
    // systemd-nspawn, LXC and podman say it themselves.
    let kind = read_to_string(below("/run/systemd/container")).ok();
    let kind = kind.map(|kind| kind.trim().to_owned()).filter(|kind| !kind.is_empty());
    let by_file = || {
        let container = CONTAINERS.iter().find(|(file, _)| below(file).exists());
        container.map(|(_, kind)| (*kind).to_owned())
    };
    facts.extend(kind.or_else(by_file).map(|kind| (CONTAINER.to_owned(), kind)));
}

/// A machine's id is confidential (machine-id(5)): 64 bits of FNV-1a tell machines apart, and do not say
/// what the 128 bits were.
fn hashed(id: &str) -> String {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let bytes = b"knee host ".iter().chain(id.as_bytes());
    let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME));
    format!("{hash:016x}")
}

fn cpu(facts: &mut BTreeMap<String, String>) {
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |name: &str| {
        let line = info.lines().find(|line| line.split(':').next().map(str::trim) == Some(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    facts.extend(value("model name").map(|model| ("cpu.model".into(), model)));
    facts.extend(value("microcode").map(|code| ("cpu.microcode".into(), code)));
    let flags = value("flags").unwrap_or_default();
    if !flags.is_empty() {
        let virtual_machine = flags.split_whitespace().any(|flag| flag == "hypervisor");
        let answer = if virtual_machine { "yes" } else { "no" };
        facts.insert("hypervisor.present".into(), answer.into());
        if virtual_machine && let Some(name) = sys::cpus::hypervisor() {
            facts.entry("hypervisor.name".into()).or_insert(name);
        }
    }
    if let Ok(count) = thread::available_parallelism() {
        facts.insert("cpu.count".into(), count.to_string());
    }
    let online = read_to_string("/sys/devices/system/cpu/online").ok();
    if let Some(online) = online.and_then(|list| cpus_in(&list)) {
        facts.insert("cpu.online".into(), online.to_string());
    }
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(list) = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")) {
        facts.insert("cpu.allowed".into(), list.trim().to_owned());
    }
    if let Ok(nice) = getpriority_process(None) {
        facts.insert(NICE.into(), nice.to_string());
    }
}

/// The caches of data of the first CPU: size and, where several CPUs share one, which.
fn caches(directory: &Path, facts: &mut BTreeMap<String, String>) {
    for entry in directory.read_dir().into_iter().flatten().flatten() {
        let read = |name: &str| {
            let text = read_to_string(entry.path().join(name)).ok()?;
            Some(text.trim().to_owned())
        };
        let (Some(level), Some(size)) = (read("level"), read("size")) else { continue };
        let kind = match read("type").as_deref() {
            Some("Data") => "d",
            Some("Unified") => "",
            _ => continue,
        };
        let key = format!("{CACHE}l{level}{kind}");
        let cpus =
            read("shared_cpu_list").filter(|list| cpus_in(list).is_some_and(|cpus| cpus > 1));
        facts.extend(cpus.map(|cpus| (format!("{key}.cpus"), cpus)));
        facts.insert(key, size);
    }
}

/// The number of CPUs in a list such as `0-3,8`.
fn cpus_in(list: &str) -> Option<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        Some((last + 1).saturating_sub(first))
    };
    list.trim().split(',').map(range).sum()
}

fn vulnerabilities(facts: &mut BTreeMap<String, String>) {
    let directory = Path::new("/sys/devices/system/cpu/vulnerabilities");
    for entry in directory.read_dir().into_iter().flatten().flatten() {
        if let Ok(text) = read_to_string(entry.path()) {
            let name = entry.file_name().to_string_lossy().into_owned();
            facts.insert(format!("vulnerability.{name}"), text.trim().into());
        }
    }
}

fn memory(facts: &mut BTreeMap<String, String>) {
    let info = read_to_string("/proc/meminfo").unwrap_or_default();
    for (name, key) in [("MemTotal:", "memory.total"), ("MemAvailable:", "memory.available")] {
        let value = info.lines().find_map(|line| line.strip_prefix(name));
        facts.extend(value.map(|value| (key.to_owned(), value.trim().to_owned())));
    }
}

fn limits(facts: &mut BTreeMap<String, String>) {
    let resources = [
        ("descriptors", Resource::Nofile),
        ("processes", Resource::Nproc),
        ("pending_signals", Resource::Sigpending),
        ("locked_memory", Resource::Memlock),
    ];
    for (name, resource) in resources {
        let limit = getrlimit(resource).current;
        let value = limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string());
        facts.insert(format!("limit.{name}"), value);
    }
}

fn load(facts: &mut BTreeMap<String, String>) {
    let load = read_to_string("/proc/loadavg").unwrap_or_default();
    for (key, value) in ["load.1m", "load.5m", "load.15m"].iter().zip(load.split_whitespace()) {
        facts.insert((*key).to_owned(), value.to_owned());
    }
    if let Some(CpuTicks { idle, steal, total }) = cpu_ticks(Path::new("/proc")) {
        facts.insert("cpu.ticks.idle".into(), idle.to_string());
        facts.insert("cpu.ticks.steal".into(), steal.to_string());
        facts.insert("cpu.ticks.total".into(), total.to_string());
    }
}

/// Ticks of all CPUs since boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTicks {
    /// Nothing ran, or what would have waited for a disk.
    pub idle: u64,
    /// The hypervisor took them away.
    pub steal: u64,
    /// All of them.
    pub total: u64,
}

/// The ticks of all CPUs, from the file `stat` in `proc`.
pub fn cpu_ticks(proc: &Path) -> Option<CpuTicks> {
    // user nice system idle iowait irq softirq steal
    let stat = read_to_string(proc.join("stat")).ok()?;
    let words = stat.lines().next()?.split_whitespace().skip(1).take(8);
    let ticks: Vec<u64> = words.filter_map(|tick| tick.parse().ok()).collect();
    let &[_, _, _, idle, waiting, _, _, steal] = ticks.as_slice() else { return None };
    Some(CpuTicks { idle: idle + waiting, steal, total: ticks.iter().sum() })
}

/// The process that used most CPU while this one looked, if it used more than a tenth of one.
fn busy(facts: &mut BTreeMap<String, String>) {
    let proc = Path::new("/proc");
    let before = process_ticks(proc);
    thread::sleep(LOOK);
    let after = process_ticks(proc);
    // A tick is 10 ms wherever Linux shows one to user space.
    let look_ticks = LOOK.as_millis() as f64 / 10.0;
    let own = std::process::id();
    let busiest = after
        .iter()
        .filter(|(pid, _)| **pid != own)
        .filter_map(|(pid, (name, ticks))| {
            let used = ticks - before.get(pid).map_or(*ticks, |(_, ticks)| *ticks).min(*ticks);
            Some((used, name)).filter(|(used, _)| *used as f64 > look_ticks / 10.0)
        })
        .max();
    if let Some((used, name)) = busiest {
        let percent = 100.0 * used as f64 / look_ticks;
        facts.insert("busiest.process".into(), name.clone());
        facts.insert("busiest.percent".into(), format!("{percent:.0}"));
    }
}

/// Name and CPU ticks of every process in the directory `proc`, by its id.
pub fn process_ticks(proc: &Path) -> BTreeMap<u32, (String, u64)> {
    let entries = proc.read_dir().into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = read_to_string(entry.path().join("stat")).ok()?;
            let (head, tail) = stat.rsplit_once(')')?;
            let name = head.split_once('(')?.1.to_owned();
            let fields: Vec<&str> = tail.split_whitespace().collect();
            let ticks = |index: usize| fields.get(index)?.parse::<u64>().ok();
            Some((pid, (name, ticks(11)? + ticks(12)?)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_of_data_are_facts_with_the_cpus_that_share_them() {
        let directory = std::env::temp_dir().join(format!("knee-caches-{}", std::process::id()));
        let all = [
            ("1", "Data", "48K", "0"),
            ("1", "Instruction", "64K", "0"),
            ("3", "Unified", "480M", "0-1"),
        ];
        for (index, (level, kind, size, cpus)) in all.into_iter().enumerate() {
            let path = directory.join(format!("index{index}"));
            std::fs::create_dir_all(&path).unwrap();
            let files =
                [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", cpus)];
            for (name, text) in files {
                std::fs::write(path.join(name), format!("{text}\n")).unwrap();
            }
        }
        let mut facts = BTreeMap::new();
        caches(&directory, &mut facts);
        std::fs::remove_dir_all(&directory).unwrap();
        let facts: Vec<(&str, &str)> =
            facts.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let expected =
            [("cpu.cache.l1d", "48K"), ("cpu.cache.l3", "480M"), ("cpu.cache.l3.cpus", "0-1")];
        assert_eq!(facts, expected);
    }

    #[test]
    fn the_facts_that_reports_lean_on_are_there() {
        let host = host();
        for key in [
            "kernel.release",
            "cpu.count",
            "cpu.online",
            "cpu.allowed",
            NICE,
            "load.1m",
            "limit.descriptors",
            "memory.total",
        ] {
            assert!(host.facts.contains_key(key), "no {key} in {:?}", host.facts);
        }
        assert!(host.facts.values().all(|value| value.trim() == value));
    }

    #[test]
    fn cpus_of_a_list_are_counted() {
        assert_eq!(cpus_in("0-1\n"), Some(2));
        assert_eq!(cpus_in("0,2-4,7"), Some(5));
        assert_eq!((cpus_in(""), cpus_in("x-1")), (None, None));
    }

    #[test]
    fn a_machine_id_is_hashed_the_same_each_time() {
        assert_eq!(hashed("a"), hashed("a"));
        assert_ne!(hashed("a"), hashed("b"));
        assert_eq!(hashed("b08dfa6083e7567a1921a715000001fb").len(), 16);
    }

    #[test]
    fn an_image_that_is_not_set_up_has_no_machine_id() {
        assert!(is_machine_id("b08dfa6083e7567a1921a715000001fb"));
        for text in ["", "uninitialized", "b08d", &"0".repeat(32)] {
            assert!(!is_machine_id(text), "{text}");
        }
    }

    #[test]
    fn the_firmware_says_the_cloud_and_some_say_the_type() {
        let clouds = |vendor: &str, product: &str| {
            let facts = [(VENDOR, vendor), (PRODUCT, product)];
            let mut facts = facts.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
            cloud(&mut facts);
            ["cloud.name", "cloud.instance_type"].map(|key| facts.get(key).cloned())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(clouds("Amazon EC2", "m5.large"), [some("Amazon EC2"), some("m5.large")]);
        assert_eq!(clouds("Scaleway", "SCW-DEV1-S"), [some("Scaleway"), some("DEV1-S")]);
        let google = [some("Google Compute Engine"), None];
        assert_eq!(clouds("Google", "Google Compute Engine"), google);
        assert_eq!(clouds("QEMU", "Standard PC (Q35 + ICH9, 2009)"), [None, None]);
    }

    #[test]
    fn a_container_is_known_by_what_it_says_or_by_its_file() {
        let root = std::env::temp_dir().join(format!("knee-container-{}", std::process::id()));
        let kind = || {
            let mut facts = BTreeMap::new();
            container(&root, &mut facts);
            facts.remove(CONTAINER)
        };
        std::fs::create_dir_all(root.join("run/systemd")).unwrap();
        assert_eq!(kind(), None);
        std::fs::write(root.join(".dockerenv"), "").unwrap();
        assert_eq!(kind().as_deref(), Some("docker"));
        std::fs::write(root.join("run/systemd/container"), "lxc\n").unwrap();
        assert_eq!(kind().as_deref(), Some("lxc"));
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn now_is_rfc_3339() {
        assert!(now().parse::<jiff::Timestamp>().is_ok(), "{}", now());
    }
}
