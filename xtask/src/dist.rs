//! What a version is handed out as: for each architecture an archive with a static program, its symbols, a package of
//! Debian and a wheel; and their sums. From the same commit they are the same to the bit.
//!
//! The program is linked with a static glibc, not musl: `pthread-mutex` and what else of the C library is measured
//! within it has to be what users' programs pay, and most of them have glibc. The programs that `fork` and `baseline`
//! start are linked dynamically, and so run with the C library of the machine that they measure.

mod debian;
mod packages;
mod program;
mod root;

use crate::shell::{self, output};
use crate::tally::Tally;
use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Args)]
pub struct Options {
    /// Architectures to build for
    #[arg(long = "arch", value_delimiter = ',', default_value = "x86-64")]
    architectures: Vec<Architecture>,
    /// Build all in a second copy of the tree, too, and compare the sums
    #[arg(long)]
    twice: bool,
}

/// What programs are built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Architecture {
    /// `x86_64`
    #[value(name = "x86-64", alias = "x86_64")]
    X86,
    /// `aarch64`, with Debian's cross compiler and QEMU
    Aarch64,
}

impl Architecture {
    fn name(self) -> &'static str {
        match self {
            Self::X86 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    fn target(self) -> String {
        format!("{}-unknown-linux-gnu", self.name())
    }

    /// Whether programs for it run here.
    fn is_own(self) -> bool {
        self.name() == std::env::consts::ARCH
    }

    /// What runs them here, where this machine can't.
    fn emulator(self) -> Option<String> {
        (!self.is_own()).then(|| format!("qemu-{}-static", self.name()))
    }
}

/// A tree that is built, and where.
struct Tree {
    root: PathBuf,
    target: PathBuf,
    version: String,
    /// The second that all files are from: that of the commit.
    epoch: String,
}

/// Builds everything into the directory `packages` of the target directory, and tries it.
pub fn run(options: &Options, tally: &mut Tally) -> Result<()> {
    let tree = Tree::new(shell::root(), shell::target_dir()?)?;
    let sums = tree.build(&options.architectures, tally)?;
    print!("{sums}");
    println!("All of it is in {}.", tree.out().display());
    for &architecture in &options.architectures {
        root::try_out(&tree, architecture, tally)?;
    }
    if options.twice {
        let copy = tempfile::tempdir()?;
        let second = tree.copied(copy.path())?;
        let again = second.build(&options.architectures, &mut Tally::default())?;
        print!("{again}");
        tally.check("dist: two builds are the same to the bit", sums == again);
    }
    Ok(())
}

impl Tree {
    fn new(root: PathBuf, target: PathBuf) -> Result<Self> {
        let metadata = shell::metadata(&root)?;
        let mut packages = metadata["packages"].as_array().into_iter().flatten();
        let knee = packages.find(|package| package["name"] == "knee");
        let version = knee.and_then(|package| package["version"].as_str());
        let version = version.context("the workspace has no crate knee")?.to_owned();
        let mut git = Command::new("git");
        git.current_dir(&root).args(["log", "-1", "--format=%ct"]);
        let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(epoch) => epoch,
            Err(_) => output(&mut git)?.trim().to_owned(),
        };
        Ok(Self { root, target, version, epoch })
    }

    /// The same files at another path, with the same date.
    fn copied(&self, directory: &Path) -> Result<Self> {
        let root = directory.join("another/path/knee");
        for file in shell::files(&self.root)? {
            write(&root.join(&file), &fs::read(self.root.join(&file))?)?;
        }
        let target = directory.join("another-target");
        Ok(Self { root, target, version: self.version.clone(), epoch: self.epoch.clone() })
    }

    /// Where what is handed out is put; `dist` is where cargo builds for the profile.
    fn out(&self) -> PathBuf {
        self.target.join("packages")
    }

