//! What the table of workloads knows of a suite: names, subjects, parameters and points.

use crate::custom;
use crate::model::{Placed, Wrong};
use crate::walk::Node;
use engine::{About, Custom, Overrides, Parameter, ROUNDS_MAX, Workload};
use quantities::{Value, did_you_mean};

/// The workloads of a suite: names, or tables with a name and options.
pub fn workloads(
    node: &Node<'_>,
    table: &[&'static dyn Workload],
) -> Result<Vec<(String, Overrides)>, Wrong> {
    let mut all: Vec<(String, Overrides)> = Vec::new();
    for member in node.members() {
        let (name, overrides) = if member.is_table() {
            with_options(&member, table)?
        } else {
            let name = member.text()?;
            workload_named(&name, table)?;
            (name, Overrides::default())
        };
        if all.iter().any(|(existing, _)| *existing == name.typed) {
            let what =
                format!("{} is in this suite already; a run has a workload once", name.typed);
            return Err(name.wrong(what));
        }
        all.push((name.typed, overrides));
    }
    Ok(all)
}

/// The workload of that name.
fn workload_named(
    name: &Placed,
    table: &[&'static dyn Workload],
) -> Result<&'static dyn Workload, Wrong> {
    let row = table.iter().find(|row| row.name() == name.typed);
    row.copied().ok_or_else(|| {
        let names: Vec<&str> = table.iter().map(|row| row.name()).collect();
        none(name, "workload", &names)
    })
}

fn none(name: &Placed, what: &str, names: &[&str]) -> Wrong {
    let hint = did_you_mean(&name.typed, names)
        .unwrap_or_else(|| "`knee list workloads` shows what there is".to_owned());
    name.wrong(format!("no {what} is called `{}`; {hint}", name.typed))
}

/// The keys of any workload, besides its parameters.
pub const KEYS: [&str; 6] = ["name", "subjects", "without", "axis", "points", "rounds"];

fn with_options(
    node: &Node<'_>,
    table: &[&'static dyn Workload],
) -> Result<(Placed, Overrides), Wrong> {
    let all = node.any_entries("a workload")?;
    let name = all.iter().find(|(key, _)| key.typed == "name");
    let Some((_, name)) = name else {
        return Err(node.wrong("a workload of a suite says its name: name = \"poll\""));
    };
    let name = name.text()?;
    let row = workload_named(&name, table)?;
    let added = custom(row.about(), &all)?;
    let own_workload = with_custom(node, row, &added, &all)?;
    let workload = own_workload.as_deref().unwrap_or(row);
    let about = workload.about();
    let parameters = about.parameters.iter().map(|parameter| parameter.name);
    let mut keys: Vec<&str> = KEYS.into_iter().chain(parameters).collect();
    let own = custom::KEYS.iter().filter(|key| row.about().takes_custom(key));
    keys.extend(own.filter(|key| about.parameter(key).is_none()));
    // A directory alone is for commands that flags add.
    let custom = (added != Custom::default()).then(|| Box::new(added));
    let mut overrides = Overrides { custom, ..Overrides::default() };
    let mut without = Vec::new();
    let mut points = Vec::new();
    for (key, value) in node.entries(workload.name(), &keys)? {
        match key.typed.as_str() {
            "name" => {}
            "subjects" => overrides.subjects = subjects(&value, workload)?,
            "without" => without = subjects(&value, workload)?,
            "axis" => overrides.axis = Some(axis(&value, workload)?),
            "points" => points = value.several()?,
            "rounds" => overrides.rounds = Some(rounds(&value)?),
            _ => {
                if let Some(parameter) = about.parameter(&key.typed) {
                    let values = values_of(parameter, &value.several()?, &key.typed)?;
                    overrides.parameters.insert(key.typed, values);
                }
            }
        }
    }
    let axis = about.parameter(overrides.axis.as_deref().unwrap_or(about.axis()));
    if let Some(axis) = axis {
        let same = all.iter().find(|(key, _)| key.typed == axis.name);
        if let (Some((key, _)), false) = (same, points.is_empty()) {
            let name = axis.name;
            let what =
                format!("points and {name} name the same: {name} is the axis; leave one out");
            return Err(key.wrong(what));
        }
        overrides.points = values_of(axis, &points, "points")?;
    }
    if !without.is_empty() {
        overrides.subjects = left(node, workload, &overrides.subjects, &without)?;
    }
    Ok((name, overrides))
}

/// What a table adds to a workload.
fn custom(about: &About, entries: &[(Placed, Node<'_>)]) -> Result<Custom, Wrong> {
    let mut added = Custom::default();
    let own = || entries.iter().filter(|(key, _)| about.takes_custom(&key.typed));
    for (key, value) in own() {
        custom::read(&mut added, &key.typed, value)?;
    }
    if let Some((_, value)) = own().find(|(key, _)| key.typed == "better") {
        custom::read_better(&mut added, value)?;
    }
    Ok(added)
}

/// The workload with what a table adds to it, if anything. What a suite leaves open flags may add: a workload that needs more
/// is checked when it is planned.
fn with_custom(
    node: &Node<'_>,
    row: &dyn Workload,
    added: &Custom,
    entries: &[(Placed, Node<'_>)],
) -> Result<Option<Box<dyn Workload>>, Wrong> {
    if added.is_empty() {
        return Ok(None);
    }
    let axis = entries.iter().find(|(key, _)| key.typed == "axis");
    let axis = axis.map(|(_, value)| value.text()).transpose()?;
    let axis = axis.as_ref().map(|axis| axis.typed.as_str());
    let workload = row.with_custom(added, axis);
    workload.map(Some).map_err(|what| node.wrong(format!("{}: {what}", row.name())))
}

fn typed(values: Vec<Placed>) -> Vec<String> {
    values.into_iter().map(|value| value.typed).collect()
}

/// The values of a parameter, each checked as the command line checks it.
fn values_of(parameter: &Parameter, texts: &[Placed], key: &str) -> Result<Vec<Value>, Wrong> {
    let checked = |text: &Placed| {
        let value = parameter.read(&text.typed);
        match parameter.check(&value, key) {
            Ok(_) => Ok(value),
            // There it is a flag, here a key.
            Err(why) => Err(text.wrong(why.strip_prefix("--").unwrap_or(&why))),
        }
    };
    texts.iter().map(checked).collect()
}

fn subjects(node: &Node<'_>, workload: &dyn Workload) -> Result<Vec<String>, Wrong> {
    let subjects = workload.subjects();
    let names: Vec<&str> = subjects.iter().map(|subject| subject.info.name.as_str()).collect();
    let named = node.several()?;
    let what = format!("subject of {}", workload.name());
    let families = quantities::families(&names);
    let is_known = |name: &str| names.contains(&name) || families.contains(&name);
    match named.iter().find(|name| !is_known(&name.typed)) {
        Some(stray) => Err(none(stray, &what, &names)),
        None => Ok(quantities::expanded(&typed(named), &names)),
    }
}

/// Those of `named`, or of all, that are not among `without`.
fn left(
    node: &Node<'_>,
    workload: &dyn Workload,
    named: &[String],
    without: &[String],
) -> Result<Vec<String>, Wrong> {
    let names = workload.subjects().into_iter().map(|subject| subject.info.name);
    let chosen =
        |name: &String| (named.is_empty() || named.contains(name)) && !without.contains(name);
    let left: Vec<String> = names.filter(chosen).collect();
    if left.is_empty() {
        Err(node.wrong("nothing is left to compare; leave fewer out"))
    } else {
        Ok(left)
    }
}

fn axis(node: &Node<'_>, workload: &dyn Workload) -> Result<String, Wrong> {
    let name = node.text()?;
    let axes: Vec<&str> = workload.about().axes().map(|parameter| parameter.name).collect();
    if axes.contains(&name.typed.as_str()) {
        return Ok(name.typed);
    }
    let (workload, axes) = (workload.name(), axes.join(" or "));
    let what = format!("`{}` is no axis of {workload}: it grows over {axes}", name.typed);
    Err(name.wrong(what))
}

/// Passes over all cells.
pub fn rounds(node: &Node<'_>) -> Result<u32, Wrong> {
    let typed = node.word()?;
    match quantities::count(&typed.typed) {
        Ok(rounds @ 1..=ROUNDS_MAX) => Ok(rounds as u32),
        Ok(rounds) => Err(node.wrong(format!("rounds is 1 to {ROUNDS_MAX}, not {rounds}"))),
        Err(why) => Err(node.wrong(format!("rounds: {why}"))),
    }
}

/// A whole number, as `--seed` takes it.
pub fn seed(node: &Node<'_>) -> Result<u64, Wrong> {
    let typed = node.word()?.typed;
    typed.parse().map_err(|_| node.wrong(format!("`{typed}` is no whole number from 0")))
}
