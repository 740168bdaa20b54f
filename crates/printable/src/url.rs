//! URLs with a user's name or password in them. No record has either, and no message shows a password.

use std::borrow::Cow;

/// What stands for user names and passwords.
const HIDDEN: &str = "***";

/// The schemes of a database's URL.
const DATABASES: [&str; 2] = ["postgres", "postgresql"];

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

/// `text` without the passwords in its URLs, to be shown and typed again: `postgres://me@host/db`. In URLs of other things
/// than databases, a user's name may be a secret too.
pub fn without_passwords(text: &str) -> Cow<'_, str> {
    let mut clean = String::new();
    let mut rest = text;
    while let Some(from) = next_database(rest) {
        let (before, url) = rest.split_at(from);
        let (url, after) = url.split_at(database_url_length(url));
        clean += &without_user_info(before);
        clean += &database_without_passwords(url);
        rest = after;
    }
    if clean.is_empty() && rest.len() == text.len() {
        return without_user_info(text);
    }
    clean += &without_user_info(rest);
    Cow::Owned(clean)
}

/// The same of the URL of a database, which is all of the text.
pub fn database_without_passwords(url: &str) -> String {
    let Some(start) = url.find("://").map(|at| at + "://".len()) else { return url.to_owned() };
    // What is cut out, and what is put there.
    let mut cuts: Vec<(usize, usize, &str)> = Vec::new();
    // PostgreSQL's clients take all before an @ for user and password, slashes included.
    if let Some(at) = url[start..].rfind('@')
        && let Some(colon) = url[start..start + at].find(':')
    {
        cuts.push((start + colon, start + at, ""));
    }
    let separators = url.char_indices().filter(|&(_, c)| c == '?' || c == '&');
    for (at, _) in separators {
        let parameter = &url[at + 1..];
        let parameter = &parameter[..parameter.find('&').unwrap_or(parameter.len())];
        let Some((name, value)) = parameter.split_once('=') else { continue };
        let is_hidden =
            value.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '*') == HIDDEN;
        if percent_decoded(name).to_ascii_lowercase().ends_with("password") && !is_hidden {
            let end = at + 1 + parameter.len();
            cuts.push((end - value.len(), end, HIDDEN));
        }
    }
    cuts.sort_unstable();
    let (mut clean, mut end) = (String::with_capacity(url.len()), 0);
    for (from, to, instead) in cuts {
        if from >= end {
            clean += &url[end..from];
            clean += instead;
        }
        end = end.max(to);
    }
    clean + &url[end..]
}

/// A part of a URL with `%2F` and the like as the characters that they stand for.
pub fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where the next URL of a database begins.
fn next_database(text: &str) -> Option<usize> {
    text.match_indices("://").find_map(|(at, _)| scheme_start(text, at))
}

/// Where the scheme of a database begins, of which this is the end.
fn scheme_start(text: &str, end: usize) -> Option<usize> {
    let mut starts = DATABASES.iter().filter_map(|scheme| {
        let start = end.checked_sub(scheme.len())?;
        text.get(start..end)?.eq_ignore_ascii_case(scheme).then_some(start)
    });
    starts.next()
}

fn ends_database_url(c: char) -> bool {
    c.is_whitespace() || c == '"' || c == '`'
}

/// How long the URL of a database is that `text` begins with. A blank ends it, but not one in a password.
fn database_url_length(text: &str) -> usize {
    let length = text.find(ends_database_url).unwrap_or(text.len());
    let line = &text[..text.find('\n').unwrap_or(text.len())];
    let authority = text[..length].find("://").map_or(0, |at| at + "://".len());
    let Some(colon) = text[authority..length].find(':') else { return length };
    let behind = &text[authority + colon + 1..length];
    let port = &behind[..behind.find(['/', '?']).unwrap_or(behind.len())];
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    if length >= line.len() || text[authority..length].contains('@') || is_port {
        return length;
    }
    match line[length..].find('@') {
        Some(at) => {
            let host = length + at;
            host + text[host..].find(ends_database_url).unwrap_or(text.len() - host)
        }
        None => length,
    }
}

