//! `knee load --find`: the highest rate at which the goals hold, by loads of one rate each.

use super::point::Point;
use super::report::{Figures, PlanView};
use super::server::Watcher;
use super::text::warnings::{BUSY_SHARE, late_sends, no_tls, unverified};
use super::text::{answered_per_s, behaviours, load_row, section};
use super::{Load, failed};
use crate::exit::{Exit, Trouble};
use crate::output::{print, print_json};
use ::load::{Arrivals, Counts, Outcome, Plan, Shape, Url};
use analysis::Estimate;
use analysis::capacity::{Capacity, Goal, NextLoad, Search, Trial};
use engine::Stop;
use findings::format::{interval, percent, quantity, significant, time};
use model::Warning;
use schemars::JsonSchema;
use serde::Serialize;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// All of a search but its warming up: a newcomer waits for a minute, not longer.
const SEARCH_MAX: Duration = Duration::from_secs(50);
/// A closed loop warms the server for so many of these at most, until two agree.
const WARM_UP: Duration = Duration::from_millis(500);
const WARM_UPS_MAX: usize = 20;
/// Rates that agree: a server that is still compiling its code gains more.
const LEVEL: f64 = 0.05;
/// The part of a load before anything counts, for its connections to open.
const OPENING: f64 = 0.1;

#[derive(Clone, Debug, PartialEq)]
pub struct Goals(Vec<Wanted>);

#[derive(Clone, Debug, PartialEq)]
struct Wanted {
    text: String,
    goal: Goal,
}

impl FromStr for Goals {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        typed.split(',').map(wanted).collect::<Result<_, _>>().map(Goals)
    }
}

fn wanted(typed: &str) -> Result<Wanted, String> {
    let wrong = || {
        format!(
            "`{typed}` is no goal (such as p99<10ms, p99.9<1s or failures<1%, with a comma between several)"
        )
    };
    let (what, limit) = typed.split_once('<').ok_or_else(wrong)?;
    let (what, limit) = (what.trim(), limit.trim());
    if what == "failures" {
        let allowed = quantities::percentage(limit).map_err(|_| wrong())?;
        let is_share = allowed > 0.0 && allowed < 1.0;
        let text = format!("failures < {}", percent(allowed));
        let goal = Goal { allowed, limit_s: None };
        return is_share.then_some(Wanted { text, goal }).ok_or_else(wrong);
    }
    let quantile = what.strip_prefix('p').and_then(|digits| digits.parse::<f64>().ok());
    let quantile =
        quantile.filter(|quantile| (50.0..=99.99).contains(quantile)).ok_or_else(wrong)?;
    let limit_s = quantities::time_ns(limit).map_err(|_| wrong())? as f64 / 1e9;
    let text = format!("{what} < {}", time(limit_s * 1e9));
    let goal = Goal { allowed: 1.0 - quantile / 100.0, limit_s: Some(limit_s) };
    (limit_s > 0.0).then_some(Wanted { text, goal }).ok_or_else(wrong)
}

struct Found<'a> {
    url: &'a Url,
    plan: &'a Plan,
    goals: &'a [Wanted],
    capacity: Capacity,
    /// Whether the rate was level when the search began.
    is_warm: bool,
    /// In the order of their rates.
    loads: Vec<Measured>,
    disturbances: Vec<Warning>,
}

struct Measured {
    trial: Trial,
    is_borne: bool,
    point: Point,
}

pub fn find(
    ask: &Load,
    goals: &Goals,
    url: &Url,
    plan: &Plan,
    stop: &Stop,
) -> Result<Exit, Trouble> {
    let mut watcher = Watcher::new(&plan.target.address);
    let (closed_per_s, is_warm) = warm_up(plan, stop)?;
    let goals = &goals.0[..];
    let mut search =
        Search::new(goals.iter().map(|wanted| wanted.goal).collect(), closed_per_s / 2.0);
    let (mut loads, begun) = (Vec::<Measured>::new(), Instant::now());
    while let Some(next) = search.next_load() {
        let counted = Duration::from_secs_f64(next.length_s);
        if begun.elapsed() + counted > SEARCH_MAX || stop.is_requested() {
            break;
        }
        let shape = Shape::Open(Arrivals::Poisson { per_s: next.rate_per_s });
        let load = Plan {
            shape,
            seed: plan.seed.wrapping_add(loads.len() as u64),
            duration: Some(counted),
            warm_up: counted.mul_f64(OPENING),
            interval: counted / 10,
            ..plan.clone()
        };
        let measured = Point::measure(None, true, &load, &mut watcher, stop, &mut |_| {});
        let point = measured.map_err(|error| failed(&error))?;
        let trial = trial(next, goals, &point.outcome);
        search.trials.push(trial.clone());
        loads.push(Measured { is_borne: search.is_borne(&trial), trial, point });
    }
    loads.sort_by(|a, b| a.trial.rate_per_s.total_cmp(&b.trial.rate_per_s));
    let capacity = search.capacity();
    let disturbances = watcher.disturbances(&watcher.last_look());
    let search = Found { url, plan, goals, capacity, is_warm, loads, disturbances };
    if ask.json {
        print_json(&search.view())?;
    } else {
        print(&search.text())?;
    }
    Ok(match capacity {
        _ if stop.is_requested() => Exit::Interrupted,
        Capacity::Unknown | Capacity::Nothing { .. } => Exit::Failed,
        Capacity::AtLeast { .. } | Capacity::Rate { .. } => Exit::Done,
    })
}

