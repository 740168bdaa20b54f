//! One browser with one tab, driven by the `DevTools` protocol: JSON texts with a NUL after each.

use crate::program;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Generous: a busy machine may take long, and only a hang takes this long.
const DEADLINE: Duration = Duration::from_secs(120);
/// A browser that was asked to close and hasn't is killed after this long.
const CLOSING: Duration = Duration::from_secs(20);

/// A browser that ends with this value, also when a test fails.
pub struct Browser {
    child: Child,
    commands: Option<ChildStdin>,
    messages: Receiver<Value>,
    session: Option<String>,
    last: u64,
    /// Names of events that came while something else was waited for.
    events: Vec<String>,
    /// The one address that may be asked for.
    allowed: String,
    complaints: Vec<String>,
    folder: TempDir,
}

impl Browser {
    /// Starts it and attaches to a tab of its own.
    pub fn start() -> Self {
        let folder = TempDir::new().expect("a folder for the browser's profile");
        let mut child = program::start(folder.path());
        let commands = child.stdin.take();
        let messages = listen(child.stdout.take().expect("a pipe from the browser"));
        let mut browser = Self {
            child,
            commands,
            messages,
            session: None,
            last: 0,
            events: Vec::new(),
            allowed: String::new(),
            complaints: Vec::new(),
            folder,
        };
        let tab = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": tab["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &attach);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network", "Inspector"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        // A tab counts as in use, so that frames and focus are as in front of a reader.
        browser.call("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }));
        browser
    }

    /// Opens a file and waits until it has loaded.
    pub fn open(&mut self, file: &Path) {
        self.allowed = format!("file://{}", file.display());
        self.events.clear();
        let opened = self.call("Page.navigate", &json!({ "url": self.allowed }));
        assert!(opened["errorText"].is_null(), "{} did not open: {opened}", self.allowed);
        self.wait_for("Page.loadEventFired");
    }

    /// Loads the page again.
    pub fn reload(&mut self) {
        self.events.clear();
        self.call("Page.reload", &json!({}));
        self.wait_for("Page.loadEventFired");
    }

    /// Makes the window so many CSS pixels wide and high.
    pub fn resize(&mut self, width: u32, height: u32) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Errors, warnings and requests so far.
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// The value of an expression in the page; promises are waited for.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true,
        });
        let mut answer = self.call("Runtime.evaluate", &asked);
        let thrown = &answer["exceptionDetails"];
        assert!(thrown.is_null(), "{expression} threw {}", described(thrown));
        answer["result"]["value"].take()
    }

    /// Waits until an expression is true, looking again at every frame.
    pub fn until(&mut self, condition: &str) {
        self.evaluate(&format!(
            "new Promise((done) => {{ const look = () => (({condition}) ? done(true) \
             : requestAnimationFrame(look)); look(); }})"
        ));
    }

    /// Sends a command and waits for its answer; what comes in between is noted.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut command = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        self.send(&command);
        let until = Instant::now() + DEADLINE;
        loop {
            let mut message = self.next(until, method);
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            self.note(&message);
        }
    }

    fn send(&mut self, command: &Value) {
        let pipe = self.commands.as_mut().expect("a pipe to the browser");
        let sent = pipe.write_all(format!("{command}\0").as_bytes()).and_then(|()| pipe.flush());
        if let Err(why) = sent {
            panic!("the browser is gone ({why}); it said:\n{}", self.said());
        }
    }

    fn wait_for(&mut self, event: &str) {
        let until = Instant::now() + DEADLINE;
        while !self.events.iter().any(|known| known == event) {
            let message = self.next(until, event);
            self.note(&message);
        }
        self.events.retain(|known| known != event);
    }

    fn next(&self, until: Instant, what: &str) -> Value {
        let left = until.saturating_duration_since(Instant::now());
        match self.messages.recv_timeout(left) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => panic!("no answer to {what} within {DEADLINE:?}"),
            Err(RecvTimeoutError::Disconnected) => {
                panic!("the browser ended while {what} was waited for; it said:\n{}", self.said())
            }
        }
    }

    fn note(&mut self, message: &Value) {
        let Some(event) = message["method"].as_str() else { return };
        self.complaints.extend(complaint(event, &message["params"], &self.allowed));
        self.events.push(event.to_owned());
    }

    fn said(&self) -> String {
        fs::read_to_string(self.folder.path().join("said")).unwrap_or_default()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(pipe) = self.commands.as_mut() {
            let close = json!({ "id": self.last + 1, "method": "Browser.close" });
            let _ = pipe.write_all(format!("{close}\0").as_bytes());
        }
        // A closed pipe alone ends it too.
        self.commands = None;
        let until = Instant::now() + CLOSING;
        let left = || until.saturating_duration_since(Instant::now());
        let closed = loop {
            match self.messages.recv_timeout(left()) {
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

/// What an event says against the page, if it does.
fn complaint(event: &str, about: &Value, allowed: &str) -> Option<String> {
    match event {
        "Runtime.exceptionThrown" => {
            Some(format!("error: {}", described(&about["exceptionDetails"])))
        }
        "Runtime.consoleAPICalled" => {
            let kind = about["type"].as_str().unwrap_or_default();
            ["error", "warning", "assert"]
                .contains(&kind)
                .then(|| format!("console {kind}: {}", about["args"]))
        }
        "Log.entryAdded" => {
            let level = about["entry"]["level"].as_str().unwrap_or_default();
            ["error", "warning"]
                .contains(&level)
                .then(|| format!("log {level}: {}", about["entry"]["text"]))
        }
        "Network.requestWillBeSent" => {
            let address = about["request"]["url"].as_str().unwrap_or_default();
            let own = address == allowed || address.starts_with("data:");
            (!own).then(|| format!("request: {address}"))
        }
        "Inspector.targetCrashed" => Some("the tab crashed".to_owned()),
        _ => None,
    }
}

fn described(thrown: &Value) -> String {
    let exception = thrown["exception"]["description"].as_str();
    exception.or(thrown["text"].as_str()).unwrap_or("something").to_owned()
}
