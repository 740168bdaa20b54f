//! Leads of two series that were measured in the same rounds: false ones, true ones and the interval of their ratio, where
//! rounds, cells, or the rounds of one series differ.

use analysis::pairs::comparison::{Comparison, Series};
use analysis::stats::moments::{deviation, mean};
use analysis::stats::quantiles::median_of;
use analysis::stats::random::{generator, normal};
use analysis::{ComparisonOutcome, ComparisonReason, Estimate, PointSummary};
use fastrand::Rng;

const POINTS: [u64; 12] = [1, 2, 5, 10, 20, 50, 100, 200, 400, 600, 800, 1000];
/// Comparisons of identical curves.
const IDENTICAL: u64 = 100;
/// Comparisons of curves that differ by [`LEAD`].
const DIFFERENT: u64 = 30;
const LEAD: f64 = 1.05;
const SAMPLES: usize = 15;
/// The logarithm of a disturbance by 30 %.
const SLOW: f64 = 0.262;

/// What samples differ by, as logarithms, besides 5 % of their own.
#[derive(Clone, Copy, Debug, Default)]
struct Noise {
    /// A standard deviation of each cell.
    cell: f64,
    /// The share of cells that are slower by 30 %.
    slow_cells: f64,
    /// A standard deviation of each round, for both series and all points.
    round: f64,
    /// The share of rounds that are slower by 30 %.
    slow_rounds: f64,
    /// The share of each point's rounds that are slower by 30 % for both series.
    slow_points: f64,
    /// How much less the second series has of what is common to both.
    less: f64,
    /// A standard deviation of each round of each series, for all points: as in a trajectory.
    series_round: f64,
}

/// Both series, of which the first is better by the factor `lead`.
fn draw(noise: Noise, rounds: usize, lead: f64, random: &mut Rng) -> [Series; 2] {
    let slow = |share: f64, random: &mut Rng| if random.f64() < share { SLOW } else { 0.0 };
    let common: Vec<f64> = (0..rounds)
        .map(|_| noise.round * normal(random) + slow(noise.slow_rounds, random))
        .collect();
    let apart: Vec<[f64; 2]> =
        (0..rounds).map(|_| [0, 1].map(|_| noise.series_round * normal(random))).collect();
    let mut figures = [Vec::new(), Vec::new()];
    for point in POINTS {
        let mut samples: [Vec<Vec<f64>>; 2] = [Vec::new(), Vec::new()];
        for (disturbance, apart) in common.iter().zip(&apart) {
            let common = disturbance + slow(noise.slow_points, random);
            for (side, (share, factor)) in [(1.0, 1.0), (1.0 - noise.less, lead)].iter().enumerate()
            {
                let cell =
                    apart[side] + noise.cell * normal(random) + slow(noise.slow_cells, random);
                let level = 100.0 * factor * (share * common + cell).exp();
                let sample = |_| level * (0.05 * normal(random)).exp();
                samples[side].push((0..SAMPLES).map(sample).collect());
            }
        }
        for (figures, mut samples) in figures.iter_mut().zip(samples) {
            let value = median_of(&mut samples.concat()).unwrap();
            let medians = samples.iter_mut().filter_map(|samples| median_of(samples));
            figures.push(PointSummary {
                point,
                median: Estimate::exact(value),
                log_cells: (0..).zip(medians.map(f64::ln)).collect(),
                ..PointSummary::default()
            });
        }
    }
    let [first, second] = figures;
    [Series::new("first", true, first), Series::new("second", true, second)]
}

/// What comparisons came to.
#[derive(Clone, Debug, Default)]
struct Tally {
    /// Comparisons of identical curves with a lead at any point, or a leader over the axis.
    false_leads: u64,
    /// Points at which the lead of 5 % is found.
    leads: u64,
    /// Comparisons in which it is found over the axis.
    leaders: u64,
    /// Of all points of identical curves, those at which the CI holds the truth.
    covered: u64,
}

