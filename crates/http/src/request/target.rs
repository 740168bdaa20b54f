//! Where the target of a request leads: a path within the directory that is served.
//!
//! Escapes are undone first and the path is put in order afterwards, so that a dot, a slash or a
//! double dot means the same however it is written. What climbs above the directory is refused, not
//! clamped. A slash that was escaped parts two names like any other: no file has one in its name.

use crate::response::status::Status;

/// Makes the path that a target names: in order, unescaped, from `/` on, with a slash at the end where
/// a directory is meant. Returns the query with its question mark, or nothing.
pub(crate) fn resolve<'a>(target: &'a [u8], path: &mut Vec<u8>) -> Result<&'a [u8], Status> {
    let local = without_authority(target).ok_or(Status::BadRequest)?;
    let local = local.split(|byte| *byte == b'#').next().unwrap_or_default();
    let query_at = local.iter().position(|byte| *byte == b'?').unwrap_or(local.len());
    let (escaped, query) = local.split_at(query_at);
    path.clear();
    if escaped.is_empty() {
        path.push(b'/');
    }
    unescape(escaped, path).ok_or(Status::BadRequest)?;
    put_in_order(path).ok_or(Status::BadRequest)?;
    Ok(query)
}

/// Appends a path as it stands in a Location.
pub(crate) fn escape(path: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in path {
        if byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(byte) {
            out.push(*byte);
        } else {
            let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
            out.extend_from_slice(&[b'%', DIGITS[high], DIGITS[low]]);
        }
    }
}

/// What follows the host, for a proxy's way of asking (`http://host/path`).
fn without_authority(target: &[u8]) -> Option<&[u8]> {
    if target.first() == Some(&b'/') {
        return Some(target);
    }
    let rest = ["http://", "https://"].iter().find_map(|scheme| {
        let (start, rest) = target.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme.as_bytes()).then_some(rest)
    })?;
    let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    let (authority, local) = rest.split_at(end);
    (!authority.is_empty()).then_some(local)
}

/// None for an escape that isn't one, and for a NUL, which no name can hold.
fn unescape(escaped: &[u8], path: &mut Vec<u8>) -> Option<()> {
    let mut rest = escaped.iter();
    while let Some(byte) = rest.next() {
        let byte = match byte {
            b'%' => (digit(*rest.next()?)? << 4) | digit(*rest.next()?)?,
            plain => *plain,
        };
        if byte == 0 {
            return None;
        }
        path.push(byte);
    }
    Some(())
}

fn digit(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|value| value as u8)
}

