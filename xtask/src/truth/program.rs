//! A case goes through the commands that a user has, and comes back as their JSON.

use super::family::{Input, csv};
use super::random::Sample;
use crate::shell;
use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What reads a table of [`csv`].
const COLUMNS: [&str; 8] = ["--x", "n", "--y", "figure", "--by", "series", "--round", "round"];

/// A program knee, and a directory for the files of one case at a time.
pub struct Program<'a> {
    /// The program.
    pub knee: &'a Path,
    /// The directory.
    pub scratch: &'a Path,
}

impl Program<'_> {
    /// What knee says of a case, as JSON.
    pub fn ask(&self, input: &Input) -> Result<Value> {
        match input {
            Input::Costs(samples) => self.analyse(samples, &["--unit", "ns"], "run"),
            Input::Rates(samples) => {
                self.analyse(samples, &["--unit", "1/s", "--better", "higher"], "run")
            }
            Input::Runs { base, new, in_turns } => self.compare([base, new], *in_turns),
        }
    }

    fn analyse(&self, samples: &[Sample], flags: &[&str], directory: &str) -> Result<Value> {
        // Both runs of a pair have the workload that a file's name gives them.
        let table = self.scratch.join(directory).join("truth.csv");
        fs::create_dir_all(self.scratch.join(directory))?;
        fs::write(&table, csv(samples))?;
        json(self.command("analyse").arg(table).args(COLUMNS).args(flags))
    }

    /// Imports both runs as `knee analyse` has them, since a table has no turns, and compares them.
    fn compare(&self, runs: [&Vec<Sample>; 2], in_turns: bool) -> Result<Value> {
        let [mut base, mut new] = [
            self.analyse(runs[0], &["--unit", "ns"], "base")?,
            self.analyse(runs[1], &["--unit", "ns"], "new")?,
        ];
        if in_turns {
            let id = |run: &Value| run["summary"]["id"].clone();
            let (id_base, id_new) = (id(&base), id(&new));
            base["plan"]["paired_with"] = id_new;
            new["plan"]["paired_with"] = id_base;
        }
        let record = self.scratch.join("record.db");
        if record.exists() {
            fs::remove_file(&record)?;
        }
        let mut files: Vec<PathBuf> = Vec::new();
        for (name, run) in [("base.json", base), ("new.json", new)] {
            let file = self.scratch.join(name);
            fs::write(&file, run.to_string())?;
            files.push(file);
        }
        shell::output(self.command("import").args(files).arg("--record").arg(&record))?;
        json(self.command("compare").args(["1", "2", "--record"]).arg(&record))
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.knee);
        command.current_dir(self.scratch).arg(name);
        command
    }
}

fn json(command: &mut Command) -> Result<Value> {
    let text = shell::output(command.arg("--json"))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", shell::display(command)))
}
