//! The random draws that resampling needs, all from one seeded generator.

use fastrand::Rng;

/// A generator for one purpose: the same seed and words give the same draws, other words others.
pub fn generator(seed: u64, words: &[&str]) -> Rng {
    // FNV-1a: stable over versions and machines, as the standard hasher is not.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ seed;
    for byte in words.iter().flat_map(|word| word.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    Rng::with_seed(hash)
}

/// A normal deviate of mean 0 and standard deviation 1 (Marsaglia's polar method).
pub fn normal(random: &mut Rng) -> f64 {
    loop {
        let (u, v) = (random.f64() * 2.0 - 1.0, random.f64() * 2.0 - 1.0);
        let square = u * u + v * v;
        if square > 0.0 && square < 1.0 {
            return u * (-2.0 * square.ln() / square).sqrt();
        }
    }
}

/// A gamma deviate of scale 1 and of this shape, at least 1 (Marsaglia and Tsang 2000).
pub fn gamma(shape: f64, random: &mut Rng) -> f64 {
    let d = shape.max(1.0) - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(random);
        let v = (1.0 + c * x).powi(3);
        if v <= 0.0 {
            continue;
        }
        let uniform = random.f64();
        // Their squeeze: it accepts nothing that the logarithms would not, and nearly always decides.
        if uniform < 1.0 - 0.0331 * x.powi(4) || uniform.ln() < 0.5 * x * x + d - d * v + d * v.ln()
        {
            return d * v;
        }
    }
}

/// A beta deviate with these parameters.
pub fn beta([first, second]: [f64; 2], random: &mut Rng) -> f64 {
    let x = gamma(first, random);
    x / (x + gamma(second, random))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_and_variance(figures: &[f64]) -> (f64, f64) {
        let mean = figures.iter().sum::<f64>() / figures.len() as f64;
        let squares = figures.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        (mean, squares / (figures.len() - 1) as f64)
    }

    /// Closed forms: normal 0 and 1; gamma k and k; beta a/(a+b) and ab/((a+b)²(a+b+1)).
    #[test]
    fn deviates_have_the_moments_of_their_distributions() {
        let mut random = Rng::with_seed(1);
        let mut draw = |f: &dyn Fn(&mut Rng) -> f64| -> (f64, f64) {
            mean_and_variance(&(0..40_000).map(|_| f(&mut random)).collect::<Vec<_>>())
        };
        let cases: [(&str, (f64, f64), f64, f64); 4] = [
            ("normal", draw(&normal), 0.0, 1.0),
            ("gamma 3", draw(&|r| gamma(3.0, r)), 3.0, 3.0),
            ("beta 1, 4", draw(&|r| beta([1.0, 4.0], r)), 0.2, 4.0 / 150.0),
            ("beta 26, 25", draw(&|r| beta([26.0, 25.0], r)), 26.0 / 51.0, 650.0 / (2601.0 * 52.0)),
        ];
        for (name, (mean, variance), true_mean, true_variance) in cases {
            assert!(
                (mean - true_mean).abs() < 4.0 * (true_variance / 40_000.0).sqrt(),
                "{name}: {mean}"
            );
            assert!((variance / true_variance - 1.0).abs() < 0.06, "{name}: {variance}");
        }
    }

    #[test]
    fn other_words_give_other_draws() {
        let first = |seed, words: &[&str]| generator(seed, words).u64(..);
        assert_eq!(first(3, &["poll", "loop"]), first(3, &["poll", "loop"]));
        assert_ne!(first(3, &["poll", "loop"]), first(4, &["poll", "loop"]));
        assert_ne!(first(3, &["ab", "c"]), first(3, &["a", "bc"]));
    }
}
