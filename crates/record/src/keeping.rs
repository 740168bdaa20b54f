//! What every archive requires of figures before it keeps them, and how it writes texts, and JSON with texts in it.

pub use crate::rows::{check_clock, check_metric, count, json};
use crate::{Error, Profile, ProfiledCell, Run};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::path::Path;

/// What is done to each text before it is kept. It gets one text at a time, never JSON, whose structure it would damage.
pub type TextRule<'a> = &'a dyn Fn(&str) -> String;

/// JSON without any of these has no text that an archive keeps otherwise: a URL, and U+0000, which PostgreSQL has not.
const MARKS: [&str; 2] = ["://", "\\u0000"];

/// A text without user names and passwords in its URLs.
pub fn clean(text: &str) -> String {
    printable::without_user_info(text).into_owned()
}

/// A value as JSON, with `rule` applied to each text in it.
///
/// # Errors
/// [`Error::Invalid`] for what JSON can't hold.
pub fn json_with<T: Serialize>(
    value: &T,
    rule: TextRule<'_>,
    path: &Path,
) -> Result<String, Error> {
    let json = || {
        let json = serde_json::to_string(value)?;
        if !is_marked(&json) {
            return Ok(json);
        }
        serde_json::to_string(&apply(rule, serde_json::to_value(value)?))
    };
    json().map_err(|error| invalid(&error, path))
}

/// A value with `rule` applied to each text in it, where that is another value.
///
/// # Errors
/// For what JSON can't hold.
pub fn changed<T: DeserializeOwned>(
    value: &impl Serialize,
    rule: TextRule<'_>,
) -> serde_json::Result<Option<T>> {
    if !is_marked(&serde_json::to_string(value)?) {
        return Ok(None);
    }
    let tree = serde_json::to_value(value)?;
    let changed = apply(rule, tree.clone());
    (changed != tree).then(|| serde_json::from_value(changed)).transpose()
}

/// A run as it is loaded from an archive that has applied `rule` to its texts.
///
/// # Errors
/// [`Error::Invalid`] for what JSON can't hold.
pub fn as_kept<'a>(run: &'a Run, rule: TextRule<'_>, path: &Path) -> Result<Cow<'a, Run>, Error> {
    let kept = || -> serde_json::Result<Cow<'a, Run>> {
        let mut kept = Cow::Borrowed(run);
        let texts = (&run.summary.command, &run.summary.labels, &run.plan, &run.warnings);
        if let Some((command, labels, plan, warnings)) = changed(&texts, rule)? {
            let kept = kept.to_mut();
            (kept.summary.command, kept.summary.labels) = (command, labels);
            (kept.plan, kept.warnings) = (plan, warnings);
        }
        let texts = (&run.host_before, &run.host_after, &run.profile);
        if let Some((before, after, profile)) = changed(&texts, rule)? {
            let kept = kept.to_mut();
            (kept.host_before, kept.host_after, kept.profile) = (before, after, profile);
        }
        for (index, cell) in run.cells.iter().enumerate() {
            let names: Vec<&str> = cell.metrics.iter().map(|metric| metric.name.as_str()).collect();
            let texts = (&cell.key, &cell.outcome, &cell.short, &cell.facts, names);
            let Some((key, outcome, short, facts, names)) = changed(&texts, rule)? else {
                continue;
            };
            let names: Vec<String> = names;
            let cell = &mut kept.to_mut().cells[index];
            (cell.key, cell.outcome, cell.short, cell.facts) = (key, outcome, short, facts);
            for (metric, name) in cell.metrics.iter_mut().zip(names) {
                metric.name = name;
            }
        }
        Ok(kept)
    };
    kept().map_err(|error| invalid(&error, path))
}

/// Whether a text in this JSON may be kept otherwise.
fn is_marked(json: &str) -> bool {
    MARKS.iter().any(|mark| json.contains(mark))
}

fn apply(rule: TextRule<'_>, tree: serde_json::Value) -> serde_json::Value {
    use serde_json::Value as V;
    match tree {
        V::String(text) => V::String(rule(&text)),
        V::Array(values) => values.into_iter().map(|value| apply(rule, value)).collect(),
        V::Object(fields) => {
            fields.into_iter().map(|(name, value)| (rule(&name), apply(rule, value))).collect()
        }
        value => value,
    }
}

pub(crate) fn invalid(error: &serde_json::Error, path: &Path) -> Error {
    let what = format!("a value that JSON can't hold ({error})");
    Error::Invalid { path: path.into(), what }
}

/// Refuses a profile that contradicts itself.
///
/// # Errors
/// [`Error::Invalid`].
pub fn check_profile(profile: &Profile, path: &Path) -> Result<(), Error> {
    profile.check().map_err(|what| Error::Invalid { path: path.into(), what })
}

/// The n-th cell of a profile that does not contradict itself.
///
/// # Errors
/// [`Error::Invalid`]; also where it has no such cell.
pub fn profiled_cell<'a>(
    profile: &'a Profile,
    index: usize,
    path: &Path,
) -> Result<&'a ProfiledCell, Error> {
    check_profile(profile, path)?;
    profile.cells.get(index).ok_or_else(|| {
        let what = format!("cell {index} of a profile of {}", profile.cells.len());
        Error::Invalid { path: path.into(), what }
    })
}
