//! Numbers at the end of names: `BM_Sort/64`, `BM_Sort/64/threads:4`, `vus=10`.

/// A name that has a number, taken apart.
#[derive(Debug, PartialEq)]
pub struct Tail {
    /// The name without the number.
    pub series: String,
    /// What the number is called: `threads`, `vus`.
    pub key: Option<String>,
    /// The number as it is written.
    pub number: String,
}

/// What separates the parts of a name.
const SEPARATORS: [char; 2] = ['/', '&'];

impl Tail {
    /// The last number of `text` among its parts: a part that is a number, or else one that is named.
    pub fn in_name(text: &str) -> Option<Tail> {
        // The number in a URL is a port.
        if !text.starts_with(|c: char| c.is_alphabetic() || c == '_') || text.contains("://") {
            return None;
        }
        let separator = text.chars().rev().find(|c| SEPARATORS.contains(c));
        let parts: Vec<&str> = text.split(separator.unwrap_or('/')).collect();
        let is_number =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let named = |part: &str| {
            let (key, number) = part.split_once([':', '='])?;
            (is_number(number) && !key.is_empty()).then(|| (key.to_owned(), number.to_owned()))
        };
        let bare = parts.iter().rposition(|part| is_number(part));
        let at = bare.or_else(|| parts.iter().rposition(|part| named(part).is_some()))?;
        let (key, number) = match named(parts[at]) {
            Some((key, number)) => (Some(key), number),
            None => (None, parts[at].to_owned()),
        };
        let rest =
            parts.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, part)| *part);
        let series = rest.collect::<Vec<&str>>().join(&separator.unwrap_or('/').to_string());
        Some(Tail { series, key, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_from_names() {
        let tail = |series: &str, key: Option<&str>, number: &str| {
            Some(Tail { series: series.into(), key: key.map(Into::into), number: number.into() })
        };
        assert_eq!(Tail::in_name("BM_Sort/64"), tail("BM_Sort", None, "64"));
        assert_eq!(Tail::in_name("BM_Pair<int, long>/8"), tail("BM_Pair<int, long>", None, "8"));
        assert_eq!(Tail::in_name("BM_x/8/16"), tail("BM_x/8", None, "16"));
        assert_eq!(Tail::in_name("BM_x/8/real_time"), tail("BM_x/real_time", None, "8"));
        assert_eq!(Tail::in_name("BM_x/threads:4"), tail("BM_x", Some("threads"), "4"));
        assert_eq!(Tail::in_name("vus=10"), tail("", Some("vus"), "10"));
        assert_eq!(Tail::in_name("test=a&vus=10"), tail("test=a", Some("vus"), "10"));
        for text in [
            "http://127.0.0.1:8080/x",
            "half (-j 3)",
            "12/05",
            "/srv/1",
            "BM_Sort_BigO",
            "optimal",
            "",
        ] {
            assert_eq!(Tail::in_name(text), None, "{text}");
        }
    }
}
