//! Objects of any length: `pack --varlen`, and the other commands on what it makes.

use std::process::Command;

use superchunk_testkit::rng::Rng;

use crate::shell::{Said, Shell, python};

/// Both containers of objects.
const FILES: [&str; 2] = ["names.blp", "names.b2frame"];

/// 5 000 lines of 0 to 20 letters.
fn lines() -> String {
    (0..5000).map(|number| format!("name {number} ").repeat(number % 3) + "\n").collect()
}

/// Packs `names.txt` into both.
fn with_names() -> Shell {
    let shell = Shell::new();
    shell.write("names.txt", lines().as_bytes());
    for name in FILES {
        shell.run(&format!("pack names.txt --varlen -o {name} -m who=me")).succeeds();
    }
    shell
}

fn unpacked(shell: &Shell, line: &str) -> Said {
    shell.run(&format!("unpack {line} -o -")).succeeds()
}

#[test]
fn a_line_is_an_object_found_by_its_number() {
    let shell = with_names();
    for name in FILES {
        shell.run(&format!("cat {name}@1000")).is("name 1000 \n", "", 0);
        shell.run(&format!("cat {name}@997:1000")).is("name 997 \nname 998 name 998 \n\n", "", 0);
        shell.run(&format!("cat {name}@:3 --json")).is(
            "[\"\", \"name 1 \", \"name 2 name 2 \"]\n",
            "",
            0,
        );
        shell.run(&format!("cat {name}@-1 --format jsonl")).is("\"name 4999 \"\n", "", 0);
        shell.run(&format!("head -n 2 {name} --format csv")).is("\nname 1 \n", "", 0);
        assert_eq!(shell.run(&format!("cat {name}@5000")).code, Some(2));
        assert!(unpacked(&shell, name).stdout == lines().as_bytes());
        assert_eq!(shell.run(&format!("verify {name}")).code, Some(0));
        let info = shell.run(&format!("info --json {name}")).succeeds().json();
        assert_eq!(info.get("objects").unwrap().as_u64(), Some(5000));
        assert_eq!(info.get("kind").unwrap().as_str(), Some("text"));
        shell.run(&format!("attr get {name} who")).is("\"me\"\n", "", 0);
    }
    let blp = shell.run("info names.blp").succeeds();
    assert!(blp.text().contains("version 4 (") && blp.text().contains("5000 objects (text)"));
    let listed = shell.run("ls").succeeds();
    assert_eq!(listed.text().matches("5000 objects (text)").count(), 2, "{}", listed.text());
    // Many in a chunk take less than one in each.
    assert!(shell.read("names.b2frame").len() * 4 < shell.read("names.blp").len());
}

#[test]
fn they_grow_and_become_each_other() {
    let shell = with_names();
    shell.write("more", b"last but one\nlast");
    for name in FILES {
        let said = shell.run(&format!("append {name} more more"));
        said.fails(0, &format!("{name}: 4 objects appended, 5004 in all\n"));
        shell.run(&format!("cat {name}@5001")).is("last\n", "", 0);
    }
    shell.run("diff names.blp names.b2frame").is("", "", 0);
    shell.run("convert names.blp a.b2frame").succeeds();
    shell.run("convert names.b2frame b.blp --checksum sha224").succeeds();
    shell.run("diff a.b2frame b.blp").is("", "", 0);
    shell.run("attr get a.b2frame who").is("\"me\"\n", "", 0);
    shell
        .run("append a.b2frame b.blp")
        .fails(0, "a.b2frame: 5004 objects appended, 10008 in all\n");
    let said = shell.run("diff a.b2frame b.blp");
    said.is("there are 10008 and 5004 objects; the first ones are equal\n", "", 1);
    shell.write("other", lines().replace("name 7 ", "name 8 ").as_bytes());
    shell.run("pack other --varlen").succeeds();
    let said = shell.run("diff other.b2frame names.blp");
    said.is("the first difference is in object 7: \"name 8 \" and \"name 7 \"\n", "", 1);
    for name in ["x.npy", "x.raw", "x.b2nd"] {
        assert_eq!(shell.run(&format!("convert names.blp {name}")).code, Some(2), "{name}");
    }
}

