//! What the tests need beyond Rust: looked for, installed where that is possible, never silently.

use crate::shell;
use crate::tally::Tally;
use anyhow::Result;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Package lists older than this are fetched anew before installing.
const LISTS_AGE_MAX: Duration = Duration::from_secs(24 * 3600);

/// Something that the tests need.
struct Need {
    /// What it is for, after `needed to`.
    purpose: &'static str,
    /// Programs, any of which will do.
    programs: &'static [&'static str],
    /// Debian's package of it.
    package: &'static str,
    /// A variable that names the program, if there is one.
    variable: Option<&'static str>,
    /// Whether the package brings a service, which Debian starts at once and at every boot.
    service: bool,
}

const NEEDS: &[Need] = &[
    Need {
        variable: Some("CC"),
        ..need("build SQLite and the C loops", &["cc", "gcc", "clang"], "gcc")
    },
    Need {
        variable: Some("CHROMIUM"),
        ..need(
            "check the HTML reports in a browser",
            &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
            "chromium",
        )
    },
    need("draw what `knee export --format gnuplot` writes", &["gnuplot"], "gnuplot-nox"),
    // Debian's daemons are not on every path.
    Need {
        service: true,
        ..need("compare `knee httpd` with it", &["nginx", "/usr/sbin/nginx"], "nginx")
    },
    Need {
        service: true,
        ..need("compare `knee httpd` with it", &["lighttpd", "/usr/sbin/lighttpd"], "lighttpd")
    },
    need("ask `knee httpd` as many programs do", &["curl"], "curl"),
    need("load `knee httpd`, and to compare `knee load` with it", &["wrk"], "wrk"),
    need("load `knee httpd`, and to compare `knee load` with it", &["httperf"], "httperf"),
    need("compare `knee run command` with it", &["hyperfine"], "hyperfine"),
    need("compare the TLS handshakes of `knee load` with it", &["openssl"], "openssl"),
    need("load `knee httpd`", &["ab"], "apache2-utils"),
    need("start ranks of `knee run` by hydra", &["mpiexec.hydra"], "mpich"),
    Need {
        service: true,
        ..need("start ranks by Slurm", &["munged", "/usr/sbin/munged"], "munge")
    },
    Need {
        service: true,
        ..need("start ranks by Slurm", &["slurmctld", "/usr/sbin/slurmctld"], "slurmctld")
    },
    Need {
        service: true,
        ..need("start ranks by Slurm", &["slurmd", "/usr/sbin/slurmd"], "slurmd")
    },
    need("start ranks by Slurm", &["srun"], "slurm-client"),
    need("run the servers and programs of tests", &["python3"], "python3"),
    need("read records with another program", &["sqlite3"], "sqlite3"),
    need("make certificates", &["openssl"], "openssl"),
    need("set up networks of their own", &["ip", "/usr/sbin/ip"], "iproute2"),
    need("build a tree of files", &["make"], "make"),
    need("test growth by CTest", &["cmake"], "cmake"),
    need("test growth by GoogleTest", &["/usr/include/gtest/gtest.h"], "libgtest-dev"),
    need("read what `knee export --format pprof` writes", &["go"], "golang-go"),
    need("install speedscope", &["npm"], "npm"),
    // Debian's programs of the server are not on every path.
    Need {
        service: true,
        ..need(
            "test the archive in PostgreSQL",
            &[
                "postgres",
                "/usr/lib/postgresql/18/bin/postgres",
                "/usr/lib/postgresql/17/bin/postgres",
                "/usr/lib/postgresql/16/bin/postgres",
                "/usr/lib/postgresql/15/bin/postgres",
            ],
            "postgresql",
        )
    },
    need("boot kernels with `knee vm`", &["qemu-system-x86_64"], "qemu-system-x86"),
    need("boot kernels whose plug is pulled", &["busybox"], "busybox-static"),
    need("record on XFS", &["mkfs.xfs"], "xfsprogs"),
    need("record on Btrfs", &["mkfs.btrfs"], "btrfs-progs"),
];

const fn need(
    purpose: &'static str,
    programs: &'static [&'static str],
    package: &'static str,
) -> Need {
    Need { purpose, programs, package, variable: None, service: false }
}

