//! How far two series are apart at each point that both have, with standard errors, and which of them leads there.
//!
//! What a round does to both falls out where both were measured in the same rounds, since they took turns there; what it
//! does to one of them is an error that all points share.
//!
//! At each point the first leads by one of a few factors, the second does, or neither leads and they differ by what the
//! layout of a program makes. From one point to the next the lead mostly stays, or becomes a little more or less: so
//! neighbours of the same leader make each other surer. (A hidden Markov chain, with the forward-backward algorithm.)

use crate::growth::levels::{Astray, Evidence, Level, LogShares, shared_error, shares_of};
use crate::stats::moments::mean;
use crate::stats::{moments, normal};
use crate::thresholds::{
    EVEN, FLAT_FACTOR_MAX, LEAD_MIN, LEAD_MIN_OF_SINGLES, LEAD_SPREAD, LEADS, NEXT_LEAD, SURE,
};
use std::f64::consts::TAU;

/// Two series at one point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointLead {
    pub(crate) point: u64,
    /// The logarithms of the levels of both, of which what rounds do to one of them is taken off.
    pub(crate) logs: [f64; 2],
    /// Their standard errors; none where nothing was repeated.
    pub(crate) errors: Option<[f64; 2]>,
    /// What a disturbance may have done to each of them.
    pub(crate) astray: [Astray; 2],
}

impl PointLead {
    /// The logarithm of the first over the second.
    pub(crate) fn log(&self) -> f64 {
        self.logs[0] - self.logs[1]
    }

    /// Its standard error, disturbances left out; none where nothing was repeated.
    pub(crate) fn error(&self) -> Option<f64> {
        self.errors.map(|[first, second]| first.hypot(second))
    }

    /// The same with disturbances.
    pub(crate) fn whole_error(&self) -> Option<f64> {
        let [first, second] = self.astray.map(Astray::variance);
        Some(self.error()?.hypot((first + second).sqrt()))
    }

    /// Whether the first leads, or the second, where that is sure by `belief`, its own of [`beliefs`].
    pub(crate) fn leader(&self, belief: &Belief) -> Option<bool> {
        if self.errors.is_none() {
            // The error of single figures is unknown, and no neighbour makes them surer.
            let is_seen = self.log().abs() >= LEAD_MIN_OF_SINGLES.ln();
            return is_seen.then_some(self.log() > 0.0);
        }
        belief.leader()
    }

    /// The same where a reader sees it, too: a lead of less than [`LEAD_MIN`] is none, whatever its neighbours say.
    pub(crate) fn clear_leader(&self, belief: &Belief) -> Option<bool> {
        let leader = self.leader(belief)?;
        let lead = if leader { self.log() } else { -self.log() };
        (self.errors.is_none() || lead >= LEAD_MIN.ln()).then_some(leader)
    }
}

/// How far two `series` are apart at each point that both have, ascending, by what is known of the share of disturbed
/// cells; and the standard error of what rounds shift at all points alike.
pub(crate) fn point_leads(series: [&Evidence; 2], log_shares: &LogShares) -> (Vec<PointLead>, f64) {
    let [first, second] = series;
    if let Some(apart) = first.difference(second) {
        return of_differences(&apart, first);
    }
    let levels = series.map(|series| series.levels(log_shares));
    let astray = [0, 1].map(|side| series[side].astray(&levels[side], log_shares));
    let (shift, common) = common_shift(first, second);
    let common = series.iter().fold(common, |error, series| error.hypot(series.single_drift));
    let lead = |(index, level): (usize, &Level)| {
        let second_index =
            levels[1].binary_search_by_key(&level.point, |level| level.point).ok()?;
        let (error, second_error) = (level.error, levels[1][second_index].error);
        // A single figure next to a repeated one has the noise of the cells there.
        let borrowed = |own: Option<f64>, sibling: &Evidence, of_sibling: Option<f64>| {
            own.or(sibling.noise).or(of_sibling)
        };
        let errors =
            borrowed(error, second, second_error).zip(borrowed(second_error, first, error));
        Some(PointLead {
            point: level.point,
            logs: [level.log + shift, levels[1][second_index].log],
            errors: errors.map(|(first, second)| [first, second]),
            astray: [astray[0][index], astray[1][second_index]],
        })
    };
    (levels[0].iter().enumerate().filter_map(lead).collect(), common)
}

/// The same by what cells of the same round are `apart`. The levels of the first stand for both.
fn of_differences(apart: &Evidence, first: &Evidence) -> (Vec<PointLead>, f64) {
    let rounds: Vec<f64> = apart.rounds.values().copied().collect();
    let shift = if rounds.is_empty() { 0.0 } else { mean(&rounds) };
    let log_shares = shares_of([apart]);
    let levels = apart.levels(&log_shares);
    let astray = apart.astray(&levels, &log_shares);
    let of_first = first.levels(&shares_of([first]));
    let lead = |(level, astray): (&Level, Astray)| {
        let index = of_first.binary_search_by_key(&level.point, |level| level.point).ok()?;
        let log = of_first[index].log;
        let logs = [log, log - level.log - shift];
        let errors = level.error.map(|error| [0.0, error]);
        let astray = [Astray::default(), astray];
        Some(PointLead { point: level.point, logs, errors, astray })
    };
    let leads = levels.iter().zip(astray).filter_map(lead).collect();
    (leads, shared_error(&rounds, apart.round_error))
}

