//! Nothing outside of the directory ever leaves it: not by a link, an encoding, an odd file, or a file that
//! turns into a link while it is asked for.

mod common;

use common::http::{Client, Httpd};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const SECRET: &str = "this must never be sent";
const MECHANISMS: [&str; 3] = ["epoll-level", "epoll-edge", "io_uring-completion"];

/// `inside`, which is served, next to `outside`, which has the secret in two files.
fn directories(base: &Path) -> std::path::PathBuf {
    let (inside, outside) = (base.join("inside"), base.join("outside"));
    for directory in [&inside, &outside, &inside.join("sub"), &outside.join("deep")] {
        std::fs::create_dir(directory).unwrap();
    }
    for file in [outside.join("secret.txt"), outside.join("deep/index.html")] {
        std::fs::write(file, SECRET).unwrap();
    }
    std::fs::write(inside.join("fine.txt"), "fine").unwrap();
    std::fs::write(inside.join("sub/index.html"), "fine").unwrap();
    inside
}

/// What comes back for a target, whatever it is, asked for on a connection of its own.
fn answer(server: &Httpd, target: &[u8]) -> String {
    let mut client = server.connect();
    let request = [b"GET ", target, b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"].concat();
    // What is refused early is not always taken to its end.
    let _ = client.send(&request);
    String::from_utf8_lossy(&client.rest().unwrap()).into_owned()
}

/// Asserts that a target is refused, and the secret not sent.
fn assert_refused(server: &Httpd, target: &[u8]) {
    let message = answer(server, target);
    let shown = String::from_utf8_lossy(&target[..target.len().min(120)]).into_owned();
    assert!(!message.contains(SECRET), "{shown}: {message}");
    assert!(!message.contains("root:"), "{shown}: {message}");
    assert!(message.starts_with("HTTP/1.1 4"), "{shown}: {message}");
}

fn with_each(directory: &Path, check: impl Fn(&Httpd)) {
    for mechanism in MECHANISMS {
        let mut server = Httpd::start(directory, &["--mechanism", mechanism]);
        check(&server);
        assert!(answer(&server, b"/fine.txt").ends_with("\r\n\r\nfine"), "{mechanism}");
        assert!(server.is_running(), "{mechanism}");
    }
}

#[test]
fn no_link_leads_out() {
    let base = tempfile::tempdir().unwrap();
    let inside = directories(base.path());
    let outside = base.path().join("outside");
    let links: &[(&Path, &str)] = &[
        (&outside.join("secret.txt"), "absolute"),
        (Path::new("../outside/secret.txt"), "relative"),
        (&outside, "directory"),
        (Path::new(".."), "up"),
        (Path::new("/"), "root"),
        (Path::new("absolute"), "twice"),
        (Path::new("loop-b"), "loop-a"),
        (Path::new("loop-a"), "loop-b"),
        (Path::new("self"), "self"),
        (Path::new("nowhere"), "dangling"),
        (Path::new("/proc/self/root/etc/passwd"), "magic"),
        (Path::new("/dev/stdin"), "stdin"),
    ];
    for (to, name) in links {
        symlink(to, inside.join(name)).unwrap();
    }
    symlink("fine.txt", inside.join("within")).unwrap();
    symlink("../fine.txt", inside.join("sub/within")).unwrap();
    with_each(&inside, |server| {
        for name in ["within", "sub/within"] {
            assert!(answer(server, format!("/{name}").as_bytes()).ends_with("\r\n\r\nfine"));
        }
        for name in [
            "absolute",
            "relative",
            "directory/secret.txt",
            "directory/deep/",
            "directory/deep/index.html",
            "up/outside/secret.txt",
            "root/etc/passwd",
            "twice",
            "loop-a",
            "loop-a/x",
            "self",
            "self/self",
            "dangling",
            "magic",
            "stdin",
            "sub/../directory/secret.txt",
        ] {
            assert_refused(server, format!("/{name}").as_bytes());
        }
    });
}

/// Every way to write `../`, from the root and from below it, as deep as it takes.
#[test]
fn no_spelling_of_dots_leads_out() {
    let base = tempfile::tempdir().unwrap();
    let inside = directories(base.path());
    let ups = [
        "../",
        "..%2f",
        "..%2F",
        "%2e%2e/",
        "%2E%2E%2F",
        ".%2e/",
        "%2e./",
        "..%5c",
        "..\\",
        "%252e%252e/",
        "%252e%252e%252f",
        "%c0%ae%c0%ae/",
        "%c0%ae%c0%ae%c0%af",
        "..%c0%af",
        "%e0%80%ae%e0%80%ae/",
        "..;/",
        "..%00/",
        "....//",
        ".%00./",
        "%uff0e%uff0e/",
        "..%01/",
        "./../",
        "..//",
        "/../",
        "sub/../../",
        "sub/%2e%2e/%2e%2e/",
    ];
    with_each(&inside, |server| {
        for up in ups {
            for depth in [1, 2, 12] {
                for below in ["/", "/sub/", "/./", "//"] {
                    for goal in ["outside/secret.txt", "etc/passwd"] {
                        let target = format!("{below}{}{goal}", up.repeat(depth));
                        assert_refused(server, target.as_bytes());
                    }
                }
            }
        }
    });
}

#[test]
fn odd_targets_are_refused() {
    let base = tempfile::tempdir().unwrap();
    let inside = directories(base.path());
    let secret = base.path().join("outside/secret.txt");
    let secret = secret.to_str().unwrap();
    let mut targets: Vec<Vec<u8>> = vec![
        format!("/{secret}").into(),
        format!("/{}", secret.replace('/', "%2f")).into(),
        format!("file://{secret}").into(),
        format!("http://x/..{secret}").into(),
        format!("http://x{secret}").into(),
        b"/fine.txt%00".to_vec(),
        b"/fine.txt\0".to_vec(),
        b"/%".to_vec(),
        b"/%0".to_vec(),
        b"/\xff\xfe".to_vec(),
        b"/%ff%fe".to_vec(),
        b"".to_vec(),
        b"\\etc\\passwd".to_vec(),
        format!("/{}", "a".repeat(300)).into(),
        format!("/{}", "a/".repeat(3_000)).into(),
        format!("/{}", "a".repeat(100_000)).into(),
        format!("/{}", "%61".repeat(2_000)).into(),
        format!("/{}", "../".repeat(2_500)).into(),
    ];
    // Every byte, where a name begins.
    targets.extend((0..=255_u8).map(|byte| [b"/", &[byte][..], b"missing"].concat()));
    targets.extend((0..=255_u8).map(|byte| format!("/%{byte:02x}missing").into_bytes()));
    with_each(&inside, |server| {
        for target in &targets {
            assert_refused(server, target);
        }
    });
}

/// What is no plain file is refused at once: a FIFO without a writer would hold its reader for ever.
#[test]
fn only_plain_files_are_served() {
    let base = tempfile::tempdir().unwrap();
    let inside = directories(base.path());
    let made = Command::new("mkfifo").arg(inside.join("fifo")).status().unwrap();
    assert!(made.success());
    let _socket = UnixListener::bind(inside.join("socket")).unwrap();
    let root = rustix::process::geteuid().is_root();
    let mut names = vec!["fifo", "socket"];
    if root {
        let made = Command::new("mknod").arg(inside.join("device")).args(["c", "1", "5"]).output();
        if made.is_ok_and(|made| made.status.success()) {
            names.push("device");
        }
    } else {
        eprintln!("SKIPPED in part: only root makes a device");
    }
    with_each(&inside, |server| {
        for name in &names {
            assert_refused(server, format!("/{name}").as_bytes());
        }
    });
}

#[test]
fn what_may_not_be_read_is_refused() {
    let base = tempfile::tempdir().unwrap();
    let inside = directories(base.path());
    let file = inside.join("private.txt");
    std::fs::write(&file, SECRET).unwrap();
    let allow = |bits| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(bits)).unwrap();
    };
    let mut unprivileged = if rustix::process::geteuid().is_root() {
        use std::os::unix::fs::PermissionsExt as _;
        // The server has to come by its program and the directory, but not to be root.
        for directory in [base.path(), &inside] {
            std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let readable = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "test", "-x"])
            .arg(env!("CARGO_BIN_EXE_knee"))
            .status();
        if !readable.is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED: nobody but root may start the program here");
            return;
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(env!("CARGO_BIN_EXE_knee"));
        command
    } else {
        Command::new(env!("CARGO_BIN_EXE_knee"))
    };
    allow(0o000);
    let server = Httpd::start_by(&mut unprivileged, &inside, &[]);
    assert_refused(&server, b"/private.txt");
    assert!(answer(&server, b"/fine.txt").ends_with("\r\n\r\nfine"));
    allow(0o644);
    assert!(answer(&server, b"/private.txt").ends_with(SECRET), "what may be read is served");
}

