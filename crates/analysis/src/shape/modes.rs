//! Modes: samples that lie on several curves, not scattered around one. The rules, in turn:
//! 1. *By round.* In each window of the axis the rounds may split into two levels ([`crate::shape::split`]), at least
//!    [`SEEN_FACTOR_MIN`] apart, and most of each round's samples lie on its own side. The same rounds are the upper
//!    ones all along a stretch. Rounds that change once, in the order of their numbers, have drifted instead.
//! 2. *Within rounds.* Each round is moved by what it is displaced, along a smoothed curve, so that only the scatter
//!    within rounds is left. In each window the humps of the distribution are counted ([`crate::shape::peaks`]). Where
//!    most windows of a stretch have as many humps, at distances that follow each other, there are as many curves.
//! 3. *No rest.* A stretch is at least three windows and a tenth of the samples long, within rounds a quarter. Each
//!    mode has [`NAMED_SHARE_MIN`] of the samples in it, the density half-way between two curves is at most half of
//!    that on the lesser one, and most rounds lie on all of the curves: what a single round shows is a disturbance.
//! 4. *In stretches.* Where a sample's neighbours are mostly on its own curve, the modes come in stretches; a single
//!    round is not enough to call them modes then.
//!
//! A series that is no trajectory has few points, each measured in fresh processes: there, any rounds may be the upper
//! ones at a single point.

use crate::Division;
use crate::gather::cloud::{Cloud, Sample, Window};
use crate::shape::is_most;
use crate::shape::peaks::{Peak, peaks};
use crate::shape::split::{since, split};
use crate::stats::quantiles::{median, quantile, sort};
use crate::thresholds::{
    EVEN, FLAT_FACTOR_MAX, NAMED_SHARE_MIN, SEEN_FACTOR_MIN, STRETCH_SAMPLES_MIN,
};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::ops::Range;

const MODES_MAX: usize = 4;

/// Samples that peaks are looked for in; of more, this many are drawn.
const PEAK_SAMPLES_MAX: f64 = 80_000.0;

/// Windows on either side that the displacement of a round is smoothed over.
const SMOOTHING_WINDOWS: usize = 4;

/// The curves that samples lie on.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// The first position with more than one.
    pub from: u64,
    /// The last one.
    pub to: u64,
    /// How samples are divided among them.
    pub division: Division,
    /// The share of the samples from `from` to `to` on each, the lowest first.
    pub shares: Vec<f64>,
    /// The rounds on each, where the same ones lie on it throughout; else empty.
    pub rounds: Vec<Vec<u32>>,
    divider: Divider,
}

/// What decides which curve a sample is on.
#[derive(Clone, Debug, PartialEq)]
enum Divider {
    /// For each window, by its last position: whether a round is on the upper one.
    Rounds(Vec<(u64, Vec<bool>)>),
    /// The curves between the modes.
    Curves { offsets: Vec<Knots>, between: Vec<Knots> },
}

/// A curve: the logarithms of positions and of figures.
type Knots = Vec<(f64, f64)>;

impl Partition {
    /// The samples of `cloud`, in which it was found, on each of the curves; those outside of its stretch on none.
    pub fn split(&self, cloud: &Cloud) -> Vec<Cloud> {
        let on = |mode: usize| {
            let mut part = self.only(cloud, |on| on == Some(mode));
            part.rounds.retain(|round| !round.samples.is_empty());
            part
        };
        (0..self.shares.len()).map(on).collect()
    }

    /// The samples of `cloud` without those on another curve than the one with the most samples.
    pub fn on_main_curve(&self, cloud: &Cloud) -> Cloud {
        let main = self.shares.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        let main = main.map_or(0, |(mode, _)| mode);
        self.only(cloud, |on| on.is_none_or(|mode| mode == main))
    }

    /// The samples of `cloud` that `is` wants, by the curve that each is on.
    fn only(&self, cloud: &Cloud, is: impl Fn(Option<usize>) -> bool) -> Cloud {
        let mut part = cloud.clone();
        for (index, round) in part.rounds.iter_mut().enumerate() {
            round.samples.retain(|sample| is(self.mode_of(index, sample)));
        }
        part
    }

    fn mode_of(&self, round: usize, sample: &Sample) -> Option<usize> {
        (self.from..=self.to).contains(&sample.position).then(|| match &self.divider {
            Divider::Rounds(windows) => {
                let window = windows.iter().find(|(to, _)| sample.position <= *to);
                usize::from(window.is_some_and(|(_, upper)| upper[round]))
            }
            Divider::Curves { offsets, between } => {
                let x = log_of(sample.position);
                let log = sample.log - along(&offsets[round], x);
                between.iter().filter(|knots| log > along(knots, x)).count()
            }
        })
    }
}

