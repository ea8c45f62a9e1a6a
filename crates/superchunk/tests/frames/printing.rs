//! What `Debug` prints of things that hold megabytes: lengths, and no contents.

use std::fmt::Debug;

use superchunk::bloscpack::{Pack, PackOptions, PackStream};
use superchunk::blsk::Attribute;
use superchunk::frame::{Kind, Opener, Step};
use superchunk::store::{Bytes, Memory};
use superchunk::table::{self, MemoryTable};
use superchunk::{
    CompressOptions, DType, FrameOptions, NdArray, NdOptions, SuperChunk, Value, chunk,
};

const LEN: usize = 1 << 20;
/// More than any of the descriptions has.
const MAX_TEXT: usize = 1500;

fn noise() -> Vec<u8> {
    superchunk_testkit::rng::Rng::new(32).bytes(LEN)
}

fn check(subject: &dyn Debug) {
    let text = format!("{subject:?}");
    assert!(!text.is_empty() && text.len() <= MAX_TEXT, "{} bytes: {text:.300}", text.len());
}

#[test]
fn debug_prints_no_contents() {
    let bytes = noise();
    let options = FrameOptions::new(CompressOptions::new(1)).with_chunk_size(LEN);
    let mut frame = SuperChunk::in_memory(&options).unwrap();
    frame.append(&bytes).unwrap();
    check(&frame);
    check(&frame.reader());
    check(&frame.appender());
    check(&options.clone().with_metalayer("all", bytes.clone()));

    let stored = frame.to_bytes().unwrap();
    let mut opener = Opener::new(Kind::Contiguous, stored.len() as u64);
    while let Step::Need(range) = opener.step().unwrap() {
        let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
        opener.supply(stored[range].to_vec());
        check(&opener);
    }
    check(&opener.step().unwrap());
    check(&Bytes::new(stored));
    check(&Memory::from(bytes.clone()));

    let mut encoder = chunk::Encoder::new(&CompressOptions::new(1)).unwrap();
    let mut packed = Vec::new();
    encoder.compress_into(&bytes, &mut packed).unwrap();
    let mut decoder = chunk::Decoder::new();
    decoder.decompress(&packed).unwrap();
    check(&encoder);
    check(&decoder);
    check(&chunk::LazyChunk::new(&packed, 0, 0).unwrap());

    let dtype = DType::of::<u8>();
    let array = NdArray::from_items(&bytes, &[LEN as u64], &NdOptions::default()).unwrap();
    check(&array);
    check(&array.chunks().next().unwrap().unwrap());
    check(&Value::Bin(bytes.clone()));
    check(&Value::Ext(1, bytes.clone()));
    check(&Attribute::Items { dtype, shape: vec![LEN], bytes: bytes.clone() });

    let table = MemoryTable::new().with_values("byte", &bytes).unwrap();
    check(&table);
    let scan = table::scan(&table).with_condition("byte > 3").unwrap();
    check(&scan);
    let mut batches = scan.batches().unwrap();
    check(&batches.next().unwrap().unwrap());
    check(&batches);

    let mut stream = PackStream::new(Vec::new(), &PackOptions::new()).unwrap();
    stream.append(&bytes).unwrap();
    check(&stream);
    check(&Pack::from_bytes(stream.finish().unwrap()).unwrap());
}

#[test]
fn debug_prints_a_few_bytes() {
    let unit = FrameOptions::new(CompressOptions::new(1)).with_metalayer("unit", *b"metre");
    assert!(format!("{unit:?}").contains(r#"[("unit", b"metre")]"#));
    assert_eq!(format!("{:?}", Value::Bin(vec![0, 255])), r#"Bin(b"\x00\xff")"#);
}
