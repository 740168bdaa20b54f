//! Modes: samples that lie on several curves, not scattered around one.
//!
//! The rules, in turn:
//! 1. *By round.* In each window of the axis the rounds may part into two levels (see
//!    [`crate::shape::split`]), at least a factor of [`PEAK_FACTOR_MIN`] apart, and four fifths of each round's
//!    samples lie on its own side. Where the same rounds are the upper ones all along a stretch, the
//!    series has two modes there, divided by round. Rounds that change once, in the order of
//!    their numbers, have drifted instead: see [`crate::shape::drift`].
//! 2. *Within rounds.* Each round is moved by what it is displaced, along a curve that is smoothed over
//!    a good part of the axis, so that only the scatter within rounds is left. In each window the humps
//!    of the distribution are counted (see [`crate::shape::peaks`]), the trend within the window taken off. Where seven windows of ten in a
//!    stretch have as many humps, at distances that follow each other, there are as many curves.
//! 3. *No rest.* A stretch is at least three windows and a tenth of the samples long, within rounds a quarter:
//!    what lasts less was something else that ran meanwhile. Each mode has
//!    [`MODE_SHARE_MIN`] of the samples in it. Over the whole stretch, the density half-way between two
//!    curves is at most half of that on the lesser one. And most rounds lie on all of the curves: what
//!    a single round shows is a disturbance.
//! 4. *In stretches.* Where a sample's neighbours are mostly on its own curve, the modes come in
//!    stretches; a single round is not enough to call them modes then.
//!
//! A series that is no trajectory has few points, each measured in fresh processes: there rounds are
//! parted at each point on its own, by [`POINT_LEVELS_FACTOR_MIN`] at least. See [`at_points`].

use crate::Division;
use crate::gather::cloud::{Cloud, Spot, Window};
use crate::shape::peaks::{Peak, peaks};
use crate::shape::split::{Split, split};
use crate::shape::thresholds::PEAK_FACTOR_MIN;
use crate::shape::thresholds::{
    MODE_SHARE_MIN, MODES_MAX, PEAK_SAMPLES_MAX, POINT_LEVELS_FACTOR_MIN, PRESENT_SHARE_MIN,
    PRESENT_SHARE_OF_USUAL, SMOOTHING_WINDOWS, STRETCH_SAMPLES_MIN,
};
use crate::stats::quantiles::{median_of, quantile, sort};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::ops::Range;

/// The curves that samples lie on.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The first place with more than one.
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

/// What tells which curve a sample is on.
#[derive(Clone, Debug, PartialEq)]
enum Divider {
    /// For each window, by its last place: whether a round is on the upper one.
    Rounds(Vec<(u64, Vec<bool>)>),
    /// The curves between the modes.
    Curves { offsets: Vec<Knots>, between: Vec<Knots> },
}

/// A curve: the logarithms of places and of figures.
type Knots = Vec<(f64, f64)>;

impl Found {
    /// The samples of `cloud`, in which it was found, on each of the curves; those outside of its
    /// stretch are on none.
    pub fn split(&self, cloud: &Cloud) -> Vec<Cloud> {
        let mut clouds = vec![cloud.clone(); self.shares.len()];
        for (mode, part) in clouds.iter_mut().enumerate() {
            for (index, round) in part.rounds.iter_mut().enumerate() {
                round
                    .spots
                    .retain(|spot| self.has(spot.place) && self.mode_of(index, spot) == mode);
            }
            part.rounds.retain(|round| !round.spots.is_empty());
        }
        clouds
    }

    /// The samples of `cloud` without those that lie on another curve than most do.
    pub fn most_of(&self, cloud: &Cloud) -> Cloud {
        let most = self.shares.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        let most = most.map_or(0, |(mode, _)| mode);
        let mut part = cloud.clone();
        for (index, round) in part.rounds.iter_mut().enumerate() {
            round.spots.retain(|spot| !self.has(spot.place) || self.mode_of(index, spot) == most);
        }
        part
    }