/// How far a race is.
#[derive(Default)]
struct Race {
    asked: AtomicUsize,
    over: AtomicBool,
}

impl Race {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Lets so many requests pass.
    fn let_pass(&self, count: usize) {
        let until = self.asked.load(Ordering::Relaxed) + count;
        while self.asked.load(Ordering::Relaxed) < until && !self.is_over() {
            std::thread::yield_now();
        }
    }
}

/// Ends a race, also where a test fails.
struct Over<'a>(&'a Race);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Relaxed);
    }
}

/// Puts a file, or a directory with it, and a link in one place, in turn, until the race is over: now as
/// fast as can be, now so that a few requests find the one or the other.
fn swap(path: &Path, own: &Path, link_to: &Path, directory: bool, race: &Race) {
    let (mine, link) = (own.join("mine"), own.join("link"));
    let mut turn = 0;
    while !race.is_over() {
        turn += 1;
        if directory {
            std::fs::create_dir(&mine).unwrap();
            std::fs::write(mine.join("secret.txt"), "fine").unwrap();
        } else {
            std::fs::write(&mine, "fine").unwrap();
        }
        symlink(link_to, &link).unwrap();
        std::fs::rename(&mine, path).unwrap();
        race.let_pass(turn % 3);
        if directory {
            // A link can't take the place of a directory at once.
            std::fs::rename(path, &mine).unwrap();
        }
        std::fs::rename(&link, path).unwrap();
        race.let_pass(turn % 2);
        if directory {
            std::fs::remove_dir_all(&mine).unwrap();
            std::fs::remove_file(path).unwrap();
        }
    }
}

