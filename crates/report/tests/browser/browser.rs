//! One browser with one tab at a time, driven by the `DevTools` protocol: JSON texts with a NUL
//! after each.

use crate::program;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::mem;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Generous: a busy machine may take long, and only a hang takes this long.
const DEADLINE: Duration = Duration::from_secs(120);
/// A browser that was asked to close and hasn't is killed after this long.
const CLOSING: Duration = Duration::from_secs(20);

/// Browsers that wait for the next test. They end with the test program, since their pipes close.
static IDLE: Mutex<Vec<Browser>> = Mutex::new(Vec::new());

/// A browser that ends with this value, also when a test fails.
pub struct Browser {
    child: Child,
    commands: Option<ChildStdin>,
    messages: Receiver<Value>,
    last: u64,
    tab: Tab,
    /// What it says, also after its directory is gone.
    output: File,
}

/// A tab, and what is known of it.
#[derive(Default)]
struct Tab {
    session: Option<String>,
    /// What the tab shares with no other: storage, cookies, cache.
    context: Value,
    /// Names of events that came while something else was waited for.
    events: Vec<String>,
    /// The one address that may be asked for.
    allowed: String,
    complaints: Vec<String>,
}

impl Browser {
    /// Takes a browser that another test has left, or starts one, and opens a tab in it that knows
    /// of no tab before it.
    pub fn take() -> Self {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut browser = idle.unwrap_or_else(Self::start);
        browser.open_tab();
        browser
    }

    /// Closes the tab and leaves the browser to the next test. A test that fails doesn't come here:
    /// its browser, of which nothing is known then, ends with it.
    pub fn give_back(mut self) {
        self.close_tab();
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(self);
    }

    fn start() -> Self {
        let directory = TempDir::new().expect("a directory for the browser's profile");
        let mut child = program::start(directory.path());
        let output = File::open(directory.path().join("output")).expect("the browser's output");
        // It goes when the browser has ended, which may be after this program.
        let _ = directory.keep();
        let commands = child.stdin.take();
        let messages = listen(child.stdout.take().expect("a pipe from the browser"));
        Self { child, commands, messages, last: 0, tab: Tab::default(), output }
    }

    fn open_tab(&mut self) {
        let context = self.call("Target.createBrowserContext", &json!({}));
        let context = &context["browserContextId"];
        let wanted = json!({ "url": "about:blank", "browserContextId": context });
        let tab = self.call("Target.createTarget", &wanted);
        let attach = json!({ "targetId": tab["targetId"], "flatten": true });
        let attached = self.call("Target.attachToTarget", &attach);
        let session = attached["sessionId"].as_str().map(str::to_owned);
        self.tab = Tab { session, context: context.clone(), ..Tab::default() };
        for domain in ["Page", "Runtime", "Log", "Network", "Inspector"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
        // A tab counts as in use, so that frames and focus are as in front of a reader.
        self.call("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }));
    }

    fn close_tab(&mut self) {
        let tab = mem::take(&mut self.tab);
        let context = json!({ "browserContextId": tab.context });
        self.call("Target.disposeBrowserContext", &context);
    }

    /// Opens a file and waits until it has loaded.
    pub fn open(&mut self, file: &Path) {
        self.tab.allowed = format!("file://{}", file.display());
        self.tab.events.clear();
        let opened = self.call("Page.navigate", &json!({ "url": self.tab.allowed }));
        assert!(opened["errorText"].is_null(), "{} did not open: {opened}", self.tab.allowed);
        self.wait_for("Page.loadEventFired");
    }

    /// Loads the page again.
    pub fn reload(&mut self) {
        self.tab.events.clear();
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
        &self.tab.complaints
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
    pub fn until(&mut self, parameter: &str) {
        self.evaluate(&format!(
            "new Promise((done) => {{ const look = () => (({parameter}) ? done(true) \
             : requestAnimationFrame(look)); look(); }})"
        ));
    }

    /// Sends a command and waits for its answer; what comes in between is noted.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut command = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.tab.session {
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
            panic!("the browser is gone ({why}); its output:\n{}", self.output());
        }
    }

    fn wait_for(&mut self, event: &str) {
        let until = Instant::now() + DEADLINE;
        while !self.tab.events.iter().any(|seen| seen == event) {
            let message = self.next(until, event);
            self.note(&message);
        }
        self.tab.events.retain(|seen| seen != event);
    }

    fn next(&self, until: Instant, what: &str) -> Value {
        let left = until.saturating_duration_since(Instant::now());
        match self.messages.recv_timeout(left) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => panic!("no answer to {what} within {DEADLINE:?}"),
            Err(RecvTimeoutError::Disconnected) => {
                panic!(
                    "the browser ended while {what} was waited for; its output:\n{}",
                    self.output()
                )
            }
        }
    }

    fn note(&mut self, message: &Value) {
        // A closed tab may have had something left to say.
        if message["sessionId"].as_str() != self.tab.session.as_deref() {
            return;
        }
        let Some(event) = message["method"].as_str() else { return };
        self.tab.complaints.extend(complaint(event, &message["params"], &self.tab.allowed));
        self.tab.events.push(event.to_owned());
    }

    fn output(&self) -> String {
        let mut output = String::new();
        let _ = (&self.output).read_to_string(&mut output);
        output
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

#[test]
fn a_tab_knows_nothing_of_the_one_before_it() {
    if program::skipped() {
        return;
    }
    let directory = TempDir::new().expect("a directory for the page");
    let file = directory.path().join("page.html");
    std::fs::write(&file, "<!doctype html><p>Nothing").expect("the page is written");
    let mut browser = Browser::take();
    let look = "[localStorage.length, innerWidth, matchMedia('print').matches]";
    browser.open(&file);
    browser.resize(400, 300);
    browser.call("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
    browser.evaluate("localStorage.setItem('left', 'behind'); console.error('left behind')");
    assert_eq!(browser.evaluate(look), json!([1, 400, true]));
    assert_eq!(browser.complaints().len(), 1, "{:?}", browser.complaints());
    browser.close_tab();
    browser.open_tab();
    browser.open(&file);
    let values = browser.evaluate(look);
    assert_eq!((&values[0], &values[2]), (&json!(0), &json!(false)));
    assert_ne!(values[1], 400);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
    browser.give_back();
}
