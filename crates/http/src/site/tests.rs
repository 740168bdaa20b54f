//! Requests to a real directory, and what comes back.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::request::{Parsed, parse};
use crate::response::Part;

const CACHE_BYTES: usize = 1024 * 1024;

/// More than is kept.
const LARGE: usize = SMALL_BYTES as usize + 1000;

/// Sun, 06 Nov 1994 08:49:37 GMT, which all files here were changed at.
const MODIFIED: Duration = Duration::from_secs(784_111_777);

/// A site, its directory, and the moment that it takes it to be.
struct Stage {
    directory: TempDir,
    site: Site,
    now_ms: u64,
    wall: SystemTime,
}

/// A reply in its pieces.
#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn line(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.split("\r\n").skip(1).filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }
}

impl Stage {
    /// The files' changes are long past, so that their stamps can be trusted.
    fn new() -> Stage {
        let directory = tempfile::tempdir().unwrap();
        let site = Site::open(directory.path(), CACHE_BYTES).unwrap();
        let wall = SystemTime::now() + Duration::from_secs(3600);
        let mut stage = Stage { directory, site, now_ms: 5000, wall };
        stage.pass(0);
        stage.write("small.txt", b"0123456789");
        stage.write("large.bin", &counted(LARGE));
        stage.write("empty", b"");
        stage.write("with/index.html", b"<p>index");
        stage.write("without/file", b"file");
        stage
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, content: &[u8]) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
        let file = File::options().write(true).open(self.path(name)).unwrap();
        file.set_modified(UNIX_EPOCH + MODIFIED).unwrap();
    }

    fn pass(&mut self, ms: u64) {
        self.now_ms += ms;
        self.wall += Duration::from_millis(ms);
        self.site.tick(self.now_ms, self.wall);
    }

    /// Sends a head and takes the reply apart; of a body, as much as was promised has to be there.
    fn request(&mut self, head: &str) -> Reply {
        let Parsed::Whole { request, used } = parse(head.as_bytes()) else {
            panic!("{head:?}");
        };
        assert_eq!(used, head.len());
        let mut out = b"before".to_vec();
        let body = self.site.answer(&request, request.keep_alive, &mut out);
        let sent = out.strip_prefix(b"before").unwrap();
        let end = sent.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
        let head = String::from_utf8(sent[..end].to_vec()).unwrap();
        let status = head.strip_prefix("HTTP/1.1 ").unwrap()[..3].parse().unwrap();
        let mut reply = Reply { status, head, body: sent[end..].to_vec() };
        for part in body.into_iter().flat_map(|body| body.parts) {
            match part {
                Part::Bytes(bytes) => reply.body.extend(bytes),
                Part::File { file, at, bytes } => {
                    let start = reply.body.len();
                    reply.body.resize(start + bytes as usize, 0);
                    file.read_exact_at(&mut reply.body[start..], at).unwrap();
                }
            }
        }
        let promised = reply.line("Content-Length").map(|length| length.parse().unwrap());
        match (request.method, promised) {
            (Method::Head, _) => assert_eq!(reply.body.len(), 0),
            (_, None) => assert_eq!((reply.body.len(), status), (0, 304)),
            (_, Some(length)) => assert_eq!(reply.body.len(), length, "{}", reply.head),
        }
        let reply_summary = self.site.last_reply;
        assert_eq!(
            (reply_summary.status.code(), reply_summary.bytes),
            (status, reply.body.len() as u64)
        );
        reply
    }

    fn get(&mut self, target: &str) -> Reply {
        self.request(&format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"))
    }

    fn get_with(&mut self, target: &str, lines: &str) -> Reply {
        self.request(&format!("GET {target} HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n"))
    }

    /// What is kept now, by path.
    fn kept(&mut self, path: &str) -> bool {
        self.site.cache.get(path.as_bytes()).is_some()
    }
}

/// Bytes each of which tells where it stands.
fn counted(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|position| (position % 251) as u8).collect()
}

