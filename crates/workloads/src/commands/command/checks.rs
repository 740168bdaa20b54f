//! What can be known to be wrong with commands before one of them runs.

use super::interpreter::{Interpreter, first_program, is_posix_shell, other_in_bash, syntax};
use engine::{CommandOutput, Custom};
use quantities::template;
use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// More combinations of values than this are not looked through for a missing program.
const COMBINATIONS_MAX: usize = 1_000;

/// Refuses what can't be measured.
///
/// # Errors
/// With one line that says how to fix it.
pub(super) fn checked(custom: &Custom, axis: &str) -> Result<(), String> {
    if !custom.servers.is_empty() || !custom.urls.is_empty() {
        return Err("it measures commands; --server and --url are for connect, request, dead and \
                    download"
            .to_owned());
    }
    if custom.commands.is_empty() {
        return Err(format!("--command names what to measure: --command 'sort {{{axis}}}.txt'"));
    }
    let words: Vec<&str> = custom.words.keys().map(String::as_str).chain([axis]).collect();
    for text in custom.texts() {
        template::check(text, &words)?;
    }
    let has_word = |word: &str| custom.texts().any(|text| template::words(text).contains(&word));
    if !has_word(axis) {
        return Err(format!(
            "no command has {{{axis}}}, which each point is inserted for; --axis WORD chooses another word"
        ));
    }
    if let Some(unused) = custom.words.keys().find(|word| !has_word(word)) {
        return Err(format!("--set {unused}: no command has {{{unused}}}"));
    }
    if custom.figures.is_empty() || custom.output.as_ref().is_none_or(is_readable) {
        programs(custom, axis)
    } else {
        Err("--extract reads what commands print; leave out --stdout, or keep it: --stdout keep"
            .to_owned())
    }
}

fn is_readable(output: &CommandOutput) -> bool {
    matches!(output, CommandOutput::Keep | CommandOutput::Null)
}

/// Refuses commands of which a program is missing, and those that mean something else to what interprets them. Of
/// what a shell interprets the first program is looked at; a program at a path may be made by a hook before.
fn programs(custom: &Custom, axis: &str) -> Result<(), String> {
    let Custom { setup, prepare, conclude, cleanup, .. } = custom;
    let (is_set_up, is_prepared) = (setup.is_some(), setup.is_some() || prepare.is_some());
    let hooks =
        [(setup, false), (prepare, is_set_up), (conclude, is_prepared), (cleanup, is_prepared)];
    let hooks =
        hooks.into_iter().filter_map(|(text, may_be_made)| Some((text.as_ref()?, may_be_made)));
    let commands = custom.commands.iter().map(|command| (&command.text, is_prepared));
    for (text, may_be_made) in commands.chain(hooks) {
        let interpreter = Interpreter::for_text(custom, text);
        for text in combinations(custom, axis, text) {
            let words = interpreter.words(&text)?;
            if let (Interpreter::None, Some(sign)) = (&interpreter, syntax(&text)) {
                return Err(format!(
                    "`{text}`: {} needs a shell; leave out --shell none, or put it in single quotes",
                    quoted(sign)
                ));
            }
            if let Some(what) = other_in_bash(&interpreter, &text) {
                return Err(format!("`{text}`: {what}"));
            }
            let shell = words.first().map(String::as_str).unwrap_or_default();
            let first = match &interpreter {
                // Another shell has other words of its own, and python3 is one too.
                Interpreter::Shell(words) if is_posix_shell(words) => first_program(&text),
                Interpreter::None | Interpreter::Shell(_) => None,
            };
            for program in [Some(shell), first].into_iter().flatten() {
                let is_known =
                    template::words(program).is_empty() && !(may_be_made && program.contains('/'));
                if is_known && !exists(program, custom) {
                    return Err(format!("`{text}`: there is no program {program}"));
                }
            }
        }
    }
    Ok(())
}

/// The text with every combination of the values of its words; the axis stays a word if nothing gave it values.
fn combinations(custom: &Custom, axis: &str, text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned()];
    for word in template::words(text).into_iter().filter(|word| *word != axis) {
        let values = custom.words.get(word).map_or(&[][..], Vec::as_slice);
        if all.len() * values.len() > COMBINATIONS_MAX {
            return Vec::new();
        }
        let with = |text: &String, value: &str| {
            template::fill(text, |name| (name == word).then(|| Cow::Owned(value.to_owned())))
        };
        all = all
            .iter()
            .flat_map(|text| values.iter().map(|value| with(text, &value.text())))
            .collect();
    }
    all
}

/// A sign in a message: a line feed has a name.
fn quoted(sign: &str) -> String {
    if sign == "\n" { "a second line".to_owned() } else { format!("`{sign}`") }
}

