//! The peers: Python environments with the real Blosc libraries, at pinned versions.
//!
//! Each environment is a folder under `target/venv` with a marker file that lists what was installed;
//! when the marker says what is wanted, nothing is done.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::needs::{Need, provide};
use crate::step::{Outcome, root, run};

/// One environment: its folder, the variable that names its interpreter to tests, and what it holds.
pub(crate) struct Environment {
    folder: &'static str,
    variable: &'static str,
    packages: &'static [&'static str],
    /// Which of them exist as source only.
    sources: &'static [&'static str],
}

static ENVIRONMENTS: [Environment; 3] = [
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
static BENCH: Environment = Environment {
    folder: "bench",
    variable: "SUPERCHUNK_BENCH_PYTHON",
    packages: &["pyarrow==21.0.0"],
    sources: &[],
};

/// What the Python package is built with, and compared with.
pub(crate) static PYTHON: Environment = Environment {
    folder: "python",
    variable: "SUPERCHUNK_HOST_PYTHON",
    packages: &[
        "maturin==1.16.0",
        "numpy==2.4.6",
        "blosc2==4.14.1",
        "blosc==1.11.4",
        "numcodecs==0.16.6",
        "pytest==9.2.0",
        "hypothesis==6.170.15",
        "mypy==2.4.1",
        "psutil==7.2.2",
        "pandas==3.1.1",
    ],
    sources: &[],
};

/// The variables that name the interpreters of the environments to tests.
pub(crate) type Variables = Vec<(&'static str, OsString)>;

/// Makes the environment of the benches of other formats; returns the variable that names its interpreter.
pub(crate) fn setup_bench() -> Outcome<(&'static str, OsString)> {
    provide(&[Need::Peers(&BENCH)], true)?;
    Ok(BENCH.named())
}

/// Makes every environment that is missing or outdated; returns the variables that name their
/// interpreters.
pub(crate) fn setup() -> Outcome<Variables> {
    provide(&needs(), true)?;
    Ok(variables())
}

/// Returns all environments that tests need.
pub(crate) fn needs() -> Vec<Need> {
    ENVIRONMENTS.iter().map(Need::Peers).collect()
}

/// Returns the variables for tests, whether the environments are installed or not.
pub(crate) fn variables() -> Variables {
    ENVIRONMENTS.iter().map(Environment::named).collect()
}

/// The environment of the programs that nobody continues.
pub(crate) fn legacy() -> &'static Environment {
    &ENVIRONMENTS[2]
}

/// Where the environment of today's libraries is.
pub(crate) fn folder() -> PathBuf {
    ENVIRONMENTS[0].path()
}

impl Environment {
    pub(crate) fn describe(&self) -> String {
        format!("target/venv/{}: {}, by pip", self.folder, self.packages.join(" "))
    }

    pub(crate) fn is_installed(&self) -> bool {
        let found = fs::read_to_string(self.marker());
        self.python().exists() && found.is_ok_and(|found| found == self.packages.join("\n"))
    }

    pub(crate) fn install(&self) -> Outcome {
        let interpreter = interpreter()?;
        run(Command::new(interpreter).args(["-m", "venv", "--clear"]).arg(self.path()))?;
        let mut pip = Command::new(self.python());
        pip.args(["-m", "pip", "install", "--quiet", "--only-binary", ":all:"]);
        if !self.sources.is_empty() {
            pip.args(["--no-binary", &self.sources.join(",")]);
        }
        run(pip.args(self.packages))?;
        write(&self.marker(), &self.packages.join("\n"))
    }

    pub(crate) fn named(&self) -> (&'static str, OsString) {
        (self.variable, self.python().into())
    }

    fn path(&self) -> PathBuf {
        root().join("target/venv").join(self.folder)
    }

    pub(crate) fn python(&self) -> PathBuf {
        self.path().join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
    }

    /// The file that lists what was installed.
    fn marker(&self) -> PathBuf {
        self.path().join("installed.txt")
    }
}

/// The interpreter to build environments with; the pinned wheels exist for Python 3.11.
pub(crate) fn interpreter() -> Outcome<OsString> {
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