impl Tally {
    fn new(noise: Noise, rounds: usize) -> Self {
        let mut tally = Self::default();
        for seed in 0..IDENTICAL + DIFFERENT {
            let mut random = generator(seed, &[&format!("{noise:?} {rounds}")]);
            let lead = if seed < IDENTICAL { 1.0 } else { LEAD };
            let [first, second] = draw(noise, rounds, lead, &mut random);
            tally.add(&Comparison::new(&first, &second), lead);
        }
        tally
    }

    fn add(&mut self, comparison: &Comparison<'_>, lead: f64) {
        let leads: Vec<bool> =
            POINTS.iter().filter_map(|point| comparison.first_leads_at(*point)).collect();
        let first_is_better = match comparison.outcome() {
            ComparisonOutcome::Throughout { better, .. } => Some(better == "first"),
            ComparisonOutcome::Crosses { .. } | ComparisonOutcome::Unsettled { .. } => Some(false),
            _ => None,
        };
        if lead > 1.0 {
            self.leads += leads.iter().filter(|first_leads| **first_leads).count() as u64;
            self.leaders += u64::from(first_is_better == Some(true));
            return;
        }
        self.false_leads += u64::from(!leads.is_empty() || first_is_better.is_some());
        let holds = |point: &u64| {
            let Estimate { low, high, .. } = comparison.lead_at(*point).unwrap();
            (low..=high).contains(&1.0)
        };
        self.covered += POINTS.iter().filter(|point| holds(point)).count() as u64;
    }
}

