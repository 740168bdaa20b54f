//! From what was typed after `--kernel` to an image: a file, an installed kernel, or one of Debian's packages.

mod further;

use super::checks::check_kernel;
use crate::exit::{Trouble, note};
use engine::Scratch;
use etcetera::BaseStrategy;
use guest::Kernel;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const DEBIAN: &str = "debian:";
/// The kernel that this machine would boot.
const INSTALLED: &str = "installed";
/// So many packages of a version are tried at most: lists may be older than what is kept.
const PACKAGES_TRIED: usize = 4;
const BOOT: &str = "/boot";

/// Whether `typed` names a kernel otherwise than by its file.
pub fn is_named(typed: &str) -> bool {
    typed == INSTALLED || typed.starts_with(DEBIAN)
}

/// The kernel that was typed after `flag`.
pub fn find(flag: &str, typed: &str) -> Result<Kernel, Trouble> {
    kernel(typed).map_err(|what| Trouble::usage(format!("{flag} {what}")))
}

fn kernel(typed: &str) -> Result<Kernel, String> {
    let path = match typed.strip_prefix(DEBIAN) {
        Some(version) => debian(version).map_err(|what| format!("{typed}: {what}"))?,
        None if typed == INSTALLED => installed()?,
        None => PathBuf::from(typed),
    };
    let wrong = |what: String| format!("{}: {what}", path.display());
    let kernel = Kernel::read(&path).map_err(wrong)?;
    check_kernel(&kernel).map_err(wrong)?;
    Ok(kernel)
}

fn installed() -> Result<PathBuf, String> {
    let entries = fs::read_dir(BOOT).into_iter().flatten().flatten();
    let is_image = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("vmlinuz-") && !name.contains("rescue")
    };
    let images = entries.map(|entry| entry.path()).filter(is_image);
    images.max_by_key(|path| version_key(&path.to_string_lossy())).ok_or_else(|| {
        format!("{INSTALLED}: {BOOT} has no vmlinuz-… here; name a file, or debian:6.1")
    })
}

/// The numbers of a version, so that 6.12 comes after 6.2.
fn version_key(text: &str) -> Vec<u64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
}

/// The image in Debian's package of that version, fetched into the cache unless it is there.
fn debian(version: &str) -> Result<PathBuf, String> {
    let is_version = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._+~-".contains(c))
    };
    if !is_version(version) {
        return Err("a version is meant: debian:6.1".to_owned());
    }
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        _ => return Err("Debian's images for this architecture are not known here".to_owned()),
    };
    let cache = cache_directory().ok_or("no home directory, and so no cache")?;
    let (system, suffix) = (Apt::default(), format!("cloud-{architecture}"));
    let (apt, packages) = match packages(&system, version, &suffix) {
        Ok(packages) => (system, packages),
        Err(what) => {
            let Some(suite) = further::suite_of(version) else { return Err(what) };
            if let Some(image) = newest_first(&file_names(&cache), version, &suffix).first() {
                let image = cache.join(image);
                note(&format!(
                    "knee: {DEBIAN}{version} is {}, which was fetched before; without that file, Debian's newest is looked up",
                    image.display()
                ));
                return Ok(image);
            }
            let apt = further::apt(suite, &cache)?;
            let packages = packages(&apt, version, &suffix)?;
            (apt, packages)
        }
    };
    newest_there(&apt, &packages, &cache)
}

/// The image of the first of these packages that can be had.
fn newest_there(apt: &Apt, packages: &[String], cache: &Path) -> Result<PathBuf, String> {
    let mut first_fault = None;
    for package in packages.iter().take(PACKAGES_TRIED) {
        let image = cache.join(package);
        if image.exists() {
            return Ok(image);
        }
        note(&format!("knee: fetching {package} by apt into {} (about 30 MB)", cache.display()));
        match fetch(apt, package, cache, &image) {
            Ok(()) => return Ok(image),
            Err(what) => {
                note(&format!("knee: {package} can't be had: {what}"));
                first_fault.get_or_insert(what);
            }
        }
    }
    Err(first_fault.unwrap_or_default())
}

/// What apt is asked with: its own configuration, and options beyond that.
#[derive(Debug, Default)]
struct Apt {
    options: Vec<String>,
}

impl Apt {
    fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(self.options.iter().flat_map(|option| ["-o", option])).args(words);
        command
    }
}

fn cache_directory() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.cache_dir().join("knee").join("kernels"))
}

/// The packages of that version that apt knows, whose names end in `suffix`, the newest first.
fn packages(apt: &Apt, version: &str, suffix: &str) -> Result<Vec<String>, String> {
    let mut listed = String::new();
    for prefix in PREFIXES {
        listed += &output(&mut apt.command("apt-cache", &["pkgnames", prefix]))?;
    }
    let listed: Vec<&str> = listed.lines().collect();
    let packages = newest_first(&listed, version, suffix);
    if !packages.is_empty() {
        return Ok(packages.into_iter().map(str::to_owned).collect());
    }
    Err(match series(&listed, suffix).as_slice() {
        [] => "apt knows no package of a cloud kernel; `apt-get update` refreshes what it knows"
            .to_owned(),
        all => format!(
            "apt knows no package linux-image-{version}…-{suffix}; it knows {} (`apt-get update` refreshes that)",
            findings::format::list(all)
        ),
    })
}

