//! How workers are started.

use crate::worker::WORKER_COMMAND;
use std::process::Command;
use sys::process::this_program;

/// How workers are started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Starter {
    words: Vec<String>,
    variables: Vec<(String, String)>,
}

impl Starter {
    /// This program as it runs.
    pub fn own() -> Starter {
        Starter::default()
    }

    /// A command that ends in a knee: `taskset -c 1 /old/knee`. It has to become that knee, not to be its
    /// parent.
    pub fn through(words: Vec<String>) -> Starter {
        Starter { words, variables: Vec::new() }
    }

    /// The same with one more variable in the environment.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Starter {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The command that becomes a worker.
    pub(crate) fn command(&self) -> Command {
        let mut command = match self.words.split_first() {
            None => this_program(),
            Some((program, rest)) => {
                let mut command = Command::new(program);
                command.args(rest);
                command
            }
        };
        command.arg(WORKER_COMMAND);
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::process::THIS_PROGRAM;

    #[test]
    fn a_starter_ends_in_the_hidden_word_of_workers() {
        let words = ["env", "X=1", "/old/knee"].map(String::from).to_vec();
        let command = Starter::through(words).with("Y", "2").command();
        let arguments: Vec<_> = command.get_args().collect();
        assert_eq!(command.get_program(), "env");
        assert_eq!(arguments, ["X=1", "/old/knee", WORKER_COMMAND]);
        assert_eq!(command.get_envs().count(), 1);
        assert_eq!(Starter::own().command().get_program(), THIS_PROGRAM);
    }
}