    fn has(&self, place: u64) -> bool {
        (self.from..=self.to).contains(&place)
    }

    fn mode_of(&self, round: usize, spot: &Spot) -> usize {
        match &self.divider {
            Divider::Rounds(windows) => {
                let window = windows.iter().find(|(to, _)| spot.place <= *to);
                usize::from(window.is_some_and(|(_, upper)| upper[round]))
            }
            Divider::Curves { offsets, between } => {
                let log = spot.log - along(&offsets[round], spot.place);
                between.iter().filter(|knots| log > along(knots, spot.place)).count()
            }
        }
    }
}

/// The modes of a trajectory, if there are any. `windows` are those of [`windows`], with how far the
/// rounds are displaced in each.
pub fn find(
    cloud: &Cloud,
    windows: &[Window],
    displacements: &[Vec<f64>],
    random: &mut Rng,
) -> Option<Found> {
    let by_round = by_round(cloud, windows, displacements);
    by_round.or_else(|| within(cloud, windows, &displaced(windows, displacements), random))
}

/// The windows that modes are looked for in: up to about forty, with samples enough to show a share of
/// a twentieth.
pub fn windows(cloud: &Cloud) -> Vec<Window> {
    let size = match cloud.len() {
        few @ 0..4_000 => (few / 4).max(300),
        many => (many / 40).max(1_000),
    };
    cloud.windows(size, 200)
}

/// The modes of a series that was measured point by point: the longest row of neighbouring points at
/// which rounds part, the upper one of several that are as long. `windows` are one for each point,
/// with how far the rounds are displaced in each.
pub fn at_points(cloud: &Cloud, windows: &[Window], displacements: &[Vec<f64>]) -> Option<Found> {
    let parted: Vec<Option<Split>> = windows
        .iter()
        .zip(displacements)
        .map(|(window, levels)| {
            split(levels, POINT_LEVELS_FACTOR_MIN.ln())
                .filter(|parting| is_pure(cloud, window, parting))
        })
        .collect();
    let (mut longest, mut start) = (0..0, 0);
    for (end, parting) in parted.iter().enumerate() {
        if parting.is_none() {
            start = end + 1;
        } else if end + 1 - start >= longest.len() {
            longest = start..end + 1;
        }
    }
    let partings: Vec<&Split> = parted[longest.clone()].iter().flatten().collect();
    if partings.is_empty() {
        return None;
    }
    let same = partings.iter().all(|parting| parting.upper == partings[0].upper);
    // At a single point a change once for all is no mode.
    if same && partings[0].since().is_some() {
        return None;
    }
    Some(found_by_round(cloud, &windows[longest], &partings, same))
}

/// Rule 1.
fn by_round(cloud: &Cloud, windows: &[Window], displacements: &[Vec<f64>]) -> Option<Found> {
    let parted: Vec<Option<Split>> =
        displacements.iter().map(|levels| split(levels, PEAK_FACTOR_MIN.ln())).collect();
    let mut often: BTreeMap<&[bool], usize> = BTreeMap::new();
    for parting in parted.iter().flatten() {
        *often.entry(&parting.upper).or_default() += 1;
    }
    let (upper, _) = often.into_iter().max_by_key(|(_, count)| *count)?;
    let same = |parting: &Option<Split>| parting.as_ref().is_some_and(|p| p.upper == upper);
    let flags: Vec<bool> = parted.iter().map(same).collect();
    let stretch = stretch(&flags, windows, cloud.len().div_ceil(10))?;
    let parting = Split { upper: upper.to_vec(), middle: 0.0 };
    let pure = windows[stretch.clone()].iter().filter(|w| is_pure(cloud, w, &parting)).count();
    if 10 * pure < 7 * stretch.len() || parting.since().is_some() {
        return None;
    }
    let windows = &windows[stretch];
    Some(found_by_round(cloud, windows, &vec![&parting; windows.len()], true))
}

