//! The advice for one spot: a number of watched descriptors, and the number of active ones.

use crate::commands::measure::run;
use crate::commands::read::advise::flags::Advise;
use crate::commands::read::advise::measuring::{MEASURED_BY, Measuring, measuring, words};
use crate::commands::record_location;
use crate::exit::{Trouble, complain};
use analysis::advise::{Advice, Ground, Spot, grounds, only_grounds, subjects_in_range};
use archive::Location;
use findings::format::{count, resume_command};
use model::{HostRole, Run, RunState, Value};
use report::advice::{Source, SourcedAdvice, Substitution, mean_count};

/// From the record; with --measure, measured where that lacks a mechanism anywhere between `ends`.
pub fn advice(ask: &Advise, spot: Spot, ends: [f64; 2]) -> Result<SourcedAdvice, Trouble> {
    let location = record_location(&ask.record_file)?;
    let recorded_advice = recorded(ask, spot, &location)?;
    if let Some(advice) = recorded_advice
        && (!ask.measure || covers(ask, &advice, ends, &location)?)
    {
        return Ok(advice);
    }
    let measuring = measuring(ask, spot, ends)?;
    if ask.measure {
        return measured(ask, spot, measuring);
    }
    Err(Trouble::not_possible(nothing(spot, &location, &measuring)))
}

/// The advice of the newest run of this machine of those that cover the spot for most mechanisms.
fn recorded(
    ask: &Advise,
    spot: Spot,
    location: &Location,
) -> Result<Option<SourcedAdvice>, Trouble> {
    if location.file().is_some_and(|file| !file.exists()) {
        return Ok(None);
    }
    let archive = archive::open_read_only(location)?;
    let here = engine::host();
    let mut best_run: Option<SourcedAdvice> = None;
    let wanted = wanted(ask);
    for summary in archive.runs()?.iter().rev().filter(|run| run.cells_ended > 0) {
        let (plan, host) = archive.plan_and_host(summary.number)?;
        let has_host = !host.facts.is_empty();
        let is_here = has_host
            && here.machine_match(&host).is_joinable()
            && here.differing(&host, HostRole::Resume).is_empty();
        let in_range = subjects_in_range(&plan, spot);
        let covers = in_range.iter().filter(|name| wanted.iter().any(|wanted| wanted == *name));
        let ranked = best_run.as_ref().map_or(0, |best| best.advice.ranking.len());
        // Loading a run and analysing it takes most of the time: only where it can be better.
        if !is_here || covers.count() <= ranked {
            continue;
        }
        let run = only_grounds(archive.load(summary.number)?);
        let Some(advice) = best(&run, spot, &wanted) else { continue };
        let is_whole = advice.absent.is_empty();
        if advice.ranking.len() > ranked {
            best_run = Some(with_source(advice, &run, Source::Recorded));
        }
        if is_whole {
            break;
        }
    }
    Ok(best_run)
}

/// Whether the record has every mechanism that can be measured here, at the spot and at both ends.
fn covers(
    ask: &Advise,
    advice: &SourcedAdvice,
    ends: [f64; 2],
    location: &Location,
) -> Result<bool, Trouble> {
    let is_available =
        |name: &String| readiness::find(name).is_some_and(|row| (row.available)().is_ok());
    let is_whole = |advice: &SourcedAdvice| !advice.advice.absent.iter().any(is_available);
    let spot = advice.advice.spot;
    for active in ends.into_iter().filter(|active| active.to_bits() != spot.active.to_bits()) {
        let at_end = recorded(ask, Spot { active, ..spot }, location)?;
        if !at_end.as_ref().is_some_and(is_whole) {
            return Ok(false);
        }
    }
    Ok(is_whole(advice))
}

/// The mechanisms that were named, or all that are available here.
fn wanted(ask: &Advise) -> Vec<String> {
    if !ask.mechanisms.is_empty() {
        return ask.mechanisms.clone();
    }
    let available = readiness::all().filter(|row| (row.available)().is_ok());
    available.map(|row| row.name.to_owned()).collect()
}

fn measured(ask: &Advise, spot: Spot, measuring: Measuring) -> Result<SourcedAdvice, Trouble> {
    let Measuring { flags, substitution } = measuring;
    let (claimed, unsaved) = run::measured(&flags, words(&flags))?;
    if let Some(unsaved) = &unsaved {
        complain(&format!("knee: {}", run::lost(unsaved)));
    }
    let run = &claimed.run;
    if run.summary.state != RunState::Complete {
        let resume = resume_command(run.summary.number, ask.record_file.flag());
        return Err(Trouble::interrupted(format!("interrupted; `{resume}` goes on from here")));
    }
    best(run, spot, &wanted(ask))
        .map(|advice| SourcedAdvice { substitution, ..with_source(advice, run, Source::Measured) })
        .ok_or_else(|| Trouble::failed("nothing of it could be measured: see `knee show last`"))
}

/// The advice of the ground that is most like a server's: pipetest before poll, and activity all
/// over the descriptors before activity at one end.
fn best(run: &Run, spot: Spot, mechanisms: &[String]) -> Option<Advice> {
    let analysis = analysis::analyse(run);
    let mut grounds = grounds(&analysis);
    grounds.sort_by_key(unlike_a_server);
    grounds.iter().find_map(|ground| ground.advise(spot, mechanisms))
}

fn unlike_a_server(ground: &Ground) -> (bool, u8) {
    let lies = ground.parameters.get("spread").or(ground.parameters.get("activity"));
    let lies = match lies.and_then(Value::word) {
        Some("random") => 0,
        Some("spaced") => 1,
        Some("tail" | "sequential") => 2,
        // The original rule makes fewer pipes active than there are tokens, from half on.
        _ => 3,
    };
    (ground.workload != MEASURED_BY, lies)
}

fn with_source(advice: Advice, run: &Run, source: Source) -> SourcedAdvice {
    let started = run.summary.started.get(..10).unwrap_or_default().to_owned();
    SourcedAdvice { advice, run: run.summary.number, date: started, source, substitution: None }
}

fn nothing(spot: Spot, location: &Location, measuring: &Measuring) -> String {
    let substituted = measuring.substitution.as_ref().map(|substitution| {
        let Substitution { parameter, wanted, used, because } = substitution;
        format!(" (--{parameter} {used} instead of {wanted}: {because})")
    });
    format!(
        "{location}: no run of this machine covers {} active of {} watched descriptors; run `{}`{}, or the same \
         with --measure",
        mean_count(spot.active),
        count(spot.total as u64),
        measuring.command(),
        substituted.unwrap_or_default()
    )
}
