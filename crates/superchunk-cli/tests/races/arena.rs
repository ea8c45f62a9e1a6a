//! Two commands that run at the same time on one container, while others read it.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};

use superchunk_testkit::scratch::Scratch;

use crate::content::Content;
use crate::program::{command, copy_folder, shell, words};

/// The exit code of a writer that did not get the lock in time.
const BUSY: i32 = 7;

/// Two commands, the container that both change, and the contents that they can leave one after the
/// other. In every line `{}` stands for the container.
pub(crate) struct Race {
    scratch: Scratch,
    name: &'static str,
    lines: [String; 2],
    /// The exit codes with which the commands succeed.
    success: [Option<i32>; 2],
    /// The contents after no command, the first, the second, and both in either order.
    serial: Vec<(Vec<usize>, Content)>,
    /// The output of `cat` for each of these contents.
    texts: Vec<Vec<u8>>,
}

impl Race {
    /// Makes inputs and container by lines of a shell, then runs the commands one after the other.
    pub(crate) fn new(name: &'static str, make: &[&str], lines: [&str; 2]) -> Self {
        let scratch = Scratch::new();
        for folder in ["in", "before"] {
            fs::create_dir(scratch.path(folder)).unwrap();
        }
        make_inputs(&scratch);
        for line in make {
            shell(&scratch.path("before"), &line.replace("{}", name));
        }
        let lines = lines.map(|line| line.replace("{}", name));
        let (success, serial, texts) = ([None; 2], Vec::new(), Vec::new());
        let mut race = Self { scratch, name, lines, success, serial, texts };
        for order in [vec![], vec![0], vec![1], vec![0, 1], vec![1, 0]] {
            race.run_serially(order);
        }
        race
    }

    fn run_serially(&mut self, order: Vec<usize>) {
        let folder = self.fresh_folder();
        for number in &order {
            let output = command(&folder, &self.lines[*number]).output().unwrap();
            // `salvage` also succeeds with 3: it has saved what could be read.
            let is_saved =
                output.status.code() == Some(3) && self.lines[*number].contains("salvage");
            assert!(output.status.success() || is_saved, "{}", words(&output));
            self.success[*number] = output.status.code();
        }
        let text = command(&folder, &format!("cat {}", self.name)).output().unwrap();
        assert!(text.status.success(), "{}", words(&text));
        self.texts.push(text.stdout);
        self.serial.push((order, Content::of(&folder.join(self.name)).unwrap()));
    }

    fn fresh_folder(&self) -> PathBuf {
        let folder = self.scratch.path("round");
        copy_folder(&self.scratch.path("before"), &folder).unwrap();
        folder
    }

    /// Runs both commands at the same time, again and again; returns the number of rounds in which
    /// both succeeded, and the number of all rounds.
    pub(crate) fn run(&self) -> (usize, usize) {
        let rounds = rounds(40);
        let both = (0..rounds).filter(|round| self.round(*round)).count();
        eprintln!(
            "{} ‖ {}: both succeeded in {both} of {rounds} rounds",
            self.lines[0], self.lines[1]
        );
        (both, rounds)
    }

    /// Runs one round; returns whether both succeeded.
    fn round(&self, round: usize) -> bool {
        let folder = self.fresh_folder();
        let start = |line: &str| {
            // A pipe that is full would stop the process in the middle of its work.
            let name = line.split(' ').next().unwrap_or_default();
            let stdout = fs::File::create(self.scratch.path(name)).unwrap();
            command(&folder, line).stdout(stdout).stderr(Stdio::piped()).spawn().unwrap()
        };
        // Each is the first one in every other round.
        let (first, second) = if round.is_multiple_of(2) { (0, 1) } else { (1, 0) };
        let one = start(&self.lines[first]);
        let reader = start(&format!("cat {}", self.name));
        let other = start(&self.lines[second]);
        let verifier = start(&format!("verify {}", self.name));
        let [one, other] = [one, other].map(|child| child.wait_with_output().unwrap());
        let outputs = if first == 0 { [one, other] } else { [other, one] };
        self.check_readers(reader, verifier, round);
        let succeeded = [0, 1].map(|number| self.has_succeeded(number, &outputs[number], round));
        let found = Content::of(&folder.join(self.name));
        let found = found.unwrap_or_else(|error| self.fail(round, &format!("unreadable: {error}")));
        let is_legal = |order: &[usize]| [0, 1].map(|number| order.contains(&number)) == succeeded;
        let mut legal = self.serial.iter().filter(|(order, _)| is_legal(order));
        if !legal.clone().any(|(_, content)| *content == found) {
            let difference = found.difference(&legal.next().unwrap().1);
            self.fail(round, &format!("succeeded: {succeeded:?}, but {difference}"));
        }
        if fs::read_dir(&folder).unwrap().count() != 1 {
            self.fail(round, "there are files besides the container");
        }
        succeeded == [true; 2]
    }

    /// Returns whether a writer has succeeded; if not, it must have waited for the lock in vain.
    fn has_succeeded(&self, number: usize, output: &Output, round: usize) -> bool {
        let code = output.status.code();
        if code != self.success[number] && code != Some(BUSY) {
            self.fail(round, &format!("{}: {}", self.lines[number], words(output)));
        }
        code == self.success[number]
    }

    /// Checks that the readers have seen one of the contents.
    fn check_readers(&self, reader: Child, verifier: Child, round: usize) {
        let read = reader.wait_with_output().unwrap();
        if !read.status.success() {
            self.fail(round, &format!("cat: {}", words(&read)));
        }
        if !self.texts.contains(&fs::read(self.scratch.path("cat")).unwrap()) {
            self.fail(round, "cat prints what never was the content");
        }
        let verified = verifier.wait_with_output().unwrap();
        if !verified.status.success() {
            let found = fs::read_to_string(self.scratch.path("verify")).unwrap();
            self.fail(round, &format!("verify: {} {found}", words(&verified)));
        }
    }

    #[expect(clippy::panic, reason = "a test fails by panicking")]
    fn fail(&self, round: usize, problem: &str) -> ! {
        panic!("{} ‖ {}, round {round}: {problem}", self.lines[0], self.lines[1]);
    }
}

/// The number of rounds: that of the variable `SUPERCHUNK_RACE_ROUNDS`, or else this one.
fn rounds(usual: usize) -> usize {
    let chosen = std::env::var("SUPERCHUNK_RACE_ROUNDS");
    chosen.map_or(usual, |text| text.parse().unwrap())
}

/// Makes the files that the commands read as `../in/NAME`.
fn make_inputs(scratch: &Scratch) {
    let folder = scratch.path("in");
    let numbers =
        |range: std::ops::Range<u32>| -> Vec<u8> { range.flat_map(u32::to_le_bytes).collect() };
    for (name, range) in [("data", 0..40_000), ("one", 50_000..50_700), ("two", 60_000..63_000)] {
        fs::write(folder.join(name), numbers(range)).unwrap();
    }
    for (name, rows) in [("rows.csv", 0..3000), ("one.csv", 1000..1040), ("two.csv", 2000..2100)] {
        let rows: String = rows.map(|row| format!("{row},{}.5\n", row * 3)).collect();
        fs::write(folder.join(name), format!("number,price\n{rows}")).unwrap();
    }
    shell(&folder, "superchunk pack two -z 8K --dtype '<u4' -m from=other -o other.b2frame");
    // Without its header a frame is damaged, but all of its chunks are found.
    let mut damaged = fs::read(folder.join("other.b2frame")).unwrap();
    damaged[..80].fill(0);
    fs::write(folder.join("damaged.b2frame"), damaged).unwrap();
}
