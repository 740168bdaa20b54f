//! What `grows::bench` is for: lookups, sums and a lock, each held against its limit.

use grows::{Class, cost};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

const SIZES: [u64; 5] = [1_000, 3_000, 10_000, 30_000, 100_000];

fn main() -> ExitCode {
    grows::bench(|bench| {
        let map = |n: u64| (0..n).map(|key| (key, key)).collect::<BTreeMap<_, _>>();
        let lookup = cost("lookup").over(SIZES).setup(map);
        bench.growth(lookup.measure(|map| map.get(&700).copied()));
        let sum = cost("sum").over(SIZES);
        let sum = sum.measure(|n| (0..n).fold(0, |sum, item| sum ^ black_box(item)));
        bench.at_most(sum, Class::Linear);
        let count = cost("counter").threads([1, 2, 4]).setup(|_| AtomicU64::new(0));
        bench.at_least(count.measure(|count| count.fetch_add(1, Ordering::Relaxed)), 0.1);
    })
}
