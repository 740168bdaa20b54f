//! The machine at one moment: what a reader needs in order to believe figures, or to repeat them.
//!
//! Whatever can't be read is left out; a fact is never guessed.

use super::cgroup::{cpu_quotas, memory_limit};
use hmac::{Hmac, KeyInit, Mac};
use model::{
    CACHE, CONTAINER, CPU_QUOTA, CPU_QUOTA_PERIOD, CPUS_ONLINE, Fact, HOST_BOOT, HOST_ID,
    HOST_NAME, Host, MEMORY_LIMIT, NICE, NO_LIMIT,
};
use rustix::process::{Resource, getpriority_process, getrlimit};
use sha2::Sha256;
use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::path::Path;
use std::thread;
use std::time::Duration;
use sys::cpus;
use sys::proc::{self, Stat};

/// Fewer than any process has: numbers that are used again could make a circle.
const ANCESTORS_MAX: usize = 1_000;

/// Files that hold one fact each, by the key of that fact.
const FILES: &[(&str, &str)] = &[
    ("kernel.release", "/proc/sys/kernel/osrelease"),
    ("kernel.version", "/proc/sys/kernel/version"),
    ("kernel.name", "/proc/sys/kernel/ostype"),
    (HOST_NAME, "/proc/sys/kernel/hostname"),
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
    // containerd leaves no file of its own.
    ("/run/secrets/kubernetes.io", "kubernetes"),
];

/// Kubernetes sets it in each container.
const KUBERNETES: &str = "KUBERNETES_SERVICE_HOST";

/// Containers that boot like a machine, and have an id of their own.
const SYSTEM_CONTAINERS: [&str; 3] = ["lxc", "lxc-libvirt", "systemd-nspawn"];

/// Over this long the machine is watched for who else uses it.
const LOOK: Duration = Duration::from_millis(120);

/// Looks at the machine. Takes about an eighth of a second.
pub fn host() -> Host {
    let mut facts = BTreeMap::new();
    for (key, file) in FILES {
        if let Ok(text) = read_to_string(file) {
            facts.insert((*key).to_owned(), text.trim().into());
        }
    }
    cloud(&mut facts);
    container(Path::new("/"), std::env::var_os(KUBERNETES).is_some(), &mut facts);
    identity(Path::new("/"), &mut facts);
    cpu(&mut facts);
    caches(Path::new("/sys/devices/system/cpu/cpu0/cache"), &mut facts);
    vulnerabilities(&mut facts);
    memory(&mut facts);
    limits(&mut facts);
    control_groups(Path::new("/"), &mut facts);
    load(&mut facts);
    busy(&mut facts);
    Host { taken: now(), facts, cpu_use: None }
}

/// The present moment: RFC 3339 with offset.
pub fn now() -> String {
    let now = jiff::Zoned::now().round(jiff::Unit::Second);
    now.map_or_else(
        |_| jiff::Timestamp::now().to_string(),
        |now| now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
    )
}

/// Which machine it is, among equal ones, and since which boot, by the files below `root`. In a container, the id is that of
/// its image, which many machines run, unless it was mounted.
fn identity(root: &Path, facts: &mut BTreeMap<String, Fact>) {
    let read = |path: &str| read_to_string(root.join(path)).unwrap_or_default().trim().to_owned();
    let boot = keyed_hash(&read("proc/sys/kernel/random/boot_id"), BOOT_PURPOSE);
    facts.extend(boot.map(|hash| (HOST_BOOT.to_owned(), hash.into())));
    let own_ids = SYSTEM_CONTAINERS.map(Fact::from);
    let is_image = facts.get(CONTAINER).is_some_and(|kind| !own_ids.contains(kind));
    let mounts = read("proc/self/mountinfo");
    let is_mounted = |file: &str| {
        let mut mounted = mounts.lines().filter_map(|line| line.split(' ').nth(4));
        mounted.any(|path| path.trim_start_matches('/') == file)
    };
    let files = ["etc/machine-id", "var/lib/dbus/machine-id"].into_iter();
    let mut ids = files.filter(|file| !is_image || is_mounted(file)).map(read);
    let id = ids.find(|id| is_machine_id(id)).and_then(|id| keyed_hash(&id, ID_PURPOSE));
    facts.extend(id.map(|hash| (HOST_ID.to_owned(), hash.into())));
}

/// Whether a text is the id of a machine: an image that is not set up yet has `uninitialized`, as all its copies have.
fn is_machine_id(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_hexdigit();
    text.len() == 32 && text.bytes().all(is_digit) && text.bytes().any(|byte| byte != b'0')
}

