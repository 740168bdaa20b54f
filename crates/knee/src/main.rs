//! `knee` finds where a system stops scaling.
//!
//! Data goes one way: arguments, a request, a plan, measured cells in a record, and from the record
//! analysis, findings and reports. Each command goes a part of it.
#![forbid(unsafe_code)]

mod args;
mod commands;
#[cfg(test)]
mod documents;
mod exit;
mod files;
mod originals;
mod output;
mod remedies;
mod usage;

use args::Command;
use commands::machine::selftest;
use exit::{Exit, Trouble};
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;

fn main() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().collect();
    let words: Vec<String> = typed.iter().map(|word| word.to_string_lossy().into()).collect();
    if guest::is_init() && words.first().is_some_and(|word| word == "/init") {
        guest::init_main();
    }
    if let Some(code) = internal(&words) {
        return code;
    }
    ended(&words, || obey(args::parse(&typed)?, args::recorded(&words))).into()
}

/// How the command line of `words` ends. A fault of this program's own is no verdict on a version.
fn ended(words: &[String], obey: impl FnOnce() -> Result<Exit, Trouble>) -> Exit {
    match catch_unwind(AssertUnwindSafe(obey)) {
        Ok(Ok(exit)) => exit,
        Ok(Err(trouble)) => {
            trouble.say();
            commands::read::compare::bisect::exit_of(words, trouble.exit)
        }
        Err(panic) => match commands::read::compare::bisect::exit_of(words, Exit::Failed) {
            Exit::Abort => Exit::Abort,
            _ => resume_unwind(panic),
        },
    }
}

fn obey(command: Command, words: Vec<String>) -> Result<Exit, Trouble> {
    match command {
        Command::Run(run) => commands::measure::run::run(&run, words),
        Command::List(list) => commands::read::list::list(&list),
        Command::Show(show) => commands::read::show::show(&show),
        Command::Report(report) => commands::read::report::report(&report),
        Command::Compare(compare) => commands::read::compare::compare(&compare),
        Command::Ab(ab) => commands::measure::ab::ab(*ab, &words),
        Command::Vm(vm) => commands::measure::vm::vm(*vm),
        Command::History(ask) => commands::read::history::history(&ask),
        Command::Export(ask) => commands::exchange::export::export(&ask),
        Command::Import(ask) => commands::exchange::import::import(&ask, &words),
        Command::Analyse(ask) => commands::exchange::analyse::analyse(&ask, words),
        Command::Judge(ask) => commands::exchange::judge::judge(&ask, words),
        Command::Advise(advise) => commands::read::advise::advise(&advise),
        Command::Simulate(ask) => commands::measure::simulate::simulate(&ask, words),
        Command::Doctor(ask) => commands::machine::doctor::doctor(&ask),
        Command::Selftest(ask) => commands::machine::selftest::selftest(&ask),
        Command::Httpd(ask) => commands::httpd::httpd(&ask),
        Command::Load(ask) => commands::measure::load::load(&ask, words),
        Command::Record(record) => commands::keep::record::record(&record),
        Command::Completions { shell } => commands::generate::completions(shell),
        Command::Man { directory } => commands::generate::man(directory.as_deref()),
    }
}

/// The hidden commands with which the instrument starts itself.
fn internal(words: &[String]) -> Option<ExitCode> {
    let done = match words {
        [_, command] if command == engine::WORKER_COMMAND => engine::worker_main(workloads::TABLE),
        [_, command, parent] if command == engine::PARK_COMMAND => {
            engine::park_main(parent.parse().unwrap_or_default())
        }
        [_, command] if command == guest::GUEST_COMMAND => commands::measure::vm::in_guest::main(),
        [_, command, words @ ..] if command == engine::GUARD_COMMAND => engine::guard_main(words),
        [_, command, parent] if command == load::DEAD_COMMAND => {
            load::dead_main(parent.parse().unwrap_or_default()).map_err(std::io::Error::other)
        }
        [_, command, directory, means, parent] if command == selftest::disk::DISK_COMMAND => {
            let knee =
                |words: Vec<String>| args::parse(&words).and_then(|command| obey(command, words));
            selftest::disk::child_main(std::path::Path::new(directory), means, parent, knee)
        }
        _ => return None,
    };
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            exit::complain(&error.to_string());
            ExitCode::FAILURE
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_aborts_a_bisection_and_is_no_verdict() {
        let ended_of = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            // What it says of the panic is not looked at here.
            catch_unwind(|| ended(&words, || panic!("a fault of knee's own")).code())
        };
        assert_eq!(ended_of("knee vm --against base.db -- run poll").ok(), Some(128));
        assert!(ended_of("knee vm -- run poll").is_err(), "others end as any program does");
        assert_eq!(ended(&[], || Ok(Exit::Done)).code(), 0);
    }
}
