//! `knee gate`: two builds of a program, by one command line, as the sides of a comparison.

use super::flags::Ab;
use super::side::Workers;
use crate::commands::measure::run::flags::Run;
use crate::commands::read::compare::flags::{FailOn, Judgement};
use crate::exit::{Trouble, note};
use clap::Args;
use engine::{Scratch, Starter};
use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// How much slower is too much where no gate is named.
const FAIL_ABOVE: f64 = 0.1;
/// The points where none are named: enough for a growth class, and few programs take long for them.
const POINTS: &str = "100,1k,10k";
/// The metric that a busy machine disturbs least.
pub const CPU_TIME: &str = "cpu";
const BUILD: &str = "BUILD";

#[derive(Args, Debug)]
#[command(after_help = MORE)]
pub struct Gate {
    #[command(flatten)]
    pub judgement: Judgement,
    /// The program before the change, or the directory that holds it
    pub old: PathBuf,
    /// The program behind the change, or the directory that holds it
    pub new: PathBuf,
    /// The command line, with the word n in braces where each point goes; then flags of `knee run command` [default points: 100,1k,10k]
    #[arg(value_name = "'CMD {n}'", last = true, required = true)]
    pub run: Vec<OsString>,
    /// What these words ask to be measured.
    #[arg(skip)]
    pub measured: Run,
    /// What each side runs.
    #[arg(skip)]
    pub pair: Pair,
}

const MORE: &str = "\
The first word of CMD names the program: of two files each side runs its own instead, of two directories
the one of that name in each. Where another word names it, write $BUILD, which is OLD or NEW.

Both are measured in turns, as by `knee ab`. Without --fail-above and --fail-on, the gate is
--fail-above 10% --fail-on class. On a busy machine CPU time is judged, unless --headline names another
metric.

Examples:
  knee gate ./old ./new -- 'sorter {n}' --points 1k,10k,100k
  knee gate base/target/release target/release -- 'sorter {n}' --fail-above 20%
  knee gate old.py new.py -- 'python3 $BUILD {n}'";

#[derive(Debug, Default)]
pub struct Pair {
    builds: [PathBuf; 2],
    /// The name by which the command calls the program; none where it says `$BUILD`.
    name: Option<String>,
}

impl Gate {
    pub fn run_words(&self) -> Result<(Vec<OsString>, Pair), Trouble> {
        let typed = self.run.first().map(|word| word.to_string_lossy()).unwrap_or_default();
        let flags = self.run.get(1..).unwrap_or_default();
        let builds = [self.old.clone(), self.new.clone()];
        let (command, name) = if typed.contains(&["$", BUILD].concat()) {
            (typed.into_owned(), None)
        } else {
            let (command, name) = called_by_name(&typed).ok_or_else(|| {
                Trouble::usage(format!("knee gate: `{typed}` names no program: 'sorter {{n}}'"))
            })?;
            (command, Some(name))
        };
        let mut words: Vec<OsString> =
            ["run", "command", "--command", &command].map(OsString::from).into();
        words.extend(flags.iter().cloned());
        let names_points = |word: &OsString| {
            let word = word.to_string_lossy();
            word == "-p" || word.starts_with("--points")
        };
        if !flags.iter().any(names_points) {
            words.extend(["--points", POINTS].map(OsString::from));
        }
        Ok((words, Pair { builds, name }))
    }

    pub fn into_ab(self) -> Result<Ab, Trouble> {
        self.pair.check()?;
        let Gate { mut judgement, run, mut measured, pair, .. } = self;
        if judgement.gate().is_none() {
            judgement.fail_above = Some(FAIL_ABOVE);
            judgement.fail_on = Some(FailOn::Class);
        }
        let custom = &mut measured.custom;
        if custom.headline.is_none()
            && custom.figures.is_empty()
            && let Some(why) = engine::busy(&engine::host())
        {
            note(&format!(
                "knee: {why} CPU time is judged; to judge the other: --headline elapsed"
            ));
            custom.headline = Some(CPU_TIME.to_owned());
        }
        let sides = Vec::new();
        Ok(Ab { judgement, bisect: false, sides, run, measured, programs: Some(pair) })
    }
}

