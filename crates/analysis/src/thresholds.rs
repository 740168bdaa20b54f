//! The numbers that several rules decide by, and those whose size is a choice, with their sources: at most sixty. What
//! follows from another one is written as such. What shapes one rule alone stands where it is used.
//!
//! *Usual* means: a range that holds what is seen on quiet and on shared machines. Verdicts depend on it little (`cargo
//! xtask truth`). *Simulated* means: chosen by the false alarms and misses that a test counts. *A choice* means: what
//! is worth a word.

// What is worth a word.

/// Factor within which a series is flat, either way, levels are one, and timed rounds say nothing. Source: measured;
/// medians of a flat mechanism on a shared machine differ by more than a tenth between runs.
pub const FLAT_FACTOR_MAX: f64 = 1.3;
/// A factor that is surely greater has grown, whatever its estimate: half of [`FLAT_FACTOR_MAX`], as a logarithm. Source:
/// reasoned; an interval of 1.26 to 1.31 is neither flat nor too wide.
pub const SURELY_GROWN_MIN: f64 = 1.14;
/// The smallest factor of a step or between two peaks where many samples show it. Source: simulated, `tests/clouds`.
pub const SEEN_FACTOR_MIN: f64 = 1.15;
/// Within this factor two series of which neither leads are the same, a drift is none, and two cells of the same
/// differ. A choice.
pub const SAME_MAX: f64 = 1.1;
/// The default of [`Terms::margin`](crate::compare::Terms::margin). A choice.
pub const MARGIN: f64 = 0.05;
/// A smaller lead is not marked, however certain: two layouts of a program's memory differ by as much, twice
/// [`RUN_ERROR`]. Source: measured on A/A runs.
pub const LEAD_MIN: f64 = 1.0 + 2.0 * RUN_ERROR;
/// The same where both are single figures. Source: in Mattheij's tables of 2010, 1.5 % counts and 0.8 % is too close to
/// call.
pub const LEAD_MIN_OF_SINGLES: f64 = 1.0 + RUN_ERROR;
/// A rate that falls below this share of what it was collapses: a half.
pub const COLLAPSE_MAX: f64 = EVEN;
/// Below this share a rate is crushed by over-commitment: contention alone costs a lock less. Source: locks
/// on 2 to 64 CPUs, see `tests/locks.rs`.
pub const CRUSHED_MAX: f64 = 0.01;
/// A rate that reaches this share of what all would do, if each did as much as the first, scales: a fifth of contention
/// leaves it.
pub const SCALES_MIN: f64 = 0.8;
/// The difference of two shares of requests from which it counts: below, a pause of the machine is the difference. A
/// choice.
pub const UNSERVED_SHARE_MIN: f64 = 0.001;
/// A change of the mechanism that saves less of a CPU is not worth it: `perf stat` shows as much from run to run. A
/// choice.
pub const CPU_SAVED_MIN: f64 = 0.01;
/// Fewer wake-ups a second for nothing are no finding. Source: Linux ticks 100 to 1,000 times a second on a
/// busy CPU (`CONFIG_HZ`), and stops that on an idle one; a process that wakes up as often keeps it awake.
pub const IDLE_WAKEUPS_MIN_PER_S: f64 = 100.0;

// How sure a verdict is.

/// The probability that any interval of a comparison misses, or any line of a history reports a change where there is
/// none.
pub const FALSE_ALARM: f64 = 0.05;
/// The share of [`FALSE_ALARM`] for whole series; points, which are many more, have the rest.
pub const SERIES_SHARE: f64 = 0.8;
/// How much less probable a change without a cause has to be where a gate looks after every run. Source:
/// simulated; with 20, at most 10 of 200 quiet histories fail a gate within 60 runs.
pub const GATE_LOOKS: f64 = 20.0;
/// How often chance may make an inner point an extreme, an end of a crossover's interval miss, or a subject the
/// cheapest.
pub const CHANCE_MAX: f64 = 0.01;
/// The two-sided p-value below which a slope over rounds is a drift. Source: simulated.
pub const DRIFT_P_VALUE: f64 = 0.002;
/// How sure a leader is. Source: simulated, `tests/crossing.rs`.
pub const SURE: f64 = 0.994;
/// The share of what the curves explain together that a set of classes holds: it leaves out the truth in one of fifty.
pub const SET_SHARE: f64 = 0.98;
/// Even odds: nothing is known beforehand, and from here on a thing is more likely than not, or the larger part of
/// another.
pub const EVEN: f64 = 0.5;
/// The share of rounds, windows, samples or subjects that have to show the claim on all. Source: simulated,
/// `tests/clouds`.
pub const MOST: f64 = 0.7;
/// What is this many standard errors off is no noise: once in four hundred.
pub const CLEAR_ERRORS: f64 = 3.0;
/// Standard errors by which a function's added time is not zero: of a hundred functions one is wrong in few tables.
/// Source: simulated.
pub const FUNCTION_ERRORS: f64 = 3.5;
/// How far a step is beyond the scatter of the bins, in their standard deviations: there are a hundred. Source:
/// simulated.
pub const STEP_DEVIATIONS: f64 = 5.0;
/// Where the ends of a position's interval are further apart, as a ratio, no position is named. A choice.
pub const POSITION_RATIO_MAX: f64 = 3.0;

// How much evidence there is at least.

