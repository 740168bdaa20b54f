//! lmbench from Debian's non-free component, by an apt with a configuration, lists and a cache of its own.

use crate::shell;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release that has the version that the rows were written after: 3.0-a9.
const RELEASE: &str = "bookworm";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// The directory of lmbench's programs, which are fetched into `directory` where they are not there yet.
pub(super) fn lmbench(directory: &Path) -> Result<PathBuf> {
    if let Some(programs) = programs_in(directory) {
        return Ok(programs);
    }
    for program in ["apt-get", "dpkg-deb"] {
        if !shell::has(program) {
            bail!("{program} is missing");
        }
    }
    if !Path::new(KEYRING).is_file() {
        bail!("{KEYRING} is missing (apt-get install debian-archive-keyring)");
    }
    let private = tempfile::tempdir()?;
    let configuration = configure(private.path())?;
    let apt = |words: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(words).env("APT_CONFIG", &configuration).current_dir(private.path());
        shell::output(&mut command)
    };
    apt(&["update"])?;
    apt(&["download", "lmbench"])?;
    let packages = fs::read_dir(private.path())?.flatten().map(|entry| entry.path());
    let mut packages = packages.filter(|path| path.extension().is_some_and(|end| end == "deb"));
    let package = packages.next().context("apt-get downloaded nothing")?;
    shell::output(Command::new("dpkg-deb").arg("-x").arg(package).arg(directory))?;
    programs_in(directory).context("the package has no lat_syscall")
}

/// The directory below usr/lib/lmbench/bin, which is named after the machine.
fn programs_in(directory: &Path) -> Option<PathBuf> {
    let machines = fs::read_dir(directory.join("usr/lib/lmbench/bin")).ok()?.flatten();
    machines.map(|entry| entry.path()).find(|path| path.join("lat_syscall").is_file())
}

/// Writes the configuration, and returns its path.
fn configure(private: &Path) -> Result<PathBuf> {
    for directory in ["state/lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(private.join(directory))?;
    }
    let at = private.display();
    let source =
        format!("deb [signed-by={KEYRING}] http://deb.debian.org/debian {RELEASE} non-free\n");
    fs::write(private.join("sources.list"), source)?;
    let text = format!(
        "Dir::Etc::SourceList \"{at}/sources.list\";\nDir::Etc::SourceParts \"-\";\n\
         Dir::State \"{at}/state\";\nDir::Cache \"{at}/cache\";\nAPT::Sandbox::User \"root\";\n"
    );
    let path = private.join("apt.conf");
    fs::write(&path, text)?;
    Ok(path)
}
