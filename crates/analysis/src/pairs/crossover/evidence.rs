//! The leader of each part of the axis, by the evidence of neighbouring points together.
//!
//! The strength of a point's lead is the lead over the lead that is required of a point: at a strength of 1
//! the point is clear on its own. A stretch of neighbouring points is clear when its leads together are as
//! unlikely as that: the sum of their strengths is at least the root of their number. No point adds more
//! than [`POINT_SHARE_MAX`] to the sum, so that no single point decides for its neighbours. The lead changes
//! between clear stretches of different leaders; the number of changes is the smallest that explains them.
//!
//! The position of a change is estimated separately. The sign of the lead is constant on either side of the
//! change, and nothing is assumed about its size. The cost of a position is the sum of the squares (halved,
//! in standard errors) of all leads with the wrong sign. The best position has the lowest cost, and
//! positions with a slightly higher cost count as equally good.

use super::point_pair::{PointPair, errors_added};
use crate::pairs::thresholds::{
    CHANGE_COST_MAX, END_COST_MAX, OPPONENT_SHARE, POINT_SHARE_MAX, STRENGTH_ERRORS,
};
use crate::pairs::thresholds::{LEAD_MIN, LONE_POINT_LEAD_MIN};

/// Points in a row with the same leader.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub(super) first_leads: bool,
    /// The point at which the evidence that it has led is complete.
    pub(super) sure_by: usize,
    /// The first point from which on the evidence is complete.
    pub(super) sure_from: usize,
}

