//! Between two pipes: the filter, `tar -I`, readers that have seen enough, terminals.

use std::io::Read;

use crate::shell::{Shell, readings};

#[test]
fn without_a_command_it_is_a_filter() {
    let shell = Shell::new();
    let data = readings(200_000);
    let packed = shell.pipe("-t 8 -c lz4 -1", &data).succeeds();
    assert!(packed.stdout.len() < data.len());
    assert_eq!(packed.stderr, "");
    let back = shell.pipe("-d", &packed.stdout).succeeds();
    assert!(back.stdout == data);
    assert!(shell.names().is_empty());
    let wrong = shell.pipe("-d", b"not packed");
    assert_eq!((wrong.code, wrong.stdout.len()), (Some(4), 0));
    let cut = shell.pipe("-d", &packed.stdout[..1000]);
    assert_eq!((cut.code, cut.stdout.len()), (Some(3), 0));
}

#[test]
#[cfg(unix)]
fn tar_takes_it_as_its_compressor() {
    let shell = Shell::with_frame();
    let made =
        shell.sh("tar -I superchunk -cf all.tar.b2 data.f8 && tar -I superchunk -tf all.tar.b2");
    made.is("data.f8\n", "", 0);
    shell
        .sh("mkdir out && tar -I superchunk -xf all.tar.b2 -C out && cmp data.f8 out/data.f8")
        .is("", "", 0);
}

#[test]
#[cfg(unix)]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let shell = Shell::new();
    shell.write("data", &readings(2_000_000));
    shell.run("pack data -t 8 -c lz4").succeeds();
    for line in [
        "unpack data.b2frame -o -",
        "cat data.b2frame",
        "cat data.b2frame --format csv",
        "pack data -l 0 -o -",
    ] {
        let mut child = shell.start(line);
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0; 10]).unwrap();
        drop(out);
        let output = child.wait_with_output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), words.as_str()), (Some(0), ""), "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn bytes_do_not_go_to_a_terminal() {
    let shell = Shell::with_frame();
    // `script` gives the command a terminal.
    for line in ["superchunk unpack data.b2frame -o -", "superchunk cat data.b2frame --format raw"]
    {
        let said = shell.sh(&format!("script -qec '{line}' /dev/null < /dev/null"));
        assert_eq!(said.code, Some(2), "{line}: {}", said.text());
        assert!(
            said.text().contains("these are bytes, and stdout is a terminal"),
            "{}",
            said.text()
        );
    }
}

#[test]
fn a_name_with_the_marks_of_the_grammar_is_a_name() {
    let shell = Shell::new();
    shell.write("me@1:2", &readings(10));
    shell.run("pack me@1:2 -t 8").succeeds();
    let said = shell.run("unpack me@1:2.b2frame@3 --raw -o -").succeeds();
    assert_eq!(said.stdout, &readings(10)[24..32]);
}
