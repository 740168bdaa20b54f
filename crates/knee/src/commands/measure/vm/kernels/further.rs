//! Kernels of Debian's other suites, which this machine's apt does not know: by lists of packages of their own.

use super::{Apt, output, version_key};
use crate::exit::note;
use rustix::fs::{FlockOperation, flock};
use rustix::io::retry_on_intr;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

const SUITES: [(&[u64], &str); 3] =
    [(&[5, 10], "bullseye"), (&[6, 1], "bookworm"), (&[6, 12], "trixie")];
/// The suite that has what is newer than all of these.
const NEWEST: &str = "sid";
/// Ends the name of a suite that has the security updates of another. The newest suite has none.
const SECURITY: &str = "-security";
/// The archive, and that of security updates, where this machine's sources name none.
const ARCHIVES: [(&str, &str); 2] = [
    ("Debian", "http://deb.debian.org/debian"),
    ("Debian-Security", "http://deb.debian.org/debian-security"),
];
/// Stands in the name of a list of packages, which may be compressed.
const PACKAGE_LIST: &str = "_Packages";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
const AGE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn suite_of(version: &str) -> Option<&'static str> {
    let key = version_key(version);
    let (newest, _) = SUITES[SUITES.len() - 1];
    let named = SUITES.iter().find(|(series, _)| key.starts_with(series));
    let suite = named.map(|(_, suite)| *suite);
    suite.or((key.first() > newest.first()).then_some(NEWEST))
}

/// An apt that knows the packages of `suite`. Their lists are below `cache`, and nothing of the system's apt changes.
pub(super) fn apt(suite: &str, cache: &Path) -> Result<Apt, String> {
    let directory = cache.with_file_name("apt").join(suite);
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    for part in ["lists/partial", "cache/archives/partial", "parts"] {
        fs::create_dir_all(directory.join(part)).map_err(failed)?;
    }
    // Until this function ends: what another knee has fetched meanwhile is fresh.
    let _lock = locked(&directory).map_err(failed)?;
    let (sources, fresh) = (directory.join("sources.list"), directory.join("fetched"));
    let apt = Apt { options: options(&directory) };
    let age = fs::metadata(&fresh).and_then(|file| file.modified()).ok();
    let age = age.and_then(|then| SystemTime::now().duration_since(then).ok());
    if age.is_some_and(|age| age < AGE_MAX) {
        return Ok(apt);
    }
    let archives =
        ARCHIVES.map(|(label, default)| archive(label).unwrap_or_else(|| default.to_owned()));
    let text = sources_of(suite, &archives, Path::new(KEYRING).exists());
    fs::write(&sources, text).map_err(failed)?;
    note(&format!(
        "knee: this machine's apt has no such kernel: fetching the list of Debian's suite {suite} into {} (about 10 MB)",
        directory.display()
    ));
    // What was fetched before counts no longer, however this ends.
    let _ = fs::remove_file(&fresh);
    let unfetched = |why: &str| {
        format!(
            "this machine's apt has no such kernel, and the list of Debian's suite {suite} could not be fetched: {why}"
        )
    };
    output(&mut apt.command("apt-get", &["update", "--quiet"])).map_err(|why| unfetched(&why))?;
    if !has_package_list(&directory.join("lists")) {
        return Err(unfetched("apt-get update succeeded, but fetched no list of packages"));
    }
    fs::write(&fresh, "").map_err(failed)?;
    Ok(apt)
}

/// Waits until no other knee has locked this directory, and locks it until the value is dropped.
fn locked(directory: &Path) -> io::Result<File> {
    let directory = File::open(directory)?;
    retry_on_intr(|| flock(&directory, FlockOperation::LockExclusive))?;
    Ok(directory)
}

fn has_package_list(lists: &Path) -> bool {
    let mut names = super::file_names(lists).into_iter();
    names.any(|name| name.contains(PACKAGE_LIST))
}