impl Stretch {
    /// Whether it rests on a single point with a small lead.
    fn is_blip(&self, pairs: &[PointPair<'_>]) -> bool {
        self.sure_by == self.sure_from && pairs[self.sure_by].lead.abs() < LONE_POINT_LEAD_MIN.ln()
    }
}

/// The clear stretches of changing leaders.
///
/// `correlation` is that of the errors of two points.
pub(super) fn stretches(pairs: &[PointPair<'_>], correlation: f64) -> Vec<Stretch> {
    let ends = |asked, from_the_end| ends(pairs, asked, correlation, from_the_end);
    if ends(1.0, false).is_empty() {
        return Vec::new();
    }
    let forward = ends(OPPONENT_SHARE, false);
    let mut backward = ends(OPPONENT_SHARE, true);
    backward.reverse();
    // The stretches from either end have the same leaders, except in the rare case of two stretches that
    // overlap: then the start of each is left open.
    let agree = forward.iter().map(|end| end.0).eq(backward.iter().map(|end| end.0));
    let mut stretches = Vec::with_capacity(forward.len());
    for (index, &(first_leads, sure_by)) in forward.iter().enumerate() {
        let before = index.checked_sub(1).map_or(0, |before| forward[before].1 + 1);
        let sure_from = if agree { backward[index].1 } else { before.min(sure_by) };
        stretches.push(Stretch { first_leads, sure_by, sure_from });
    }
    stretches
}

/// The ends of the shortest clear stretches of alternating leaders, in the order of the points or from the
/// last to the first.
fn ends(
    pairs: &[PointPair<'_>],
    asked: f64,
    correlation: f64,
    from_the_end: bool,
) -> Vec<(bool, usize)> {
    let count = pairs.len();
    let index = |position: usize| if from_the_end { count - 1 - position } else { position };
    let mut ends: Vec<(bool, usize)> = Vec::new();
    let mut start = 0;
    for end in 0..count {
        let mut sum = Sum::default();
        for position in (start..=end).rev() {
            sum.add(&pairs[index(position)]);
            let leader = sum.leader(asked, correlation, count);
            if let Some(first_leads) = leader
                && ends.last().is_none_or(|last| last.0 != first_leads)
            {
                ends.push((first_leads, index(end)));
                start = end + 1;
                break;
            }
        }
    }
    ends
}

/// A stretch as it grows.
#[derive(Default)]
struct Sum {
    points: usize,
    strengths: f64,
    /// For the mean of the leads, weighted by the inverse of their variance.
    leads: f64,
    weights: f64,
    alone: bool,
    clear: Option<bool>,
}

impl Sum {
    fn add(&mut self, pair: &PointPair<'_>) {
        self.points += 1;
        self.strengths +=
            pair.strength(pair.judged_lead()).clamp(-POINT_SHARE_MAX, POINT_SHARE_MAX);
        // An error of zero is as good as the smallest.
        let weight = pair.error.max(1e-9).powi(-2);
        self.leads += weight * pair.judged_lead();
        self.weights += weight;
        self.alone |= pair.is_single();
        self.clear = pair.clear.then_some(pair.lead > 0.0);
    }

    /// Whether the first series leads over all of it, if that is clear, among `count` points.
    fn leader(&self, asked: f64, correlation: f64, count: usize) -> Option<bool> {
        if self.points == 1 {
            return self.clear;
        }
        let points = self.points as f64;
        // The standard deviation of the sum of so many strengths. No sum exceeds that of the largest shares.
        let deviation = (points * (1.0 + (points - 1.0) * correlation)).sqrt();
        let deviation = deviation.min(points.sqrt().max(POINT_SHARE_MAX * points));
        let asked = asked * (1.0 + errors_added(count) / STRENGTH_ERRORS) * deviation;
        let first_leads = self.strengths > 0.0;
        let lead = self.leads / self.weights * if first_leads { 1.0 } else { -1.0 };
        // The error of single figures is unknown, so they can't be pooled.
        let is_clear = !self.alone && self.strengths.abs() >= asked && lead >= LEAD_MIN.ln();
        is_clear.then_some(first_leads)
    }
}

/// The stretches without single points of a small lead between two changes: neighbours of the same leader
/// join. Second, the points that are left out.
pub(super) fn without_blips(
    pairs: &[PointPair<'_>],
    all: Vec<Stretch>,
) -> (Vec<Stretch>, Vec<usize>) {
    let count = all.len();
    let (mut kept, mut blips): (Vec<Stretch>, Vec<usize>) = (Vec::new(), Vec::new());
    for (index, stretch) in all.into_iter().enumerate() {
        if index > 0 && index + 1 < count && stretch.is_blip(pairs) {
            blips.push(stretch.sure_by);
            continue;
        }
        match kept.last_mut() {
            Some(last) if last.first_leads == stretch.first_leads => {
                last.sure_from = stretch.sure_from;
            }
            _ => kept.push(stretch),
        }
    }
    (kept, blips)
}

/// A change of the leader. Points are indices.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// Whether the first series leads before it.
    pub(super) first_leads: bool,
    /// The last point before it, with the cost above that of the best: all positions that are as
    /// good as the best, ascending.
    pub(super) candidates: Vec<(usize, f64)>,
    /// The first and the last candidate of any replicate: the neighbouring changes or the range end there.
    pub(super) outer: [usize; 2],
    /// The last point at which the old leader leads by the evidence, and the first at which the new one does.
    pub(super) between: [usize; 2],
}

/// The changes between `stretches`.
pub(super) fn changes(pairs: &[PointPair<'_>], stretches: &[Stretch]) -> Vec<Change> {
    let best = best_changes(pairs, stretches);
    let change = |index: usize| {
        let first = index.checked_sub(1).map_or(0, |before| best[before] + 1);
        let next = best.get(index + 1).map_or(pairs.len() - 1, |next| *next);
        let outer = [first, next.saturating_sub(1).max(first)];
        Change::new(pairs, &stretches[index..index + 2], best[index], outer)
    };
    (0..best.len()).map(change).collect()
}

impl Change {
    /// The change between two `stretches`, whose best position is `best`.
    fn new(pairs: &[PointPair<'_>], stretches: &[Stretch], best: usize, outer: [usize; 2]) -> Self {
        let first_leads = stretches[0].first_leads;
        let [first, last] = window(stretches);
        let costs =
            Costs::new(pairs.iter().map(|pair| pair.strength(pair.judged_lead())), first_leads);
        let cost = |at: usize| costs.at(at + 1) - costs.at(best + 1);
        // Single figures: every position between two clear ones is as good.
        let single = pairs.iter().any(PointPair::is_single);
        let inside = first.max(outer[0])..=last.min(outer[1]);
        let as_good = inside.filter(|at| *at == best || single || cost(*at) <= CHANGE_COST_MAX);
        let candidates: Vec<(usize, f64)> = as_good.map(|at| (at, cost(at))).collect();
        let [mut after, mut before] =
            [candidates.first(), candidates.last()].map(|end| end.map_or(best, |end| end.0));
        before += 1;
        // A reader finds no lead at a point where it is this small.
        let small = |at: usize| pairs[at].lead.abs() < LEAD_MIN.ln() && !pairs[at].clear;
        while after > first && small(after) {
            after -= 1;
        }
        while before <= last && small(before) {
            before += 1;
        }
        Self { first_leads, candidates, outer, between: [after, before] }
    }
}

/// The first and the last point after which the leader of the first of two stretches may give way to
/// that of the second.
fn window(stretches: &[Stretch]) -> [usize; 2] {
    let first = stretches[0].sure_from;
    [first, stretches[1].sure_by.saturating_sub(1).max(first)]
}

/// The last points before each change, with the lowest cost together. Stretches begin in ascending order,
/// so that there is always a solution.
fn best_changes(pairs: &[PointPair<'_>], stretches: &[Stretch]) -> Vec<usize> {
    let mut reached: Vec<(f64, Vec<usize>)> = vec![(0.0, Vec::new())];
    for neighbours in stretches.windows(2) {
        let leads = pairs.iter().map(|pair| pair.strength(pair.judged_lead()));
        let costs = Costs::new(leads, neighbours[0].first_leads);
        let [first, last] = window(neighbours);
        let reach = |at: usize| {
            let before =
                reached.iter().filter(|(_, positions)| positions.last().is_none_or(|p| *p < at));
            let (cost, positions) = before.min_by(|a, b| a.0.total_cmp(&b.0))?;
            // Each change turns all points after it; the next one turns its own back.
            let cost = cost + costs.turned(at + 1);
            Some((cost, positions.iter().copied().chain([at]).collect()))
        };
        reached = (first..=last).filter_map(reach).collect();
    }
    let best = reached.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, positions)| positions).unwrap_or_default()
}

/// The cost of a change at each position.
pub(super) struct Costs {
    /// By the number of points before the change.
    by_count: Vec<f64>,
}

impl Costs {
    /// By the strengths of the leads; `first_leads` below.
    pub(super) fn new(leads: impl Iterator<Item = f64> + Clone, first_leads: bool) -> Self {
        let sign = if first_leads { 1.0 } else { -1.0 };
        let cost = |lead: f64| (STRENGTH_ERRORS * lead.clamp(0.0, POINT_SHARE_MAX)).powi(2) / 2.0;
        let mut sum: f64 = leads.clone().map(|lead| cost(sign * lead)).sum();
        let mut by_count = vec![sum];
        for lead in leads {
            sum += cost(-sign * lead) - cost(sign * lead);
            by_count.push(sum);
        }
        Self { by_count }
    }

    /// The cost of a change after `count` points.
    pub(super) fn at(&self, count: usize) -> f64 {
        self.by_count[count]
    }

    /// The change of the cost by turning all points from there on.
    fn turned(&self, count: usize) -> f64 {
        self.by_count[count] - self.by_count[self.by_count.len() - 1]
    }

    /// The number of points before the cheapest change, between these two.
    pub(super) fn cheapest(&self, [first, last]: [usize; 2]) -> usize {
        let cheaper = |a: &usize, b: &usize| self.by_count[*a].total_cmp(&self.by_count[*b]);
        (first..=last).min_by(cheaper).unwrap_or(first)
    }
}

/// The first and the last point of the range in which the only leader has a lead of at least [`LEAD_MIN`]:
/// points at the ends that contribute nothing are left out.
pub(super) fn range(pairs: &[PointPair<'_>], only: &Stretch) -> [usize; 2] {
    let sign = if only.first_leads { 1.0 } else { -1.0 };
    let margin = sign * LEAD_MIN.ln();
    let beyond = pairs.iter().map(|pair| sign * pair.strength(pair.judged_lead() - margin));
    let spared = |costs: &Costs, max: usize| {
        let min = (0..=max).map(|count| costs.at(count)).fold(f64::INFINITY, f64::min);
        (0..=max).rfind(|count| costs.at(*count) <= min + END_COST_MAX).unwrap_or(0)
    };
    let first = spared(&Costs::new(beyond.clone(), false), only.sure_by);
    let backward: Vec<f64> = beyond.rev().collect();
    let max = pairs.len() - 1 - only.sure_from;
    let last = pairs.len() - 1 - spared(&Costs::new(backward.into_iter(), false), max);
    let sure = [only.sure_from.min(only.sure_by), only.sure_from.max(only.sure_by)];
    if first <= last { [first, last] } else { sure }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ComparisonOutcome;
    use crate::pairs::crossover::tests::{against_ten, crossovers, singles};
    use crate::pairs::crossover::{Comparison, compare_series};

    /// Better, from, to, clear.
    fn throughout(outcome: ComparisonOutcome) -> (String, u64, u64, usize) {
        let ComparisonOutcome::Throughout { better, from, to, clear, .. } = outcome else {
            panic!("{outcome:?}")
        };
        (better, from, to, clear)
    }

    /// Six leads of 1.7 standard errors together make a lead of 4.
    #[test]
    fn a_lead_that_is_clear_nowhere_is_clear_altogether() {
        let (better, from, to, clear) = throughout(against_ten([11.5; 6], 0.06));
        assert_eq!((better.as_str(), from, to, clear), ("ten", 10, 3000, 0));
        // Three of them do not, whatever the remaining three are.
        let half = against_ten([11.5, 11.5, 11.5, 10.0, 10.0, 10.0], 0.06);
        assert!(matches!(half, ComparisonOutcome::Unknown { .. }), "{half:?}");
        // However certain, 1.5 % is too small to matter.
        let small = against_ten([10.15; 6], 0.004);
        assert!(matches!(small, ComparisonOutcome::TooClose { .. }), "{small:?}");
    }

    #[test]
    fn a_leader_leads_as_far_as_the_evidence_goes() {
        let below = throughout(against_ten([15.0, 12.0, 12.0, 10.1, 9.9, 10.0], 0.03));
        assert_eq!((below.0.as_str(), below.1, below.2), ("ten", 10, 100));
        let above = throughout(against_ten([10.0, 9.9, 10.1, 8.0, 8.0, 5.0], 0.03));
        assert_eq!((above.0.as_str(), above.1, above.2), ("other", 300, 3000));
        // What is in between belongs to it, and so does an end that is sure but small.
        let between = throughout(against_ten([15.0, 10.0, 9.9, 10.1, 12.0, 10.4], 0.005));
        assert_eq!((between.1, between.2), (10, 3000));
    }

    #[test]
    fn weak_evidence_on_both_sides_is_a_crossover() {
        let [crossover] =
            crossovers(against_ten([12.2, 12.2, 12.2, 8.2, 8.2, 8.2], 0.06)).try_into().unwrap();
        assert_eq!((crossover.after, crossover.before), (100, 300));
        assert!(crossover.at.low < 170.0 && crossover.at.high > 170.0, "{crossover:?}");
    }

    /// A lucky point adds less than what would make it clear.
    #[test]
    fn one_point_does_not_decide_for_others() {
        let medians = [10.2, 10.1, 10.2, 12.4, 10.1, 10.2];
        let outcome = against_ten(medians, 0.05);
        assert!(matches!(outcome, ComparisonOutcome::Unknown { .. }), "{outcome:?}");
    }

    #[test]
    fn single_figures_are_not_pooled() {
        let flat: Vec<(u64, f64)> = (1..20).map(|point| (point, 10.0)).collect();
        let more: Vec<(u64, f64)> = (1..20).map(|point| (point, 10.08)).collect();
        let outcome = compare_series(&singles("flat", &flat), &singles("more", &more));
        assert!(matches!(outcome, ComparisonOutcome::TooClose { .. }), "{outcome:?}");
    }

    /// A position with all leads of the right sign on both sides costs nothing.
    #[test]
    fn costs_are_those_of_leads_on_the_wrong_side() {
        let costs = Costs::new([0.5, 0.2, -0.3, 0.1, -2.0].into_iter(), true);
        let squared = |lead: f64| (STRENGTH_ERRORS * lead).powi(2) / 2.0;
        let expected = [
            squared(0.5) + squared(0.2) + squared(0.1),
            squared(0.2) + squared(0.1),
            squared(0.1),
            squared(0.3) + squared(0.1),
            squared(0.3),
            squared(0.3) + squared(POINT_SHARE_MAX),
        ];
        for (count, expected) in expected.into_iter().enumerate() {
            assert!((costs.at(count) - expected).abs() < 1e-12, "{count}");
        }
        assert_eq!((costs.cheapest([0, 5]), costs.cheapest([3, 5])), (2, 4));
    }

    /// Leads of 5 and 4 in turn, so that a change is where the sign is.
    #[test]
    fn two_changes_are_placed_together() {
        let first = singles("one", &[(1, 5.0), (2, 4.0), (3, 1.0), (4, 1.0), (5, 5.0), (6, 4.0)]);
        let second =
            singles("other", &[(1, 1.0), (2, 1.0), (3, 5.0), (4, 4.0), (5, 1.0), (6, 1.0)]);
        let comparison = Comparison::new(&first, &second);
        let stretches = super::stretches(&comparison.pairs, 0.0);
        assert_eq!(stretches.len(), 3);
        assert_eq!(best_changes(&comparison.pairs, &stretches), [1, 3]);
        let changes = super::changes(&comparison.pairs, &stretches);
        assert_eq!((changes[0].between, changes[0].outer), ([1, 2], [0, 2]));
        assert_eq!((changes[1].between, changes[1].outer), ([3, 4], [2, 4]));
    }
}
