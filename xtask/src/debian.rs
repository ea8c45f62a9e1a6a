//! Programs that a task needs, installed where Debian's package manager can.

use std::process::{Command, Stdio};

use crate::step::{Outcome, run, say};

/// Makes sure that `is_at_hand`, by installing a package if need be; `purpose` says what it is for.
pub(crate) fn need(package: &str, purpose: &str, is_at_hand: impl Fn() -> bool) -> Outcome {
    if is_at_hand() {
        return Ok(());
    }
    say(&format!("installing {package}, {purpose}"));
    let manager = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()))
    };
    let install = ["install", "--yes", "--no-install-recommends", package];
    // A machine that has never asked for the list of packages knows none.
    let installed =
        manager(&install).or_else(|_| manager(&["update"]).and_then(|()| manager(&install)));
    let reason = match installed {
        Ok(()) if is_at_hand() => return Ok(()),
        Ok(()) => "it does not work".to_owned(),
        Err(reason) => reason,
    };
    Err(format!(
        "there is no {package}, {purpose}, and it could not be installed ({reason}); install it first"
    ))
}
