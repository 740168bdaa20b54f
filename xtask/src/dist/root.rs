//! What is handed out, tried in roots that have little else: an empty one, without a C library and a shell, and the
//! smallest of each release of Debian, there also as a package and a wheel.

use super::{Architecture, Tree};
use crate::shell::{self, output};
use crate::tally::Tally;
use anyhow::Result;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// What a first user does, each with the exit codes that may come of it: a machine that disturbs is none of knee's.
const STEPS: [(&[&str], &[i32]); 5] = [
    (&["--version"], &[0]),
    (&["doctor"], &[0, 5]),
    (&["run", "poll", "thread", "--quick", "--points", "10,100", "--rounds", "2"], &[0]),
    // That parent is unavailable where its C library, and a compiler for another, is missing.
    (&["run", "fork", "--subjects", "dynamic,static", "--quick", "--points", "10,100"], &[0]),
    (&["analyse", "/t.csv", "--x", "n", "--y", "us"], &[0]),
];

/// The releases of Debian.
const DEBIAN: [&str; 3] = ["bullseye", "bookworm", "trixie"];

/// How their users install the packages of `/packages`, and where the program is then.
const INSTALLED: [(&str, &str); 2] = [
    ("dpkg --install /packages/knee_*_$(dpkg --print-architecture).deb", "/usr/bin/knee"),
    // Without an environment: one would be made by packages that the smallest root lacks.
    (
        "PIP_BREAK_SYSTEM_PACKAGES=1 pip3 install --no-index /packages/knee-*$(uname -m).whl",
        "/usr/local/bin/knee",
    ),
];

/// Runs the program of the archive in each root, and what the packages install in those of Debian; by QEMU, and in the
/// empty one alone, where this machine is of another architecture.
pub fn try_out(tree: &Tree, architecture: Architecture, tally: &mut Tally) -> Result<()> {
    let name = tree.name(architecture);
    let archive = tree.out().join(format!("{name}.tar.gz"));
    if !archive.exists() {
        return Ok(());
    }
    let step = format!("dist {}: roots", architecture.name());
    let probe = interpreter(architecture).unwrap_or_else(|| "true".into());
    if output(unshared(architecture).args(["sh", "-c", &probe])).is_err() {
        tally.skip(&step, "no namespaces, or no table of interpreters in one, can be made here");
        return Ok(());
    }
    let releases = DEBIAN.iter().filter(|_| architecture.is_own()).map(|release| Some(*release));
    for release in [None].into_iter().chain(releases) {
        let root = tempfile::tempdir()?;
        if let Err(why) = made(root.path(), release) {
            tally.skip(&format!("{step}: {}", release.unwrap_or("empty")), &why);
            continue;
        }
        let mut tar = Command::new("tar");
        output(
            tar.arg("--extract").arg("--file").arg(&archive).arg("--directory").arg(root.path()),
        )?;
        fs::write(root.path().join("t.csv"), "n,us\n1,2\n10,20\n100,200\n1000,2000\n")?;
        let root =
            Root { path: root.path(), architecture, what: release.unwrap_or("an empty root") };
        root.steps(&format!("/{name}/knee"), tally)?;
        if release.is_some() {
            root.install(&tree.out(), tally)?;
        }
    }
    Ok(())
}

/// Makes a root, or says why it can't be made here.
fn made(root: &Path, release: Option<&str>) -> Result<(), String> {
    let Some(release) = release else {
        let mut directories = ["proc", "dev", "tmp"].iter();
        let make = |name: &&str| fs::create_dir(root.join(name));
        return directories.try_for_each(make).map_err(|error| error.to_string());
    };
    if !shell::has("mmdebstrap") {
        return Err("mmdebstrap is not installed (apt-get install mmdebstrap)".into());
    }
    let mut make = Command::new("mmdebstrap");
    make.args(["--quiet", "--variant=minbase", "--include=python3-pip", release]).arg(root);
    output(&mut make).map(drop).map_err(|error| error.to_string())
}

