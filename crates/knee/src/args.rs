//! The command line: every command, and nothing of what they do. A command's flags are in its file.
//!
//! Flags of parameters, and the names that completions know, come from the table of workloads.

use crate::commands::exchange::analyse::Analyse;
use crate::commands::exchange::export::Export;
use crate::commands::exchange::import::Import;
use crate::commands::exchange::judge::Judge;
use crate::commands::httpd::Httpd;
use crate::commands::keep::record::Record;
use crate::commands::machine::doctor::Doctor;
use crate::commands::machine::selftest::Selftest;
use crate::commands::measure::ab::flags::Ab;
use crate::commands::measure::ab::gate::Gate;
use crate::commands::measure::load::Load;
use crate::commands::measure::run::custom;
use crate::commands::measure::run::flags::{FOR_RESUMED, Run};
use crate::commands::measure::simulate::Simulate;
use crate::commands::measure::vm::flags::Vm;
use crate::commands::read::advise::flags::Advise;
use crate::commands::read::compare::flags::Compare;
use crate::commands::read::history::History;
use crate::commands::read::list::List;
use crate::commands::read::report::Report;
use crate::commands::read::show::Show;
use crate::exit::{CODES, Trouble};
use crate::output::{self, ScreenFlags};
use crate::usage;
use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use engine::{About, Parameter, Subject, Values};
use findings::format::capitalized;
use findings::grouping::grouped;
use model::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

/// Finds where a system stops scaling.
///
/// Measures how the primitives that network servers live on grow as the work grows, and says in
/// plain words what it found. Without a workload, `knee run` measures the quick suite in a minute or
/// two.
#[derive(Debug, Parser)]
#[command(name = "knee", version, propagate_version = true, arg_required_else_help = true)]
pub struct CommandLine {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    screen: ScreenFlags,
}

