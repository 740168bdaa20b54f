//! What is no path: the scheme of a URL, or the keywords by which PostgreSQL's programs name a database.

/// The scheme of a URL, where `text` is one and no path: `postgres`.
pub(crate) fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let starts_well = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    (starts_well && scheme.chars().all(is_scheme)).then_some(scheme)
}

/// Keywords of PostgreSQL's programs for a database.
const KEYWORDS: [&str; 7] = ["host", "hostaddr", "port", "dbname", "user", "password", "service"];

/// Whether `text` is no path but `host=db.lab user=me`. What begins with `/` or `.` is a path.
pub(crate) fn is_keywords(text: &str) -> bool {
    if text.starts_with(['/', '.']) {
        return false;
    }
    // The word before each `=`.
    let mut names =
        text.match_indices('=').filter_map(|(at, _)| text[..at].split_whitespace().last());
    names.any(|name| KEYWORDS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_of_a_database_are_no_path() {
        for text in [
            "host=db.lab dbname=perf",
            " password = secret",
            "dbname='a b'",
            "sslmode=require application_name=x password=secret",
        ] {
            assert!(is_keywords(text), "{text}");
        }
        for path in ["a.db", "./host=a", "/a host=b", "a b=c", "hosts=a", "host", ""] {
            assert!(!is_keywords(path), "{path}");
        }
    }

    #[test]
    fn a_scheme_is_no_path() {
        assert_eq!(scheme("postgres://host/db"), Some("postgres"));
        assert_eq!(scheme("file:///a.db"), Some("file"));
        for path in ["a.db", "./a://b", "/x/y://z", "a:7", "://", "1a://b"] {
            assert_eq!(scheme(path), None, "{path}");
        }
    }
}
