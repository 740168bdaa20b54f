//! The program itself: built the same wherever the tree is, its symbols in a file of their own; and the wheel.

use super::{Architecture, Tree};
use crate::cross::install_target;
use crate::shell::{self, output};
use crate::tally::Tally;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is installed to make the wheel.
const PYTHON_TOOLS: [&str; 2] = ["maturin==1.16.0", "wheel==0.45.1"];

/// A static program that can be loaded anywhere, its addresses as a bit map.
const RUST_FLAGS: [&str; 2] =
    ["-Ctarget-feature=+crt-static", "-Clink-arg=-Wl,-z,pack-relative-relocs"];

/// The record has no full text and no rectangles, and loads no extensions.
const SQLITE_FLAGS: &str = "-USQLITE_ENABLE_FTS3 -USQLITE_ENABLE_FTS3_PARENTHESIS -USQLITE_ENABLE_FTS5 \
                            -USQLITE_ENABLE_RTREE -USQLITE_ENABLE_LOAD_EXTENSION -USQLITE_ENABLE_DBSTAT_VTAB \
                            -USQLITE_ENABLE_STAT4 -USQLITE_SOUNDEX -DSQLITE_OMIT_LOAD_EXTENSION";

/// A program that was built.
pub struct Program {
    /// Where its build puts files.
    pub directory: PathBuf,
    /// What is handed out.
    pub stripped: PathBuf,
    /// Its symbols and lines, which debuggers and profilers find by the build's id.
    pub symbols: PathBuf,
    architecture: Architecture,
}

impl Program {
    /// What it prints here.
    pub fn says(&self, tree: &Tree, words: &[&str]) -> Result<String> {
        let mut command = match self.architecture.emulator() {
            None => tree.command(&self.stripped),
            Some(emulator) => {
                let mut command = tree.command(emulator);
                command.arg(&self.stripped);
                command
            }
        };
        output(command.args(words))
    }
}

/// Whether an architecture can be built for here, or why not.
pub fn needs(architecture: Architecture) -> Result<(), String> {
    install_target(&architecture.target())?;
    let Some(emulator) = architecture.emulator() else { return Ok(()) };
    if shell::has(&tool(architecture, "gcc")) && shell::has(&emulator) {
        return Ok(());
    }
    let name = architecture.name().replace('_', "-");
    Err(format!(
        "nothing compiles for it, or runs it (apt-get install gcc-{name}-linux-gnu qemu-user-static)"
    ))
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
    Ok(Program { directory, stripped, symbols, architecture })
}

/// Cargo, with what makes a program static, and the same at any path.
fn cargo(tree: &Tree, architecture: Architecture) -> Command {
    let mut cargo = tree.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")));
    let mut paths = vec![(tree.target.clone(), "/target"), (tree.root.clone(), "/knee")];
    paths.extend(home.map(|home| (home, "/cargo")));
    let mut rust: Vec<String> = RUST_FLAGS.map(str::to_owned).into();
    let mut c = Vec::new();
    // The last that fits is taken, and the tree may be within the home directory.
    for (path, name) in paths.iter().rev() {
        rust.push(format!("--remap-path-prefix={}={name}", path.display()));
        c.push(format!("-ffile-prefix-map={}={name}", path.display()));
    }
    let target = architecture.target().replace('-', "_");
    cargo.env("CARGO_ENCODED_RUSTFLAGS", rust.join("\u{1f}")).env("CFLAGS", c.join(" "));
    cargo.env("CARGO_TARGET_DIR", &tree.target).env("LIBSQLITE3_FLAGS", SQLITE_FLAGS);
    if !architecture.is_own() {
        let gcc = tool(architecture, "gcc");
        cargo.env(format!("CARGO_TARGET_{}_LINKER", target.to_uppercase()), &gcc);
        cargo
            .env(format!("CC_{target}"), &gcc)
            .env(format!("AR_{target}"), tool(architecture, "ar"));
    }
    cargo
}

/// Makes the wheel, of which cargo has built the program already. It holds the same as the archive.
pub fn wheel(
    tree: &Tree,
    architecture: Architecture,
    program: &Program,
    tally: &mut Tally,
) -> Result<()> {
    let Some(tools) = python_tools(&shell::target_dir()?)? else {
        tally.skip("dist wheel", "python3 can't make an environment with maturin and wheel in it");
        return Ok(());
    };
    // The flags of the build, so that nothing is built again.
    let flags = cargo(tree, architecture);
    let flags = flags.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let scratch = tempfile::tempdir()?;
    let mut make = tree.command(tools.join("maturin"));
    make.current_dir(tree.root.join("clients/python")).envs(flags);
    make.args(["build", "--profile", "dist", "--locked", "--features", "postgres"]);
    make.args(["--strip", "false", "--target", &architecture.target(), "--out"]);
    ensure!(shell::succeeds(make.arg(scratch.path()))?, "the wheel was not made");
    let name = format!("knee-{}", tree.version);
    let unpacked = scratch.path().join(&name);
    let wheel = |words: &[&str], path: &Path, to: &Path| {
        let mut wheel = tree.command(tools.join("wheel"));
        output(wheel.args(words).arg("-d").arg(to).arg(path))
    };
    wheel(&["unpack"], &only_file(scratch.path())?, scratch.path())?;
    let inside = unpacked.join(format!("{name}.data/scripts/knee"));
    std::fs::copy(&program.stripped, inside).context("the wheel has no program")?;
    wheel(&["pack"], &unpacked, &tree.out()).map(drop)
}

/// The file in a directory that has one.
fn only_file(directory: &Path) -> Result<PathBuf> {
    let mut files = std::fs::read_dir(directory)?.flatten().map(|entry| entry.path());
    files.next().with_context(|| format!("{} is empty", directory.display()))
}

/// The directory of maturin and wheel, in an environment in the target directory.
fn python_tools(target: &Path) -> Result<Option<PathBuf>> {
    let environment = target.join("tools/python");
    let tools = environment.join("bin");
    if !(tools.join("maturin").exists() && tools.join("wheel").exists()) {
        let mut make = Command::new("python3");
        if !shell::succeeds(make.args(["-m", "venv"]).arg(&environment)).unwrap_or(false) {
            return Ok(None);
        }
        let mut pip = Command::new(tools.join("pip"));
        let done = shell::succeeds(pip.args(["install", "--quiet"]).args(PYTHON_TOOLS));
        if !done.context("pip")? {
            return Ok(None);
        }
    }
    Ok(Some(tools))
}
