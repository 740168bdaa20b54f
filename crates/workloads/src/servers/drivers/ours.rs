//! Ours, `knee httpd`, over every mechanism: a row for each.

use super::{Counted, Running, Server, ServerOrigin, Setup};
use crate::servers::tls::Encryption;
use engine::{Failure, descriptors_max};
use serde_json::Value;
use std::ffi::OsString;
use std::io;

pub(super) fn rows() -> Vec<Server> {
    http::mechanisms().iter().map(over).collect()
}

fn over(mechanism: &http::Mechanism) -> Server {
    Server {
        name: mechanism.name,
        label: mechanism.label,
        summary: mechanism.summary,
        note: "",
        is_ours: true,
        capacity: |descriptors| descriptors.saturating_sub(64),
        installed: |server| http::available(server.name),
        start,
        tls: || Ok(()),
        own: None,
    }
}

fn start(server: &Server, setup: &Setup) -> Result<Running, Failure> {
    let failed = |error: io::Error| Failure::call("starting knee httpd", error);
    let knee = setup.knee.canonicalize().map_err(failed)?;
    let words = words(server.name, setup);
    let words: Vec<OsString> = [knee.into()].into_iter().chain(words).collect();
    let mut guarded = setup.start(&words, &setup.scratch, None).map_err(failed)?;
    let line = guarded.line().map_err(failed)?;
    let ready: Value = serde_json::from_str(&line).unwrap_or_default();
    let address = ready["address"].as_str().and_then(|address| address.parse().ok());
    let address = address.ok_or_else(|| {
        let end = "ended before it listened".to_owned();
        Failure::command("", "knee httpd".to_owned(), end, &line)
    })?;
    Ok(Running::new(server, ServerOrigin::Started(guarded), address))
}

/// Limits are as wide as they get: what is measured is not how connections are closed.
fn words(mechanism: &str, setup: &Setup) -> Vec<OsString> {
    let list = |cpus: &[usize]| cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let mut words: Vec<OsString> = vec!["httpd".into(), setup.root.clone().into()];
    let plain = ["--port", "0", "--bind", "127.0.0.1", "--json", "--mechanism", mechanism];
    words.extend(plain.map(OsString::from));
    let wide = ["--idle-timeout", "24h", "--lifetime", "24h", "--stall-timeout", "1h"];
    words.extend(wide.map(OsString::from));
    let connections = descriptors_max().to_string();
    let workers = setup.workers.to_string();
    let rest = ["--drain", "1s", "--connections", &connections, "--workers", &workers];
    words.extend(rest.map(OsString::from));
    if !setup.cpus.is_empty() {
        words.extend(["--pin".into(), list(&setup.cpus).into()]);
    }
    if let Some(Encryption { chain, key, .. }) = &setup.encryption {
        words.extend(["--tls-cert".into(), chain.into(), "--tls-key".into(), key.into()]);
    }
    if let Some(sending) = setup.sending {
        words.extend(["--send", sending].map(OsString::from));
    }
    words
}

/// What it counted, from the last line of its output.
pub(super) fn counted(output: &str) -> Result<Counted, Failure> {
    let last: Value =
        output.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    let counted = last["accepted"].as_u64().zip(last["replies"].as_u64());
    let (accepted, replies) = counted
        .ok_or_else(|| Failure::new(format!("knee httpd ended without counts: {output:?}")))?;
    Ok(Counted { accepted, replies })
}
