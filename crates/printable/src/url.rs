//! URLs with a user's name or password in them. No record has either, and no message shows a password.
//!
//! Each function takes one text: a word of a command line, a value, a line of a program. Several texts in one, as JSON or a
//! command line on one line, would be cut where the first has a URL and the second an `@`.

use std::borrow::Cow;

/// What stands for user names, passwords and other secrets.
pub const HIDDEN: &str = "***";

/// Between a URL's scheme and its authority.
const MARK: &str = "://";

/// The schemes of a database's URL.
const DATABASES: [&str; 2] = ["postgresql", "postgres"];

/// Whether something was taken out of a URL in `text`: `http://***@host`.
pub fn is_without_user_info(text: &str) -> bool {
    text.contains(&[MARK, HIDDEN].concat()) || text.contains(&["password=", HIDDEN].concat())
}

/// `text` with `***` in the place of user names and passwords in its URLs: `postgres://***@host/db`.
///
/// A URL ends where the quote that it begins behind is closed. Without one it ends at a blank, a quote, `;`, `|`, `<` or
/// `>`; a `&` may be part of its query or of a password.
pub fn without_user_info(text: &str) -> Cow<'_, str> {
    with_urls(text, false, |url| url.without(Secret::UserInfo))
}

/// The same of a whole word of a command line, or of a value. A word that begins with a URL, or has one after `--FLAG=`, is
/// that URL to its end: the clients of PostgreSQL take blanks and quotes for parts of a password. So is one after `NAME=`,
/// if there is no blank in it: `DB=postgres://host/db ./migrate` is a command.
pub fn word_without_user_info(word: &str) -> Cow<'_, str> {
    with_urls(word, true, |url| url.without(Secret::UserInfo))
}

/// `text` without the passwords in its URLs, to be shown and typed again: `postgres://me@host/db`. In URLs of other things
/// than databases, a user's name may be a secret too.
pub fn without_passwords(text: &str) -> Cow<'_, str> {
    with_urls(text, false, |url| url.without(Secret::Password))
}

/// The same of the URL of a database, which is all of the text.
pub fn database_without_passwords(url: &str) -> String {
    let Some(at) = url.find(MARK) else { return url.to_owned() };
    Url { text: url, authority: at + MARK.len(), is_database: true }.without(Secret::Password)
}

/// What is taken out of the URL of a database.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Secret {
    UserInfo,
    Password,
}

/// A URL in a text.
struct Url<'a> {
    /// From its scheme on; where it is none of a database, to the end of its authority.
    text: &'a str,
    /// Where its authority begins.
    authority: usize,
    is_database: bool,
}

impl Url<'_> {
    fn without(&self, secret: Secret) -> String {
        let url = self.text;
        // What is cut out, and what is put there.
        let mut cuts: Vec<(usize, usize, &str)> = Vec::new();
        // PostgreSQL's clients take all before an @ for user and password, slashes included.
        if let Some(at) = url[self.authority..].rfind('@').filter(|&at| at > 0) {
            let end = self.authority + at;
            if secret == Secret::UserInfo || !self.is_database {
                cuts.push((self.authority, end, HIDDEN));
            } else if let Some(colon) = url[self.authority..end].find(':') {
                cuts.push((self.authority + colon, end, ""));
            }
        }
        if self.is_database {
            cuts.extend(self.password_parameters().map(|(from, to)| (from, to, HIDDEN)));
        }
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

    /// Where the values of parameters are that are passwords.
    fn password_parameters(&self) -> impl Iterator<Item = (usize, usize)> {
        let separators = self.text.match_indices(['?', '&']);
        separators.filter_map(|(at, _)| {
            let parameter = &self.text[at + 1..];
            let parameter = &parameter[..parameter.find('&').unwrap_or(parameter.len())];
            let (name, value) = parameter.split_once('=')?;
            let shown = value.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '*');
            let end = at + 1 + parameter.len();
            let is_password = percent_decoded(name).to_ascii_lowercase().ends_with("password");
            (is_password && shown != HIDDEN).then_some((end - value.len(), end))
        })
    }
}