/// Takes out empty names, `.` and `..`, in place; None where that leads above the root.
fn put_in_order(path: &mut Vec<u8>) -> Option<()> {
    let (mut read, mut written) = (1, 1);
    loop {
        let rest = &path[read.min(path.len())..];
        let length = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
        let last = length == rest.len();
        match &rest[..length] {
            b"" | b"." => {}
            b".." => {
                let parent = path[..written].strip_suffix(b"/")?;
                written = parent.iter().rposition(|byte| *byte == b'/')? + 1;
            }
            _ => {
                // The slash after it comes along.
                let end = read + length + usize::from(!last);
                path.copy_within(read..end, written);
                written += end - read;
            }
        }
        if last {
            path.truncate(written);
            return Some(());
        }
        read += length + 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(target: &str) -> Result<String, Status> {
        let mut path = b"what was there before".to_vec();
        resolve(target.as_bytes(), &mut path)?;
        Ok(String::from_utf8(path).unwrap())
    }

    #[test]
    fn targets_lead_to_paths() {
        let table = [
            ("/", "/"),
            ("/a", "/a"),
            ("/a/", "/a/"),
            ("/a/b.html?x=/../y", "/a/b.html"),
            ("/a#/../b", "/a"),
            ("/a%20b", "/a b"),
            ("/%61%2Fb%2f", "/a/b/"),
            ("//a///b//", "/a/b/"),
            ("/./a/./b", "/a/b"),
            ("/a/.", "/a/"),
            ("/a/b/..", "/a/"),
            ("/a/b/../c", "/a/c"),
            ("/a/../", "/"),
            ("/a/..", "/"),
            ("/a/%2e%2E/b", "/b"),
            ("/a%2f..%2fb", "/b"),
            ("/...", "/..."),
            ("/.hidden", "/.hidden"),
            ("/..a/b..", "/..a/b.."),
            ("/%2525", "/%25"),
            ("/%3f%23", "/?#"),
            ("http://host", "/"),
            ("http://host/", "/"),
            ("HTTP://host:80/a//b?c", "/a/b"),
            ("https://host?c", "/"),
        ];
        for (target, expected) in table {
            assert_eq!(path(target), Ok(expected.to_string()), "{target}");
        }
    }

    #[test]
    fn other_targets_are_refused() {
        let table = [
            "",
            "*",
            "a",
            "host:443",
            "http://",
            "http:///a",
            "ftp://host/",
            "/..",
            "/../",
            "/a/../..",
            "/a/../../b",
            "/%2e%2e/b",
            "/..%2fb",
            "//..",
            "/%",
            "/%4",
            "/%4g",
            "/%g4",
            "/%%41",
            "/%00",
            "/a%00.html",
            "http://host/../a",
            "?a",
            "#",
        ];
        for target in table {
            assert_eq!(path(target), Err(Status::BadRequest), "{target}");
        }
    }

    #[test]
    fn the_query_is_handed_on() {
        let mut path = Vec::new();
        assert_eq!(resolve(b"/a?b?c#d", &mut path), Ok(&b"?b?c"[..]));
        assert_eq!(resolve(b"/a#b?c", &mut path), Ok(&b""[..]));
    }

    #[test]
    fn bytes_beyond_ascii_are_names_like_others() {
        let mut path = Vec::new();
        resolve(b"/%ff%C3%a4", &mut path).unwrap();
        assert_eq!(path, b"/\xff\xc3\xa4");
    }

    /// The same by another way: a stack of names. None where it leads out, or nowhere.
    fn model(unescaped: &[u8]) -> Option<Vec<u8>> {
        let mut names: Vec<&[u8]> = Vec::new();
        let mut directory = true;
        for name in unescaped.split(|byte| *byte == b'/') {
            directory = matches!(name, b"" | b"." | b"..");
            match name {
                b"" | b"." => {}
                b".." => drop(names.pop()?),
                name => names.push(name),
            }
        }
        let mut path = b"/".to_vec();
        path.extend(names.join(&b'/'));
        if directory && path.len() > 1 {
            path.push(b'/');
        }
        Some(path)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn no_path_leads_out_however_it_is_written(
            pieces in prop::collection::vec(
                (prop_oneof![Just("/"), Just("."), Just(".."), Just("a"), Just("%"), Just("b/c")], 0..3_u8),
                0..12,
            )
        ) {
            // Each byte as it is, escaped, or escaped in small letters.
            let mut target = b"/".to_vec();
            let mut plain = b"/".to_vec();
            for (piece, way) in &pieces {
                for byte in piece.bytes() {
                    plain.push(byte);
                    match way {
                        0 if byte != b'%' => target.push(byte),
                        1 => target.extend(format!("%{byte:02X}").bytes()),
                        _ => target.extend(format!("%{byte:02x}").bytes()),
                    }
                }
            }
            let mut path = Vec::new();
            let resolved = resolve(&target, &mut path).map(|_| path.clone());
            prop_assert_eq!(resolved.ok(), model(&plain));
        }

        #[test]
        fn any_bytes_are_a_path_in_order_or_refused(target in prop::collection::vec(any::<u8>(), 0..64)) {
            let mut path = Vec::new();
            if resolve(&target, &mut path).is_ok() {
                prop_assert!(path.starts_with(b"/") && !path.contains(&0));
                let inner = path[1..].strip_suffix(b"/").unwrap_or(&path[1..]);
                for name in inner.split(|byte| *byte == b'/').filter(|_| path.len() > 1) {
                    prop_assert!(!matches!(name, b"" | b"." | b".."), "{path:?}");
                }
            }
        }

        #[test]
        fn an_escaped_path_leads_back(names in prop::collection::vec("[^/\0]{1,6}", 0..4)) {
            let mut path = format!("/{}", names.join("/")).into_bytes();
            prop_assume!(put_in_order(&mut path).is_some());
            let (mut location, mut back) = (Vec::new(), Vec::new());
            escape(&path, &mut location);
            prop_assert!(location.iter().all(u8::is_ascii_graphic));
            prop_assert_eq!(resolve(&location, &mut back), Ok(&b""[..]));
            prop_assert_eq!(path, back);
        }
    }
}
