//! Proves that a mechanism, a lock, a workload, a finding kind, an export and an import format are one file and one
//! line each: adds a toy of each to a copy of the workspace, builds it, and looks for the toys wherever a row of the
//! tables must appear. Then proves that a repository of its own can have the same without a change of knee.

mod toys;

use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use toys::{Contract, Toy};

/// No single command of the toys takes longer than this.
const RUN_MAX: Duration = Duration::from_secs(180);

/// The repository outside of the workspace that has a workload, a lock and a mechanism of its own.
const OWN: &str = "examples/own-workload";

/// Nor does building and running a part of the contract test, or the tests of that repository.
const CONTRACT_MAX: Duration = Duration::from_secs(600);

/// Adds the toys to a copy of the workspace, and uses all.
pub fn run(tally: &mut Tally) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let copy = directory.path().join("workspace");
    copy_workspace(&shell::root(), &copy)?;
    for toy in toys::ALL {
        add(toy, &copy)?;
    }
    // A directory of its own for what is built: in the workspace's own one, the toy's knee would take the
    // place of the real one.
    let target = shell::target_dir()?.join("one-row");
    let mut compile = cargo(&copy, &target, "build");
    let built = shell::succeeds(compile.args(["--package", "knee", "--features", "contract"]))?;
    tally.check("one-row: knee builds with one file and one line more", built);
    if !built {
        return Ok(());
    }
    let bench = Uses { knee: target.join("debug/knee"), directory: directory.path() };
    for toy in toys::ALL {
        for (args, wanted) in toy.uses {
            let step = format!("one-row: `knee {}` knows the toy {}", args.join(" "), toy.what);
            match bench.shows(args, wanted)? {
                Ok(()) => tally.pass(1),
                Err(why) => {
                    println!("{step}: it does not: {why}");
                    tally.fail(step);
                }
            }
        }
    }
    for contract in toys::CONTRACTS {
        holds_to(contract, &copy, &target, tally)?;
    }
    own_in(&copy, &target, tally)
}

/// Runs the tests of a repository outside of the workspace, which build its program and run it.
pub fn own(tally: &mut Tally) -> Result<()> {
    own_in(&shell::root(), &shell::target_dir()?.join("own"), tally)
}

/// The same in that workspace, with its versions of others' crates.
fn own_in(workspace: &Path, target: &Path, tally: &mut Tally) -> Result<()> {
    let own = workspace.join(OWN);
    fs::copy(workspace.join("Cargo.lock"), own.join("Cargo.lock"))?;
    // The repository itself is not in it.
    let mut complete = shell::cargo_that_locks(&own, "metadata");
    shell::bounded(complete.args(["--format-version", "1"]), RUN_MAX)?;
    let mut command = cargo(&own, target, "test");
    println!("$ {}", shell::display(&command));
    let done = shell::bounded(&mut command, CONTRACT_MAX)?;
    if !done.status.success() {
        println!("{}{}", done.stdout, done.stderr);
    }
    tally.check(
        "own: a repository with a workload, a lock and a mechanism of its own",
        done.status.success(),
    );
    Ok(())
}

/// A contract test takes up the toy by itself: it passes with the toy in the table, and fails, naming
/// it, once the toy doesn't do any more what it has to.
fn holds_to(contract: &Contract, copy: &Path, target: &Path, tally: &mut Tally) -> Result<()> {
    let test = || {
        let mut command = cargo(copy, target, "test");
        command.args(["--package", contract.package, "--test", "contract", contract.part]);
        println!("$ {}", shell::display(&command));
        shell::bounded(&mut command, CONTRACT_MAX)
    };
    let sound = test()?;
    if !sound.status.success() {
        println!("{}{}", sound.stdout, sound.stderr);
    }
    let what = contract.toy.what;
    let holds = format!("one-row: the contract holds with a toy {what}");
    tally.check(&holds, sound.status.success());
    let (right, wrong) = contract.mistake;
    fs::write(copy.join(contract.toy.file), contract.toy.text.replace(right, wrong))?;
    let broken = test()?;
    let named = broken.stdout.contains(contract.complaint);
    if !named {
        println!("{}{}", broken.stdout, broken.stderr);
    }
    let is_found = named && !broken.status.success();
    let finds = format!("one-row: the contract test finds a toy {what} that is broken");
    tally.check(&finds, is_found);
    Ok(())
}