/// Asks for a file thousands of times while it, or its directory, is now its own and now a link outside.
#[test]
fn a_race_for_a_link_is_lost() {
    const TIMES: usize = 4_000;
    let base = tempfile::tempdir().unwrap();
    let inside = directories(base.path());
    let outside = base.path().join("outside");
    for (name, directory, link_to) in
        [("now.txt", false, outside.join("secret.txt")), ("now", true, outside.clone())]
    {
        let path = inside.join(name);
        let target = if directory { format!("/{name}/secret.txt") } else { format!("/{name}") };
        for mechanism in MECHANISMS {
            let server = Httpd::start(&inside, &["--mechanism", mechanism]);
            let own = tempfile::tempdir_in(base.path()).unwrap();
            let race = Race::default();
            let fine = std::thread::scope(|scope| {
                scope.spawn(|| swap(&path, own.path(), &link_to, directory, &race));
                let _over = Over(&race);
                asked(&server, &target, TIMES, &race)
            });
            assert!(fine > 0, "{target} over {mechanism} was never the file: no race took place");
        }
    }
}

/// How many of so many requests found the file itself.
fn asked(server: &Httpd, target: &str, times: usize, race: &Race) -> usize {
    let mut client: Option<Client> = None;
    let mut fine = 0;
    for _ in 0..times {
        let mut connection = client.take().unwrap_or_else(|| server.connect());
        let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
        let reply = connection.ask(request.as_bytes()).unwrap();
        race.asked.fetch_add(1, Ordering::Relaxed);
        let body = String::from_utf8_lossy(&reply.body).into_owned();
        assert!(!body.contains(SECRET), "{target}: {body}");
        match reply.status {
            200 => {
                assert_eq!(body, "fine");
                fine += 1;
            }
            403 | 404 => {}
            status => panic!("{target}: {status}"),
        }
        client = (!reply.closes()).then_some(connection);
    }
    fine
}