fn options(directory: &Path) -> Vec<String> {
    let at = |option: &str, part: &str| format!("{option}={}", directory.join(part).display());
    vec![
        at("Dir::Etc::SourceList", "sources.list"),
        at("Dir::Etc::SourceParts", "parts"),
        at("Dir::State::Lists", "lists"),
        at("Dir::Cache", "cache"),
        // A root's directories are closed to apt's own user.
        "APT::Sandbox::User=root".to_owned(),
        // Else it succeeds with what it had where an archive can't be reached.
        "APT::Update::Error-Mode=any".to_owned(),
        "Acquire::Languages=none".to_owned(),
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".to_owned(),
        "Acquire::IndexTargets::deb::CNF::DefaultEnabled=false".to_owned(),
    ]
}

/// The address that this machine takes the archive of this label from: a mirror, where it has one.
fn archive(label: &str) -> Option<String> {
    let words = [
        "indextargets",
        "--format",
        "$(LABEL)\t$(REPO_URI)",
        "Created-By: Packages",
        "Origin: Debian",
    ];
    let listed = output(&mut Apt::default().command("apt-get", &words)).ok()?;
    let mut rows = listed.lines().filter_map(|line| line.split_once('\t'));
    rows.find_map(|(archive, address)| {
        (archive == label).then(|| address.trim_end_matches('/').to_owned())
    })
}

fn sources_of(suite: &str, [main, security]: &[String; 2], has_keyring: bool) -> String {
    let signed = if has_keyring { format!("[signed-by={KEYRING}] ") } else { String::new() };
    let of_suite = format!("deb {signed}{main} {suite} main\n");
    if suite == NEWEST {
        return of_suite;
    }
    format!("{of_suite}deb {signed}{security} {suite}{SECURITY} main\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_series_is_in_its_suite() {
        let suites = ["5.10", "5.10.0-46", "6.1", "6.12.9", "7", "7.2", "10.1"].map(suite_of);
        let suites = suites.map(Option::unwrap);
        assert_eq!(suites, ["bullseye", "bullseye", "bookworm", "trixie", "sid", "sid", "sid"]);
        for none in ["1.2", "4.19", "6.11", "6.16", "x"] {
            assert_eq!(suite_of(none), None, "{none}");
        }
    }

    #[test]
    fn security_updates_are_looked_for_where_a_suite_has_them() {
        let archives = ["http://here/debian".to_owned(), "http://here/security".to_owned()];
        let lines = |suite| sources_of(suite, &archives, false);
        assert_eq!(
            lines("bullseye"),
            "deb http://here/debian bullseye main\ndeb http://here/security bullseye-security main\n"
        );
        assert_eq!(lines("sid"), "deb http://here/debian sid main\n");
    }

    #[test]
    fn lists_count_only_where_one_of_packages_came() {
        let lists = tempfile::tempdir().unwrap();
        assert!(!has_package_list(lists.path()));
        fs::write(lists.path().join("deb.debian.org_debian_dists_sid_InRelease"), "").unwrap();
        assert!(!has_package_list(lists.path()));
        let name = "deb.debian.org_debian_dists_sid_main_binary-amd64_Packages.lz4";
        fs::write(lists.path().join(name), "").unwrap();
        assert!(has_package_list(lists.path()));
    }

    #[test]
    fn one_knee_at_a_time_fetches_lists() {
        let directory = tempfile::tempdir().unwrap();
        let lock = locked(directory.path()).unwrap();
        let second = File::open(directory.path()).unwrap();
        let try_lock = || flock(&second, FlockOperation::NonBlockingLockExclusive);
        assert!(try_lock().is_err());
        drop(lock);
        assert!(try_lock().is_ok());
    }

    #[test]
    fn apt_is_kept_to_a_directory_of_its_own() {
        let options = options(Path::new("/c/apt/sid"));
        for option in [
            "APT::Update::Error-Mode=any",
            "Dir::State::Lists=/c/apt/sid/lists",
            "Dir::Etc::SourceList=/c/apt/sid/sources.list",
        ] {
            assert!(options.iter().any(|given| given == option), "{options:?}");
        }
    }
}
