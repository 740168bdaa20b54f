//! The rate that a server bears: the highest at which a share of its requests misses a goal that is no larger than
//! allowed.
//!
//! A [`Search`] asks for loads of one rate each. First it doubles, quarters and halves the distance until it has a rate
//! at which the goal holds and one at which it does not. Then it stays near the rate between: the logit of the share
//! that misses is a straight line over the rate there, fitted by iterated least squares, and tried in turns below and
//! above. Requests of one load wait for each other, so that their misses are fewer than their number says: the error
//! comes from how far the loads scatter about the line.

use crate::Estimate;
use crate::stats::student::quantile_95;
use crate::thresholds::MARGIN;
use std::ops::Range;

/// Loads near the rate before it may be known well enough.
const TRIALS_MIN: usize = 12;
/// Half the width of the CI, as a share, that is well enough: two searches agree within the margin of a comparison.
const HALF_WIDTH: f64 = MARGIN / 2.0;
/// The rates between which there is one that is borne, before the search goes near it.
const BRACKET: f64 = 1.2;
/// How far from the rate, as a share, loads are part of the line, at least and at most.
const NEAR: [f64; 2] = [0.04, 0.3];
/// And in logits: the line is straight so far.
const NEAR_LOGITS: f64 = 2.5;
/// How far from the rate loads are put: a step of the rate is something, and they still count.
const STEP: [f64; 2] = [0.01, 0.2];
/// Loads are put where this many times the allowed share misses the goal, or this part of it.
const EXCESS: f64 = 3.0;
/// The requests, as a share of those of a load, that count as if the allowed share of them had missed the goal: a load
/// without any, or with nothing else, has a logit then, and the rate itself does not move.
const SHRINKAGE: f64 = 0.002;
/// As many requests show that a goal holds as may miss it so many times: of fewer, none may do so by chance. Source: the
/// rule of three.
const MISSES_MIN: f64 = 3.0;
/// Seconds of a load that is not near the rate.
const FAR_S: f64 = 1.0;
/// Seconds of one that is near, at least and at most.
const NEAR_S: [f64; 2] = [2.0, 8.0];
/// Requests a second below which there is no rate that is borne.
const RATE_MIN_PER_S: f64 = 1.0;

/// What a rate has to hold to be borne.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The share, above zero, of requests that may miss it.
    pub allowed: f64,
    /// The time within which requests are to be done; absent where it is about something else.
    pub limit_s: Option<f64>,
}

/// What a load at one rate showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Requests a second that were due.
    pub rate_per_s: f64,
    /// Seconds that it was to take.
    pub length_s: f64,
    /// Requests that were due.
    pub due: u64,
    /// Those that missed each goal.
    pub missed: Vec<u64>,
}

/// A load that a search asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NextLoad {
    /// Requests a second.
    pub rate_per_s: f64,
    /// How long.
    pub length_s: f64,
}

/// What is known of the rate that is borne.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Capacity {
    /// Nothing yet, or too few requests to show that the goals hold.
    Unknown,
    /// It misses this goal at each rate that was tried, or that was tried with enough requests to show that it holds.
    Nothing {
        /// The goal.
        goal: usize,
        /// Whether a load held it, with too few requests to show that.
        is_open: bool,
    },
    /// It was never too much.
    AtLeast {
        /// Requests a second.
        rate_per_s: f64,
    },
    /// From here on it misses a goal.
    Rate {
        /// Requests a second, with the 95 % CI.
        rate_per_s: Estimate,
        /// The goal that is missed first.
        goal: usize,
    },
}

/// A search for the rate that is borne.
#[derive(Clone, Debug)]
pub struct Search {
    goals: Vec<Goal>,
    first_per_s: f64,
    /// What all loads showed, in their order.
    pub trials: Vec<Trial>,
}

/// The line of one goal, and where it meets the allowed share.
#[derive(Clone, Copy, Debug)]
struct RisingLine {
    rate_per_s: Estimate,
    /// How far from the rate, as a share of it, the logit is one more.
    per_logit: f64,
    loads: usize,
}

