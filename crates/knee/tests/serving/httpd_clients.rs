//! The programs that people use get right answers from `knee httpd`, over several mechanisms.

use crate::common::http::Httpd;
use crate::common::{Came, came};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const MECHANISMS: [&str; 5] =
    ["epoll-level", "epoll-edge", "poll", "io_uring-oneshot", "io_uring-completion"];
/// The size that servers are compared with.
const SMALL: usize = 128;
const LARGE: usize = 3_000_000;

fn letter(at: usize) -> u8 {
    b"abcdefghijklmnopqrstuvwxyz0123456789\n"[at * 31 / 7 % 37]
}

/// A directory with a small and a large file of 29 February 2024.
fn site() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in [("small.txt", SMALL), ("large.txt", LARGE)] {
        let file = directory.path().join(name);
        std::fs::write(&file, (0..bytes).map(letter).collect::<Vec<u8>>()).unwrap();
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_709_208_000);
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
    }
    directory
}

/// The program; without it the test is skipped by name.
fn installed(name: &str) -> Option<Command> {
    fixtures::needed_program(name).map(Command::new)
}

/// Runs `ask` against a server of each mechanism, all at the same time: clients take their time.
fn with_each(ask: impl Fn(Httpd, &Path) + Sync) {
    let directory = site();
    std::thread::scope(|scope| {
        for mechanism in MECHANISMS {
            let (ask, directory) = (&ask, directory.path());
            scope.spawn(move || {
                let server = Httpd::start(directory, &["--mechanism", mechanism]);
                assert_eq!(server.mechanism, mechanism);
                ask(server, directory);
            });
        }
    });
}

fn curl(words: &[&str]) -> Came {
    let came = came(Command::new("curl").args(["--silent", "--show-error"]).args(words));
    assert_eq!(came.code, Some(0), "curl {words:?}: {came:?}");
    came
}

#[test]
fn curl_gets_what_there_is_over_one_connection() {
    if installed("curl").is_none() {
        return;
    }
    with_each(|server, directory| {
        let address = |name: &str| format!("http://{}/{name}", server.address);
        let (small, large) = (address("small.txt"), address("large.txt"));
        let both = curl(&["--verbose", &small, &large]);
        let wanted =
            ["small.txt", "large.txt"].map(|name| std::fs::read(directory.join(name)).unwrap());
        assert!(both.out.as_bytes() == wanted.concat(), "{}", both.err);
        assert!(both.err.to_lowercase().contains("re-using existing"), "{}", both.err);
        let head = curl(&["--head", &large]);
        assert!(head.out.contains(&format!("ength: {LARGE}\r\n")), "{head:?}");
        assert!(head.out.starts_with("HTTP/1.1 200 "), "{head:?}");
    });
}

#[test]
fn curl_asks_for_ranges_goes_on_and_knows_what_it_has() {
    if installed("curl").is_none() {
        return;
    }
    with_each(|server, directory| {
        let large = format!("http://{}/large.txt", server.address);
        let whole = std::fs::read(directory.join("large.txt")).unwrap();
        for (range, wanted) in [
            ("0-9", &whole[..10]),
            ("100000-200000", &whole[100_000..=200_000]),
            ("-5", &whole[LARGE - 5..]),
        ] {
            let part = curl(&["--range", range, &large]);
            assert!(part.out.as_bytes() == wanted, "{range}");
        }
        let several = curl(&["--range", "0-4,10-14", &large]).out;
        assert!(several.contains("Content-Range: bytes 10-14/3000000"), "{several}");
        let own = tempfile::tempdir().unwrap();
        let begun = own.path().join("begun");
        std::fs::write(&begun, &whole[..1_234_567]).unwrap();
        curl(&["--continue-at", "-", "--output", begun.to_str().unwrap(), &large]);
        assert!(std::fs::read(&begun).unwrap() == whole, "what was begun was not gone on with");
        let status = |since: &str| {
            curl(&["--time-cond", since, "--write-out", "\n%{http_code}", &large]).out
        };
        assert_eq!(status("29 Feb 2024 12:00:00 GMT").trim(), "304");
        assert!(status("28 Feb 2024 12:00:00 GMT").ends_with("\n200"));
    });
}

