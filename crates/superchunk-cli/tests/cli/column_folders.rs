//! Folders of columns: every verb takes them as tables, or says what does.

use std::fs;
use std::path::Path;

use superchunk::{Codec, Filter, NdArray, SuperChunk};

use crate::shell::Shell;

const CSV: &str = "day,name,left/x,left/y\n2024-02-28,ab,1.5,10\n2024-02-29,\"c,d\",0.25,-20\n\
                   2024-03-01,\"e\"\"f\",2.25,30\n";
const MORE: &str = "left/y,left/x,name,day\n7,8.5,gh,2024-04-01\n";

/// A folder of columns with a group and an attribute, and the bcolz table that it was made of.
fn quotes() -> Shell {
    let shell = Shell::new();
    shell.write("quotes.csv", CSV.as_bytes());
    shell.write("more.csv", MORE.as_bytes());
    shell.run("convert quotes.csv quotes.bcolz --nested -q").is("", "", 0);
    shell.run("attr set quotes.bcolz unit [\"USD\",2] -q").is("", "", 0);
    shell.run("convert quotes.bcolz cols --to columns -q").is("", "", 0);
    shell
}

/// The names and bytes of all files of a folder, in order.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push((path.display().to_string(), fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}

/// Runs a line, which fails with this code, says these words, and changes nothing.
fn refused(shell: &Shell, line: &str, code: i32, words: &str) {
    let before = (shell.names(), files(&shell.path("cols")));
    let said = shell.run(line);
    assert_eq!(said.code, Some(code), "{line}: {}", said.stderr);
    assert!(said.stderr.contains(words), "{line}: {}", said.stderr);
    assert_eq!((shell.names(), files(&shell.path("cols"))), before, "{line}");
}

#[test]
fn rows_are_shown_like_those_of_other_tables() {
    let shell = quotes();
    for line in [
        "cat {}",
        "cat {}@1:",
        "cat {}@-1 --json",
        "cat {}::left --format md",
        "cat {}::name@::2 --format jsonl",
        "cat {} --format csv",
        "head -n 2 {}",
        "head -n -2 {} --cols day,left/y*10",
        "cat {} --agg sum(left/y),max(left/x) --by name",
        "cat {} --wide --cols day:datetime64[s]",
    ] {
        let [ours, theirs] =
            ["cols", "quotes.bcolz"].map(|name| shell.run(&line.replace("{}", name)));
        theirs.is(theirs.text(), "", 0);
        ours.is(theirs.text(), "", 0);
    }
    let said = shell
        .run_with("cat cols --format csv --cols day --where", "name == 'ab' or name == 'none'");
    said.is("day\n2024-02-28\n", "", 0);
    let said = shell.run("cat cols::nothing");
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("it has day, name, left/x, left/y"), "{}", said.stderr);
}

#[test]
fn it_is_described_as_one_thing() {
    let shell = quotes();
    let said = shell.run("info cols").succeeds();
    for words in ["cols: folder of columns", "3, 4 columns", "unit = [\"USD\", 2]", "<M8[D]"] {
        assert!(said.text().contains(words), "{words}: {}", said.text());
    }
    let json = shell.run("info cols --json").succeeds().json();
    assert_eq!(json.get("format").unwrap().as_str(), Some("folder of columns"));
    assert_eq!(json.get("rows").unwrap().to_json(), "3");
    assert_eq!(json.get("columns").unwrap().as_slice().unwrap().len(), 4);
    for line in ["ls", "ls cols"] {
        let said = shell.run(line).succeeds();
        let lines: Vec<&str> = said.text().lines().filter(|line| line.contains("cols")).collect();
        assert_eq!(lines.len(), 1, "{line}: {}", said.text());
        assert!(
            lines[0].starts_with("folder of columns") && lines[0].contains("3 rows, 4 columns")
        );
    }
    let said = shell.run("info --compat cols").succeeds();
    assert!(said.text().contains("readable   blosc2 from 2.7.1 on: arrays"), "{}", said.text());
    assert!(said.text().contains("unreadable bcolz"), "{}", said.text());
}

