//! What the fuzz targets try for minutes, tried for seconds: every seed of them, and seeds with bytes
//! changed.

#[path = "../../fuzz/exercise.rs"]
mod exercise;

use std::fs;
use std::path::Path;

/// Inputs that are drawn from each seed.
const DRAWN: usize = 40;

fn tried(target: &str, exercise: fn(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let mut files: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 4, "{files:?}");
    let seeds: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    let mut random = fastrand::Rng::with_seed(1997);
    for seed in &seeds {
        exercise(seed);
        for _ in 0..DRAWN {
            let second = random.choice(&seeds).unwrap();
            exercise(&drawn(seed, second, &mut random));
        }
    }
}

/// A seed with some bytes changed, left out, or taken from another.
fn drawn(seed: &[u8], second: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..random.usize(1..5) {
        let at = random.usize(..=bytes.len());
        match random.u8(..4) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, random.u8(..)),
            2 => drop(bytes.drain(at..(at + random.usize(..9)).min(bytes.len()))),
            _ => {
                let from = random.usize(..=second.len());
                let piece = &second[from..(from + random.usize(..40)).min(second.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
        }
    }
    bytes
}

#[test]
fn tables() {
    tried("table", exercise::table);
}

#[test]
fn runs_as_json() {
    tried("run", exercise::run);
}

#[test]
fn suites() {
    tried("suites", exercise::suites);
}
