//! `knee list`: what there is, and what is unavailable here and why. It all comes from the tables.

use crate::args::command;
use crate::commands::measure::{config, load};
use crate::exit::{Exit, Trouble};
use crate::originals;
use crate::output::{print, print_json};
use clap::{Args, Command};
use engine::{About, Kind, Original, Workload};
use locks::{Algorithm, Order, Waiting};
use readiness::Mechanism;
use report::schemas::{self, Document};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Args, Debug)]
pub struct List {
    /// What to list
    #[arg(value_name = "WHAT", default_value = "all")]
    pub what: What,
    /// Print JSON
    #[arg(short, long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// Workloads, mechanisms, locks, originals and suites
    All,
    /// What can be exercised
    Workloads,
    /// Readiness mechanisms
    Mechanisms,
    /// Locks: who comes next, and what those do that wait
    Locks,
    /// Classic benchmarks whose settings and output `knee run --like` uses
    #[value(alias = "likes")]
    Originals,
    /// Suites of knee.toml: see `knee run --suite`
    Suites,
    /// Commands, each with its summary; with --json, with all of its help
    Commands,
    /// JSON schemas of what other commands print with --json; with --json, the schemas themselves
    Schemas,
}

pub fn list(ask: &List) -> Result<Exit, Trouble> {
    let is_wanted = |section: &&Section| match ask.what {
        // Both are long, and of help there is enough.
        What::All => ![What::Schemas, What::Commands].contains(&section.what),
        what => section.what == what,
    };
    let wanted = SECTIONS.iter().filter(is_wanted);
    if ask.json {
        let all: serde_json::Map<String, Value> =
            wanted.map(|section| (section.name.to_lowercase(), (section.json)())).collect();
        print_json(&all)?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for section in wanted {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(section.name);
        text.push('\n');
        (section.text)(&mut text);
    }
    print(&text)?;
    Ok(Exit::Done)
}

struct Section {
    what: What,
    /// Its heading, and in small letters its key.
    name: &'static str,
    text: fn(&mut String),
    json: fn() -> Value,
}

const SECTIONS: [Section; 7] = [
    Section {
        what: What::Workloads,
        name: "Workloads",
        text: |text| workloads::all().iter().for_each(|&workload| describe(text, workload)),
        json: || workloads::all().iter().map(|&workload| workload_json(workload)).collect(),
    },
    Section {
        what: What::Mechanisms,
        name: "Mechanisms",
        text: describe_mechanisms,
        json: mechanisms_json,
    },
    Section {
        what: What::Locks,
        name: "Locks",
        text: |text| workloads::algorithms().for_each(|lock| describe_lock(text, lock)),
        json: || workloads::algorithms().map(lock_json).collect(),
    },
    Section {
        what: What::Originals,
        name: "Originals",
        text: |text| originals::all().for_each(|row| describe_original(text, row)),
        json: || originals::all().map(original_json).collect(),
    },
    Section { what: What::Suites, name: "Suites", text: describe_suites, json: suites_json },
    Section {
        what: What::Commands,
        name: "Commands",
        text: |text| {
            commands().for_each(|(name, command)| {
                let about = command.get_about().map(ToString::to_string).unwrap_or_default();
                let _ = writeln!(text, "  {name:<16} {about}");
            });
        },
        json: || {
            let help = |(name, mut command): (String, Command)| {
                (name, command.render_long_help().to_string().into())
            };
            commands().map(help).collect::<serde_json::Map<_, _>>().into()
        },
    },
    Section {
        what: What::Schemas,
        name: "Schemas",
        text: |text| documents().for_each(|schema| describe_schema(text, schema)),
        json: || {
            let named = |schema: &Document| (schema.name.to_owned(), (schema.schema)().into());
            documents().map(named).collect::<serde_json::Map<_, _>>().into()
        },
    },
];

// Writing to a String can't fail: the results below are dropped for that reason.

/// Every command that is shown in help, with those below it: `record merge`.
fn commands() -> impl Iterator<Item = (String, Command)> {
    fn below(command: &Command, name: &str) -> Vec<(String, Command)> {
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        shown
            .flat_map(|command| {
                let name = format!("{name} {}", command.get_name()).trim_start().to_owned();
                let whole = command.clone().bin_name(format!("knee {name}"));
                [vec![(name.clone(), whole)], below(command, &name)].concat()
            })
            .collect()
    }
    let mut whole = command();
    whole.build();
    below(&whole, "").into_iter().filter(|(name, _)| !name.ends_with("help"))
}

/// The JSON that commands print.
fn documents() -> impl Iterator<Item = &'static Document> {
    schemas::TABLE.iter().chain(load::SCHEMAS)
}

