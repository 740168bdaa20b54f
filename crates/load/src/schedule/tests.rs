//! Intended times against closed forms.

use super::*;
use crate::plan::{Shape, Share, Target};
use proptest::prelude::*;
use std::time::Duration;

fn plan(arrivals: Arrivals, seconds: f64) -> Plan {
    let target = Target::new(crate::Address::Tcp(([127, 0, 0, 1], 80).into()), "here", "/");
    Plan {
        shape: Shape::Open(arrivals),
        duration: Some(Duration::from_secs_f64(seconds)),
        ..Plan::new(target)
    }
}

fn times(arrivals: Arrivals, plan: &Plan, offset: usize) -> Vec<i64> {
    let mut schedule = Schedule::new(arrivals, plan, offset, 1);
    let mut all = Vec::new();
    while let Some(at_ns) = schedule.peek() {
        all.push(at_ns);
        schedule.advance();
    }
    all
}

#[test]
fn a_constant_rate_is_evenly_spaced_and_warms_up_before_zero() {
    let arrivals = Arrivals::Constant { per_s: 1_000.0 };
    let plan = Plan { warm_up: Duration::from_millis(3), ..plan(arrivals, 0.004) };
    let expected: Vec<i64> = (-3..4).map(|k| k * 1_000_000).collect();
    assert_eq!(times(arrivals, &plan, 0), expected);
}

#[test]
fn a_number_of_requests_ends_it_and_warming_up_does_not_count() {
    let arrivals = Arrivals::Constant { per_s: 100.0 };
    let plan = Plan {
        requests: Some(5),
        duration: None,
        warm_up: Duration::from_millis(50),
        ..plan(arrivals, 1.0)
    };
    assert_eq!(times(arrivals, &plan, 0).len(), 10);
    // Sessions of four requests: two of them hold five.
    let mut schedule = Schedule::new(arrivals, &plan, 0, 4);
    let mut counted = 0;
    while let Some(at_ns) = schedule.peek() {
        counted += usize::from(at_ns >= 0);
        schedule.advance();
    }
    assert_eq!(counted, 2);
}

/// Of a Poisson process the gaps have the mean and the standard deviation 1/rate, and the counts
/// of equal spans have a variance like their mean.
#[test]
fn poisson_arrivals_have_the_mean_and_the_variance_of_their_law() {
    let (per_s, seconds) = (10_000.0, 20.0);
    let arrivals = Arrivals::Poisson { per_s };
    let all = times(arrivals, &plan(arrivals, seconds), 0);
    let expected: f64 = per_s * seconds;
    // Five standard deviations of the count, and of the moments of so many gaps.
    assert!((all.len() as f64 - expected).abs() < 5.0 * expected.sqrt(), "{}", all.len());
    let gaps: Vec<f64> = all.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e9).collect();
    let count = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / count;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
    assert!((mean * per_s - 1.0).abs() < 5.0 / count.sqrt(), "{mean}");
    assert!((variance * per_s * per_s - 1.0).abs() < 5.0 * (8.0 / count).sqrt(), "{variance}");
    let mut counts = vec![0.0; 2_000];
    for at_ns in &all {
        counts[(*at_ns / 10_000_000) as usize] += 1.0;
    }
    let mean = counts.iter().sum::<f64>() / 2_000.0;
    let variance = counts.iter().map(|n: &f64| (n - mean).powi(2)).sum::<f64>() / 2_000.0;
    assert!((variance / mean - 1.0).abs() < 5.0 * (2.0_f64 / 2_000.0).sqrt(), "{variance} {mean}");
}

#[test]
fn a_seed_repeats_itself_and_another_does_not() {
    let drawn = |seed| {
        let arrivals = Arrivals::Poisson { per_s: 500.0 };
        times(arrivals, &Plan { seed, ..plan(arrivals, 1.0) }, 0)
    };
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
}

proptest! {
    /// The number of requests up to any time is the integral of the rate up to it.
    #[test]
    fn a_ramp_is_the_integral_of_its_rate(
        from in 0.0..5_000.0_f64,
        to in 1.0..5_000.0_f64,
        seconds in 0.1..3.0_f64,
    ) {
        let arrivals = Arrivals::Ramp { from_per_s: from, to_per_s: to };
        let all = times(arrivals, &plan(arrivals, seconds), 0);
        let total = f64::midpoint(from, to) * seconds;
        prop_assert!((all.len() as f64 - total).abs() <= 1.5, "{} of {total}", all.len());
        for (k, at_ns) in all.iter().enumerate() {
            let t = *at_ns as f64 / 1e9;
            let integral = from * t + (to - from) * t * t / (2.0 * seconds);
            prop_assert!((integral - k as f64).abs() < 1e-3 + k as f64 * 1e-5, "{k}: {integral}");
        }
    }

    /// However many threads of however many processes share it, it is the same schedule; and so are the connections
    /// and requests that they share.
    #[test]
    fn threads_of_all_processes_share_one_schedule(
        threads in 1_usize..5,
        ranks in 1_usize..5,
        which in 0..3,
        seed: u64,
        requests in proptest::option::of(0_u64..400),
        connections in 0_u64..100,
    ) {
        let arrivals = match which {
            0 => Arrivals::Constant { per_s: 777.0 },
            1 => Arrivals::Poisson { per_s: 777.0 },
            _ => Arrivals::Ramp { from_per_s: 0.0, to_per_s: 999.0 },
        };
        let warm_up = Duration::from_millis(100);
        let alone = Plan { seed, requests, warm_up, ..plan(arrivals, 0.5) };
        let (mut together, mut shared_requests, mut shared_connections) = (Vec::new(), 0, 0);
        for rank in 0..ranks {
            let shared = Plan { threads, share: Share { rank, ranks }, ..alone.clone() };
            for thread in 0..threads {
                together.extend(times(arrivals, &shared, thread));
                shared_requests += shared.share_of(requests.unwrap_or(0), thread);
                shared_connections += shared.share_of(connections, thread);
            }
        }
        together.sort_unstable();
        prop_assert_eq!(together, times(arrivals, &alone, 0));
        prop_assert_eq!((shared_requests, shared_connections), (requests.unwrap_or(0), connections));
    }
}
