//! Runs the program in a folder of its own, and compares what it says.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use superchunk_testkit::scratch::Scratch;

/// The program.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_superchunk");

/// A folder to work in; it goes when this is dropped.
pub(crate) struct Shell(Scratch);

/// What a command said, and how it ended.
pub(crate) struct Said {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

impl Shell {
    pub(crate) fn new() -> Self {
        Self(Scratch::new())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// The names in the folder, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.folder()).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.unwrap().file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    /// A command line, split at spaces; run in the folder, without what could change its output.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(line.split_whitespace()).current_dir(self.0.folder());
        command.env("NO_COLOR", "1").env("TMPDIR", self.0.folder()).stdin(Stdio::null());
        command
    }

    /// Runs a command line.
    pub(crate) fn run(&self, line: &str) -> Said {
        Said::from(self.command(line).output().unwrap())
    }

    /// Runs a command line with one more argument, which may have spaces.
    pub(crate) fn run_with(&self, line: &str, last: &str) -> Said {
        Said::from(self.command(line).arg(last).output().unwrap())
    }

    /// Runs a command line with this stdin.
    pub(crate) fn pipe(&self, line: &str, stdin: &[u8]) -> Said {
        let mut child = self.start(line);
        let mut pipe = child.stdin.take().unwrap();
        let stdin = stdin.to_vec();
        // What the command writes must be read while it reads.
        let feeder = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        Said::from(output)
    }

    /// Starts a command line whose three pipes are open.
    pub(crate) fn start(&self, line: &str) -> Child {
        let mut command = self.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs a line of a real shell, in which `superchunk` is the program.
    pub(crate) fn sh(&self, line: &str) -> Said {
        let mut command = Command::new("sh");
        command.args(["-c", &line.replace("superchunk", PROGRAM)]);
        command.current_dir(self.0.folder()).env("TMPDIR", self.0.folder());
        Said::from(command.stdin(Stdio::null()).output().unwrap())
    }

    /// Packs `data.f8` to `data.b2frame`, 100 000 readings in chunks of 64 KiB.
    pub(crate) fn with_frame() -> Self {
        let shell = Self::new();
        shell.write("data.f8", &readings(100_000));
        shell.run("pack data.f8 -t 8 -z 64K -o data.b2frame -m unit=K").succeeds();
        shell
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let stderr = String::from_utf8(output.stderr).unwrap();
        Self { stdout: output.stdout, stderr, code: output.status.code() }
    }
}

impl Said {
    /// What was said on stdout.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// The JSON document that is all of stdout.
    pub(crate) fn json(&self) -> superchunk::Value {
        superchunk::Value::from_json(self.text().trim()).unwrap()
    }

    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.stderr, String::from_utf8_lossy(&self.stdout));
        self
    }

    /// Compares all three: stdout, stderr, exit code. Speeds and times are `#`.
    #[track_caller]
    pub(crate) fn is(&self, stdout: &str, stderr: &str, code: i32) {
        assert_eq!(scrubbed(self.text()), stdout);
        assert_eq!(scrubbed(&self.stderr), stderr);
        assert_eq!(self.code, Some(code));
    }

    /// Says nothing on stdout, and this on stderr.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, stderr: &str) {
        self.is("", stderr, code);
    }
}

/// Numbers before ` MB/s` and ` µs` are other ones each time.
pub(crate) fn scrubbed(text: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let is_unit = ["MB/s", "µs"].iter().any(|unit| word.starts_with(unit));
        if let Some(last) = out.last_mut().filter(|_| is_unit) {
            let start = last.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
            *last = start + "#";
        }
        out.push(word.to_owned());
    }
    out.join(" ")
}

/// A slow wave as 64-bit floats with two decimals.
pub(crate) fn readings(count: u32) -> Vec<u8> {
    let reading = |at: u32| {
        let value =
            15.0 + 8.0 * (f64::from(at) / 1375.0).sin() + f64::from(at % 101 * 7919 % 101) / 1000.0;
        ((value * 100.0).round() / 100.0).to_le_bytes()
    };
    (0..count).flat_map(reading).collect()
}

/// A `.npy` file of 32-bit integers that count from 0.
pub(crate) fn npy(shape: &[u64]) -> Vec<u8> {
    let count = i32::try_from(shape.iter().product::<u64>()).unwrap();
    npy_file("<i4", shape, &(0..count).flat_map(i32::to_le_bytes).collect::<Vec<u8>>())
}

/// A `.npy` file, written from NumPy's description of the format.
pub(crate) fn npy_file(dtype: &str, shape: &[u64], items: &[u8]) -> Vec<u8> {
    let sides: Vec<String> = shape.iter().map(u64::to_string).collect();
    let sides = sides.join(", ") + if shape.len() == 1 { "," } else { "" };
    let text = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({sides}), }}");
    let header = format!("{text:<117}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(118u16.to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(items);
    file
}

/// The interpreter that has the real libraries.
pub(crate) fn python() -> PathBuf {
    let fallback =
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/venv/blosc2/bin/python");
    std::env::var_os("SUPERCHUNK_PEER_PYTHON").map_or_else(fallback, PathBuf::from)
}
