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

/// Unpacks the archive into an empty directory, and runs the program there.
pub fn try_out(tree: &Tree, tally: &mut Tally) -> Result<()> {
    let own = [Architecture::X86, Architecture::Aarch64];
    let own = own.into_iter().find(|architecture| architecture.is_own());
    let Some(name) = own.map(|architecture| tree.name(architecture)) else { return Ok(()) };
    let archive = tree.out().join(format!("{name}.tar.gz"));
    let mut may = Command::new("unshare");
    if !archive.exists() || shell::output(may.args(["--mount", "--pid", "--fork", "true"])).is_err()
    {
        tally.skip("dist: an empty root", "no namespaces can be made here");
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
        let came = shell::bounded(
            &mut within(root.path(), &name, words),
            std::time::Duration::from_secs(120),
        )?;
        let is_whole = !came.stderr.lines().any(|line| line.starts_with("failed: "));
        let holds = is_whole && came.status.code().is_some_and(|code| codes.contains(&code));
        println!("$ knee {} (in an empty root): {}", words.join(" "), came.status);
        if !holds {
            println!("{}{}", came.stdout, came.stderr);
        }
        tally.check(&format!("dist: knee {} in an empty root", words.join(" ")), holds);
    }
    Ok(())
}

/// The program in an empty root, with the kernel's own file systems.
fn within(root: &Path, name: &str, words: &[&str]) -> Command {
    let script = "mount -t proc proc \"$1/proc\" && mount --rbind /dev \"$1/dev\" && cd / && root=$1 && shift && exec chroot \"$root\" \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "sh", "-c", script, "sh"]);
    command.arg(root).arg(format!("/{name}/knee")).args(words);
    command.env("KNEE_RECORD", "/tmp/knee.db").env("HOME", "/tmp");
    command
}
