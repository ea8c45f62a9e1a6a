//! Three gigabytes pass through in little memory.

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
