//! The width of the terminal that stdout is.

use std::io::{self, IsTerminal};

/// The width of a terminal that does not say it.
const USUAL: usize = 80;

/// The number of characters in a line of the terminal; `None` if stdout is something else.
pub(crate) fn width() -> Option<usize> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let of_environment = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
    let known = window_width(&stdout).or_else(of_environment);
    Some(known.filter(|width| *width > 0).unwrap_or(USUAL))
}

#[cfg(unix)]
fn window_width(stdout: &io::Stdout) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stdout).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

#[cfg(windows)]
fn window_width(_stdout: &io::Stdout) -> Option<usize> {
    None
}
