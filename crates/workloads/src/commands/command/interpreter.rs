//! What interprets a command: nothing where its syntax needs none, else a shell.
//!
//! A shell's own start-up takes about as long as a short command, and varies. So a command has a shell only where
//! it needs one, or where one was asked for.

use engine::{Custom, Shell};
use quantities::template;
use std::path::Path;

/// What interprets a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Interpreter {
    /// Its first word is a program, the others are its arguments.
    None,
    /// The words of a shell.
    Shell(Vec<String>),
}

/// The shell where no other is named.
const SHELL: &str = "sh";

/// Words with which only a shell can begin a command.
const BUILTINS: [&str; 38] = [
    ".", ":", "!", "{", "alias", "bg", "break", "case", "cd", "command", "continue", "eval",
    "exec", "exit", "export", "fg", "for", "getopts", "hash", "if", "jobs", "local", "read",
    "readonly", "return", "set", "shift", "source", "times", "trap", "type", "ulimit", "umask",
    "unalias", "unset", "until", "wait", "while",
];

impl Interpreter {
    /// What interprets a command or hook: the same in every cell, whatever the values of its words.
    pub fn for_text(custom: &Custom, text: &str) -> Interpreter {
        match &custom.shell {
            Some(Shell::None) => Interpreter::None,
            Some(Shell::Program(program)) => Interpreter::shell(program),
            None => {
                let plain = template::fill(text, |_| Some("0".into()));
                let words = template::words(text).into_iter();
                let mut values = words.filter_map(|word| custom.words.get(word)).flatten();
                let is_needed = needs_shell(&plain)
                    || values.any(|value| needs_shell(&format!("0 {}", value.text())));
                if is_needed { Interpreter::shell(SHELL) } else { Interpreter::None }
            }
        }
    }

    fn shell(program: &str) -> Interpreter {
        let words = shlex::split(program).unwrap_or_else(|| vec![program.to_owned()]);
        Interpreter::Shell(words)
    }

    /// The words that run a command: the program and its arguments.
    ///
    /// # Errors
    /// With one line, where they can't be distinguished.
    pub fn words(&self, command: &str) -> Result<Vec<String>, String> {
        match self {
            Interpreter::None => {
                shlex::split(command).ok_or_else(|| format!("`{command}`: a quote is not closed"))
            }
            Interpreter::Shell(words) => {
                let command = ["-c".to_owned(), command.to_owned()];
                Ok(words.iter().cloned().chain(command).collect())
            }
        }
    }
}

/// Whether only a shell understands a command.
pub(crate) fn needs_shell(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    is_assignment(first) || BUILTINS.contains(&first) || syntax(command).is_some()
}

/// Whether a word sets a variable.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_name)
    })
}

/// The first program of a command that a shell interprets, where a plain word names it: not behind an assignment
/// of `PATH`, nor where it is made of anything that the shell expands.
pub(super) fn first_program(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace().skip_while(|word| is_assignment(word));
    if command.split_whitespace().any(|word| word.starts_with("PATH=")) {
        return None;
    }
    let word = words.next()?;
    let end = word.find([';', '&', '|', '<', '>']).unwrap_or(word.len());
    let program = &word[..end];
    let is_plain = |c: char| c.is_alphanumeric() || "/._+-,:@%".contains(c);
    let is_named = !program.is_empty() && program.chars().all(is_plain);
    (is_named && !BUILTINS.contains(&program)).then_some(program)
}

/// Whether words of a shell name the plain one of POSIX.
pub(super) fn is_posix_shell(words: &[String]) -> bool {
    let name = words.first().and_then(|program| Path::new(program).file_name());
    name.is_some_and(|name| ["sh", "dash", "ash"].iter().any(|posix| name == *posix))
}

/// What a command has that means something else here than in bash, and what to write instead.
pub(super) fn other_in_bash(interpreter: &Interpreter, command: &str) -> Option<String> {
    let bash = "or take a shell that has it: --shell bash";
    match interpreter {
        Interpreter::Shell(words) if is_posix_shell(words) => {
            let both = unquoted(command).find(|(quoted, rest)| !quoted && rest.starts_with("&>"));
            both.map(|_| {
                format!(
                    "`&>` runs the command in the background of `{}`: write `> FILE 2>&1`, {bash}",
                    words[0]
                )
            })
            .or_else(|| {
                brace_range(command).map(|range| {
                    format!(
                        "`{range}` is one word for `{}`: write `$(seq FIRST LAST)`, {bash}",
                        words[0]
                    )
                })
            })
        }
        _ => None,
    }
}

/// An unquoted range of bash: `{1..10}`.
fn brace_range(command: &str) -> Option<&str> {
    unquoted(command).find_map(|(is_in_double_quotes, rest)| {
        let inner = rest.strip_prefix('{').filter(|_| !is_in_double_quotes)?;
        let end = inner.find('}')?;
        let (first, last) = inner[..end].split_once("..")?;
        let is_end = |text: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-.".contains(c))
        };
        (is_end(first) && is_end(last)).then(|| &rest[..end + 2])
    })
}

