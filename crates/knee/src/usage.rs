//! What is wrong with a command line, in one line; and the readers of values.

use crate::exit::{Exit, Trouble, complain};
use crate::output;
use analysis::Class;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command};
use findings::format::class;
use model::Value;
use quantities::Better;
use std::ffi::{OsStr, OsString};

/// The error of the parser: help and versions are printed; everything else becomes one line.
pub fn error(error: &Error, command: &str) -> Trouble {
    match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if command == "knee" => {
            next().lines().for_each(complain);
            Trouble::shown(Exit::Usage)
        }
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let usage = error.exit_code() != 0;
            let printed = error.print();
            if usage {
                // On standard error, which reports nothing of itself.
                return Trouble::shown(Exit::Usage);
            }
            output::written(printed).err().unwrap_or_else(|| Trouble::shown(Exit::Done))
        }
        _ => Trouble::usage(one_line(error, command)),
    }
}

fn next() -> String {
    let mut all = vec![
        ("knee doctor", "what disturbs measuring here, and its remedy"),
        ("knee run", "the quick suite: what stops scaling here, in minutes"),
        ("knee run command --command 'prog {n}' --points 1k,10k,100k", "where your program does"),
        ("knee gate ./old ./new -- 'prog {n}'", "whether your new build is slower"),
        ("knee --help", "all commands"),
    ];
    if archive::default_path().is_ok_and(|record| record.exists()) {
        all.insert(2, ("knee show", "the answer of the last run again"));
    }
    let width = all.iter().map(|(line, _)| line.len()).max().unwrap_or_default();
    let lines = all.iter().map(|(line, about)| format!("  {line:width$}  {about}\n"));
    format!(
        "knee finds where a system stops scaling. What to do next:\n{}",
        lines.collect::<String>()
    )
}

/// The command and its subcommand that `words` begin with, flags left out: `knee record list`.
pub fn typed<W: Into<OsString> + Clone>(root: &Command, words: &[W]) -> String {
    let (mut command, mut names) = (root, vec![root.get_name()]);
    let words = words.iter().skip(1).cloned().map(Into::<OsString>::into);
    for word in words.filter(|word| !word.to_string_lossy().starts_with('-')) {
        let Some(subcommand) = command.find_subcommand(&word) else { break };
        names.push(subcommand.get_name());
        command = subcommand;
    }
    names.join(" ")
}

fn one_line(error: &Error, command: &str) -> String {
    let help = format!("{command} --help");
    let word = |kind| error.get(kind).map(words).unwrap_or_default();
    let (flag, value) = (word(ContextKind::InvalidArg), word(ContextKind::InvalidValue));
    match error.kind() {
        ErrorKind::UnknownArgument => {
            format!("there is no {flag}{}", hint(&word(ContextKind::SuggestedArg), &help))
        }
        ErrorKind::InvalidSubcommand => {
            let name = word(ContextKind::InvalidSubcommand);
            let suggested = error.get(ContextKind::SuggestedSubcommand);
            let suggested = suggested.map(closest).unwrap_or_default();
            format!("there is no command `{name}`{}", hint(&suggested, &help))
        }
        ErrorKind::InvalidValue if !value.is_empty() => {
            // The parser's own suggestion for `epol` is devpoll.
            let suggested = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(names)) => {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    let nearest = quantities::nearest(&value, &names);
                    let begin = nearest.iter().filter(|name| name.starts_with(&value)).count();
                    nearest[..begin.max(1).min(nearest.len())].join(" or ")
                }
                _ => word(ContextKind::SuggestedValue),
            };
            match flag.as_str() {
                "[WORKLOAD]..." => {
                    format!(
                        "no workload is called `{value}`{}",
                        hint(&suggested, "knee list workloads")
                    )
                }
                "--subjects <NAMES>" => {
                    format!("no subject is called `{value}`{}", hint(&suggested, "knee list"))
                }
                _ => {
                    let possible = word(ContextKind::ValidValue);
                    format!("{flag} is not `{value}`{}", hint_possible(&suggested, &possible))
                }
            }
        }
        _ => first_paragraph(&error.render().to_string()),
    }
}

fn hint(suggested: &str, list: &str) -> String {
    match suggested {
        "" => format!("; `{list}` shows them all"),
        suggested => format!("; did you mean {suggested}?"),
    }
}