/// The modes of `cloud`, with how far the rounds are displaced in each of these `windows`: those of a trajectory, or one
/// for each point. What displaces a round at a point says nothing of the next, since each is of processes of its own.
pub fn find(
    cloud: &Cloud,
    windows: &[Window],
    displacements: &[Vec<f64>],
    trajectory: bool,
    random: &mut Rng,
) -> Option<Partition> {
    let (by_round, reach) = if trajectory {
        (by_round(cloud, windows, displacements), SMOOTHING_WINDOWS)
    } else {
        (split_at_points(cloud, windows, displacements), 0)
    };
    by_round.or_else(|| within(cloud, windows, &displaced(windows, displacements, reach), random))
}

/// The windows that modes are looked for in: up to about forty, with samples enough for a twentieth.
pub fn windows(cloud: &Cloud) -> Vec<Window> {
    let size = match cloud.count() {
        few @ 0..4_000 => (few / 4).max(300),
        many => (many / 40).max(1_000),
    };
    cloud.windows(size, 200)
}

/// The longest row of neighbouring points at which rounds split by [`FLAT_FACTOR_MAX`], the upper one of several that
/// are as long.
fn split_at_points(
    cloud: &Cloud,
    windows: &[Window],
    displacements: &[Vec<f64>],
) -> Option<Partition> {
    let split_at = |(window, levels): (&Window, &Vec<f64>)| {
        split(levels, FLAT_FACTOR_MAX.ln()).filter(|upper| is_pure(cloud, window, upper))
    };
    let splits: Vec<Option<Vec<bool>>> = windows.iter().zip(displacements).map(split_at).collect();
    let (mut best_range, mut start) = (0..0, 0);
    for (end, upper) in splits.iter().enumerate() {
        if upper.is_none() {
            start = end + 1;
        } else if end + 1 - start >= best_range.len() {
            best_range = start..end + 1;
        }
    }
    let splits: Vec<&[bool]> =
        splits[best_range.clone()].iter().flatten().map(Vec::as_slice).collect();
    let first = *splits.first()?;
    let same = splits.iter().all(|upper| *upper == first);
    // At a single point a change once for all is no mode.
    if same && since(first).is_some() {
        return None;
    }
    Some(partition_by_round(cloud, &windows[best_range], &splits, same))
}

/// Rule 1.
fn by_round(cloud: &Cloud, windows: &[Window], displacements: &[Vec<f64>]) -> Option<Partition> {
    let splits: Vec<Option<Vec<bool>>> =
        displacements.iter().map(|levels| split(levels, SEEN_FACTOR_MIN.ln())).collect();
    let mut often: BTreeMap<&[bool], usize> = BTreeMap::new();
    for upper in splits.iter().flatten() {
        *often.entry(upper).or_default() += 1;
    }
    let (upper, _) = often.into_iter().max_by_key(|(_, count)| *count)?;
    let flags: Vec<bool> = splits.iter().map(|own| own.as_deref() == Some(upper)).collect();
    let stretch = stretch(&flags, windows, cloud.count().div_ceil(10))?;
    let pure = windows[stretch.clone()].iter().filter(|w| is_pure(cloud, w, upper)).count();
    if !is_most(pure, stretch.len()) || since(upper).is_some() {
        return None;
    }
    let windows = &windows[stretch];
    Some(partition_by_round(cloud, windows, &vec![upper; windows.len()], true))
}

/// Whether most of each round's samples in `window` are on the round's own side of the
/// middle between the two groups; these rounds are the `upper` one.
fn is_pure(cloud: &Cloud, window: &Window, upper: &[bool]) -> bool {
    let logs = |round: usize| {
        let samples = &cloud.rounds[round].samples[window.ranges[round].clone()];
        samples.iter().map(|sample| sample.log).collect::<Vec<f64>>()
    };
    let level = |is_upper: bool| {
        let side = (0..cloud.rounds.len()).filter(|&round| upper[round] == is_upper);
        median(side.filter_map(|round| median(logs(round))))
    };
    let Some((below, above)) = level(false).zip(level(true)) else { return false };
    let middle = f64::midpoint(below, above);
    (0..cloud.rounds.len()).all(|round| {
        let logs = logs(round);
        let own = logs.iter().filter(|log| (**log > middle) == upper[round]).count();
        is_most(own, logs.len())
    })
}