fn describe_schema(text: &mut String, schema: &Document) {
    let _ = writeln!(text, "  {:<12} {}", schema.name, schema.about);
}

fn describe(text: &mut String, workload: &dyn Workload) {
    let about = workload.about();
    let About { info, kind, parameters, .. } = about;
    let kind = match kind {
        Kind::Suite if info.is_control() => "  (control: proves the instrument)",
        Kind::Suite => "",
        Kind::Named => "  (only by name: it takes longer than the suite)",
        Kind::Fault => "  (control: misbehaves on purpose; only by name)",
    };
    let _ = writeln!(text, "  {:<12} {}{kind}", info.name, info.question);
    let _ = writeln!(text, "  {:<12} one operation: {}", "", info.operation);
    let axes = about.axes().map(|axis| axis.name);
    let more_axes = axes.filter(|&name| name != about.axis());
    let more_axes = match more_axes.collect::<Vec<&str>>().as_slice() {
        [] => String::new(),
        names => format!(" (or --axis {})", names.join(", ")),
    };
    let _ = writeln!(text, "  {:<12} axis: {}{more_axes}", "", about.axis());
    for parameter in parameters {
        let (name, values, about) = (parameter.name, parameter.possible(), parameter.about);
        let default = parameter.default.full.join(",");
        let _ = writeln!(text, "  {:<12} --{name}: {about}; {values} (default {default})", "");
    }
    for what in &info.not_measured {
        let _ = writeln!(text, "  {:<12} not measured: {what}", "");
    }
}

fn describe_lock(text: &mut String, lock: &Algorithm) {
    let summary = match (lock.available)() {
        Ok(()) => lock.summary.to_owned(),
        Err(why) => format!("unavailable here: {why}"),
    };
    let (order, waiting) = (order(lock), waiting(lock));
    let control = if lock.control { "  (control: proves the instrument)" } else { "" };
    let _ = writeln!(text, "  {:<19} {order:<5} {waiting:<18} {summary}{control}", lock.name);
    for limit in lock.limits {
        let _ = writeln!(text, "  {:<44} limit: {limit}", "");
    }
}

fn order(lock: &Algorithm) -> &'static str {
    match lock.order {
        Order::Fifo => "FIFO",
        Order::Any => "any",
    }
}

fn waiting(lock: &Algorithm) -> &'static str {
    match lock.waiting {
        Waiting::Spins => "spins",
        Waiting::SpinsThenBlocks => "spins, then blocks",
        Waiting::Blocks => "blocks",
    }
}

fn lock_json(lock: &Algorithm) -> Value {
    json!({
        "name": lock.name,
        "summary": lock.summary,
        "order": order(lock),
        "waiting": waiting(lock),
        "control": lock.control,
        "limits": lock.limits,
        "unavailable": (lock.available)().err().map(|why| why.0),
    })
}

fn describe_original(text: &mut String, (about, original): (&About, &Original)) {
    let _ = writeln!(text, "  {:<12} {}", original.name, original.original);
    let _ = writeln!(text, "  {:<12} is `{}`", "", originals::command(about, original));
    for what in original.hides {
        let _ = writeln!(text, "  {:<12} hides: {what}", "");
    }
}

/// The suites of the nearest knee.toml. What is wrong with it is all that there is to list of it.
fn describe_suites(text: &mut String) {
    match config::suites(None) {
        Err(trouble) => {
            let _ = writeln!(text, "  {trouble}");
        }
        Ok(None) => text.push_str("  none: there is no knee.toml in this directory or above it\n"),
        Ok(Some((file, suites))) => {
            let _ = writeln!(text, "  of {}", file.display());
            for suite in &suites {
                describe_suite(text, suite);
            }
        }
    }
    text.push_str("  of knee itself\n");
    config::built_in().iter().flatten().for_each(|suite| describe_suite(text, suite));
}

