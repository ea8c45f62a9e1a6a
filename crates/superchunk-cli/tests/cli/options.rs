//! Options that cannot be: messages name what was typed.

use crate::shell::{Shell, npy};

fn folder() -> Shell {
    let shell = Shell::with_frame();
    shell.write("a.npy", &npy(&[40]));
    shell.write("t.csv", b"c,note\n1,x\n2,y\n");
    shell.run("pack a.npy").succeeds();
    shell.run("convert t.csv t.bcolz").succeeds();
    shell
}

#[test]
fn an_array_takes_the_codec_of_arrays() {
    let shell = Shell::new();
    let items: Vec<u8> =
        (0..64 * 64u32).flat_map(|i| [b'a' + (i / 500).to_le_bytes()[0]]).collect();
    shell.write("a.u1", &items);
    shell.run("pack a.u1 --dtype |u1 --shape 64,64 -c ndlz:4 --filters none -o a.b2nd").succeeds();
    let info = shell.run("info --json a.b2nd").succeeds().json();
    assert_eq!(info.get("codec").unwrap().to_json(), "\"ndlz:4\"");
    shell.run("unpack a.b2nd --raw -o b.u1").succeeds();
    assert!(shell.read("b.u1") == items);
}

#[test]
fn what_compresses_is_refused_by_the_option() {
    let shell = folder();
    let before = shell.names();
    let cases = [
        (
            "pack data.f8 -t 8 -b 2G -o x.b2frame",
            "--block-size (-b) is at most 536866816, got 2147483648",
        ),
        ("repack data.b2frame -b 2G", "--block-size (-b) is at most"),
        (
            "pack data.f8 -t 8 --filters trunc:99 -o x",
            "--filters trunc:99: items of 8 bytes have 52 bits",
        ),
        ("pack data.f8 -t 8 --filters trunc:-52 -o x", "--filters trunc:-52: items of 8 bytes"),
        ("pack data.f8 --filters trunc:9 -o x", "--filters trunc:9 needs items of 4 or 8 bytes"),
        ("pack data.f8 -t 2 --filters inttrunc:17 -o x", "--filters inttrunc:17: items of 2 bytes"),
        ("pack data.f8 -t 8 --filters ndcell:4 -o x", "--filters ndcell:4: data without axes"),
        ("repack data.b2frame --filters ndmean:4", "--filters ndmean:4: data without axes"),
        ("pack t.csv --varlen --filters ndcell:4 -o x", "--filters ndcell:4: data without axes"),
        (
            "pack data.f8 --filters delta,delta,delta,delta,delta,delta,delta",
            "'--filters <LIST>': a chunk has room for 6 filters, 7 are given",
        ),
        ("pack data.f8 --filters delta -o x.blp", "--filters delta: a Bloscpack file takes"),
        ("convert t.bcolz x.bcolz --filters delta", "--filters delta: a bcolz table takes"),
        (
            "convert t.bcolz x.blsk --filters shuffle,bitshuffle",
            "--filters shuffle+bitshuffle: a blsk tree",
        ),
        ("pack data.f8 -c ndlz:4 -o x", "--codec (-c) ndlz:4: data without axes takes no codec"),
        ("pack data.f8 -c ndlz:4 -o x.blp", "--codec (-c) ndlz:4: a Bloscpack file takes no codec"),
        ("pack data.f8 -c gzip", "'--codec <NAME>': expected a codec: blosclz, lz4, lz4hc, zlib,"),
        ("pack data.f8 --filters shuffel", "'--filters <LIST>': expected a filter: shuffle[:N],"),
        ("pack data.f8 --split often", "expected one of auto, always, never, got `often`"),
        ("pack data.f8 --checksum xxh3 -o x.blp", "sha384, sha512, got `xxh3`"),
        ("pack data.f8 --dict -o x.blp", "a Bloscpack file does not take --dict"),
        ("pack data.f8 --dict -c zlib -o x", "--dict needs zstd, lz4 or lz4hc, the codec is zlib"),
        (
            "convert a.b2nd x.b2nd --chunks 1,2",
            "--chunks 1,2 needs a length for each axis: expected 1, got 2",
        ),
        ("pack a.npy -o x.b2nd --blocks 1,2", "--blocks 1,2 needs a length for each axis"),
        ("convert t.bcolz::c x.b2nd --chunks 1,2", "--chunks 1,2 needs a length for each axis"),
    ];
    for (line, words) in cases {
        let said = shell.run(line);
        assert_eq!((said.code, said.text()), (Some(2), ""), "{line}: {}", said.stderr);
        assert!(said.stderr.contains(words), "{line}: {}", said.stderr);
        for inner in ["TruncPrec", "Blosc1", "BlockShape", "blockshape"] {
            assert!(!said.stderr.contains(inner), "{line}: {}", said.stderr);
        }
    }
    assert_eq!(shell.names(), before);
    // The largest values that are taken.
    for filters in ["trunc:52", "trunc:-51", "trunc:1", "inttrunc:64", "inttrunc:-63"] {
        shell.run(&format!("pack data.f8 -t 8 -f --filters {filters} -o y")).succeeds();
        shell.run("verify -q y").succeeds();
    }
}