#[test]
fn a_frame_packs_objects_by_their_lengths_if_asked_to() {
    let shell = Shell::new();
    shell.write("names.txt", lines().as_bytes());
    shell.run("pack names.txt --varlen --packing lengths -o short.b2b -m who=me").succeeds();
    shell.run("pack names.txt --varlen -o usual.b2b").succeeds();
    let info = shell.run("info short.b2b").succeeds();
    let info = String::from_utf8(info.stdout).unwrap();
    assert!(info.contains("objects (text)") && info.contains("superchunk_objects"), "{info}");
    shell.run("diff short.b2b usual.b2b").is("", "", 0);
    shell.run("cat short.b2b@7").is("name 7 \n", "", 0);
    // What changes it leaves the packing as it is; `convert` can give it another.
    shell.run("repack short.b2b -c lz4").succeeds();
    shell.run("append short.b2b usual.b2b").succeeds();
    shell.run("convert short.b2b other.b2b --packing msgpack").succeeds();
    for (name, is_short) in [("short.b2b", true), ("other.b2b", false)] {
        let layers = shell.run(&format!("info {name} --json")).succeeds();
        let layers = String::from_utf8(layers.stdout).unwrap();
        assert_eq!(layers.contains("superchunk_objects"), is_short, "{layers}");
        assert_eq!(layers.contains("batcharray"), !is_short, "{layers}");
    }
    shell.run("diff short.b2b other.b2b").is("", "", 0);
    shell.run("attr get other.b2b who").is("\"me\"\n", "", 0);
    shell.run("verify short.b2b").succeeds();
    for wrong in ["--varlen --packing lengths -o x.blp", "--packing lengths -o x.b2frame"] {
        assert_eq!(shell.run(&format!("pack names.txt {wrong}")).code, Some(2), "{wrong}");
    }
    shell.run("pack names.txt -o plain.b2frame").succeeds();
    for wrong in ["usual.b2b x.blp", "plain.b2frame x.b2frame"] {
        let said = shell.run(&format!("convert {wrong} --packing lengths"));
        said.fails(2, "error: only objects in a frame are packed in some way\n");
    }
    shell.run("pack names.txt --varlen --jsonl --packing lengths").fails(
        2,
        "error: values of any kind need ObjectPacking::Msgpack: a length does not tell what they are\n",
    );
}

#[test]
fn objects_come_and_go_in_four_ways() {
    let shell = Shell::new();
    let inputs: [(&str, &[u8], &str, &str); 3] = [
        ("--null", b"a\nb\0\0c\0", "[\"a\\nb\", \"\", \"c\"]\n", "text"),
        (
            "--lengths",
            b"\x02\0\0\0\xff\0\0\0\0\0",
            "[{\"$bin\": \"ff00\"}, {\"$bin\": \"\"}]\n",
            "bytes",
        ),
        (
            "--jsonl",
            b"{\"a\": 1}\n\"x\"\n[1, 2.5]\n3\n",
            "[{\"a\": 1}, \"x\", [1, 2.5], 3]\n",
            "values",
        ),
    ];
    for (flag, input, shown, kind) in inputs {
        shell.write("in", input);
        for name in ["o.blp", "o.b2frame"] {
            shell.run(&format!("pack in --varlen {flag} -f -o {name}")).succeeds();
            shell.run(&format!("cat {name} --json")).is(shown, "", 0);
            let back = unpacked(&shell, &format!("{name} {flag}")).stdout;
            assert_eq!(back, input, "{flag} {name}");
            let info = shell.run(&format!("info --json {name}")).json();
            assert_eq!(info.get("kind").unwrap().as_str(), Some(kind), "{flag} {name}");
        }
    }
    shell.write("bytes", b"\xff\xfe\nplain\n");
    shell.run("pack bytes --varlen").fails(
        2,
        "error: object 0 is no text in UTF-8\n  help: bytes of any kind come as --lengths, or with \
         --bytes\n",
    );
    shell.run("pack bytes --varlen --bytes").succeeds();
    shell.run("cat bytes.b2frame").is("\\xff\\xfe\nplain\n", "", 0);
    assert!(unpacked(&shell, "bytes.b2frame").stdout == b"\xff\xfe\nplain\n");
}