/// A cargo that builds the copy, without debugging information, which nobody will read and which tells the
/// copy's own crates from the workspace's. The others were built for the tests and are the same ones:
/// where this cargo can (since 1.91), it takes them from there. The toys compute little: `analysis` is not optimised for
/// them, which takes longer than all the rest.
fn cargo(copy: &Path, target: &Path, subcommand: &str) -> Command {
    let mut command = shell::cargo(copy, subcommand);
    for profile in ["knee-analysis.opt-level=0", "knee-simulate.opt-level=0"] {
        command.args(["--config", &format!("profile.dev.package.{profile}")]);
    }
    command.env("CARGO_TARGET_DIR", target).env("CARGO_PROFILE_DEV_DEBUG", "0");
    if let Some(built) = target.parent() {
        command.env("CARGO_BUILD_BUILD_DIR", built);
    }
    command
}

/// Copies what git tracks or would track.
fn copy_workspace(from: &Path, to: &Path) -> Result<()> {
    for file in shell::files(from)? {
        let copy = to.join(&file);
        fs::create_dir_all(copy.parent().context("a file without a directory")?)?;
        fs::copy(from.join(&file), &copy)
            .with_context(|| format!("can't copy {}", file.display()))?;
        // A build looks at times: this copy must be newer than the one before it, which was built
        // in the same place.
        fs::File::options().append(true).open(&copy)?.set_modified(std::time::SystemTime::now())?;
    }
    Ok(())
}

/// Adds one file and one line.
fn add(toy: &Toy, copy: &Path) -> Result<()> {
    fs::write(copy.join(toy.file), toy.text)?;
    let table = copy.join(toy.table);
    let text = fs::read_to_string(&table).with_context(|| format!("{} is missing", toy.table))?;
    let more = with_row(&text, toy.group, toy.row)
        .with_context(|| format!("{}: no table to put a row into", toy.table))?;
    fs::write(&table, more)?;
    Ok(())
}

/// The text with one more row in its table, which is the invocation `table! { … }`, or in a group of it.
fn with_row(text: &str, group: Option<&str>, name: &str) -> Option<String> {
    let table = text.rfind("\ntable! {")?;
    let (start, close, indent) = match group {
        None => (table, "\n}", "    "),
        Some(group) => {
            (table + text[table..].find(&format!("\n    {group} "))?, "\n    }", "        ")
        }
    };
    let end = start + text[start..].find(close)? + 1;
    Some(format!("{}{indent}{name},\n{}", &text[..end], &text[end..]))
}

/// Uses the copy's knee.
struct Uses<'a> {
    knee: PathBuf,
    directory: &'a Path,
}

impl Uses<'_> {
    /// Runs knee; it must succeed and print that word. The inner error says what it did instead.
    fn shows(&self, args: &[&str], wanted: &str) -> Result<Result<(), String>> {
        let mut command = Command::new(&self.knee);
        // Its record and reports land where they are thrown away with the copy.
        command.current_dir(self.directory).env("XDG_DATA_HOME", self.directory).args(args);
        let done = shell::bounded(&mut command, RUN_MAX)?;
        if !done.status.success() {
            return Ok(Err(format!("{}: {}", done.status, done.stderr.trim())));
        }
        if !done.stdout.lines().any(|line| has_word(line, wanted)) {
            return Ok(Err(format!("no {wanted:?} in:\n{}", done.stdout)));
        }
        Ok(Ok(()))
    }
}

/// Whether a line holds that very word.
fn has_word(line: &str, word: &str) -> bool {
    line.split(|char: char| !char.is_alphanumeric() && char != '-').any(|token| token == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_goes_to_the_end_of_the_table() {
        let text =
            "macro_rules! table {\n    () => {};\n}\n\ntable! {\n    poll,\n}\n\nfn f() {}\n";
        let more = with_row(text, None, "toy").unwrap();
        assert!(more.contains("\ntable! {\n    poll,\n    toy,\n}\n\nfn f() {}\n"), "{more}");
        assert_eq!(more.lines().count(), text.lines().count() + 1, "one line, and no more");
        assert!(with_row("\ntable! {\n}\n", None, "toy").unwrap().contains("{\n    toy,\n}"));
        assert_eq!(with_row("fn f() {}", None, "toy"), None);
    }

    #[test]
    fn a_row_goes_to_the_end_of_its_group() {
        let text =
            "\ntable! {\n    a [x] {\n        one,\n    }\n    b [] {\n        two,\n    }\n}\n";
        let more = with_row(text, Some("a"), "toy").unwrap();
        assert!(more.contains("        one,\n        toy,\n    }\n    b"), "{more}");
        assert_eq!(with_row(text, Some("c"), "toy"), None);
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("  toy  a toy", "toy") && has_word("(sel|toy)", "toy"));
        assert!(!has_word("toys epoll-toy", "toy"));
    }
}
