//! Runs drawn at random, with the disturbances that were seen on a shared machine.

use analysis::compare::{ChangeKind, Comparison, Terms, Verdict, compare};
use analysis::stats::random::{generator, normal};
use fastrand::Rng;
use fixtures::metric_info;
use model::{Cell, Run, WorkloadInfo};

/// Comparisons of what is the same, which are called different in one of a hundred cases at most.
pub const REPETITIONS: u64 = 200;
/// Comparisons of what differs. Of intervals that miss in a tenth of the cases, 4 of 100 such tests would be passed.
const REPETITIONS_OF_CHANGED: u64 = 120;
/// So many without a mistake settle it, and so many more for each: at a rate of 3 % of three series they would come in one
/// of two hundred tests.
const STRAIGHT: u64 = 60;
const AFTER_AN_ALARM: u64 = 34;

/// How samples scatter, as shares.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    /// Of a sample.
    pub sample: f64,
    /// Of a cell.
    pub cell: f64,
    /// Of a round, in which all cells share it; runs that take turns share it too.
    pub round: f64,
    /// Of a run as a whole.
    pub run: f64,
    /// How many cells are slower by 30 %, since somebody uses the other half of the core: in each run
    /// any share up to this one.
    pub slow: f64,
    /// Whether cells scatter with a heavy tail: Student's t with two degrees of freedom.
    pub heavy: bool,
}

pub const QUIET: Noise =
    Noise { sample: 0.03, cell: 0.01, round: 0.0, run: 0.003, slow: 0.0, heavy: false };
pub const ROUNDS: Noise = Noise { sample: 0.05, cell: 0.03, round: 0.02, run: 0.0, ..QUIET };
pub const SHARED: Noise = Noise { sample: 0.05, round: 0.01, run: 0.01, slow: 0.6, ..QUIET };
pub const HEAVY: Noise = Noise { cell: 0.05, heavy: true, run: 0.005, ..QUIET };

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Design {
    pub noise: Noise,
    pub subjects: usize,
    pub points: &'static [u64],
    pub rounds: u32,
    pub lower_is_better: bool,
    pub paired: bool,
    pub margin: f64,
}

pub const USUAL: Design = Design {
    noise: QUIET,
    subjects: 3,
    points: &[100, 1000],
    rounds: 7,
    lower_is_better: true,
    paired: false,
    margin: 0.05,
};

/// By how much new differs from base in the first subject, at a point.
pub type Factor<'a> = &'a dyn Fn(u64) -> f64;

/// What disturbs a run: all of a round, and the share of cells that are slowed.
#[derive(Clone)]
struct Disturbed {
    rounds: Vec<f64>,
    slow: f64,
}

impl Disturbed {
    fn drawn(design: &Design, random: &mut Rng) -> Self {
        let rounds = (0..design.rounds).map(|_| design.noise.round * normal(random)).collect();
        Self { rounds, slow: design.noise.slow * random.f64() }
    }
}

/// A run of this design, whose first subject is off by `factor`.
fn run(design: &Design, factor: Factor<'_>, disturbed: &Disturbed, random: &mut Rng) -> Run {
    let noise = design.noise;
    let of_run = noise.run * normal(random);
    let mut cells = Vec::new();
    for round in 0..design.rounds {
        for subject in 0..design.subjects {
            for &point in design.points {
                let chi = f64::midpoint(normal(random).powi(2), normal(random).powi(2));
                let tail = if noise.heavy { chi.sqrt() } else { 1.0 };
                let of_cell = (noise.cell * normal(random) / tail).clamp(-3.0, 3.0);
                let slowed = if random.f64() < disturbed.slow { 1.3_f64.ln() } else { 0.0 };
                let off = of_run + disturbed.rounds[round as usize] + of_cell + slowed;
                let sign = if design.lower_is_better { 1.0 } else { -1.0 };
                let changed = if subject == 0 { factor(point) } else { 1.0 };
                let level = 2000.0 * changed * (sign * off).exp();
                let samples =
                    (0..30).map(|_| level * (noise.sample * normal(random)).exp()).collect();
                cells.push(cell(&format!("s{subject}"), point, round, samples));
            }
        }
    }
    fixtures::run(workload(design.subjects, design.lower_is_better))
        .seed(random.u64(..))
        .rounds(design.rounds)
        .times_ms(100, 0)
        .cells(cells)
        .complete()
}

