//! The real python-blosc2 reads what we write, and we read what it writes.

use std::process::Command;

use superchunk::SuperChunk;
use superchunk_testkit::frame_peer::{FrameParams, FramePeer};
use superchunk_testkit::peers::PeerKind;

use crate::shell::{Shell, npy, python, readings};

#[test]
fn the_peer_opens_what_was_packed() {
    for kind in [PeerKind::Blosc2, PeerKind::Blosc2Old] {
        let shell = Shell::with_frame();
        shell.run("convert data.b2frame sparse --to sparse").succeeds();
        let mut peer = FramePeer::spawn(kind);
        for name in ["data.b2frame", "sparse"] {
            let frame = peer.open(&shell.path(name)).unwrap();
            assert_eq!(peer.read_chunks(frame).unwrap().concat(), readings(100_000), "{name}");
            assert_eq!(peer.vlmeta_raw(frame, "unit").unwrap(), b"\xa1K", "{name}");
        }
    }
}

#[test]
fn what_a_peer_has_packed_is_unpacked() {
    for (kind, contiguous) in
        [(PeerKind::Blosc2, true), (PeerKind::Blosc2, false), (PeerKind::Blosc2Old, true)]
    {
        let shell = Shell::new();
        let mut params = FrameParams::new(8, 64_000).at(shell.path("theirs"));
        params.contiguous = contiguous;
        params.codec = 5;
        let mut peer = FramePeer::spawn(kind);
        let frame = peer.create(&params).unwrap();
        let data = readings(20_000);
        data.chunks(64_000).for_each(|piece| peer.append_data(frame, piece).unwrap());
        peer.close(frame).unwrap();
        let said = shell.run("unpack theirs --raw -o -").succeeds();
        assert!(said.stdout == data, "{kind:?}, contiguous: {contiguous}");
        let info = shell.run("info --json theirs").succeeds().json();
        assert_eq!(info.get("codec").unwrap().as_str(), Some("zstd"));
        // And it can go on with what we appended.
        shell.pipe("append theirs -", &data).succeeds();
        let frame = peer.open(&shell.path("theirs")).unwrap();
        assert_eq!(peer.read_chunks(frame).unwrap().concat(), [data.clone(), data].concat());
    }
}

#[test]
fn arrays_are_equal_in_numpy() {
    let shell = Shell::new();
    shell.write("a.npy", &npy(&[40, 5, 60]));
    shell.run("pack a.npy").succeeds();
    let script = "import blosc2, numpy\n\
                  ours, expected = blosc2.open('a.b2nd'), numpy.load('a.npy')\n\
                  assert ours.shape == expected.shape and ours.dtype == expected.dtype\n\
                  assert (ours[:] == expected).all()\n\
                  theirs = expected.astype('>f8').transpose(2, 0, 1)\n\
                  numpy.save('b.npy', numpy.ascontiguousarray(theirs))\n\
                  numpy.save('fortran.npy', numpy.asfortranarray(theirs))\n\
                  blosc2.asarray(theirs, urlpath='b.b2nd', chunks=(32, 32, 3), blocks=(16, 8, 2))\n";
    let mut command = Command::new(python());
    let output = command.args(["-c", script]).current_dir(shell.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = shell.read("b.npy");
    assert!(shell.run("unpack b.b2nd -o -").succeeds().stdout == expected);
    assert!(shell.run("unpack b.b2nd --raw -o -").succeeds().stdout == expected[128..]);
    shell.run("pack fortran.npy").succeeds();
    for name in ["fortran.npy", "fortran.b2nd", "b.b2nd"] {
        assert_eq!(shell.run(&format!("diff {name} b.npy")).code, Some(0), "{name}");
    }
}

/// Why the filter delta comes with a warning. If this fails with a newer python-blosc2, the bug is
/// gone.
#[test]
fn the_peer_misreads_items_after_the_filter_delta() {
    let shell = Shell::new();
    shell.write("a.npy", &npy(&[400, 400]));
    shell
        .run("pack a.npy -o a.b2nd --filters delta,shuffle --chunks 200,200 --blocks 20,20")
        .succeeds();
    let script = "import blosc2, numpy\n\
                  theirs, expected = blosc2.open('a.b2nd'), numpy.load('a.npy')\n\
                  assert (theirs[:] == expected).all()\n\
                  assert theirs[330, 330] != expected[330, 330]\n";
    let mut command = Command::new(python());
    let output = command.args(["-c", script]).current_dir(shell.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    shell.run("cat a.b2nd@330,330 --format csv").is("132330\n", "", 0);
}

#[test]
fn chunks_of_a_peer_move_as_they_are() {
    let shell = Shell::new();
    let script = "import blosc2, numpy\n\
                  data = numpy.arange(100_000) % 977 * 0.25\n\
                  def frame(path, chunk, **options):\n\
                  \x20   return blosc2.SChunk(urlpath=path, chunksize=chunk, contiguous=True, **options)\n\
                  for name, codec in ('zstd', blosc2.Codec.ZSTD), ('lz4', blosc2.Codec.LZ4):\n\
                  \x20   params = dict(typesize=8, codec=codec, filters=[blosc2.Filter.BITSHUFFLE])\n\
                  \x20   frame(name + '.b2frame', 1 << 18, data=data, cparams=params)\n\
                  \x20   blosc2.asarray(data, urlpath=name + '.b2nd', chunks=(9000,), cparams=params)\n\
                  bomb = frame('bomb.b2frame', 1 << 30, cparams=dict(typesize=8))\n\
                  bomb.fill_special(1 << 37, blosc2.SpecialValue.ZERO)\n";
    let mut command = Command::new(python());
    let output = command.args(["-c", script]).current_dir(shell.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let chunks_of = |name: &str| {
        let frame = SuperChunk::open(shell.path(name)).unwrap();
        (0..frame.chunk_count()).map(|n| frame.compressed_chunk(n).unwrap()).collect::<Vec<_>>()
    };
    for name in ["zstd.b2frame", "lz4.b2frame", "zstd.b2nd", "lz4.b2nd"] {
        let theirs = chunks_of(name);
        assert!(theirs.len() > 3 && theirs[0].len() < 1 << 17, "{name}");
        for line in
            [format!("convert {name} copy.b2frame"), format!("repack {name} -o copy.b2frame")]
        {
            shell.run(&line).succeeds();
            assert!(chunks_of("copy.b2frame") == theirs, "{line}");
            std::fs::remove_file(shell.path("copy.b2frame")).unwrap();
        }
    }
    // A terabyte of zeros.
    shell.run("repack bomb.b2frame -o copy.b2frame").succeeds();
    assert!(shell.read("copy.b2frame").len() < 1000);
    assert_eq!(shell.run("repack bomb.b2frame -c lz4").code, Some(6));
}