impl Pair {
    /// Refuses what no side can run: another program of that name would be measured.
    fn check(&self) -> Result<(), Trouble> {
        self.builds.iter().try_for_each(|build| {
            let program = match &self.name {
                Some(name) if build.is_dir() => build.join(name),
                _ => build.clone(),
            };
            let refused =
                |why: &str| Err(Trouble::usage(format!("knee gate: {}: {why}", program.display())));
            match program.metadata() {
                Err(error) => refused(&error.to_string()),
                Ok(_) if self.name.is_none() => Ok(()),
                Ok(file) if file.is_file() && file.permissions().mode() & 0o111 != 0 => Ok(()),
                Ok(_) => refused("not a program; of a script, write 'python3 $BUILD {n}'"),
            }
        })
    }
}

/// A command whose program is found by its name, and that name: `./sorter -k {n}` becomes `sorter -k {n}`.
fn called_by_name(command: &str) -> Option<(String, String)> {
    let is_program = |word: &&str| !word.contains('=');
    let program = command.split_whitespace().find(is_program)?;
    let name = program.rsplit('/').next().filter(|name| !name.is_empty())?;
    Some((command.replacen(program, name, 1), name.to_owned()))
}

pub struct Programs<'a> {
    pair: &'a Pair,
    /// The directory of each side that is first in its `PATH`.
    directories: [Option<PathBuf>; 2],
    /// Links by that name, where files have others.
    links: Option<Scratch>,
}

impl<'a> Programs<'a> {
    pub fn new(pair: &'a Pair) -> Result<Self, Trouble> {
        let mut programs = Self { pair, directories: [None, None], links: None };
        let Some(name) = &pair.name else { return Ok(programs) };
        for (side, build) in pair.builds.iter().enumerate() {
            let build = absolute(build)?;
            let directory = if build.is_dir() {
                build
            } else {
                let links = programs.link_directory()?.join(["old", "new"][side]);
                let made = std::fs::create_dir(&links);
                let linked = made.and_then(|()| symlink(&build, links.join(name)));
                linked.map_err(|error| Trouble::failed(format!("{}: {error}", links.display())))?;
                links
            };
            programs.directories[side] = Some(directory);
        }
        Ok(programs)
    }

    fn link_directory(&mut self) -> Result<&Path, Trouble> {
        if self.links.is_none() {
            let path = std::env::temp_dir().join(format!("knee-gate-{}", std::process::id()));
            let made = Scratch::new(&path);
            let made =
                made.map_err(|error| Trouble::failed(format!("{}: {error}", path.display())))?;
            self.links = Some(made);
        }
        Ok(self.links.as_ref().map_or(Path::new(""), Scratch::path))
    }

    pub fn workers(&self) -> [Workers; 2] {
        [0, 1].map(|side| {
            let build = &self.pair.builds[side];
            let text = |path: PathBuf| path.to_string_lossy().into_owned();
            let mut variables = vec![(BUILD.to_owned(), text(absolute(build).unwrap_or_default()))];
            if let Some(directory) = &self.directories[side] {
                let own = std::env::var("PATH").unwrap_or_else(|_| "/bin:/usr/bin".to_owned());
                variables.push(("PATH".to_owned(), format!("{}:{own}", directory.display())));
            }
            let starter = Starter { variables, ..Starter::default() };
            Workers { typed: Some(build.display().to_string()), starter }
        })
    }
}

fn absolute(path: &Path) -> Result<PathBuf, Trouble> {
    std::path::absolute(path)
        .map_err(|error| Trouble::usage(format!("knee gate: {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_called_by_its_name() {
        let called = |command: &str| called_by_name(command).unwrap();
        assert_eq!(called("./sorter -k {n}"), ("sorter -k {n}".into(), "sorter".into()));
        assert_eq!(called("A=/x /b/s {n} /b/s"), ("A=/x s {n} /b/s".into(), "s".into()));
        assert_eq!(called_by_name("A=1"), None);
        assert_eq!(called_by_name(" "), None);
    }
}
