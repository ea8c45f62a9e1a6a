//! The files that examples name, made once and copied for each place.

use std::fs;
use std::path::Path;
use std::process::Command;

use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;

use super::source::Place;
use crate::shell::{PROGRAM, npy_file, readings};

/// Files that the examples of a place make, so that they must not be there before.
const MADE: [(&str, &[&str]); 8] = [
    (
        "README.md",
        &["readings.f8.b2frame", "cube.b2nd", "quotes.bcolz", "names.txt.b2frame", "cut.b2frame"],
    ),
    ("superchunk --help", &["readings.f8.b2frame"]),
    ("superchunk pack --help", &["big.b2frame"]),
    ("superchunk unpack --help", &["readings.f8", "quotes.csv", "close.npy"]),
    ("superchunk convert --help", &["b.b2frame", "cube.b2nd", "quotes.bcolz"]),
    ("superchunk blpk --help", &["readings.f8.blp"]),
    ("docs/guide/bcolz-data.md", &["quotes.csv"]),
    ("docs/guide/objects.md, sentences", &["lines.txt.b2frame"]),
];

/// Makes the containers of the plain files that [`Template::new`] has written.
const SCRIPT: &str = r"
set -e
superchunk pack readings.f8 --dtype '<f8' -o readings.b2frame
superchunk pack readings.f8 --dtype '<f8' -o readings.f8.b2frame
superchunk pack readings.f8 --dtype '<f8' -o data.b2frame
superchunk pack readings.f8 --dtype '<f8' -z 64K -o big.b2frame
superchunk pack readings.f8 --dtype '<f8' -o big.b2nd
superchunk pack readings.f8 -t 8 -o a.b2frame
superchunk pack readings.f8 -t 8 -c lz4 -o b.b2frame
superchunk pack readings.f8 -t 8 -o old.blp
superchunk pack readings.f8 -t 8 -o readings.f8.blp
superchunk pack readings.f8 -t 8 -z 64K -o broken.b2frame
superchunk pack readings.f8 -t 8 -z 64K -o broken.blp
superchunk pack cube.npy -o cube.b2nd
cp big.b2nd huge.b2nd
gzip -c readings.f8 > big.gz
superchunk pack names.txt --varlen
superchunk pack lines.txt --varlen
head -n 2000 names.txt | superchunk pack - --varlen -o names.blp
superchunk pack today.log -o log.b2frame
superchunk pack today.log -o more.b2frame
superchunk convert quotes.csv quotes.bcolz
superchunk convert quotes.csv other.bcolz
superchunk convert quotes.csv quotes.blsk
superchunk convert quotes.bcolz::close close.npy
superchunk convert quotes.csv broken.bcolz
superchunk convert quotes.csv broken.blsk
superchunk convert daily.csv daily_equities.bcolz --dtype id=uint32 --dtype day=uint32 \
    --dtype close=uint32
superchunk convert lfw.npy lfw --to bcolz
mkdir data dir
cp cube.b2nd big.b2nd data
cp names.txt quotes.csv dir
head -c 100 big.b2frame > cut.b2frame
rm lfw.npy daily.csv
for damaged in broken.b2frame broken.blp; do
    dd if=/dev/zero of=$damaged bs=80 count=1 conv=notrunc
done
rm broken.bcolz/close/meta/sizes broken.blsk/meta/nrows
cp big.b2frame .new.b2frame.0123456789abcdef.tmp
";

/// A folder with all files.
pub(super) struct Template(Scratch);

