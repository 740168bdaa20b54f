//! The exit codes of `git bisect run`: of `knee vm --against` and `knee ab --bisect`.
//!
//! Whatever says nothing of the version must not look like a verdict: one that can't be judged is skipped, and where
//! none could be, the bisection is aborted.

use crate::exit::{Exit, Trouble};

/// The exit code of a command line that failed with `exit`: of one that judges for a bisection, one that aborts it.
pub fn exit_of(words: &[String], exit: Exit) -> Exit {
    let own = || words.iter().take_while(|word| *word != "--");
    let has = |wanted: &str| own().any(|word| word == wanted);
    let is_against = has("vm") && own().any(|word| word.split('=').next() == Some("--against"));
    let is_judge = is_against || has("ab") && has("--bisect");
    let failed = matches!(exit, Exit::Failed | Exit::Usage | Exit::NotPossibleHere);
    if is_judge && failed { Exit::Abort } else { exit }
}

pub fn code(exit: Exit) -> Exit {
    match exit {
        Exit::Different => Exit::Bad,
        Exit::Inconclusive => Exit::Skip,
        Exit::Failed => Exit::Abort,
        exit => exit,
    }
}

pub fn skip(why: &str) -> Exit {
    let trouble = Trouble::usage(why).skipped();
    trouble.say();
    trouble.exit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_failure_aborts_a_bisection_and_is_no_verdict() {
        let exit = |line: &str, exit| exit_of(&words(line), exit).code();
        for failed in [Exit::Failed, Exit::Usage, Exit::NotPossibleHere] {
            assert_eq!(exit("knee vm --against base.db -- run poll", failed), 128);
            assert_eq!(exit("knee vm --against=base.db -- run poll", failed), 128);
            assert_eq!(exit("knee ab --bisect a b -- poll", failed), 128);
            assert_eq!(exit("knee vm -- run poll --against x", failed), failed.code());
            assert_eq!(exit("knee ab a b -- poll --bisect", failed), failed.code());
            assert_eq!(exit("knee compare --against x", failed), failed.code());
        }
        assert_eq!(exit("knee vm --against x -- run", Exit::Interrupted), 130);
        assert_eq!(exit("knee vm --against x --help", Exit::Done), 0);
    }

    #[test]
    fn only_what_is_decided_is_a_verdict() {
        let codes =
            [Exit::Done, Exit::Different, Exit::Inconclusive, Exit::Interrupted, Exit::Failed];
        assert_eq!(codes.map(|exit| code(exit).code()), [0, 1, 125, 130, 128]);
    }
}
