//! The matrix as a picture: a dot for each cell, a bar for the mean of each codec and filter.
//!
//! ```text
//!                       compress             decompress
//!   lz4 shuffle 1T      .  . .|..  .         |.. . .
//!   lz4 none 1T             ..|.            .|.
//!                     ½   1   2   4        ½ 1   2
//! ```

use std::fmt::Write as _;

use crate::matrix::{Matrix, Place, Quotients};
use crate::summary::geometric_mean;

/// The scale of a panel: powers of two of the quotient, and pixels for each.
const LOWEST: f64 = -3.0;
const HIGHEST: f64 = 5.0;
const OCTAVE: f64 = 45.0;
const PANEL: f64 = (HIGHEST - LOWEST) * OCTAVE;
const LABELS: f64 = 170.0;
const GAP: f64 = 30.0;
const ROW: f64 = 16.0;
const TOP: f64 = 60.0;

type Quotient = fn(&Quotients) -> f64;
const PANELS: [(&str, Quotient); 2] =
    [("compress", |cell| cell.compress), ("decompress, own chunks", |cell| cell.decompress)];

/// Draws the matrix.
pub(crate) fn svg(matrix: &Matrix) -> String {
    let mut groups: Vec<Group<'_>> = matrix.cells.keys().map(Group::of).collect();
    groups.sort_unstable();
    groups.dedup();
    let width = LABELS + 2.0 * (PANEL + GAP);
    let bottom = TOP + ROW * groups.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{:.0}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"8\" y=\"18\" font-size=\"13\">superchunk over C-Blosc2, {}; right of 1 superchunk \
         is ahead</text>\n",
        bottom + 30.0,
        matrix.about.join(", ")
    );
    for (panel, (title, quotient)) in PANELS.iter().enumerate() {
        let left = LABELS + panel as f64 * (PANEL + GAP);
        axis(&mut out, title, left, bottom);
        for (row, group) in groups.iter().enumerate() {
            let y = TOP + ROW * (row as f64 + 0.5);
            let cells = matrix.cells.iter().filter(|(place, _)| Group::of(place) == *group);
            let values: Vec<f64> = cells.map(|(_, cell)| quotient(cell)).collect();
            if panel == 0 {
                let _ = writeln!(out, "<text x=\"8\" y=\"{:.1}\">{group}</text>", y + 4.0);
            }
            for value in &values {
                let _ = writeln!(
                    out,
                    "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{}\" fill-opacity=\"0.5\"/>",
                    place_of(left, *value),
                    if *value < 0.97 { "#c0392b" } else { "#2471a3" }
                );
            }
            let mean = place_of(left, geometric_mean(values.iter().copied()));
            let _ = writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"3\" height=\"12\" fill=\"black\"/>",
                mean - 1.5,
                y - 6.0
            );
        }
    }
    out.push_str("</svg>\n");
    out
}

/// The cells of one row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Group<'a> {
    threads: usize,
    codec: &'a str,
    filter: &'a str,
}

impl<'a> Group<'a> {
    fn of(place: &'a Place) -> Self {
        Self { threads: place.threads, codec: &place.codec, filter: &place.filter }
    }
}

impl std::fmt::Display for Group<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}T", self.codec, self.filter, self.threads)
    }
}

/// The title and the scale of a panel, with a line at 1.
fn axis(out: &mut String, title: &str, left: f64, bottom: f64) {
    let _ = writeln!(out, "<text x=\"{left:.1}\" y=\"38\" font-weight=\"bold\">{title}</text>");
    for (octave, label) in [(-3, "1/8"), (-2, "1/4"), (-1, "1/2"), (0, "1"), (1, "2"), (2, "4")]
        .into_iter()
        .chain([(3, "8"), (4, "16"), (5, "32")])
    {
        let x = left + (f64::from(octave) - LOWEST) * OCTAVE;
        let colour = if octave == 0 { "#555" } else { "#ddd" };
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke=\"{colour}\"/>\n\
             <text x=\"{x:.1}\" y=\"54\" text-anchor=\"middle\" fill=\"#555\">{label}</text>"
        );
    }
}

/// Where a quotient lies; what is off the scale lies at its end.
fn place_of(left: f64, quotient: f64) -> f64 {
    left + (quotient.log2().clamp(LOWEST, HIGHEST) - LOWEST) * OCTAVE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_a_dot_in_both_panels() {
        let csv = "head\nwalk,lz4,5,none,1,superchunk,2,300,500,1\nwalk,lz4,5,none,1,C-Blosc2,1,100,1000,1";
        let picture = svg(&Matrix::parse(csv).unwrap());
        assert_eq!(picture.matches("<circle").count(), 2);
        assert_eq!(picture.matches("#c0392b").count(), 1, "one of them is slower");
        assert!(picture.contains("lz4 none 1T"));
    }

    #[test]
    fn the_scale_is_one_of_octaves() {
        assert!((place_of(0.0, 2.0) - place_of(0.0, 1.0) - OCTAVE).abs() < 1e-9);
        assert!((place_of(0.0, 1e9) - PANEL).abs() < 1e-9);
        assert!(place_of(0.0, 0.0).abs() < 1e-9);
    }
}