#[test]
fn tables_refuse_options_that_they_have_no_use_for() {
    let shell = folder();
    let before = shell.names();
    for (made, options) in [
        (
            "x.bcolz",
            "-b=8K --chunks=1 --blocks=1 --sparse --dict --split=never --packing=lengths \
             --checksum=md5 --no-offsets --no-checksums",
        ),
        ("x.blsk", "-b=8K --chunks=1 --sparse --dict --split=never --checksum=md5 --no-checksums"),
        ("x.csv", "-z=1K -b=8K --codec=lz4 --level=3 --filters=shuffle --sparse --dict --chunks=1"),
        ("x.npy", "-z=1K --codec=lz4 -9 --filters=none --sparse --no-checksums --packing=msgpack"),
        ("x --to columns", "-z=1K -b=8K --sparse --chunks=1 --blocks=1 --checksum=crc32"),
    ] {
        for option in options.split_whitespace() {
            let line = format!("convert t.bcolz {made} {option}");
            let said = shell.run(&line);
            assert_eq!(said.code, Some(2), "{line}: {}", said.stderr);
            let name = if option == "-9" { "--level" } else { option.split('=').next().unwrap() };
            assert!(said.stderr.contains(" does not take "), "{line}: {}", said.stderr);
            assert!(said.stderr.contains(name), "{line}: {}", said.stderr);
        }
    }
    assert_eq!(shell.names(), before);
}

#[test]
fn tables_use_the_options_that_they_take() {
    let shell = folder();
    let csv: String = (0..4000).map(|row| format!("{row},{}\n", row % 7)).collect();
    shell.write("long.csv", format!("a,b\n{csv}").as_bytes());
    for name in ["long.bcolz", "long.blsk"] {
        shell.run(&format!("convert long.csv {name} -z 8K -c zlib -l 1")).succeeds();
        let info = shell.run(&format!("info --json {name}")).succeeds().json();
        let columns = info.get("columns").unwrap().as_slice().unwrap();
        let rows: Vec<_> =
            columns.iter().map(|column| column.get("chunk_rows").unwrap().as_u64()).collect();
        // 8 KiB of items of 8 bytes.
        assert_eq!(rows, [Some(1024); 2], "{name}");
        shell.run(&format!("convert {name} back.csv -f")).succeeds();
        assert_eq!(shell.read("back.csv"), shell.read("long.csv"), "{name}");
    }
    shell
        .run("convert long.bcolz::a a.sparse --to b2nd --sparse --chunks 500 --blocks 50")
        .succeeds();
    let info = shell.run("info --json a.sparse").succeeds().json();
    assert_eq!(info.get("storage").unwrap().as_str(), Some("sparse"));
    assert_eq!(info.get("chunks").unwrap().to_json(), "[500]");
    assert_eq!(info.get("blocks").unwrap().to_json(), "[50]");
    shell.run("convert long.bcolz cols --to columns --no-checksums --dict").succeeds();
    let info = shell.run("info --json cols/a.b2nd").succeeds().json();
    assert_eq!(info.get("checksums").unwrap().as_str(), Some("unverified"));
    assert_eq!(info.get("dictionary").unwrap().to_json(), "true");
}

#[test]
fn conditions_and_measures_are_usage_errors_with_a_hint() {
    let shell = folder();
    let cases = [
        ("cat t.bcolz --where", "c > > 1", "--where 'c > > 1', character 5: a value was expected"),
        ("cat t.bcolz --where", "é > 1", "--where 'é > 1', character 1: there is no column `é`"),
        ("cat t.bcolz --where", "c > 0 or é > 1", "--where 'c > 0 or é > 1', character 10: "),
        ("cat t.bcolz --agg count --where", "é > 1", "character 1: there is no column"),
        ("cat t.bcolz --where", "NOT c > 0", "character 1: for `NOT`, write not"),
        ("cat t.bcolz --agg count --where", "c >", "--where 'c >', character 4: "),
        (
            "cat t.bcolz --agg",
            "sum(zz)",
            "there is no column `zz`\n  help: the columns are c, note",
        ),
        ("cat t.bcolz --by", "zz", "there is no column `zz`\n  help: the columns are c, note"),
        ("cat t.bcolz --agg", "sum(note)", "--agg 'sum(note)' needs a column of numbers"),
        ("verify", "t.bcolz::zz", "has no column called `zz`\n  help: it has c, note"),
    ];
    for (line, last, words) in cases {
        let said = shell.run_with(line, last);
        assert_eq!((said.code, said.text()), (Some(2), ""), "{line} {last}: {}", said.stderr);
        assert!(said.stderr.contains(words), "{line} {last}: {}", said.stderr);
        assert!(!said.stderr.contains("byte"), "{line} {last}: {}", said.stderr);
    }
    shell.run("verify -q t.bcolz::c").succeeds();
    shell.run("cat t.bcolz --agg max(c) --by note --format csv").succeeds();
}
