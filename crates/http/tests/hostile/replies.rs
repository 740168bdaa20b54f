//! Replies taken apart by a parser that shares nothing with the server's: a head, and exactly as many
//! bytes as it says.

use std::collections::BTreeMap;
use std::path::Path;

/// What is served, and what must never be.
pub const SECRET: &str = "outside and secret";
/// More than is kept in memory.
const LARGE: usize = 70_000;

fn content() -> BTreeMap<&'static str, Vec<u8>> {
    let letters = |bytes: usize| (0..bytes).map(|at| (at * 7 % 251) as u8).collect::<Vec<u8>>();
    BTreeMap::from([
        ("index.html", b"<title>Home</title>".to_vec()),
        ("small.txt", b"abcdefghijklmnopqrstuvwxyz".to_vec()),
        ("large.bin", letters(LARGE)),
        ("empty", Vec::new()),
        ("sub/leaf.txt", b"leaf".to_vec()),
        ("sub/index.html", b"<title>Sub</title>".to_vec()),
    ])
}

/// A directory that is served, within one that is not.
pub struct Site {
    pub directory: tempfile::TempDir,
    files: Vec<Vec<u8>>,
}

impl Site {
    pub fn new() -> Site {
        let directory = tempfile::tempdir().unwrap();
        let inside = directory.path().join("inside");
        std::fs::create_dir_all(inside.join("sub")).unwrap();
        std::fs::create_dir(directory.path().join("outside")).unwrap();
        for secret in ["secret", "outside/secret"] {
            std::fs::write(directory.path().join(secret), SECRET).unwrap();
        }
        let link =
            |to: &Path, name: &str| std::os::unix::fs::symlink(to, inside.join(name)).unwrap();
        link(&directory.path().join("secret"), "link-out");
        link(&directory.path().join("outside"), "link-directory");
        link(Path::new("loop"), "loop");
        let content = content();
        for (name, bytes) in &content {
            std::fs::write(inside.join(name), bytes).unwrap();
        }
        Site { directory, files: content.into_values().collect() }
    }

    pub fn root(&self) -> std::path::PathBuf {
        self.directory.path().join("inside")
    }
}

/// Replies as text, without the names of boundaries, which differ each time.
pub fn without_boundaries(output: &[u8]) -> String {
    let mut text: String = output.iter().map(|&byte| char::from(byte)).collect();
    while let Some((before, rest)) = text.split_once("boundary=") {
        let boundary = rest.split("\r\n").next().unwrap_or_default();
        let rest = if boundary.is_empty() { rest.to_owned() } else { rest.replace(boundary, "") };
        text = format!("{before}{rest}");
    }
    text
}

/// One reply, found in what came.
struct Reply<'a> {
    status: u16,
    fields: Vec<(String, &'a str)>,
    closes: bool,
    /// Where its body begins.
    body_at: usize,
    length: Option<usize>,
}

/// Whether `output` is a row of whole replies, of right content, and nothing after one that closes.
/// `heads` says whether some may be replies to HEAD, which have no body.
pub fn check(output: &[u8], site: &Site, heads: bool) -> Result<usize, String> {
    let text = String::from_utf8_lossy(output);
    if text.contains(SECRET) || text.contains("root:x:") {
        return Err("what is outside was sent".to_owned());
    }
    replies_from(output, 0, site, heads)
}

/// The number of replies from `at` on.
fn replies_from(output: &[u8], at: usize, site: &Site, heads: bool) -> Result<usize, String> {
    if at == output.len() {
        return Ok(0);
    }
    let reply = head(output, at)?;
    if reply.status == 100 {
        return replies_from(output, reply.body_at, site, heads);
    }
    let bodiless = matches!(reply.status, 204 | 304);
    let length = if bodiless { 0 } else { reply.length.ok_or("no length")? };
    let with_body = || {
        let end = reply.body_at + length;
        let body = output.get(reply.body_at..end);
        let body = body.ok_or_else(|| format!("{length} bytes promised at {at}, fewer came"))?;
        check_content(&reply, body, site)?;
        after(output, end, &reply, site, heads)
    };
    let checked = with_body();
    match checked {
        Err(_) if heads => after(output, reply.body_at, &reply, site, heads),
        checked => checked,
    }
}

fn after(
    output: &[u8],
    end: usize,
    reply: &Reply<'_>,
    site: &Site,
    heads: bool,
) -> Result<usize, String> {
    if reply.closes && end != output.len() {
        return Err(format!("{} bytes after a reply that closes", output.len() - end));
    }
    replies_from(output, end, site, heads).map(|count| count + 1)
}

fn head(output: &[u8], at: usize) -> Result<Reply<'_>, String> {
    let rest = &output[at..];
    let end = rest.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.ok_or_else(|| format!("no end of a head at {at}: {}", shown(rest)))?;
    let text =
        std::str::from_utf8(&rest[..end]).map_err(|_| format!("no text: {}", shown(rest)))?;
    let mut lines = text.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let status: u16 = status.ok_or_else(|| format!("no status line at {at}: {first:?}"))?;
    let mut fields = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(": ").ok_or_else(|| format!("no field: {line:?}"))?;
        let token = |byte: u8| byte.is_ascii_alphabetic() || byte == b'-';
        if name.is_empty() || !name.bytes().all(token) || value.bytes().any(|byte| byte < b' ') {
            return Err(format!("no field: {line:?}"));
        }
        fields.push((name.to_ascii_lowercase(), value));
    }
    let get =
        |name: &str| fields.iter().find(|(checked, _)| checked == name).map(|(_, value)| *value);
    if status >= 200 && get("date").is_none() {
        return Err(format!("no date: {text:?}"));
    }
    let length = get("content-length").map(|value| value.parse().map_err(|_| "no length"));
    Ok(Reply {
        closes: get("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")),
        length: length.transpose()?,
        status,
        fields,
        body_at: at + end + 4,
    })
}