/// What rounds do to the first and not to the second, at all points alike, with its standard error.
fn common_shift(first: &Evidence, second: &Evidence) -> (f64, f64) {
    let both = first.rounds.iter();
    let both = both.filter_map(|(round, off)| Some(off - second.rounds.get(round)?));
    let apart: Vec<f64> = both.collect();
    if apart.len() > 1 {
        let error = first.round_error.hypot(second.round_error);
        return (mean(&apart), shared_error(&apart, error));
    }
    let each = [first, second].map(|series| {
        let off: Vec<f64> = series.rounds.values().copied().collect();
        shared_error(&off, series.round_error)
    });
    (0.0, each[0].hypot(each[1]))
}

/// The standard deviation of a logarithm where neither leads. Source: a third of [`LEAD_MIN`].
const LAYOUT_ERROR: f64 = (LEAD_MIN - 1.0) / 3.0;

/// How likely each of two series leads at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Belief {
    /// That the first leads.
    pub(crate) first: f64,
    /// That the second does.
    pub(crate) second: f64,
    /// That neither does by more than ×1.3.
    pub(crate) close: f64,
}

impl Belief {
    /// Whether the first leads, or the second, where that is sure.
    pub(crate) fn leader(&self) -> Option<bool> {
        match self {
            Self { first, .. } if *first >= SURE => Some(true),
            Self { second, .. } if *second >= SURE => Some(false),
            _ => None,
        }
    }
}

/// The states: the second leads by each of [`LEADS`], neither, the first does.
const STATES: usize = 2 * LEADS.len() + 1;
type Shares = [f64; STATES];

/// What is believed at each of the points. `common` is the standard error of what shifts all `leads` alike.
pub(crate) fn beliefs(leads: &[PointLead], common: f64) -> Vec<Belief> {
    let transition = transition(leads.len());
    let mut sums: Vec<Shares> = vec![[0.0; STATES]; leads.len()];
    let (logs, by_shift): (Vec<f64>, Vec<Vec<Shares>>) = shifts(common)
        .map(|(shift, log_prior)| {
            let (log_evidence, shares) = shares(leads, shift, &transition);
            (log_evidence + log_prior, shares)
        })
        .unzip();
    for (weight, shares) in moments::shares(&logs).into_iter().zip(&by_shift) {
        for (sum, share) in sums.iter_mut().flatten().zip(shares.iter().flatten()) {
            *sum += weight * share;
        }
    }
    let belief = |sum: Shares| {
        let share = |counts: &dyn Fn(f64) -> bool| {
            (0..STATES).filter(|state| counts(lead(*state))).map(|state| sum[state]).sum::<f64>()
        };
        Belief {
            first: share(&|lead| lead > 0.0),
            second: share(&|lead| lead < 0.0),
            close: share(&|lead| lead.abs() <= FLAT_FACTOR_MAX.ln()),
        }
    };
    sums.into_iter().map(belief).collect()
}

/// The lead of the first in a state.
fn lead(state: usize) -> f64 {
    match state.checked_sub(LEADS.len()) {
        Some(0) => 0.0,
        Some(ahead) => LEADS[ahead - 1],
        None => -LEADS[LEADS.len() - 1 - state],
    }
}

/// Shifts within three of their standard errors, with the logarithms of their weights.
fn shifts(error: f64) -> impl Iterator<Item = (f64, f64)> {
    let reach = if error > 0.0 { 6 } else { 0 };
    (-reach..=reach).map(move |step| {
        let errors = 0.5 * f64::from(step);
        (errors * error, -0.5 * errors * errors)
    })
}

/// How likely each state follows each other one from a point to the next, of so many points.
fn transition(points: usize) -> [Shares; STATES] {
    let jump = EVEN / (points.max(2) - 1) as f64;
    let from = |state: usize| {
        let share = |next: usize| NEXT_LEAD.powf(state.abs_diff(next) as f64);
        let all: f64 = (0..STATES).map(share).sum();
        std::array::from_fn(|next| jump / STATES as f64 + (1.0 - jump) * share(next) / all)
    };
    std::array::from_fn(from)
}

