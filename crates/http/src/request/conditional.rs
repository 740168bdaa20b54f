//! Whether a file is sent at all, in the order of RFC 9110, 13.2.2.

use std::time::UNIX_EPOCH;

use crate::request::Request;

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State<'a> {
    /// The tag with its quotes; a strong one.
    pub etag: &'a [u8],
    /// Seconds since 1970, where there is a date.
    pub modified: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Send it.
    Send,
    /// The client has it already.
    NotModified,
    /// It is not what the client took it for.
    Failed,
}

/// Weighs the conditions of a GET or HEAD. Dates that are none are as good as absent.
pub(crate) fn judge(request: &Request<'_>, state: State<'_>) -> Condition {
    if let Some(tags) = request.if_match {
        if !any(tags, |tag| tag == state.etag) {
            return Condition::Failed;
        }
    } else if let Some((since, modified)) = dates(request.if_unmodified_since, state)
        && modified > since
    {
        return Condition::Failed;
    }
    if let Some(tags) = request.if_none_match {
        if any(tags, |tag| tag.strip_prefix(b"W/").unwrap_or(tag) == state.etag) {
            return Condition::NotModified;
        }
    } else if let Some((since, modified)) = dates(request.if_modified_since, state)
        && modified <= since
    {
        return Condition::NotModified;
    }
    Condition::Send
}

/// Whether a range may be cut from the file as it is: it is the very one that the client has a part of.
pub(crate) fn may_cut(request: &Request<'_>, state: State<'_>) -> bool {
    let Some(wanted) = request.if_range else {
        return true;
    };
    if wanted.ends_with(b"\"") {
        return wanted == state.etag;
    }
    dates(Some(wanted), state).is_some_and(|(wanted, modified)| wanted == modified)
}

/// The date that was given and that of the file, where both are there.
fn dates(given: Option<&[u8]>, state: State<'_>) -> Option<(u64, u64)> {
    let given = httpdate::parse_http_date(str::from_utf8(given?).ok()?).ok()?;
    Some((given.duration_since(UNIX_EPOCH).ok()?.as_secs(), state.modified?))
}

/// Whether one of a list of tags fits; `*` stands for all. What follows something that is no tag is not
/// looked at: a comma may stand within a tag, so there is no telling where the next one begins.
fn any(list: &[u8], fits: impl Fn(&[u8]) -> bool) -> bool {
    if list == b"*" {
        return true;
    }
    let mut rest = list;
    loop {
        rest = skip(rest, b" \t,");
        let Some(length) = tag_bytes(rest) else {
            return false;
        };
        let (tag, after) = rest.split_at(length);
        if fits(tag) {
            return true;
        }
        rest = skip(after, b" \t");
        if !rest.starts_with(b",") {
            return false;
        }
    }
}

/// How long the tag at the beginning is, `W/` and quotes included.
fn tag_bytes(list: &[u8]) -> Option<usize> {
    let quoted = list.strip_prefix(b"W/").unwrap_or(list).strip_prefix(b"\"")?;
    let inner = quoted.iter().position(|byte| *byte == b'"')?;
    Some(list.len() - quoted.len() + inner + 1)
}

