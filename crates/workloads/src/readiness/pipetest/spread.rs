//! Where a token goes next.

use crate::readiness::objects::ObjectIndex;
use engine::Failure;
use std::collections::HashSet;

/// The rule by which tokens are sent to pipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spread {
    /// Token t always goes to pipe N−t−1: Zed Shaw's.
    Tail,
    /// By generation·17 + t + t·(N/T), modulo N: the original one. What the seed adds turns the whole
    /// pattern, since a short game would else never leave the first pipes. Past half as many tokens
    /// as pipes two may share one, so that fewer pipes are active than there are tokens.
    Original,
    /// Drawn by the seed, anew for each generation: tokens of one generation are in as many pipes.
    Random,
}

impl Spread {
    /// As the command line knows them.
    pub const NAMES: &'static [&'static str] = &["tail", "spread", "random"];

    pub fn from_name(name: &str) -> Result<Spread, Failure> {
        match name {
            "tail" => Ok(Spread::Tail),
            "spread" => Ok(Spread::Original),
            "random" => Ok(Spread::Random),
            _ => Err(Failure::new(format!("there is no spread {name}"))),
        }
    }

    /// The pipes that are ever written to, with `tokens` tokens in `pipes` pipes.
    pub fn written(self, tokens: usize, pipes: usize) -> Vec<ObjectIndex> {
        match self {
            Spread::Tail => (pipes - tokens..pipes).collect(),
            Spread::Original | Spread::Random => (0..pipes).collect(),
        }
    }
}

/// A spread over so many tokens and pipes, by that seed.
#[derive(Clone, Debug)]
pub(super) struct Way {
    spread: Spread,
    pipes: u64,
    /// How far apart the original rule sets neighbouring tokens.
    apart: u64,
    /// Strides that reach every pipe before one comes again: they have no factor in common with the
    /// number of pipes. Each generation takes one of them.
    strides: Vec<u64>,
    seed: u64,
}

/// So many strides are enough for no two generations in sight of each other to look alike.
const STRIDES: usize = 256;

impl Way {
    pub fn new(spread: Spread, tokens: usize, pipes: usize, seed: u64) -> Way {
        let (tokens, pipes) = (tokens as u64, pipes as u64);
        Way { spread, pipes, apart: 1 + pipes / tokens, strides: strides(pipes, seed), seed }
    }

    /// How many pipes are active at once when all `tokens` are of one generation.
    pub fn active(&self, tokens: usize) -> usize {
        let pipes: HashSet<ObjectIndex> =
            (0..tokens as u32).map(|token| self.pipe(token, 0)).collect();
        pipes.len()
    }

    /// The pipe that `token` is sent to in `generation`.
    #[inline]
    pub fn pipe(&self, token: u32, generation: u32) -> ObjectIndex {
        let (token, generation) = (u64::from(token), u64::from(generation));
        let pipe = match self.spread {
            Spread::Tail => self.pipes - token - 1,
            Spread::Original => {
                (self.seed % self.pipes + generation * 17 + token * self.apart) % self.pipes
            }
            Spread::Random => {
                let drawn = mixed(self.seed ^ generation);
                let stride = self.strides[drawn as usize % STRIDES];
                ((drawn >> 32) + token * stride) % self.pipes
            }
        };
        pipe as ObjectIndex
    }
}

/// As many strides as are drawn from, by the seed.
fn strides(pipes: u64, seed: u64) -> Vec<u64> {
    let drawn = (0..).map(|count| 1 + mixed(seed.wrapping_add(count)) % pipes);
    drawn.filter(|&stride| common_factor(stride, pipes) == 1).take(STRIDES).collect()
}

