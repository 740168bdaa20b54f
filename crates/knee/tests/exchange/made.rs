//! A run that is made and not measured, so that every figure of it is known; and a knee whose record holds
//! it.
#![allow(dead_code, reason = "each test file uses its part")]

use super::common::Knee;
use fixtures::{CellBuilder, cell, host, metric, run, workload};
use model::{Cell, Metric, Profile, Run};

pub const POINTS: [u64; 6] = [10, 100, 1_000, 3_000, 10_000, 100_000];

/// A run of a workload `made` in which one subject grows as `per` times its point and another not.
pub fn made(samples: usize) -> (Run, Vec<Cell>) {
    let mut cells = Vec::new();
    for round in 0..5 {
        for kind in ["hot", "cold"] {
            for (subject, per) in [("flat", 0.0), ("steep", 0.25)] {
                for point in POINTS {
                    cells.push(measured((kind, subject, per), point, round, samples));
                }
            }
        }
    }
    let workload = workload("made")
        .version(0)
        .axis("things", "things")
        .metric("call", "call, made", "ns")
        .subject("flat", "FLAT", "")
        .subject("steep", "STEEP", "");
    run(workload)
        .id("00000000a3f1b2c4")
        .started("2026-11-21T14:02:11+00:00")
        .command("knee run made")
        .clock("tsc", 0.4, 9.0)
        .host_before(host("2026-11-21T14:02:11+00:00", [("cpu.model", "A CPU")]))
        .cells(cells)
        .profile(profile())
        .begun()
}

/// What the cold cells do: `walk` is what grows.
fn profile() -> Profile {
    let mut profile = fixtures::profile();
    for (subject, per) in [("flat", 0), ("steep", 1)] {
        for point in POINTS {
            let key = cell("made", subject, point, 0).parameter("kind", "cold").build().key;
            let (walked, elapsed_ns) = (per * point / 100, 1_000_000 * (90 + per * point / 100));
            let stacks =
                [("knee worker;main;call_[k]", 90), ("knee worker;main;call_[k];walk_[k]", walked)];
            let stacks = stacks.into_iter().filter(|(_, count)| *count > 0);
            profile = profile.cell(key, "call", (100, elapsed_ns), stacks);
            if walked > 0 {
                let hot = walked - walked / 3;
                profile = profile.instructions("walk_[k]", &[(0x1a3, hot), (0x1b0, walked - hot)]);
            }
        }
    }
    profile.build()
}

fn measured(
    (kind, subject, per): (&str, &str, f64),
    point: u64,
    round: u32,
    samples: usize,
) -> CellBuilder {
    let noise = [0.98, 1.01, 1.0, 0.97, 1.02][round as usize];
    let figures = [0.99, 1.0, 1.02].map(|also| (900.0 + per * point as f64) * noise * also);
    let samples = figures.into_iter().cycle().take(samples).collect();
    let call = Metric { operations: 3, ..metric("call", samples) };
    cell("made", subject, point, round).parameter("kind", kind).metric(call)
}

/// A knee whose record holds that run.
pub fn knee() -> Knee {
    knee_with(3)
}

/// A knee whose record holds that run with so many samples a cell.
pub fn knee_with(samples: usize) -> Knee {
    let knee = Knee::new();
    let (run, cells) = made(samples);
    knee.keep(&run, &cells, "2026-11-21T14:02:12+00:00");
    knee
}
