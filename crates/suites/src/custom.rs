//! What a suite adds to a workload: commands and servers of the user's own.

use crate::figure::read_figure;
use crate::model::Wrong;
use crate::quantity;
use crate::typed::{name_templates, read_output, read_shell, read_template, read_word};
use crate::walk::Node;
use engine::{Custom, Template};
use quantities::{count_within, time_from_ms};

/// The keys of commands and servers, besides those of any workload.
pub const KEYS: [&str; 20] = [
    "command",
    "server",
    "url",
    "ca",
    "insecure",
    "set",
    "extract",
    "better",
    "headline",
    "setup",
    "prepare",
    "conclude",
    "cleanup",
    "warmup",
    "shell",
    "ignore-failure",
    "input",
    "stdout",
    "time-limit",
    "directory",
];

/// Reads one key into `custom`. `command` and `server` may be a text, a list of texts, or a table of names.
pub fn read(custom: &mut Custom, key: &str, value: &Node<'_>) -> Result<(), Wrong> {
    let text = || value.text().map(|text| Some(text.typed));
    match key {
        "command" => custom.commands = templates(value)?,
        "server" => custom.servers = templates(value)?,
        "url" => custom.urls = templates(value)?,
        "ca" => custom.ca = text()?.map(Into::into),
        "insecure" => custom.insecure = value.yes_or_no()?,
        "set" => {
            for (word, values) in value.any_entries("`set`")? {
                let typed = values.several()?.into_iter().map(|value| value.typed);
                let typed = format!("{}={}", word.typed, typed.collect::<Vec<_>>().join(","));
                let (word, values) = read_word(&typed).map_err(|what| value.wrong(what))?;
                custom.words.insert(word, values);
            }
        }
        "extract" => {
            for figure in value.several()? {
                let read = read_figure(&figure.typed);
                custom.figures.push(read.map_err(|what| figure.wrong(what))?);
            }
        }
        "headline" => custom.headline = text()?,
        "setup" => custom.setup = text()?,
        "prepare" => custom.prepare = text()?,
        "conclude" => custom.conclude = text()?,
        "cleanup" => custom.cleanup = text()?,
        "warmup" => {
            custom.warm_up = Some(quantity(&value.word()?, count_within(0..=1_000))?);
        }
        "shell" => custom.shell = read_shell(&value.text()?.typed),
        "ignore-failure" => custom.ignore_failure = value.yes_or_no()?,
        "input" => custom.input = text()?.filter(|file| file != "null"),
        "stdout" => custom.output = Some(read_output(&value.text()?.typed)),
        "time-limit" => {
            let limit = quantity(&value.text()?, time_from_ms)?;
            custom.time_limit_ms = Some(limit.as_millis() as u64);
        }
        "directory" => custom.directory = value.text()?.typed.into(),
        _ => {}
    }
    Ok(())
}

/// Reads which of two figures is better: one word for all figures, or one for each.
pub fn read_better(custom: &mut Custom, value: &Node<'_>) -> Result<(), Wrong> {
    let words = value.several()?;
    if words.len() != 1 && words.len() != custom.figures.len() {
        return Err(value.wrong("better is one word, or one for each figure of extract"));
    }
    for (index, figure) in custom.figures.iter_mut().enumerate() {
        let word = words.get(index).unwrap_or(&words[0]);
        figure.direction_assumed = false;
        figure.lower_is_better = match word.typed.as_str() {
            "lower" => true,
            "higher" => false,
            _ => return Err(word.wrong("better is higher or lower")),
        };
    }
    Ok(())
}

/// Commands or addresses by name.
fn templates(value: &Node<'_>) -> Result<Vec<Template>, Wrong> {
    let mut templates = Vec::new();
    if value.is_table() {
        for (name, text) in value.any_entries("commands by name")? {
            templates.push(Template { name: name.typed, text: text.text()?.typed });
        }
    } else {
        for typed in value.several()? {
            templates.push(read_template(&typed.typed));
        }
    }
    name_templates(&mut templates).map_err(|what| value.wrong(what))?;
    Ok(templates)
}
