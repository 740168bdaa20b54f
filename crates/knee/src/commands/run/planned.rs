//! From flags, with a suite or an original where one is named, to a plan.

use crate::commands::run::flags::Run as RunFlags;
use crate::exit::{Trouble, complain};
use crate::{config, originals};
use ::record::{Plan, Value};
use engine::{RunRequest, Secrets};

/// The plan of what was asked for, and what it must not hold. With a budget it has every round that there may be.
pub fn planned(flags: &RunFlags) -> Result<(Plan, Secrets), Trouble> {
    let (request, secrets) = request(flags)?;
    Ok((engine::plan(&request, workloads::TABLE)?, secrets))
}

/// Rounds of two runs that take turns, where none are named. A comparison asks for more than a run: with
/// the usual five to nine, noise of a shared machine hides a change of a tenth.
const ROUNDS_IN_TURNS: u32 = 20;

/// The plan of two runs that take turns: every round of both. A budget of the suite is left out.
pub fn planned_in_turns(flags: &RunFlags) -> Result<(Plan, Secrets), Trouble> {
    let (mut request, secrets) = request(flags)?;
    if !request.quick && !request.full {
        request.rounds.get_or_insert(ROUNDS_IN_TURNS);
    }
    if request.budget.take().is_some() | request.precision.take().is_some() {
        complain(
            "knee: the suite's budget and precision are left out: both sides measure every round",
        );
    }
    Ok((engine::plan(&request, workloads::TABLE)?, secrets))
}

/// The request without passwords in URLs, and what was removed from it.
fn request(flags: &RunFlags) -> Result<(RunRequest, Secrets), Trouble> {
    let request = originals::with_original(flags.like.as_deref(), flags.request());
    let mut request = config::with_suite(flags, request)?;
    let mut secrets = Secrets::default();
    let overrides = request.overrides.values_mut().map(|overrides| &mut overrides.parameters);
    for (name, values) in overrides.chain([&mut request.parameters]).flatten() {
        for value in values {
            *value = secrets.hide(value).map_err(|hidden| same_without_password(name, &hidden))?;
        }
    }
    Ok((request, secrets))
}

fn same_without_password(name: &str, hidden: &Value) -> Trouble {
    Trouble::usage(format!(
        "--{name}: two values differ only in user name or password ({hidden}), which are not recorded; \
         measure one of them"
    ))
}
