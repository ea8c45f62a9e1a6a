//! `--compat`: what other programs would not read is refused, and the real ones agree.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{Shell, npy, python};

/// Reads a frame or an array as a whole and in parts, and compares with the plain bytes.
const READ: &str = "\
import sys, numpy, blosc2
name, plain = sys.argv[1], open(sys.argv[2], 'rb').read()
thing = blosc2.open(name)
if isinstance(thing, blosc2.NDArray):
    whole = thing[...]
    expected = numpy.frombuffer(plain, dtype=whole.dtype).reshape(thing.shape)
    assert (whole == expected).all(), 'whole'
    part = tuple(slice(side * 3 // 4, side * 3 // 4 + 1) for side in thing.shape)
    assert (thing[part] == expected[part]).all(), 'part'
else:
    whole = b''.join(bytes(thing.decompress_chunk(number)) for number in range(thing.nchunks))
    assert whole == plain, 'whole'
    size = thing.typesize
    start = len(plain) // size * 3 // 4
    assert bytes(thing[start:start + 3]) == plain[start * size:(start + 3) * size], 'part'
";

/// The environment with python-blosc2 of 2024.
fn old_python() -> PathBuf {
    let fallback =
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/venv/blosc2-old/bin/python");
    std::env::var_os("SUPERCHUNK_PEER_PYTHON_OLD").map_or_else(fallback, PathBuf::from)
}

/// The version of C-Blosc2 that a Python environment has.
fn blosc2_version(python: &Path) -> String {
    let script = "import blosc2; print(blosc2.blosclib_version.split()[0])";
    let output = Command::new(python).args(["-c", script]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.trim().split('.').take(3).collect::<Vec<_>>().join(".")
}

#[test]
fn the_real_c_blosc2_reads_what_is_said_to_be_readable_and_fails_at_the_rest() {
    let shell = Shell::new();
    let numbers: Vec<u8> = (0..40_000u64).flat_map(|n| (n * n % 65_521).to_le_bytes()).collect();
    shell.write("plain", &numbers);
    let array = "--dtype <u8 --chunks";
    // What is packed, and whether C-Blosc2 2.15 and 3.3 read it.
    let cases = [
        ("plain.b2frame", "-t 8".to_owned(), [true, true]),
        ("lz4.b2frame", "-t 8 -c lz4 --split never".to_owned(), [true, true]),
        ("bytedelta.b2frame", "-t 8 --filters shuffle,bytedelta".to_owned(), [true, true]),
        ("groups.b2frame", "-t 8 --filters shuffle:4".to_owned(), [false, true]),
        ("wide.b2frame", "-t 400".to_owned(), [false, true]),
        ("three.b2nd", format!("{array} 20,50,20 --shape 40,50,20"), [true, true]),
        (
            "nine.b2nd",
            format!("{array} 2,2,2,2,1,10,10,2,2 --shape 5,2,2,2,1,10,10,2,5"),
            [false, true],
        ),
        // Releases before 2.21 read this; no version is promised for a filter that later ones misread.
        ("delta.b2nd", format!("{array} 40,50,20 --shape 40,50,20 --filters delta"), [false; 2]),
    ];
    let versions = [old_python(), python()].map(|python| (blosc2_version(&python), python));
    for (name, options, reads) in &cases {
        shell.run(&format!("pack plain {options} -o {name}")).succeeds();
        for ((version, python), expected) in versions.iter().zip(reads) {
            let refused =
                shell.run(&format!("convert {name} copy.b2frame --compat blosc2={version}"));
            assert_eq!(refused.code == Some(0), *expected, "{name} {version}: {}", refused.stderr);
            std::fs::remove_file(shell.path("copy.b2frame")).ok();
            let is_delta_before_the_mistake =
                name.contains("delta.b2nd") && version.starts_with("2.");
            let mut read = Command::new(python);
            read.args(["-c", READ, name, "plain"]).current_dir(shell.path(""));
            let read = read.output().unwrap();
            if !is_delta_before_the_mistake {
                let words = String::from_utf8_lossy(&read.stderr);
                assert_eq!(read.status.success(), *expected, "{name} {version}: {words}");
            }
        }
    }
}

#[test]
fn what_would_not_be_read_is_refused_and_nothing_changes() {
    let shell = Shell::with_frame();
    shell.write("cube.npy", &npy(&[8, 8, 8]));
    shell.write("t.csv", b"a/x,b\n1,2\n");
    shell.run("pack data.f8 -t 8 -z 64K -b 8K --filters delta -o delta.b2frame").succeeds();
    shell.run("pack data.f8 -o data.blp").succeeds();
    shell.run("convert data.b2frame one.chunk").succeeds();
    let before = shell.names();
    let frame = shell.read("data.b2frame");
    for (line, words) in [
        ("pack data.f8 -t 8 --filters bytedelta -o x --compat blosc2=2.9", "from 2.10.0 on"),
        (
            "pack data.f8 -f -t 8 -b 8K --filters delta -o data.b2frame --compat blosc2",
            "the filter delta",
        ),
        ("pack data.f8 -o x.b2frame --compat blosc", "a format that it does not know"),
        ("pack cube.npy -o x.b2nd --compat blosc2=2.6.1", "from 2.7.1 on"),
        ("convert data.b2frame x.chunk --compat blosc", "the format of Blosc2"),
        ("convert t.csv x.bcolz --nested --compat bcolz", "tables inside of tables"),
        ("convert t.csv x.bcolz --nested -c zstd --compat bcolz=1.1", "tables inside of tables"),
        ("convert data.b2frame x.blp --compat bloscpack=0.2", "from 0.3.0 on"),
        ("repack data.b2frame --filters bytedelta --compat blosc2=2.9", "the filter bytedelta"),
        ("repack delta.b2frame --compat blosc2", "the filter delta"),
        ("append delta.b2frame data.f8 --compat blosc2", "the filter delta"),
    ] {
        let said = shell.run(line);
        assert_eq!(said.code, Some(4), "{line}: {}", said.stderr);
        assert!(said.stderr.contains(words), "{line}: {}", said.stderr);
        assert_eq!(shell.names(), before, "{line}");
        assert!(shell.read("data.b2frame") == frame, "{line}");
    }
    for (line, words) in [
        (
            "pack data.f8 --compat blosc3 -o x",
            "one of blosc2, blosc, bloscpack, bcolz, got `blosc3`",
        ),
        ("pack data.f8 --compat blosc2=x -o x", "a version like 2.10 or 3.3.5, got `x`"),
        ("pack data.f8 --compat blosc2 -o -", "write to a file with -o FILE"),
        ("convert data.b2frame x.raw --compat blosc2", "formats of the Blosc family"),
    ] {
        let said = shell.run(line);
        assert_eq!(said.code, Some(2), "{line}: {}", said.stderr);
        assert!(said.stderr.contains(words), "{line}: {}", said.stderr);
        assert_eq!(shell.names(), before, "{line}");
    }
    for line in [
        "pack data.f8 -f -t 8 -o data.b2frame --compat blosc2=2.6.1",
        "append data.b2frame data.f8 --compat blosc2=2.6.1",
        "repack data.b2frame -c lz4 --compat blosc2",
        "repack data.b2frame --compat blosc2",
        "convert data.b2frame data.blp -f --compat bloscpack",
        "convert cube.npy folder --to columns --compat blosc2",
    ] {
        let said = shell.run(line);
        assert_eq!(said.code, Some(0), "{line}: {}", said.stderr);
    }
}

#[test]
fn info_names_the_oldest_version_and_the_reason() {
    let shell = Shell::with_frame();
    shell.run("pack data.f8 -t 8 --filters bytedelta -o b.b2frame").succeeds();
    let said = shell.run("info --compat b.b2frame").succeeds();
    let line = "  readable   blosc2 from 2.10.0 on: the filter bytedelta\n";
    assert!(said.text().contains(line), "{}", said.text());
    assert!(said.text().contains("  unreadable bcolz: a format that it does not know\n"));
    shell.write("t.csv", b"a,b\n1,x\n");
    shell.run("convert t.csv t.bcolz -c zstd -l 9").succeeds();
    let readers = shell.run("info --compat --json t.bcolz").succeeds().json();
    let readers = readers.get("readers").unwrap().as_slice().unwrap();
    let oldest = |program: &str| {
        let of_program =
            |reader: &&superchunk::Value| reader.get("program").unwrap().as_str() == Some(program);
        readers.iter().find(of_program).unwrap().get("oldest").unwrap().clone()
    };
    assert_eq!(oldest("blosc2"), superchunk::Value::Nil);
    assert!(matches!(oldest("bcolz").as_str(), Some("1.1.0" | "1.1.2")));
    let plain = shell.run("info --json t.bcolz").succeeds().json();
    assert!(plain.get("readers").is_none());
}
