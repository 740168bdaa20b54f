//! A program with all of knee's commands, with what is its own.

use crate::args::{self, Command};
use crate::commands;
use crate::commands::machine::selftest;
use crate::exit::{self, Exit, Trouble};
use engine::Workload;
use readiness::Mechanism;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use workloads::{Builtin, OwnLock};

/// A program with all of knee's commands, and these workloads before knee's own. One that has the name of one of knee's
/// takes its place.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     knee::with(&[]).main()
/// }
/// ```
pub fn with(own: &'static [&'static dyn Workload]) -> Program {
    Program { workloads: own, builtin: Builtin::Offered, locks: Vec::new(), mechanisms: Vec::new() }
}

/// See [`with`].
#[must_use]
pub struct Program {
    workloads: &'static [&'static dyn Workload],
    builtin: Builtin,
    locks: Vec<OwnLock>,
    mechanisms: Vec<&'static Mechanism>,
}

impl Program {
    /// Leaves knee's workloads out, but for its controls.
    pub fn only(self) -> Self {
        Self { builtin: Builtin::ControlsOnly, ..self }
    }

    /// Adds locks, as subjects of `lock`: `OwnLock::new::<MyLock>()`.
    pub fn locks(self, locks: impl Into<Vec<OwnLock>>) -> Self {
        Self { locks: locks.into(), ..self }
    }

    /// Adds readiness mechanisms, as subjects of the workloads that wait for descriptors, and as what drives knee's server.
    pub fn mechanisms(self, mechanisms: impl Into<Vec<&'static Mechanism>>) -> Self {
        Self { mechanisms: mechanisms.into(), ..self }
    }

    /// Does what the command line says, to the exit code. It is all that `main` may do: knee starts the program again for
    /// each cell, and these processes must come here at once.
    ///
    /// # Panics
    /// If it is called twice.
    pub fn main(self) -> ExitCode {
        workloads::add(self.workloads, self.builtin);
        workloads::add_locks(&self.locks);
        readiness::add(&self.mechanisms);
        let typed: Vec<OsString> = std::env::args_os().collect();
        let words: Vec<String> = typed.iter().map(|word| word.to_string_lossy().into()).collect();
        if guest::is_init() && words.first().is_some_and(|word| word == "/init") {
            guest::init_main();
        }
        // SIGXFSZ kills where a failed write can be reported. A handler that does nothing fixes that, and programs
        // that are started have the default.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
        if let Some(code) = internal(&words) {
            return code;
        }
        ended(&words, || obey(args::parse(&typed)?, args::recorded(&words))).into()
    }
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
        Command::Gate(gate) => commands::measure::ab::ab(gate.into_ab()?, &words),
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
        [_, command] if command == engine::WORKER_COMMAND => {
            engine::worker_main(&[workloads::all(), workloads::TABLE].concat())
        }
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