/// The commands by what they are for, as `knee --help` lists them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Measure", &["run", "gate", "ab", "vm", "list"]),
    ("Read", &["show", "report", "advise"]),
    ("Compare", &["compare", "history", "judge"]),
    ("Exchange", &["export", "import", "analyse", "record"]),
    ("Machine", &["doctor", "selftest", "simulate"]),
    ("Serve and load", &["httpd", "load"]),
    ("Help", &["help", "completions", "man"]),
];

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, and it is read once")]
pub enum Command {
    /// Measure workloads, and print tables and findings
    Run(Run),
    /// List workloads and mechanisms, and why one is unavailable here
    List(List),
    /// Show the tables and findings of a run
    Show(Show),
    /// Write the HTML report of one run, or of several overlaid
    Report(Report),
    /// Compare two runs: what is faster, slower or the same
    Compare(Compare),
    /// Measure two builds of your program in turns, and gate the new
    Gate(Box<Gate>),
    /// Measure two environments or two knees in turns, and compare
    Ab(Box<Ab>),
    /// Boot kernels in virtual machines, measure in turns, and compare
    Vm(Box<Vm>),
    /// Show runs of a workload over time, and where a level changed
    History(Box<History>),
    /// Export a run: as a table, a gnuplot script, Markdown, …
    Export(Export),
    /// Import exported runs, or tables of other programs as runs
    Import(Import),
    /// Analyse a table of another program as if it were a run
    #[command(visible_alias = "analyze")]
    Analyse(Analyse),
    /// Judge whether a cost grows at most like a class, for tests
    Judge(Judge),
    /// Advise which mechanism to use, from what was measured here
    Advise(Advise),
    /// Simulate locks on a machine that you do not have
    Simulate(Simulate),
    /// Check what limits and disturbs measuring here, and fix it
    Doctor(Doctor),
    /// Check knee's own figures against what is known without it
    Selftest(Selftest),
    /// Serve a directory over HTTP, by a mechanism of your choice
    Httpd(Httpd),
    /// Put load on a server, and measure its replies
    Load(Load),
    /// List, locate, merge or delete recorded runs
    Record(Record),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write the pages of all commands
    Man {
        /// Write one page a command into this directory
        #[arg(long, alias = "folder", value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

/// The whole command line, with what the tables add to it.
pub fn command() -> clap::Command {
    let names: Vec<&str> = workloads::all().iter().map(|row| row.name()).collect();
    command_for(&names)
}

/// The same, whose help shows the parameters of the workloads in `shown` only, in the words of these.
fn command_for(shown: &[&str]) -> clap::Command {
    let flags: Vec<Arg> = parameters()
        .into_iter()
        .map(|(name, workloads)| {
            let is_shown = |(about, _): &&Declared| shown.contains(&about.info.name.as_str());
            let own: Vec<Declared> = workloads.iter().filter(is_shown).copied().collect();
            if own.is_empty() { flag(name, &workloads).hide(true) } else { flag(name, &own) }
        })
        .collect();
    let names: Vec<&str> = workloads::all().iter().map(|row| row.name()).collect();
    let all: Vec<Subject> = workloads::all().iter().flat_map(|row| row.subjects()).collect();
    let mut subjects: Vec<&str> = Vec::new();
    for name in all.iter().map(|subject| subject.info.name.as_str()) {
        if !subjects.contains(&name) {
            subjects.push(name);
        }
    }
    subjects.extend(quantities::families(&subjects));
    let axes: Vec<&str> = parameters()
        .into_iter()
        .filter(|(_, workloads)| workloads.iter().any(|(_, parameter)| parameter.sweep.is_some()))
        .map(|(name, _)| name)
        .collect();
    let originals: Vec<&str> = crate::originals::all().map(|(_, original)| original.name).collect();
    let line = CommandLine::command();
    let template = help_template(&line);
    let line = line.help_template(template).after_help(exit_codes());
    let line = line.mut_subcommand("show", |show| {
        show.mut_arg("like", completed(PossibleValuesParser::new(originals.clone())))
    });
    line.mut_subcommand("run", |run| {
        let planned = |arg: Arg| {
            let is_for_resumed = FOR_RESUMED.contains(&arg.get_id().as_str());
            if is_for_resumed { arg } else { arg.conflicts_with("resume") }
        };
        let shown_rows = || {
            let rows = workloads::all().iter().filter(|row| shown.contains(&row.name()));
            rows.map(|row| row.about())
        };
        let shown_custom = |arg: Arg| {
            let is_custom = arg.get_help_heading() == Some(custom::HEADING);
            let flag = arg.get_long().unwrap_or_default();
            let is_shown = shown_rows().any(|about| about.takes_custom(flag));
            if is_custom && !is_shown { arg.hide(true) } else { arg }
        };
        run.args(flags)
            .mut_args(planned)
            .mut_args(shown_custom)
            .mut_arg("workloads", completed(PossibleValuesParser::new(names)))
            .mut_arg("subjects", completed(usage::Suggested::new(&subjects)))
            .mut_arg("without", completed(usage::Suggested::new(&subjects)))
            .mut_arg("like", completed(PossibleValuesParser::new(originals)))
            .mut_arg("axis", completed(usage::Suggested::new(&axes)))
    })
}

/// Gives a flag values that completions know and help leaves out.
fn completed(parser: impl Into<ValueParser>) -> impl FnOnce(Arg) -> Arg {
    let parser = parser.into();
    move |arg| arg.value_parser(parser).hide_possible_values(true)
}

pub fn parse<W>(words: &[W]) -> Result<Command, Trouble>
where
    W: Into<OsString> + Clone,
{
    let typed: Vec<String> =
        words.iter().map(|word| word.clone().into().to_string_lossy().into_owned()).collect();
    let command = command_for(&typed.iter().map(String::as_str).collect::<Vec<&str>>());
    let command = command.color(output::help_colours());
    let refused = |error| usage::error(&error, &usage::typed(&command, words));
    let matches = command.clone().try_get_matches_from(words.iter().cloned()).map_err(refused)?;
    let line = CommandLine::from_arg_matches(&matches).map_err(refused)?;
    line.screen.apply();
    Ok(match (line.command, matches.subcommand()) {
        (Command::Run(run), Some((_, given))) => {
            Command::Run(Run { parameters: given_parameters(given), ..run })
        }
        (Command::Ab(ab), _) => {
            let words = std::iter::once("run".into()).chain(ab.run.iter().cloned());
            let expected = "after `--` come workloads and flags of `knee run`";
            let measured = measured_in_turns("ab", words, ab.judgement.markdown, expected)?;
            Command::Ab(Box::new(Ab { measured, ..*ab }))
        }
        (Command::Gate(gate), _) => {
            let (words, pair) = gate.run_words()?;
            let expected = "after `--` come a command line and flags of `knee run command`";
            let measured = measured_in_turns("gate", words, gate.judgement.markdown, expected)?;
            Command::Gate(Box::new(Gate { measured, pair, ..*gate }))
        }
        (Command::Vm(vm), _) => {
            let expected = "after `--` comes what each kernel measures: run poll";
            let markdown = vm.judgement.markdown;
            let measured = measured_in_turns("vm", vm.run_words(), markdown, expected)?;
            Command::Vm(Box::new(Vm { measured, ..*vm }))
        }
        (command, _) => command,
    })
}

/// The words of a command line as they are recorded and printed: without users and passwords in their URLs.
pub fn recorded(words: &[String]) -> Vec<String> {
    let line = CommandLine::command();
    // Those that read a name with its value.
    let readers = [ValueParser::new(usage::label), ValueParser::new(suites::read_word)];
    let is_named = |flag: &&Arg| {
        readers.iter().any(|reader| reader.type_id() == flag.get_value_parser().type_id())
    };
    let all = line.get_subcommands().flat_map(clap::Command::get_arguments);
    let flags = all.filter(is_named).flat_map(|flag| {
        let long = flag.get_long().map(|name| format!("--{name}="));
        long.into_iter().chain(flag.get_short().map(|letter| format!("-{letter}")))
    });
    let flags: Vec<String> = flags.collect();
    let is_load = words.iter().any(|word| word == "load");
    let before = std::iter::once("").chain(words.iter().map(String::as_str));
    let clean = before.zip(words).map(|(before, word)| {
        if let Some(value) = header_value(before, word).filter(|_| is_load) {
            return format!("{}{}", &word[..value], printable::HIDDEN);
        }
        let gives =
            |flag: &String| before == flag.trim_end_matches('=') || word.starts_with(flag.as_str());
        // What stands behind its name is a value, blanks included; elsewhere it may be a command.
        let url = word.find("://").filter(|_| flags.iter().any(gives)).unwrap_or(0);
        let (name, value) = word.split_at(word[..url].rfind('=').map_or(0, |at| at + 1));
        format!("{name}{}", printable::word_without_user_info(value))
    });
    clean.collect()
}

/// Where in a word of `knee load` the value of a header begins, which may be a secret.
fn header_value(before: &str, word: &str) -> Option<usize> {
    // `-H`, also behind flags without values: `-jH`.
    let short = |word: &str| {
        let letters = word.strip_prefix('-')?;
        let flags = letters.find(|c: char| !c.is_ascii_lowercase())?;
        letters[flags..].starts_with('H').then_some(flags + 2)
    };
    let start = if before == "--header" || short(before) == Some(before.len()) {
        0
    } else {
        word.starts_with("--header=").then_some("--header=".len()).or_else(|| short(word))?
    };
    let name = word[start..].find(':').map_or(0, |colon| colon + 1);
    (start < word.len()).then_some(start + name)
}

/// What `command` measures in turns: the words after its `--`, which are to be those of `knee run`, as `expected` says.
fn measured_in_turns(
    command: &str,
    words: impl IntoIterator<Item = OsString>,
    markdown: bool,
    expected: &str,
) -> Result<Run, Trouble> {
    let words: Vec<OsString> = std::iter::once("knee".into()).chain(words).collect();
    let Command::Run(measured) = parse(&words)? else { return Err(Trouble::usage(expected)) };
    let never = [
        (measured.json && markdown, "--json with --markdown"),
        (measured.resume.is_some(), "--resume"),
        (measured.like.is_some(), "--like"),
        (measured.plan, "--plan"),
        (measured.timing, "--timing"),
    ];
    match never.into_iter().find(|(given, _)| *given) {
        Some((_, flag)) => {
            Err(Trouble::usage(format!("{flag} can't be used with `knee {command}`")))
        }
        None => Ok(measured),
    }
}

/// A workload and one of its parameters.
type Declared = (&'static About, &'static Parameter);

/// The name of every parameter once, with the workloads that have it.
fn parameters() -> Vec<(&'static str, Vec<Declared>)> {
    let declared = workloads::all().iter().map(|row| row.about()).flat_map(|about| {
        about.parameters.iter().map(move |parameter| (parameter.name, (about, parameter)))
    });
    grouped(declared)
}

fn flag(name: &'static str, workloads: &[Declared]) -> Arg {
    let names: Vec<&str> = workloads.iter().map(|(about, _)| about.info.name.as_str()).collect();
    // A text may hold commas itself: several values are several flags.
    let text = workloads
        .iter()
        .any(|(_, parameter)| matches!(parameter.values, Values::Text | Values::DirectoryOr(_)));
    let several = if text { "the flag once for each" } else { "separated by commas" };
    let arg = Arg::new(name)
        .long(name)
        .value_name(if text { "TEXT" } else { "VALUES" })
        .allow_hyphen_values(true)
        .action(ArgAction::Append)
        .help_heading(format!("Parameters of {} (several values: {several})", names.join(", ")))
        .help(flag_help(workloads));
    if text { arg } else { arg.value_delimiter(',') }
}

fn flag_help(workloads: &[Declared]) -> String {
    let Some((_, first)) = workloads.first() else { return String::new() };
    let possible = match first.values {
        Values::OneOf(words) => format!(" [possible: {}]", words.join(", ")),
        _ => String::new(),
    };
    let mut defaults: Vec<String> = workloads.iter().copied().map(default_of).collect();
    defaults.dedup();
    let default = if let [only] = defaults.as_slice() {
        only.clone()
    } else {
        let each = workloads.iter().map(|row| format!("{} {}", row.0.info.name, default_of(*row)));
        each.collect::<Vec<String>>().join("; ")
    };
    let mut abouts: Vec<&str> = workloads.iter().map(|(_, parameter)| parameter.about).collect();
    abouts.dedup();
    let about = if let [only] = abouts.as_slice() {
        capitalized(only)
    } else {
        // Workloads may mean different things by one flag.
        let each = workloads.iter().map(|(row, own)| format!("{}: {}", row.info.name, own.about));
        each.collect::<Vec<String>>().join("; ")
    };
    format!("{about} [default: {default}]{possible}")
}

fn default_of((about, parameter): Declared) -> String {
    let (quick, full) = (parameter.default.quick.join(","), parameter.default.full.join(","));
    if full.is_empty() {
        return "none".to_owned();
    }
    let own = if quick == full { full } else { format!("{full}; {quick} with --quick") };
    if about.axis() == parameter.name {
        return format!("the points; {own} with another --axis");
    }
    own
}

fn given_parameters(given: &ArgMatches) -> BTreeMap<String, Vec<Value>> {
    parameters()
        .into_iter()
        .filter_map(|(name, workloads)| {
            let (_, parameter) = workloads.first()?;
            let texts = given.get_many::<String>(name)?;
            Some((name.to_owned(), texts.map(|text| parameter.read(text)).collect()))
        })
        .collect()
}

fn help_template(line: &clap::Command) -> String {
    let mut text = String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n");
    for (group, names) in GROUPS {
        let _ = writeln!(text, "\n{group}:");
        for name in *names {
            let about = line.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map_or_else(|| HELP_ABOUT.to_owned(), ToString::to_string);
            let _ = writeln!(text, "  {name:<11}  {about}");
        }
    }
    text + "\nOptions:\n{options}{after-help}"
}

/// What the command `help` does; the parser makes it later than the others.
const HELP_ABOUT: &str = "Print the help of a command: knee help run";

fn exit_codes() -> String {
    let mut text = String::from("Exit codes:\n");
    for (code, meaning) in CODES {
        let _ = writeln!(text, "  {code:>3}  {meaning}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn a_value_with_a_name_is_a_url_to_its_end() {
        let url = "u=postgres://me:se cret@h/d";
        let recorded = |line: &[&str]| {
            super::recorded(&line.iter().map(|&word| word.to_owned()).collect::<Vec<String>>())
        };
        for flag in ["--set", "--label", "-l"] {
            for start in [&["knee", "run"][..], &["knee", "vm", "--", "run"]] {
                let word = recorded(&[start, &[flag, url]].concat()).pop().unwrap();
                assert_eq!(word, "u=postgres://***@h/d", "{flag}");
            }
        }
        for attached in ["--set=", "--label=", "-l", "-l="] {
            let word = recorded(&[&[attached, url].concat()]).pop().unwrap();
            assert_eq!(word, format!("{attached}u=postgres://***@h/d"));
        }
        let command = ["--command", "u=postgres://h/d ./migrate; mail me@h"];
        assert_eq!(recorded(&command), command);
    }

    #[test]
    fn the_value_of_a_header_is_not_recorded() {
        let recorded = |words: &[&str]| {
            let words = [&["knee", "load", "http://h/"], words].concat();
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            super::recorded(&words)[3..].join(" ")
        };
        for flag in ["--header", "-H", "-jH"] {
            assert_eq!(recorded(&[flag, "X-Key: SECRET", "-j"]), format!("{flag} X-Key:*** -j"));
        }
        for attached in ["--header=", "-H", "-aH", "-H="] {
            let word = [attached, "X-Key: SECRET"].concat();
            assert_eq!(recorded(&[&word]), format!("{attached}X-Key:***"));
        }
        assert_eq!(recorded(&["--header=SECRET", "-HSECRET"]), "--header=*** -H***");
        for plain in [&["--label", "a=H:b"][..], &["--rate", "5k", "-j"], &["-H"]] {
            assert_eq!(recorded(plain), plain.join(" "));
        }
        let words = ["knee", "run", "-H", "a: b"].map(str::to_owned);
        assert_eq!(super::recorded(&words), words, "a header is one of a load");
    }

    #[test]
    fn a_resumed_run_refuses_each_argument_of_the_plan() {
        let resume = |flag| parse(&["knee", "run", "--resume", flag]);
        for flag in ["poll", "--points=1", "--budget=1s", "--suite=pr", "--config=x", "--kind=tcp"]
        {
            assert!(resume(flag).is_err(), "{flag}");
        }
        for flag in ["--all", "--json", "--output=x.html", "--record=x.db", "--quiet"] {
            assert!(resume(flag).is_ok(), "{flag}");
        }
        let line = command();
        let run = line.find_subcommand("run").unwrap();
        for name in FOR_RESUMED {
            assert!(run.get_arguments().any(|arg| arg.get_id() == name), "{name}");
        }
    }

    #[test]
    fn every_command_is_in_one_group_and_takes_one_line() {
        let line = command();
        let grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for command in line.get_subcommands() {
            let name = command.get_name();
            assert_eq!(grouped.iter().filter(|command| **command == name).count(), 1, "{name}");
            assert!(command.get_about().unwrap().to_string().chars().count() <= 65, "{name}");
        }
        assert_eq!(grouped.len(), line.get_subcommands().count() + 1, "and help");
    }

    /// The help that `words` ask for, on one line.
    fn help_of(words: &[&str]) -> String {
        let mut command = command_for(words);
        let help = command.find_subcommand_mut(words[0]).unwrap().render_help().to_string();
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
        help
    }

    #[test]
    fn help_shows_the_parameters_of_the_workloads_that_were_named_in_their_words() {
        let own = |name: &str| &workloads::find(name).unwrap().about().parameters;
        let plain = help_of(&["run"]);
        assert!(plain.lines().count() < 40, "{plain}");
        for workload in workloads::all().iter().map(|row| row.name()) {
            let help = help_of(&["run", workload]);
            let words = help.split_whitespace().collect::<Vec<&str>>().join(" ");
            for (name, _) in parameters() {
                let flag = format!("--{name} <");
                assert!(!plain.contains(&flag), "{name}");
                let parameter = own(workload).iter().find(|parameter| parameter.name == name);
                assert_eq!(help.contains(&flag), parameter.is_some(), "{name} of {workload}");
                let about = parameter.map_or(String::new(), |own| capitalized(own.about));
                assert!(words.contains(&about), "{name}: {help}");
            }
        }
    }

    #[test]
    fn the_tables_parameters_are_flags() {
        let help = command().find_subcommand_mut("run").unwrap().render_long_help().to_string();
        // Lines are broken anywhere.
        let help = help.split_whitespace().collect::<Vec<&str>>().join(" ");
        for (name, workloads) in parameters() {
            assert!(help.contains(&format!("--{name} ")), "{help}");
            assert!(help.contains(&default_of(workloads[0])), "{help}");
        }
    }

    #[test]
    fn values_of_parameters_are_read_by_their_kind() {
        let words = ["knee", "run", "poll", "--active", "1,1k", "--timeout", "0,-1"];
        let Command::Run(run) = parse(&words.map(String::from)).unwrap() else { panic!() };
        assert_eq!(run.parameters["active"], ["1", "1000"]);
        assert_eq!(run.parameters["timeout"], ["0", "-1"]);
        assert!(!run.parameters.contains_key("object"));
    }
}
