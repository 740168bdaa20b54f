//! How two runs of a series differ, with standard errors: whole rounds are resampled, or, in turns, both are compared
//! as two series of one run.

use super::levels::{Level, Levels};
use crate::growth::levels::{Evidence, LogShares};
use crate::is_predicted;
use crate::pairs::leads::{PointLead, point_leads};
use crate::stats::bootstrap::{drawn_from, few_rounds_factor};
use crate::stats::moments::{mean, sample_deviation};
use crate::stats::quantiles::{median, quantile, sorted};
use crate::thresholds::{DISTURBANCE_LOG, EDGE, ROUNDS_MIN};
use fastrand::Rng;
use model::Run;

/// Resamplings: enough for two digits of a standard deviation.
pub(super) const REPLICATES: usize = 300;

/// How two runs were measured, which decides the errors that they may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrangement {
    /// One after the other: the error has all that changes from run to run.
    Separate,
    /// Cell by cell in turns: what disturbed one disturbed the other.
    Interleaved,
    /// A model computed both: the only chance is in its own draws.
    Predicted,
}

impl Arrangement {
    pub(super) fn new(base: &Run, new: &Run) -> Self {
        let [partner, of_new] = [base, new].map(|run| &run.plan.paired_with);
        // Of several runs in turns, all but the first name the first.
        let names = |name: &str, id: &str| !name.is_empty() && name == id;
        if names(partner, &new.summary.id)
            || names(of_new, &base.summary.id)
            || names(partner, of_new)
        {
            Self::Interleaved
        } else if is_predicted(base) && is_predicted(new) {
            Self::Predicted
        } else {
            Self::Separate
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Effect {
    /// The difference of logarithms: by medians, and by what rounds are when nothing disturbs them.
    pub(super) value: Level,
    /// The standard errors of both.
    pub(super) error: Level,
    pub(super) freedom: usize,
    /// The rounds of the run that has fewer.
    pub(super) rounds: usize,
    /// The error of the calibration of the clock, which each run has for itself.
    pub(super) offset: f64,
}

/// How new differs from base along a series.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Effects {
    pub(super) points: Vec<Option<Effect>>,
    /// Over all points that count: the mean.
    pub(super) overall: Option<Effect>,
    /// How much more at the last point that counts than at the first.
    pub(super) bend: Option<Effect>,
}

/// One drawing of rounds, at each point.
type Drawn = Vec<Option<Level>>;

impl Effects {
    /// Allows for what the clock's calibrations differ by, given at each point as a logarithm.
    pub(super) fn allow(&mut self, offsets: &[f64], count: &[bool]) {
        let mut counting = Vec::new();
        for (index, effect) in self.points.iter_mut().enumerate() {
            let Some(effect) = effect else { continue };
            effect.offset = offsets[index];
            if count[index] {
                counting.push(offsets[index]);
            }
        }
        if let Some(overall) = &mut self.overall {
            overall.offset = counting.iter().sum::<f64>() / counting.len().max(1) as f64;
        }
        if let (Some(bend), [first, .., last]) = (&mut self.bend, counting.as_slice()) {
            bend.offset = (first - last).abs();
        }
    }
}

/// How `new` differs from `base`, of which the points that `count` make the whole, where they were measured apart.
pub(super) fn effects_apart(
    [base, new]: [&Levels; 2],
    count: &[bool],
    arrangement: Arrangement,
    random: &mut Rng,
) -> Effects {
    let draw = |random: Option<&mut Rng>| {
        let mut drawn = apart(base, new, random);
        // A run that has no round of it has no points either.
        drawn.resize(count.len(), None);
        drawn
    };
    let measured = draw(None);
    let draws: Vec<Drawn> = (0..REPLICATES).map(|_| draw(Some(&mut *random))).collect();
    let rounds = |index: usize| [base.rounds_at(index), new.rounds_at(index)];
    let over = |rounds: [usize; 2], level: &dyn Fn(&Drawn) -> Option<Level>| {
        let drawn: Vec<Level> = draws.iter().filter_map(level).collect();
        Some(effect(level(&measured)?, &drawn, rounds, arrangement))
    };
    let counting: Vec<usize> =
        (0..count.len()).filter(|&index| count[index] && measured[index].is_some()).collect();
    let fewest =
        counting.iter().map(|&index| rounds(index)).min_by_key(|rounds| rounds[0].min(rounds[1]));
    let mean_of = |drawn: &Drawn| {
        let all: Vec<Level> = counting.iter().map(|&index| drawn[index]).collect::<Option<_>>()?;
        Some([0, 1].map(|part| mean(&all.iter().map(|level| level[part]).collect::<Vec<_>>())))
    };
    let ends = counting.first().zip(counting.last()).filter(|(first, last)| first < last);
    Effects {
        points: (0..count.len()).map(|index| over(rounds(index), &|drawn| drawn[index])).collect(),
        overall: fewest.and_then(|fewest| over(fewest, &mean_of)),
        bend: ends.and_then(|(&first, &last)| {
            over(fewest?, &|drawn| Some(less(drawn[last]?, drawn[first]?)))
        }),
    }
}

/// The cells of base and new in the rounds that both have, where they took turns.
pub(super) fn evidence_in_turns([base, new]: [&Levels; 2], points: usize) -> [Evidence; 2] {
    [[base, new], [new, base]].map(|[levels, partner]| {
        let cells = (0..points).map(|index| {
            let rounds = levels.rounds.iter();
            let common = rounds.filter(|(round, _)| partner.has(**round, index));
            let cells =
                common.filter_map(|(round, row)| Some((*round, levels.sign() * row[index]?[0])));
            (index as u64, cells.collect())
        });
        Evidence::new(cells.collect())
    })
}

/// The same of two runs that took turns, as two series of a run, by the `evidence` of both.
pub(super) fn effects_in_turns(
    [base, new]: [&Levels; 2],
    evidence: &[Evidence; 2],
    log_shares: &LogShares,
    count: &[bool],
) -> Effects {
    let (points, common) = point_leads([&evidence[1], &evidence[0]], log_shares);
    // A single round shows no error, and no disturbance.
    let error = |lead: &PointLead| lead.whole_error().unwrap_or(DISTURBANCE_LOG);
    let effect = |value: f64, error: f64, rounds: usize| {
        // All points show the noise, but for what each round has in common.
        let freedom = (points.len().max(2) - 1) * (rounds.max(1) - 1);
        let freedom = if rounds < 2 { ROUNDS_MIN - 1 } else { freedom };
        Effect { value: [base.sign() * value; 2], error: [error; 2], freedom, rounds, offset: 0.0 }
    };
    let rounds = |lead: &PointLead| {
        let is_common = |levels: &Levels, round: u32| levels.has(round, lead.point as usize);
        base.rounds
            .keys()
            .filter(|round| is_common(base, **round) && is_common(new, **round))
            .count()
    };
    let mut effects = Effects { points: vec![None; count.len()], overall: None, bend: None };
    for lead in &points {
        let at = effect(lead.log(), error(lead).hypot(common), rounds(lead));
        effects.points[lead.point as usize] = Some(at);
    }
    let counting: Vec<&PointLead> =
        points.iter().filter(|lead| count[lead.point as usize]).collect();
    let number = counting.len() as f64;
    let Some(fewest) = counting.iter().map(|lead| rounds(lead)).min() else { return effects };
    let mean = mean(&counting.iter().map(|lead| lead.log()).collect::<Vec<f64>>());
    let squares: f64 = counting.iter().map(|lead| error(lead).powi(2)).sum();
    let sum: f64 = counting.iter().map(|lead| error(lead)).sum();
    // What a round does to both of two points, or what a single round lacks, no mean takes off.
    let own = if points.len() < 3 || fewest < 2 { sum } else { squares.sqrt() } / number;
    effects.overall = Some(effect(mean, own.hypot(common), fewest));
    if let [first, .., last] = counting.as_slice() {
        let bend = last.log() - first.log();
        effects.bend = Some(effect(bend, error(first).hypot(error(last)), fewest));
    }
    effects
}

/// What was found, with the errors that drawings show, from so many rounds of base and of new.
fn effect(
    measured: Level,
    drawn: &[Level],
    rounds: [usize; 2],
    arrangement: Arrangement,
) -> Effect {
    let few = rounds[0].min(rounds[1]);
    let is_assumed = few < 2 && arrangement != Arrangement::Predicted;
    let assumed = if is_assumed { DISTURBANCE_LOG } else { 0.0 };
    let error = [0, 1].map(|part| {
        let drawn: Vec<f64> = drawn.iter().map(|level| level[part]).collect();
        few_rounds_factor(few) * sample_deviation(&drawn).unwrap_or(0.0).hypot(assumed)
    });
    let freedom = if few < 2 { ROUNDS_MIN - 1 } else { (rounds[0] + rounds[1] - 2).max(1) };
    Effect { value: measured, error, freedom, rounds: few, offset: 0.0 }
}

/// The differences of two runs that know nothing of each other, as they are, or of rounds drawn at
/// random: of each run its own, but the same for all points.
fn apart(base: &Levels, new: &Levels, mut random: Option<&mut Rng>) -> Drawn {
    let [base, new] = [base, new].map(|levels| {
        let rows: Vec<&Drawn> = levels.rounds.values().collect();
        let mut drawn = of_rows(&drawn_from(&rows, random.as_deref_mut()), levels.lower_is_better);
        for (index, level) in levels.whole_levels(random.as_deref_mut()) {
            if let Some(of_point) = drawn.get_mut(index) {
                *of_point = Some(level);
            }
        }
        drawn
    });
    new.iter().zip(&base).map(|(new, base)| Some(less((*new)?, (*base)?))).collect()
}

/// The median of rounds, and their edge, at each point.
fn of_rows(rows: &[&Drawn], lower_is_better: bool) -> Drawn {
    let edge = if lower_is_better { 2.0 * EDGE } else { 1.0 - 2.0 * EDGE };
    let points = rows.first().map_or(0, |row| row.len());
    let at = |index: usize| {
        let here = || rows.iter().filter_map(|row| row[index]);
        let edges: Vec<f64> = here().map(|[_, edge]| edge).collect();
        Some([median(here().map(|[middle, _]| middle))?, quantile(&sorted(&edges), edge)?])
    };
    (0..points).map(at).collect()
}

fn less(new: Level, base: Level) -> Level {
    [new[0] - base[0], new[1] - base[1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_took_turns_with_the_same_run_took_turns_with_each_other() {
        let run = |id: &str, paired_with: &str| {
            let made = fixtures::workload("made").time("call").subjects(["a"]);
            let mut run = fixtures::run(made).id(id).complete();
            run.plan.paired_with = paired_with.to_owned();
            run
        };
        let [first, second, third, alone] =
            [run("1", ""), run("2", "1"), run("3", "1"), run("4", "")];
        for (base, new) in [(&first, &second), (&second, &third), (&third, &first)] {
            assert_eq!(Arrangement::new(base, new), Arrangement::Interleaved);
        }
        assert_eq!(Arrangement::new(&first, &alone), Arrangement::Separate);
    }
}
