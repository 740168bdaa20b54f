//! Where a record is: a file, or a database that a URL names.

use crate::Error;
use crate::url;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// Schemes of a PostgreSQL database, as PostgreSQL's own programs take them.
const POSTGRES: [&str; 2] = ["postgres", "postgresql"];

/// Where a record is. Its [`Display`](fmt::Display) and [`Debug`](fmt::Debug) show no password.
///
/// ```
/// use archive::Location;
///
/// let location = Location::from("postgres://me:secret@host/perf");
/// assert_eq!(location.to_string(), "postgres://me@host/perf");
/// assert!(Location::from("lab.db").file().is_some());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// A file: a SQLite record.
    File(PathBuf),
    /// A PostgreSQL database.
    Postgres(DatabaseUrl),
}

/// The URL of a database, with its password if that is in it.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl {
    text: String,
    shown: PathBuf,
}

impl DatabaseUrl {
    /// The whole of it, to connect with: never to be printed or kept.
    pub fn with_secrets(&self) -> &str {
        &self.text
    }

    /// What messages call it: without passwords.
    pub fn shown(&self) -> &Path {
        &self.shown
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.shown)
    }
}

impl Location {
    /// What messages and commands call it. A URL is shown without its password.
    pub fn shown(&self) -> &Path {
        match self {
            Location::File(file) => file,
            Location::Postgres(url) => url.shown(),
        }
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Location::File(file) => Some(file),
            Location::Postgres(_) => None,
        }
    }

    /// The file, for what is only done with files.
    ///
    /// # Errors
    /// [`Error::NotAFileButAUrl`].
    pub fn into_file(self) -> Result<PathBuf, Error> {
        match self {
            Location::File(file) => Ok(file),
            Location::Postgres(url) => Err(Error::NotAFileButAUrl(url.shown)),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shown().display().fmt(f)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.shown(), f)
    }
}

impl From<&str> for Location {
    fn from(text: &str) -> Location {
        match url::scheme(text) {
            Some(scheme)
                if POSTGRES.iter().any(|postgres| scheme.eq_ignore_ascii_case(postgres)) =>
            {
                Location::Postgres(DatabaseUrl {
                    text: text.to_owned(),
                    shown: printable::database_without_passwords(text).into(),
                })
            }
            // What opens it refuses any other scheme.
            _ => Location::File(text.into()),
        }
    }
}

impl From<&OsStr> for Location {
    fn from(text: &OsStr) -> Location {
        text.to_str().map_or_else(|| Location::File(text.into()), Location::from)
    }
}

impl From<PathBuf> for Location {
    fn from(file: PathBuf) -> Location {
        Location::File(file)
    }
}

impl From<OsString> for Location {
    fn from(text: OsString) -> Location {
        Location::from(text.as_os_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_of_postgresql_is_a_database_and_all_else_a_file() {
        for url in ["postgres://h/d", "postgresql:///d", "POSTGRES://u:p@h:5433/d?host=/run"] {
            assert!(matches!(Location::from(url), Location::Postgres(_)), "{url}");
        }
        for file in ["lab.db", "./postgres:x", "postgres:/h", "mysql://h/d", ""] {
            assert_eq!(Location::from(file).file(), Some(Path::new(file)));
        }
    }

    #[test]
    fn no_way_of_showing_it_shows_a_secret() {
        let urls = [
            "postgres://me:secret@host/db",
            "postgres://host/db?user=me&password=secret&sslmode=require",
            "postgres://me:secret@host/db?sslpassword=secret",
        ];
        for url in urls {
            let location = Location::from(url);
            let Location::Postgres(inner) = &location else { panic!("{url}") };
            assert_eq!(inner.with_secrets(), url);
            let error = location.clone().into_file().unwrap_err();
            let shown = [
                location.to_string(),
                format!("{location:?} {location:#?} {inner:?}"),
                location.shown().display().to_string(),
                format!("{error} {error:?}"),
            ];
            for text in shown {
                assert!(!text.contains("secret"), "{text}");
                assert!(text.contains("host/db"), "{text}");
            }
        }
        assert_eq!(
            Location::from(urls[1]).to_string(),
            "postgres://host/db?user=me&password=***&sslmode=require"
        );
    }
}