/// Every noise with 3, 5 and 9 rounds. At least so many of the 360 leads of 5 % are found at their points, and so
/// many of the 30 over the axis; both are about half of what more comparisons have.
#[test]
fn leads_are_found_and_no_false_ones_whatever_rounds_do() {
    let own = Noise { cell: 0.03, ..Noise::default() };
    let shared = Noise { cell: 0.01, ..Noise::default() };
    let slow_cells = Noise { slow_cells: 0.3, ..own };
    let slow_rounds = Noise { slow_rounds: 0.3, ..shared };
    let slow_points = Noise { slow_points: 0.3, ..shared };
    let both =
        Noise { cell: 0.02, slow_cells: 0.1, round: 0.03, slow_rounds: 0.2, ..Noise::default() };
    let uneven = Noise { round: 0.1, less: 0.5, ..shared };
    let kinds: [(&str, Noise, [[u64; 2]; 3]); 10] = [
        ("each cell 3 %", own, [[0, 3], [3, 25], [10, 25]]),
        ("each cell 3 %, 30 % of the cells slow", slow_cells, [[0, 0]; 3]),
        ("each cell 3 %, the round 3 %", Noise { round: 0.03, ..own }, [[0, 0], [0, 20], [8, 25]]),
        (
            "each cell 1 %, the round 10 %",
            Noise { round: 0.1, ..shared },
            [[0, 0], [25, 22], [120, 25]],
        ),
        ("each cell 1 %, 30 % of the rounds slow", slow_rounds, [[0, 0], [20, 22], [120, 25]]),
        (
            "each cell 1 %, 30 % of each point's rounds slow",
            slow_points,
            [[0, 0], [20, 20], [120, 25]],
        ),
        ("both", both, [[0, 0], [0, 0], [0, 15]]),
        ("the round 10 %, half of it for the second", uneven, [[0, 0]; 3]),
        ("each round of each series 3 %", Noise { series_round: 0.03, ..shared }, [[0, 0]; 3]),
        ("each round of each series 10 %", Noise { series_round: 0.1, ..shared }, [[0, 0]; 3]),
    ];
    let mut failures = Vec::new();
    for (name, noise, all_min) in kinds {
        for (rounds, [leads_min, leaders_min]) in [3, 5, 9].into_iter().zip(all_min) {
            let tally = Tally::new(noise, rounds);
            let coverage = tally.covered as f64 / (IDENTICAL as usize * POINTS.len()) as f64;
            let line =
                format!("{name}, {rounds} rounds: {tally:?}, covered {:.1} %", 100.0 * coverage);
            println!("{line}");
            let is_right = tally.false_leads <= 5
                && tally.leads >= leads_min
                && tally.leaders >= leaders_min
                && coverage >= 0.94;
            if !is_right {
                failures.push(line);
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The ratio over all points, where neither series leads.
fn overall_ratio(outcome: &ComparisonOutcome) -> Option<Estimate> {
    match outcome {
        ComparisonOutcome::TooClose { ratio, .. }
        | ComparisonOutcome::Unknown { reason: ComparisonReason::WithinScatter { ratio, .. } } => {
            *ratio
        }
        _ => None,
    }
}

/// The curves are 1 % apart.
#[test]
fn the_ratio_over_all_points_has_no_bias() {
    const COMPARISONS: u64 = 200;
    const CLOSE: f64 = 1.01;
    let shared = Noise { cell: 0.01, ..Noise::default() };
    let kinds = [
        Noise { round: 0.1, ..shared },
        Noise { slow_rounds: 0.3, ..shared },
        Noise { slow_points: 0.3, ..shared },
    ];
    let mut failures = Vec::new();
    for (noise, rounds) in kinds.into_iter().flat_map(|noise| [5, 9].map(|rounds| (noise, rounds)))
    {
        let draw_ratio = |seed| {
            let mut random = generator(seed, &[&format!("ratio {noise:?} {rounds} {CLOSE}")]);
            let [first, second] = draw(noise, rounds, CLOSE, &mut random);
            overall_ratio(&Comparison::new(&first, &second).outcome())
        };
        let ratios: Vec<Estimate> = (0..COMPARISONS).filter_map(draw_ratio).collect();
        let count = ratios.len() as f64;
        let leads: Vec<f64> = ratios.iter().map(|ratio| -ratio.value.ln() / CLOSE.ln()).collect();
        let (share, error) = (mean(&leads), deviation(&leads) / count.sqrt());
        let holds = |ratio: &&Estimate| (ratio.low..=ratio.high).contains(&CLOSE.recip());
        let coverage = 100.0 * ratios.iter().filter(holds).count() as f64 / count;
        let line = format!(
            "{noise:?}, {rounds} rounds: {count} ratios, {share:.3} ± {error:.3} of the lead, covered \
             {coverage:.1} %"
        );
        println!("{line}");
        // A few comparisons find a leader, and have no ratio over all points.
        let is_right = ratios.len() as u64 >= COMPARISONS * 3 / 4
            && (share - 1.0).abs() <= 3.0 * error
            && coverage >= 94.5;
        if !is_right {
            failures.push(line);
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Two subjects 4 % apart, whose rounds differ by up to 30 %: `order` has the round of the second subject that
/// was as busy as each round of the first.
fn leads_of_run(order: [u32; 5]) -> Vec<bool> {
    const BUSY: [f64; 5] = [1.0, 1.3, 0.9, 1.1, 1.2];
    let mut random = Rng::with_seed(3);
    let mut cells = Vec::new();
    for (point, round) in
        POINTS.into_iter().flat_map(|point| (0..5).map(move |round| (point, round)))
    {
        let busy = BUSY[round as usize];
        for (subject, cost, round) in
            [("plain", 10.0, round), ("slower", 10.4, order[round as usize])]
        {
            let samples =
                (0..9).map(|_| cost * busy * (0.01 * normal(&mut random)).exp()).collect();
            cells.push(fixtures::cell("made", subject, point, round).samples("call", samples));
        }
    }
    let made = fixtures::workload("made")
        .axis("number", "number")
        .time("call")
        .subjects(["plain", "slower"]);
    let run = fixtures::run(made).rounds(5).cells(cells).complete();
    let analysis = analysis::analyse(&run);
    analysis.tables[0].leads.iter().flatten().map(|lead| lead.clear).collect()
}

/// The same medians, once from rounds that disturbed both and once from rounds that did not.
#[test]
fn rounds_of_a_run_are_paired_by_their_numbers() {
    assert_eq!(leads_of_run([0, 1, 2, 3, 4]), [true; 12]);
    assert_eq!(leads_of_run([4, 2, 3, 1, 0]), [false; 12]);
}