/// Looks for each need, and installs what is missing. What can't be had counts as failed where packages can be
/// installed, and as skipped elsewhere.
pub fn run(tally: &mut Tally) -> Result<()> {
    let (met, missing): (Vec<&Need>, Vec<&Need>) =
        NEEDS.iter().partition(|need| need.met_by().is_some());
    println!("{} of {} programs that the tests need are here.", met.len(), NEEDS.len());
    for need in &missing {
        println!("{} is missing; it is needed to {}.", need.package, need.purpose);
    }
    let refusal = if missing.is_empty() { None } else { install(&missing)? };
    for need in missing.iter().filter(|need| need.met_by().is_none()) {
        let step = format!("installing {}", need.package);
        let by_hand = format!("by hand (Debian and Ubuntu): apt-get install {}", need.package);
        match &refusal {
            Some(why) => tally.skip(&step, &format!("{why}; {by_hand}")),
            None => tally.fail(format!("{step}: apt-get did not bring it (see above); {by_hand}")),
        }
    }
    if let Err(why) = speedscope()? {
        tally.skip("installing speedscope", &why);
    }
    Ok(())
}

/// The package of npm with the page of speedscope, which a test opens exports in.
const SPEEDSCOPE: &str = "speedscope@1.25.0";

/// Puts speedscope below the directory of built files, where its test looks for it.
fn speedscope() -> Result<Result<(), String>> {
    let directory = shell::root().join("target/npm");
    if directory.join("node_modules/speedscope").is_dir() {
        println!("speedscope is here, to open what `knee export --format speedscope` writes.");
        return Ok(Ok(()));
    }
    if !shell::has("npm") {
        return Ok(Err("no npm here; its test is skipped".to_owned()));
    }
    fs::create_dir_all(&directory)?;
    println!("Installing speedscope by npm.");
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--silent", "--prefix"]);
    let is_installed = shell::succeeds(npm.arg(&directory).arg(SPEEDSCOPE))?;
    Ok(if is_installed { Ok(()) } else { Err("npm failed (see above)".to_owned()) })
}

/// The program that meets the need of that package, if it is here.
pub fn program(package: &str) -> Option<String> {
    NEEDS.iter().find(|need| need.package == package).and_then(Need::met_by)
}

/// The browser that the tests use, if there is one.
pub fn browser() -> Option<String> {
    program("chromium")
}

impl Need {
    /// The program that meets it.
    fn met_by(&self) -> Option<String> {
        let named = self.variable.and_then(|variable| std::env::var(variable).ok());
        let candidates = self.programs.iter().map(|program| (*program).to_owned());
        named.into_iter().chain(candidates).find(|program| shell::has(program))
    }
}

/// Installs the packages of `needs` by apt-get, all at once: one package takes as long as ten. Returns why nothing can be
/// installed here, where that is so.
fn install(needs: &[&Need]) -> Result<Option<String>> {
    let prefix = match installer() {
        Ok(prefix) => prefix,
        Err(why) => return Ok(Some(why)),
    };
    if lists_are_old() && !shell::succeeds(apt_get(prefix).arg("update"))? {
        println!("apt-get update failed; trying with the lists that are here.");
    }
    let quiet = Quiet::new()?;
    let mut packages: Vec<&str> = needs.iter().map(|need| need.package).collect();
    packages.dedup();
    if !install_quietly(prefix, &quiet, &packages)? {
        // One that no list has refuses all.
        for package in packages {
            install_quietly(prefix, &quiet, &[package])?;
        }
    }
    for need in needs.iter().filter(|need| need.service && need.met_by().is_some()) {
        if !not_at_boot(prefix, need.package)? {
            println!("{} may start at the next boot: `update-rc.d` didn't work.", need.package);
        }
    }
    Ok(None)
}

fn install_quietly(prefix: &[&str], quiet: &Quiet, packages: &[&str]) -> Result<bool> {
    let mut command = apt_get(prefix);
    command.args(quiet.options()).args(["install", "--yes", "--no-install-recommends"]);
    shell::succeeds(command.args(packages))
}

/// What to put before apt-get so that it may install, or why it can't.
fn installer() -> Result<&'static [&'static str], String> {
    if !shell::has("apt-get") {
        return Err("no apt-get here".to_owned());
    }
    privilege().ok_or_else(|| "neither root nor sudo without a password".to_owned())
}

/// Whether a test that lacks something is a fault here: as root, with apt-get and namespaces, nothing is missing but what
/// the kernel and the processor lack.
pub fn is_whole_machine() -> bool {
    let mut unshare = Command::new("unshare");
    unshare.args(["--net", "--mount", "--uts", "--pid", "--fork", "true"]);
    installer().is_ok_and(<[&str]>::is_empty) && shell::output(&mut unshare).is_ok()
}

