//! The Python package: its wheel, installed into an environment of its own, and its tests there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::needs::{Need, provide};
use crate::peers::{PYTHON, legacy};
use crate::step::{Outcome, root, run, step};

/// Builds the wheel as for tests, installs it and tests it.
pub(crate) fn python() -> Outcome {
    provide(&needs(), true)?;
    test()
}

/// Returns what the tests need.
pub(crate) fn needs() -> Vec<Need> {
    vec![Need::Peers(&PYTHON), Need::Peers(legacy())]
}

/// Builds the wheel as for tests, installs it and tests it, if the environment is there.
pub(crate) fn test() -> Outcome {
    let wheel = step("python: wheel", || build(&[]))?;
    step("python: install", || install(&wheel))?;
    step("python: tests", || {
        // Not in the folder of the sources, which has no extension module.
        let mut pytest = python_with(&["-m", "pytest", "-q"]);
        run(pytest.envs([legacy().named()]).arg("--rootdir").arg(host()).arg(host().join("tests")))
    })?;
    step("python: stubs", || {
        let allowed = host().join("tests").join("stubtest.txt");
        run(python_with(&["-m", "mypy.stubtest", "superchunk", "--allowlist"]).arg(allowed))
    })
}

/// Builds a wheel with these options of maturin; returns its path.
fn build(options: &[&str]) -> Outcome<PathBuf> {
    let wheels = root().join("target").join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels)
            .map_err(|e| format!("cannot empty {}: {e}", wheels.display()))?;
    }
    let mut maturin = python_with(&["-m", "maturin", "build", "--locked", "--interpreter"]);
    maturin.arg(PYTHON.python()).args(options).current_dir(host());
    run(maturin.arg("--out").arg(&wheels))?;
    let built = fs::read_dir(&wheels).ok().and_then(|mut wheels| wheels.next()?.ok());
    built.map(|wheel| wheel.path()).ok_or_else(|| format!("no wheel in {}", wheels.display()))
}

fn install(wheel: &Path) -> Outcome {
    let pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"];
    run(python_with(&pip).arg(wheel))
}

/// The interpreter of the environment, in a folder where nothing can be imported from.
fn python_with(arguments: &[&str]) -> Command {
    let mut command = Command::new(PYTHON.python());
    command.args(arguments).current_dir(root().join("target"));
    command
}

fn host() -> PathBuf {
    root().join("hosts").join("python")
}