/// Whether four fifths of each round's samples in `window` are on the round's own side of the
/// middle between the two groups.
fn is_pure(cloud: &Cloud, window: &Window, parting: &Split) -> bool {
    let logs = |round: usize| {
        let spots = &cloud.rounds[round].spots[window.ranges[round].clone()];
        spots.iter().map(|spot| spot.log).collect::<Vec<f64>>()
    };
    let level = |upper: bool| {
        let side = (0..cloud.rounds.len()).filter(|&round| parting.upper[round] == upper);
        let mut medians: Vec<f64> = side.filter_map(|round| median_of(&mut logs(round))).collect();
        median_of(&mut medians)
    };
    let (Some(lower), Some(upper)) = (level(false), level(true)) else { return false };
    let middle = f64::midpoint(lower, upper);
    (0..cloud.rounds.len()).all(|round| {
        let logs = logs(round);
        let own = logs.iter().filter(|log| (**log > middle) == parting.upper[round]).count();
        5 * own >= 4 * logs.len()
    })
}

fn found_by_round(cloud: &Cloud, windows: &[Window], partings: &[&Split], same: bool) -> Found {
    let mut held = [0.0; 2];
    for (window, parting) in windows.iter().zip(partings) {
        for (range, &upper) in window.ranges.iter().zip(&parting.upper) {
            held[usize::from(upper)] += range.len() as f64;
        }
    }
    let on = |upper: bool| -> Vec<u32> {
        let all = cloud.rounds.iter().zip(&partings[0].upper);
        all.filter(|(_, is_upper)| same && **is_upper == upper).map(|(r, _)| r.number).collect()
    };
    let divide = |(window, parting): (&Window, &&Split)| (window.to, parting.upper.clone());
    Found {
        from: windows[0].from,
        to: windows[windows.len() - 1].to,
        division: Division::ByRound,
        shares: held.map(|count| count / (held[0] + held[1])).to_vec(),
        rounds: vec![on(false), on(true)],
        divider: Divider::Rounds(windows.iter().zip(partings).map(divide).collect()),
    }
}

/// Rules 2 to 4.
fn within(cloud: &Cloud, windows: &[Window], offsets: &[Knots], random: &mut Rng) -> Option<Found> {
    let x = x_of(cloud);
    let aligned = aligned(cloud, &x, offsets);
    let slopes = slopes(&aligned, windows);
    let keep = PEAK_SAMPLES_MAX / cloud.len() as f64;
    let humps: Vec<Vec<Peak>> = windows
        .iter()
        .zip(slopes)
        .map(|(window, slope)| {
            let middle = middle(window);
            let mut logs = Vec::new();
            for ((round, x), range) in aligned.rounds.iter().zip(&x).zip(&window.ranges) {
                for (spot, x) in round.spots[range.clone()].iter().zip(&x[range.clone()]) {
                    if keep >= 1.0 || random.f64() < keep {
                        logs.push(spot.log - slope * (x - middle));
                    }
                }
            }
            peaks(&mut logs)
        })
        .collect();
    let among = |modes: usize| {
        let flags: Vec<bool> = humps.iter().map(|humps| humps.len() >= modes).collect();
        let stretch = stretch(&flags, windows, cloud.len().div_ceil(4))?;
        let curves = Curves::of(&windows[stretch.clone()], &humps[stretch.clone()], modes)?;
        let (from, to) = (windows[stretch.start].from, windows[stretch.end - 1].to);
        let part = |round: &[Spot]| {
            let start = round.partition_point(|spot| spot.place < from);
            start..round.partition_point(|spot| spot.place <= to)
        };
        let parts: Vec<Part<'_>> = aligned
            .rounds
            .iter()
            .zip(&x)
            .map(|(round, x)| (&round.spots[part(&round.spots)], &x[part(&round.spots)]))
            .collect();
        let (division, shares) = curves.division(&parts)?;
        let divider = Divider::Curves { offsets: offsets.to_vec(), between: curves.between };
        let held: usize = parts.iter().map(|part| part.0.len()).sum();
        // One curve more is worth a stretch that is a little shorter, not one that is half as long.
        let worth = held as f64 * (1.0 + 0.2 * modes as f64);
        let rounds = vec![Vec::new(); modes];
        Some((worth, Found { from, to, division, shares, rounds, divider }))
    };
    let found = (2..=MODES_MAX).filter_map(among).max_by(|a, b| a.0.total_cmp(&b.0));
    found.map(|(_, found)| found)
}

