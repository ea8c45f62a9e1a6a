//! A bar with rate and remaining time, for work that takes longer than a second.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::args::When;
use crate::names::human;

/// Shorter work needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the bar is drawn.
const PERIOD: Duration = Duration::from_millis(100);
const WIDTH: usize = 24;

/// A bar on stderr; it goes away when this is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    what: String,
    total: Option<u64>,
    done: u64,
    start: Instant,
    drawn: Option<Instant>,
    wanted: bool,
    patience: Duration,
}

impl Progress {
    pub(crate) fn new(what: &str, total: Option<u64>, when: When, quiet: bool) -> Self {
        let (wanted, patience) = match when {
            When::Always => (true, Duration::ZERO),
            When::Never => (false, PATIENCE),
            When::Auto => (!quiet && io::stderr().is_terminal(), PATIENCE),
        };
        let what = what.to_owned();
        Self { what, total, done: 0, start: Instant::now(), drawn: None, wanted, patience }
    }

    /// So many more bytes are done.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.done += bytes as u64;
        let due = self
            .drawn
            .map_or(self.start.elapsed() >= self.patience, |drawn| drawn.elapsed() >= PERIOD);
        if self.wanted && due {
            let line = line(&self.what, self.done, self.total, self.start.elapsed());
            let _ = write!(io::stderr(), "\r{line}\x1b[K");
            self.drawn = Some(Instant::now());
        }
    }

    /// How much was done, and how fast.
    pub(crate) fn rate(&self) -> f64 {
        self.done as f64 / self.start.elapsed().as_secs_f64().max(1e-9)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

/// The bar as text.
fn line(what: &str, done: u64, total: Option<u64>, elapsed: Duration) -> String {
    let rate = done as f64 / elapsed.as_secs_f64().max(1e-9);
    let speed = format!("{:.0} MB/s", rate / 1e6);
    let Some(total) = total.filter(|total| *total > 0) else {
        return format!("{what}: {}, {speed}", human(done));
    };
    let filled = (0..WIDTH).filter(|cell| done * WIDTH as u64 > *cell as u64 * total).count();
    let bar: String = (0..WIDTH).map(|cell| if cell < filled { '█' } else { '·' }).collect();
    let left = total.saturating_sub(done) as f64 / rate.max(1.0);
    let percent = 100.0 * done as f64 / total as f64;
    format!(
        "{what} {bar} {percent:3.0} %  {} of {}, {speed}, {left:.0} s left",
        human(done),
        human(total)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_tells_share_rate_and_time() {
        let text = line("packing", 50_000_000, Some(200_000_000), Duration::from_secs(1));
        let expected =
            "packing ██████··················  25 %  50.0 MB of 200.0 MB, 50 MB/s, 3 s left";
        assert_eq!(text, expected);
        assert_eq!(line("x", 1_500_000, None, Duration::from_secs(1)), "x: 1.50 MB, 2 MB/s");
    }
}