#[test]
fn curl_comes_by_ipv6_and_by_ipv4_to_one_server() {
    if installed("curl").is_none() {
        return;
    }
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        eprintln!("SKIPPED: there is no IPv6 on the loopback here");
        return;
    }
    let directory = site();
    let server = Httpd::start(directory.path(), &["--bind", "::"]);
    let port = server.address.port();
    let wanted = std::fs::read_to_string(directory.path().join("small.txt")).unwrap();
    for host in ["[::1]", "127.0.0.1"] {
        let got = curl(&["--globoff", &format!("http://{host}:{port}/small.txt")]);
        assert_eq!(got.out, wanted, "{host}");
    }
}

/// The number behind the word that begins a line.
fn number_after(text: &str, words: &str) -> u64 {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(words));
    let digits = line.unwrap_or_else(|| panic!("no {words:?}: {text}")).trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().unwrap_or_else(|_| panic!("{words:?} has no number: {text}"))
}

#[test]
fn wrk_meets_no_error() {
    if installed("wrk").is_none() {
        return;
    }
    with_each(|server, _| {
        let mechanism = server.mechanism.clone();
        let address = format!("http://{}/small.txt", server.address);
        let came =
            came(Command::new("wrk").args(["-t", "1", "-c", "50", "-d", "1s"]).arg(&address));
        assert_eq!(came.code, Some(0), "{came:?}");
        assert!(!came.out.contains("Socket errors"), "{mechanism}: {}", came.out);
        assert!(!came.out.contains("Non-2xx"), "{mechanism}: {}", came.out);
        let served = came.out.lines().find(|line| line.contains(" requests in ")).unwrap();
        let served: u64 = served.split_whitespace().next().unwrap().parse().unwrap();
        assert!(served > 0, "{}", came.out);
        // What was under way at its end is the server's, not wrk's.
        let counted = server.end()["replies"].as_u64().unwrap();
        assert!((served..=served + 50).contains(&counted), "{mechanism}: {served}, {counted}");
    });
}

#[test]
fn ab_meets_no_failure_with_and_without_keep_alive() {
    if installed("ab").is_none() {
        return;
    }
    with_each(|server, _| {
        let address = format!("http://{}/small.txt", server.address);
        for kept in [true, false] {
            let mut command = Command::new("ab");
            command.args(["-q", "-n", "2000", "-c", "20"]).args(kept.then_some("-k"));
            let came = came(command.arg(&address));
            assert_eq!(came.code, Some(0), "{came:?}");
            assert_eq!(number_after(&came.out, "Complete requests:"), 2_000, "{}", came.out);
            assert_eq!(number_after(&came.out, "Failed requests:"), 0, "{}", came.out);
            assert_eq!(number_after(&came.out, "Document Length:"), SMALL as u64);
            assert!(!came.out.contains("Non-2xx"), "{}", came.out);
            if kept {
                assert_eq!(number_after(&came.out, "Keep-Alive requests:"), 2_000, "{}", came.out);
            }
        }
    });
}

#[test]
fn httperf_gets_every_reply() {
    if installed("httperf").is_none() {
        return;
    }
    with_each(|server, _| {
        let port = server.address.port().to_string();
        let mut command = Command::new("httperf");
        command.args(["--hog", "--server", "127.0.0.1", "--port", &port, "--uri", "/small.txt"]);
        command.args(["--num-conns", "50", "--num-calls", "20", "--rate", "200"]);
        let came = came(&mut command);
        assert_eq!(came.code, Some(0), "{came:?}");
        assert!(came.out.contains("requests 1000 replies 1000"), "{}", came.out);
        assert!(came.out.contains("Errors: total 0"), "{}", came.out);
        assert!(came.out.contains("2xx=1000"), "{}", came.out);
    });
}