fn partition_by_round(
    cloud: &Cloud,
    windows: &[Window],
    splits: &[&[bool]],
    same: bool,
) -> Partition {
    let mut counts = [0.0; 2];
    for (window, upper) in windows.iter().zip(splits) {
        for (range, &upper) in window.ranges.iter().zip(*upper) {
            counts[usize::from(upper)] += range.len() as f64;
        }
    }
    let on = |upper: bool| -> Vec<u32> {
        let all = cloud.rounds.iter().zip(splits[0]);
        all.filter(|(_, is_upper)| same && **is_upper == upper).map(|(r, _)| r.number).collect()
    };
    let divide = |(window, upper): (&Window, &&[bool])| (window.to, upper.to_vec());
    Partition {
        from: windows[0].from,
        to: windows[windows.len() - 1].to,
        division: Division::ByRound,
        shares: counts.map(|count| count / (counts[0] + counts[1])).to_vec(),
        rounds: vec![on(false), on(true)],
        divider: Divider::Rounds(windows.iter().zip(splits).map(divide).collect()),
    }
}

/// Rules 2 to 4.
fn within(
    cloud: &Cloud,
    windows: &[Window],
    offsets: &[Knots],
    random: &mut Rng,
) -> Option<Partition> {
    let aligned = aligned(cloud, offsets);
    let slopes = slopes(&aligned, windows);
    let keep = PEAK_SAMPLES_MAX / cloud.count() as f64;
    let humps_in = |(window, slope): (&Window, f64)| {
        let middle = middle(window);
        let kept = aligned.samples_in(window).filter(|_| keep >= 1.0 || random.f64() < keep);
        let level = |sample: &Sample| sample.log - slope * (log_of(sample.position) - middle);
        peaks(&mut kept.map(level).collect::<Vec<f64>>())
    };
    let humps: Vec<Vec<Peak>> = windows.iter().zip(slopes).map(humps_in).collect();
    let among = |modes: usize| {
        let flags: Vec<bool> = humps.iter().map(|humps| humps.len() >= modes).collect();
        let stretch = stretch(&flags, windows, cloud.count().div_ceil(4))?;
        let curves = Curves::new(&windows[stretch.clone()], &humps[stretch.clone()], modes)?;
        let [first, last] = [&windows[stretch.start], &windows[stretch.end - 1]];
        let ends = first.ranges.iter().zip(&last.ranges);
        let rounds = aligned.rounds.iter().zip(ends);
        let part = rounds.map(|(round, (first, last))| &round.samples[first.start..last.end]);
        let parts: Vec<&[Sample]> = part.collect();
        let (division, shares) = curves.division(&parts)?;
        let divider = Divider::Curves { offsets: offsets.to_vec(), between: curves.between };
        let samples: usize = parts.iter().map(|part| part.len()).sum();
        // One curve more is worth a stretch that is a little shorter, not one that is half as long.
        let worth = samples as f64 * (1.0 + 0.2 * modes as f64);
        let rounds = vec![Vec::new(); modes];
        let (from, to) = (first.from, last.to);
        Some((worth, Partition { from, to, division, shares, rounds, divider }))
    };
    let best = (2..=MODES_MAX).filter_map(among).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, partition)| partition)
}

/// `cloud` with each round moved by its curve of `offsets`.
fn aligned(cloud: &Cloud, offsets: &[Knots]) -> Cloud {
    let mut cloud = cloud.clone();
    for (round, knots) in cloud.rounds.iter_mut().zip(offsets) {
        for sample in &mut round.samples {
            sample.log -= along(knots, log_of(sample.position));
        }
    }
    cloud
}

/// The logarithm of the position in the middle of `window`.
fn middle(window: &Window) -> f64 {
    f64::midpoint(window.from.max(1) as f64, window.to.max(1) as f64).ln()
}

/// The slope of the samples within each window, on logarithmic scales: the middle one of those of five quantiles, since
/// one may pass from one curve to another.
fn slopes(cloud: &Cloud, windows: &[Window]) -> Vec<f64> {
    let of_window = |window: &Window| {
        let mut logs: Vec<f64> = cloud.samples_in(window).map(|sample| sample.log).collect();
        sort(&mut logs);
        [0.1, 0.25, 0.5, 0.75, 0.9].map(|p| quantile(&logs, p).unwrap_or(0.0))
    };
    let quantiles: Vec<[f64; 5]> = windows.iter().map(of_window).collect();
    let slope = |at: usize| {
        let (before, after) = (at.saturating_sub(1), (at + 1).min(windows.len() - 1));
        let run = middle(&windows[after]) - middle(&windows[before]);
        let rises = quantiles[after].iter().zip(quantiles[before]).map(|(a, b)| a - b);
        if run > 0.0 { median(rises).unwrap_or(0.0) / run } else { 0.0 }
    };
    (0..windows.len()).map(slope).collect()
}