/// Where the next user info after `start` begins and ends, its `@` excluded.
fn user_info(text: &str, start: usize) -> Option<(usize, usize)> {
    let mut start = start;
    loop {
        let from = start + text[start..].find("://")? + 3;
        // PostgreSQL's clients take all before the last @ for user and password, slashes included.
        let length = if let Some(scheme) = scheme_start(text, from - "://".len()) {
            database_url_length(&text[scheme..]) - (from - scheme)
        } else {
            let ends = |c: char| ends_database_url(c) || "/?#".contains(c);
            text[from..].find(ends).unwrap_or(text.len() - from)
        };
        match text[from..from + length].rfind('@') {
            Some(0) | None => start = from,
            Some(at) => return Some((from, from + at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_user_of_a_database_is_shown_and_the_password_is_not() {
        for (text, clean) in [
            ("postgres://me:secret@host/db", "postgres://me@host/db"),
            (
                "postgres://me@host:5433/db?sslmode=require",
                "postgres://me@host:5433/db?sslmode=require",
            ),
            ("postgres://me:se/cret@host/db x", "postgres://me@host/db x"),
            ("POSTGRES://me:se?cr#et@host/db", "POSTGRES://me@host/db"),
            (
                "postgres:///db?host=%2Frun&password=secret",
                "postgres:///db?host=%2Frun&password=***",
            ),
            ("postgres://h/d?pass%77ord=secret&user=me", "postgres://h/d?pass%77ord=***&user=me"),
            ("postgres://h/d?sslpassword=secret", "postgres://h/d?sslpassword=***"),
            ("knee push 'postgresql://me:secret@h/d' 1", "knee push 'postgresql://me@h/d' 1"),
            ("'postgres://h/d?password=***' 1", "'postgres://h/d?password=***' 1"),
            ("http://token@h/ postgres://me:secret@h/d", "http://***@h/ postgres://me@h/d"),
            ("http://token:x@h/", "http://***@h/"),
            ("postgres://me:se cret@h/d: refused", "postgres://me@h/d: refused"),
            ("postgres://h:5432/d is not me@h", "postgres://h:5432/d is not me@h"),
        ] {
            assert_eq!(without_passwords(text), clean);
            assert_eq!(without_passwords(clean), clean);
        }
    }

    proptest! {
        #[test]
        fn only_the_password_of_a_database_is_missing(
            user in "[a-z_%.~-]{1,8}",
            password in "[a-zA-Z0-9%!$*+,;:=/?#&@' -]{0,12}",
            rest in r"(:[0-9]{1,4})?/[a-z_%]{0,6}(\?(host|user|port|sslmode)=[a-z0-9%./-]{0,9}){0,1}",
        ) {
            let secret = format!("{password}SECRET{password}");
            let shown = database_without_passwords(&format!("postgres://{user}:{secret}@host{rest}"));
            prop_assert!(!shown.contains("SECRET"), "{}", shown);
            // In a line with a blank in the password, digits look like a port, and an @ like the end of the password.
            let is_plain = !secret.contains('@') && !secret.starts_with(|c: char| c.is_ascii_digit());
            if is_plain || !secret.contains(' ') {
                let line = format!("x 'postgres://{user}:{secret}@host{rest}' y");
                prop_assert!(!without_passwords(&line).contains("SECRET"), "{}", line);
                prop_assert!(!without_user_info(&line).contains("SECRET"), "{}", line);
            }
            // One & of a password may look like that of a parameter.
            if !password.contains(['?', '&']) {
                prop_assert_eq!(&shown, &format!("postgres://{user}@host{rest}"));
            }
            let mark = if rest.contains('?') { '&' } else { '?' };
            let (open, secret) = (format!("postgres://{user}@host{rest}{mark}"), secret.replace('&', "%26"));
            for name in ["password", "sslpassword", "Password", "%70assword"] {
                let shown = database_without_passwords(&format!("{open}{name}={secret}&x=1"));
                prop_assert!(!shown.contains("SECRET"), "{}", shown);
                if !secret.contains(['@', '?']) {
                    prop_assert_eq!(shown, format!("{open}{name}=***&x=1"));
                }
            }
        }
    }

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