impl Template {
    pub(super) fn new() -> Self {
        let folder = Scratch::new();
        let programs = folder.path(".programs");
        fs::create_dir(&programs).unwrap();
        for name in ["superchunk", "blpk"] {
            std::os::unix::fs::symlink(PROGRAM, programs.join(name)).unwrap();
        }
        let write = |name: &str, bytes: &[u8]| fs::write(folder.path(name), bytes).unwrap();
        write("readings.f8", &readings(125_000));
        write("cube.npy", &npy_file("<f4", &[10, 200, 300], &cube()));
        write("lfw.npy", &npy_file("<f4", &[3, 3, 112, 112], &vec![63; 4 * 3 * 3 * 112 * 112]));
        write("names.txt", lines(42_000, "line number ").as_bytes());
        write("lines.txt", lines(80_000, "line ").as_bytes());
        write("more.txt", lines(5, "another line ").as_bytes());
        let log = lines(3000, "2024-02-29 warning ") + "2024-02-29 error: the disk is full\n";
        write("today.log", log.as_bytes());
        write("live.log", log.as_bytes());
        write("quotes.csv", quotes().as_bytes());
        write("today.csv", b"volume,day,open,close\n100,2016-02-03,99.5,101.25\n");
        let object = br#"{"day": "2016-02-04", "open": 101, "close": 100.5, "volume": 7}"#;
        write("more.jsonl", object);
        write("daily.csv", b"id,day,close\n3,1451865600,104660\n3,1451952000,0\n24,1451865600,9\n");
        let template = Self(folder);
        let made = template.command(template.0.folder(), SCRIPT).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
        template
    }

    /// A new folder with the files that the examples of a place name and do not make.
    pub(super) fn folder_for(&self, place: &Place) -> Scratch {
        let made = MADE.iter().find(|(name, _)| *name == place.name);
        let made = made.map_or(&[][..], |(_, names)| names);
        let folder = Scratch::new();
        fs::create_dir_all(folder.path(".local/share/man")).unwrap();
        fs::create_dir_all(folder.path(".local/share/bash-completion/completions")).unwrap();
        for entry in fs::read_dir(self.0.folder()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_named = place.examples.iter().any(|example| names(&example.line, &name));
            if is_named && !made.contains(&name.as_str()) {
                copy(&self.0.path(&name), folder.folder());
            }
        }
        folder
    }

    /// A command of a real shell in a folder; all that it says goes to stdout.
    pub(super) fn command(&self, folder: &Path, line: &str) -> Command {
        let path =
            format!("{}:{}", self.0.path(".programs").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("bash");
        command.args(["-c", &format!("exec 2>&1; set -o pipefail; {line}")]).current_dir(folder);
        command.env("PATH", path).env("HOME", folder).env("TMPDIR", folder).env("NO_COLOR", "1");
        command
    }
}

/// The places for which [`MADE`] has names.
pub(super) fn places_that_make_files() -> impl Iterator<Item = &'static str> {
    MADE.iter().map(|(place, _)| *place)
}

/// Whether a line names a file, or what a killed command has left of it.
fn names(line: &str, file: &str) -> bool {
    let name = file.strip_prefix('.').and_then(|file| file.strip_suffix(".0123456789abcdef.tmp"));
    let words = line.split(|c: char| !c.is_ascii_alphanumeric() && !"._-/".contains(c));
    words.filter_map(|word| word.split('/').next()).any(|word| word == name.unwrap_or(file))
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-R").args([from, to]).status().unwrap();
    assert!(status.success(), "{}", from.display());
}

fn lines(count: u32, text: &str) -> String {
    (1..=count).map(|number| format!("{text}{number}\n")).collect()
}

/// Temperatures that rise along every axis, with noise, in steps of a 64th.
fn cube() -> Vec<u8> {
    let mut rng = Rng::new(8);
    let mut item = |at: u32| {
        let (plane, row, column) = (at / 60_000, at / 300 % 200, at % 300);
        let steps =
            960 + 32 * plane + 4 * (row + column) + u32::try_from(rng.next_u64() % 16).unwrap();
        (steps as f32 / 64.0).to_le_bytes()
    };
    (0..600_000).flat_map(&mut item).collect()
}

/// Thirty days, on two of which the price rises and much is traded.
fn quotes() -> String {
    let row = |day: u32| {
        let (open, close, volume) = match day {
            0 => ("102.61", "105.35", 2_670_600),
            2 => ("100.56", "100.70", 1_843_200),
            day if day % 2 == 0 => ("99.50", "100.25", 7_000 + day),
            day => ("101.00", "98.75", 3_000_000 + day),
        };
        let date = 4 + day;
        let date = if date > 31 { format!("02-{:02}", date - 31) } else { format!("01-{date:02}") };
        format!("2016-{date},{open},{close},{volume}\n")
    };
    "day,open,close,volume\n".to_owned() + &(0..30).map(row).collect::<String>()
}
