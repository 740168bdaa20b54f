//! Which Chromium the tests drive, and how it is started with its two pipes.

use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The browser speaks on descriptors 3 and 4. The shell makes them of the pipes on 0 and 1.
const ON_THREE_AND_FOUR: &str = r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null"#;

const FLAGS: [&str; 13] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
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

/// Whether the reader of these tests has asked to go without; says so where nobody captures it.
pub fn skipped() -> bool {
    let asked = env::var("KNEE_NO_BROWSER").is_ok_and(|value| value == "1");
    if asked {
        let test = std::thread::current().name().unwrap_or("a browser test").to_owned();
        let said = format!("SKIPPED {test}: KNEE_NO_BROWSER=1 asks for no browser.\n");
        // Straight to the descriptor: what `eprintln!` says is shown only when a test fails.
        let _ = io::stderr().write_all(said.as_bytes());
    }
    asked
}

/// The program: `$CHROMIUM`, else the usual names in the path.
fn program() -> PathBuf {
    if let Some(named) = env::var_os("CHROMIUM") {
        let named = PathBuf::from(named);
        let found = if named.components().count() > 1 {
            named.is_file().then(|| named.clone())
        } else {
            in_path(&named)
        };
        return found.unwrap_or_else(|| {
            panic!(
                "CHROMIUM names {}, which is no program here: mend or unset it. `cargo xtask test` \
                 and `apt-get install chromium` install one.",
                named.display()
            )
        });
    }
    let found = NAMES.iter().find_map(|name| in_path(Path::new(name)));
    found.unwrap_or_else(|| {
        panic!(
            "No Chromium here, so the page can't be checked. Install it by `cargo xtask test` or \
             `apt-get install chromium`, name it in CHROMIUM, or skip by KNEE_NO_BROWSER=1."
        )
    })
}

fn in_path(name: &Path) -> Option<PathBuf> {
    let folders = env::var_os("PATH").unwrap_or_default();
    let usual = [PathBuf::from("/usr/bin"), PathBuf::from("/usr/local/bin")];
    env::split_paths(&folders).chain(usual).map(|folder| folder.join(name)).find(|p| p.is_file())
}

/// Starts it with a fresh profile in `folder`; its own talk goes to `folder/said`.
pub fn start(folder: &Path) -> Child {
    let said = File::create(folder.join("said")).expect("a file for what the browser says");
    Command::new("sh")
        .args(["-c", ON_THREE_AND_FOUR])
        .arg(program())
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg("about:blank")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(said)
        .spawn()
        .expect("a shell to start the browser from")
}
