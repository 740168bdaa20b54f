//! Which Chromium the tests drive, and how it is started with its two pipes.

use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The browser speaks on descriptors 3 and 4. The shell makes them of the pipes on 0 and 1, and
/// becomes the browser, so that who kills its process kills that. On 5 the browser holds a pipe, which
/// closes however it ends; its directory goes then, also when the tests are long gone. What the browser
/// had started ends a little later, and may put a file into a directory that is on its way out.
const START: &str = r#"
mkfifo "$0/ended" || exit
(cat "$0/ended"; rm -rf "$0" || rm -rf "$0" || rm -rf "$0") </dev/null >/dev/null 2>&1 &
exec "$@" 3<&0 4>&1 5>"$0/ended" 0</dev/null 1>/dev/null
"#;

const FLAGS: [&str; 16] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    // Fewer processes to start: none of the graphics, no renderer in reserve, none to mind crashes.
    "--in-process-gpu",
    "--disable-features=SpareRendererForSitePerProcess",
    "--disable-breakpad",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
];

/// Whether the reader of these tests has asked to go without.
pub fn skipped() -> bool {
    let asked = env::var("KNEE_NO_BROWSER").is_ok_and(|value| value == "1");
    if asked {
        eprintln!("SKIPPED: KNEE_NO_BROWSER=1 asks for no browser");
    }
    asked
}

/// The program: `$CHROMIUM`, else the usual names in the path.
fn program() -> PathBuf {
    if let Some(named) = env::var_os("CHROMIUM") {
        let named = PathBuf::from(named);
        let program = if named.components().count() > 1 {
            named.is_file().then(|| named.clone())
        } else {
            in_path(&named)
        };
        return program.unwrap_or_else(|| {
            panic!(
                "CHROMIUM names {}, which is no program here: fix or unset it. `cargo xtask test` \
                 and `apt-get install chromium` install one.",
                named.display()
            )
        });
    }
    let program = NAMES.iter().find_map(|name| in_path(Path::new(name)));
    program.unwrap_or_else(|| {
        panic!(
            "No Chromium here, so the page can't be checked. Install it by `cargo xtask test` or \
             `apt-get install chromium`, name it in CHROMIUM, or skip by KNEE_NO_BROWSER=1."
        )
    })
}

fn in_path(name: &Path) -> Option<PathBuf> {
    let directories = env::var_os("PATH").unwrap_or_default();
    let usual = [PathBuf::from("/usr/bin"), PathBuf::from("/usr/local/bin")];
    env::split_paths(&directories)
        .chain(usual)
        .map(|directory| directory.join(name))
        .find(|p| p.is_file())
}

/// Starts it with a fresh profile in `directory`, which is removed when it has ended; its own talk goes
/// to `directory/message`.
pub fn start(directory: &Path) -> Child {
    let message = File::create(directory.join("output")).expect("a file for the browser's output");
    Command::new("sh")
        .args(["-c", START])
        .arg(directory)
        .arg(program())
        .args(FLAGS)
        // What it makes in passing goes with the directory too.
        .env("TMPDIR", directory)
        .arg(format!("--user-data-dir={}", directory.join("profile").display()))
        .arg("about:blank")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(message)
        .spawn()
        .expect("a shell to start the browser from")
}
