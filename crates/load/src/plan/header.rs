//! Headers that requests have besides those of the generator.

use std::fmt;
use std::str::FromStr;

/// A header of each request, as people type it: `Accept: text/html`.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    pub(super) name: String,
    /// It may be a secret.
    pub(super) value: String,
}

/// What frames a request or its connection is the plan's to say: requests have no body.
const OF_PLAN: [&str; 3] = ["Connection", "Content-Length", "Transfer-Encoding"];

impl Header {
    /// Whether its name is this one.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

impl FromStr for Header {
    type Err = String;

    /// Reads a header; an error does not show its value.
    fn from_str(typed: &str) -> Result<Header, String> {
        let is_name = |name: &str| {
            let is_good = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&c);
            !name.is_empty() && name.bytes().all(is_good)
        };
        let parts = typed.split_once(':').filter(|(name, _)| is_name(name));
        let (name, value) = parts.ok_or("it is NAME: VALUE, as in 'Accept: text/html'")?;
        let header = Header { name: name.to_owned(), value: value.trim().to_owned() };
        if header.value.contains(|c: char| c.is_control() && c != '\t') {
            return Err(format!("the value of {name} has a control character"));
        }
        if OF_PLAN.iter().any(|own| header.is(own)) {
            return Err(format!(
                "{name} is not for a header to say: requests have no body, and flags close connections"
            ));
        }
        Ok(header)
    }
}

/// Its name alone.
impl fmt::Debug for Header {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_a_name_and_a_value_in_one_line() {
        let header: Header = "X-Key:  a:b \t".parse().unwrap();
        assert_eq!((header.name.as_str(), header.value.as_str()), ("X-Key", "a:b"));
        assert_eq!(format!("{header:?}"), "X-Key");
        assert!("Empty:".parse::<Header>().is_ok());
        for wrong in [
            "",
            "SECRET",
            ": SECRET",
            "a b: SECRET",
            "a: SECRET\r\nb: c",
            "connection: SECRET",
            "Content-Length: 9",
        ] {
            let error = wrong.parse::<Header>().unwrap_err();
            assert!(!error.contains("SECRET"), "{error}");
        }
    }
}
