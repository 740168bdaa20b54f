//! Modes, steps and drift in clouds of samples whose truth is known, 200 times each.

mod drawn;
mod modes;
mod steps;

use analysis::gather::cloud::Cloud;
use analysis::shape::modes::Partition;
use fastrand::Rng;

const REPETITIONS: u64 = 200;
/// 95 % of them.
const RIGHT_MIN: u64 = REPETITIONS - REPETITIONS / 20;

/// How often `says` says yes of what `draw` makes.
fn count<T>(name: &str, draw: impl Fn(&mut Rng) -> T, says: impl Fn(&T, &mut Rng) -> bool) -> u64 {
    count_of(REPETITIONS, name, draw, says)
}

/// The same of as many `repetitions`: fewer of each kind where several kinds are judged together.
fn count_of<T>(
    repetitions: u64,
    name: &str,
    draw: impl Fn(&mut Rng) -> T,
    says: impl Fn(&T, &mut Rng) -> bool,
) -> u64 {
    let yes = |seed: &u64| {
        let mut random = Rng::with_seed(seed * 7_919 + 13);
        let drawn = draw(&mut random);
        says(&drawn, &mut random)
    };
    let count = (0..repetitions).filter(yes).count() as u64;
    println!("{name}: {count} of {repetitions}");
    count
}

fn modes_of(cloud: &Cloud, random: &mut Rng) -> Option<Partition> {
    let windows = analysis::shape::modes::windows(cloud);
    analysis::shape::modes::find(cloud, &windows, &cloud.displacements(&windows), random)
}