/// `text` with another text in the place of each URL.
fn with_urls(text: &str, is_word: bool, replaced: impl Fn(&Url<'_>) -> String) -> Cow<'_, str> {
    let (mut clean, mut end, mut from) = (String::new(), 0, 0);
    // No secret is without one of these: a long text without them is not looked at mark by mark.
    let last = text.rfind(['@', '?', '&']).unwrap_or(0);
    while let Some((start, url)) = next_url(text, from, is_word).filter(|(start, _)| *start < last)
    {
        let instead = replaced(&url);
        // Behind the mark of a URL without a secret, another may stand in its path.
        from = start + url.authority;
        if instead != url.text {
            clean += &text[end..start];
            clean += &instead;
            end = start + url.text.len();
            from = end;
        }
    }
    if end == 0 { Cow::Borrowed(text) } else { Cow::Owned(clean + &text[end..]) }
}

/// The first URL whose mark is at `from` or behind it, and where it begins.
fn next_url(text: &str, from: usize, is_word: bool) -> Option<(usize, Url<'_>)> {
    let mark = from + text[from..].find(MARK)?;
    let scheme = text[..mark].rfind(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
    let scheme = scheme.map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    // `-dpostgres://` is an option and its value.
    let is_at = |start: &usize, name: &str| text[*start..mark].eq_ignore_ascii_case(name);
    let database = DATABASES.iter().find_map(|name| {
        let start = mark.checked_sub(name.len()).filter(|&start| start >= scheme)?;
        is_at(&start, name).then_some(start)
    });
    let (start, authority) = (database.unwrap_or(scheme).max(from), mark + MARK.len());
    let mut end = authority + url_length(text, start, authority, is_word);
    if database.is_none() {
        let ends = |c: char| "/?#".contains(c) || c.is_whitespace();
        end = authority + text[authority..end].find(ends).unwrap_or(end - authority);
    }
    let url = Url {
        text: &text[start..end],
        authority: authority - start,
        is_database: database.is_some(),
    };
    Some((start, url))
}

/// How much of `text` belongs to the URL that begins at `start`, from its authority on.
fn url_length(text: &str, start: usize, authority: usize, is_word: bool) -> usize {
    let (before, behind) = (&text[..start], &text[authority..]);
    let is_name = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let is_value = || match before.strip_suffix('=') {
        Some(name) if name.starts_with("--") => true,
        Some(name) => name.chars().all(is_name) && !behind.contains(char::is_whitespace),
        None => false,
    };
    if is_word && (before.is_empty() || is_value()) {
        return behind.len();
    }
    // The quote that it begins behind, or that its word does: `'DB=postgres://…'`.
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let is_open = |c: &char| is_quote(*c) && word.matches(*c).count() % 2 == 1;
    let quote = word.chars().next_back().filter(is_open).or(word.chars().next().filter(is_open));
    let closed = quote.and_then(|quote| behind.find([quote, '\n']));
    if let Some(length) = closed.filter(|&length| !behind[length..].starts_with('\n')) {
        return length;
    }
    let ends = |c: char| is_quote(c) || c.is_whitespace() || ";|<>".contains(c);
    behind.find(ends).unwrap_or(behind.len())
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`')
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
            ("'postgres://me:se cret;x@h/d': refused", "'postgres://me@h/d': refused"),
            ("`psql -dpostgres://me:pw@h/d` failed", "`psql -dpostgres://me@h/d` failed"),
        ] {
            assert_eq!(without_passwords(text), clean);
            assert_eq!(without_passwords(clean), clean);
        }
    }

    #[test]
    fn what_has_no_at_sign_in_its_own_authority_is_no_secret() {
        for text in [
            "x postgres://h:5432/d is not me@h",
            "echo postgres://localhost:$PORT/db; mail me@host",
            "x a=postgres://localhost:$PORT/db;b=me@host",
            "psql postgres://localhost:$PORT/db|mail me@host",
            "DB=postgres://localhost:$PORT/db ./migrate; mail me@host",
            r#"--command "a=echo postgres://localhost:$PORT/db" --command "b=echo me@host {n}""#,
            r#"["echo postgres://localhost:$PORT/db","me@host"]"#,
            "curl 'http://localhost' 'me@host'",
            "`postgres://localhost:$PORT/db`: me@host",
            "it's postgres://localhost/db that's me@host",
        ] {
            assert_eq!(without_user_info(text), text);
            assert_eq!(word_without_user_info(text), text);
            assert_eq!(without_passwords(text), text);
        }
        let error = "postgres://x/y: the URL names no user: postgres://USER@HOST/DATABASE";
        assert_eq!(without_passwords(error), error);
    }

    #[test]
    fn a_word_that_is_a_url_is_one_to_its_end() {
        for (word, clean) in [
            ("http://user:it's@host/", "http://***@host/"),
            ("postgres://me:se cret@h/d", "postgres://***@h/d"),
            ("--push=postgres://me:s;e'c\"r|et @h/d", "--push=postgres://***@h/d"),
            ("to=http://me:it's@h/", "to=http://***@h/"),
            ("postgres://h/d?user=me&password=a b'c", "postgres://h/d?user=me&password=***"),
            ("http://localhost:8080 me@host", "http://localhost:8080 me@host"),
        ] {
            assert_eq!(word_without_user_info(word), clean);
            assert_eq!(word_without_user_info(clean), clean);
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
            for before in ["", "--push="] {
                let word = format!("{before}postgres://{user}:{secret}@host{rest}");
                prop_assert!(!word_without_user_info(&word).contains("SECRET"), "{}", word);
            }
            // In a line, the quote that the URL begins behind ends it.
            if !secret.contains('\'') {
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
            ("http://ä:ö@host", "http://***@host"),
            ("psql 'postgres://h/d?password=a b'", "psql 'postgres://h/d?password=***'"),
            ("env 'DB=postgres://me:se cret@h/d' x", "env 'DB=postgres://***@h/d' x"),
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