fn skip<'a>(list: &'a [u8], what: &[u8]) -> &'a [u8] {
    let start = list.iter().position(|byte| !what.contains(byte)).unwrap_or(list.len());
    &list[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Parsed, parse};

    /// Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110.
    const MODIFIED: u64 = 784_111_777;
    const THEN: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
    const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

    fn with<T>(lines: &[(&str, &str)], check: impl Fn(&Request<'_>, State<'_>) -> T) -> T {
        let lines: Vec<String> =
            lines.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", lines.concat());
        let Parsed::Whole { request, .. } = parse(head.as_bytes()) else {
            panic!("{head}");
        };
        check(&request, State { etag: b"\"e,1\"", modified: Some(MODIFIED) })
    }

    #[test]
    fn tags_are_compared() {
        use Condition::{Failed, NotModified, Send};
        let table = [
            ("\"e,1\"", Send, NotModified),
            ("W/\"e,1\"", Failed, NotModified),
            ("*", Send, NotModified),
            ("\"x\", \"e,1\"", Send, NotModified),
            ("\"x\",W/\"y\" ,\t\"e,1\" ,\"z\"", Send, NotModified),
            (", ,\"e,1\"", Send, NotModified),
            ("\"x\"", Failed, Send),
            ("\"e\"", Failed, Send),
            ("e,1", Failed, Send),
            ("\"e,1", Failed, Send),
            ("w/\"e,1\"", Failed, Send),
            ("\"x\" \"e,1\"", Failed, Send),
            ("x, \"e,1\"", Failed, Send),
            ("\"*\"", Failed, Send),
            ("", Failed, Send),
        ];
        for (tags, match_, none_match) in table {
            assert_eq!(with(&[("If-Match", tags)], judge), match_, "If-Match: {tags}");
            assert_eq!(
                with(&[("If-None-Match", tags)], judge),
                none_match,
                "If-None-Match: {tags}"
            );
        }
    }

    #[test]
    fn dates_are_compared() {
        use Condition::{Failed, NotModified, Send};
        let table = [
            (THEN, Send, NotModified),
            (BEFORE, Failed, Send),
            (AFTER, Send, NotModified),
            // The two old ways to write a date.
            ("Sunday, 06-Nov-94 08:49:37 GMT", Send, NotModified),
            ("Sun Nov  6 08:49:37 1994", Send, NotModified),
            ("Sun Nov  6 08:49:36 1994", Failed, Send),
            // No dates at all.
            ("784111777", Send, Send),
            ("Sun, 06 Nov 1994 08:49:37 CET", Send, Send),
            ("Sun, 06 Nov 1994 25:49:37 GMT", Send, Send),
            ("", Send, Send),
        ];
        for (date, unmodified, modified) in table {
            let since = with(&[("If-Unmodified-Since", date)], judge);
            assert_eq!(since, unmodified, "If-Unmodified-Since: {date}");
            let since = with(&[("If-Modified-Since", date)], judge);
            assert_eq!(since, modified, "If-Modified-Since: {date}");
        }
    }

    #[test]
    fn a_tag_counts_before_a_date_and_a_match_before_none() {
        use Condition::{Failed, NotModified, Send};
        let (right, wrong) = ("\"e,1\"", "\"x\"");
        let table: &[(&[(&str, &str)], Condition)] = &[
            (&[("If-Match", right), ("If-Unmodified-Since", BEFORE)], Send),
            (&[("If-Match", wrong), ("If-Unmodified-Since", AFTER)], Failed),
            (&[("If-None-Match", wrong), ("If-Modified-Since", AFTER)], Send),
            (&[("If-None-Match", right), ("If-Modified-Since", BEFORE)], NotModified),
            (&[("If-Match", right), ("If-None-Match", right)], NotModified),
            (&[("If-Match", wrong), ("If-None-Match", right)], Failed),
            (&[("If-Unmodified-Since", BEFORE), ("If-None-Match", right)], Failed),
            (&[("If-Unmodified-Since", AFTER), ("If-Modified-Since", AFTER)], NotModified),
        ];
        for (lines, expected) in table {
            assert_eq!(with(lines, judge), *expected, "{lines:?}");
        }
    }

    #[test]
    fn a_range_is_cut_from_the_very_same_file_alone() {
        let table = [
            ("\"e,1\"", true),
            ("\"x\"", false),
            ("W/\"e,1\"", false),
            ("*", false),
            (THEN, true),
            (BEFORE, false),
            (AFTER, false),
            ("nonsense", false),
            ("", false),
        ];
        for (value, expected) in table {
            let lines = [("Range", "bytes=0-0"), ("If-Range", value)];
            assert_eq!(with(&lines, may_cut), expected, "{value}");
        }
        assert!(with(&[("Range", "bytes=0-0")], may_cut));
    }

    #[test]
    fn without_a_date_of_the_file_dates_count_for_nothing() {
        let undated = |request: &Request<'_>, state: State<'_>| {
            let state = State { modified: None, ..state };
            (judge(request, state), may_cut(request, state))
        };
        for name in ["If-Modified-Since", "If-Unmodified-Since"] {
            assert_eq!(with(&[(name, THEN)], undated).0, Condition::Send, "{name}");
        }
        assert!(!with(&[("If-Range", THEN)], undated).1);
    }
}