/// Those of this version. The unsigned one comes before the signed: a guest asks for no signature.
fn newest_first<'a, Name: AsRef<str>>(
    all: &'a [Name],
    version: &str,
    suffix: &str,
) -> Vec<&'a str> {
    let is_meant = |release: &str| {
        let rest = release.strip_prefix(version);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '+']))
    };
    let named = all.iter().map(AsRef::as_ref);
    let mut meant: Vec<&str> =
        named.filter(|name| release(name, suffix).is_some_and(is_meant)).collect();
    let is_binary = |name: &str| name.starts_with(PREFIXES[1]);
    meant
        .sort_by_key(|name| Reverse((version_key(name), is_binary(name), name.contains(UNSIGNED))));
    meant
}

/// How names of packages with an image begin. From 7.0 on, `linux-image-…` only depends on the one that has it.
const PREFIXES: [&str; 2] = ["linux-image-", "linux-binary-"];
const UNSIGNED: &str = "unsigned";

/// Of `linux-image-6.1.0-53-cloud-amd64-unsigned`, with the suffix `cloud-amd64`, `6.1.0-53`; and of
/// `linux-binary-unsigned-7.2.13-cloud-amd64`, `7.2.13`. A package whose version has but two numbers has no image, and
/// depends on one that has.
fn release<'a>(name: &'a str, suffix: &str) -> Option<&'a str> {
    let name = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))?;
    let name = name.strip_prefix(UNSIGNED).map_or(name, |name| name.trim_start_matches('-'));
    let name = name.strip_suffix(UNSIGNED).map_or(name, |name| name.trim_end_matches('-'));
    let release = name.strip_suffix(suffix)?.strip_suffix('-')?;
    (version_key(release).len() > 2).then_some(release)
}

/// The series of kernels (`debian:6.1`) among the `listed` packages that end in `suffix`.
fn series(listed: &[&str], suffix: &str) -> Vec<String> {
    let versions = listed.iter().filter_map(|name| {
        let key = version_key(release(name, suffix)?);
        Some((key[0], key[1]))
    });
    let versions: BTreeSet<(u64, u64)> = versions.collect();
    versions.iter().map(|(major, minor)| format!("{DEBIAN}{major}.{minor}")).collect()
}

fn file_names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Takes the image out of the package, which is downloaded and not installed.
fn fetch(apt: &Apt, package: &str, cache: &Path, image: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", cache.display());
    fs::create_dir_all(cache).map_err(failed)?;
    let work = cache.join(format!("{package}.{}-{:08x}", std::process::id(), fastrand::u32(..)));
    // Removed also where this process is killed.
    let work = Scratch::new(&work).map_err(failed)?;
    output(apt.command("apt-get", &["download", package]).current_dir(work.path()))?;
    fs::rename(unpack(work.path())?, image).map_err(failed)
}

fn unpack(work: &Path) -> Result<PathBuf, String> {
    let missing = || format!("{}: the package is not there", work.display());
    let find = |ending: &str, directory: &Path| {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains(ending))
    };
    let package = find(".deb", work).ok_or_else(missing)?;
    output(Command::new("dpkg-deb").arg("-x").arg(&package).arg(work.join("root")))?;
    let root = work.join("root");
    let modules = || find("", &root.join("usr/lib/modules"));
    let image = find("vmlinuz-", &root.join("boot")).or_else(|| find("/vmlinuz", &modules()?));
    image.ok_or_else(|| "it has no image".to_owned())
}

fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = command.stdin(Stdio::null()).output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            format!("it takes Debian's {name}, which is not here; name the file of an image")
        }
        _ => format!("{name}: {error}"),
    })?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&out.stderr);
    let last = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it failed");
    Err(format!("{name}: {}", printable::one_line(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: [&str; 11] = [
        "linux-image-6.12.9+deb13-cloud-amd64-unsigned",
        "linux-image-6.1.0-41-cloud-amd64-unsigned",
        "linux-image-6.1.0-53-cloud-amd64",
        "linux-image-6.1.0-53-cloud-amd64-unsigned",
        "linux-image-6.1-cloud-amd64",
        "linux-image-6.5.0-cloud-arm64-unsigned",
        "linux-image-7.2.13+deb14-cloud-amd64",
        "linux-image-7.2.13+deb14-cloud-amd64-dbg",
        "linux-image-cloud-amd64",
        "linux-binary-7.2.13+deb14-cloud-amd64",
        "linux-binary-unsigned-7.2.13+deb14-cloud-amd64",
    ];

    #[test]
    fn series_are_listed_each_once() {
        assert_eq!(series(&LISTED, "cloud-amd64"), ["debian:6.1", "debian:6.12", "debian:7.2"]);
        assert_eq!(series(&[], "cloud-amd64"), [""; 0]);
    }

    #[test]
    fn the_newest_image_of_a_version_is_taken() {
        let all = |version| newest_first(&LISTED, version, "cloud-amd64");
        assert_eq!(all("6.1"), [LISTED[3], LISTED[2], LISTED[1]]);
        assert_eq!(all("6.1.0-41"), [LISTED[1]]);
        assert_eq!(all("7"), [LISTED[10], LISTED[9], LISTED[6]]);
        for none in ["6.2", "6.1.0-4", "5.10"] {
            assert_eq!(all(none), [""; 0]);
        }
    }

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        assert!(version_key("vmlinuz-6.12.0-1") > version_key("vmlinuz-6.2.11-9"));
    }
}
