//! Three nodes of real Slurm, on this machine.

use super::{Came, Knee, came};
use fixtures::needed_program;
use std::process::Command;

const NAMESPACES: [&str; 6] = ["--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"];

/// What came of a script on the controller's machine, 10.77.0.1 for the nodes; `None`, and a line that says so, where Slurm is not
/// installed or this may make no namespaces. In the script `$KNEE` is the program.
pub fn on_controller(knee: &Knee, script: &str) -> Option<Came> {
    let programs = ["slurmctld", "slurmd", "munged", "srun"];
    if !programs.iter().all(|program| needed_program(program).is_some())
        || !may_unshare(&["--net", "--uts", "--pid", "--fork", "true"])
    {
        return None;
    }
    let starting = format!(
        "PATH=$PATH:/usr/sbin:/sbin exec timeout 200 unshare {} sh {}/tests/common/slurm.sh {} sh -c \"$SCRIPT\"",
        NAMESPACES.join(" "),
        env!("CARGO_MANIFEST_DIR"),
        knee.directory.path().join("slurm").display(),
    );
    Some(came(knee.shell(&starting).env("SCRIPT", script)))
}

/// Whether namespaces may be made here, by the words of `unshare`; otherwise the test is skipped by name.
pub fn may_unshare(words: &[&str]) -> bool {
    let output = Command::new("unshare").args(words).output();
    let may = output.is_ok_and(|output| output.status.success());
    if !may {
        eprintln!("SKIPPED: `unshare {}` is refused here", words.join(" "));
    }
    may
}
