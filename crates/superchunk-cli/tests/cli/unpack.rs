//! `unpack`.

use crate::shell::{Shell, npy, readings};

#[test]
fn a_frame_becomes_the_file_it_was() {
    let shell = Shell::new();
    shell.write("data.f8", &readings(1000));
    shell.run("pack data.f8 -t 8").succeeds();
    shell.write("data.f8", b"");
    shell.run("unpack data.f8.b2frame -f").fails(0, "data.f8.b2frame -> data.f8: 8.00 kB\n");
    assert!(shell.read("data.f8") == readings(1000));
}

#[test]
fn slices_are_numpys() {
    let shell = Shell::with_frame();
    let data = readings(100_000);
    let item = |at: usize| &data[8 * at..8 * at + 8];
    let cases: [(&str, Vec<usize>); 6] = [
        ("5", vec![5]),
        ("-1", vec![99_999]),
        ("8190:8195", (8190..8195).collect()),
        ("-3:", (99_997..100_000).collect()),
        ("10:100:30", vec![10, 40, 70]),
        ("5:5", vec![]),
    ];
    for (slice, items) in cases {
        let said = shell.run(&format!("unpack data.b2frame@{slice} --raw -o -")).succeeds();
        let expected: Vec<u8> = items.iter().flat_map(|at| item(*at).to_vec()).collect();
        assert!(said.stdout == expected, "{slice}");
    }
}

#[test]
fn parts_of_arrays_come_in_c_order() {
    let shell = Shell::new();
    shell.write("cube.npy", &npy(&[4, 5, 6]));
    shell.run("pack cube.npy --chunks 3,2,4 --blocks 2,2,2").succeeds();
    for place in ["cube.b2nd", "cube.npy"] {
        let said = shell.run(&format!("unpack {place}@1:,::2,-1 --raw -o -")).succeeds();
        let wanted = (1..4).flat_map(|i| [0, 2, 4].map(|j| i * 30 + j * 6 + 5));
        let expected: Vec<u8> = wanted.flat_map(i32::to_le_bytes).collect();
        assert!(said.stdout == expected, "{place}");
        let file = shell.run(&format!("unpack {place}@::-1,0,0 -o -")).succeeds().stdout;
        assert_eq!(file[128..], [90, 60, 30, 0].map(i32::to_le_bytes).concat(), "{place}");
        assert!(String::from_utf8_lossy(&file[..128]).contains("'shape': (4,)"));
    }
}

#[test]
fn a_typed_frame_becomes_a_numpy_file_on_request() {
    let shell = Shell::new();
    shell.write("raw", &npy(&[10])[128..]);
    shell.run("pack raw --dtype <i4").succeeds();
    shell.run("unpack raw.b2frame --npy -o back.npy").succeeds();
    assert!(shell.read("back.npy") == npy(&[10]));
    let untyped = Shell::with_frame().run("unpack data.b2frame --npy -o x.npy");
    untyped.fails(
        2,
        "error: a NumPy file needs the type of its items\n  help: say it with --dtype, like --dtype \
         '<f4'\n",
    );
}

#[test]
fn damage_and_mistakes_have_their_exit_codes_and_leave_no_file() {
    let shell = Shell::with_frame();
    let mut frame = shell.read("data.b2frame");
    let len = frame.len();
    shell.write("cut.b2frame", &frame[..len / 2]);
    frame[len / 2] ^= 0x55;
    shell.write("bad.b2frame", &frame);
    let before = shell.names();
    let cut = shell.run("unpack cut.b2frame -o out");
    let words = format!(
        "error: the frame has {len} bytes, {} are here\n  --> cut.b2frame, frame frame_len, byte 16\n  \
         help: the end is missing: was a copy or a download interrupted?\n",
        len / 2
    );
    cut.fails(3, &words);
    let bad = shell.run("unpack bad.b2frame -o out");
    assert_eq!(bad.code, Some(3));
    assert!(bad.stderr.contains("--> bad.b2frame, chunk "), "{}", bad.stderr);
    for (line, code) in [
        ("unpack data.b2frame@100000 -o out", 2),
        ("unpack data.b2frame@1,2 -o out", 2),
        ("unpack data.b2frame::inner -o out", 4),
        ("unpack data.f8", 4),
        ("unpack data.b2frame@:5", 2),
        ("unpack missing.b2frame", 5),
        ("unpack data.b2frame --limit-mem 1K -o out", 6),
    ] {
        let said = shell.run(line);
        assert_eq!(said.code, Some(code), "{line}: {}", said.stderr);
    }
    assert_eq!(shell.names(), before);
}