/// Whether there is such a program: a path, or a name in one of the directories of `PATH`, of each side where there
/// are several.
fn exists(program: &str, custom: &Custom) -> bool {
    let directory: &Path = &custom.directory;
    if program.contains('/') {
        return is_executable(&directory.join(program));
    }
    let own = || vec![std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into())];
    let sides = custom.search_paths.clone();
    let all = if sides.is_empty() { own() } else { sides };
    let has = |path: &OsString| {
        std::env::split_paths(path).any(|path| is_executable(&directory.join(path).join(program)))
    };
    !program.is_empty() && all.iter().all(has)
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{PrintedFigure, Shell};
    use suites::{name_templates, read_template, read_word};

    fn custom(commands: &[&str], words: &[&str]) -> Custom {
        let mut commands: Vec<_> = commands.iter().map(|text| read_template(text)).collect();
        name_templates(&mut commands).unwrap();
        let words = words.iter().map(|text| read_word(text).unwrap()).collect();
        Custom { commands, words, directory: "/".into(), ..Custom::default() }
    }

    fn refused(custom: &Custom) -> String {
        checked(custom, "n").unwrap_err()
    }

    #[test]
    fn what_can_be_run_is_not_refused() {
        for command in ["sh {n}", "true {n} | cat", "cat; : {n}", "/bin/sh {n}", "sh '{n}' {size}"]
        {
            let words: &[&str] = if command.contains("{size}") { &["size=1,2"] } else { &[] };
            assert_eq!(checked(&custom(&[command], words), "n"), Ok(()), "{command}");
        }
        assert_eq!(checked(&custom(&["sh {threads}"], &[]), "threads"), Ok(()));
        let setup = Custom { setup: Some("sh {n}".into()), ..custom(&["true"], &[]) };
        assert_eq!(checked(&setup, "n"), Ok(()), "the point may be anywhere");
    }

    #[test]
    fn what_is_wrong_is_one_line_with_its_remedy() {
        let line = refused(&custom(&[], &[]));
        assert!(line.contains("--command names what to measure"), "{line}");
        let line = refused(&custom(&["true"], &[]));
        assert!(line.contains("no command has {n}"), "{line}");
        let line = refused(&custom(&["true {n} {sise}"], &["size=1"]));
        assert!(line.contains("{sise}") && line.contains("did you mean {size}?"), "{line}");
        let line = refused(&custom(&["true {n}"], &["size=1"]));
        assert_eq!(line, "--set size: no command has {size}");
        let line = refused(&custom(&["true {n}", "no_such_program {n}"], &[]));
        assert_eq!(line, "`no_such_program {n}`: there is no program no_such_program");
        let line = refused(&custom(&["no_such_program {n} | cat"], &[]));
        assert_eq!(line, "`no_such_program {n} | cat`: there is no program no_such_program");
        let line = refused(&custom(&["i=0; while :; do :; done; : {n}"], &[]));
        assert!(line.ends_with("there is no program 0"), "{line}");
        let line = refused(&custom(&["sleep 0 &> /dev/null; : {n}"], &[]));
        assert!(line.contains("`&>` runs the command in the background of `sh`"), "{line}");
        let none = |command| Custom { shell: Some(Shell::None), ..custom(&[command], &[]) };
        for (command, sign) in [
            ("echo {n} > x", ">"),
            ("echo {n} | cat", "|"),
            ("true {n} && true", "&"),
            ("true {n}; true", ";"),
            ("echo {n} *", "*"),
            ("echo {n} \"$X\"", "$"),
        ] {
            let line = refused(&none(command));
            assert!(line.contains(&format!("`{sign}` needs a shell; leave out")), "{line}");
        }
        assert_eq!(checked(&none("echo {n} '>' 'a|b;*' '$X'"), "n"), Ok(()));
        let line = refused(&custom(&["{tool} {n}"], &["tool=sh,no_such"]));
        assert!(line.contains("there is no program no_such"), "{line}");
        let line = refused(&custom(&["echo 'open {n}"], &[]));
        assert!(line.contains("a quote is not closed"), "{line}");
        let line = refused(&Custom {
            urls: vec![read_template("http://h/")],
            ..custom(&["true {n}"], &[])
        });
        assert!(line.contains("--url"), "{line}");
    }

    #[test]
    fn a_missing_program_of_a_hook_is_named() {
        let prepare = Some("/no/such/thing".into());
        let line = refused(&Custom { prepare, ..custom(&["true {n}"], &[]) });
        assert!(line.contains("no program /no/such/thing"), "{line}");
    }

    #[test]
    fn figures_need_output_that_can_be_read() {
        let figures = vec![PrintedFigure::default()];
        let output = Some(CommandOutput::File("x".into()));
        let line = refused(&Custom { figures, output, ..custom(&["true {n}"], &[]) });
        assert!(line.contains("--stdout"), "{line}");
    }
}
