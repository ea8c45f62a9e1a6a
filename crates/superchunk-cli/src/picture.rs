//! A plane of numbers as a picture: low values dark, high ones bright.

use std::io::Write;

use superchunk::{DKind, DType, Error};

use crate::failure::{Failure, Outcome};

/// The colours from the lowest value to the highest: dark violet, blue, green, yellow.
const SCALE: [[f64; 3]; 5] = [
    [48.0, 18.0, 84.0],
    [52.0, 84.0, 150.0],
    [32.0, 150.0, 140.0],
    [120.0, 205.0, 80.0],
    [250.0, 230.0, 60.0],
];
/// What is no number.
const NOTHING: [u8; 4] = [128, 128, 128, 0];
/// More dots than any screen shows.
const MOST_DOTS: u64 = 1 << 26;

/// Writes the items of a plane as a PNG picture, a dot for each.
pub(crate) fn write_png(
    out: &mut dyn Write,
    shape: &[u64],
    dtype: &DType,
    items: &[u8],
) -> Outcome {
    let [height, width] = size_of(shape)?;
    let values: Vec<f64> = items
        .chunks(dtype.item_size().max(1))
        .map(|item| number(dtype, item))
        .collect::<Outcome<_>>()?;
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) =
        (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let dots: Vec<u8> = values.iter().flat_map(|value| colour(*value, low, high)).collect();
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&dots));
    written.map_err(|error| match error {
        png::EncodingError::IoError(error) => Error::io("cannot write the picture", error).into(),
        error => Failure::usage(format!("no picture: {error}")),
    })
}

/// Refuses what cannot be a picture, before it is read; returns the number of dots otherwise.
pub(crate) fn check(shape: &[u64]) -> Outcome<u64> {
    let [height, width] = size_of(shape)?;
    Ok(u64::from(height) * u64::from(width))
}

/// Height and width; a row is a plane of one line.
fn size_of(shape: &[u64]) -> Outcome<[u32; 2]> {
    let sides = match shape {
        [width] => [1, *width],
        [height, width] => [*height, *width],
        _ => {
            let words = format!("a picture has two dimensions, this has {}", shape.len());
            return Err(Failure::usage(words).with_help("take a plane, like cube.b2nd@0,:,:"));
        }
    };
    let [height, width] = sides.map(u32::try_from);
    match (height, width) {
        (Ok(height @ 1..), Ok(width @ 1..))
            if u64::from(height) * u64::from(width) <= MOST_DOTS =>
        {
            Ok([height, width])
        }
        _ => Err(Failure::usage(format!("a picture of {} x {} dots", sides[0], sides[1]))
            .with_help("take a part, or every tenth line: cube.b2nd@0,::10,::10")),
    }
}

fn number(dtype: &DType, item: &[u8]) -> Outcome<f64> {
    match dtype.kind() {
        DKind::Bool => Ok(f64::from(u8::from(item.iter().any(|byte| *byte != 0)))),
        DKind::Int | DKind::Uint | DKind::Float => {
            Ok(dtype.format_item(item).parse().unwrap_or(f64::NAN))
        }
        _ => Err(Failure::usage(format!("a picture needs numbers, not {dtype}"))),
    }
}

/// The colour of a value between `low` and `high`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "colours are 0 to 255, and a place on the scale is below its length"
)]
fn colour(value: f64, low: f64, high: f64) -> [u8; 4] {
    if !value.is_finite() {
        return NOTHING;
    }
    let spread = if high > low { (value - low) / (high - low) } else { 0.5 };
    let place = spread * (SCALE.len() - 1) as f64;
    let below = (place as usize).min(SCALE.len() - 2);
    let [Some(from), Some(to)] = [SCALE.get(below), SCALE.get(below + 1)] else { return NOTHING };
    let part = place - below as f64;
    let mix = |channel: usize| {
        let ends = from.get(channel).zip(to.get(channel));
        ends.map_or(0, |(from, to)| (from + (to - from) * part).round() as u8)
    };
    [mix(0), mix(1), mix(2), 255]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_scale_are_its_first_and_last_colour() {
        assert_eq!(colour(-3.0, -3.0, 5.0), [48, 18, 84, 255]);
        assert_eq!(colour(5.0, -3.0, 5.0), [250, 230, 60, 255]);
        assert_eq!(colour(1.0, -3.0, 5.0), [32, 150, 140, 255]);
        assert_eq!(colour(f64::NAN, 0.0, 1.0), NOTHING);
        assert_eq!(colour(2.0, 2.0, 2.0), [32, 150, 140, 255]);
    }

    #[test]
    fn only_planes_become_pictures() {
        assert!(size_of(&[3, 4, 5]).is_err());
        assert!(size_of(&[0, 4]).is_err());
        assert!(size_of(&[1 << 20, 1 << 20]).is_err());
        assert_eq!(size_of(&[7]).ok(), Some([1, 7]));
    }
}