#[test]
fn attributes_are_kept_in_the_list() {
    let shell = quotes();
    shell.run("convert cols back.bcolz -q").is("", "", 0);
    shell.run("convert cols back.blsk -q").is("", "", 0);
    shell.run("convert cols again --to columns -q").is("", "", 0);
    for name in ["cols", "back.bcolz", "again"] {
        shell.run(&format!("diff --meta quotes.bcolz {name}")).is("", "", 0);
    }
    shell.run("attr ls cols").is("unit = [\"USD\", 2]\n", "", 0);
    shell.run("attr set cols note {\"a\":1}").is("", "", 0);
    shell.run("attr rm cols unit").is("", "", 0);
    shell.run("attr get cols note").is("{\"a\": 1}\n", "", 0);
    let list = "{\"columns\": [\"day\", \"name\", \"left/x\", \"left/y\"], \"attributes\": \
                {\"note\": {\"a\": 1}}}\n";
    assert_eq!(String::from_utf8(shell.read("cols/columns.json")).unwrap(), list);
    refused(&shell, "attr rm cols unit", 1, "has no attribute `unit`");
    shell.run("diff --meta quotes.bcolz cols").is("the attribute `unit` differs\n", "", 1);
    // The list of before there were attributes.
    shell.write("cols/columns.json", b"[\"left/y\", \"name\", \"left/x\", \"day\"]\n");
    shell.run("attr ls cols").is("", "", 0);
    shell.run("cat cols@0 --format csv").is(
        "left/y,name,left/x,day\n10,ab,1.5,2024-02-28\n",
        "",
        0,
    );
}

#[test]
fn rows_are_appended_to_all_columns_or_none() {
    let shell = quotes();
    shell.write(
        "more.jsonl",
        b"{\"day\":\"2024-04-02\",\"name\":\"ij\",\"left/x\":1,\"left/y\":2}\n",
    );
    let said = shell.run("append cols more.csv more.jsonl quotes.bcolz cols --json").succeeds();
    let (key, rows) = ("appended_rows", said.json());
    assert_eq!(
        (rows.get(key).unwrap().to_json(), rows.get("rows").unwrap().to_json()),
        ("8".into(), "11".into())
    );
    shell.run("append quotes.bcolz more.csv more.jsonl quotes.bcolz -q").is("", "", 0);
    let three = shell.run("cat quotes.bcolz@:3 --format csv").text().to_owned();
    shell.write("three.csv", three.as_bytes());
    shell.run("append quotes.bcolz three.csv -q").is("", "", 0);
    shell.run("diff --meta quotes.bcolz cols").is("", "", 0);
    shell.run("verify cols -q").is("", "", 0);
    // A short first chunk does not make all others short.
    let array = NdArray::open(shell.path("cols/left/x.b2nd")).unwrap();
    assert_eq!((array.shape()[0], array.superchunk().chunk_count()), (11, 1));

    shell.write("long.csv", b"day,name,left/x,left/y\n2024-05-01,x,1,2\n2024-05-02,longer,3,4\n");
    refused(&shell, "append cols more.csv long.csv", 1, "`append --widen` makes the column wider");
    shell.write("part.csv", b"day,name\n2024-05-01,x\n");
    refused(&shell, "append cols part.csv", 2, "has no column `left/x`");
    refused(&shell, "append cols more.csv --compat bcolz", 4, "bcolz would not read this");
    let before = files(&shell.path("cols"));
    shell.run("append cols long.csv --widen").succeeds();
    assert_ne!(files(&shell.path("cols")), before);
    shell.run("cat cols@-2: --format csv --cols name,left/y").is(
        "name,left/y\nx,2\nlonger,4\n",
        "",
        0,
    );
    shell.run("verify cols -q").is("", "", 0);
    shell.run("append cols more.csv --compat blosc2 -q").is("", "", 0);
    shell.run("append quotes.bcolz cols --widen -q").is("", "", 0);
}

#[test]
fn an_array_keeps_its_own_attributes_when_rows_come() {
    let shell = quotes();
    shell.run("attr set cols/name.b2nd language en -q").is("", "", 0);
    shell.write("long.csv", b"day,name,left/x,left/y\n2024-05-02,longer,3,4\n");
    for line in ["append cols more.csv -q", "append cols long.csv --widen -q", "repack cols -q"] {
        shell.run(line).is("", "", 0);
        shell.run("attr get cols/name.b2nd language").is("\"en\"\n", "", 0);
    }
}