/// The longest stretch that begins and ends with a flag, has it at most windows, three at least, and enough samples.
fn stretch(flags: &[bool], windows: &[Window], samples_min: usize) -> Option<Range<usize>> {
    let mut best_range: Option<(usize, Range<usize>)> = None;
    for start in (0..flags.len()).filter(|&start| flags[start]) {
        let (mut samples, mut flagged) = (0, 0);
        for end in start..flags.len() {
            samples += windows[end].count();
            flagged += usize::from(flags[end]);
            let enough =
                flagged >= 3 && is_most(flagged, end + 1 - start) && samples >= samples_min;
            if flags[end] && enough && best_range.as_ref().is_none_or(|(max, _)| samples > *max) {
                best_range = Some((samples, start..end + 1));
            }
        }
    }
    best_range.map(|(_, stretch)| stretch)
}

/// The `count` largest of `humps`: the others belong to the ones below, or the lowest to the one above.
fn largest(humps: &[Peak], count: usize) -> Vec<Peak> {
    let mut left = humps.to_vec();
    while left.len() > count {
        let smallest = left.iter().enumerate().min_by(|a, b| a.1.share.total_cmp(&b.1.share));
        let at = smallest.map_or(0, |(at, _)| at);
        let Peak { share, valley, .. } = left.remove(at);
        match at.checked_sub(1) {
            Some(below) => {
                left[below].share += share;
                left[below].valley = valley;
            }
            None => left[0].share += share,
        }
    }
    left
}

struct Curves {
    modes: Vec<Knots>,
    between: Vec<Knots>,
}

impl Curves {
    /// The curves through the humps of the windows that have as many as there are `modes`. `None`
    /// where the distances between them do not follow each other: then they were chance.
    fn new(windows: &[Window], humps: &[Vec<Peak>], modes: usize) -> Option<Self> {
        let with_all: Vec<(f64, Vec<Peak>)> = windows
            .iter()
            .zip(humps)
            .filter(|(_, humps)| humps.len() >= modes)
            .map(|(window, humps)| (middle(window), largest(humps, modes)))
            .collect();
        let count = with_all.len();
        if 2 * count < windows.len() || count < 3 {
            return None;
        }
        let knots = |at: &dyn Fn(&Vec<Peak>) -> f64| -> Knots {
            let raw: Vec<f64> = with_all.iter().map(|(_, humps)| at(humps)).collect();
            with_all.iter().map(|(x, _)| *x).zip(smoothed(&raw, 2)).collect()
        };
        for lower in 0..modes - 1 {
            let gap = |humps: &Vec<Peak>| humps[lower + 1].at - humps[lower].at;
            let smooth = knots(&gap);
            let follows = |((_, humps), (_, s)): &(&(f64, Vec<Peak>), &(f64, f64))| {
                (gap(humps) - s).abs() <= EVEN * s
            };
            let following = with_all.iter().zip(&smooth).filter(follows).count();
            let jumps = |pair: &[(f64, f64)]| {
                (pair[1].1 - pair[0].1).abs() > EVEN * pair[1].1.max(pair[0].1)
            };
            if !is_most(following, count) || smooth.windows(2).any(jumps) {
                return None;
            }
        }
        Some(Self {
            modes: (0..modes).map(|mode| knots(&|humps| humps[mode].at)).collect(),
            between: (0..modes - 1).map(|mode| knots(&|humps| humps[mode].valley)).collect(),
        })
    }

