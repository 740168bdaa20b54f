//! From what was typed after `--kernel` to an image: a file, an installed kernel, or one of Debian's packages.

use super::checks::check_kernel;
use crate::exit::{Trouble, note};
use engine::Scratch;
use etcetera::BaseStrategy;
use guest::Kernel;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Precedes the version of a package: `debian:6.1`.
const DEBIAN: &str = "debian:";
/// The kernel that this machine would boot.
const INSTALLED: &str = "installed";
/// Where distributions keep the images of installed kernels.
const BOOT: &str = "/boot";

/// Whether `typed` names a kernel otherwise than by its file.
pub fn is_named(typed: &str) -> bool {
    typed == INSTALLED || typed.starts_with(DEBIAN)
}

/// The image that `typed` names.
pub fn find(typed: &str) -> Result<Kernel, Trouble> {
    find_for("--kernel", typed)
}

/// The image that `typed` names behind this `flag`.
pub fn find_for(flag: &str, typed: &str) -> Result<Kernel, Trouble> {
    let path = match typed.strip_prefix(DEBIAN) {
        Some(version) => debian(version)?,
        None if typed == INSTALLED => installed()?,
        None => PathBuf::from(typed),
    };
    let wrong = |fault| Trouble::usage(format!("{flag} {}: {fault}", path.display()));
    let kernel = Kernel::read(&path).map_err(wrong)?;
    check_kernel(&kernel)
        .map_err(|what| Trouble::usage(format!("{flag} {}: {what}", path.display())))?;
    Ok(kernel)
}

/// The newest image of /boot.
fn installed() -> Result<PathBuf, Trouble> {
    let entries = fs::read_dir(BOOT).into_iter().flatten().flatten();
    let is_image = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("vmlinuz-") && !name.contains("rescue")
    };
    let images = entries.map(|entry| entry.path()).filter(is_image);
    images.max_by_key(|path| version_key(&path.to_string_lossy())).ok_or_else(|| {
        Trouble::usage(format!(
            "--kernel installed: {BOOT} has no vmlinuz-… here; name a file, or debian:6.1"
        ))
    })
}

/// The numbers of a version, so that 6.12 comes after 6.2.
fn version_key(text: &str) -> Vec<u64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
}

/// The image in Debian's package of that version, fetched into the cache unless it is there.
fn debian(version: &str) -> Result<PathBuf, Trouble> {
    let wrong = |what: &str| Trouble::usage(format!("--kernel {DEBIAN}{version}: {what}"));
    let is_version = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._+~-".contains(c))
    };
    if !is_version(version) {
        return Err(wrong("a version is meant: debian:6.1"));
    }
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        _ => return Err(wrong("Debian's images for this architecture are not known here")),
    };
    let package = package(version, architecture).map_err(|what| wrong(&what))?;
    let cache = cache_directory().ok_or_else(|| wrong("no home directory, and so no cache"))?;
    let image = cache.join(&package);
    if image.exists() {
        return Ok(image);
    }
    note(&format!("knee: fetching {package} by apt into {} (about 30 MB)", cache.display()));
    fetch(&package, &cache, &image).map_err(|what| wrong(&what))?;
    Ok(image)
}

/// Where fetched images are kept.
fn cache_directory() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.cache_dir().join("knee").join("kernels"))
}

/// The newest package of that version that apt knows.
fn package(version: &str, architecture: &str) -> Result<String, String> {
    let words = ["pkgnames", "linux-image-"];
    let listed = output(Command::new("apt-cache").args(words))?;
    let prefix = format!("linux-image-{version}");
    let suffix = format!("cloud-{architecture}-unsigned");
    let is_meant = |name: &&str| {
        let rest = name.strip_prefix(&prefix);
        let follows = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '+']));
        follows && name.ends_with(&suffix)
    };
    let newest = listed.lines().filter(is_meant).max_by_key(|name| version_key(name));
    newest.map(str::to_owned).ok_or_else(|| match series(&listed, &suffix).as_slice() {
        [] => "apt knows no package of a cloud kernel; `apt-get update` refreshes what it knows".to_owned(),
        all => format!(
            "apt knows no package linux-image-{version}…-{suffix}; it knows {} (`apt-get update` refreshes that)",
            findings::format::list(all)
        ),
    })
}

/// The series of kernels (`debian:6.1`) among the `listed` packages that end in `suffix`.
fn series(listed: &str, suffix: &str) -> Vec<String> {
    let versions = listed.lines().filter(|name| name.ends_with(suffix)).filter_map(|name| {
        let key = version_key(name);
        Some((*key.first()?, *key.get(1)?))
    });
    let versions: BTreeSet<(u64, u64)> = versions.collect();
    versions.iter().map(|(major, minor)| format!("{DEBIAN}{major}.{minor}")).collect()
}

/// Takes the image out of the package, which is downloaded and not installed.
fn fetch(package: &str, cache: &Path, image: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", cache.display());
    fs::create_dir_all(cache).map_err(failed)?;
    let work = cache.join(format!("{package}.{}-{:08x}", std::process::id(), fastrand::u32(..)));
    // Removed also where this process is killed.
    let work = Scratch::new(&work).map_err(failed)?;
    let mut download = Command::new("apt-get");
    output(download.args(["download", package]).current_dir(work.path()))?;
    fs::rename(unpack(work.path())?, image).map_err(failed)
}

/// The one image of the one package in `work`.
fn unpack(work: &Path) -> Result<PathBuf, String> {
    let missing = || format!("{}: the package is not there", work.display());
    let find = |ending: &str, directory: &Path| {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains(ending))
    };
    let package = find(".deb", work).ok_or_else(missing)?;
    output(Command::new("dpkg-deb").arg("-x").arg(&package).arg(work.join("root")))?;
    find("vmlinuz-", &work.join("root/boot"))
        .ok_or_else(|| format!("{}: it has no image", package.display()))
}

/// What a program prints, or in one line why it failed.
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

    #[test]
    fn series_are_listed_each_once() {
        let suffix = "cloud-amd64-unsigned";
        let listed = "linux-image-6.12.9-cloud-amd64-unsigned\nlinux-image-6.1.0-41-cloud-amd64-unsigned\n\
                      linux-image-6.1.0-53-cloud-amd64-unsigned\nlinux-image-6.5.0-cloud-arm64-unsigned\n\
                      linux-image-cloud-amd64\n";
        assert_eq!(series(listed, suffix), ["debian:6.1", "debian:6.12"]);
        assert_eq!(series("", suffix), [""; 0]);
    }

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        assert!(version_key("vmlinuz-6.12.0-1") > version_key("vmlinuz-6.2.11-9"));
    }
}