/// Where a program is tried.
struct Root<'a> {
    path: &'a Path,
    architecture: Architecture,
    what: &'static str,
}

impl Root<'_> {
    /// Installs each package, and tries what it brings.
    fn install(&self, packages: &Path, tally: &mut Tally) -> Result<()> {
        let inside = self.path.join("packages");
        fs::create_dir(&inside)?;
        for file in fs::read_dir(packages)?.flatten() {
            fs::copy(file.path(), inside.join(file.file_name()))?;
        }
        for (install, program) in INSTALLED {
            self.holds(&["sh", "-c", install], &[0], tally)?;
            self.steps(program, tally)?;
        }
        Ok(())
    }

    /// Does with the program what a first user does.
    fn steps(&self, program: &str, tally: &mut Tally) -> Result<()> {
        for (words, codes) in STEPS {
            self.holds(&[&[program], words].concat(), codes, tally)?;
        }
        Ok(())
    }

    /// Checks that a command ends with one of these codes, and that no cell fails.
    fn holds(&self, words: &[&str], codes: &[i32], tally: &mut Tally) -> Result<()> {
        let came = shell::bounded(&mut self.command(words), Duration::from_secs(300))?;
        let is_whole = !came.stderr.lines().any(|line| line.starts_with("failed: "));
        let holds = is_whole && came.status.code().is_some_and(|code| codes.contains(&code));
        let what = format!("{}: {}: {}", self.architecture.name(), self.what, words.join(" "));
        println!("{what}: {}", came.status);
        if !holds {
            println!("{}{}", came.stdout, came.stderr);
        }
        tally.check(&format!("dist {what}"), holds);
        Ok(())
    }

    /// A command in it, with the kernel's own file systems.
    fn command(&self, words: &[&str]) -> Command {
        let mount = "mount -t proc proc \"$1/proc\" && mount --rbind /dev \"$1/dev\"";
        let enter = "cd / && root=$1 && shift && exec chroot \"$root\" \"$@\"";
        let script = match interpreter(self.architecture) {
            Some(register) => format!("{register} && {mount} && {enter}"),
            None => format!("{mount} && {enter}"),
        };
        let mut command = unshared(self.architecture);
        command.args(["sh", "-c", &script, "sh"]).arg(self.path).args(words);
        command.env("KNEE_RECORD", "/tmp/knee.db").env("HOME", "/tmp");
        command
    }
}

/// What runs a command in namespaces of its own. Programs of another architecture need a user namespace: its table of
/// interpreters is not that of the machine.
fn unshared(architecture: Architecture) -> Command {
    let mut command = Command::new("unshare");
    if !architecture.is_own() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--mount", "--pid", "--fork"]);
    command
}

/// What makes QEMU the kernel's interpreter of an architecture's programs; none for that of this machine.
fn interpreter(architecture: Architecture) -> Option<String> {
    let emulator = architecture.emulator()?;
    let machine = match architecture {
        Architecture::X86 => "\\x3e",
        Architecture::Aarch64 => "\\xb7",
    };
    // The name, the type M, no offset, the head of an ELF file up to its machine, a mask that lets either type of
    // program through, the interpreter, and two flags. F: it is opened now, outside of the root. O: it gets the program
    // as an open file, since one in memory has no name.
    let head = format!("\\x7fELF\\x02\\x01\\x01{}\\x02\\x00{machine}\\x00", "\\x00".repeat(9));
    let compares = |count: usize| "\\xff".repeat(count);
    let mask = format!("{}{}\\xfe{}", compares(7), "\\x00".repeat(9), compares(3));
    let name = architecture.name();
    let table = "/proc/sys/fs/binfmt_misc";
    Some(format!(
        "mount -t proc proc /proc && mount -t binfmt_misc none {table} && \
         printf %s \":{name}:M::{head}:{mask}:$(command -v {emulator}):OF\" > {table}/register"
    ))
}