/// A closed loop until its rate is level: the last rate, and whether it is.
fn warm_up(plan: &Plan, stop: &Stop) -> Result<(f64, bool), Trouble> {
    let load = Plan {
        shape: Shape::Closed,
        duration: Some(WARM_UP),
        interval: WARM_UP / 5,
        ..plan.clone()
    };
    let mut before = 0.0;
    for _ in 0..WARM_UPS_MAX {
        let outcome = ::load::run(&load, &stop.requested, None).map_err(|error| failed(&error))?;
        let rate = answered_per_s(&outcome);
        if stop.is_requested() {
            return Err(Trouble::interrupted("interrupted while the server was warmed up"));
        }
        if rate <= 0.0 {
            return Err(Trouble::failed(
                "no request of a closed loop had a successful reply: knee load without --find says why",
            ));
        }
        if (rate / before - 1.0).abs() <= LEVEL {
            return Ok((rate, true));
        }
        before = rate;
    }
    Ok((before, false))
}

fn trial(load: NextLoad, goals: &[Wanted], outcome: &Outcome) -> Trial {
    let NextLoad { rate_per_s, length_s } = load;
    let due = outcome.counts.requests + outcome.counts.unsent;
    let missed = goals.iter().map(|wanted| {
        let holding = wanted.goal.limit_s.map_or(outcome.counts.replies, |limit_s| {
            outcome.latency.count_within((limit_s * 1e9) as u64)
        });
        due.saturating_sub(holding)
    });
    Trial { rate_per_s, length_s, due, missed: missed.collect() }
}

