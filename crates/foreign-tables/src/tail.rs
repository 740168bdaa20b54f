//! Numbers at the end of names: `BM_Sort/64`, `BM_Sort/64/threads:4`, `vus=10`.

/// A name that has a number, taken apart.
#[derive(Debug, PartialEq)]
pub struct Tail {
    /// The name without the number.
    pub series: String,
    /// The same with the place of a number that has no name: `sort/{n}/vec` is another series than `sort/vec/{n}`.
    pub template: String,
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
        let join = |parts: &[&str]| parts.join(&separator.unwrap_or('/').to_string());
        let series = join(&[&parts[..at], &parts[at + 1..]].concat());
        let template = match key {
            Some(_) => series.clone(),
            None => join(&[&parts[..at], &["{n}"], &parts[at + 1..]].concat()),
        };
        Some(Tail { series, template, key, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_from_names() {
        let tail = |series: &str, template: &str, key: Option<&str>, number: &str| {
            let [series, template, number] = [series, template, number].map(str::to_owned);
            Some(Tail { series, template, key: key.map(Into::into), number })
        };
        let bare =
            |series: &str, template: &str, number: &str| tail(series, template, None, number);
        let named = |series: &str, key: &str, number: &str| tail(series, series, Some(key), number);
        assert_eq!(Tail::in_name("BM_Sort/64"), bare("BM_Sort", "BM_Sort/{n}", "64"));
        assert_eq!(
            Tail::in_name("BM_P<int, long>/8"),
            bare("BM_P<int, long>", "BM_P<int, long>/{n}", "8")
        );
        assert_eq!(Tail::in_name("BM_x/8/16"), bare("BM_x/8", "BM_x/8/{n}", "16"));
        assert_eq!(Tail::in_name("x/8/real_time"), bare("x/real_time", "x/{n}/real_time", "8"));
        assert_eq!(Tail::in_name("BM_x/threads:4"), named("BM_x", "threads", "4"));
        assert_eq!(Tail::in_name("vus=10"), named("", "vus", "10"));
        assert_eq!(Tail::in_name("test=a&vus=10"), named("test=a", "vus", "10"));
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