impl Goal {
    /// How long a queue with this rate takes to forget that it began empty, ten times over: backlogs of the limit come
    /// and go as a random walk does, in heavy traffic with a time constant of a fifth of the rate × the limit².
    fn steady_s(self, rate_per_s: f64) -> f64 {
        2.0 * rate_per_s * self.limit_s.unwrap_or(0.0).powi(2)
    }

    /// By how much, as a share, a load may bear a rate that is not borne for ever: what the limit leaves to the
    /// server's full rate (as of a queue of exponential services, which leaves most), and what waits within the limit
    /// at its end.
    fn gap(self, rate_per_s: f64) -> f64 {
        let gap = |limit_s: f64| -self.allowed.ln() / (limit_s * rate_per_s) + limit_s / NEAR_S[1];
        self.limit_s.map_or(0.0, gap)
    }
}

impl Search {
    /// One that begins at a rate.
    pub fn new(goals: Vec<Goal>, first_per_s: f64) -> Self {
        Self { goals, first_per_s, trials: Vec::new() }
    }

    /// The next load; none when the rate is known well enough, or there is none.
    pub fn next_load(&self) -> Option<NextLoad> {
        let short = |rate_per_s| Some(NextLoad { rate_per_s, length_s: FAR_S });
        match self.bracket() {
            (None, None) => short(self.first_per_s),
            (Some(borne), None) => short(2.0 * borne),
            (None, Some(missed)) if missed / 4.0 < RATE_MIN_PER_S => None,
            (None, Some(missed)) => short(missed / 4.0),
            (Some(borne), Some(missed)) if missed > BRACKET * borne => {
                short((borne * missed).sqrt())
            }
            (Some(borne), Some(missed)) => {
                let rate_per_s = self.next_long_per_s((borne * missed).sqrt())?;
                let lengths_s = self.goals.iter().map(|goal| goal.steady_s(rate_per_s));
                let length_s = lengths_s.fold(0.0, f64::max).clamp(NEAR_S[0], NEAR_S[1]);
                Some(NextLoad { rate_per_s, length_s })
            }
        }
    }

    /// The rate that is borne, by all loads so far.
    pub fn capacity(&self) -> Capacity {
        let holding = |goal: usize| self.held_per_s(goal, |_| true);
        let lowest = |lowest: f64, goal: usize| holding(goal).map(|rate| lowest.min(rate));
        let Some(held_per_s) = self.goals().try_fold(f64::INFINITY, lowest) else {
            let goal = self.worst(self.goals().filter(|goal| holding(*goal).is_none()));
            let is_missed = self.trials.iter().any(|trial| self.excess_of(trial, goal) > 1.0);
            return if is_missed { self.nothing(goal) } else { Capacity::Unknown };
        };
        match self.bracket() {
            (None, None) => Capacity::Unknown,
            (Some(_), None) => Capacity::AtLeast { rate_per_s: held_per_s },
            (None, Some(_)) => self.nothing(self.worst(self.goals())),
            (Some(borne), Some(missed)) => {
                let value = (borne * missed).sqrt();
                if let Some((line, goal)) = self.first_missed(value) {
                    return Capacity::Rate { rate_per_s: line.rate_per_s, goal };
                }
                let goal = self.worst(self.goals());
                let low = self.at_least(goal, held_per_s.min(missed));
                let high = borne.max(missed) * (1.0 + STEP[0]);
                let rate_per_s = self.within_long(goal, Estimate { value, low, high });
                Capacity::Rate { rate_per_s, goal }
            }
        }
    }

    /// That no rate holds this goal.
    fn nothing(&self, goal: usize) -> Capacity {
        let mut asked = self.trials.iter().filter(|trial| trial.due > 0);
        let is_open = asked.any(|trial| self.excess_of(trial, goal) <= 1.0);
        Capacity::Nothing { goal, is_open }
    }

    /// The rate that is borne at least, where a load at `holding_per_s` held a goal.
    fn at_least(&self, goal: usize, holding_per_s: f64) -> f64 {
        holding_per_s * (1.0 - self.goals[goal].gap(holding_per_s) - STEP[0]).max(0.0)
    }

