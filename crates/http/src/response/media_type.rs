//! The type of a file, from the end of its name.

/// The type of a file whose name has no known ending.
const UNKNOWN: &str = "application/octet-stream";

/// The media type and, for text, its character set.
///
/// All text is marked as UTF-8: without a charset, browsers guess.
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
    fn the_extension_gives_the_type() {
        assert_eq!(from_path(b"/index.html"), ("text/html", "; charset=utf-8"));
        assert_eq!(from_path(b"/a.b/style.CSS"), ("text/css", "; charset=utf-8"));
        assert_eq!(from_path(b"/picture.png"), ("image/png", ""));
        assert_eq!(from_path(b"/a.json"), ("application/json", ""));
        assert_eq!(from_path(b"/.html"), ("text/html", "; charset=utf-8"));
    }

    #[test]
    fn names_without_a_known_extension_have_no_type() {
        for path in
            [&b"/128"[..], b"/a.png/file", b"/a.", b"/a.\xff", b"/a.no-such-type", b"/", b""]
        {
            assert_eq!(from_path(path), ("application/octet-stream", ""), "{path:?}");
        }
    }
}