fn hint_possible(suggested: &str, possible: &str) -> String {
    match (suggested, possible) {
        ("", "") => String::new(),
        ("", possible) => format!("; it is one of {possible}"),
        (suggested, _) => format!("; did you mean {suggested}?"),
    }
}

fn words(value: &ContextValue) -> String {
    match value {
        ContextValue::Strings(several) => several.join(" or "),
        single => single.to_string(),
    }
}

/// The parser puts the nearest name last.
fn closest(value: &ContextValue) -> String {
    match value {
        ContextValue::Strings(several) => several.last().cloned().unwrap_or_default(),
        single => single.to_string(),
    }
}

/// The parser's own words, without its label and the usage below.
fn first_paragraph(rendered: &str) -> String {
    let paragraph = rendered.split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

pub fn cpu(typed: &str) -> Result<usize, String> {
    let number = quantities::count(typed).ok().and_then(|number| number.try_into().ok());
    number.ok_or_else(|| format!("`{typed}` is not the number of a CPU (such as 0)"))
}

/// Reads the value of a parameter. Any text is one: the parameter itself says later whether it may be.
pub fn value() -> impl TypedValueParser<Value = Value> {
    StringValueParser::new().map(|typed| Value::typed(&typed))
}

/// Reads a point as it was typed: the plan reads it by the axis, which says what `64k` is.
pub fn point() -> impl TypedValueParser<Value = Value> {
    StringValueParser::new().map(|typed| Value::from(typed.trim()))
}

/// Reads a name. Completions know some; which others there are, only the plan knows.
#[derive(Clone, Debug)]
pub struct Suggested(Vec<String>);

impl Suggested {
    pub fn new(names: &[&str]) -> Suggested {
        Suggested(names.iter().map(|&name| name.to_owned()).collect())
    }
}

impl TypedValueParser for Suggested {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(PossibleValue::new)))
    }
}

/// A word, what it stands for, and its help.
pub type Meaning<T> = (&'static str, T, &'static str);

pub fn one_of<T: Copy + Send + Sync>(
    all: &'static [Meaning<T>],
) -> impl TypedValueParser<Value = T> {
    let words = all.iter().map(|(word, _, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(words).try_map(|typed| {
        let row = all.iter().find(|(word, ..)| *word == typed);
        row.map(|(_, value, _)| *value).ok_or("there is no such word")
    })
}

pub fn better() -> impl TypedValueParser<Value = Better> {
    one_of(&[
        ("lower", Better::Lower, "Less is better: times, costs"),
        ("higher", Better::Higher, "More is better: rates, throughput"),
    ])
}

const LIMITS: [Meaning<Class>; 6] = [
    ("constant", Class::Constant, "Flat: within ×1.3"),
    ("logarithmic", Class::Logarithmic, "log n"),
    ("square-root", Class::SquareRoot, "√n"),
    ("linear", Class::Linear, "n"),
    ("linearithmic", Class::Linearithmic, "n log n"),
    ("quadratic", Class::Quadratic, "n²"),
];

/// Reads a limit of growth, also as verdicts and their help write it: `n log n`.
pub fn limit() -> impl TypedValueParser<Value = Class> {
    let words = LIMITS.map(|(word, limit, help)| {
        PossibleValue::new(word).aliases([class(limit), help]).help(help)
    });
    PossibleValuesParser::new(words).try_map(|typed| {
        let is_typed = |(word, limit, help): &&Meaning<Class>| {
            [*word, class(*limit), *help].contains(&typed.as_str())
        };
        LIMITS.iter().find(is_typed).map(|(_, limit, _)| *limit).ok_or("there is no such word")
    })
}

pub fn label(typed: &str) -> Result<(String, String), String> {
    match typed.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(format!("`{typed}` is no label (such as commit=3701d31)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_read_as_verdicts_write_it() {
        let command = Command::new("judge").arg(Arg::new("limit").value_parser(limit()));
        for (word, expected, help) in LIMITS {
            for typed in [word, class(expected), help] {
                let matches = command.clone().try_get_matches_from(["judge", typed]).unwrap();
                assert_eq!(matches.get_one("limit"), Some(&expected), "{typed}");
            }
        }
    }

    #[test]
    fn labels_are_read_as_people_write_them() {
        assert_eq!(label("commit = 3701d31=x"), Ok(("commit".into(), "3701d31=x".into())));
        for typed in ["commit", "=x", "commit= ", ""] {
            assert!(label(typed).is_err(), "{typed}");
        }
    }
}
