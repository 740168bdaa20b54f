//! From flags, with a suite or an original where one is named, to a plan.

use crate::commands::measure::config;
use crate::commands::measure::run::custom::{check_urls, directory, with_custom};
use crate::commands::measure::run::flags::Run as RunFlags;
use crate::exit::{Trouble, note};
use crate::originals;
use engine::{RunRequest, Secrets};
use model::{CommandOutput, Plan};
use rustix::fs::FileType;
use std::ffi::OsString;
use std::os::fd::AsFd;

/// The plan of what was asked for, and what it must not hold. With a budget it has every round that there may be.
pub fn planned(flags: &RunFlags) -> Result<(Plan, Secrets), Trouble> {
    let (request, secrets) = request(flags)?;
    Ok((plan(&request)?, secrets))
}

/// Rounds of two runs that take turns, where none are named. A comparison asks for more than a run: with
/// the usual five to nine, noise of a shared machine hides a change of a tenth.
const ROUNDS_IN_TURNS: u32 = 20;

/// The plan of two runs that take turns: every round of both, each with its `PATH`, and no budget.
pub fn planned_in_turns(
    flags: &RunFlags,
    paths: [OsString; 2],
) -> Result<(Plan, Secrets), Trouble> {
    let (mut request, secrets) = request(flags)?;
    request.custom.get_or_insert_default().search_paths = paths.into();
    if !request.quick && !request.full {
        request.rounds.get_or_insert(ROUNDS_IN_TURNS);
    }
    if request.budget.take().is_some() | request.precision.take().is_some() {
        note("knee: the suite's budget and precision are left out: both sides measure every round");
    }
    Ok((plan(&request)?, secrets))
}

/// The plan of a request. What a user added runs in the directory of its suite, if that names one, or here: a flag
/// that adds more changes nothing of that.
fn plan(request: &RunRequest) -> Result<Plan, Trouble> {
    let mut plan = engine::plan(request, workloads::all())?;
    if let Some(profile) = plan.profile {
        engine::check_profile(profile).map_err(Trouble::not_possible)?;
    }
    for custom in plan.workloads.iter_mut().filter_map(|workload| workload.custom.as_mut()) {
        custom.directory = directory()?.join(&custom.directory);
        if custom.output == Some(CommandOutput::Inherit) && is_socket(&std::io::stderr()) {
            return Err(Trouble::usage(
                "--stdout inherit: standard error is a socket, which a command can't be given; name a file, or \
                 append 2>&1 | cat",
            ));
        }
    }
    Ok(plan)
}

/// Whether it can't be opened by its number, as a worker opens it.
fn is_socket(file: &impl AsFd) -> bool {
    let stat = rustix::fs::fstat(file);
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Socket)
}

/// The request without passwords in URLs, and what was removed from it.
fn request(flags: &RunFlags) -> Result<(RunRequest, Secrets), Trouble> {
    let request = originals::with_original(flags.like.as_deref(), flags.request());
    let request = with_custom(flags, request)?;
    let mut request = config::with_suite(flags, request)?;
    let each = request.overrides.values().map(|overrides| &overrides.custom);
    for custom in each.chain([&request.custom]).flatten() {
        check_urls(custom, flags.custom.yes_i_own_this_host).map_err(Trouble::usage)?;
    }
    let mut secrets = Secrets::default();
    let overrides = request.overrides.iter_mut().map(|(name, overrides)| {
        (Some(name.as_str()), &mut overrides.custom, &mut overrides.parameters)
    });
    let whole = (None, &mut request.custom, &mut request.parameters);
    for (workload, custom, parameters) in overrides.chain([whole]) {
        if let Some(custom) = custom {
            let hidden = secrets.hide_custom(workload, custom);
            hidden.map_err(|error| Trouble::usage(error.to_string()))?;
        }
        for (name, values) in parameters {
            let hidden =
                values.iter_mut().try_for_each(|value| secrets.hide(workload, name, value));
            hidden.map_err(|error| Trouble::usage(format!("--{name} {error}")))?;
        }
    }
    Ok((request, secrets))
}
