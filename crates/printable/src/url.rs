//! URLs with a user's name or password in them: no record, no message and no log shows these.

use std::borrow::Cow;

/// What stands for user names and passwords.
const HIDDEN: &str = "***";

/// The beginnings of a database's URL.
const DATABASES: [&str; 2] = ["postgres://", "postgresql://"];

/// Whether `text` has a URL of which user name and password were taken: `http://***@host`.
pub fn is_without_user_info(text: &str) -> bool {
    text.contains(&["://", HIDDEN, "@"].concat())
}

/// `text` with `***` in the place of user names and passwords in its URLs: `postgres://***@host/db`.
pub fn without_user_info(text: &str) -> Cow<'_, str> {
    let Some(first) = user_info(text, 0) else { return Cow::Borrowed(text) };
    let mut clean = String::with_capacity(text.len());
    let (mut end, mut next) = (0, Some(first));
    while let Some((from, to)) = next {
        clean.push_str(&text[end..from]);
        clean.push_str(HIDDEN);
        end = to;
        next = user_info(text, to);
    }
    clean.push_str(&text[end..]);
    Cow::Owned(clean)
}

/// Where the next user info after `start` begins and ends, its `@` excluded.
fn user_info(text: &str, start: usize) -> Option<(usize, usize)> {
    let mut start = start;
    loop {
        let from = start + text[start..].find("://")? + 3;
        // PostgreSQL's clients take all before the last @ for user and password, slashes included.
        let is_of_database = DATABASES.iter().any(|scheme| text[..from].ends_with(scheme));
        let ends = if is_of_database { "\"`" } else { "/?#\"`" };
        let ends_authority = |c: char| c.is_whitespace() || ends.contains(c);
        let length = text[from..].find(ends_authority).unwrap_or(text.len() - from);
        match text[from..from + length].rfind('@') {
            Some(0) | None => start = from,
            Some(at) => return Some((from, from + at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_info_is_replaced_and_nothing_else() {
        for (text, clean) in [
            ("postgres://user:secret@host/db", "postgres://***@host/db"),
            ("--record=postgres://user@host", "--record=postgres://***@host"),
            ("curl 'http://a:b@c/d' ftp://e:f@g", "curl 'http://***@c/d' ftp://***@g"),
            ("http://u:p@ss@host/", "http://***@host/"),
            ("http://user:it's@host/", "http://***@host/"),
            ("http://ä:ö@host", "http://***@host"),
            ("postgres://me:se/cret@db/perf", "postgres://***@db/perf"),
            ("postgresql://me:se?cr#et@db/perf x", "postgresql://***@db/perf x"),
        ] {
            assert_eq!(without_user_info(text), clean);
            assert_eq!(without_user_info(clean), clean);
            assert!(is_without_user_info(clean) && !is_without_user_info(text), "{text}");
        }
        for text in ["http://host/a@b", "http://host?mail=a@b", "a@b", "://", "http://@host", ""] {
            assert_eq!(without_user_info(text), text);
        }
    }
}
