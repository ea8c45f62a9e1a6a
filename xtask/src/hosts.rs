//! The hosts: each folder of `hosts/` is a workspace of its own, with its own lock file, toolchain and
//! dependencies, which the workspace of the library never sees.

use std::fs;
use std::path::{Path, PathBuf};

use crate::step::{Outcome, cargo, root, run, step};

/// Runs format, lints and tests of every host.
pub(crate) fn test() -> Outcome {
    for manifest in manifests(&root().join("hosts"))? {
        step(&format!("host {}", manifest.display()), || test_one(&manifest))?;
    }
    Ok(())
}

fn test_one(manifest: &Path) -> Outcome {
    let command = |arguments: &[&str]| {
        let mut command = cargo(arguments);
        command.arg("--manifest-path").arg(manifest);
        command
    };
    run(&mut command(&["fmt", "--all", "--check"]))?;
    run(command(&["clippy", "--workspace", "--all-targets"]).args(["--", "-D", "warnings"]))?;
    run(&mut command(&["test", "--workspace", "--locked"]))
}

/// Returns the manifests of the hosts below a folder, which need not exist.
fn manifests(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut manifests = Vec::new();
    for entry in entries {
        let host = entry.map_err(|e| format!("cannot read {}: {e}", folder.display()))?.path();
        let (manifest, lock) = (host.join("Cargo.toml"), host.join("Cargo.lock"));
        if manifest.is_file() && !lock.is_file() {
            return Err(format!("{} has no lock file of its own", host.display()));
        }
        manifests.extend(Some(manifest).filter(|manifest| manifest.is_file()));
    }
    manifests.sort();
    Ok(manifests)
}
