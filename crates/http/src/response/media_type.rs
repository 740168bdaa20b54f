//! The type of a file, from the end of its name.

/// What is said of a file whose name tells nothing.
const UNKNOWN: &str = "application/octet-stream";

/// The media type and, for text, its character set.
///
/// All text is said to be UTF-8: without a word on it, browsers guess.
pub(crate) fn from_path(path: &[u8]) -> (&'static str, &'static str) {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let end = name.iter().rposition(|byte| *byte == b'.').map(|dot| &name[dot + 1..]);
    let media = end
        .and_then(|end| str::from_utf8(end).ok())
        .and_then(|end| mime_guess::from_ext(end).first_raw())
        .unwrap_or(UNKNOWN);
    (media, if media.starts_with("text/") { "; charset=utf-8" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::from_path;

    #[test]
    fn the_end_of_a_name_tells_the_type() {
        assert_eq!(from_path(b"/index.html"), ("text/html", "; charset=utf-8"));
        assert_eq!(from_path(b"/a.b/style.CSS"), ("text/css", "; charset=utf-8"));
        assert_eq!(from_path(b"/picture.png"), ("image/png", ""));
        assert_eq!(from_path(b"/a.json"), ("application/json", ""));
        assert_eq!(from_path(b"/.html"), ("text/html", "; charset=utf-8"));
    }

    #[test]
    fn other_names_tell_nothing() {
        for path in
            [&b"/128"[..], b"/a.png/file", b"/a.", b"/a.\xff", b"/a.no-such-type", b"/", b""]
        {
            assert_eq!(from_path(path), ("application/octet-stream", ""), "{path:?}");
        }
    }
}
