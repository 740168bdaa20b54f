//! Modes, steps and drift in clouds of samples whose truth is known, up to 200 times each.

mod drawn;
mod modes;
mod steps;

use analysis::gather::cloud::Cloud;
use analysis::shape::modes::Partition;
use fastrand::Rng;

/// Of claims that are to be true of all: what comes in one of forty cases is seen in nine of ten tests.
const REPETITIONS: u64 = 100;

/// What `says` says of what `draw` makes, again and again.
fn answers<T>(
    draw: impl Fn(&mut Rng) -> T,
    says: impl Fn(&T, &mut Rng) -> bool,
) -> impl Iterator<Item = bool> {
    (0..200).map(move |seed| {
        let mut random = Rng::with_seed(seed * 7_919 + 13);
        let drawn = draw(&mut random);
        says(&drawn, &mut random)
    })
}

/// Fails unless `says` says yes in 95 % of the cases.
fn mostly<T>(name: &str, draw: impl Fn(&mut Rng) -> T, says: impl Fn(&T, &mut Rng) -> bool) {
    let (mut yes, mut no) = (0, 0);
    for answer in answers(draw, says) {
        *(if answer { &mut yes } else { &mut no }) += 1;
        if fixtures::is_settled(yes, no) {
            break;
        }
    }
    println!("{name}: {yes} of {}", yes + no);
    assert!(20 * no <= yes + no, "{name}: {yes} of {}", yes + no);
}

/// How often `says` says yes of `repetitions`: fewer of each kind where several kinds are judged together.
fn count<T>(
    repetitions: u64,
    name: &str,
    draw: impl Fn(&mut Rng) -> T,
    says: impl Fn(&T, &mut Rng) -> bool,
) -> u64 {
    let yes = answers(draw, says).take(repetitions as usize).filter(|yes| *yes).count() as u64;
    println!("{name}: {yes} of {repetitions}");
    yes
}

fn modes_of(cloud: &Cloud, random: &mut Rng) -> Option<Partition> {
    let windows = analysis::shape::modes::windows(cloud);
    analysis::shape::modes::find(cloud, &windows, &cloud.displacements(&windows), true, random)
}
