//! The scheme of a URL, by which it is no path.

/// The scheme of a URL, where `text` is one and no path: `postgres`.
pub(crate) fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let starts_well = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    (starts_well && scheme.chars().all(is_scheme)).then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_is_no_path() {
        assert_eq!(scheme("postgres://host/db"), Some("postgres"));
        assert_eq!(scheme("file:///a.db"), Some("file"));
        for path in ["a.db", "./a://b", "/x/y://z", "a:7", "://", "1a://b"] {
            assert_eq!(scheme(path), None, "{path}");
        }
    }
}