pub fn cell(subject: &str, point: u64, round: u32, samples: Vec<f64>) -> Cell {
    fixtures::cell("poll", subject, point, round)
        .parameter("active", "1")
        .samples("loop", samples)
        .build()
}

pub fn workload(subjects: usize, lower_is_better: bool) -> WorkloadInfo {
    let unit = if lower_is_better { "ns" } else { "tokens/s" };
    let names: Vec<String> = (0..subjects).map(|index| format!("s{index}")).collect();
    fixtures::workload("poll")
        .axis("watched descriptors", "watched")
        .metric_info(metric_info("loop", "loop", unit, lower_is_better))
        .subjects(names.iter().map(String::as_str))
        .build()
}

pub fn terms(margin: f64) -> Terms {
    Terms { margin, fail_above: None, across: false, all: false }
}

/// Two runs of this design, the new one's first subject being off by `factor`.
pub fn pair(design: &Design, factor: Factor<'_>, random: &mut Rng) -> [Run; 2] {
    let of_base = Disturbed::drawn(design, random);
    let of_new = if design.paired { of_base.clone() } else { Disturbed::drawn(design, random) };
    let base = run(design, &|_| 1.0, &of_base, random);
    let mut new = run(design, factor, &of_new, random);
    new.summary.id = "fedcba9876543210".into();
    if design.paired {
        new.plan.paired_with.clone_from(&base.summary.id);
    }
    [base, new]
}

/// What came of many comparisons.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub comparisons: u64,
    /// Identical series.
    pub alike: u64,
    /// Identical series that are called faster or slower, as a whole or at a point.
    pub alarms: u64,
    /// Identical series that are called the same.
    pub same: u64,
    /// Comparisons with an alarm.
    pub disturbed: u64,
    /// Comparisons that report a change of a part: medians and best tenths disagree.
    pub parts: u64,
    /// Changed series that were detected, with the right direction.
    pub detected: u64,
    /// Changed series with the wrong direction.
    pub reversed: u64,
    /// CIs of changed series that cover the true ratio.
    pub covered: u64,
}

/// Compares pairs of this design, in which the first subject of new is off by `factor`.
pub fn tally(name: &str, design: &Design, factor: Factor<'_>) -> Tally {
    let mut tally = Tally::default();
    let mut random = generator(7, &[name]);
    let logs = design.points.iter().map(|&point| factor(point).ln());
    let truth = (logs.sum::<f64>() / design.points.len() as f64).exp();
    let is_changed = (truth - 1.0).abs() > 1e-9;
    let repetitions = if is_changed { REPETITIONS_OF_CHANGED } else { REPETITIONS };
    for _ in 0..repetitions {
        let [base, new] = pair(design, factor, &mut random);
        let compared = compare(&base, &new, &terms(design.margin)).expect("comparable");
        count(&mut tally, &compared, truth, design.lower_is_better);
        let is_settled = if is_changed {
            let mostly = |right| fixtures::is_settled(right, tally.comparisons - right);
            mostly(tally.detected) && mostly(tally.covered)
        } else {
            tally.comparisons >= STRAIGHT + AFTER_AN_ALARM * tally.alarms
        };
        if is_settled {
            break;
        }
    }
    println!("{name}: {tally:?}");
    tally
}

fn count(tally: &mut Tally, compared: &Comparison, truth: f64, lower_is_better: bool) {
    tally.comparisons += 1;
    let mut any = false;
    for row in &compared.tables[0].rows {
        let decided = |verdict| matches!(verdict, Verdict::Faster | Verdict::Slower);
        if row.subject == "s0" && (truth - 1.0).abs() > 1e-9 {
            let worse = (truth > 1.0) == lower_is_better;
            let right = if worse { Verdict::Slower } else { Verdict::Faster };
            tally.detected += u64::from(row.overall.verdict == right);
            tally.reversed +=
                u64::from(decided(row.overall.verdict) && row.overall.verdict != right);
            let ratio = row.overall.ratio;
            tally.covered += u64::from((ratio.low..=ratio.high).contains(&truth));
            continue;
        }
        let points = row.cells.iter().flatten().map(|cell| cell.ratio.verdict);
        let alarm = points.chain([row.overall.verdict]).any(decided);
        tally.alike += 1;
        tally.alarms += u64::from(alarm);
        tally.same += u64::from(row.overall.verdict == Verdict::Same);
        any |= alarm;
    }
    tally.disturbed += u64::from(any);
    let part = compared.changes.iter().any(|change| change.kind == ChangeKind::Part);
    tally.parts += u64::from(part);
}