/// The cloud that it is a guest of, and the type of its instance, as far as its firmware says.
fn cloud(facts: &mut BTreeMap<String, Fact>) {
    let fact = |key: &str| facts.get(key).map(Fact::to_string).unwrap_or_default();
    let (vendor, product) = (fact(VENDOR), fact(PRODUCT));
    let Some(cloud) = CLOUDS.iter().find(|cloud| vendor.starts_with(cloud.vendor)) else { return };
    let of_type = cloud.type_prefix.and_then(|prefix| product.strip_prefix(prefix));
    let of_type = of_type.filter(|name| !name.is_empty());
    facts.insert("cloud.name".into(), cloud.name.into());
    facts.extend(of_type.map(|name| ("cloud.instance_type".to_owned(), name.into())));
}

/// The kind of the container that this process is in, below the directory `root`, or in a pod of Kubernetes.
fn container(root: &Path, is_pod: bool, facts: &mut BTreeMap<String, Fact>) {
    let below = |path: &str| root.join(path.trim_start_matches('/'));
    // systemd-nspawn, LXC and podman say it themselves.
    let kind = read_to_string(below("/run/systemd/container")).ok();
    let kind = kind.map(|kind| kind.trim().to_owned()).filter(|kind| !kind.is_empty());
    let by_file = || {
        let container = CONTAINERS.iter().find(|(file, _)| below(file).exists());
        container.map(|(_, kind)| (*kind).to_owned())
    };
    let by_variable = || is_pod.then(|| "kubernetes".to_owned());
    facts.extend(
        kind.or_else(by_file).or_else(by_variable).map(|kind| (CONTAINER.to_owned(), kind.into())),
    );
}

/// What the hashes of ids are for: hashes of other programs, and of other ids, have nothing in common with them.
const ID_PURPOSE: &[u8] = b"knee: machine id";
const BOOT_PURPOSE: &[u8] = b"knee: boot id";

/// The first 128 bits of HMAC-SHA256 of the purpose, with the digits of an id as key, as machine-id(5) asks for: the ids of
/// a machine are confidential. `None` for a text without digits.
fn keyed_hash(id: &str, purpose: &[u8]) -> Option<String> {
    let digits: String = id.chars().filter(char::is_ascii_hexdigit).collect();
    let mut mac = Hmac::<Sha256>::new_from_slice(digits.as_bytes()).ok()?;
    mac.update(purpose);
    let hash = mac.finalize().into_bytes();
    let hash = hash.iter().take(16).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    (!digits.is_empty()).then_some(hash)
}

fn cpu(facts: &mut BTreeMap<String, Fact>) {
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |name| Some(proc::field(&info, name)?.trim_start_matches([':', ' ']).into());
    facts.extend(value("model name").map(|model| ("cpu.model".into(), model)));
    facts.extend(value("microcode").map(|code| ("cpu.microcode".into(), code)));
    if let Some(virtual_machine) = proc::has_cpu_flag(&info, "hypervisor") {
        let answer = if virtual_machine { "yes" } else { "no" };
        facts.insert("hypervisor.present".into(), answer.into());
        if virtual_machine && let Some(name) = cpus::hypervisor() {
            facts.entry("hypervisor.name".into()).or_insert(name.into());
        }
    }
    // std's number is smaller under a CPU quota, which is a fact of its own.
    if let Ok(cpus) = cpus::allowed() {
        facts.insert("cpu.count".into(), (cpus.len() as u64).into());
    }
    let online = cpus::online();
    facts.extend(online.map(|cpus| (CPUS_ONLINE.into(), (cpus.len() as u64).into())));
    let status = proc::text("self", "status").unwrap_or_default();
    if let Some(list) = proc::field(&status, "Cpus_allowed_list:") {
        facts.insert("cpu.allowed".into(), list.into());
    }
    if let Ok(nice) = getpriority_process(None) {
        facts.insert(NICE.into(), f64::from(nice).into());
    }
}

/// The caches of data of the first CPU: size and, where several CPUs share one, which.
fn caches(directory: &Path, facts: &mut BTreeMap<String, Fact>) {
    for entry in directory.read_dir().into_iter().flatten().flatten() {
        let read = |name: &str| {
            let text = read_to_string(entry.path().join(name)).ok()?;
            Some(text.trim().to_owned())
        };
        let bytes = read("size").and_then(|size| quantities::bytes(&size).ok());
        let (Some(level), Some(bytes)) = (read("level"), bytes) else { continue };
        let kind = match read("type").as_deref() {
            Some("Data") => "d",
            Some("Unified") => "",
            _ => continue,
        };
        let name = format!("{CACHE}l{level}{kind}");
        let has_several = |list: &String| cpus::in_list(list).is_some_and(|cpus| cpus.len() > 1);
        let cpus = read("shared_cpu_list").filter(has_several);
        facts.extend(cpus.map(|cpus| (format!("{name}.cpus"), cpus.into())));
        facts.insert(format!("{name}_kib"), ((bytes >> 10) as u64).into());
    }
}

