//! `knee list`: what there is, and what is unavailable here and why. It all comes from the tables.

use crate::args::{List, What};
use crate::exit::{Exit, Trouble};
use crate::like;
use crate::output::{print, print_json};
use engine::{About, Kind, Like, Workload};
use readiness::Mechanism;
use serde_json::{Value, json};
use std::fmt::Write;

/// Lists the tables.
pub fn list(ask: &List) -> Result<Exit, Trouble> {
    let workloads = matches!(ask.what, What::All | What::Workloads);
    let mechanisms = matches!(ask.what, What::All | What::Mechanisms);
    let likes = matches!(ask.what, What::All | What::Likes);
    if ask.json {
        let mut all = serde_json::Map::new();
        if workloads {
            all.insert(
                "workloads".into(),
                workloads::TABLE.iter().map(|&w| of_workload(w)).collect(),
            );
        }
        if mechanisms {
            all.insert(
                "mechanisms".into(),
                readiness::TABLE.iter().map(|m| of_mechanism(m)).collect(),
            );
        }
        if likes {
            all.insert("likes".into(), like::all().map(of_like).collect());
        }
        print_json(&all.into())?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    if workloads {
        text.push_str("Workloads\n");
        for &workload in workloads::TABLE {
            describe(&mut text, workload);
        }
    }
    if mechanisms {
        text.push_str(if workloads { "\nMechanisms\n" } else { "Mechanisms\n" });
        for mechanism in readiness::TABLE {
            row(&mut text, mechanism);
        }
    }
    if likes {
        text.push_str(if text.is_empty() { "Likes\n" } else { "\nLikes\n" });
        like::all().for_each(|like| describe_like(&mut text, like));
    }
    print(&text)?;
    Ok(Exit::Done)
}

// Writing to a String can't fail: the results below are dropped for that reason.

fn describe(text: &mut String, workload: &dyn Workload) {
    let about = workload.about();
    let kind = match about.kind {
        Kind::Suite => "",
        Kind::Control => "  (control: proves the instrument)",
        Kind::Named => "  (only by name: it takes longer than the suite)",
        Kind::Fault => "  (control: misbehaves on purpose; only by name)",
    };
    let _ = writeln!(text, "  {:<12} {}{kind}", about.name, about.question);
    let _ = writeln!(text, "  {:<12} one operation: {}", "", about.operation);
    let axes: Vec<&str> = about.axes().map(|axis| axis.name).collect();
    let others: Vec<&str> = axes.iter().copied().filter(|&name| name != about.axis).collect();
    let others = match others.as_slice() {
        [] => String::new(),
        others => format!(" (or --axis {})", others.join(", ")),
    };
    let _ = writeln!(text, "  {:<12} axis: {}{others}", "", about.axis);
    for condition in about.conditions {
        let (name, values, about) = (condition.name, condition.possible(), condition.about);
        let default = condition.default.full.join(",");
        let _ = writeln!(text, "  {:<12} --{name}: {about}; {values} (default {default})", "");
    }
    for what in about.not_measured {
        let _ = writeln!(text, "  {:<12} not measured: {what}", "");
    }
}

fn describe_like(text: &mut String, (about, like): (&About, &Like)) {
    let _ = writeln!(text, "  {:<12} {}", like.name, like.original);
    let _ = writeln!(text, "  {:<12} is `{}`", "", like::command(about, like));
    for what in like.hides {
        let _ = writeln!(text, "  {:<12} hides: {what}", "");
    }
}

fn of_like((about, like): (&About, &Like)) -> Value {
    json!({
        "name": like.name,
        "original": like.original,
        "workload": about.name,
        "command": like::command(about, like),
        "hides": like.hides,
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

fn trigger(mechanism: &Mechanism) -> &'static str {
    match mechanism.trigger {
        readiness::Trigger::Level => "level",
        readiness::Trigger::Edge => "edge",
        readiness::Trigger::Oneshot => "oneshot",
    }
}

fn of_workload(workload: &dyn Workload) -> Value {
    let about = workload.about();
    let subjects: Vec<Value> = workload
        .subjects()
        .iter()
        .map(|subject| {
            json!({
                "name": subject.name,
                "label": subject.label,
                "summary": subject.summary,
                "unavailable": subject.available.as_ref().err(),
            })
        })
        .collect();
    let names: Vec<&str> = about.conditions.iter().map(|condition| condition.name).collect();
    json!({
        "name": about.name,
        "question": about.question,
        "operation": about.operation,
        "axis": about.axis,
        "axes": about.axes().map(|axis| axis.name).collect::<Vec<_>>(),
        "conditions": names,
        "not_measured": about.not_measured,
        "subjects": subjects,
    })
}

fn of_mechanism(mechanism: &Mechanism) -> Value {
    json!({
        "name": mechanism.name,
        "label": mechanism.label,
        "summary": mechanism.summary,
        "trigger": trigger(mechanism),
        "limits": mechanism.limits,
        "unavailable": (mechanism.available)().err().map(|why| why.0),
    })
}