    /// How the samples of `rounds` are divided, and their share on each curve; `None` where these are no modes.
    fn division(&self, rounds: &[&[Sample]]) -> Option<(Division, Vec<f64>)> {
        let modes = self.modes.len();
        let mut valleys = vec![[0_usize; ZONES]; modes - 1];
        let mut levels = vec![0.0; modes];
        // The mode of each sample, by round.
        let mut on: Vec<Vec<usize>> = Vec::new();
        for samples in rounds {
            let mut of_round = Vec::with_capacity(samples.len());
            for sample in *samples {
                let x = log_of(sample.position);
                for (level, curve) in levels.iter_mut().zip(&self.modes) {
                    *level = along(curve, x);
                }
                let is_above = |curve: &&Knots| sample.log > along(curve, x);
                of_round.push(self.between.iter().filter(is_above).count());
                for (zones, pair) in valleys.iter_mut().zip(levels.windows(2)) {
                    count_zone(zones, (sample.log - pair[0]) / (pair[1] - pair[0]));
                }
            }
            on.push(of_round);
        }
        let all: usize = on.iter().map(Vec::len).sum();
        let count = |round: &[usize], mode| round.iter().filter(|own| **own == mode).count();
        let share =
            |mode| on.iter().map(|round| count(round, mode)).sum::<usize>() as f64 / all as f64;
        let shares: Vec<f64> = (0..modes).map(share).collect();
        let is_on_all = |round: &&Vec<usize>| {
            let is_on = |(mode, share): (usize, &f64)| {
                let share_min = (EVEN * share).max(EVEN * NAMED_SHARE_MIN);
                count(round, mode) as f64 >= round.len() as f64 * share_min
            };
            !round.is_empty() && shares.iter().enumerate().all(is_on)
        };
        let on_all = on.iter().filter(is_on_all).count();
        let is_repeated = is_most(on_all, rounds.len()) && on_all >= 2;
        if !is_repeated
            || shares.iter().any(|share| *share < NAMED_SHARE_MIN)
            || !valleys.iter().all(is_deep)
        {
            return None;
        }
        let runs: usize = on.iter().map(|round| round.chunk_by(usize::eq).count()).sum();
        // Samples that are drawn at random are on the same curve 1 / (1 − Σ share²) times in a row.
        let by_chance = 1.0 / (1.0 - shares.iter().map(|share| share * share).sum::<f64>());
        let row = all as f64 / runs as f64;
        if row < STRETCH_SAMPLES_MIN.max(3.0 * by_chance) {
            return Some((Division::WithinRounds, shares));
        }
        (rounds.len() > 1).then_some((Division::InStretches, shares))
    }
}

/// Zones around two curves and between them: a tenth of their distance each.
const ZONES: usize = 12;

fn count_zone(zones: &mut [usize; ZONES], position: f64) {
    let zone = ((position + 0.1) * 10.0).floor();
    if (0.0..ZONES as f64).contains(&zone) {
        zones[zone as usize] += 1;
    }
}

/// Whether samples thin out between two curves: two zones hold at most half of what the lesser curve has.
fn is_deep(zones: &[usize; ZONES]) -> bool {
    let pair = |at: usize| zones[at] + zones[at + 1];
    let lesser = pair(0).min(pair(ZONES - 2));
    (2..ZONES - 3).map(pair).min().is_some_and(|min| 2 * min <= lesser)
}

/// How far each round is displaced, as a curve that is smoothed over windows within `reach`.
fn displaced(windows: &[Window], displacements: &[Vec<f64>], reach: usize) -> Vec<Knots> {
    let rounds = displacements.first().map_or(0, Vec::len);
    let curve = |round: usize| {
        let all = windows.iter().zip(displacements).map(|(w, all)| (middle(w), all[round]));
        let finite: Knots = all.filter(|(_, offset)| offset.is_finite()).collect();
        let raw: Vec<f64> = finite.iter().map(|(_, offset)| *offset).collect();
        finite.iter().map(|(x, _)| *x).zip(smoothed(&raw, reach)).collect()
    };
    (0..rounds).map(curve).collect()
}

/// Running medians, of `reach` figures on either side, at the ends of fewer, so that a slope is kept.
fn smoothed(raw: &[f64], reach: usize) -> Vec<f64> {
    let at = |index: usize| {
        let side = reach.min(index).min(raw.len() - 1 - index);
        median(raw[index - side..=index + side].iter().copied()).unwrap_or(raw[index])
    };
    (0..raw.len()).map(at).collect()
}

/// What a position is along a curve.
fn log_of(position: u64) -> f64 {
    (position.max(1) as f64).ln()
}

/// The height of a curve at `x`: between its knots on straight lines, beyond them level.
fn along(knots: &[(f64, f64)], x: f64) -> f64 {
    let above = knots.partition_point(|knot| knot.0 < x);
    let low = above.checked_sub(1).and_then(|below| knots.get(below));
    match (low, knots.get(above)) {
        (Some(low), Some(high)) if high.0 > low.0 => {
            low.1 + (high.1 - low.1) * (x - low.0) / (high.0 - low.0)
        }
        (_, Some(knot)) | (Some(knot), None) => knot.1,
        (None, None) => f64::NAN,
    }
}
