//! What every archive requires of figures before it keeps them, and how texts are kept.

use crate::Error;
use model::{Cell, Clock, Metric, Run};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
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

/// A value as JSON, with `rule` applied to each text in it.
///
/// # Errors
/// [`Error::Invalid`] for what JSON can't hold.
pub fn json<T: Serialize>(value: &T, rule: TextRule<'_>, path: &Path) -> Result<String, Error> {
    let json = || {
        let json = serde_json::to_string(value)?;
        if !is_marked(&json) {
            return Ok(json);
        }
        serde_json::to_string(&apply(rule, serde_json::to_value(value)?))
    };
    json().map_err(|error| invalid(&error, path))
}

/// A run as it is loaded from an archive that has applied `rule` to its texts.
///
/// # Errors
/// [`Error::Invalid`] for what JSON can't hold.
pub fn as_kept<'a>(run: &'a Run, rule: TextRule<'_>, path: &Path) -> Result<Cow<'a, Run>, Error> {
    let kept = || -> serde_json::Result<Cow<'a, Run>> {
        let mut kept = Cow::Borrowed(run);
        if let Some(head) = changed::<Run>(&run.without_cells(), rule)? {
            let (summary, cells) = (&run.summary, run.cells.clone());
            let mut head = Run { cells, ..head };
            head.summary.origin.clone_from(&summary.origin);
            head.summary.host.clone_from(&summary.host);
            head.summary.fleet.clone_from(&summary.fleet);
            kept = Cow::Owned(Run { profile: run.profile.clone(), ..head });
        }
        if let Some(profile) = changed(&run.profile, rule)? {
            kept.to_mut().profile = profile;
        }
        for (index, cell) in run.cells.iter().enumerate() {
            if let Some(changed) = changed::<Cell>(&without_samples(cell), rule)? {
                kept.to_mut().cells[index] = with_samples_of(changed, cell);
            }
        }
        Ok(kept)
    };
    kept().map_err(|error| invalid(&error, path))
}

/// A cell but for its samples and their positions, which are most of it and hold no text.
pub(crate) fn without_samples(cell: &Cell) -> Cell {
    let bare = |metric: &Metric| Metric {
        name: metric.name.clone(),
        samples: Vec::new(),
        positions: Vec::new(),
        histogram: metric.histogram.clone(),
        ..*metric
    };
    Cell {
        key: cell.key.clone(),
        outcome: cell.outcome.clone(),
        short: cell.short.clone(),
        metrics: cell.metrics.iter().map(bare).collect(),
        facts: cell.facts.clone(),
        load: cell.load.clone(),
        ..*cell
    }
}

fn with_samples_of(mut cell: Cell, whole: &Cell) -> Cell {
    for (metric, whole) in cell.metrics.iter_mut().zip(&whole.metrics) {
        metric.samples.clone_from(&whole.samples);
        metric.positions.clone_from(&whole.positions);
    }
    cell
}

/// Whether a text in this JSON may be kept otherwise.
fn is_marked(json: &str) -> bool {
    MARKS.iter().any(|mark| json.contains(mark))
}

fn apply(rule: TextRule<'_>, tree: Json) -> Json {
    match tree {
        Json::String(text) => Json::String(rule(&text)),
        Json::Array(values) => values.into_iter().map(|value| apply(rule, value)).collect(),
        Json::Object(fields) => {
            fields.into_iter().map(|(name, value)| (rule(&name), apply(rule, value))).collect()
        }
        value => value,
    }
}

fn invalid(error: &serde_json::Error, path: &Path) -> Error {
    let what = format!("a value that JSON can't hold ({error})");
    Error::Invalid { path: path.into(), what }
}

/// Refuses counts that SQL has no integer for, so that a view would show another one, or none of any run. `what` they are of
/// is for the message.
///
/// # Errors
/// [`Error::Invalid`] above 2⁶³ − 1.
pub(crate) fn check_counts(value: &impl Serialize, what: &str, path: &Path) -> Result<(), Error> {
    let tree = serde_json::to_value(value).map_err(|error| invalid(&error, path))?;
    match too_large(&tree, "") {
        None => Ok(()),
        Some((name, count)) => {
            let link = if name.is_empty() { "" } else { " of " };
            let what = format!("{name}{link}{what}, which is {count}");
            Err(Error::Invalid { path: path.into(), what })
        }
    }
}

fn too_large<'a>(tree: &'a Json, name: &'a str) -> Option<(&'a str, u64)> {
    match tree {
        Json::Array(values) => values.iter().find_map(|value| too_large(value, name)),
        Json::Object(fields) => fields.iter().find_map(|(name, value)| too_large(value, name)),
        Json::Number(number) => number
            .as_u64()
            .filter(|&count| i64::try_from(count).is_err())
            .map(|count| (name, count)),
        _ => None,
    }
}

/// Refuses what is not finite: JSON would turn it into null, silently. And positions that are not those of the
/// samples.
///
/// # Errors
/// [`Error::Invalid`].
pub(crate) fn check_metric(metric: &Metric, sequence: u64, path: &Path) -> Result<(), Error> {
    let name = &metric.name;
    if let Some((n, value)) =
        metric.samples.iter().enumerate().find(|(_, value)| !value.is_finite())
    {
        let what = format!("sample {n} of {name} in cell {sequence}, which is {value}");
        return Err(Error::Invalid { path: path.into(), what });
    }
    let (samples, positions) = (metric.samples.len(), metric.positions.len());
    if positions != 0 && positions != samples {
        let what =
            format!("{positions} positions for {samples} samples of {name} in cell {sequence}");
        return Err(Error::Invalid { path: path.into(), what });
    }
    Ok(())
}

/// Refuses a clock whose figures are not finite.
///
/// # Errors
/// [`Error::Invalid`].
pub(crate) fn check_clock(clock: &Clock, path: &Path) -> Result<(), Error> {
    for (value, name) in [(clock.resolution_ns, "resolution"), (clock.overhead_ns, "overhead")] {
        if !value.is_finite() {
            let what = format!("the clock's {name}, which is {value}");
            return Err(Error::Invalid { path: path.into(), what });
        }
    }
    Ok(())
}
