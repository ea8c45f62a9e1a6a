//! Bytes that are looked for by marks: any marks of any stream, and true ones of data.

use superchunk_kernels::deflate::{self, Search};
use superchunk_kernels::{Mark, Marker, Tracer, blosclz, inflate, lz4};

use crate::codecs::data;
use crate::input::Input;

/// Bytes that are looked for at a time.
const WANTED: usize = 8;

/// Whatever marks say of whatever stream of BloscLZ or LZ4, looking for bytes does no harm.
pub(crate) fn any_of_bytes(input: &mut Input<'_>) {
    let (kind, out, marks) = (input.byte(), input.pair(), any_marks(input));
    let (stream, mut tracer, mut dst) = (input.rest(), Tracer::default(), [0; WANTED]);
    let before = |out| before(&marks, out);
    let _ = match kind % 2 {
        0 => blosclz::fetch(&mut tracer, stream, before, out, &mut dst),
        _ => lz4::fetch(&mut tracer, stream, before, out, &mut dst),
    };
}

/// The same of Zlib, whose blocks are any, too.
pub(crate) fn any_of_bits(input: &mut Input<'_>) {
    let (out, blocks, marks) = (input.pair(), any_marks(input), any_marks(input));
    let (stream, mut tracer, mut dst) = (input.rest(), Tracer::default(), [0; WANTED]);
    let (mut decoder, before) = (inflate::Decoder::default(), |out| before(&marks, out));
    let _ = decoder.fetch(&mut tracer, stream, &blocks, before, out, &mut dst);
}

/// What is found by the marks of an encoder of BloscLZ or LZ4 is what was encoded; the stream is the one without marks.
pub(crate) fn true_of_bytes(input: &mut Input<'_>) {
    let (kind, level, mut marker) = (input.byte(), input.byte(), new_marker(input));
    let data = data(input);
    let encode = |marker: Option<&mut Marker>| {
        let mut stream = vec![0; 2 * data.len() + 64];
        let dst = stream.as_mut_slice();
        let written = match (kind % 3, marker) {
            (0, None) => blosclz::Encoder::new().compress(level % 10, &data, dst),
            (0, Some(marker)) => {
                blosclz::Encoder::new().compress_marked(level % 10, &data, dst, marker)
            }
            (1, None) => lz4::Encoder::new().compress(level.into(), &[], &data, dst),
            (1, Some(marker)) => {
                lz4::Encoder::new().compress_marked(level.into(), false, &data, dst, marker)
            }
            (_, None) => lz4::HcEncoder::new().compress(level % 14, &[], &data, dst),
            (_, Some(marker)) => {
                lz4::HcEncoder::new().compress_marked(level % 14, &data, dst, marker)
            }
        };
        stream.truncate(written.unwrap_or(0));
        stream
    };
    let stream = encode(Some(&mut marker));
    assert!(stream == encode(None), "marks change the stream");
    let mut tracer = Tracer::default();
    let before = |out| before(marker.marks(), out);
    assert_found(&data, |out, dst| match kind % 3 {
        0 => blosclz::fetch(&mut tracer, &stream, before, out, dst),
        _ => lz4::fetch(&mut tracer, &stream, before, out, dst),
    });
}

/// The same of Zlib: marks that are made with the stream, and those that are made of it.
pub(crate) fn true_of_bits(input: &mut Input<'_>) {
    let search = input.one_of(Search::Runs, &[Search::Quick, Search::Brisk, Search::Thorough]);
    let mut marker = new_marker(input);
    let data = data(input);
    let mut stream = vec![0; 2 * data.len() + 64];
    let mut encoder = deflate::Encoder::default();
    let written = encoder.compress_marked(search, &data, &mut stream, &mut marker);
    stream.truncate(written.unwrap_or(0));
    assert_found_in_zlib(&stream, &data, &marker);

    marker.begin_again();
    if inflate::Decoder::default().mark(&stream, &mut marker).is_some() {
        assert_found_in_zlib(&stream, &data, &marker);
    }
}

fn assert_found_in_zlib(stream: &[u8], data: &[u8], marker: &Marker) {
    let (mut decoder, mut tracer) = (inflate::Decoder::default(), Tracer::default());
    let before = |out| match before(marker.marks(), out) {
        Mark { at: 0, .. } => marker.inner().first().copied().unwrap_or_default(),
        mark => mark,
    };
    assert_found(data, |out, dst| {
        decoder.fetch(&mut tracer, stream, marker.inner(), before, out, dst)
    });
}

/// Looks for bytes of all parts of the data.
fn assert_found(data: &[u8], mut fetch: impl FnMut(usize, &mut [u8]) -> Option<()>) {
    let mut dst = [0; WANTED];
    for (out, expected) in data.windows(WANTED).enumerate().step_by(1 + data.len() / 64) {
        let found = fetch(out, &mut dst).is_some();
        assert!(!found || dst == expected, "other bytes at {out} than were encoded");
    }
}

fn new_marker(input: &mut Input<'_>) -> Marker {
    let mut marker = Marker::default();
    marker.begin(input.byte().into());
    marker
}

fn any_marks(input: &mut Input<'_>) -> Vec<Mark> {
    let count = input.byte() % 16;
    (0..count).map(|_| Mark { at: input.pair(), out: input.pair() }).collect()
}

/// The last mark at or before a byte of the output, or else the begin.
fn before(marks: &[Mark], out: usize) -> Mark {
    marks.iter().rev().find(|mark| mark.out <= out).copied().unwrap_or_default()
}
