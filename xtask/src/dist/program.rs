//! The program itself: built the same wherever the tree is, its symbols in a file of their own; and the wheel.

use super::{Architecture, Tree};
use crate::cross::install_target;
use crate::shell::{self, output};
use crate::tally::Tally;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is installed to make the wheel.
const MATURIN: &str = "maturin==1.16.0";

/// A program that was built.
pub struct Program {
    /// Where its build puts files.
    pub directory: PathBuf,
    /// What is handed out.
    pub stripped: PathBuf,
    /// Its symbols and lines, which debuggers and profilers find by the build's id.
    pub symbols: PathBuf,
    /// A knee that runs here, to write the manual pages.
    pub here: PathBuf,
}

/// Whether an architecture can be built for here, or why not.
pub fn needs(architecture: Architecture) -> Result<(), String> {
    install_target(&architecture.target())?;
    if architecture.is_own() || shell::has(&tool(architecture, "gcc")) {
        return Ok(());
    }
    let name = architecture.name().replace('_', "-");
    Err(format!("no compiler for it (apt-get install gcc-{name}-linux-gnu)"))
}

/// A program of the compiler's for an architecture.
fn tool(architecture: Architecture, name: &str) -> String {
    if architecture.is_own() {
        return name.to_owned();
    }
    format!("{}-linux-gnu-{name}", architecture.name())
}

/// Builds the program.
pub fn build(tree: &Tree, architecture: Architecture) -> Result<Program> {
    let mut cargo = cargo(tree, architecture);
    cargo.args(["build", "--profile", "dist", "--locked", "--package", "knee"]);
    cargo.args(["--features", "postgres", "--target", &architecture.target()]);
    ensure!(shell::succeeds(&mut cargo)?, "knee was not built");
    let directory = tree.target.join(architecture.target()).join("dist");
    let built = directory.join("knee");
    let (stripped, symbols) = (directory.join("handed-out/knee"), directory.join("knee.debug"));
    std::fs::create_dir_all(directory.join("handed-out"))?;
    let objcopy = |words: &[&str], files: [&Path; 2]| {
        let mut objcopy = tree.command(tool(architecture, "objcopy"));
        output(objcopy.args(words).args(files))
    };
    objcopy(&["--only-keep-debug", "--compress-debug-sections"], [&built, &symbols])?;
    // A relative name: the link has none of the directory.
    let link = format!("--add-gnu-debuglink={}", symbols.display());
    objcopy(&["--strip-all", &link], [&built, &stripped])?;
    let here = if architecture.is_own() { stripped.clone() } else { own(tree)? };
    Ok(Program { directory, stripped, symbols, here })
}

/// A program of the same version for this machine.
fn own(tree: &Tree) -> Result<PathBuf> {
    let mut cargo = shell::cargo(&tree.root, "build");
    cargo.args(["--package", "knee", "--features", "postgres", "--target-dir"]).arg(&tree.target);
    ensure!(shell::succeeds(&mut cargo)?, "knee was not built");
    Ok(tree.target.join("debug/knee"))
}

/// Cargo, with what makes a program static, and the same at any path.
fn cargo(tree: &Tree, architecture: Architecture) -> Command {
    let mut cargo = tree.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")));
    let mut paths = vec![(tree.target.clone(), "/target"), (tree.root.clone(), "/knee")];
    paths.extend(home.map(|home| (home, "/cargo")));
    let mut rust = vec!["-Ctarget-feature=+crt-static".to_owned()];
    let mut c = Vec::new();
    // The last that fits is taken, and the tree may be within the home directory.
    for (path, name) in paths.iter().rev() {
        rust.push(format!("--remap-path-prefix={}={name}", path.display()));
        c.push(format!("-ffile-prefix-map={}={name}", path.display()));
    }
    let target = architecture.target().replace('-', "_");
    cargo.env("CARGO_ENCODED_RUSTFLAGS", rust.join("\u{1f}")).env("CFLAGS", c.join(" "));
    cargo.env("CARGO_TARGET_DIR", &tree.target);
    if !architecture.is_own() {
        let gcc = tool(architecture, "gcc");
        cargo.env(format!("CARGO_TARGET_{}_LINKER", target.to_uppercase()), &gcc);
        cargo
            .env(format!("CC_{target}"), &gcc)
            .env(format!("AR_{target}"), tool(architecture, "ar"));
    }
    cargo
}

/// Makes the wheel, whose program cargo has built already.
pub fn wheel(tree: &Tree, architecture: Architecture, tally: &mut Tally) -> Result<()> {
    let Some(maturin) = maturin(&shell::target_dir()?)? else {
        tally.skip("dist wheel", "python3 can't make an environment to install maturin in");
        return Ok(());
    };
    // The flags of the build, so that nothing is built again.
    let mut make = cargo(tree, architecture);
    let flags: Vec<_> = make
        .get_envs()
        .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
        .collect();
    make = tree.command(maturin);
    make.current_dir(tree.root.join("clients/python"));
    make.envs(flags.into_iter().filter_map(|(name, value)| Some((name, value?))));
    make.args(["build", "--profile", "dist", "--locked", "--features", "postgres", "--target"]);
    make.arg(architecture.target()).arg("--out").arg(tree.out());
    ensure!(shell::succeeds(&mut make)?, "the wheel was not made");
    Ok(())
}

/// The program maturin: the one on the path, or else one in an environment in the target directory.
fn maturin(target: &Path) -> Result<Option<PathBuf>> {
    if shell::has("maturin") {
        return Ok(Some("maturin".into()));
    }
    let environment = target.join("tools/python");
    let program = environment.join("bin/maturin");
    if !program.exists() {
        let mut make = Command::new("python3");
        if !shell::succeeds(make.args(["-m", "venv"]).arg(&environment)).unwrap_or(false) {
            return Ok(None);
        }
        let mut pip = Command::new(environment.join("bin/pip"));
        let done = shell::succeeds(pip.args(["install", "--quiet", MATURIN]));
        ensure!(done.context("pip")?, "maturin was not installed");
    }
    Ok(Some(program))
}