fn describe_suite(text: &mut String, (name, suite): (&String, &suites::Suite)) {
    let names: Vec<&str> = suite.request.workloads.iter().map(String::as_str).collect();
    let _ = writeln!(text, "  {name:<12} {}", names.join(", "));
    if !suite.about.is_empty() {
        let _ = writeln!(text, "  {:<12} {}", "", suite.about);
    }
}

fn suites_json() -> Value {
    let row = |(name, suite): (&String, &suites::Suite)| {
        let names: Vec<&str> = suite.request.workloads.iter().map(String::as_str).collect();
        json!({ "name": name, "about": suite.about, "workloads": names })
    };
    let rows = |suites: &BTreeMap<String, suites::Suite>| suites.iter().map(row).collect::<Value>();
    let built_in = rows(&config::built_in().unwrap_or_default());
    match config::suites(None) {
        Err(trouble) => json!({ "wrong": trouble.to_string(), "built_in": built_in }),
        Ok(None) => json!({ "file": null, "suites": [], "built_in": built_in }),
        Ok(Some((file, suites))) => {
            let file = file.display().to_string();
            json!({ "file": file, "suites": rows(&suites), "built_in": built_in })
        }
    }
}

fn original_json((about, original): (&About, &Original)) -> Value {
    json!({
        "name": original.name,
        "original": original.original,
        "workload": about.info.name,
        "command": originals::command(about, original),
        "hides": original.hides,
    })
}

fn row(text: &mut String, mechanism: &Mechanism) {
    let summary = match (mechanism.available)() {
        Ok(()) => mechanism.summary.to_owned(),
        Err(why) => format!("unavailable here: {why}"),
    };
    let trigger = trigger(mechanism);
    let _ = writeln!(text, "  {:<19} {trigger:<8} {summary}", mechanism.name);
    for limit in mechanism.limits {
        let _ = writeln!(text, "  {:<28} limit: {limit}", "");
    }
}

/// The mechanisms that are only a server's.
fn of_servers() -> impl Iterator<Item = http::Mechanism> {
    http::mechanisms().into_iter().filter(|row| readiness::find(row.name).is_none())
}

/// Those of servers have no trigger.
fn mechanisms_json() -> Value {
    let of_servers = of_servers().map(|row| {
        json!({
            "name": row.name,
            "label": row.name,
            "summary": row.summary,
            "trigger": null,
            "limits": ["only of servers: knee httpd, connect, request, dead"],
            "unavailable": http::available(row.name).err(),
        })
    });
    readiness::all().map(mechanism_json).chain(of_servers).collect()
}

fn describe_mechanisms(text: &mut String) {
    for mechanism in readiness::all() {
        row(text, mechanism);
    }
    for row in of_servers() {
        let summary =
            format!("only of servers (`knee httpd`, connect, request, dead): {}", row.summary);
        let _ = writeln!(text, "  {:<19} {:<8} {summary}", row.name, "–");
    }
}

fn trigger(mechanism: &Mechanism) -> &'static str {
    match mechanism.trigger {
        readiness::Trigger::Level => "level",
        readiness::Trigger::Edge => "edge",
        readiness::Trigger::Oneshot => "oneshot",
    }
}

fn workload_json(workload: &dyn Workload) -> Value {
    let (about, info) = (workload.about(), &workload.about().info);
    let subjects: Vec<Value> = workload
        .subjects()
        .iter()
        .map(|subject| {
            let own = &subject.info;
            json!({
                "name": own.name,
                "label": own.label,
                "summary": subject.summary,
                "operation": if own.operation.is_empty() { &info.operation } else { &own.operation },
                "unavailable": subject.available.ask().err(),
            })
        })
        .collect();
    let names: Vec<&str> = about.parameters.iter().map(|parameter| parameter.name).collect();
    json!({
        "name": info.name,
        "version": info.version,
        "question": info.question,
        "operation": info.operation,
        "axis": about.axis(),
        "axes": about.axes().map(|axis| axis.name).collect::<Vec<_>>(),
        "parameters": names,
        "not_measured": info.not_measured,
        "subjects": subjects,
    })
}

fn mechanism_json(mechanism: &Mechanism) -> Value {
    json!({
        "name": mechanism.name,
        "label": mechanism.label,
        "summary": mechanism.summary,
        "trigger": trigger(mechanism),
        "limits": mechanism.limits,
        "unavailable": (mechanism.available)().err().map(|why| why.0),
    })
}
