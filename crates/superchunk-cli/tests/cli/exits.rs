//! What interrupts a command: Ctrl-C, a full disk, a lock, a limit; and what is left then.

use std::io::Write;
use std::process::Stdio;

use crate::shell::{Shell, readings};

/// Sends SIGINT, as Ctrl-C does.
fn interrupt(child: &std::process::Child) {
    let status =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

#[test]
#[cfg(unix)]
fn ctrl_c_leaves_the_old_file_and_nothing_else() {
    for line in [
        "pack - -o out -f",
        "pack - -o out -f --sparse",
        "pack -",
        "unpack -",
        "append old.b2frame -",
    ] {
        let shell = Shell::new();
        shell.write("old", &readings(1000));
        shell.run("pack old -t 8").succeeds();
        shell.write("out", b"precious");
        let before = (shell.names(), shell.read("old.b2frame"));
        let mut child = shell.start(line);
        let mut pipe = child.stdin.take().unwrap();
        // More than the pipe holds: the command has begun to work when this is through.
        pipe.write_all(&readings(1_000_000)).unwrap();
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{line}");
        assert_eq!(shell.names(), before.0, "{line}");
        assert_eq!(shell.read("out"), b"precious", "{line}");
        let back = shell.run("unpack old.b2frame -o -").succeeds().stdout;
        assert!(back == readings(1000), "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_io_error_and_leaves_nothing() {
    let shell = Shell::with_frame();
    let before = shell.names();
    for line in [
        "superchunk unpack data.b2frame -o - > /dev/full",
        "superchunk unpack data.b2frame -o /dev/full",
        "superchunk pack data.f8 -o - > /dev/full",
        "superchunk pack data.f8 -o /dev/full",
        "superchunk info data.b2frame > /dev/full",
        "superchunk cat data.b2frame > /dev/full",
        "superchunk < data.f8 > /dev/full",
        "superchunk -d < data.b2frame > /dev/full",
    ] {
        let said = shell.sh(line);
        assert_eq!(said.code, Some(5), "{line}: {}", said.stderr);
        assert!(said.stderr.contains("No space left on device"), "{line}: {}", said.stderr);
    }
    // Files of at most 64 KiB; the signal that comes with it is ignored.
    for line in [
        "superchunk pack data.f8 -l 0 -o out",
        "superchunk unpack data.b2frame -o out",
        "superchunk convert data.b2frame out.raw",
    ] {
        let said = shell.sh(&format!("trap '' XFSZ; ulimit -f 128; {line}"));
        assert_eq!(said.code, Some(5), "{line}: {}", said.stderr);
        assert!(said.stderr.contains("File too large"), "{line}: {}", said.stderr);
        // It tells of the file that was asked for, not of the one that is gone.
        assert!(
            said.stderr.contains("--> ./out") || said.stderr.contains("--> out"),
            "{}",
            said.stderr
        );
    }
    let said = shell.sh("trap '' XFSZ; ulimit -f 128; superchunk append data.b2frame data.f8");
    assert_eq!(said.code, Some(5), "{}", said.stderr);
    assert_eq!(shell.names(), before);
    assert_eq!(shell.run("diff data.b2frame data.f8").code, Some(0));
}

#[test]
fn a_limit_stops_before_the_memory_is_taken() {
    let shell = Shell::new();
    shell.write("zeros", &[0; 10 << 20]);
    shell.run("pack zeros -z 8M").succeeds();
    let said = shell.run("unpack zeros.b2frame --limit-mem 1M -o -");
    assert_eq!((said.code, said.stdout.len()), (Some(6), 0));
    assert!(said.stderr.contains("help: raise the limit with --limit-mem"), "{}", said.stderr);
    shell.run("unpack zeros.b2frame --limit-mem 64M -o -").succeeds();
}

#[test]
fn quiet_says_less_and_twice_says_nothing() {
    let shell = Shell::with_frame();
    shell.run("pack -q data.f8").is("", "", 0);
    assert!(shell.run("pack -q data.f8").stderr.starts_with("error: "));
    shell.run("pack -qq data.f8").is("", "", 7);
}

#[test]
fn colours_come_on_request() {
    let shell = Shell::new();
    let said = shell.run("--color always info missing");
    assert!(said.stderr.starts_with("\x1b[1;31merror:\x1b[0m "), "{}", said.stderr);
    let mut command = shell.command("info missing");
    let plain = command.env_remove("NO_COLOR").stdout(Stdio::piped()).output().unwrap();
    assert!(plain.stderr.starts_with(b"error: "));
}

#[test]
fn progress_comes_on_request_and_goes_away() {
    let shell = Shell::with_frame();
    let said = shell.run("pack data.f8 --progress always").succeeds();
    assert!(said.stderr.contains("\rpacking █"), "{}", said.stderr);
    assert!(said.stderr.contains("\r\x1b[K"), "{}", said.stderr);
}