/// Samples of a round, and the logarithms of their places.
type Part<'a> = (&'a [Spot], &'a [f64]);

/// The logarithms of the places of all samples, by round.
fn x_of(cloud: &Cloud) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = Vec::with_capacity(cloud.rounds.len());
    let first = cloud.rounds.first().map_or(&[][..], |round| &round.spots);
    for round in &cloud.rounds {
        // Mostly all rounds have the same places, and a logarithm takes longer than a look.
        let x = round.spots.iter().enumerate().map(|(at, spot)| {
            let known =
                all.first().filter(|_| first.get(at).is_some_and(|f| f.place == spot.place));
            known.map_or_else(|| log_of(spot.place), |known| known[at])
        });
        let x = x.collect();
        all.push(x);
    }
    all
}

/// `cloud` with each round moved by its curve of `offsets`.
fn aligned(cloud: &Cloud, x: &[Vec<f64>], offsets: &[Knots]) -> Cloud {
    let mut cloud = cloud.clone();
    for ((round, x), knots) in cloud.rounds.iter_mut().zip(x).zip(offsets) {
        let mut offset = Along::new(knots);
        for (spot, &x) in round.spots.iter_mut().zip(x) {
            spot.log -= offset.at(x);
        }
    }
    cloud
}

fn spots<'a>(cloud: &'a Cloud, window: &'a Window) -> impl Iterator<Item = &'a Spot> {
    let each = cloud.rounds.iter().zip(&window.ranges);
    each.flat_map(|(round, range)| &round.spots[range.clone()])
}

/// The logarithm of the place in the middle of `window`.
fn middle(window: &Window) -> f64 {
    f64::midpoint(window.from.max(1) as f64, window.to.max(1) as f64).ln()
}

/// The slope of the samples within each window, on logarithmic scales, by the quantiles of those
/// next to it. The middle one of five slopes: a quantile that passes from one curve to another
/// moves one of them.
fn slopes(cloud: &Cloud, windows: &[Window]) -> Vec<f64> {
    let quantiles: Vec<[f64; 5]> = windows
        .iter()
        .map(|window| {
            let mut logs: Vec<f64> = spots(cloud, window).map(|spot| spot.log).collect();
            sort(&mut logs);
            [0.1, 0.25, 0.5, 0.75, 0.9].map(|p| quantile(&logs, p).unwrap_or(0.0))
        })
        .collect();
    let slope = |at: usize| {
        let (before, after) = (at.saturating_sub(1), (at + 1).min(windows.len() - 1));
        let run = middle(&windows[after]) - middle(&windows[before]);
        let mut rises: Vec<f64> =
            quantiles[after].iter().zip(quantiles[before]).map(|(a, b)| a - b).collect();
        if run > 0.0 { median_of(&mut rises).unwrap_or(0.0) / run } else { 0.0 }
    };
    (0..windows.len()).map(slope).collect()
}

