//! Proves that a mechanism, a lock, a workload, a finding kind, an export and an import format are one file and one
//! line each: adds a toy of each to a copy of the workspace, builds it, and looks for the toys wherever a row of the
//! tables must appear. Then proves that a repository of its own can have the same without a change of knee.

mod toys;

use crate::cargo_test::Compiler;
use crate::shell::{self, Done};
use crate::tally::Tally;
use anyhow::{Context, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use toys::{Contract, Toy};

/// No single command of the toys takes longer than this.
const RUN_MAX: Duration = Duration::from_secs(180);

/// Nor does building and running contract tests, or the tests of the repository outside of the workspace.
const CONTRACT_MAX: Duration = Duration::from_secs(600);

/// The repository outside of the workspace that has a workload, a lock and a mechanism of its own.
const OWN: &str = "examples/own-workload";
/// The modules of its contract tests, and its other test programs.
const OWN_PARTS: [&str; 2] = ["nap::", "spin::"];
const OWN_PROGRAMS: [&str; 2] = ["growth", "own_program"];
const OWN_STEP: &str = "own: a repository with a workload, a lock and a mechanism of its own";

/// Adds the toys to a copy of the workspace, and uses all.
pub fn run(compiler: Compiler, tally: &mut Tally) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let workspace = directory.path().join("workspace");
    copy_workspace(&shell::root(), &workspace)?;
    let built = shell::target_dir()?;
    let target = built.join("one-row");
    seed(&built.join("debug"), &target.join("debug"))?;
    let copy = Copy { workspace, target, compiler };
    for toy in toys::ALL {
        copy.add(toy)?;
    }
    copy.finds_mistakes(tally)?;
    for contract in toys::CONTRACTS {
        copy.write(contract.toy.file, contract.toy.text)?;
    }
    copy.takes_in_own()?;
    let mut compile = copy.cargo("build");
    // Without tests, others' crates would have other features, and be built once more.
    compile.args(["--bin", "knee"]).args(chosen(&["contract"])).args(chosen(&OWN_PROGRAMS));
    let built = shell::succeeds(&mut compile)?;
    tally.check("one-row: knee builds with one file and one line more", built);
    if !built {
        return Ok(());
    }
    let bench = Uses { knee: copy.target.join("debug/knee"), directory: directory.path() };
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
    let parts = toys::CONTRACTS.iter().map(|contract| contract.part).chain(OWN_PARTS);
    let holds = is_good(&copy.test(&["contract"], parts)?);
    tally.check("one-row: the contracts hold with the toys", holds);
    let works = is_good(&copy.test(&OWN_PROGRAMS, [])?);
    tally.check(OWN_STEP, works);
    Ok(())
}

/// Runs the tests of the repository outside of the workspace by itself, which build its program and run it.
pub fn own(tally: &mut Tally) -> Result<()> {
    let own = shell::root().join(OWN);
    complete_lock(&shell::root(), &own)?;
    let mut command = shell::cargo(&own, "test");
    command.env("CARGO_TARGET_DIR", shell::target_dir()?.join("own"));
    tally.check(OWN_STEP, shell::succeeds(&mut command)?);
    Ok(())
}

/// That repository has others' crates in this workspace's versions; by itself it is in no lock file.
fn complete_lock(workspace: &Path, own: &Path) -> Result<()> {
    fs::copy(workspace.join("Cargo.lock"), own.join("Cargo.lock"))?;
    resolve(own)
}

fn resolve(directory: &Path) -> Result<()> {
    let mut resolved = shell::cargo_that_locks(directory, "metadata");
    shell::output(resolved.args(["--format-version", "1"]))?;
    Ok(())
}

/// Whether it succeeded; if not, what it printed is shown.
fn is_good(done: &Done) -> bool {
    if !done.status.success() {
        println!("{}{}", done.stdout, done.stderr);
    }
    done.status.success()
}

/// Cargo's words that choose these test programs.
fn chosen<'a>(programs: &[&'a str]) -> Vec<&'a str> {
    programs.iter().flat_map(|program| ["--test", program]).collect()
}

/// The copy of the workspace.
struct Copy {
    workspace: PathBuf,
    /// A directory of its own for what is built: in the workspace's own one, the toy's knee would take the place of the
    /// real one.
    target: PathBuf,
    compiler: Compiler,
}