impl Found<'_> {
    fn wanted(&self) -> String {
        let texts: Vec<&str> = self.goals.iter().map(|wanted| wanted.text.as_str()).collect();
        texts.join(" and ")
    }

    /// Whether the lowest rate that was too much was so for the generator.
    fn is_generators(&self) -> bool {
        let missed = self.loads.iter().find(|load| !load.is_borne);
        missed.is_some_and(|load| load.point.outcome.counts.busy_share > BUSY_SHARE)
    }

    fn sentence(&self) -> String {
        let (host, wanted) = (self.url, self.wanted());
        match self.capacity {
            Capacity::Unknown if self.loads.is_empty() => format!("{host}: no load was measured."),
            Capacity::Unknown => {
                format!("{host}: the loads have too few requests to show {wanted}.")
            }
            Capacity::Nothing { goal, is_open } => {
                let goal = &self.goals[goal].text;
                let few = if is_open { " with enough requests to show it" } else { "" };
                format!("{host} holds {goal} at no rate that was tried{few}.")
            }
            Capacity::AtLeast { rate_per_s } => {
                format!(
                    "{host} bears {} requests/s at least with {wanted}.",
                    significant(rate_per_s)
                )
            }
            Capacity::Rate { rate_per_s, .. } if self.is_generators() => format!(
                "{host} bears {} requests/s at least with {wanted}; beyond, the generator is the limit.",
                significant(rate_per_s.low)
            ),
            Capacity::Rate { rate_per_s, goal } => format!(
                "{host} bears {} requests/s{} with {wanted}; beyond, it misses {} first.",
                significant(rate_per_s.value),
                interval(rate_per_s, significant),
                self.goals[goal].text
            ),
        }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{}\n{} · requests at random times\n\n",
            self.sentence(),
            quantity(self.plan.connections as u64, "connection")
        );
        let names = ["rate/s", "seconds", "replies/s", "p50", "p99", "max", "missed"];
        text += &load_row(&names.map(str::to_owned));
        for Measured { trial, point, .. } in &self.loads {
            let outcome = &point.outcome;
            let missed = trial.missed.iter().copied().max().unwrap_or(0);
            text += &load_row(&[
                significant(trial.rate_per_s),
                significant(outcome.elapsed_s),
                significant(answered_per_s(outcome)),
                time(outcome.latency.p50),
                time(outcome.latency.p99),
                time(outcome.latency.max),
                percent(missed as f64 / trial.due.max(1) as f64),
            ]);
        }
        let points = self.loads.iter().map(|load| &load.point);
        text += &section("The server", &behaviours(points));
        text + &section("Caveats", &self.caveats())
    }

    fn caveats(&self) -> Vec<String> {
        let mut all = Vec::new();
        if !self.is_warm {
            let s = WARM_UP.as_secs_f64() * WARM_UPS_MAX as f64;
            all.push(format!("The rate of a closed loop was not level after {} s: the server may not be warm. → again", significant(s)));
        }
        if self.is_generators() {
            all.push(format!("A thread of the generator was busy for more than {} of the time. → --threads, with a CPU for each", percent(BUSY_SHARE)));
        }
        let mut counts = Counts::default();
        self.loads.iter().for_each(|load| counts += &load.point.outcome.counts);
        all.extend(late_sends(&counts));
        all.extend(no_tls(&counts));
        all.extend(unverified(self.plan));
        all.extend(self.disturbances.iter().map(Warning::line));
        all
    }

    fn view(&self) -> FindView<'_> {
        let (bears_per_s, goal) = match self.capacity {
            Capacity::Rate { rate_per_s, goal } => (Some(rate_per_s), Some(goal)),
            Capacity::AtLeast { rate_per_s } => {
                // Infinity is null in JSON: it has no upper end.
                let (value, low, high) = (rate_per_s, rate_per_s, f64::INFINITY);
                (Some(Estimate { value, low, high }), None)
            }
            Capacity::Nothing { goal, .. } => (None, Some(goal)),
            Capacity::Unknown => (None, None),
        };
        FindView {
            text: self.sentence(),
            url: self.url.to_string(),
            goals: self.goals.iter().map(|wanted| wanted.text.as_str()).collect(),
            bears_per_s,
            misses_first: goal.map(|goal| self.goals[goal].text.as_str()),
            generator_is_limit: self.is_generators(),
            is_warm: self.is_warm,
            disturbances: &self.disturbances,
            loads: self.loads.iter().map(TrialView::new).collect(),
            plan: PlanView::new(self.plan),
        }
    }
}

/// The output of `knee load --find --json`.
#[derive(Serialize, JsonSchema)]
pub struct FindView<'a> {
    /// The answer in one sentence.
    text: String,
    url: String,
    goals: Vec<&'a str>,
    /// The rate that is borne, with its 95 % CI; a null upper end where it was never too much.
    bears_per_s: Option<Estimate>,
    /// The goal that is missed first beyond it.
    misses_first: Option<&'a str>,
    generator_is_limit: bool,
    /// Whether the rate of a closed loop was level when the search began.
    is_warm: bool,
    /// What disturbed the machine meanwhile.
    disturbances: &'a [Warning],
    /// By their rates, ascending.
    loads: Vec<TrialView<'a>>,
    plan: PlanView,
}

/// A load of one rate.
#[derive(Serialize, JsonSchema)]
struct TrialView<'a> {
    rate_per_s: f64,
    /// How many requests missed each goal.
    missed: Vec<u64>,
    #[serde(flatten)]
    figures: Figures<'a>,
}

impl<'a> TrialView<'a> {
    fn new(load: &'a Measured) -> Self {
        let Measured { trial, point, .. } = load;
        Self {
            rate_per_s: trial.rate_per_s,
            missed: trial.missed.clone(),
            figures: Figures::new(point),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_quantiles_of_latency_and_shares_of_failures() {
        let goals: Goals = "p99<10ms,failures<0.5%".parse().unwrap();
        let texts: Vec<&str> = goals.0.iter().map(|wanted| wanted.text.as_str()).collect();
        assert_eq!(texts, ["p99 < 10.0 ms", "failures < 0.5 %"]);
        assert!((goals.0[0].goal.allowed - 0.01).abs() < 1e-9);
        assert_eq!((goals.0[0].goal.limit_s, goals.0[1].goal.limit_s), (Some(0.01), None));
        for wrong in [
            "",
            "p99",
            "p99>1ms",
            "p0<1ms",
            "p100<1ms",
            "p99<10",
            "p99<0",
            "failures<0%",
            "mean<1ms",
        ] {
            assert!(wrong.parse::<Goals>().is_err(), "{wrong}");
        }
    }
}
