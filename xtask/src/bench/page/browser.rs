//! A headless browser with one tab, driven by the `DevTools` protocol over two pipes.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Only a hang takes this long.
const DEADLINE: Duration = Duration::from_secs(120);
/// A browser that was asked to close and hasn't is killed after this long.
const CLOSING: Duration = Duration::from_secs(20);

/// The browser speaks on descriptors 3 and 4. The shell makes them of the pipes on 0 and 1.
const ON_THREE_AND_FOUR: &str = r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"#;

const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-extensions",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
];

/// A browser that ends with this value, whatever happens.
pub struct Browser {
    child: Child,
    commands: Option<ChildStdin>,
    messages: Receiver<Value>,
    session: Option<String>,
    last: u64,
}

impl Browser {
    /// Starts `program` with its profile in `directory` and attaches to a tab of its own.
    pub fn start(program: &str, directory: &Path) -> Result<Self> {
        let mut child = Command::new("sh")
            .args(["-c", ON_THREE_AND_FOUR, program])
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", directory.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("can't run {program}"))?;
        let commands = child.stdin.take();
        let messages = listen(child.stdout.take().context("no pipe from the browser")?);
        let mut browser = Self { child, commands, messages, session: None, last: 0 };
        let tab = browser.call("Target.createTarget", &json!({ "url": "about:blank" }))?;
        let attach = json!({ "targetId": tab["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &attach)?;
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime"] {
            browser.call(&format!("{domain}.enable"), &json!({}))?;
        }
        // A tab counts as in use, so that frames come as in front of a reader.
        browser.call("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }))?;
        Ok(browser)
    }

    /// Makes the window so many CSS pixels wide and high, with `ratio` pixels of the screen to each.
    pub fn resize(&mut self, width: u32, height: u32, ratio: u32) -> Result<()> {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": ratio, "mobile": false,
        });
        self.call("Emulation.setDeviceMetricsOverride", &size).map(|_| ())
    }

    /// Opens a file and waits until it has loaded.
    pub fn open(&mut self, file: &Path) -> Result<()> {
        let address = format!("file://{}", file.display());
        let opened = self.call("Page.navigate", &json!({ "url": address }))?;
        if !opened["errorText"].is_null() {
            bail!("{address} did not open: {}", opened["errorText"]);
        }
        while self.next("the page")?["method"] != "Page.loadEventFired" {}
        Ok(())
    }

    /// The value of an expression in the page; a promise is waited for.
    pub fn evaluate(&mut self, expression: &str) -> Result<Value> {
        let asked = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true,
        });
        let mut answer = self.call("Runtime.evaluate", &asked)?;
        let thrown = &answer["exceptionDetails"];
        if !thrown.is_null() {
            bail!("the page's script failed: {}", thrown["exception"]["description"]);
        }
        Ok(answer["result"]["value"].take())
    }

    /// Sends a command and waits for its answer; events that come in between are dropped.
    fn call(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        self.last += 1;
        let mut command = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let pipe = self.commands.as_mut().context("the browser is closed")?;
        pipe.write_all(format!("{command}\0").as_bytes())
            .and_then(|()| pipe.flush())
            .context("the browser is gone")?;
        loop {
            let mut message = self.next(method)?;
            if message["id"] == self.last {
                if !message["error"].is_null() {
                    bail!("{method}: {}", message["error"]);
                }
                return Ok(message["result"].take());
            }
        }
    }

    fn next(&self, what: &str) -> Result<Value> {
        match self.messages.recv_timeout(DEADLINE) {
            Ok(message) => Ok(message),
            Err(RecvTimeoutError::Timeout) => {
                bail!("the browser gave no answer to {what} within {} s", DEADLINE.as_secs())
            }
            Err(RecvTimeoutError::Disconnected) => bail!("the browser ended during {what}"),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A closed pipe ends it, and the end of its talk says that it has ended.
        self.commands = None;
        let closed = loop {
            match self.messages.recv_timeout(CLOSING) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => break true,
                Err(RecvTimeoutError::Timeout) => break false,
            }
        };
        if !closed {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// Reads messages on a thread of their own, so that waiting for one can have an end.
fn listen(pipe: ChildStdout) -> Receiver<Value> {
    let (sender, messages) = mpsc::channel();
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut text = Vec::new();
        while pipe.read_until(0, &mut text).is_ok_and(|length| length > 0) {
            text.pop_if(|last| *last == 0);
            let Ok(message) = serde_json::from_slice(&text) else { return };
            text.clear();
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    messages
}
