//! What `knee httpd` answers is what nginx answers, byte by byte where it matters; where it isn't, the
//! row says why, and what each says.

mod common;
#[path = "httpd_conformance/rows.rs"]
mod rows;

use common::http::{Client, Httpd, Nginx, Reply};
use rows::{ROWS, Row};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A whole second and a bit: a date says only the second.
const MODIFIED: Duration = Duration::from_millis(1_709_208_000_250);
const BYTES: usize = 10_000;

/// The directory that both serve.
fn site(root: &Path) {
    let bytes: Vec<u8> = (0..BYTES).map(|at| (at * 7 % 251) as u8).collect();
    let files: &[(&str, &[u8])] = &[
        ("index.html", b"<!doctype html><title>Home</title>"),
        ("plain.txt", b"abcdefghijklmnopqrstuvwxyz"),
        ("data.bin", &bytes),
        ("empty.txt", b""),
        ("style.css", b"p { margin: 0 }"),
        ("code.js", b"'use strict';"),
        ("picture.png", b"\x89PNG\r\n\x1a\n"),
        ("picture.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("picture.jpg", b"\xff\xd8\xff"),
        ("data.json", b"{}"),
        ("data.xml", b"<a/>"),
        ("movie.mp4", b"\0\0\0\x18ftyp"),
        ("none", b"no extension"),
        ("odd.unknown-extension", b"?"),
        ("with space.txt", b"space"),
        ("plus+plus.txt", b"plus"),
        ("100%.txt", b"percent"),
        ("q?.txt", b"question"),
        ("\u{fc}ml\u{e4}ut.txt", b"umlaut"),
        (".hidden", b"hidden"),
        ("sub/index.html", b"<title>Sub</title>"),
        ("sub/deep/leaf.txt", b"leaf"),
        ("bare/leaf.txt", b"bare"),
    ];
    for (name, content) in files {
        let file = root.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, content).unwrap();
        let opened = std::fs::File::options().write(true).open(&file).unwrap();
        opened.set_modified(SystemTime::UNIX_EPOCH + MODIFIED).unwrap();
    }
}

/// What a server is asked by one row, with what only it can know put in.
fn filled(send: &str, etag: &str) -> Vec<u8> {
    let opaque = etag.trim_start_matches("W/");
    send.replace("{plain}", "GET /plain.txt{x}")
        .replace("{x}", " HTTP/1.1\r\nHost: x\r\n")
        .replace("{etag}", opaque)
        .replace("{same}", "Thu, 29 Feb 2024 12:00:00 GMT")
        .replace("{older}", "Wed, 28 Feb 2024 12:00:00 GMT")
        .replace("{newer}", "Fri, 01 Mar 2024 12:00:00 GMT")
        .replace("{long}", &"a".repeat(20_000))
        .replace("{many}", &"X-Field: value\r\n".repeat(100))
        .into_bytes()
}

/// A reply's parts that are compared, by name.
type Parts = BTreeMap<String, String>;

fn parts(reply: &Reply) -> Parts {
    let mut parts = Parts::new();
    let field = |name| reply.field(name).unwrap_or_default();
    parts.insert("status".into(), reply.status.to_string());
    parts.insert("closes".into(), if reply.closes() { "yes" } else { "no" }.into());
    for name in ["Content-Range", "Last-Modified", "Accept-Ranges", "Allow"] {
        parts.insert(name.into(), field(name));
    }
    let etag = if field("ETag").is_empty() { "no" } else { "yes" };
    parts.insert("ETag".into(), etag.into());
    parts.insert("Location".into(), path_of(&field("Location")));
    // The pages that come with errors are each server's own.
    if reply.status < 300 {
        let (kind, body) = without_boundary(&field("Content-Type"), &reply.body);
        // Of a type, its parameters are each server's own: see `types_say_their_charset`.
        let kind = kind.split(';').next().unwrap_or_default().trim().to_owned();
        if kind != "multipart/byteranges" {
            parts.insert("Content-Length".into(), field("Content-Length"));
        }
        parts.insert("Content-Type".into(), kind);
        parts.insert("body".into(), body);
    }
    parts
}

/// A location without scheme and host.
fn path_of(location: &str) -> String {
    match location.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]).to_owned(),
        None => location.to_owned(),
    }
}

/// A body as text, where parts of a multipart one are apart and without the boundary's name.
fn without_boundary(kind: &str, body: &[u8]) -> (String, String) {
    let text: String = body.iter().map(|&byte| char::from(byte)).collect();
    let Some((kind, boundary)) = kind.split_once("boundary=") else {
        return (kind.to_owned(), text);
    };
    let boundary = format!("--{}", boundary.trim_matches('"'));
    let mut parts: Vec<String> = text.split(&boundary).map(str::to_owned).collect();
    for part in &mut parts {
        // The heads of a part may stand in any order, and a type may have parameters.
        let Some((head, content)) = part.split_once("\r\n\r\n") else { continue };
        let mut lines: Vec<String> = head.lines().map(without_parameters).collect();
        lines.sort();
        *part = format!("{}\n\n{content}", lines.join("\n"));
    }
    (kind.to_owned(), parts.join("<boundary>"))
}

