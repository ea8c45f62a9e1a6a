//! Small files that claim to be large; pipes and devices in the place of files.

use superchunk::{
    CompressOptions, DType, Fill, FrameOptions, NdArray, NdOptions, NdStorage, SuperChunk,
};

use crate::shell::{Shell, readings};

/// A frame and an array of a few hundred bytes that claim to hold four terabytes of zeros, and files
/// to append them to.
fn with_bombs() -> Shell {
    let shell = Shell::new();
    let options = FrameOptions::new(CompressOptions::new(8)).with_chunk_size(1 << 30);
    let mut frame = SuperChunk::create(shell.path("bomb.b2frame"), &options).unwrap();
    frame.append_fill(Fill::Zeros, 1 << 39).unwrap();
    frame.close().unwrap();
    let options = NdStorage::new(options).with_chunks(&[1 << 27]);
    let dtype = DType::parse("<f8").unwrap();
    let path = shell.path("bomb.b2nd");
    NdArray::create(path, &NdOptions::new(&[1 << 39], dtype.clone()).with_storage(options.clone()))
        .unwrap()
        .close()
        .unwrap();
    shell.write("data.f8", &readings(3000));
    for line in [
        "pack data.f8 -t 8 -z 8K -o data.b2frame",
        "pack data.f8 -t 8 -z 8K -o data.blp",
        "pack data.f8 --dtype <f8 -o data.b2nd",
    ] {
        shell.run(line).succeeds();
    }
    shell
}

#[test]
fn an_output_out_of_all_proportion_is_refused_and_the_option_is_named() {
    let shell = with_bombs();
    let before = shell.names();
    for line in [
        "unpack bomb.b2frame -o out",
        "unpack bomb.b2frame@0:200000000000 -o out",
        "unpack bomb.b2nd -o out",
        "convert bomb.b2frame out.raw",
        "convert bomb.b2frame out.blp",
        "convert bomb.b2frame out.b2frame -c zstd",
        "convert bomb.b2frame out.b2frame -z 1M",
        "convert bomb.b2frame out --to sparse -9",
        "convert bomb.b2nd out.b2nd -c zstd",
        "convert bomb.b2nd out.b2nd --chunks 1000",
        "convert bomb.b2nd out.npy",
        "convert bomb.b2nd out.bcolz",
        "convert bomb.b2nd out.csv",
        "repack bomb.b2frame -c zstd",
        "repack bomb.b2frame -c zstd -o out",
        "repack bomb.b2nd -c zstd",
        "append data.b2frame bomb.b2frame",
        "append data.b2nd bomb.b2nd",
        "append data.blp bomb.b2frame",
        "cat bomb.b2frame",
        "cat bomb.b2frame --format raw",
        "cat bomb.b2frame@0:200000000000",
        "cat bomb.b2nd",
        "head -n 200000000000 bomb.b2frame",
        "diff bomb.b2frame bomb.b2frame",
        "tune bomb.b2frame --sample 1M --apply out",
    ] {
        let said = shell.run(line);
        assert_eq!(said.code, Some(6), "{line}: {}", said.stderr);
        assert!(said.stderr.contains("--limit-output"), "{line}: {}", said.stderr);
        assert_eq!(shell.names(), before, "{line}");
    }
    // A part of it is as large as it says, and chunks move as they are.
    shell.run("unpack bomb.b2frame@0:1000 -o part").succeeds();
    assert_eq!(shell.read("part"), [0; 8000]);
    shell.run("cat bomb.b2frame@-3:").is("       0: 0 0 0\n", "", 0);
    shell.run("head -n 1 bomb.b2frame").is("       0: 0\n", "", 0);
    shell.run("head -n 1 bomb.b2nd").succeeds();
    shell.run("bench bomb.b2frame --limit 1M --rounds 1").succeeds();
    for line in [
        "convert bomb.b2frame copy --to frame",
        "convert bomb.b2nd copy --to b2nd",
        "convert bomb.b2frame copy --to sparse",
        "repack bomb.b2frame -o copy",
        "repack bomb.b2frame",
        "repack bomb.b2nd -o copy",
        "append bomb.b2frame bomb.b2frame",
    ] {
        shell.sh(&format!("rm -rf copy; superchunk {line}")).succeeds();
        let stored = shell.sh("du -s copy bomb.b2frame | cut -f 1 | sort -n | tail -1").succeeds();
        assert!(stored.text().trim().parse::<u64>().unwrap() < 100, "{line}: {}", stored.text());
    }
}

