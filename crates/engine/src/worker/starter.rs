//! How workers are started.

use crate::worker::WORKER_COMMAND;
use std::process::Command;
use sys::process::this_program;

/// How workers are started: by default this program as it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Starter {
    /// A command that ends in a knee: `taskset -c 1 /old/knee`. It has to become that knee, not to be its parent.
    pub words: Vec<String>,
    /// Variables of their environment besides those of this process.
    pub variables: Vec<(String, String)>,
}

impl Starter {
    pub(crate) fn command(&self) -> Command {
        let mut command = self.words.first().map_or_else(this_program, Command::new);
        command.args(self.words.iter().skip(1)).arg(WORKER_COMMAND).envs(self.variables.clone());
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
        let variables = vec![("Y".to_owned(), "2".to_owned())];
        let command = Starter { words, variables }.command();
        let arguments: Vec<_> = command.get_args().collect();
        assert_eq!(command.get_program(), "env");
        assert_eq!(arguments, ["X=1", "/old/knee", WORKER_COMMAND]);
        assert_eq!(command.get_envs().count(), 1);
        assert_eq!(Starter::default().command().get_program(), THIS_PROGRAM);
    }
}