/// The greatest common divisor.
fn common_factor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `SplitMix64`'s finaliser: every bit of the result depends on every bit of the word.
#[inline]
fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// How many of `hits`, one count for each pipe, fell into each tenth of the pipes.
pub(super) fn tenths(hits: &[u64]) -> [u64; 10] {
    let mut tenths = [0; 10];
    for (pipe, count) in hits.iter().enumerate() {
        tenths[pipe * 10 / hits.len()] += count;
    }
    tenths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(spread: Spread, tokens: u32, pipes: usize, generations: u32) -> Vec<u64> {
        let way = Way::new(spread, tokens as usize, pipes, 12_345);
        let mut hits = vec![0; pipes];
        for token in 0..tokens {
            for generation in 0..generations {
                hits[way.pipe(token, generation)] += 1;
            }
        }
        hits
    }

    #[test]
    fn a_tail_is_the_last_pipes_and_no_other() {
        let hits = hits(Spread::Tail, 30, 1_000, 50);
        assert!(hits[..970].iter().all(|&count| count == 0));
        assert!(hits[970..].iter().all(|&count| count == 50));
        assert_eq!(Spread::Tail.written(30, 1_000), (970..1_000).collect::<Vec<_>>());
    }

    #[test]
    fn the_original_rule_is_the_original_rule() {
        let way = Way::new(Spread::Original, 100, 1_000, 7_000);
        for (token, generation) in [(0, 0), (3, 5), (99, 999)] {
            let rule = (generation * 17 + token + token * (1_000 / 100)) % 1_000;
            assert_eq!(way.pipe(token, generation), rule as usize);
        }
    }

    #[test]
    fn the_spreads_that_go_everywhere_go_everywhere_evenly() {
        for (spread, off) in [(Spread::Original, 0.02), (Spread::Random, 0.05)] {
            for tokens in [1, 10, 100] {
                let share = tenths(&hits(spread, tokens, 1_000, 40_000 / tokens));
                for count in share {
                    let even = 4_000.0;
                    let deviation = (count as f64 / even - 1.0).abs();
                    assert!(deviation < off + 0.02, "{spread:?}, {tokens} tokens: {share:?}");
                }
            }
        }
    }

    /// The pipes that one turn makes active, all tokens being of one generation.
    fn active(spread: Spread, tokens: u32, pipes: usize) -> usize {
        let way = Way::new(spread, tokens as usize, pipes, 99);
        let pipes = |generation| -> HashSet<ObjectIndex> {
            (0..tokens).map(|token| way.pipe(token, generation)).collect()
        };
        let counts = [0, 1, 7, 1_000].map(|generation| pipes(generation).len());
        assert!(counts.iter().all(|&count| count == counts[0]), "{spread:?}: {counts:?}");
        assert_eq!(way.active(tokens as usize), counts[0]);
        counts[0]
    }

    #[test]
    fn a_turn_makes_as_many_pipes_active_as_there_are_tokens() {
        for (tokens, pipes) in [(1, 1), (1, 10), (5, 10), (10, 10), (400, 1_000), (9_000, 9_000)] {
            assert_eq!(active(Spread::Tail, tokens, pipes), tokens as usize);
            assert_eq!(active(Spread::Random, tokens, pipes), tokens as usize);
        }
        assert_eq!(active(Spread::Original, 400, 1_000), 400);
        // The original rule sets tokens two apart from half on: they meet in every second pipe.
        assert_eq!(active(Spread::Original, 1_000, 1_000), 500);
    }

    #[test]
    fn every_place_is_a_pipe_that_is_written_to() {
        for spread in Spread::NAMES.iter().map(|name| Spread::from_name(name).unwrap()) {
            for (tokens, pipes) in [(1, 1), (1, 9), (7, 10), (10, 10), (33, 1_000)] {
                let written = spread.written(tokens, pipes);
                let way = Way::new(spread, tokens, pipes, u64::MAX);
                for (token, generation) in [(0, 0), (tokens as u32 - 1, 5_000)] {
                    assert!(written.contains(&way.pipe(token, generation)), "{spread:?}");
                }
            }
        }
    }

    #[test]
    fn tenths_hold_every_hit() {
        assert_eq!(tenths(&[1, 2]), [1, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
        let many: Vec<u64> = (0..37).collect();
        assert_eq!(tenths(&many).iter().sum::<u64>(), many.iter().sum::<u64>());
    }
}