/// Two programs of ours that share no line of HTTP agree on what was sent.
#[test]
fn knee_load_counts_what_the_server_counts() {
    with_each(|server, _| {
        let mechanism = server.mechanism.clone();
        let knee = crate::common::Knee::new();
        let address = format!("http://{}/small.txt", server.address);
        let words = ["load", &address, "--requests", "5000", "--connections", "50", "--json"];
        let came = knee.run(&words);
        assert_eq!(came.code, Some(0), "{mechanism}: {came:?}");
        let message: serde_json::Value = serde_json::from_str(&came.out).unwrap();
        assert_eq!((&message["requests"], &message["replies"]), (&5_000.into(), &5_000.into()));
        let errors = message["errors"].as_object().unwrap();
        assert!(errors.values().all(|count| count == 0), "{mechanism}: {errors:?}");
        let counts = server.end();
        assert_eq!(counts["replies"], 5_000, "{mechanism}: {counts}");
        assert_eq!(counts["bytes"], message["bytes"], "{mechanism}: {counts}");
    });
}

/// Its script writes what it found into the page, and asks for a range of a file.
const PAGE: &str = r#"<!doctype html><meta charset="utf-8"><title>Page</title>
<link rel="stylesheet" href="style.css">
<body><p id="styled">Text</p><img id="picture" src="picture.svg" alt="">
<script src="code.js"></script>
<script>
addEventListener("load", () => {
  const ranged = new XMLHttpRequest();
  ranged.open("GET", "small.txt", false);
  ranged.setRequestHeader("Range", "bytes=3-7");
  ranged.send();
  const results = [
    getComputedStyle(document.getElementById("styled")).color,
    document.getElementById("picture").naturalWidth,
    window.fromCode,
    ranged.status,
    ranged.getResponseHeader("Content-Range"),
    ranged.responseText.trim(),
  ];
  document.body.dataset.results = results.join("|");
});
</script></body>"#;

const BROWSERS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The browser, unless the reader asked to go without.
fn browser() -> Option<std::path::PathBuf> {
    if std::env::var("KNEE_NO_BROWSER").is_ok_and(|value| value == "1") {
        eprintln!("SKIPPED: KNEE_NO_BROWSER=1 asks for no browser");
        return None;
    }
    let named = std::env::var("CHROMIUM").ok();
    let installed = named.as_deref().into_iter().chain(BROWSERS).find_map(fixtures::program);
    if installed.is_none() {
        eprintln!("SKIPPED: no Chromium is installed; `cargo xtask setup` does that");
    }
    installed
}

#[test]
fn a_browser_shows_a_page_with_all_that_belongs_to_it() {
    let Some(browser) = browser() else { return };
    let directory = site();
    let picture = "<svg xmlns='http://www.w3.org/2000/svg' width='37' height='11'/>";
    for (name, content) in [
        ("index.html", PAGE),
        ("style.css", "#styled { color: rgb(1, 2, 3) }"),
        ("picture.svg", picture),
        ("code.js", "window.fromCode = 'code';"),
    ] {
        std::fs::write(directory.path().join(name), content).unwrap();
    }
    let bytes = std::fs::read_to_string(directory.path().join("small.txt")).unwrap();
    let wanted = format!("rgb(1, 2, 3)|37|code|206|bytes 3-7/128|{}", bytes[3..8].trim());
    for mechanism in ["epoll-edge", "io_uring-completion"] {
        let server = Httpd::start(directory.path(), &["--mechanism", mechanism]);
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new(&browser);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]);
        command.args(["--disable-dev-shm-usage", "--no-first-run", "--disable-sync"]);
        command.args(["--disable-background-networking", "--disable-component-update"]);
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("--dump-dom");
        let came = came(command.arg(format!("http://{}/", server.address)));
        assert_eq!(came.code, Some(0), "{came:?}");
        let message =
            came.out.split("data-results=\"").nth(1).and_then(|rest| rest.split('"').next());
        assert_eq!(message, Some(wanted.as_str()), "{mechanism}: {}", came.out);
    }
}