fn vulnerabilities(facts: &mut BTreeMap<String, Fact>) {
    let directory = Path::new("/sys/devices/system/cpu/vulnerabilities");
    for entry in directory.read_dir().into_iter().flatten().flatten() {
        if let Ok(text) = read_to_string(entry.path()) {
            let name = entry.file_name().to_string_lossy().into_owned();
            facts.insert(format!("vulnerability.{name}"), text.trim().into());
        }
    }
}

fn memory(facts: &mut BTreeMap<String, Fact>) {
    let info = read_to_string("/proc/meminfo").unwrap_or_default();
    for (name, key) in [("MemTotal:", "memory.total"), ("MemAvailable:", "memory.available")] {
        let value = proc::field(&info, name);
        facts.extend(value.map(|value| (key.to_owned(), value.into())));
    }
}

fn limits(facts: &mut BTreeMap<String, Fact>) {
    let resources = [
        ("descriptors", Resource::Nofile),
        ("processes", Resource::Nproc),
        ("pending_signals", Resource::Sigpending),
        ("locked_memory", Resource::Memlock),
    ];
    for (name, resource) in resources {
        let limit = getrlimit(resource).current;
        let value = limit.map_or_else(|| "unlimited".into(), Fact::from);
        facts.insert(format!("limit.{name}"), value);
    }
}

/// What the control groups of this process allow it, by the files below `root`.
fn control_groups(root: &Path, facts: &mut BTreeMap<String, Fact>) {
    let mut add = |key: &str, limit: Option<Fact>| {
        facts.insert(key.to_owned(), limit.unwrap_or_else(|| NO_LIMIT.into()))
    };
    if let Some(quotas) = cpu_quotas(root) {
        add(CPU_QUOTA, quotas.first().map(|quota| quota.cpus().into()));
        if let Some(quota) = quotas.first() {
            add(CPU_QUOTA_PERIOD, Some((quota.period_us as f64 / 1e3).into()));
        }
    }
    if let Some(limit) = memory_limit(root) {
        add(MEMORY_LIMIT, limit.map(|bytes| (bytes >> 10).into()));
    }
}

fn load(facts: &mut BTreeMap<String, Fact>) {
    let load = read_to_string("/proc/loadavg").unwrap_or_default();
    for (key, value) in ["load.1m", "load.5m", "load.15m"].iter().zip(load.split_whitespace()) {
        facts.extend(value.parse().ok().map(|load: f64| ((*key).to_owned(), load.into())));
    }
}

