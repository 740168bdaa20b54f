//! `knee advise`: which mechanism is cheapest, from what was measured on this machine.

pub mod flags;
mod live;
mod measuring;
mod profile;
mod spot;
mod wakeups;

use crate::commands::read::advise::flags::Advise;
use crate::commands::read::advise::measuring::MEASURED_BY;
use crate::commands::read::advise::spot::advice;
use crate::exit::{Exit, Trouble};
use crate::output::{print, print_json, style};
use ::model::Value;
use analysis::advise::Spot;
use quantities::expanded;

pub fn advise(ask: &Advise) -> Result<Exit, Trouble> {
    let names: Vec<&str> = readiness::all().map(|row| row.name).collect();
    let ask = &Advise { mechanisms: expanded(&ask.mechanisms, &names), ..ask.clone() };
    check_mechanisms(&ask.mechanisms)?;
    if let (Some(pid), true) = (ask.pid, ask.profile) {
        return profile::profile(ask, pid);
    }
    if let Some(pid) = ask.pid {
        return live::advise(ask, pid);
    }
    let spot = spot(ask)?;
    let advice = advice(ask, spot, [spot.active; 2])?;
    if ask.json {
        print_json(&report::advice::json(&advice))?;
    } else {
        print(&report::advice::text(&advice, &style(false)))?;
    }
    Ok(Exit::Done)
}

fn check_mechanisms(mechanisms: &[String]) -> Result<(), Trouble> {
    match mechanisms.iter().find(|name| readiness::find(name).is_none()) {
        None => Ok(()),
        Some(name) if http::mechanisms().iter().any(|row| row.name == name) => Err(Trouble::usage(
            format!("{name} is only a server's: `knee run dead --subjects {name}` measures it"),
        )),
        Some(name) => Err(Trouble::usage(format!(
            "no mechanism is called `{name}`; `knee list mechanisms` shows them all"
        ))),
    }
}

/// The spot as typed, by the rules of the workload that would measure it.
fn spot(ask: &Advise) -> Result<Spot, Trouble> {
    let total = checked(ask.total.as_ref(), "pipes", "total")?.number().unwrap_or_default();
    let active =
        checked(ask.active.as_ref(), "tokens", "active")?.resolve(total).unwrap_or_default();
    if active > total {
        let what = format!("--active {active} is more than --total {total}");
        return Err(Trouble::usage(what));
    }
    Ok(Spot { total: total as f64, active: active as f64 })
}

fn checked(value: Option<&Value>, parameter: &str, flag: &str) -> Result<Value, Trouble> {
    let row = workloads::find(MEASURED_BY);
    let parameter = row.and_then(|row| row.about().parameter(parameter));
    let parameter = parameter.ok_or_else(|| Trouble::failed(format!("no {MEASURED_BY} here")))?;
    let value = value.ok_or_else(|| Trouble::usage(format!("--{flag} is missing")))?;
    parameter.check(value, flag).map_err(Trouble::usage)
}