#[test]
fn what_makes_no_sense_is_refused_and_leaves_nothing() {
    let shell = Shell::new();
    shell.write("in", b"\x05\0\0\0abc");
    assert_eq!(shell.run("pack in --varlen --lengths").code, Some(3));
    shell.write("in", b"1\n{oops\n");
    let said = shell.run("pack in --varlen --jsonl");
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.starts_with("error: line 2 is no JSON: "), "{}", said.stderr);
    assert_eq!(shell.run("pack in --null").code, Some(2));
    assert_eq!(shell.run("pack in --varlen --null --jsonl").code, Some(2));
    assert_eq!(shell.run("pack in --varlen -t 4").code, Some(2));
    assert_eq!(shell.names(), ["in"]);
    shell.write("in", b"good\n\xff\n");
    shell.write("list", b"one\n");
    for name in ["list.blp", "list.b2frame"] {
        shell.run(&format!("pack list --varlen -o {name}")).succeeds();
        assert_eq!(shell.run(&format!("append {name} in")).code, Some(2), "{name}");
        shell.run(&format!("cat {name}")).is("one\n", "", 0);
        shell.run(&format!("verify -q {name}")).is("", "", 0);
    }
}

#[test]
fn objects_are_compressed_as_told() {
    let shell = with_names();
    shell.run("repack names.b2frame -c lz4 -l 1 -b 4K").succeeds();
    let info = shell.run("info --json names.b2frame").succeeds().json();
    assert_eq!(info.get("codec").unwrap().as_str(), Some("lz4"));
    shell.run("attr get names.b2frame who").is("\"me\"\n", "", 0);
    let chunk = shell.run("info --chunks names.b2frame").succeeds();
    assert!(chunk.text().contains("lz4, none\n"), "{}", chunk.text());
    shell.run("repack names.blp -c zstd").succeeds();
    shell.run("diff names.blp names.b2frame").is("", "", 0);
    shell.run("pack names.txt --varlen -z 1M -o x.blp").fails(
        2,
        "error: chunks have as many bytes as their objects\n  help: in frames, blocks have a \
         --block-size\n",
    );
}

#[test]
fn no_objects_are_a_list_too() {
    let shell = Shell::new();
    shell.write("none", b"");
    for name in ["none.blp", "none.b2frame"] {
        shell.run(&format!("pack none --varlen -o {name}")).succeeds();
        shell.run(&format!("cat {name}")).is("", "", 0);
        shell.run(&format!("cat {name} --json")).is("[]\n", "", 0);
        assert!(unpacked(&shell, name).stdout.is_empty());
    }
}

#[test]
fn pipes_carry_objects() {
    let shell = Shell::new();
    for to in ["--to blp", "--to frame"] {
        let packed = shell.pipe(&format!("pack --varlen {to}"), lines().as_bytes()).succeeds();
        assert!(shell.pipe("-d", &packed.stdout).succeeds().stdout == lines().as_bytes(), "{to}");
        shell.pipe("cat -- -@4999", &packed.stdout).is("name 4999 \n", "", 0);
    }
}

#[test]
fn one_damaged_object_spoils_no_other() {
    let shell = with_names();
    let index = shell.run("inspect names.blp index --json").succeeds().text().to_owned();
    let after = index.split("\"chunk\": 998, \"place\": \"").nth(1).unwrap();
    let start: usize = after.split('"').next().unwrap().parse().unwrap();
    let mut file = shell.read("names.blp");
    file[start + 17] ^= 1;
    shell.write("names.blp", &file);
    assert_eq!(shell.run("cat names.blp@998").code, Some(3));
    shell.run("cat names.blp@1000").is("name 1000 \n", "", 0);
    let said = shell.run("verify names.blp");
    assert_eq!(said.code, Some(3));
    assert!(said.text().starts_with("damaged: names.blp, chunk 998: "), "{}", said.text());
}