/// The process that used most CPU while this one looked, if it used more than a tenth of one.
fn busy(facts: &mut BTreeMap<String, Fact>) {
    let root = Path::new("/proc");
    let before = Stat::all(root);
    thread::sleep(LOOK);
    let after = Stat::all(root);
    let look_ticks = LOOK.as_nanos() as f64 / proc::TICK_NS as f64;
    // What started this process, as a launcher, can't be ended.
    let own: Vec<u32> = proc::ancestors(root, std::process::id()).take(ANCESTORS_MAX).collect();
    let busiest = after
        .iter()
        .filter(|(pid, _)| !own.contains(pid))
        .filter_map(|(pid, now)| {
            let used = now.cpu_ticks.saturating_sub(before.get(pid)?.cpu_ticks);
            Some((used, &now.name)).filter(|(used, _)| *used as f64 > look_ticks / 10.0)
        })
        .max();
    if let Some((used, name)) = busiest {
        let percent = 100.0 * used as f64 / look_ticks;
        facts.insert("busiest.process".into(), name.clone().into());
        facts.insert("busiest.percent".into(), (percent.round() as u64).into());
    }
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
        let host = Host { facts, ..Host::default() };
        let sizes = ["cpu.cache.l1d_kib", "cpu.cache.l3_kib"].map(|key| host.number(key));
        assert_eq!(sizes, [Some(48.0), Some(491_520.0)]);
        assert_eq!((host.fact("cpu.cache.l3.cpus"), host.facts.len()), (Some("0-1"), 3));
    }

    #[test]
    fn the_facts_that_reports_lean_on_are_there() {
        let host = host();
        for key in [
            "kernel.release",
            "cpu.count",
            CPUS_ONLINE,
            "cpu.allowed",
            NICE,
            "load.1m",
            "limit.descriptors",
            "memory.total",
        ] {
            assert!(host.facts.contains_key(key), "no {key} in {:?}", host.facts);
        }
        assert!(host.facts.values().all(|fact| fact.to_string().trim() == fact.to_string()));
    }

    #[test]
    fn what_control_groups_allow_is_a_fact_and_so_is_that_there_is_no_limit() {
        let root = tempfile::tempdir().unwrap();
        let set = |file: &str, text: &str| {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let facts = || {
            let mut facts = BTreeMap::new();
            control_groups(root.path(), &mut facts);
            facts.into_iter().collect::<Vec<_>>()
        };
        let wanted = |all: &[(&str, Fact)]| -> Vec<(String, Fact)> {
            all.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
        };
        assert_eq!(facts(), []);
        set("proc/self/cgroup", "0::/\n");
        set("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        set("sys/fs/cgroup/memory.max", "max\n");
        assert_eq!(facts(), wanted(&[CPU_QUOTA, MEMORY_LIMIT].map(|key| (key, NO_LIMIT.into()))));
        set("sys/fs/cgroup/memory.max", "536870912\n");
        set("sys/fs/cgroup/cpu.max", "50000 200000\n");
        let limits = [
            (CPU_QUOTA_PERIOD, 200.0.into()),
            (CPU_QUOTA, 0.25.into()),
            (MEMORY_LIMIT, 524_288.into()),
        ];
        assert_eq!(facts(), wanted(&limits));
    }

    #[test]
    fn an_id_is_hashed_as_openssl_does() {
        // printf %s 'knee: machine id' | openssl dgst -sha256 -hmac b08dfa6083e7567a1921a715000001fb
        let id = "b08dfa6083e7567a1921a715000001fb";
        let expected = Some("ed7ffa96935464221a30c1fd3fd96515".to_owned());
        assert_eq!(keyed_hash(id, ID_PURPOSE), expected);
        assert_eq!(keyed_hash("b08dfa60-83e7-567a-1921-a715000001fb", ID_PURPOSE), expected);
        assert_ne!(keyed_hash(id, BOOT_PURPOSE), expected);
        assert_eq!(keyed_hash("", ID_PURPOSE), None);
    }

    #[test]
    fn an_id_in_a_container_counts_where_it_was_mounted() {
        let root = std::env::temp_dir().join(format!("knee-identity-{}", std::process::id()));
        for directory in ["etc", "proc/self", "proc/sys/kernel/random"] {
            std::fs::create_dir_all(root.join(directory)).unwrap();
        }
        let write = |file: &str, text: &str| std::fs::write(root.join(file), text).unwrap();
        write("etc/machine-id", "b08dfa6083e7567a1921a715000001fb\n");
        write("proc/sys/kernel/random/boot_id", "72bd8c1b-0000-4b7a-9f0d-000000000001\n");
        let facts = |kind: Option<&str>| {
            let mut facts = BTreeMap::new();
            facts.extend(kind.map(|kind| (CONTAINER.to_owned(), kind.into())));
            identity(&root, &mut facts);
            facts
        };
        assert!(
            facts(None).contains_key(HOST_ID) && facts(None)[HOST_BOOT].to_string().len() == 32
        );
        assert!(!format!("{:?}", facts(None)).contains("72bd8c1b"), "no id as it is");
        assert!(!facts(Some("docker")).contains_key(HOST_ID), "that of the image");
        assert!(facts(Some("lxc")).contains_key(HOST_ID), "it has its own");
        let mounted = "36 35 8:1 /etc/machine-id /etc/machine-id ro,relatime - ext4 /dev/sda1 ro\n";
        write("proc/self/mountinfo", &format!("35 1 0:30 / / rw - overlay overlay rw\n{mounted}"));
        assert_eq!(facts(Some("kubernetes"))[HOST_ID], facts(None)[HOST_ID]);
        std::fs::remove_dir_all(&root).unwrap();
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
            let mut facts = facts.map(|(key, value)| (key.to_owned(), value.into())).into();
            cloud(&mut facts);
            ["cloud.name", "cloud.instance_type"].map(|key| facts.get(key).cloned())
        };
        let some = |text: &str| Some(text.into());
        assert_eq!(clouds("Amazon EC2", "m5.large"), [some("Amazon EC2"), some("m5.large")]);
        assert_eq!(clouds("Scaleway", "SCW-DEV1-S"), [some("Scaleway"), some("DEV1-S")]);
        let google = [some("Google Compute Engine"), None];
        assert_eq!(clouds("Google", "Google Compute Engine"), google);
        assert_eq!(clouds("QEMU", "Standard PC (Q35 + ICH9, 2009)"), [None, None]);
    }

    #[test]
    fn a_container_is_known_by_what_it_says_or_by_its_file() {
        let root = std::env::temp_dir().join(format!("knee-container-{}", std::process::id()));
        let kind_in = |is_pod| {
            let mut facts = BTreeMap::new();
            container(&root, is_pod, &mut facts);
            facts.remove(CONTAINER).map(|kind| kind.to_string())
        };
        let kind = || kind_in(false);
        std::fs::create_dir_all(root.join("run/systemd")).unwrap();
        assert_eq!(kind(), None);
        assert_eq!(kind_in(true).as_deref(), Some("kubernetes"));
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
