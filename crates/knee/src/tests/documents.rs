//! The documents against the program: every command in them is understood.

mod deployment;

use crate::args::{command, parse};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The top of the source tree.
pub(crate) fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Markdown file of the project's top directory, of `docs` and of `deploy`, by path.
fn documents() -> BTreeMap<PathBuf, String> {
    let directories = [top(), top().join("docs"), top().join("deploy")];
    let entries = directories.iter().flat_map(|directory| std::fs::read_dir(directory).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    let pages = paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// The commands of knee in a document: those in its shell blocks, and those that its sentences name.
fn commands(document: &str) -> (Vec<String>, Vec<String>) {
    let (mut run, mut named) = (Vec::new(), Vec::new());
    for (number, part) in document.split("```").enumerate() {
        if number % 2 == 1 {
            let lines = part.strip_prefix("sh\n").unwrap_or_default().replace("\\\n", " ");
            let lines = lines.lines();
            run.extend(lines.filter_map(|line| of_knee(line.split(" #").next()?)));
        } else {
            named.extend(part.split('`').skip(1).step_by(2).filter_map(of_knee));
        }
    }
    (run, named)
}

/// A line as a command of knee.
fn of_knee(line: &str) -> Option<String> {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = line.strip_prefix("cargo run --release -- ").or(line.strip_prefix("knee "))?;
    Some(format!("knee {words}"))
}

/// What a named command has that the program has not: a command, or a flag of it.
fn unknown(named: &str) -> Option<String> {
    let words: Vec<&str> =
        named.split_whitespace().skip(1).filter(|word| *word != "help").collect();
    let whole = command();
    // After `--` come the words of another command.
    let words = words.split(|word| *word == "--").next().unwrap_or_default();
    let mut current = &whole;
    for (depth, word) in words.iter().enumerate() {
        match current.find_subcommand(word) {
            Some(command) => current = command,
            None if depth == 0 && word.chars().all(|letter| letter.is_ascii_lowercase()) => {
                return Some((*word).to_owned());
            }
            None => break,
        }
    }
    let flags = words.iter().filter_map(|word| word.strip_prefix("--"));
    let mut flags = flags.map(|flag| flag.split(['=', ',', ')']).next().unwrap_or(flag));
    let has =
        |flag: &str| current.get_arguments().any(|argument| argument.get_long() == Some(flag));
    flags
        .find(|flag| !["", "help", "version"].contains(flag) && !has(flag))
        .map(|flag| format!("--{flag}"))
}

#[test]
fn every_command_in_the_documents_is_understood() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (path, text) in documents() {
        let (run, named) = commands(&text);
        count += run.len();
        for command in run {
            let words = shlex::split(&command).unwrap_or_default();
            if parse(&words).is_err() {
                wrong.push(format!("{}: {command}", path.display()));
            }
        }
        for command in named {
            if let Some(unknown) = unknown(&command) {
                wrong.push(format!("{}: {command}: no {unknown}", path.display()));
            }
        }
    }
    assert!(count >= 80, "only {count} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_index_lists_every_document() {
    let index = std::fs::read_to_string(top().join("docs/README.md")).unwrap();
    for path in documents().keys().filter(|path| path.starts_with(top().join("docs"))) {
        let name = path.file_name().unwrap().to_string_lossy();
        assert!(
            name == "README.md" || index.contains(&format!("({name})")),
            "docs/README.md lacks {name}"
        );
    }
}