/// The longest stretch of windows that begins and ends with a flag, has one at seven of ten, three at
/// least, and holds at least so many samples.
fn stretch(flags: &[bool], windows: &[Window], least: usize) -> Option<Range<usize>> {
    let size = |window: &Window| window.ranges.iter().map(Range::len).sum::<usize>();
    let mut longest: Option<(usize, Range<usize>)> = None;
    for start in (0..flags.len()).filter(|&start| flags[start]) {
        let (mut held, mut flagged) = (0, 0);
        for end in start..flags.len() {
            held += size(&windows[end]);
            flagged += usize::from(flags[end]);
            let enough = flagged >= 3 && 10 * flagged >= 7 * (end + 1 - start) && held >= least;
            if flags[end] && enough && longest.as_ref().is_none_or(|(most, _)| held > *most) {
                longest = Some((held, start..end + 1));
            }
        }
    }
    longest.map(|(_, stretch)| stretch)
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

/// The curves of the modes, and those between them.
struct Curves {
    modes: Vec<Knots>,
    between: Vec<Knots>,
}

impl Curves {
    /// The curves through the humps of the windows that have as many as there are `modes`. `None`
    /// where the distances between them do not follow each other: then they were chance.
    fn of(windows: &[Window], humps: &[Vec<Peak>], modes: usize) -> Option<Self> {
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
            let near = with_all.iter().zip(&smooth);
            let near = near.filter(|((_, humps), (_, s))| (gap(humps) - s).abs() <= 0.4 * s);
            let jumps = |pair: &[(f64, f64)]| {
                (pair[1].1 - pair[0].1).abs() > 0.5 * pair[1].1.max(pair[0].1)
            };
            if 10 * near.count() < 7 * count || smooth.windows(2).any(jumps) {
                return None;
            }
        }
        Some(Self {
            modes: (0..modes).map(|mode| knots(&|humps| humps[mode].at)).collect(),
            between: (0..modes - 1).map(|mode| knots(&|humps| humps[mode].valley)).collect(),
        })
    }

    /// How the samples of `rounds` are divided, and their share on each curve; `None` where that
    /// is not enough for modes.
    fn division(&self, rounds: &[Part<'_>]) -> Option<(Division, Vec<f64>)> {
        let modes = self.modes.len();
        let mut tallies: Vec<Tally> = Vec::new();
        let mut valleys = vec![[0_usize; ZONES]; modes - 1];
        let mut levels = vec![0.0; modes];
        for &(spots, x) in rounds {
            let mut tally = Tally::new(modes);
            let mut curves: Vec<Along<'_>> =
                self.modes.iter().chain(&self.between).map(|knots| Along::new(knots)).collect();
            let (on, between) = curves.split_at_mut(modes);
            for (spot, &x) in spots.iter().zip(x) {
                for (level, curve) in levels.iter_mut().zip(&mut *on) {
                    *level = curve.at(x);
                }
                let above = between.iter_mut().map(|curve| usize::from(spot.log > curve.at(x)));
                tally.add(above.sum());
                for (zones, pair) in valleys.iter_mut().zip(levels.windows(2)) {
                    count_zone(zones, (spot.log - pair[0]) / (pair[1] - pair[0]));
                }
            }
            tallies.push(tally);
        }
        let all: usize = tallies.iter().map(Tally::all).sum();
        let held = |mode: usize| tallies.iter().map(|tally| tally.held[mode]).sum::<usize>();
        let shares: Vec<f64> = (0..modes).map(|mode| held(mode) as f64 / all as f64).collect();
        let on_all = tallies.iter().filter(|tally| tally.is_on_all(&shares)).count();
        let most = 5 * on_all >= 3 * rounds.len() && on_all >= 2;
        if !most
            || shares.iter().any(|share| *share < MODE_SHARE_MIN)
            || !valleys.iter().all(is_deep)
        {
            return None;
        }
        let runs: usize = tallies.iter().map(|tally| tally.runs).sum();
        // Samples that are drawn at random are on the same curve 1 / (1 − Σ share²) times in a row.
        let by_chance = 1.0 / (1.0 - shares.iter().map(|share| share * share).sum::<f64>());
        let row = all as f64 / runs as f64;
        if row < STRETCH_SAMPLES_MIN.max(3.0 * by_chance) {
            return Some((Division::WithinRounds, shares));
        }
        (rounds.len() > 1).then_some((Division::InStretches, shares))
    }
}

/// Zones between two curves: a tenth of their distance each, from the lower one's near side to the
/// upper one's far side.
const ZONES: usize = 12;

fn count_zone(zones: &mut [usize; ZONES], place: f64) {
    let zone = ((place + 0.1) * 10.0).floor();
    if (0.0..ZONES as f64).contains(&zone) {
        zones[zone as usize] += 1;
    }
}

/// Whether the samples thin out between two curves: two neighbouring zones hold at most half of what
/// the lesser curve has on both sides.
fn is_deep(zones: &[usize; ZONES]) -> bool {
    let pair = |at: usize| zones[at] + zones[at + 1];
    let lesser = pair(0).min(pair(ZONES - 2));
    (2..ZONES - 3).map(pair).min().is_some_and(|least| 2 * least <= lesser)
}

/// The samples of one round by mode, and how often the mode changed.
struct Tally {
    held: Vec<usize>,
    runs: usize,
    last: usize,
}

impl Tally {
    fn new(modes: usize) -> Self {
        Self { held: vec![0; modes], runs: 0, last: usize::MAX }
    }

    fn add(&mut self, mode: usize) {
        self.held[mode] += 1;
        if mode != self.last {
            (self.runs, self.last) = (self.runs + 1, mode);
        }
    }

    fn all(&self) -> usize {
        self.held.iter().sum()
    }

    fn is_on_all(&self, shares: &[f64]) -> bool {
        let all = self.all() as f64;
        let is_on = |(held, share): (&usize, &f64)| {
            *held as f64 >= all * (PRESENT_SHARE_OF_USUAL * share).max(PRESENT_SHARE_MIN)
        };
        all > 0.0 && self.held.iter().zip(shares).all(is_on)
    }
}

/// How far each round is displaced, as a curve.
fn displaced(windows: &[Window], displacements: &[Vec<f64>]) -> Vec<Knots> {
    let rounds = displacements.first().map_or(0, Vec::len);
    let curve = |round: usize| {
        let all = windows.iter().zip(displacements).map(|(w, all)| (middle(w), all[round]));
        let known: Knots = all.filter(|(_, offset)| offset.is_finite()).collect();
        let raw: Vec<f64> = known.iter().map(|(_, offset)| *offset).collect();
        known.iter().map(|(x, _)| *x).zip(smoothed(&raw, SMOOTHING_WINDOWS)).collect()
    };
    (0..rounds).map(curve).collect()
}

/// Running medians, of `beside` figures on either side. At the ends there are as many on both sides
/// as there are on one, so that a slope is kept.
fn smoothed(raw: &[f64], beside: usize) -> Vec<f64> {
    let at = |index: usize| {
        let side = beside.min(index).min(raw.len() - 1 - index);
        median_of(&mut raw[index - side..=index + side].to_vec()).unwrap_or(raw[index])
    };
    (0..raw.len()).map(at).collect()
}

/// What a place is along a curve.
fn log_of(place: u64) -> f64 {
    (place.max(1) as f64).ln()
}

/// The height of a curve at `place`: between its knots on straight lines, beyond them level.
fn along(knots: &[(f64, f64)], place: u64) -> f64 {
    let x = log_of(place);
    height(knots, knots.partition_point(|knot| knot.0 < x), x)
}

/// The heights of a curve at places that do not descend.
struct Along<'a> {
    knots: &'a [(f64, f64)],
    above: usize,
}

impl<'a> Along<'a> {
    fn new(knots: &'a [(f64, f64)]) -> Self {
        Self { knots, above: 0 }
    }

    fn at(&mut self, x: f64) -> f64 {
        while self.knots.get(self.above).is_some_and(|knot| knot.0 < x) {
            self.above += 1;
        }
        height(self.knots, self.above, x)
    }
}

/// The height at `x`, of whose knots `above` is the first that is not before it.
fn height(knots: &[(f64, f64)], above: usize, x: f64) -> f64 {
    let low = above.checked_sub(1).and_then(|below| knots.get(below));
    match (low, knots.get(above)) {
        (Some(low), Some(high)) if high.0 > low.0 => {
            low.1 + (high.1 - low.1) * (x - low.0) / (high.0 - low.0)
        }
        (_, Some(knot)) | (Some(knot), None) => knot.1,
        (None, None) => f64::NAN,
    }
}