/// The first thing in a command that means something to a shell and is not quoted.
pub(super) fn syntax(command: &str) -> Option<&str> {
    let (_, rest) = unquoted(command).find(|(is_in_double_quotes, rest)| {
        let previous = || command[..command.len() - rest.len()].chars().next_back();
        match rest.chars().next() {
            Some('$' | '`') => true,
            _ if *is_in_double_quotes => false,
            Some('|' | '&' | ';' | '<' | '>' | '(' | ')' | '*' | '?' | '[' | ']' | '\n') => true,
            Some('~' | '#') => previous().is_none_or(char::is_whitespace),
            _ => false,
        }
    })?;
    Some(&rest[..1])
}

/// Each character that a shell may take for syntax, as the rest of the command from it on: those outside of quotes, and
/// those in double ones, which are marked.
fn unquoted(command: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut quote = None;
    let mut characters = command.char_indices();
    std::iter::from_fn(move || {
        loop {
            let (at, c) = characters.next()?;
            match (quote, c) {
                (Some('\''), '\'') | (Some('"'), '"') => quote = None,
                (None, '\'' | '"') => quote = Some(c),
                (Some('\''), _) => {}
                (_, '\\') => drop(characters.next()),
                _ => return Some((quote.is_some(), &command[at..])),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use suites::read_word;

    #[test]
    fn plain_words_need_no_shell() {
        for command in [
            "sort 100.txt",
            "grep -c 'a|b' \"x y\" a#b a~",
            "awk '{print $1}' file",
            "a\\ b\\; c",
            "make -j4 CC=gcc",
            "",
        ] {
            assert!(!needs_shell(command), "{command}");
        }
    }

    #[test]
    fn what_means_something_to_a_shell_needs_one() {
        for command in [
            "a | b",
            "a; b",
            "a & b",
            "a > b",
            "a < b",
            "echo $HOME",
            "echo \"$HOME\"",
            "echo `x`",
            "ls *.c",
            "ls ?",
            "ls [ab]",
            "(a)",
            "a\nb",
            "~/bin/x",
            "a # b",
            "X=1 a",
            "cd /",
            ": x",
            "for i in 1",
            "exit 1",
            "ulimit -n",
        ] {
            assert!(needs_shell(command), "{command}");
        }
    }

    #[test]
    fn the_first_program_of_a_shell_is_known_by_a_plain_word() {
        for (command, program) in [
            ("cat; : 1", Some("cat")),
            ("./slow.sh; : 1", Some("./slow.sh")),
            ("LC_ALL=C sort 1 | uniq", Some("sort")),
            ("nothing_such 1 | cat", Some("nothing_such")),
            ("cat>x", Some("cat")),
            ("while read x; do :; done", None),
            ("{ a; }", None),
            ("(a)", None),
            ("f() { :; }; f", None),
            ("$PROGRAM 1", None),
            ("'a b' 1; b", None),
            ("PATH=/x:$PATH; a", None),
            ("i=0; while :; do :; done", None),
            ("", None),
        ] {
            assert_eq!(first_program(command), program, "{command}");
        }
    }

    #[test]
    fn what_bash_alone_understands_has_its_remedy() {
        let sh = Interpreter::shell("sh");
        let line = other_in_bash(&sh, "sleep 0.2 &> /dev/null").unwrap();
        assert!(line.contains("write `> FILE 2>&1`, or take a shell"), "{line}");
        let line = other_in_bash(&sh, "for i in {1..100}; do :; done").unwrap();
        assert!(line.starts_with("`{1..100}` is one word"), "{line}");
        for command in
            ["a > x 2>&1 &", "echo '&>' \"{1..3}\"", "echo {a,b} ${HOME}", "awk '{print}'; :"]
        {
            assert_eq!(other_in_bash(&sh, command), None, "{command}");
        }
        assert_eq!(other_in_bash(&Interpreter::shell("bash"), "a &> x"), None);
    }

    #[test]
    fn what_means_something_to_a_shell_is_named() {
        assert_eq!(syntax("echo 1 > x"), Some(">"));
        assert_eq!(syntax("echo \"$X\""), Some("$"));
        assert_eq!(syntax("echo '$X' '>' \"a|b\" \\;"), None);
    }

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        let words = Interpreter::None.words("grep -c 'a b' \"c\"").unwrap();
        assert_eq!(words, ["grep", "-c", "a b", "c"]);
        let words = Interpreter::shell("bash -o pipefail").words("a | b").unwrap();
        assert_eq!(words, ["bash", "-o", "pipefail", "-c", "a | b"]);
        assert!(Interpreter::None.words("it's").is_err());
    }

    #[test]
    fn one_interpreter_serves_all_cells_of_a_command() {
        let custom =
            Custom { words: [read_word("flags=-a,-b|cat").unwrap()].into(), ..Custom::default() };
        assert_eq!(Interpreter::for_text(&custom, "x {n} {flags}"), Interpreter::shell("sh"));
        assert_eq!(Interpreter::for_text(&custom, "x {n}"), Interpreter::None);
        let asked = Custom { shell: Some(Shell::Program("bash".into())), ..Custom::default() };
        assert_eq!(Interpreter::for_text(&asked, "x {n}"), Interpreter::shell("bash"));
        let none = Custom { shell: Some(Shell::None), ..Custom::default() };
        assert_eq!(Interpreter::for_text(&none, "a | b"), Interpreter::None);
    }
}
