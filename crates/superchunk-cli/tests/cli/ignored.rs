//! What is typed has an effect, or is refused by its name: options, slices, parts of tables.

use crate::shell::{Shell, npy};

/// A frame, an array, a chunk, tables of all formats, and a list of objects.
fn folder() -> Shell {
    let shell = Shell::with_frame();
    shell.write("a.npy", &npy(&[40]));
    shell.write("list", b"one\ntwo\n");
    shell.write("t.csv", b"i,n\n1,x\n2,y\n");
    for line in [
        "pack a.npy",
        "convert a.b2nd a.chunk",
        "convert t.csv t.bcolz",
        "convert t.csv t.blsk",
        "convert t.csv tc --to columns",
        "pack list --varlen -o list.blp",
        "pack data.f8 -o bytes.blp",
    ] {
        shell.run(line).succeeds();
    }
    shell
}

/// Each line is a usage error that has these words, and changes nothing.
fn are_refused(shell: &Shell, cases: &[(&str, &str)]) {
    let before = shell.names();
    for (line, words) in cases {
        let said = shell.run(line);
        assert_eq!((said.code, said.text()), (Some(2), ""), "{line}: {}", said.stderr);
        assert!(said.stderr.contains(words), "{line}: {}", said.stderr);
    }
    assert_eq!(shell.names(), before);
}

#[test]
fn options_without_an_effect_are_refused() {
    let shell = folder();
    are_refused(
        &shell,
        &[
            ("cat t.bcolz --dtype f4", "--dtype is for items that have no columns"),
            ("convert a.npy q.npy -c lz4", "a NumPy file does not take --codec (-c)"),
            ("convert data.b2frame q.raw -l 9", "a file of plain bytes does not take --level (-l)"),
            (
                "convert data.b2frame q.chunk -z 4K --no-checksums",
                "a single chunk does not take --chunk-size (-z), --no-checksums",
            ),
            ("convert a.b2nd q.npy --escape", "--escape is for tables"),
            ("convert a.b2nd q.b2frame --nested", "--nested is for tables"),
            ("convert t.csv q.bcolz --escape", "a bcolz table does not take --escape"),
            ("convert t.csv q.bcolz --reserve 5", "a bcolz table does not take --reserve"),
            ("convert t.bcolz q.blsk --nested", "--nested is for columns that come as text"),
            ("repack tc --reserve 5", "--reserve is for Bloscpack files of objects"),
            ("repack t.bcolz --reserve 5", "--reserve is for Bloscpack files of objects"),
            ("append t.bcolz t.csv --null", "--null is for lists of objects, and `t.bcolz`"),
            ("append tc t.csv --jsonl", "--jsonl is for lists of objects, and `tc`"),
            ("append data.b2frame list --lengths", "--lengths is for lists of objects"),
            ("append bytes.blp list --null", "--null is for lists of objects, and `bytes.blp`"),
            ("unpack data.b2frame --null", "--null is for lists of objects, and `data.b2frame`"),
            ("unpack data.b2frame --dtype <f8 -o q", "--dtype is for NumPy files"),
            ("pack a.npy --variable -o q.b2nd", "--variable is for frames of bytes"),
            ("pack list --varlen --variable -o q", "--variable is for frames of bytes"),
            ("pack data.f8 --variable -o q.blp", "--variable is for frames of bytes"),
            ("pack list --varlen --shape 3 -o q", "--shape is for arrays, --varlen for objects"),
            ("pack list --null -o q", "--null requires --varlen"),
        ],
    );
    // Where they have one they are taken.
    let said = shell.run("append list.blp list --jsonl");
    assert!(said.stderr.contains("line 1 is no JSON"), "{}", said.stderr);
    shell.run("unpack list.blp --null -o -").is("one\0two\0", "", 0);
}

#[test]
fn slices_are_refused_where_all_is_taken() {
    let shell = folder();
    are_refused(
        &shell,
        &[
            ("verify t.blsk::n@1:3", "`verify` takes all of `t.blsk`, not the slice `@1:3`"),
            ("verify data.b2frame@5", "`verify` takes all of `data.b2frame`"),
            ("info t.bcolz@1", "`info` takes all of `t.bcolz`, not the slice `@1`"),
            ("info --json a.b2nd@1", "`info` takes all of `a.b2nd`"),
            ("attr ls t.bcolz@1", "`attr ls` takes all of `t.bcolz`"),
            ("attr get data.b2frame@1 unit", "`attr get` takes all of `data.b2frame`"),
            ("inspect data.b2frame@1", "`inspect` takes all of `data.b2frame`"),
            ("bench data.f8@:10", "`bench` takes all of `data.f8`"),
            ("tune data.f8@:10", "`tune` takes all of `data.f8`"),
            ("convert -@:3 o.npy", "`-@:3` is a slice of stdin, and this command takes all of it"),
            ("info -@:3", "`-@:3` is a slice of stdin"),
        ],
    );
    // A column is no slice.
    shell.run("verify t.blsk::n -q").succeeds();
    shell.run("info t.bcolz::n").succeeds();
}

#[test]
fn a_column_is_refused_where_the_whole_table_is_taken() {
    let shell = folder();
    let words = |command: &str| format!("error: `{command}` takes the whole table `t.bcolz`\n");
    for (line, command, part) in [
        ("append t.bcolz::i t.csv", "append", "::i"),
        ("append t.bcolz t.bcolz::n", "append", "::n"),
        ("ls t.bcolz::i", "ls", "::i"),
        ("salvage t.bcolz::i -o q.bcolz", "salvage", "::i"),
        ("recover t.bcolz::i@1", "recover", "::i@1"),
        ("attr set t.bcolz::i k 1", "attr set", "::i"),
        ("attr rm t.bcolz::i k", "attr rm", "::i"),
    ] {
        let said = shell.run(line);
        said.fails(2, &(words(command) + &format!("  help: leave out `{part}`\n")));
    }
    let said = shell.run("append data.b2frame@3 list");
    said.fails(2, "error: `append` takes the whole file `data.b2frame`\n  help: leave out `@3`\n");
}
