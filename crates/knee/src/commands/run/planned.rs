//! From flags, and a suite where one is named, to a plan.

use crate::args::Run as Asked;
use crate::config;
use crate::exit::{Trouble, complain};
use ::record::{Budget, Plan};
use engine::{Ask, AskError, Own, Workload};
use std::collections::BTreeMap;
use std::time::Duration;

/// The plan of what was asked for. With a budget it holds every round that there may be.
pub fn planned(asked: &Asked) -> Result<Plan, Trouble> {
    let (asked, own) = config::filled(asked)?;
    plan(&asked, own)
}

/// Rounds of two that take turns, where nothing is said of them. A comparison asks for more than a run:
/// with the usual five to nine, a change of a tenth can't be told from a shared machine's noise.
const ROUNDS_IN_TURNS: &str = "20";

/// Every round of what two are to do in turns: a budget that a suite has is left out, and said to be.
pub fn planned_in_turns(asked: &Asked) -> Result<Plan, Trouble> {
    let (mut asked, own) = config::filled(asked)?;
    if asked.rounds.is_none() && !asked.quick && !asked.full {
        asked.rounds = Some(ROUNDS_IN_TURNS.to_owned());
    }
    if budget(&asked).is_some() {
        complain(
            "knee: the suite's budget and precision are left out: both sides measure every round",
        );
    }
    plan(&Asked { budget: None, precision: None, ..asked }, own)
}

fn plan(asked: &Asked, own: BTreeMap<String, Own>) -> Result<Plan, Trouble> {
    let mut ask = Ask { own, ..ask(asked)? };
    if let (Some(budget), None) = (ask.budget, &asked.rounds) {
        let own =
            ask.own.iter().map(|(name, own)| (name.clone(), Own { rounds: None, ..own.clone() }));
        let once = Ask { rounds: Some(1), own: own.collect(), ..ask.clone() };
        let places = engine::plan(&once, workloads::TABLE)?.cells.len();
        ask.rounds = Some(engine::budget::rounds_most(places, budget));
    }
    Ok(engine::plan(&ask, workloads::TABLE)?)
}

/// What ends the rounds early, where something does.
fn budget(asked: &Asked) -> Option<Budget> {
    (asked.budget.is_some() || asked.precision.is_some()).then(|| Budget {
        time_ms: asked.budget.map_or(0, |time| time.as_millis() as u64),
        precision: asked.precision.unwrap_or(0.0),
    })
}

/// What was asked for, resolved: every default filled in.
fn ask(asked: &Asked) -> Result<Ask, AskError> {
    let quick = asked.quick || (asked.workloads.is_empty() && !asked.full);
    let (rounds, time) = match (quick, asked.full) {
        (true, _) => (None, Duration::from_millis(30)),
        (_, true) => (Some(10), Duration::from_millis(250)),
        _ => (None, usual_time(&asked.workloads)),
    };
    let asked_rounds = asked.rounds.as_deref().map(Ask::read_rounds).transpose()?;
    let time = asked.time.unwrap_or(time);
    Ok(Ask {
        workloads: asked.workloads.clone(),
        subjects: compared(asked)?,
        axis: asked.axis.clone(),
        points: asked.points.clone(),
        parameters: asked.parameters.clone(),
        rounds: asked_rounds.or(rounds),
        quick,
        measure_ms: time.as_millis() as u64,
        deadline_ms: asked.deadline.map(|deadline| deadline.as_millis() as u64),
        pinned_cpus: asked.pin.clone(),
        seed: asked.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)),
        own: BTreeMap::new(),
        budget: budget(asked),
    })
}

/// The subjects that were named, or all, without those that were left out.
fn compared(asked: &Asked) -> Result<Vec<String>, AskError> {
    let without = config::left_out(asked);
    if without.is_empty() {
        return Ok(asked.subjects.clone());
    }
    let chosen = |row: &&&dyn Workload| {
        asked.workloads.is_empty() || asked.workloads.iter().any(|name| name == row.about().name)
    };
    let known: Vec<&str> = workloads::TABLE
        .iter()
        .filter(chosen)
        .flat_map(|row| row.subjects())
        .map(|subject| subject.name)
        .collect();
    if let Some(stray) = without.iter().find(|name| !known.contains(&name.as_str())) {
        let of = asked.workloads.join(" and ");
        return Err(AskError::Usage(format!("{stray} is no subject of {of}; see `knee list`")));
    }
    let named = |name: &str| {
        asked.subjects.is_empty() || asked.subjects.iter().any(|subject| subject == name)
    };
    let left = known.into_iter().filter(|name| named(name) && !without.iter().any(|w| w == name));
    let left: Vec<String> = left.map(ToOwned::to_owned).collect();
    if left.is_empty() {
        return Err(AskError::Usage("nothing is left to compare; leave fewer out".into()));
    }
    Ok(left)
}

/// The time that is usual for the workloads of that name: the most of each.
fn usual_time(names: &[String]) -> Duration {
    let all = workloads::TABLE.iter().map(|row| row.about());
    let usual = all.filter(|about| names.iter().any(|name| name == about.name));
    Duration::from_millis(usual.map(|about| about.usual.measure_ms).max().unwrap_or(0))
}
