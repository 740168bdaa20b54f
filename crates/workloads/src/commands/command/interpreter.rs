//! What interprets a command: nothing where its syntax needs none, else a shell.
//!
//! A shell's own start-up takes about as long as a short command, and varies. So a command has a shell only where
//! it needs one, or where one was asked for.

use engine::{Custom, Shell, template};

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
    /// With one line, where they can't be told apart.
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
    let is_assignment = first.split_once('=').is_some_and(|(name, _)| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_name)
    });
    is_assignment || BUILTINS.contains(&first) || has_syntax(command)
}

/// Whether a character that is not quoted means something to a shell.
fn has_syntax(command: &str) -> bool {
    let (mut quote, mut at_word_start, mut characters) = (None, true, command.chars());
    while let Some(c) = characters.next() {
        let starts_word =
            std::mem::replace(&mut at_word_start, c.is_whitespace() && quote.is_none());
        match (quote, c) {
            (Some('\''), _) | (Some(_), '"') | (None, '\'' | '"') => {
                quote = match quote {
                    Some(open) => (open != c).then_some(open),
                    None => Some(c),
                };
            }
            (_, '\\') => drop(characters.next()),
            (_, '$' | '`') => return true,
            (None, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '*' | '?' | '[' | ']' | '\n') => {
                return true;
            }
            (None, '~' | '#') if starts_word => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::read_word;

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
