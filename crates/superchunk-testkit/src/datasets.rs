//! The eight datasets that benches and size tests run on.
//!
//! Each stands for a kind of data that is really stored in Blosc: worst-case floats, logged sensors,
//! timestamps, small counts, weather fields, text, and the two ends (random bytes, zeros). They are
//! made, not stored: the same length always gives the same bytes on one machine, and a longer request
//! starts with the bytes of a shorter one.

use std::f64::consts::{PI, TAU};
use std::fmt::Write as _;

use crate::fourier::{Complex, Inverse};
use crate::rng::Rng;
use crate::time::iso_time;

/// One dataset: its name, the size of its items, and how to make it.
#[derive(Clone, Copy, Debug)]
pub struct Dataset {
    /// Short name, as printed in tables.
    pub name: &'static str,
    /// Bytes per item.
    pub item_size: usize,
    /// Makes this many bytes.
    pub make: fn(usize) -> Vec<u8>,
}

/// All of them, in table order.
pub const ALL: [Dataset; 8] = [
    Dataset { name: "a_walk_f64", item_size: 8, make: walk },
    Dataset { name: "a_sensor_f64", item_size: 8, make: sensor },
    Dataset { name: "b_ts_i32", item_size: 4, make: timestamps },
    Dataset { name: "c_small_i64", item_size: 8, make: small_counts },
    Dataset { name: "d_field_f32", item_size: 4, make: field },
    Dataset { name: "e_csv", item_size: 1, make: csv },
    Dataset { name: "f_random", item_size: 8, make: random },
    Dataset { name: "g_zeros", item_size: 8, make: zeros },
];

/// `float64` random walk: full mantissa noise, the worst realistic `float64`.
#[must_use]
pub fn walk(nbytes: usize) -> Vec<u8> {
    let mut rng = Rng::new(101);
    let mut level = 20.0;
    items(nbytes, || {
        level += 0.01 * rng.normal();
        level.to_le_bytes()
    })
}

/// `float64` daily and yearly sinusoid with AR(1) noise, one sample in ten seconds, rounded to 0.01.
#[must_use]
pub fn sensor(nbytes: usize) -> Vec<u8> {
    let mut rng = Rng::new(102);
    let (mut sample, mut noise) = (0.0, 0.0);
    items(nbytes, || {
        noise = 0.9 * noise + 0.03 * rng.normal();
        let day = sample / 8640.0;
        sample += 1.0;
        let value = 15.0 + 8.0 * (TAU * day).sin() + 3.0 * (TAU * day / 365.25).sin() + noise;
        ((value * 100.0).round_ties_even() / 100.0).to_le_bytes()
    })
}

/// `int32` rising timestamps with small irregular gaps and rare bursts.
#[must_use]
pub fn timestamps(nbytes: usize) -> Vec<u8> {
    let mut rng = Rng::new(103);
    let mut time: u64 = 1_600_000_000;
    items(nbytes, || {
        time += whole(rng.geometric(0.35));
        if rng.unit() < 1e-4 {
            time += 100 + rng.below(2900);
        }
        u32::try_from(time & 0x7FFF_FFFF).unwrap_or(0).to_le_bytes()
    })
}

/// `int64` small counts: Zipf with exponent 1.5, cut at 1000.
#[must_use]
pub fn small_counts(nbytes: usize) -> Vec<u8> {
    let mut rng = Rng::new(104);
    items(nbytes, || whole(rng.zipf(1.5).min(1000.0)).to_le_bytes())
}

/// `float32` smooth weather-like fields in tiles of 1024 × 1024, slowly drifting from tile to tile.
#[must_use]
pub fn field(nbytes: usize) -> Vec<u8> {
    let mut rng = Rng::new(105);
    let modes = Modes::new(&mut rng);
    let mut out = Vec::with_capacity(nbytes);
    let mut time = 0.0;
    while out.len() < nbytes {
        for (row, line) in modes.tile(time).chunks(SIDE).enumerate() {
            let latitude = PI * (row as f64 / (SIDE - 1) as f64 - 0.5);
            for value in line {
                let kelvin = 250.0 + 45.0 * latitude.cos() + 6.0 * value;
                out.extend_from_slice(&narrow(kelvin).to_le_bytes());
            }
        }
        time += 1.0;
    }
    out.truncate(nbytes);
    out
}

/// CSV text: id, ISO timestamp, station, category, two decimal columns.
#[must_use]
pub fn csv(nbytes: usize) -> Vec<u8> {
    const CATEGORIES: [&str; 6] = ["ok", "warn", "error", "maint", "ok", "ok"];
    const START: u64 = 1_614_556_800; // 2021-03-01T00:00:00Z
    let mut rng = Rng::new(106);
    let mut text = String::with_capacity(nbytes + 128);
    let (mut id, mut time) = (1_000_000, START);
    while text.len() < nbytes {
        time += rng.below(7);
        let station = rng.below(240);
        let category = CATEGORIES.get(rng.index(6)).unwrap_or(&"ok");
        let first = 20.0 + 5.0 * rng.normal();
        let second = -30.0 * (rng.unit_above_zero() * rng.unit_above_zero()).ln();
        let stamp = iso_time(time);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{id},{stamp},ALC-{station:03},{category},{first:.2},{second:.3}");
        id += 1;
    }
    text.truncate(nbytes);
    text.into_bytes()
}

