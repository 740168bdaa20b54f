//! From flags, with a suite or an original where one is named, to a plan.

use crate::commands::run::flags::Run as Asked;
use crate::exit::{Trouble, complain};
use crate::{config, like};
use ::record::Plan;
use engine::RunRequest;

/// The plan of what was asked for. With a budget it holds every round that there may be.
pub fn planned(asked: &Asked) -> Result<Plan, Trouble> {
    Ok(engine::plan(&request(asked)?, workloads::TABLE)?)
}

/// Rounds of two runs that take turns, where none are named. A comparison asks for more than a run: with
/// the usual five to nine, noise of a shared machine hides a change of a tenth.
const ROUNDS_IN_TURNS: u32 = 20;

/// The plan of two runs that take turns: every round of both. A budget of the suite is left out.
pub fn planned_in_turns(asked: &Asked) -> Result<Plan, Trouble> {
    let mut request = request(asked)?;
    if !request.quick && !request.full {
        request.rounds.get_or_insert(ROUNDS_IN_TURNS);
    }
    if request.budget.take().is_some() | request.precision.take().is_some() {
        complain(
            "knee: the suite's budget and precision are left out: both sides measure every round",
        );
    }
    Ok(engine::plan(&request, workloads::TABLE)?)
}

fn request(asked: &Asked) -> Result<RunRequest, Trouble> {
    let flags = like::with_original(asked.like.as_deref(), asked.request());
    config::with_suite(asked, flags)
}
