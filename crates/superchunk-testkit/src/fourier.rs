//! A radix-2 Fourier transform, just enough to make smooth two-dimensional random fields.

use std::f64::consts::TAU;

/// A complex number as (real, imaginary).
pub(crate) type Complex = (f64, f64);

/// Unnormalised inverse transforms of one power-of-two length: `x[n] = Σ X[k]·exp(2πi·k·n/len)`.
pub(crate) struct Inverse {
    roots: Vec<Complex>,
}

impl Inverse {
    /// A plan for this length, which must be a power of two.
    pub(crate) fn new(len: usize) -> Self {
        assert!(len.is_power_of_two(), "the length {len} is not a power of two");
        let angle = |k: usize| TAU * k as f64 / len as f64;
        Self { roots: (0..len / 2).map(|k| (angle(k).cos(), angle(k).sin())).collect() }
    }

    /// Transforms in place: bit-reversed order first, then butterflies of doubling width.
    pub(crate) fn run(&self, values: &mut [Complex]) {
        let len = values.len();
        assert_eq!(len, (self.roots.len() * 2).max(1), "the plan is for another length");
        let shift = usize::BITS - len.trailing_zeros();
        for i in 1..len {
            let j = i.reverse_bits().checked_shr(shift).unwrap_or(0);
            if i < j {
                values.swap(i, j);
            }
        }
        let mut half = 1;
        while half < len {
            let step = self.roots.len() / half;
            for pair in values.chunks_exact_mut(2 * half) {
                let (low, high) = pair.split_at_mut(half);
                let roots = self.roots.iter().step_by(step);
                for ((a, b), &root) in low.iter_mut().zip(high).zip(roots) {
                    let turned = times(*b, root);
                    *b = (a.0 - turned.0, a.1 - turned.1);
                    *a = (a.0 + turned.0, a.1 + turned.1);
                }
            }
            half *= 2;
        }
    }
}

fn times(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn equals_the_defining_sum() {
        let mut rng = Rng::new(1);
        for len in [1usize, 2, 4, 32] {
            let input: Vec<Complex> = (0..len).map(|_| (rng.normal(), rng.normal())).collect();
            let mut output = input.clone();
            Inverse::new(len).run(&mut output);
            for (n, &found) in output.iter().enumerate() {
                let expected = input.iter().enumerate().fold((0.0, 0.0), |sum, (k, &x)| {
                    let angle = TAU * (k * n) as f64 / len as f64;
                    let term = times(x, (angle.cos(), angle.sin()));
                    (sum.0 + term.0, sum.1 + term.1)
                });
                let error = (found.0 - expected.0).hypot(found.1 - expected.1);
                assert!(error < 1e-12 * len as f64, "length {len}, position {n}");
            }
        }
    }
}
