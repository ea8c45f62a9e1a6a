//! Three gigabytes pass through in little memory; the longest chunks pass through at all.

use crate::shell::Shell;

#[test]
#[cfg(target_os = "linux")]
fn three_gigabytes_go_in_and_come_out_in_200_megabytes() {
    let shell = Shell::new();
    let total = 3u64 << 30;
    // `yes` gives 64 bytes again and again, without an end.
    let line = "0123456789 the same line of text again and again, it is 64 long";
    let stream = format!("yes '{line}' | head -c {total}");
    let limited = |command: &str| format!("(ulimit -v 204800; {command})");
    let pack = limited("superchunk pack - -T 1 -c lz4 -o big.b2frame");
    let said = shell.sh(&format!("{stream} | {pack}"));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let info = shell.run("info --json big.b2frame").succeeds().json();
    assert_eq!(info.get("nbytes").unwrap().as_u64(), Some(total));
    let unpack = limited("superchunk unpack big.b2frame -T 1 -o -");
    let said = shell.sh(&format!("{unpack} | cksum"));
    assert_eq!(said.stderr, "");
    let expected = shell.sh(&format!("{stream} | cksum"));
    assert_eq!(said.text(), expected.text());
    // Through two pipes, nothing of it is kept but compressed chunks.
    let both = [limited("superchunk -T 1 -c lz4"), limited("superchunk -T 1 -d")].join(" | ");
    let said = shell.sh(&format!("yes '{line}' | head -c 300000000 | {both} | wc -c"));
    assert_eq!((said.text().trim(), said.stderr.as_str()), ("300000000", ""));
}

#[test]
#[cfg(all(unix, target_pointer_width = "64"))]
fn the_longest_chunks_are_repacked_and_salvaged() {
    let shell = Shell::new();
    let len = (1u64 << 31) - 64;
    let stream = format!("yes '1234567' | head -c {len}");
    // Without checksums, as C-Blosc2 writes it, a chunk must be decoded to be believed.
    let pack = format!("superchunk pack - -t 4 -z {len} -c lz4 -l 1 --no-checksums -q");
    let said = shell.sh(&format!("{stream} | {pack} -o long.b2frame"));
    assert_eq!((said.stderr.as_str(), said.code), ("", Some(0)));
    let info = shell.run("info --json long.b2frame").succeeds().json();
    assert_eq!(info.get("nchunks").unwrap().as_u64(), Some(1));
    shell.run("salvage long.b2frame -o saved.b2frame -q").is("", "", 0);
    shell.run("repack saved.b2frame -c blosclz -l 1 -q").is("", "", 0);
    let said = shell.sh(&format!("{stream} | cksum; superchunk unpack saved.b2frame -o - | cksum"));
    let sums: Vec<&str> = said.text().lines().collect();
    assert!(matches!(sums.as_slice(), [one, other] if one == other), "{sums:?} {}", said.stderr);
}
