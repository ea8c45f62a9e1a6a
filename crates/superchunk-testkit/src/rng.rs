//! A small deterministic generator, so that tests and datasets never depend on a crate's version.
//!
//! The bits are xoshiro256++ seeded through SplitMix64, as its authors advise. On top of it are the
//! few distributions that the datasets need. Real-valued draws go through the platform's `ln`, `sin`
//! and `cos`, so they are the same on one machine and alike, not equal, between machines.

use std::f64::consts::TAU;

/// The generator: one seed gives one endless sequence.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
    spare_normal: Option<f64>,
}

impl Rng {
    /// The sequence of this seed; neighbouring seeds give unrelated sequences.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut counter = seed;
        let state = std::array::from_fn(|_| split_mix(&mut counter));
        Self { state, spare_normal: None }
    }

    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// An integer in `0..bound` (0 when `bound` is 0); the bias is below 2⁻³² for small bounds.
    pub fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.next_u64()) * u128::from(bound);
        u64::try_from(product >> 64).unwrap_or(0)
    }

    /// A position in `0..bound` (0 when `bound` is 0).
    pub fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).unwrap_or(0)
    }

    /// A real number in the half-open interval from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A real number above 0 and up to 1: safe to take the logarithm of.
    pub fn unit_above_zero(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// A draw from the standard normal distribution (Box and Muller's pair, one kept for later).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        let radius = (-2.0 * self.unit_above_zero().ln()).sqrt();
        let (sin, cos) = (TAU * self.unit()).sin_cos();
        self.spare_normal = Some(radius * sin);
        radius * cos
    }

    /// The number of trials up to the first success, each succeeding with probability `p`.
    pub fn geometric(&mut self, p: f64) -> f64 {
        1.0 + (self.unit_above_zero().ln() / (1.0 - p).ln()).floor()
    }

    /// A draw from the Zipf (zeta) distribution with exponent `a` above 1, by Devroye's rejection.
    pub fn zipf(&mut self, a: f64) -> f64 {
        let b = 2f64.powf(a - 1.0);
        loop {
            let u = self.unit_above_zero();
            let x = u.powf(-1.0 / (a - 1.0)).floor();
            let t = (1.0 + 1.0 / x).powf(a - 1.0);
            if x.is_finite() && self.unit() * x * (t - 1.0) / (b - 1.0) <= t / b {
                return x;
            }
        }
    }

    /// `len` uniform bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(len + 8);
        while out.len() < len {
            out.extend_from_slice(&self.next_u64().to_le_bytes());
        }
        out.truncate(len);
        out
    }
}

fn split_mix(counter: &mut u64) -> u64 {
    *counter = counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*counter ^ (*counter >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seeding_is_split_mix() {
        // The first output of SplitMix64 for seed 0, as published with it.
        assert_eq!(split_mix(&mut 0), 0xE220_A839_7B1D_CDAF);
    }

    #[test]
    fn first_output_follows_the_definition() {
        // xoshiro256++ from the state 1, 2, 3, 4: rotl(1 + 4, 23) + 1.
        let mut rng = Rng { state: [1, 2, 3, 4], spare_normal: None };
        assert_eq!(rng.next_u64(), (5 << 23) + 1);
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut rng = Rng::new(7);
        let n = 200_000;
        let mean = |draws: &[f64]| draws.iter().sum::<f64>() / draws.len() as f64;
        let normal: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let square: Vec<f64> = normal.iter().map(|x| x * x).collect();
        assert!(mean(&normal).abs() < 0.01 && (mean(&square) - 1.0).abs() < 0.02);
        let gaps: Vec<f64> = (0..n).map(|_| rng.geometric(0.35)).collect();
        assert!((mean(&gaps) - 1.0 / 0.35).abs() < 0.03);
        // P(zipf(1.5) = 1) is 1 / ζ(1.5) = 0.38279.
        let ones = (0..n).filter(|_| rng.zipf(1.5) == 1.0).count();
        assert!((ones as f64 / n as f64 - 0.382_79).abs() < 0.005);
    }
}
