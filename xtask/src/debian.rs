//! Programs from Debian's packages, installed where its package manager can.

use std::process::{Command, Stdio};

use crate::step::{Outcome, run};

/// A package, what it is for, and how to find out whether it is there.
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) purpose: &'static str,
    pub(crate) is_installed: fn() -> bool,
}

pub(crate) const GPP: Package =
    Package { name: "g++", purpose: "to compile libFuzzer", is_installed: || answers("g++") };
pub(crate) const JQ: Package = Package {
    name: "jq",
    purpose: "for the examples of the documents",
    is_installed: || answers("jq"),
};
pub(crate) const MAN: Package = Package {
    name: "man-db",
    purpose: "to check the manual pages",
    is_installed: || answers("man"),
};
pub(crate) const GCC_MULTILIB: Package = Package {
    name: "gcc-multilib",
    purpose: "to link programs of 32 bits",
    is_installed: links_32_bits,
};

impl Package {
    pub(crate) fn describe(&self) -> String {
        format!("{}, {}, by apt-get", self.name, self.purpose)
    }

    pub(crate) fn is_installed(&self) -> bool {
        (self.is_installed)()
    }

    pub(crate) fn install(&self) -> Outcome {
        let install = ["install", "--yes", "--no-install-recommends", self.name];
        // A machine that has never asked for the list of packages knows none.
        let installed =
            manager(&install).or_else(|_| manager(&["update"]).and_then(|()| manager(&install)));
        let reason = match installed {
            Ok(()) if self.is_installed() => return Ok(()),
            Ok(()) => "it does not work".to_owned(),
            Err(reason) => reason,
        };
        let Self { name, purpose, .. } = self;
        Err(format!("{name}, {purpose}, could not be installed ({reason}); install it first"))
    }
}

fn manager(arguments: &[&str]) -> Outcome {
    let mut command = Command::new("apt-get");
    run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()))
}

/// Returns whether a program runs when it is asked for its version.
fn answers(program: &str) -> bool {
    let mut question = Command::new(program);
    question.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    question.status().is_ok_and(|status| status.success())
}

/// Returns whether the C compiler finds the libraries for programs of 32 bits.
fn links_32_bits() -> bool {
    let mut compiler = Command::new("cc");
    compiler.args(["-m32", "-x", "c", "/dev/null", "-shared", "-o", "/dev/null"]);
    compiler.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