#[test]
fn columns_are_compressed_anew() {
    let shell = quotes();
    shell.run("repack cols -c zstd --filters bitshuffle -q").is("", "", 0);
    shell.run("repack cols::left/x -c lz4 --filters none --no-checksums -q").is("", "", 0);
    let codec = |name: &str| {
        let frame = SuperChunk::open(shell.path(name)).unwrap();
        (frame.options().codec, frame.options().filters.clone())
    };
    assert_eq!(codec("cols/left/y.b2nd"), (Codec::Zstd, vec![Filter::BitShuffle]));
    assert_eq!(codec("cols/left/x.b2nd"), (Codec::Lz4, vec![]));
    shell.run("diff --meta quotes.bcolz cols").is("", "", 0);
    shell.run("repack cols -o other -9 --compat blosc2 -q").is("", "", 0);
    shell.run("diff --meta cols other").is("", "", 0);
    for option in ["-z 1K", "-b 1K", "--sparse"] {
        refused(
            &shell,
            &format!("repack cols {option}"),
            2,
            "a folder of columns has no use for --",
        );
    }
    refused(&shell, "repack cols -o new.bcolz", 2, "`convert` makes other formats");
    refused(&shell, "repack cols -o quotes.bcolz -f", 2, "`convert` makes other formats");
    refused(&shell, "repack cols -o other", 7, "exists already");
    refused(&shell, "repack cols --compat bcolz", 4, "bcolz would not read this");
}

#[test]
fn columns_are_measured_one_by_one() {
    let shell = quotes();
    let said = shell
        .run("bench cols --json --codecs lz4 --levels 1 --filters shuffle+bytedelta --rounds 1");
    let json = said.succeeds().json();
    let results = json.get("results").unwrap().as_slice().unwrap();
    let columns: Vec<&str> =
        results.iter().map(|result| result.get("column").unwrap().as_str().unwrap()).collect();
    assert_eq!(columns, ["day", "name", "left/x", "left/y"]);
    shell.run("tune cols --sample 1K --objective size --apply tuned -q").succeeds();
    shell.run("diff --meta cols tuned").is("", "", 0);
    shell.run("verify tuned -q").is("", "", 0);
    let said = shell.run("tune cols::left/x --sample 1K").succeeds();
    assert!(said.text().contains("recommended: -c "), "{}", said.text());
    refused(
        &shell,
        "tune cols --sample 1K --apply tuned.bcolz",
        2,
        "`convert` makes other formats",
    );
}

#[test]
fn it_is_unpacked_and_converted_like_other_tables() {
    let shell = quotes();
    for made in ["rows.csv", "rows.npy", "npys"] {
        for (input, folder) in [("cols", "ours"), ("quotes.bcolz", "theirs")] {
            fs::create_dir_all(shell.path(folder)).unwrap();
            shell.run(&format!("unpack {input} -o {folder}/{made} -q")).is("", "", 0);
        }
    }
    let names = |folder: &str| -> Vec<(String, Vec<u8>)> {
        let found = files(&shell.path(folder)).into_iter();
        found.map(|(name, bytes)| (name.replace(folder, ""), bytes)).collect()
    };
    assert_eq!(names("ours"), names("theirs"));
    shell.run("unpack cols::left/y -o y.npy -q").is("", "", 0);
    shell.run("diff cols::left/y y.npy").is("", "", 0);
    for name in ["new.bcolz", "new.blsk", "new.csv", "new.npy"] {
        shell.run(&format!("convert cols {name} -q")).is("", "", 0);
    }
    for name in ["new.bcolz", "new.blsk", "new.npy", "cols"] {
        shell.run(&format!("diff {name} quotes.bcolz")).is("", "", 0);
    }
    assert_eq!(shell.read("new.csv"), CSV.as_bytes());
    shell.run("convert cols::left/x x.b2nd -q").is("", "", 0);
    shell.run("diff cols::left/x x.b2nd").is("", "", 0);
}