fn without_parameters(line: &str) -> String {
    let line = line.split(';').next().unwrap_or_default().trim();
    let (name, value) = line.split_once(':').unwrap_or((line, ""));
    format!("{}: {}", name.to_ascii_lowercase(), value.trim())
}

/// What a server says to a row: the parts of each reply, and whether it then takes another request.
fn answers(row: &Row, connect: &dyn Fn() -> Client, etag: &str) -> Vec<Parts> {
    let mut client = connect();
    // What is refused early is not always read to its end.
    let _ = client.send(&filled(row.send, etag));
    let mut all = Vec::new();
    for &to_head in row.heads {
        let reply = client.reply(to_head);
        all.push(reply.map_or_else(
            |error| Parts::from([("status".to_owned(), format!("none ({:?})", error.kind()))]),
            |reply| parts(&reply),
        ));
    }
    let after = client.ask(b"GET /plain.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    let goes_on = after.is_ok_and(|reply| reply.status == 200);
    all.push(Parts::from([("goes on".into(), if goes_on { "yes" } else { "no" }.into())]));
    all
}

/// Where two answers differ: `what: nginx's, ours`, numbered where a row has several replies.
fn differences(row: &Row, nginx: &[Parts], ours: &[Parts]) -> Vec<(String, String, String)> {
    let mut differing = Vec::new();
    for (number, (theirs, ours)) in nginx.iter().zip(ours).enumerate() {
        let names: std::collections::BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
        for name in names {
            let values = |parts: &Parts| parts.get(name).cloned().unwrap_or_default();
            let several = row.heads.len() > 1 && number < row.heads.len();
            let name_with_value =
                if several { format!("{}. {name}", number + 1) } else { (*name).clone() };
            if values(theirs) != values(ours) {
                differing.push((name_with_value, values(theirs), values(ours)));
            }
        }
    }
    differing
}

/// What is wrong about a row; none if all is as it says.
fn judged(row: &Row, nginx: &[Parts], ours: &[Parts]) -> Option<String> {
    let mut differing = differences(row, nginx, ours);
    differing.sort();
    let wanted = row.differs.as_ref().map_or(&[][..], |differs| differs.what);
    let mut wanted: Vec<(String, String, String)> = wanted
        .iter()
        .map(|(what, nginx, ours)| ((*what).into(), (*nginx).into(), (*ours).into()))
        .collect();
    wanted.sort();
    if wanted == differing {
        return None;
    }
    let mut lines = vec![format!("{}:", row.name)];
    for (what, theirs, ours) in &differing {
        lines.push(format!("    {what}: nginx {theirs:?}, ours {ours:?}"));
    }
    if let Some(differs) = &row.differs {
        lines.push(format!("    expected, as {}: {:?}", differs.why, differs.what));
    }
    Some(lines.join("\n"))
}

fn etag(connect: &dyn Fn() -> Client) -> String {
    let reply = connect().ask(b"HEAD /plain.txt HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    reply.field("ETag").unwrap()
}

#[test]
fn answers_are_those_of_nginx() {
    let directory = tempfile::tempdir().unwrap();
    site(directory.path());
    let Some(nginx) = Nginx::start(directory.path()) else { return };
    let theirs = || nginx.connect();
    let their_etag = etag(&theirs);
    let expected: Vec<Vec<Parts>> =
        ROWS.iter().map(|row| answers(row, &theirs, &their_etag)).collect();
    assert!(ROWS.len() >= 60, "{} rows", ROWS.len());
    for mechanism in ["epoll-level", "epoll-edge", "poll", "io_uring-completion"] {
        let server = Httpd::start(directory.path(), &["--mechanism", mechanism]);
        let ours = || server.connect();
        let our_etag = etag(&ours);
        let judge =
            |(row, nginx): (&Row, &Vec<Parts>)| judged(row, nginx, &answers(row, &ours, &our_etag));
        let wrong: Vec<String> = ROWS.iter().zip(&expected).filter_map(judge).collect();
        let count = wrong.len();
        assert_eq!(count, 0, "{mechanism}: {count} rows\n{}", wrong.join("\n"));
    }
}

/// nginx names no charset unless it is configured to, and browsers then guess. Ours says that text is UTF-8.
#[test]
fn types_say_their_charset() {
    let directory = tempfile::tempdir().unwrap();
    site(directory.path());
    let server = Httpd::start(directory.path(), &[]);
    for (name, wanted) in [
        ("index.html", "text/html; charset=utf-8"),
        ("plain.txt", "text/plain; charset=utf-8"),
        ("style.css", "text/css; charset=utf-8"),
        ("code.js", "text/javascript; charset=utf-8"),
        ("picture.png", "image/png"),
        ("movie.mp4", "video/mp4"),
        ("none", "application/octet-stream"),
    ] {
        let request = format!("GET /{name} HTTP/1.1\r\nHost: x\r\n\r\n");
        let reply = server.connect().ask(request.as_bytes()).unwrap();
        assert_eq!(reply.field("Content-Type").as_deref(), Some(wanted), "{name}");
    }
}