    /// A command in the tree, whose files have its date.
    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env("SOURCE_DATE_EPOCH", &self.epoch);
        command
    }

    /// Builds all files, and returns their sums.
    fn build(&self, architectures: &[Architecture], tally: &mut Tally) -> Result<String> {
        let out = self.out();
        if out.exists() {
            fs::remove_dir_all(&out)?;
        }
        fs::create_dir_all(&out)?;
        for &architecture in architectures {
            let step = format!("dist {}", architecture.name());
            if let Err(why) = program::needs(architecture) {
                tally.skip(&step, &why);
                continue;
            }
            let program = program::build(self, architecture)?;
            let stage = self.staged(architecture, &program)?;
            self.archived(&stage)?;
            debian::package(self, architecture, &stage, tally)?;
            program::wheel(self, architecture, &program, tally)?;
            tally.pass(1);
        }
        self.sums()
    }

    /// The name of what is handed out for one architecture.
    fn name(&self, architecture: Architecture) -> String {
        format!("knee-{}-{}-linux", self.version, architecture.name())
    }

    /// The directory that the archive holds.
    fn staged(&self, architecture: Architecture, program: &program::Program) -> Result<PathBuf> {
        let name = self.name(architecture);
        let stage = program.directory.join("stage").join(&name);
        if stage.exists() {
            fs::remove_dir_all(&stage)?;
        }
        for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            write(&stage.join(file), &fs::read(self.root.join(file))?)?;
        }
        fs::copy(&program.stripped, stage.join("knee"))?;
        let says = |words: &[&str]| program.says(self, words);
        says(&["man", "--directory", &stage.join("man").to_string_lossy()])?;
        let completions = [
            ("bash", "knee.bash"),
            ("zsh", "_knee"),
            ("fish", "knee.fish"),
            ("elvish", "knee.elv"),
        ];
        for (shell, file) in completions {
            write(
                &stage.join("completions").join(file),
                says(&["completions", shell])?.as_bytes(),
            )?;
        }
        let packages = packages::Packages::read(self, architecture)?;
        write(&stage.join("THIRD-PARTY-LICENSES.txt"), packages.licences()?.as_bytes())?;
        let bill = packages.bill(&fs::read(&program.stripped)?)?;
        write(&stage.join("sbom.cdx.json"), bill.as_bytes())?;
        write(&self.out().join(format!("{name}.cdx.json")), bill.as_bytes())?;
        let symbols = program.directory.join("stage").join(format!("{name}-symbols"));
        write(&symbols.join("knee.debug"), &fs::read(&program.symbols)?)?;
        self.archived(&symbols)?;
        Ok(stage)
    }

    /// A directory as an archive that depends on nothing but its files.
    fn archived(&self, directory: &Path) -> Result<()> {
        let name = directory.file_name().context("a stage has a name")?.to_string_lossy();
        let file = self.out().join(format!("{name}.tar"));
        let mut tar = self.command("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"]);
        tar.arg("--mode=u+w,go=rX").arg(format!("--mtime=@{}", self.epoch)).arg("--directory");
        tar.arg(directory.parent().context("a stage has a parent")?).arg("--create");
        output(tar.arg("--file").arg(&file).arg(&*name))?;
        output(self.command("gzip").args(["--no-name", "--best", "--force"]).arg(&file))?;
        Ok(())
    }

    /// The sums of all files, as `sha256sum --check` reads them. They are written, too.
    fn sums(&self) -> Result<String> {
        let out = self.out();
        let names: BTreeSet<_> = fs::read_dir(&out)?
            .flatten()
            .map(|entry| entry.file_name())
            .filter(|name| name != "SHA256SUMS")
            .collect();
        ensure!(!names.is_empty(), "nothing was built");
        let sums = output(Command::new("sha256sum").current_dir(&out).args(&names))?;
        write(&out.join("SHA256SUMS"), sums.as_bytes())?;
        Ok(sums)
    }
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    let directory = path.parent().context("a file has a directory")?;
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    fs::write(path, content).with_context(|| format!("writing {}", path.display()))
}