/// Incompressible bytes.
#[must_use]
pub fn random(nbytes: usize) -> Vec<u8> {
    Rng::new(107).bytes(nbytes)
}

/// Zeros.
#[must_use]
pub fn zeros(nbytes: usize) -> Vec<u8> {
    vec![0; nbytes]
}

/// Repeats `next` until there are `nbytes`, cutting the last item where it does not fit.
fn items<const SIZE: usize>(nbytes: usize, mut next: impl FnMut() -> [u8; SIZE]) -> Vec<u8> {
    let mut out = Vec::with_capacity(nbytes + SIZE);
    while out.len() < nbytes {
        out.extend_from_slice(&next());
    }
    out.truncate(nbytes);
    out
}

const SIDE: usize = 1024;
const HALF: usize = SIDE / 2 + 1;

/// The Fourier modes of a Gaussian random field: amplitude falls as |k|^-2.25, phases are uniform and
/// each drifts at its own pace. Stored by column (second wave number outer), as the columns come first.
struct Modes {
    waves: Vec<Wave>,
    inverse: Inverse,
}

struct Wave {
    amplitude: f64,
    phase: f64,
    drift: f64,
}

impl Modes {
    fn new(rng: &mut Rng) -> Self {
        let mut waves = Vec::with_capacity(SIDE * HALF);
        for column in 0..HALF {
            for row in 0..SIDE {
                let (x, y) = (row.min(SIDE - row) as f64, column as f64);
                let k = x.hypot(y) / SIDE as f64;
                let amplitude = if k == 0.0 { 0.0 } else { k.powf(-2.25) };
                let (phase, drift) = (TAU * rng.unit(), 0.15 * rng.normal());
                waves.push(Wave { amplitude, phase, drift });
            }
        }
        Self { waves, inverse: Inverse::new(SIDE) }
    }

    /// The field at one time, row by row, scaled to unit variance (its mean is zero).
    fn tile(&self, time: f64) -> Vec<f64> {
        let mut half_rows: Vec<Vec<Complex>> = vec![Vec::new(); SIDE];
        for waves in self.waves.chunks(SIDE) {
            let turn = |wave: &Wave| {
                let (sin, cos) = (wave.phase + wave.drift * time).sin_cos();
                (wave.amplitude * cos, wave.amplitude * sin)
            };
            let mut column: Vec<Complex> = waves.iter().map(turn).collect();
            self.inverse.run(&mut column);
            for (row, value) in half_rows.iter_mut().zip(column) {
                row.push(value);
            }
        }
        let mut tile = Vec::with_capacity(SIDE * SIDE);
        for mut row in half_rows {
            mirror(&mut row);
            self.inverse.run(&mut row);
            tile.extend(row.iter().map(|value| value.0));
        }
        let deviation = (tile.iter().map(|x| x * x).sum::<f64>() / tile.len() as f64).sqrt();
        tile.iter_mut().for_each(|x| *x /= deviation);
        tile
    }
}

/// Completes a half spectrum so that its transform is real: X[n-k] is the conjugate of X[k], and the
/// first and the middle value, their own partners, are real.
fn mirror(row: &mut Vec<Complex>) {
    let inner: Vec<Complex> = row.iter().skip(1).take(HALF - 2).copied().collect();
    for own in [0, HALF - 1] {
        if let Some(value) = row.get_mut(own) {
            value.1 = 0.0;
        }
    }
    row.extend(inner.into_iter().rev().map(|(re, im)| (re, -im)));
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "draws are whole, at least 1 and far below 2^53; the cast saturates"
)]
fn whole(draw: f64) -> u64 {
    draw as u64
}

#[expect(clippy::cast_possible_truncation, reason = "the dataset is single precision")]
fn narrow(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_exact_and_a_longer_one_begins_with_the_shorter() {
        for dataset in ALL {
            let long = (dataset.make)(10_007);
            assert_eq!(long.len(), 10_007, "{}", dataset.name);
            assert!(long.starts_with(&(dataset.make)(5_003)), "{}", dataset.name);
        }
    }

    #[test]
    fn the_field_is_smooth_and_has_the_asked_mean_and_spread() {
        let bytes = field(SIDE * SIDE * 4);
        let values: Vec<f64> =
            bytes.as_chunks().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean - 250.0 - 90.0 / PI).abs() < 0.1, "mean {mean}");
        let jump = values.windows(2).map(|w| (w[1] - w[0]).abs()).sum::<f64>();
        assert!(jump / (values.len() as f64) < 0.5, "neighbours are close");
    }

    #[test]
    fn csv_lines_have_six_columns() {
        let text = String::from_utf8(csv(20_000)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("1000000,2021-03-01T00:00:0"));
        for line in &lines[..lines.len() - 1] {
            assert_eq!(line.split(',').count(), 6, "{line}");
        }
    }
}
