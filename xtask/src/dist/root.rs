//! What is handed out, tried in a root that has nothing else: no C library, no shell.

use super::{Architecture, Tree};
use crate::shell::{self, output};
use crate::tally::Tally;
use anyhow::Result;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What a first user does, each with the exit codes that may come of it: a machine that disturbs is none of knee's.
const STEPS: [(&[&str], &[i32]); 5] = [
    (&["--version"], &[0]),
    (&["doctor"], &[0, 5]),
    (&["run", "poll", "thread", "--quick", "--points", "10,100", "--rounds", "2"], &[0]),
    // Its other parent is linked dynamically, for which there is no loader.
    (
        &["run", "fork", "--subjects", "static", "--quick", "--points", "10,100", "--rounds", "2"],
        &[0],
    ),
    (&["analyse", "--csv", "/t.csv", "--x", "n", "--y", "us"], &[0]),
];

/// The subjects of the third step under QEMU, whose user mode knows no `F_SETSIG`, io_uring and AIO.
const UNDER_QEMU: [&str; 2] =
    ["--subjects", "select,poll,ppoll,epoll-level,epoll-edge,epoll-oneshot,mio,polling,std"];

/// Unpacks the archive into an empty directory, and runs the program there; by QEMU where this machine is of another
/// architecture.
pub fn try_out(tree: &Tree, architecture: Architecture, tally: &mut Tally) -> Result<()> {
    let name = tree.name(architecture);
    let archive = tree.out().join(format!("{name}.tar.gz"));
    if !archive.exists() {
        return Ok(());
    }
    let step = format!("dist {}: an empty root", architecture.name());
    let probe = interpreter(architecture).unwrap_or_else(|| "true".into());
    if shell::output(unshared(architecture).args(["sh", "-c", &probe])).is_err() {
        tally.skip(&step, "no namespaces, or no table of interpreters in one, can be made here");
        return Ok(());
    }
    let root = tempfile::tempdir()?;
    for directory in ["proc", "dev", "tmp"] {
        fs::create_dir(root.path().join(directory))?;
    }
    output(
        Command::new("tar")
            .arg("--extract")
            .arg("--file")
            .arg(&archive)
            .arg("--directory")
            .arg(root.path()),
    )?;
    fs::write(root.path().join("t.csv"), "n,us\n1,2\n10,20\n100,200\n1000,2000\n")?;
    for (words, codes) in STEPS {
        let mut words = words.to_vec();
        if !architecture.is_own() && words.contains(&"poll") {
            words.extend(UNDER_QEMU);
        }
        let came = shell::bounded(
            &mut within(root.path(), architecture, &name, &words),
            std::time::Duration::from_secs(300),
        )?;
        let is_whole = !came.stderr.lines().any(|line| line.starts_with("failed: "));
        let holds = is_whole && came.status.code().is_some_and(|code| codes.contains(&code));
        let what = format!("knee {} in an empty root", words.join(" "));
        println!("{}: {what}: {}", architecture.name(), came.status);
        if !holds {
            println!("{}{}", came.stdout, came.stderr);
        }
        tally.check(&format!("dist {}: {what}", architecture.name()), holds);
    }
    Ok(())
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

/// The program in an empty root, with the kernel's own file systems.
fn within(root: &Path, architecture: Architecture, name: &str, words: &[&str]) -> Command {
    let mount = "mount -t proc proc \"$1/proc\" && mount --rbind /dev \"$1/dev\"";
    let enter = "cd / && root=$1 && shift && exec chroot \"$root\" \"$@\"";
    let script = match interpreter(architecture) {
        Some(register) => format!("{register} && {mount} && {enter}"),
        None => format!("{mount} && {enter}"),
    };
    let mut command = unshared(architecture);
    command.args(["sh", "-c", &script, "sh"]);
    command.arg(root).arg(format!("/{name}/knee")).args(words);
    command.env("KNEE_RECORD", "/tmp/knee.db").env("HOME", "/tmp");
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
