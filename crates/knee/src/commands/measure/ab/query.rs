//! What the knee of a side says of itself, within a time: it may hang, print without end, or be no knee at all.

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A knee answers within milliseconds.
const TIME_MAX: Duration = Duration::from_secs(10);
/// A list of workloads has a hundredth of this.
const BYTES_MAX: u64 = 4 << 20;

/// Its version: `0.1.0`.
///
/// # Errors
/// With the reason, as the end of a sentence.
pub fn version(words: &[String]) -> Result<String, String> {
    let question = ["--version"];
    let answer = answer(words, &question, TIME_MAX)?;
    let version = answer.lines().find_map(|line| line.strip_prefix("knee "));
    version
        .map(|version| version.trim().to_owned())
        .ok_or_else(|| unreadable(&question, "no version"))
}

/// Its workloads, as JSON.
///
/// # Errors
/// As [`version()`].
pub fn workloads(words: &[String]) -> Result<Vec<Value>, String> {
    let question = ["list", "workloads", "--json"];
    let answer = answer(words, &question, TIME_MAX)?;
    let mut list: Option<Value> = serde_json::from_str(&answer).ok();
    match list.as_mut().map(|list| list["workloads"].take()) {
        Some(Value::Array(rows)) => Ok(rows),
        _ => Err(unreadable(&question, "no list of workloads")),
    }
}

fn unreadable(question: &[&str], missing: &str) -> String {
    format!("`{}` of the knee there prints {missing}", question.join(" "))
}

fn answer(words: &[String], question: &[&str], time_max: Duration) -> Result<String, String> {
    let asked = question.join(" ");
    let failed = |why: String| format!("`{asked}` of the knee there {why}");
    let (program, rest) = words.split_first().ok_or_else(|| failed("names no program".into()))?;
    let mut child = Command::new(program)
        .args(rest)
        .args(question)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(format!("can't be started: {}", sys::limits::explained(error))))?;
    let group = Pid::from_child(&child);
    let (sender, receiver) = mpsc::channel();
    let read = move || {
        let mut text = Vec::new();
        let read = child.stdout.take().map(|out| out.take(BYTES_MAX).read_to_end(&mut text));
        let ended = child.wait();
        // Whoever asked may have given up.
        let _ = sender.send(whole(read, ended, &text));
    };
    if let Err(error) = thread::Builder::new().spawn(read) {
        let _ = kill_process_group(group, Signal::KILL);
        return Err(failed(format!("can't be read: {}", sys::limits::explained(error))));
    }
    if let Ok(answer) = receiver.recv_timeout(time_max) {
        return answer.map_err(failed);
    }
    let _ = kill_process_group(group, Signal::KILL);
    Err(failed(format!("did not end within {} s", time_max.as_secs_f64())))
}

fn whole(
    read: Option<io::Result<usize>>,
    ended: io::Result<ExitStatus>,
    text: &[u8],
) -> Result<String, String> {
    read.transpose().map_err(|error| format!("can't be read: {error}"))?;
    if text.len() as u64 >= BYTES_MAX {
        return Err("prints too much".to_owned());
    }
    match ended {
        Ok(status) if status.success() => Ok(String::from_utf8_lossy(text).into_owned()),
        Ok(status) => Err(format!("failed ({status})")),
        Err(error) => Err(format!("can't be waited for: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    #[test]
    fn what_hangs_is_killed_when_its_time_is_up() {
        let why = answer(&shell("sleep 1000"), &["list"], Duration::from_millis(20)).unwrap_err();
        assert_eq!(why, "`list` of the knee there did not end within 0.02 s");
    }

    #[test]
    fn what_is_no_answer_has_its_reason() {
        for (script, wanted) in [
            ("exit 3", "failed (exit status: 3)"),
            ("while :; do echo 1234567890123456789012345678901234567890; done", "prints too much"),
            ("echo nothing", "prints no version"),
        ] {
            let why = version(&shell(script)).unwrap_err();
            assert!(why.ends_with(wanted), "{script}: {why}");
        }
        let why = version(&["/no/such/knee".to_owned()]).unwrap_err();
        assert!(why.contains("can't be started"), "{why}");
        let why = workloads(&shell("echo '{\"workloads\": 1}'")).unwrap_err();
        assert!(why.ends_with("prints no list of workloads"), "{why}");
    }

    #[test]
    fn an_answer_is_read() {
        assert_eq!(version(&shell("echo knee 7.0.0")).unwrap(), "7.0.0");
        let rows = workloads(&shell("echo '{\"workloads\": [{\"name\": \"poll\"}]}'")).unwrap();
        assert_eq!(rows[0]["name"], "poll");
    }
}