#[test]
fn damage_is_found_and_the_rest_is_saved() {
    let shell = quotes();
    let said = shell.run("verify cols --json").succeeds().json();
    assert_eq!(said.get("checksums").unwrap().as_str(), Some("sealed"));
    assert_eq!(said.get("chunks").unwrap().to_json(), "4");
    shell.run("verify cols::left -q").is("", "", 0);
    shell.sh("rm quotes.csv more.csv").succeeds();
    let said = shell.run("verify -r . --json").succeeds().json();
    assert_eq!(said.get("good").unwrap().to_json(), "2");
    let saved = shell.run("salvage cols -o whole").succeeds();
    assert!(saved.text().contains("whole, 4 chunks"), "{}", saved.text());
    shell.run("diff --meta cols whole").is("", "", 0);

    fs::remove_file(shell.path("cols/day.b2nd")).unwrap();
    let said = shell.run("verify cols");
    assert_eq!(said.code, Some(3));
    assert!(said.text().contains("damaged: cols/day.b2nd"), "{}", said.text());
    assert_eq!(shell.run("info cols").code, Some(5));
    assert_eq!(shell.run("salvage cols -o saved").code, Some(3));
    shell.run("cat saved@0 --format csv").is("name,left/x,left/y\nab,1.5,10\n", "", 0);
    assert!(
        shell
            .run("attr get saved salvaged")
            .succeeds()
            .text()
            .contains("day.b2nd: the column is lost")
    );
    shell.run("verify saved -q").is("", "", 0);

    let mut column = NdArray::edit(shell.path("saved/name.b2nd")).unwrap();
    column.append(0, b"zz\0").unwrap();
    column.close().unwrap();
    let said = shell.run("verify saved");
    assert_eq!(said.code, Some(3));
    assert!(said.text().contains("column `left/x` has 3 rows, `name` has 4"), "{}", said.text());
    let said = shell.run("cat saved");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    assert_eq!(shell.run("salvage saved -o equal").code, Some(3));
    shell.run("cat equal --format csv --cols name").is("name\nab\n\"c,d\"\n\"e\"\"f\"\n", "", 0);
    shell.write("saved/columns.json", b"{\"columns\": [\"name\", \"../cols/name\"]}");
    for line in ["info saved", "verify saved", "cat saved", "append saved cols", "attr ls saved"] {
        let said = shell.run(line);
        assert_eq!(said.code, Some(3), "{line}: {}", said.stderr);
    }
}

#[test]
fn what_does_not_apply_says_what_does() {
    let shell = quotes();
    for line in ["inspect cols", "inspect cols chunk 0", "cat cols --png x.png"] {
        refused(
            &shell,
            line,
            4,
            "`superchunk info cols` lists its columns, each of which is an array in a file",
        );
    }
    refused(&shell, "unpack cols", 2, "-o OUT.csv writes rows as text");
    refused(&shell, "pack cols -o x.b2frame", 2, "is a folder");
    refused(&shell, "convert cols x.b2frame", 2, "--to bcolz, blsk, columns, csv, npy or b2nd");
    refused(&shell, "salvage cols -o x.b2frame", 2, "`salvage` keeps the format");
    refused(&shell, "bench cols -t 4", 2, "leave out --typesize");
}

#[test]
fn what_is_no_folder_of_columns_stays_a_folder_of_files() {
    let shell = quotes();
    fs::create_dir(shell.path("home")).unwrap();
    shell.write("home/columns.json", b"[\"id\", \"name\"]");
    shell.write("home/a.csv", b"id,name\n1,x\n");
    assert!(shell.run("info home").stderr.contains("`home` is of no known format"));
    shell.run("ls home -a").succeeds();
    // Files that belong to no column stay where they are.
    shell.write("cols/left/letter", b"Dear Bob");
    let said = shell.run("verify cols").succeeds();
    assert!(said.text().contains("stray: no column is called like the file cols/left/letter"));
    for line in ["repack cols", "append cols more.csv", "convert -f quotes.bcolz cols --to columns"]
    {
        refused(&shell, line, 7, "is a folder with other files");
    }
}

#[test]
fn what_a_killed_command_left_is_removed() {
    let shell = quotes();
    let left = "cols/.columns.json.0123456789abcdef.tmp";
    fs::create_dir(shell.path(left)).unwrap();
    shell.write(&format!("{left}/columns.json"), b"{");
    shell.run("append cols more.csv -q").is("", "", 0);
    fs::create_dir(shell.path(left)).unwrap();
    shell.run("attr set cols a 1 -q").is("", "", 0);
    let said = shell.run("recover cols");
    said.is("", &format!("removed {left}\ncols: it is complete, 1 leftovers removed\n"), 0);
    assert!(!shell.path(left).exists());
}

#[test]
fn a_list_that_is_beyond_the_limit_of_memory_is_not_read_to_replace_its_folder() {
    let shell = quotes();
    let note = "x".repeat(10_000);
    shell.run(&format!("attr set cols note {note} -q")).is("", "", 0);
    let convert = "convert quotes.csv cols --to columns --nested -f -q -T 1";
    refused(&shell, &format!("{convert} --limit-mem 1M"), 6, "raise the limit with --limit-mem");
    shell.run(&format!("{convert} --limit-mem 16M")).is("", "", 0);
    assert_eq!(shell.run("attr get cols note").code, Some(1));
}