#[test]
fn a_file_comes_with_all_its_headers() {
    let mut stage = Stage::new();
    stage.site.tick(5000, UNIX_EPOCH + Duration::from_secs(1_000_000_000));
    // The first time it is read, the second time it was kept.
    for _ in 0..2 {
        let reply = stage.get("/small.txt");
        assert_eq!(
            reply.head,
            "HTTP/1.1 200 OK\r\nServer: knee\r\nDate: Sun, 09 Sep 2001 01:46:40 GMT\r\n\
             Content-Type: text/plain; charset=utf-8\r\nContent-Length: 10\r\n\
             Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: \"2ebc98a1-0-a\"\r\n\
             Accept-Ranges: bytes\r\n\r\n"
        );
        assert_eq!(reply.body, b"0123456789");
    }
}

#[test]
fn a_head_is_that_of_a_get_without_the_body() {
    let mut stage = Stage::new();
    let targets =
        ["/small.txt", "/large.bin", "/empty", "/with/", "/with", "/without/", "/none", "/%"];
    for target in targets.iter().chain(&targets) {
        let get = stage.get(target);
        let head = stage.request(&format!("HEAD {target} HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert_eq!(get.head, head.head, "{target}");
    }
}

#[test]
fn the_connection_header_is_sent_where_it_has_to_be() {
    let mut stage = Stage::new();
    for target in ["/small.txt", "/small.txt", "/large.bin", "/none"] {
        let mut connection = |version: &str, line: &str| {
            let reply =
                stage.request(&format!("GET {target} HTTP/{version}\r\nHost: a\r\n{line}\r\n"));
            reply.line("Connection").map(str::to_string)
        };
        assert_eq!(connection("1.1", ""), None, "{target}");
        assert_eq!(connection("1.1", "Connection: close\r\n").as_deref(), Some("close"));
        assert_eq!(connection("1.0", "").as_deref(), Some("close"));
        let kept = connection("1.0", "Connection: keep-alive\r\n");
        assert_eq!(kept.as_deref(), Some("keep-alive"));
    }
}

#[test]
fn directories_lead_to_their_index() {
    let mut stage = Stage::new();
    stage.write("index.html", b"root");
    stage.write("sp ace?/index.html", b"odd");
    stage.write("odd/index.html/file", b"a directory with the name of an index");
    for (target, status, body) in [
        ("/", 200, "root"),
        ("/with/", 200, "<p>index"),
        ("/with/../", 200, "root"),
        ("/sp%20ace%3f/", 200, "odd"),
        ("/without/", 403, "403 Forbidden\n"),
        ("/odd/", 403, "403 Forbidden\n"),
        ("/none/", 404, "404 Not Found\n"),
        ("/small.txt/", 404, "404 Not Found\n"),
    ] {
        let reply = stage.get(target);
        assert_eq!((reply.status, reply.text()), (status, body), "{target}");
    }
    assert_eq!(stage.get("/").line("Content-Type"), Some("text/html; charset=utf-8"));
    for (target, location) in [
        ("/with", "/with/"),
        ("/with?a=/b", "/with/?a=/b"),
        ("//with", "/with/"),
        ("/a/../without", "/without/"),
        ("http://other/with", "/with/"),
        ("/sp%20ace%3f", "/sp%20ace%3F/"),
    ] {
        let reply = stage.get(target);
        assert_eq!((reply.status, reply.line("Location")), (301, Some(location)), "{target}");
    }
}

#[test]
fn what_is_not_served_is_refused() {
    let mut stage = Stage::new();
    symlink("/etc/passwd", stage.path("out")).unwrap();
    for (target, status) in [
        ("/none", 404),
        ("/out", 404),
        ("/../etc/passwd", 400),
        ("/%2e%2e/etc/passwd", 400),
        ("/%00", 400),
        ("/%zz", 400),
        ("*", 400),
        ("small.txt", 400),
    ] {
        let reply = stage.get(target);
        assert_eq!(reply.status, status, "{target}");
        assert_eq!(reply.line("ETag"), None);
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", "BREW"] {
        let reply = stage.request(&format!("{method} /small.txt HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert_eq!((reply.status, reply.line("Allow")), (405, Some("GET, HEAD")), "{method}");
    }
}

#[test]
fn a_refusal_ends_the_connection() {
    let mut stage = Stage::new();
    let mut out = Vec::new();
    stage.site.refuse(Status::HeadTooLarge, &mut out);
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"), "{text}");
    assert!(text.contains("\r\nConnection: close\r\n"), "{text}");
    assert!(text.contains("\r\nContent-Length: 36\r\n"), "{text}");
    assert!(text.ends_with("\r\n\r\n431 Request Header Fields Too Large\n"), "{text}");
    assert_eq!(stage.site.last_reply, Summary { status: Status::HeadTooLarge, bytes: 36 });
}

#[test]
fn conditional_requests_are_answered() {
    let mut stage = Stage::new();
    for target in ["/small.txt", "/large.bin"] {
        let whole = stage.get(target);
        let etag = whole.line("ETag").unwrap();
        let same = stage.get_with(target, &format!("If-None-Match: {etag}"));
        assert_eq!((same.status, same.line("ETag")), (304, Some(etag)));
        assert_eq!(same.line("Last-Modified"), whole.line("Last-Modified"));
        for (line, status) in [
            ("If-None-Match: \"x\"", 200),
            ("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", 304),
            ("If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT", 200),
            ("If-Match: \"x\"", 412),
            ("If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT", 412),
            ("If-Match: *", 200),
        ] {
            assert_eq!(stage.get_with(target, line).status, status, "{line}");
        }
    }
    // There is nothing to be compared with.
    assert_eq!(stage.get_with("/none", "If-None-Match: *").status, 404);
}

#[test]
fn ranges_are_cut() {
    let mut stage = Stage::new();
    for (target, whole) in [("/small.txt", b"0123456789".to_vec()), ("/large.bin", counted(LARGE))]
    {
        let size = whole.len();
        for (range, start, end) in
            [("2-4", 2, 5), ("7-", 7, size), ("-3", size - 3, size), ("0-99999999", 0, size)]
        {
            let reply = stage.get_with(target, &format!("Range: bytes={range}"));
            assert_eq!((reply.status, &reply.body[..]), (206, &whole[start..end]), "{range}");
            let expected_range = format!("bytes {start}-{}/{size}", end - 1);
            assert_eq!(reply.line("Content-Range"), Some(expected_range.as_str()));
            assert!(reply.line("ETag").is_some() && reply.line("Last-Modified").is_some());
        }
        let beyond = stage.get_with(target, "Range: bytes=99999999-");
        let expected_range = format!("bytes */{size}");
        assert_eq!(
            (beyond.status, beyond.line("Content-Range")),
            (416, Some(expected_range.as_str()))
        );
        let older = stage.get_with(target, "Range: bytes=2-4\r\nIf-Range: \"x\"");
        assert_eq!((older.status, &older.body), (200, &whole));
        let same =
            stage.get_with(target, "Range: bytes=2-4\r\nIf-Range: Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!((same.status, &same.body[..]), (206, &whole[2..5]));
        let head = format!("HEAD {target} HTTP/1.1\r\nHost: a\r\nRange: bytes=2-4\r\n\r\n");
        assert_eq!(stage.request(&head).status, 200);
    }
    assert_eq!(stage.get_with("/empty", "Range: bytes=0-").status, 200);
}

#[test]
fn several_ranges_come_in_parts() {
    let mut stage = Stage::new();
    for (target, media, whole) in [
        ("/small.txt", "text/plain; charset=utf-8", b"0123456789".to_vec()),
        ("/large.bin", "application/octet-stream", counted(LARGE)),
    ] {
        let size = whole.len();
        let reply = stage.get_with(target, "Range: bytes=0-1,-2, 4-5");
        assert_eq!((reply.status, reply.line("Content-Range")), (206, None));
        let media_type = reply.line("Content-Type").unwrap();
        let boundary = media_type.strip_prefix("multipart/byteranges; boundary=").unwrap();
        let mut expected = Vec::new();
        for (start, end) in [(0, 2), (size - 2, size), (4, 6)] {
            let last = end - 1;
            let head = format!(
                "\r\n--{boundary}\r\nContent-Type: {media}\r\n\
                 Content-Range: bytes {start}-{last}/{size}\r\n\r\n"
            );
            expected.extend(head.bytes());
            expected.extend(&whole[start..end]);
        }
        expected.extend(format!("\r\n--{boundary}--\r\n").bytes());
        assert_eq!(reply.body, expected);
        let again = stage.get_with(target, "Range: bytes=0-1,-2, 4-5");
        assert_ne!(again.line("Content-Type"), reply.line("Content-Type"), "nobody may know it");
    }
}

#[test]
fn a_change_is_noticed_within_ten_milliseconds() {
    type Change = (&'static str, fn(&Stage), u16, &'static str);
    let changes: [Change; 6] = [
        ("edited", |stage| stage.write("small.txt", b"abcdefghijk"), 200, "abcdefghijk"),
        ("truncated", |stage| stage.write("small.txt", b""), 200, ""),
        (
            "removed",
            |stage| fs::remove_file(stage.path("small.txt")).unwrap(),
            404,
            "404 Not Found\n",
        ),
        (
            "grown",
            |stage| fs::write(stage.path("small.txt"), "0123456789+").unwrap(),
            200,
            "0123456789+",
        ),
        (
            "replaced by one of the same length and age",
            |stage| {
                stage.write("other", b"abcdefghij");
                fs::rename(stage.path("other"), stage.path("small.txt")).unwrap();
            },
            200,
            "abcdefghij",
        ),
        (
            "turned into a link that leads out",
            |stage| {
                fs::remove_file(stage.path("small.txt")).unwrap();
                symlink("/etc/passwd", stage.path("small.txt")).unwrap();
            },
            404,
            "404 Not Found\n",
        ),
    ];
    for (name, change, status, text) in changes {
        let mut stage = Stage::new();
        assert_eq!(stage.get("/small.txt").text(), "0123456789");
        change(&stage);
        stage.pass(FRESH_MS - 1);
        assert_eq!(stage.get("/small.txt").text(), "0123456789", "{name}: as it was");
        stage.pass(1);
        let reply = stage.get("/small.txt");
        assert_eq!((reply.status, reply.text()), (status, text), "{name}");
        assert_eq!(stage.kept("/small.txt"), status == 200, "{name}");
    }
}

#[test]
fn what_grows_beyond_a_small_file_is_no_longer_kept_and_comes_back_when_it_shrinks() {
    let mut stage = Stage::new();
    assert_eq!(stage.get("/small.txt").body.len(), 10);
    stage.write("small.txt", &counted(LARGE));
    stage.pass(FRESH_MS);
    assert_eq!(stage.get("/small.txt").body, counted(LARGE));
    assert!(!stage.kept("/small.txt"));
    stage.write("small.txt", b"short");
    // Nothing is kept, so nothing is old.
    assert_eq!(stage.get("/small.txt").body, b"short");
    assert!(stage.kept("/small.txt"));
}

#[test]
fn a_stamp_that_is_too_young_to_be_trusted_is_not() {
    let mut stage = Stage::new();
    // The file is changed at the very moment that it is read.
    let changed = fs::metadata(stage.path("small.txt")).unwrap();
    let since = Duration::new(changed.ctime() as u64, changed.ctime_nsec() as u32);
    stage.wall = SystemTime::UNIX_EPOCH + since;
    stage.pass(0);
    assert_eq!(stage.get("/small.txt").text(), "0123456789");
    assert!(stage.kept("/small.txt"));
    let kept = stage.site.cache.get(b"/small.txt").unwrap();
    let Lookup::File(_, stamp) = stage.site.root.find(b"/small.txt").unwrap() else {
        panic!("no file");
    };
    assert!(!kept.is(&stamp), "it may change again within the tick of its clock");
    // When it is looked at later, it can be.
    stage.wall += Duration::from_secs(1);
    stage.pass(FRESH_MS);
    stage.get("/small.txt");
    assert!(stage.site.cache.get(b"/small.txt").unwrap().is(&stamp));
}

#[test]
fn one_file_is_kept_once_however_it_is_asked_for() {
    let mut stage = Stage::new();
    for target in
        ["/small.txt", "//small.txt?x", "/%73mall.txt", "http://a/small.txt", "/./small.txt#"]
    {
        assert_eq!(stage.get(target).text(), "0123456789", "{target}");
    }
    assert!(stage.kept("/small.txt"));
    for target in ["//small.txt?x", "/%73mall.txt", "http://a/small.txt", "/./small.txt#"] {
        assert!(!stage.kept(target), "{target}");
    }
}

#[test]
fn a_name_that_looks_like_an_escape_is_not_taken_for_one() {
    let mut stage = Stage::new();
    stage.write("%61", b"per cent");
    stage.write("a", b"letter");
    stage.write("a?b", b"question");
    for _ in 0..2 {
        assert_eq!(stage.get("/%2561").text(), "per cent");
        assert_eq!(stage.get("/%61").text(), "letter");
        assert_eq!(stage.get("/a%3fb").text(), "question");
        assert_eq!(stage.get("/a?b").text(), "letter");
    }
}

#[test]
fn without_a_cache_files_are_served_all_the_same() {
    let mut stage = Stage::new();
    stage.site = Site::open(stage.directory.path(), 0).unwrap();
    for _ in 0..2 {
        assert_eq!(stage.get("/small.txt").text(), "0123456789");
        let reply = stage.get_with("/small.txt", "Range: bytes=0-1, 8-");
        assert_eq!(reply.status, 206);
    }
    assert!(!stage.kept("/small.txt"));
}

#[test]
fn dates_that_http_cannot_format_are_left_out() {
    let mut stage = Stage::new();
    let file = File::options().write(true).open(stage.path("small.txt")).unwrap();
    for modified in [
        UNIX_EPOCH - Duration::from_secs(10),
        stage.wall + Duration::from_secs(10),
        stage.wall + Duration::from_secs(300_000_000_000),
    ] {
        // Not every file system keeps such dates.
        if file.set_modified(modified).is_ok()
            && file.metadata().and_then(|metadata| metadata.modified()).ok() == Some(modified)
        {
            stage.pass(FRESH_MS);
            let reply = stage.get("/small.txt");
            assert_eq!((reply.status, reply.line("Last-Modified")), (200, None), "{modified:?}");
        }
    }
    stage.site.tick(stage.now_ms, UNIX_EPOCH - Duration::from_secs(10));
    assert_eq!(stage.get("/small.txt").line("Date"), Some("Thu, 01 Jan 1970 00:00:00 GMT"));
    stage.site.tick(stage.now_ms, UNIX_EPOCH + Duration::from_secs(300_000_000_000));
    assert_eq!(stage.get("/small.txt").line("Date"), Some("Fri, 31 Dec 9999 23:59:59 GMT"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Each reply is checked for its length where it is taken apart; the secret lies next to the directory.
    #[test]
    fn nothing_outside_is_ever_sent(targets in prop::collection::vec("(/|\\.|\\.\\.|%2[fFeE]|%2e%2e|a|out|up|secret|s){1,8}", 1..20)) {
        let outer = tempfile::tempdir().unwrap();
        let directory = outer.path().join("a");
        fs::create_dir_all(directory.join("a/s")).unwrap();
        fs::write(outer.path().join("secret"), "secret").unwrap();
        fs::write(directory.join("s"), "open").unwrap();
        symlink("../secret", directory.join("out")).unwrap();
        symlink("..", directory.join("up")).unwrap();
        symlink("..", directory.join("a/up")).unwrap();
        let site = Site::open(&directory, CACHE_BYTES).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let mut stage = Stage { directory, site, now_ms: 0, wall: SystemTime::now() };
        stage.pass(0);
        for target in targets {
            let reply = stage.get(&format!("/{target}"));
            prop_assert!(!reply.text().contains("secret"), "{target}");
            prop_assert!(matches!(reply.status, 200 | 301 | 400 | 403 | 404), "{target}: {}", reply.head);
        }
    }
}
