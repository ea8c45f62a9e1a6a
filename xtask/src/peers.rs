//! The peers: Python environments with the real Blosc libraries, at pinned versions.
//!
//! Each environment is a folder under `target/venv` with a marker file that lists what was installed;
//! when the marker says what is wanted, nothing is done.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::{Outcome, root, run, say};

/// One environment: its folder, the variable that tells tests where it is, and what it holds.
struct Environment {
    folder: &'static str,
    variable: &'static str,
    packages: &'static [&'static str],
    /// Which of them exist as source only.
    sources: &'static [&'static str],
}

const ENVIRONMENTS: [Environment; 3] = [
    Environment {
        folder: "blosc2",
        variable: "SUPERCHUNK_PEER_PYTHON",
        packages: &["blosc2==4.14.1", "blosc==1.11.4", "numcodecs==0.16.6", "numpy==2.4.6"],
        sources: &[],
    },
    Environment {
        folder: "blosc2-old",
        variable: "SUPERCHUNK_PEER_PYTHON_OLD",
        packages: &["blosc2==2.7.1", "numpy==1.26.4"],
        sources: &[],
    },
    Environment {
        folder: "legacy",
        variable: "SUPERCHUNK_PEER_PYTHON_LEGACY",
        packages: &[
            "bloscpack==0.16.0",
            "bcolz-zipline==1.13.0",
            "blosc==1.11.4",
            "numpy==2.4.6",
            "deprecated==1.3.1",
            "six==1.17.0",
        ],
        sources: &["bloscpack"],
    },
];

/// What other formats are measured with; no test needs it.
const BENCH: Environment = Environment {
    folder: "bench",
    variable: "SUPERCHUNK_BENCH_PYTHON",
    packages: &["pyarrow==21.0.0"],
    sources: &[],
};

/// Makes the environment of the benches of other formats; returns the variable that tells of it.
pub(crate) fn setup_bench() -> Outcome<(&'static str, OsString)> {
    Ok((BENCH.variable, install(&BENCH)?.into()))
}

/// Makes every environment that is missing or outdated; returns the variables that tell of them.
pub(crate) fn setup() -> Outcome<Vec<(&'static str, OsString)>> {
    ENVIRONMENTS.iter().map(|env| Ok((env.variable, install(env)?.into()))).collect()
}

/// Where the environment of today's libraries is.
pub(crate) fn folder() -> PathBuf {
    root().join("target/venv/blosc2")
}

fn install(environment: &Environment) -> Outcome<PathBuf> {
    let folder = root().join("target/venv").join(environment.folder);
    let marker = folder.join("installed.txt");
    let place = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    let python = folder.join(place);
    let wanted = environment.packages.join("\n");
    if python.exists() && fs::read_to_string(&marker).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    say(&format!(
        "installing {} in target/venv/{}",
        environment.packages.join(" "),
        environment.folder
    ));
    let interpreter = interpreter()?;
    run(Command::new(interpreter).args(["-m", "venv", "--clear"]).arg(&folder))?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--only-binary", ":all:"]);
    if !environment.sources.is_empty() {
        pip.args(["--no-binary", &environment.sources.join(",")]);
    }
    run(pip.args(environment.packages))?;
    write(&marker, &wanted)?;
    Ok(python)
}

/// The interpreter to build environments with; the pinned wheels exist for Python 3.11.
fn interpreter() -> Outcome<OsString> {
    if let Some(named) = std::env::var_os("PYTHON") {
        return Ok(named);
    }
    let works = |name: &&str| {
        let mut command = Command::new(name);
        let command = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let found = ["python3.11", "python3"].into_iter().find(works);
    found.map(OsString::from).ok_or_else(|| {
        "no python3.11 or python3 in PATH: the tests compare with the real Blosc libraries, which are \
         installed with Python; install Python 3.11 or name one in the variable PYTHON"
            .to_owned()
    })
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}