/// A directory with the programs by which Debian's packages start their services, which do nothing here:
/// what is installed for tests must not begin to serve. Nothing of the system is changed for it, so
/// nothing has to be put back.
struct Quiet(tempfile::TempDir);

impl Quiet {
    /// Makes the directory.
    fn new() -> Result<Self> {
        let directory = tempfile::tempdir()?;
        // dpkg runs as root, perhaps by sudo, and so do what it starts.
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755))?;
        for name in ["invoke-rc.d", "deb-systemd-invoke"] {
            let stub = directory.path().join(name);
            fs::write(&stub, "#!/bin/sh\necho \"not done, as these are tests: $0 $*\" >&2\n")?;
            fs::set_permissions(&stub, fs::Permissions::from_mode(0o755))?;
        }
        Ok(Self(directory))
    }

    /// The options of apt-get, so that packages find these first.
    fn options(&self) -> [String; 2] {
        let directory = self.0.path().display();
        let usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        ["-o".to_owned(), format!("DPkg::Path={directory}:{usual}")]
    }
}

/// Keeps a service that was just installed from starting with the machine.
fn not_at_boot(prefix: &[&str], service: &str) -> Result<bool> {
    let words = [prefix, &["update-rc.d", service, "disable"]].concat();
    shell::succeeds(Command::new(words[0]).args(&words[1..]))
}

/// What to put before a command so that it runs as root: nothing, or `sudo -n`.
fn privilege() -> Option<&'static [&'static str]> {
    let root = shell::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if root {
        return Some(&[]);
    }
    let sudo =
        shell::has("sudo") && shell::output(Command::new("sudo").args(["-n", "true"])).is_ok();
    sudo.then_some(&["sudo", "-n"])
}

/// `apt-get` that asks nothing and gives up on a dead mirror or a held lock.
fn apt_get(prefix: &[&str]) -> Command {
    let mut words = prefix.to_vec();
    words.extend(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    words.extend(["-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::http::Timeout=30"]);
    words.extend(["-o", "Acquire::Retries=2", "-qq"]);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    command
}

/// Whether apt's package lists are missing or older than a day.
fn lists_are_old() -> bool {
    newest_age(Path::new("/var/lib/apt/lists")).is_none_or(|age| age > LISTS_AGE_MAX)
}

/// The age of the newest package list in a directory; none when it holds no list.
fn newest_age(directory: &Path) -> Option<Duration> {
    fs::read_dir(directory)
        .ok()?
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().contains("_Packages"))
        .filter_map(|entry| entry.metadata().ok()?.modified().ok()?.elapsed().ok())
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::SystemTime;

    #[test]
    fn the_age_of_the_lists_is_that_of_the_newest() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(newest_age(directory.path()), None);
        File::create(directory.path().join("lock")).unwrap();
        assert_eq!(newest_age(directory.path()), None, "a lock is no list");
        let old = File::create(directory.path().join("mirror_main_Packages")).unwrap();
        old.set_modified(SystemTime::now() - Duration::from_secs(72 * 3600)).unwrap();
        assert!(newest_age(directory.path()).unwrap() > LISTS_AGE_MAX);
        File::create(directory.path().join("mirror_updates_Packages.lz4")).unwrap();
        assert!(newest_age(directory.path()).unwrap() < LISTS_AGE_MAX);
    }

    #[test]
    fn a_need_is_met_by_any_of_its_programs() {
        let met = |programs| need("", programs, "").met_by();
        assert_eq!(met(&["no-such-program", "sh"]).as_deref(), Some("sh"));
        assert_eq!(met(&["no-such-program", "/bin/sh"]).as_deref(), Some("/bin/sh"));
        assert_eq!(met(&["no-such-program"]), None);
    }

    #[test]
    fn what_starts_services_does_nothing_in_the_quiet() {
        let quiet = Quiet::new().unwrap();
        let [_, option] = quiet.options();
        let path = option.strip_prefix("DPkg::Path=").unwrap();
        for name in ["invoke-rc.d", "deb-systemd-invoke"] {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("{name} no-such-service start")]).env("PATH", path);
            let run = || shell::bounded(&mut command, Duration::from_secs(60)).unwrap();
            // A child of another test that is not yet its program has what was just written open.
            let busy = |done: &shell::Done| done.stderr.contains("Text file busy");
            let done = std::iter::repeat_with(run).find(|done| !busy(done)).unwrap();
            assert!(done.status.success(), "{name}: {}", done.stderr);
            assert!(done.stderr.contains("not done"), "{name}: {}", done.stderr);
        }
    }
}