/// The shares of the states at each point, and the logarithm of the evidence.
fn shares(leads: &[PointLead], shift: f64, transition: &[Shares; STATES]) -> (f64, Vec<Shares>) {
    let leader = EVEN / (STATES - 1) as f64;
    let mut before: Shares = [leader; STATES];
    before[LEADS.len()] = EVEN;
    let mut log_evidence = 0.0;
    let mut forward: Vec<Shares> = Vec::with_capacity(leads.len());
    let mut likelihoods: Vec<Shares> = Vec::with_capacity(leads.len());
    for seen in leads {
        let (top, likelihood) = likelihood(seen, shift);
        let joint = std::array::from_fn(|state| before[state] * likelihood[state]);
        let (sum, shares) = normalized(joint);
        log_evidence += top + sum.ln();
        before = std::array::from_fn(|next| {
            shares.iter().zip(transition).map(|(share, row)| share * row[next]).sum()
        });
        forward.push(shares);
        likelihoods.push(likelihood);
    }
    let mut after: Shares = [1.0; STATES];
    for (shares, likelihood) in forward.iter_mut().zip(&likelihoods).rev() {
        *shares = normalized(std::array::from_fn(|state| shares[state] * after[state])).1;
        let seen: Shares = std::array::from_fn(|state| after[state] * likelihood[state]);
        let before = |state: usize| transition[state].iter().zip(&seen).map(|(a, b)| a * b).sum();
        after = normalized(std::array::from_fn(before)).1;
    }
    (log_evidence, forward)
}

fn normalized(shares: Shares) -> (f64, Shares) {
    let sum: f64 = shares.iter().sum();
    (sum, shares.map(|share| share / sum))
}

/// The density of what is seen in each state if all leads are off by this `shift`, in units of one whose logarithm comes
/// first. What has no error that is known says nothing of its neighbours.
fn likelihood(seen: &PointLead, shift: f64) -> (f64, Shares) {
    let Some(own_error) = seen.error() else { return (0.0, [1.0; STATES]) };
    let Astray { chance, shift_log } = Astray::of_either(seen.astray);
    let parts: [(f64, f64, f64); STATES] = std::array::from_fn(|state| {
        let lead = lead(state);
        let spread = LAYOUT_ERROR.max(LEAD_SPREAD * lead.abs());
        let (error, off) = (own_error.hypot(spread), seen.log() - shift - lead);
        let usual = -0.5 * (off / error).powi(2) - (error * TAU.sqrt()).ln();
        // A state in which one leads reaches widely, and ends at zero.
        let true_lead = (lead + off * (spread / error).powi(2)) * lead.signum();
        let same_side = normal::upper_tail(-true_lead * error / (spread * own_error));
        let usual_off = shift_log.max(error);
        let is_possible = chance > 0.0;
        let astray = if is_possible {
            -off.abs() / usual_off - (2.0 * usual_off).ln()
        } else {
            f64::NEG_INFINITY
        };
        (usual, if lead == 0.0 { 1.0 } else { same_side }, astray)
    });
    let top = parts.iter().fold(f64::NEG_INFINITY, |top, part| top.max(part.0).max(part.2));
    let density = |(usual, same_side, astray): (f64, f64, f64)| {
        (1.0 - chance) * (usual - top).exp() * same_side + chance * (astray - top).exp()
    };
    (top, parts.map(density))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn led(logs: &[f64], error: f64, common: f64) -> Vec<Option<bool>> {
        let lead = |&log: &f64| PointLead {
            point: 0,
            logs: [log, 0.0],
            errors: Some([error, 0.0]),
            astray: Default::default(),
        };
        let leads: Vec<PointLead> = logs.iter().map(lead).collect();
        beliefs(&leads, common).iter().map(Belief::leader).collect()
    }

    #[test]
    fn a_lead_that_is_clear_nowhere_is_clear_altogether() {
        assert_eq!(led(&[0.14; 6], 0.06, 0.0)[1..], [Some(true); 5]);
        assert_eq!(led(&[-0.14; 2], 0.06, 0.0), [None; 2]);
        // Not if all of them are off by as much.
        assert_eq!(led(&[0.14; 6], 0.06, 0.1), [None; 6]);
    }

    #[test]
    fn a_certain_lead_may_be_too_small_to_matter() {
        assert_eq!(led(&[0.01; 6], 0.001, 0.0), [None; 6]);
        assert_eq!(led(&[0.04; 6], 0.001, 0.0), [Some(true); 6]);
        assert_eq!(led(&[9.0, -9.0], 1e-4, 0.0), [Some(true), Some(false)]);
    }

    #[test]
    fn leads_that_alternate_are_sure() {
        let logs = [0.3, -0.3, 0.3, -0.3, 0.3, -0.3, 0.3];
        assert_eq!(led(&logs, 0.005, 0.002), logs.map(|log| Some(log > 0.0)));
    }

    #[test]
    fn a_point_against_its_neighbours_must_be_far_off() {
        let [small, large] = [0.04, 0.5].map(|log| led(&[-0.2, -0.2, log, -0.2, -0.2], 0.015, 0.0));
        assert_eq!(small[2], None);
        assert_eq!(large, [Some(false), Some(false), Some(true), Some(false), Some(false)]);
    }
}
