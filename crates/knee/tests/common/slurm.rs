//! Three nodes of real Slurm, on this machine.

use super::{Came, Knee, came};
use std::process::Command;

const NAMESPACES: [&str; 6] = ["--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"];

/// What came of a script on the controller's machine, 10.77.0.1 for the nodes; `None`, and a line that says so, where Slurm is not
/// installed or this may make no namespaces. In the script `$KNEE` is the program.
pub fn on_controller(knee: &Knee, script: &str) -> Option<Came> {
    let programs = [("slurmctld", "-V"), ("slurmd", "-V"), ("munged", "--version")];
    if !programs.iter().all(|(program, word)| can(program, &[word]))
        || !can("unshare", &["--net", "--uts", "--pid", "--fork", "true"])
    {
        return None;
    }
    let starting = format!(
        "exec timeout 200 unshare {} sh {}/tests/common/slurm.sh {} sh -c \"$SCRIPT\"",
        NAMESPACES.join(" "),
        env!("CARGO_MANIFEST_DIR"),
        knee.directory.path().join("slurm").display(),
    );
    Some(came(knee.shell(&starting).env("SCRIPT", script)))
}

/// Whether `program` can do `words` here; otherwise says what is skipped.
pub fn can(program: &str, words: &[&str]) -> bool {
    let can =
        Command::new(program).args(words).output().is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("SKIPPED: `{program} {}` does not work here", words.join(" "));
    }
    can
}
