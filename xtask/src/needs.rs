//! What commands need beyond a Rust toolchain and a C compiler: where it belongs, whether it is there,
//! and how it is installed.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::debian::Package;
use crate::peers::Environment;
use crate::step::{Outcome, output, run, say};

/// One thing that is installed if it is missing.
#[derive(Clone, Copy)]
pub(crate) enum Need {
    /// A Python environment with peers.
    Peers(&'static Environment),
    /// The standard library of a target of the compiler.
    Target(&'static str),
    /// A program from a package of Debian.
    Package(&'static Package),
}

impl Need {
    /// Returns what is installed, and where.
    fn describe(self) -> String {
        match self {
            Self::Peers(environment) => environment.describe(),
            Self::Target(target) => format!("the standard library of {target}, by rustup"),
            Self::Package(package) => package.describe(),
        }
    }

    fn is_there(self) -> bool {
        match self {
            Self::Peers(environment) => environment.is_installed(),
            Self::Target(target) => has_target(target),
            Self::Package(package) => package.is_installed(),
        }
    }

    fn install(self) -> Outcome {
        match self {
            Self::Peers(environment) => environment.install(),
            Self::Target(target) => run(Command::new("rustup").args(["target", "add", target])),
            Self::Package(package) => package.install(),
        }
    }
}

/// Prints what is missing and installs it, or fails if `may_install` is false.
pub(crate) fn provide(needs: &[Need], may_install: bool) -> Outcome {
    let missing: Vec<Need> = needs.iter().copied().filter(|need| !need.is_there()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = missing.iter().map(|need| format!("  {}", need.describe())).collect();
    let list = list.join("\n");
    if !may_install {
        return Err(format!(
            "these are missing, and --no-install forbids to install them:\n{list}"
        ));
    }
    say(&format!("these are missing and will be installed:\n{list}"));
    missing.into_iter().try_for_each(Need::install)
}

/// Returns whether the compiler has the standard library of a target.
pub(crate) fn has_target(target: &str) -> bool {
    let mut question = Command::new("rustc");
    question.args(["--print", "target-libdir", "--target", target]).stderr(Stdio::null());
    output(&mut question).is_ok_and(|folder| Path::new(folder.trim()).exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::debian;

    static ABSENT: Package = Package { is_installed: || false, ..debian::GPP };

    #[test]
    fn what_is_missing_is_named_and_left_alone_without_permission() {
        let needs = [Need::Package(&ABSENT), Need::Target("no-such-target")];
        let refusal = provide(&needs, false).unwrap_err();
        assert!(refusal.contains("g++") && refusal.contains("no-such-target"), "{refusal}");
    }

    #[test]
    fn what_is_there_is_not_installed() {
        static PRESENT: Package = Package { is_installed: || true, ..debian::GPP };
        assert_eq!(provide(&[Need::Package(&PRESENT)], false), Ok(()));
    }
}