/// Rounds that are split in two: three against two is the least that repeats on both sides.
pub const ROUNDS_MIN: usize = 5;
/// Of fewer than three that are alike, any two may be by chance: rounds, points, series, errors, machines.
pub const SEVERAL: usize = 3;
/// Fewer samples of a round don't show where it lies, nor fewer intervals what may happen in a load.
pub const SAMPLES_MIN: usize = 6;
/// Fewer samples of a point over all rounds are no evidence: two of each.
pub const POINT_SAMPLES_MIN: u64 = 2 * ROUNDS_MIN as u64;
/// Fewer samples don't show how they are distributed: a share of a fifth has an interval of ±11 points.
pub const SHARE_SAMPLES_MIN: usize = 50;
/// With fewer points the three parameters of a law fit anything.
pub const LAW_POINTS_MIN: usize = SEVERAL + 1;
/// Where the order is open over a shorter range, as a factor, points further apart are the remedy: classes look alike.
pub const ORDER_RANGE_MIN: f64 = 30.0;
/// A smaller share of the samples, or of what was added, is not named.
pub const NAMED_SHARE_MIN: f64 = 0.05;

// What noise is like.

/// Shares of cells that something disturbed, with how likely each is. Source: usual.
pub const DISTURBED_SHARES: [(f64, f64); 3] = [(0.02, 0.6), (0.1, 0.3), (0.25, 0.1)];
/// What a disturbance usually does to a cell, as a logarithm: ×1.4. Source: usual.
pub const DISTURBANCE_LOG: f64 = 0.35;
/// Share of the disturbed cells that are faster for it. Source: usual.
pub const FASTER_SHARE: f64 = 0.15;
/// How many times more than usual the cells of a single point scatter, where memory or a neighbour's load decides, with
/// how likely that is. Source: usual.
pub const POINT_FACTORS: [(f64, f64); 4] = [(1.0, 0.9), (4.0, 0.06), (16.0, 0.03), (64.0, 0.01)];
/// Errors beyond the levels' own, as standard deviations of a logarithm, the largest first. Source: usual.
pub const EXCESS_ERRORS: [f64; 7] = [0.45, 0.2, 0.09, 0.04, 0.018, 0.008, 0.004];
/// The noise of cells over what it is by their median deviation, all equally likely. Source: the spread of that median.
pub const NOISE_FACTORS: [f64; 6] = [0.7, 1.0, 1.4, 2.0, 2.8, 4.0];
/// What a machine differs by from a law, and a level along itself, as a standard deviation of the logarithm. Source:
/// loads of 4 KiB to 1 GiB on one machine, whose second-level cache climbs by 8 % from its first point to where it is
/// left.
pub const MODEL_ERROR: f64 = 0.05;
/// The error of a run that no round shows, as a logarithm: where the program and its pages lie, another tenant's cache.
/// Source: measured, see the head of `compare.rs`.
pub const RUN_ERROR: f64 = 0.01;
/// The assumed change between rounds, as a logarithm, where a single round can't show it. Source: usual.
pub const ROUND_DRIFT: f64 = 0.03;
/// The share of a round's samples that its edge leaves out, and half of the share of rounds: single ones do not move it.
pub const EDGE: f64 = 0.1;
/// The factor by which the CI of a tail is wider than Student's t asks for, since a quantile of the tail is further off
/// above than below: without it, 88 % were held where intervals differ by 30 %. Source: the test in
/// `whole_quantile.rs`.
pub const TAIL_CI_FACTOR: f64 = 1.15;

// What curves are like.

/// The largest factor of a step; the smallest is [`FLAT_FACTOR_MAX`]. Source: what leaving a cache and a table of pages
/// costs.
pub const STEP_FACTOR_MAX: f64 = 16.0;
/// How likely none, one and two steps are. Source: usual.
pub const STEP_PRIORS: [f64; 3] = [0.88, 0.1, 0.02];
/// How likely a curve that grows has no constant part. Source: usual.
pub const NO_CONSTANT_PRIOR: f64 = 0.15;
/// The share of a whole from which a part of it counts, such as what grows of a figure: below, noise of the whole is
/// most of it.
pub const PART_SHARE_MIN: f64 = 0.25;
/// The logarithms of leads, all equally likely: ×1.03 to ×55.
pub const LEADS: [f64; 8] = [0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0];
/// How far each of [`LEADS`] reaches, as a share of it: to its neighbours, and not to the other side of zero.
pub const LEAD_SPREAD: f64 = 0.3;
/// How likely the next larger or smaller lead follows, where the same one has 1. Source: usual.
pub const NEXT_LEAD: f64 = 0.3;
/// How far the figures may be from the law, in standard errors. Source: simulated, `tests/usl.rs`.
pub const LAW_ERRORS_MAX: f64 = 2.5;
/// A peak of the law further out than this many times the last point is out of reach of what was measured.
pub const PEAK_REACH: f64 = 4.0;
/// How many times as wide as the levels on either side the gap between two groups of rounds is, of 5, 6, 7, 8 rounds
/// and of more. Source: simulated; levels that scatter show it in one of 75 cases.
pub const SPLIT_GAPS: [f64; 5] = [6.0, 5.0, 4.5, 4.0, 3.5];
/// The steepest slope of a level, as an exponent: a level-two cache on pages of 4 KiB climbs by 35 % over four octaves.
pub const LEVEL_SLOPE_MAX: f64 = 0.12;
/// The least slope between two levels, as an exponent. Source: simulated.
pub const STEEP_SLOPE_MIN: f64 = 0.3;
/// What another segment has to save in squared residuals, in squared standard errors. Source: simulated.
pub const SEGMENT_PRICE: f64 = 8.0;
/// Mean number of consecutive samples on one curve from which modes come in stretches.
pub const STRETCH_SAMPLES_MIN: f64 = 20.0;
/// The share of the added CPU time that a function holds with what it calls to be named as the place of it.
pub const CONTAINER_SHARE_MIN: f64 = 0.9;
/// No function's share differs by more than this where two profiles are the same.
pub const SAME_SHARE_MAX: f64 = 0.15;
