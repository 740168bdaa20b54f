//! Commands that a reader may type, quoted for a shell.

use std::path::Path;

/// What completes a run: `knee run --resume=3 --record lab.db`.
pub fn resume_command(run: i64, record: Option<&Path>) -> String {
    format!("knee run --resume={run}{}", record_flag(record))
}

/// The end of a command: ` --record lab.db`. No record is named where it is the usual one.
pub fn record_flag(record: Option<&Path>) -> String {
    let flag = |record: &Path| format!(" --record {}", shell_word(&record.to_string_lossy()));
    record.map(flag).unwrap_or_default()
}

/// A word of a command line, quoted for a POSIX shell.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_survives_the_shell() {
        assert_eq!(shell_word("--points=10,100"), "--points=10,100");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(resume_command(3, None), "knee run --resume=3");
        let record = Some(Path::new("my lab.db"));
        assert_eq!(resume_command(3, record), "knee run --resume=3 --record 'my lab.db'");
    }
}
