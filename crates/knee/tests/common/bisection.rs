//! `git bisect run` over a repository that is made for it.

use super::{Came, Knee, came};
use std::fs;
use std::process::Command;

/// Bisects a repository of a commit for each of `contents`, which is what `file` holds there, from the first to the last,
/// by the shell script `judge`: the number of the commit that `git bisect run` names, and all that came. `prepare` is
/// what git needs besides.
pub fn bisected(
    knee: &Knee,
    (file, contents): (&str, &[&str]),
    judge: &str,
    prepare: impl FnOnce(&mut Command),
) -> (Option<usize>, Came) {
    let repository = knee.directory.path().join("repository");
    fs::create_dir(&repository).unwrap();
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        let name = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
        let came = came(command.args(name).args(words).current_dir(&repository));
        assert_eq!(came.code, Some(0), "git {words:?}: {came:?}");
        came.out.trim().to_owned()
    };
    git(&["init", "--quiet"]);
    let mut commits = Vec::new();
    for (number, content) in contents.iter().enumerate() {
        fs::write(repository.join(file), content).unwrap();
        fs::write(repository.join("version"), number.to_string()).unwrap();
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", &format!("version {number}")]);
        commits.push(git(&["rev-parse", "HEAD"]));
    }
    let script = knee.directory.path().join("judge.sh");
    fs::write(&script, judge).unwrap();
    git(&["bisect", "start", &commits[commits.len() - 1], &commits[0]]);
    let mut command = knee.shell(&format!("git bisect run sh {}", script.display()));
    prepare(command.current_dir(&repository));
    let came = came(&mut command);
    let named = came.out.lines().find_map(|line| line.strip_suffix(" is the first bad commit"));
    let number = commits.iter().position(|commit| Some(commit.as_str()) == named);
    (number, came)
}