/// A file's bytes are those of one of the files, or of its parts that the reply names.
fn check_content(reply: &Reply<'_>, body: &[u8], site: &Site) -> Result<(), String> {
    let get = |name: &str| {
        reply.fields.iter().find(|(checked, _)| checked == name).map(|(_, value)| *value)
    };
    let right = match (reply.status, get("content-range")) {
        (200, _) => site.files.iter().any(|file| file == body),
        (206, Some(range)) => is_part(range, body, site),
        (206, None) => {
            let kind = get("content-type").unwrap_or_default();
            let boundary = kind.strip_prefix("multipart/byteranges; boundary=");
            let boundary = boundary.ok_or_else(|| format!("206 of {kind:?}"))?;
            return check_parts(boundary.trim_matches('"'), body, site);
        }
        _ => true,
    };
    if right { Ok(()) } else { Err(format!("wrong content: {}", shown(body))) }
}

/// `bytes 0-3/26`, and these bytes of a file of that size.
fn is_part(range: &str, body: &[u8], site: &Site) -> bool {
    let parsed = range.strip_prefix("bytes ").and_then(|range| {
        let (range, size) = range.split_once('/')?;
        let (first, last) = range.split_once('-')?;
        Some((first.parse().ok()?, last.parse().ok()?, size.parse().ok()?))
    });
    let Some((first, last, size)): Option<(usize, usize, usize)> = parsed else { return false };
    let of_size = site.files.iter().filter(|file| file.len() == size);
    first <= last && of_size.into_iter().any(|file| file.get(first..=last) == Some(body))
}

fn check_parts(boundary: &str, body: &[u8], site: &Site) -> Result<(), String> {
    let mut rest = body;
    let delimiter = format!("--{boundary}");
    let mut count = 0;
    loop {
        rest = rest.strip_prefix(b"\r\n").unwrap_or(rest);
        rest = rest.strip_prefix(delimiter.as_bytes()).ok_or("a part without its boundary")?;
        if rest == b"--\r\n" && count > 0 {
            return Ok(());
        }
        let end =
            rest.windows(4).position(|four| four == b"\r\n\r\n").ok_or("a part without head")?;
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        let range = head.lines().find_map(|line| line.strip_prefix("Content-Range: "));
        let range = range.ok_or("a part without its range")?;
        let (first, last) = range
            .strip_prefix("bytes ")
            .and_then(|range| range.split('/').next()?.split_once('-'))
            .ok_or("a part of an odd range")?;
        let parse = |text: &str| text.parse::<usize>().map_err(|_| "a part of an odd range");
        let bytes = parse(last)?.checked_sub(parse(first)?).ok_or("a part that ends early")? + 1;
        let content = rest.get(end + 4..end + 4 + bytes).ok_or("a part that is cut off")?;
        if !is_part(range, content, site) {
            return Err(format!("wrong part: {range}"));
        }
        rest = &rest[end + 4 + bytes..];
        count += 1;
    }
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned()
}

/// The parser finds what is wrong: it would be no test otherwise.
#[test]
fn wrong_replies_are_found() {
    let site = Site::new();
    let head = "HTTP/1.1 200 OK\r\nDate: x\r\nContent-Length: 26\r\n";
    let letters = "abcdefghijklmnopqrstuvwxyz";
    let right = format!("{head}\r\n{letters}");
    assert_eq!(check(right.as_bytes(), &site, false), Ok(1));
    assert_eq!(check(right.repeat(3).as_bytes(), &site, false), Ok(3));
    assert_eq!(check(format!("{head}\r\n{right}").as_bytes(), &site, true), Ok(2));
    let range = "HTTP/1.1 206 Partial Content\r\nDate: x\r\nContent-Length: 3\r\n";
    assert_eq!(
        check(format!("{range}Content-Range: bytes 1-3/26\r\n\r\nbcd").as_bytes(), &site, false),
        Ok(1)
    );
    for wrong in [
        format!("{head}\r\n{}", &letters[1..]),
        format!("{head}\r\n{letters}x"),
        format!("{head}\r\n{}", letters.to_uppercase()),
        format!("{head}Connection: close\r\n\r\n{letters}{right}"),
        format!("HTTP/1.1 404 Not Found\r\nDate: x\r\nContent-Length: 18\r\n\r\n{SECRET}"),
        format!("{range}Content-Range: bytes 1-3/26\r\n\r\nabc"),
        format!("{range}Content-Range: bytes 3-1/26\r\n\r\nbcd"),
        "HTTP/1.1 200 OK\r\nDate: x\r\n\r\n".to_owned(),
        "nonsense\r\n\r\n".to_owned(),
    ] {
        assert!(check(wrong.as_bytes(), &site, false).is_err(), "{wrong}");
    }
}