    /// Whether a load held all goals.
    pub fn is_borne(&self, trial: &Trial) -> bool {
        self.goals().all(|goal| self.excess_of(trial, goal) <= 1.0)
    }

    /// By how many times the allowed share a goal was missed.
    fn excess_of(&self, trial: &Trial, goal: usize) -> f64 {
        trial.missed[goal] as f64 / trial.due.max(1) as f64 / self.goals[goal].allowed
    }

    /// The highest rate that was borne and the lowest that was not. A load at a low rate may have no request, which
    /// says nothing, or few that were answered in time, which a long load refutes.
    fn bracket(&self) -> (Option<f64>, Option<f64>) {
        let refuting_per_s = self.goals().filter_map(|goal| self.sure(goal)[1]).reduce(f64::min);
        let is_refuted = |trial: &Trial| {
            let is_beyond = refuting_per_s.is_some_and(|refuting| refuting <= trial.rate_per_s);
            trial.length_s <= FAR_S && is_beyond
        };
        let tried = self.trials.iter().filter(|trial| trial.due > 0);
        let (borne, missed): (Vec<&Trial>, Vec<&Trial>) =
            tried.partition(|trial| self.is_borne(trial));
        let borne = borne.into_iter().filter(|trial| !is_refuted(trial)).map(|t| t.rate_per_s);
        let missed = missed.into_iter().map(|trial| trial.rate_per_s);
        (borne.reduce(f64::max), missed.reduce(f64::min))
    }

    fn goals(&self) -> Range<usize> {
        0..self.goals.len()
    }

    /// The rates of the loads that were longer than those that are only to find where the rate is.
    fn long_rates(&self, is: impl Fn(&Trial) -> bool) -> impl Iterator<Item = f64> {
        let long = self.trials.iter().filter(move |trial| trial.length_s > FAR_S && is(trial));
        long.map(|trial| trial.rate_per_s)
    }