impl Copy {
    /// Adds one file and one line; what a contract test has to find is broken at first.
    fn add(&self, toy: &Toy) -> Result<()> {
        let contract = toys::CONTRACTS.iter().find(|contract| contract.toy.file == toy.file);
        let text = contract.map_or_else(|| toy.text.to_owned(), Contract::broken);
        self.write(toy.file, &text)?;
        let table = self.read(toy.table)?;
        let more = with_row(&table, toy.group, toy.row)
            .with_context(|| format!("{}: no table to put a row into", toy.table))?;
        self.write(toy.table, &more)
    }

    fn read(&self, file: &str) -> Result<String> {
        fs::read_to_string(self.workspace.join(file)).with_context(|| format!("{file} is missing"))
    }

    fn write(&self, file: &str, text: &str) -> Result<()> {
        Ok(fs::write(self.workspace.join(file), text)?)
    }

    /// The contract tests take up the toys by themselves, and name each that doesn't do what it has to.
    fn finds_mistakes(&self, tally: &mut Tally) -> Result<()> {
        let parts = toys::CONTRACTS.iter().map(|contract| contract.part);
        let done = self.test(&["contract"], parts)?;
        for contract in toys::CONTRACTS {
            let is_found = done.stdout.contains(contract.complaint) && !done.status.success();
            if !is_found {
                println!("{}{}", done.stdout, done.stderr);
            }
            let what = contract.toy.what;
            let finds = format!("one-row: the contract test finds a toy {what} that is broken");
            tally.check(&finds, is_found);
        }
        Ok(())
    }

    /// Makes the repository outside a member, once its manifest has been resolved by itself: alone it would have other
    /// features of others' crates, and all of it would be built once more. `cargo xtask own` does that.
    fn takes_in_own(&self) -> Result<()> {
        complete_lock(&self.workspace, &self.workspace.join(OWN))?;
        let manifest = format!("{OWN}/Cargo.toml");
        self.write(&manifest, &self.read(&manifest)?.replacen("[workspace]\n", "", 1))?;
        let members = format!("\"xtask\", \"{OWN}\"]");
        self.write("Cargo.toml", &self.read("Cargo.toml")?.replacen("\"xtask\"]", &members, 1))?;
        resolve(&self.workspace)
    }

    /// Runs these parts of test programs, or all.
    fn test<'a>(
        &self,
        programs: &[&str],
        parts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Done> {
        let mut command = self.cargo("test");
        command.arg("--no-fail-fast");
        command.args(chosen(programs)).arg("--").args(parts);
        println!("$ {}", shell::display(&command));
        shell::bounded(&mut command, CONTRACT_MAX)
    }

    /// A cargo that builds the copy as the workspace was built for its tests, but knee with its default features.
    fn cargo(&self, subcommand: &str) -> Command {
        let mut command = shell::cargo(&self.workspace, subcommand);
        self.compiler.put_into(&mut command);
        command.arg("--workspace").env("CARGO_TARGET_DIR", &self.target);
        command
    }
}

/// Copies the libraries that were built for the tests: those without a toy in them are the copy's as well.
fn seed(built: &Path, target: &Path) -> Result<()> {
    if target.exists() {
        fs::remove_dir_all(target)?;
    }
    let libraries = target.join("deps");
    fs::create_dir_all(&libraries)?;
    keep_times(&[built.join(".fingerprint"), built.join("build")], target)?;
    let files: io::Result<Vec<PathBuf>> =
        fs::read_dir(built.join("deps"))?.map(|file| Ok(file?.path())).collect();
    // Programs have no extension.
    let files: Vec<PathBuf> =
        files?.into_iter().filter(|file| file.extension().is_some()).collect();
    files.chunks(1000).try_for_each(|files| keep_times(files, &libraries))
}

/// Copies these, whose times say to cargo what is fresh.
fn keep_times(files: &[PathBuf], into: &Path) -> Result<()> {
    let mut command = Command::new("cp");
    command.args(["--recursive", "--preserve=timestamps,mode", "--target-directory"]).arg(into);
    shell::output(command.args(files))?;
    Ok(())
}

/// Copies what git tracks or would track, with its times.
fn copy_workspace(from: &Path, to: &Path) -> Result<()> {
    for file in shell::files(from)? {
        let copy = to.join(&file);
        fs::create_dir_all(copy.parent().context("a file without a directory")?)?;
        let file = from.join(file);
        fs::copy(&file, &copy).with_context(|| format!("can't copy {}", file.display()))?;
        let modified = fs::metadata(&file)?.modified()?;
        fs::File::options().append(true).open(&copy)?.set_modified(modified)?;
    }
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
