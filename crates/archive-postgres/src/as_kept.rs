//! A run as it comes back from the server, which has no character U+0000 in texts. Without this, a run that was pushed would
//! differ from itself.

use crate::columns::{NUL_ESCAPED, without_nul};
use crate::fault::damaged;
use record::{Error, Run, keeping};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::path::Path;

/// The run with what the server keeps in the place of that character.
pub(crate) fn as_kept<'a>(run: &'a Run, path: &Path) -> Result<Cow<'a, Run>, Error> {
    let mut kept = Cow::Borrowed(run);
    if let Some(plan) = replaced(&run.plan, path)? {
        kept.to_mut().plan = plan;
    }
    if let Some(host) = replaced(&run.host_before, path)? {
        kept.to_mut().host_before = host;
    }
    if let Some(host) = replaced(&run.host_after, path)? {
        kept.to_mut().host_after = host;
    }
    if let Some(warnings) = replaced(&run.warnings, path)? {
        kept.to_mut().warnings = warnings;
    }
    if let Some(profile) = replaced(&run.profile, path)? {
        kept.to_mut().profile = profile;
    }
    for (index, cell) in run.cells.iter().enumerate() {
        let names: Vec<&str> = cell.metrics.iter().map(|metric| metric.name.as_str()).collect();
        let texts = (&cell.key, &cell.outcome, &cell.short, &cell.facts, names);
        let Some((key, outcome, short, facts, names)) = replaced(&texts, path)? else { continue };
        let names: Vec<String> = names;
        let cell = &mut kept.to_mut().cells[index];
        (cell.key, cell.outcome, cell.short, cell.facts) = (key, outcome, short, facts);
        for (metric, name) in cell.metrics.iter_mut().zip(names) {
            metric.name = name;
        }
    }
    Ok(kept)
}

/// The value as it comes back, where that is another one.
fn replaced<T: DeserializeOwned>(value: &impl Serialize, path: &Path) -> Result<Option<T>, Error> {
    let json = keeping::json(value, path)?;
    if !json.contains(NUL_ESCAPED) {
        return Ok(None);
    }
    let value = serde_json::from_str(&without_nul(&json));
    value.map(Some).map_err(|error| damaged(path, error.to_string()))
}