#[test]
fn python_reads_the_frame() {
    let shell = with_names();
    let script = "import blosc2\n\
                  names = blosc2.open('names.b2frame').items\n\
                  assert len(names) == 5000, len(names)\n\
                  assert names[998] == 'name 998 name 998 ' and names[0] == ''\n";
    let mut command = Command::new(python());
    let output = command.args(["-c", script]).current_dir(shell.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn bytes_are_left_free_after_objects_on_request() {
    let shell = Shell::new();
    // Noise does not shrink: 16 bytes of header, and 100 of letters.
    let lines: String = (0..50).map(|number| format!("{number:0>100}\n")).collect();
    shell.write("names.txt", lines.as_bytes());
    let free = |name: &str| {
        let info = shell.run(&format!("info --json {name}")).succeeds().json();
        info.get("free").unwrap().as_u64().unwrap()
    };
    let pack = "pack names.txt --varlen -c lz4 -l 0 -o";
    shell.run(&format!("{pack} tight.blp")).succeeds();
    assert_eq!(free("tight.blp"), 0);
    shell.run(&format!("{pack} roomy.blp --reserve 25")).succeeds();
    assert_eq!(free("roomy.blp"), 50 * 30, "a quarter of 120 bytes after each of 50 objects");
    assert_eq!(shell.read("roomy.blp").len(), shell.read("tight.blp").len() + 50 * 30);
    let said = shell.run("info roomy.blp").succeeds();
    assert!(said.text().contains("free       1.50 kB after objects"), "{}", said.text());
    shell.run("diff tight.blp roomy.blp").is("", "", 0);
    shell.run("verify roomy.blp").succeeds();
    // What converts and writes anew leaves room if that is asked for.
    shell.run("convert tight.blp other.blp --reserve 100 -l 0").succeeds();
    assert_eq!(free("other.blp"), 50 * 120);
    shell.run("repack other.blp --reserve 10 -c lz4 -l 0").succeeds();
    assert_eq!(free("other.blp"), 50 * 12);
    shell.run("repack other.blp -c lz4 -l 0").succeeds();
    assert_eq!(free("other.blp"), 0);
    // Objects are appended at the end; the room after the others stays.
    let more = "more ".repeat(20) + "\n";
    shell.write("more.txt", more.as_bytes());
    shell.run("append roomy.blp more.txt").succeeds();
    assert_eq!(free("roomy.blp"), 50 * 30);
    assert!(unpacked(&shell, "roomy.blp").stdout == (lines + &more).as_bytes());
}

#[test]
fn room_is_left_after_objects_of_bloscpack_files_only() {
    let shell = with_names();
    shell.write("data", &[7; 800]);
    for (line, words) in [
        ("pack data -o x.blp --reserve 10", "--reserve leaves bytes free after objects"),
        ("convert data x.blp --reserve 10", "--reserve leaves bytes free after objects"),
        ("pack names.txt --varlen -o x.b2frame --reserve 10", "are for Bloscpack files"),
        ("convert names.blp x.b2frame --reserve 10", "are for Bloscpack files"),
        ("repack names.b2frame --reserve 10", "--reserve is for Bloscpack files of objects"),
        ("pack names.txt --varlen -o x.blp --reserve 1001", "'1001' for '--reserve <PERCENT>'"),
    ] {
        let said = shell.run(line);
        assert!(said.code == Some(2) && said.stderr.contains(words), "{line}: {}", said.stderr);
    }
    assert!(!shell.names().iter().any(|name| name.starts_with("x.")));
    let info = shell.run("info --json names.b2frame").succeeds().json();
    assert!(info.get("free").is_none());
}

#[test]
fn objects_are_replaced_where_they_are_as_long_as_they_fit() {
    let shell = Shell::new();
    // Letters that no codec makes shorter.
    let letters = |len: usize, seed: u64| {
        let mut rng = Rng::new(seed);
        (0..len).map(|_| char::from(b'!' + rng.bytes(1)[0] % 90)).collect::<String>() + "\n"
    };
    let line = |seed: u64| letters(100, seed);
    let mut lines: Vec<String> = (0..50).map(line).collect();
    shell.write("names.txt", lines.concat().as_bytes());
    shell.run("pack names.txt --varlen -c lz4 -l 0 --reserve 100 -o a.blp").succeeds();
    let space = |name: &str| {
        let info = shell.run(&format!("info --json {name}")).succeeds().json();
        ["free", "dead"].map(|key| info.get(key).unwrap().as_u64().unwrap())
    };
    assert_eq!(space("a.blp"), [50 * 120, 0]);
    let len = shell.read("a.blp").len();
    shell.write("other", (line(90) + &line(91)).as_bytes());
    (lines[7], lines[8]) = (line(90), line(91));
    let said = shell.run("append a.blp other --replace 7");
    said.fails(0, "a.blp: 2 objects replaced, 0 appended, 50 in all\n");
    assert_eq!((shell.read("a.blp").len(), space("a.blp")), (len, [50 * 120, 240]));
    let said = shell.run("info a.blp").succeeds();
    let words = "free       6.00 kB after objects, 240 B of it dead: `repack` drops it";
    assert!(said.text().contains(words), "{}", said.text());
    // No room is left, but few objects follow, which keep theirs.
    lines[48] = letters(200, 92);
    shell.write("long", lines[48].as_bytes());
    shell.run("append a.blp long --replace 48 --json").succeeds();
    assert_eq!(space("a.blp"), [50 * 120 + 240 + 120, 240 + 480]);
    // What goes beyond the last one is appended.
    lines[49] = line(90);
    lines.push(line(91));
    let said = shell.run("append a.blp other --replace 49");
    said.fails(0, "a.blp: 1 objects replaced, 1 appended, 51 in all\n");
    let document = shell.run("append a.blp other --replace 49 --json").succeeds().json();
    (lines[49], lines[50]) = (line(90), line(91));
    assert_eq!(document.get("replaced_objects").unwrap().as_u64(), Some(2));
    assert!(unpacked(&shell, "a.blp").stdout == lines.concat().as_bytes());
    shell.run("verify a.blp").succeeds();
    shell.run("repack a.blp").succeeds();
    assert_eq!(space("a.blp"), [0, 0]);
    assert!(unpacked(&shell, "a.blp").stdout == lines.concat().as_bytes());

    shell.run("pack names.txt --varlen -o a.b2frame").succeeds();
    shell.run("pack names.txt -o bytes.blp").succeeds();
    for (args, words) in [
        ("a.blp other --replace 51", "there is no object 51 to replace: the file has 51"),
        ("a.b2frame other --replace 0", "--replace is for Bloscpack files of objects"),
        ("bytes.blp other --replace 0", "--replace is for Bloscpack files of objects"),
    ] {
        let said = shell.run(&format!("append {args}"));
        assert!(said.code == Some(2) && said.stderr.contains(words), "{args}: {}", said.stderr);
    }
}

#[test]
fn the_limit_of_memory_holds_where_attributes_are_added() {
    let shell = Shell::new();
    shell.write("names.txt", lines().as_bytes());
    let before = shell.names();
    let pack = "pack names.txt --varlen -o names.b2frame -m who=me -T 1";
    let said = shell.run(&format!("{pack} --limit-mem 8K"));
    assert_eq!(said.code, Some(6), "{}", said.stderr);
    assert!(said.stderr.contains("raise the limit with --limit-mem"), "{}", said.stderr);
    assert_eq!(shell.names(), before);
    shell.run(&format!("{pack} --limit-mem 1M")).succeeds();
    shell.run("attr get names.b2frame who").is("\"me\"\n", "", 0);
}

#[test]
fn a_new_file_leaves_every_object_the_room_that_it_had() {
    let shell = Shell::new();
    let letters = |len: usize, seed: u64| {
        let mut rng = Rng::new(seed);
        (0..len).map(|_| char::from(b'!' + rng.bytes(1)[0] % 90)).collect::<String>() + "\n"
    };
    let mut lines: Vec<String> = (0..50).map(|seed| letters(100, seed)).collect();
    shell.write("names.txt", lines.concat().as_bytes());
    shell.run("pack names.txt --varlen -c lz4 -l 0 --reserve 50 -o a.blp").succeeds();
    let space = || {
        let info = shell.run("info --json a.blp").succeeds().json();
        ["free", "dead"].map(|key| info.get(key).unwrap().as_u64().unwrap())
    };
    let place = |number: usize| {
        let said = shell.run(&format!("inspect a.blp chunk {number}")).succeeds();
        said.text().lines().nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
    };
    let places: Vec<String> = [0, 3, 4, 49].map(&place).to_vec();
    let mut replace = |number: usize, line: String| {
        shell.write("other", line.as_bytes());
        shell.run(&format!("append a.blp other --replace {number}")).succeeds();
        lines[number] = line;
        assert!(unpacked(&shell, "a.blp").stdout == lines.concat().as_bytes());
    };
    assert_eq!(space(), [50 * 60, 0]);
    // As long as the old one: more than what is free after it, and no more than both.
    replace(3, letters(100, 90));
    assert_eq!((space(), [0, 3, 4, 49].map(&place).to_vec()), ([50 * 60, 0], places.clone()));
    replace(3, letters(150, 91));
    assert_eq!((space(), [0, 3, 4, 49].map(&place).to_vec()), ([49 * 60 + 10, 0], places.clone()));
    // Longer than both: those after it make room, and all have as much as before.
    replace(4, letters(300, 92));
    assert_eq!(space(), [49 * 60 + 10, 0]);
    assert_eq!([0, 3, 4].map(&place)[..], places[..3]);
    // A shorter one goes where nothing was, without a new file.
    let len = shell.read("a.blp").len();
    replace(0, letters(30, 93));
    assert_eq!((shell.read("a.blp").len(), space()), (len, [49 * 60 + 10 + 70, 120]));
    shell.run("verify a.blp -q").is("", "", 0);
}