/// Commands that decode more than a thousand bytes.
const MORE_THAN_1000: [&str; 28] = [
    "unpack data.b2frame -o out",
    "unpack data.chunk --raw -o out",
    "unpack data.blp -o out",
    "unpack names.b2frame -o out",
    "unpack names.blp@:25 -o out",
    "convert names.blp out.b2frame",
    "convert names.b2frame out.blp",
    "convert names.b2frame out.b2frame -c zstd",
    "convert rows.bcolz out.csv",
    "convert rows.blsk out.bcolz",
    "convert columns out.blsk",
    "convert rows.csv out.blsk",
    "repack data.blp",
    "repack names.b2frame -c zstd",
    "repack names.blp -c zstd",
    "append names.b2frame names.blp",
    "append names.blp names.b2frame",
    "append data.blp data.b2frame",
    "append rows.bcolz rows.blsk",
    "cat data.chunk",
    "cat names.b2frame",
    "cat names.blp@:25",
    "head -n 25 names.blp",
    "cat rows.bcolz",
    "cat rows.blsk@:180",
    "head -n 180 rows.bcolz",
    "diff names.b2frame names.blp",
    "tune data.b2frame --sample 1M --apply out",
];

#[test]
fn a_limit_of_the_output_that_was_asked_for_counts_for_every_file() {
    let shell = Shell::with_frame();
    shell.write("names.txt", &b"a name of forty bytes, or of one byte more\n".repeat(30));
    shell.write("rows.csv", format!("number\n{}", "7\n".repeat(200)).as_bytes());
    for line in [
        "pack data.f8 -t 8 -z 64K -o data.blp",
        "pack names.txt --varlen -o names.b2frame",
        "pack names.txt --varlen -o names.blp",
        "convert rows.csv rows.bcolz",
        "convert rows.csv rows.blsk",
        "convert rows.csv columns --to columns",
        "convert data.b2frame data.chunk --to chunk",
    ] {
        shell.run(line).succeeds();
    }
    let before = shell.names();
    for line in MORE_THAN_1000 {
        let said = shell.run(&format!("{line} --limit-output 1000"));
        assert_eq!(said.code, Some(6), "{line}: {}", said.stderr);
        assert!(said.stderr.contains("--limit-output"), "{line}: {}", said.stderr);
        assert_eq!(shell.names(), before, "{line}");
    }
    for line in [
        "unpack data.b2frame@:125 -o out",
        "cat names.blp@:10",
        "head -n 10 names.b2frame",
        "cat rows.blsk@-100:",
        "head -n 100 rows.bcolz",
        "cat rows.bcolz --agg sum(number)",
        "convert data.b2frame copy.b2frame",
    ] {
        shell.run(&format!("{line} --limit-output 1000")).succeeds();
    }
    shell.run("unpack data.chunk -o out -f --limit-output 1M").succeeds();
    assert_eq!(shell.read("out"), shell.read("data.f8"));
}

#[test]
#[cfg(unix)]
fn salvage_keeps_to_the_memory_and_waits_for_no_pipe() {
    let shell = Shell::with_frame();
    let said = shell.run("salvage data.b2frame -o out --limit-mem 10K");
    assert_eq!(said.code, Some(6), "{}", said.stderr);
    assert!(shell.sh("mkfifo pipe").code == Some(0));
    for name in ["pipe", "/dev/zero"] {
        let said = shell.run(&format!("salvage {name} -o out"));
        assert_eq!(said.code, Some(2), "{name}: {}", said.stderr);
    }
    assert!(!shell.path("out").exists());
}

/// A frame of a million chunks, whose index has 8 MB and is held a few times while it is read.
#[cfg(target_os = "linux")]
fn with_many_chunks() -> Shell {
    let shell = Shell::new();
    let options = FrameOptions::new(CompressOptions::new(1)).with_chunk_size(16);
    let mut frame = SuperChunk::create(shell.path("many.b2frame"), &options).unwrap();
    frame.append_fill(Fill::Zeros, 16 * 1_000_000).unwrap();
    frame.close().unwrap();
    shell
}

#[test]
#[cfg(target_os = "linux")]
fn a_list_of_a_million_chunks_takes_little_memory() {
    let shell = with_many_chunks();
    for line in ["info many.b2frame --chunks", "inspect many.b2frame index"] {
        for json in ["", " --json"] {
            let said = shell.sh(&format!(
                "(ulimit -v 204800; superchunk -T 1 {line}{json} | tail -c 200 | wc -c)"
            ));
            assert_eq!((said.text().trim(), said.stderr.as_str()), ("200", ""), "{line}{json}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_million_chunks_are_verified_and_salvaged_in_little_memory() {
    let shell = with_many_chunks();
    // The report of a salvage has an entry for each chunk.
    for (line, most) in
        [("verify many.b2frame", 204_800), ("salvage many.b2frame -fo out", 409_600)]
    {
        for json in ["", " --json"] {
            let said =
                shell.sh(&format!("(ulimit -v {most}; superchunk -T 1 {line}{json} > said)"));
            assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{line}{json}");
            let said = shell.read("said");
            let count = b"1000000";
            let is_counted = said.windows(count.len()).any(|found| found == count);
            let lists_last = said.ends_with(b"\"certainty\": \"verified\"}], \"holes\": []}\n");
            assert!(is_counted || lists_last, "{line}{json}");
        }
    }
    shell.run("verify out").succeeds();
    let said = shell.run("salvage many.b2frame -o none --limit-mem 32M");
    assert_eq!(said.code, Some(6), "{}", said.stderr);
}