    /// The goal, of these, that was missed by the most loads, and then by the most requests.
    fn worst(&self, goals: impl Iterator<Item = usize>) -> usize {
        let key = |goal: usize| {
            let excess = || self.trials.iter().map(move |trial| self.excess_of(trial, goal));
            (excess().filter(|excess| *excess > 1.0).count(), excess().sum::<f64>())
        };
        let is_more = |a: (usize, f64), b: (usize, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        goals.max_by(|a, b| is_more(key(*a), key(*b))).unwrap_or(0)
    }

    /// The next rate near the highest that is borne: below it and above it in turns, or between two that are farther apart
    /// than the loads show; none when it is known well enough.
    fn next_long_per_s(&self, middle_per_s: f64) -> Option<f64> {
        let is_above = self.trials.len().is_multiple_of(2);
        let aside = |rate_per_s: f64, step: f64| {
            Some(rate_per_s * if is_above { 1.0 + step } else { 1.0 - step })
        };
        let Some((line, goal)) = self.first_missed(middle_per_s) else {
            return aside(middle_per_s, (BRACKET - 1.0) / 2.0);
        };
        let Estimate { value, low, high } = line.rate_per_s;
        let is_wide = (high - low) / 2.0 > HALF_WIDTH * value;
        if let [Some(holding), Some(missed)] = self.sure(goal)
            && is_wide
            && missed > (1.0 + 2.0 * STEP[0]) * holding
            && (high - low) > (missed - holding)
        {
            return Some((holding * missed).sqrt());
        }
        let is_held = self.goals().all(|goal| self.sure(goal)[0].is_some());
        if line.loads >= TRIALS_MIN && !is_wide && is_held {
            return None;
        }
        aside(value, (line.per_logit * EXCESS.ln()).clamp(STEP[0], STEP[1]))
    }

    /// The highest rate at which long loads held a goal, and the lowest above at which most requests missed it.
    fn sure(&self, goal: usize) -> [Option<f64>; 2] {
        let missed = self.long_rates(|trial| 2 * trial.missed[goal] > trial.due).reduce(f64::min);
        let is_below = |trial: &Trial| missed.is_none_or(|missed| trial.rate_per_s < missed);
        let holding = self.held_per_s(goal, |trial| trial.length_s > FAR_S && is_below(trial));
        [holding, missed]
    }

    /// The highest rate from which on loads held a goal: it alone, or together with those above it until their requests
    /// are enough to show it.
    fn held_per_s(&self, goal: usize, is: impl Fn(&Trial) -> bool) -> Option<f64> {
        let mut loads: Vec<&Trial> = self.trials.iter().filter(|trial| is(trial)).collect();
        loads.sort_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
        let allowed = self.goals[goal].allowed;
        let is_held = |from: &usize| {
            let (mut due, mut missed) = (0, 0);
            loads[*from..].iter().any(|trial| {
                (due, missed) = (due + trial.due, missed + trial.missed[goal]);
                let allowed = allowed * due as f64;
                MISSES_MIN <= allowed && missed as f64 <= allowed
            })
        };
        let from = (0..loads.len()).rev().find(is_held)?;
        Some(loads[from].rate_per_s)
    }

    /// An estimate of a goal within what single long loads show. Where none holds one of the goals, at a rate below
    /// those at which most requests miss it, nothing is borne beyond the lowest rate that missed.
    fn within_long(&self, goal: usize, estimate: Estimate) -> Estimate {
        let Estimate { value, mut low, mut high } = estimate;
        if let [Some(holding), missed] = self.sure(goal) {
            low = low.max(self.at_least(goal, holding));
            high = missed.map_or(high, |missed| high.min(missed)).max(low);
        }
        for unheld in self.goals().filter(|goal| self.sure(*goal)[0].is_none()) {
            let missed = self.long_rates(|trial| self.excess_of(trial, unheld) > 1.0);
            if let Some(missed) = missed.reduce(f64::min) {
                high = high.min(missed);
                low = low.min(self.at_least(unheld, high));
            }
        }
        Estimate { value: value.clamp(low, high), low, high }
    }

    /// The line of the goal that is missed first, within what single loads show.
    fn first_missed(&self, middle_per_s: f64) -> Option<(RisingLine, usize)> {
        let within = |goal: usize| {
            let line = self.line(goal, middle_per_s)?;
            let rate_per_s = self.within_long(goal, line.rate_per_s);
            Some((RisingLine { rate_per_s, ..line }, goal))
        };
        let lines = self.goals().filter_map(within);
        lines.min_by(|a, b| a.0.rate_per_s.value.total_cmp(&b.0.rate_per_s.value))
    }

    /// The line of a goal, begun near a rate and drawn again around the one where it meets the allowed share, until it
    /// stays there; none with fewer than three loads.
    fn line(&self, goal: usize, from_per_s: f64) -> Option<RisingLine> {
        /// It stays after two or three; chance may have it go to and fro.
        const TIMES: usize = 8;
        let (mut middle_per_s, mut reach) = (from_per_s, NEAR[1]);
        let mut line = None;
        for _ in 0..TIMES {
            // Of a steep line there may be too few loads so near: the wider one says where to put more.
            let Some(next) = self.line_near(goal, middle_per_s, reach) else { break };
            let by = next.rate_per_s.value / middle_per_s;
            line = ((by - 1.0).abs() <= reach).then_some(next).or(line);
            if (by - 1.0).abs() <= STEP[0] {
                break;
            }
            middle_per_s *= by.clamp(1.0 - reach, 1.0 + reach);
            reach = (NEAR_LOGITS * next.per_logit).clamp(NEAR[0], NEAR[1]);
        }
        line
    }

    /// The line through the loads within this share of a rate.
    fn line_near(&self, goal: usize, middle_per_s: f64, reach: f64) -> Option<RisingLine> {
        let allowed = self.goals[goal].allowed;
        let x = |trial: &Trial| trial.rate_per_s / middle_per_s - 1.0;
        let is_near = |trial: &&Trial| x(trial).abs() <= reach && trial.length_s > FAR_S;
        let load = |trial: &Trial| Load {
            x: x(trial),
            due: trial.due as f64 * (1.0 + SHRINKAGE),
            has_missed: trial.missed[goal] > 0,
            missed: trial.missed[goal] as f64 + trial.due as f64 * SHRINKAGE * allowed,
        };
        let loads: Vec<Load> = self.trials.iter().filter(is_near).map(load).collect();
        let rest = loads.len().checked_sub(2).filter(|rest| *rest > 0)?;
        let fit = Fit::new(&loads, allowed)?;
        let root = -fit.level / fit.slope;
        // By the derivatives of the root: the level moves it by 1 over the slope, the slope by the root over the slope.
        let [level, both, slope] = fit.variance;
        let variance = (level + 2.0 * root * both + root * root * slope) / fit.slope.powi(2);
        let with_misses = loads.iter().filter(|load| load.has_missed).count();
        let freedom = (with_misses / 2).clamp(1, rest);
        let half = (quantile_95(freedom) * variance.sqrt()).max(STEP[0]);
        let at = |x: f64| middle_per_s * (1.0 + x).max(0.0);
        let goal = self.goals[goal];
        // Fifty time constants: fewer have too few of the long backlogs in which most misses come.
        let is_short = 5.0 * goal.steady_s(at(root)) > NEAR_S[1];
        let early = if is_short { goal.gap(at(root)) } else { 0.0 };
        let (low, high) = (at(root - half - early), at(root + half));
        let rate_per_s = Estimate { value: at(root), low, high };
        let (per_logit, loads) = (1.0 / fit.slope, loads.len());
        half.is_finite().then_some(RisingLine { rate_per_s, per_logit, loads })
    }
}

/// A load as a point of the line: how far its rate is from the middle, as a share.
struct Load {
    x: f64,
    due: f64,
    missed: f64,
    has_missed: bool,
}

/// A logistic regression: the logit of the share, less that of the allowed one, is `level` + `slope` · x.
struct Fit {
    level: f64,
    slope: f64,
    /// Of the level, of both, of the slope; by the scatter of the loads, or by chance alone where that is more.
    variance: [f64; 3],
}

impl Fit {
    /// None where the slope is not above zero.
    fn new(loads: &[Load], allowed: f64) -> Option<Self> {
        /// Newton's steps: it is settled to the last digit long before.
        const STEPS: usize = 50;
        let offset = (allowed / (1.0 - allowed)).ln();
        let (mut level, mut slope) = (0.0, 0.0);
        let mut inverse = [0.0; 3];
        for _ in 0..STEPS {
            let (mut gradient, mut curvature) = ([0.0; 2], [0.0; 3]);
            for load in loads {
                let share = logistic(offset + level + slope * load.x);
                let (rest, weight) =
                    (load.missed - load.due * share, load.due * share * (1.0 - share));
                gradient[0] += rest;
                gradient[1] += rest * load.x;
                curvature[0] += weight;
                curvature[1] += weight * load.x;
                curvature[2] += weight * load.x * load.x;
            }
            let determinant = curvature[0] * curvature[2] - curvature[1] * curvature[1];
            if determinant.is_nan() || determinant <= 0.0 {
                return None;
            }
            inverse = [curvature[2], -curvature[1], curvature[0]].map(|part| part / determinant);
            // A step of a few logits at most: a longer one goes past where the line is.
            let more = [
                inverse[0] * gradient[0] + inverse[1] * gradient[1],
                inverse[1] * gradient[0] + inverse[2] * gradient[1],
            ];
            level += more[0].clamp(-2.0, 2.0);
            slope += more[1].clamp(-20.0, 20.0);
        }
        let square = |load: &Load| {
            let share = logistic(offset + level + slope * load.x);
            (load.missed - load.due * share).powi(2) / (load.due * share * (1.0 - share))
        };
        let scatter: f64 = loads.iter().map(square).sum();
        let missed: f64 = loads.iter().map(|load| load.missed).sum();
        let with_misses = loads.iter().filter(|load| load.has_missed).count();
        let together = 2.0 * missed / with_misses.max(1) as f64;
        let dispersion = (scatter / (loads.len() - 2) as f64).max(together).max(1.0);
        let variance = inverse.map(|part| part * dispersion);
        (slope > 0.0).then_some(Self { level, slope, variance })
    }
}

fn logistic(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}
