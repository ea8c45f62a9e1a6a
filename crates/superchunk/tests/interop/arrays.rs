//! Arrays shared with python-blosc2, both ways, with NumPy as the judge.

#![expect(
    clippy::indexing_slicing,
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test fails by panicking"
)]

use superchunk::frame::Kind;
use superchunk::{
    Codec, CompressOptions, DKind, DType, FillValue, FrameOptions, NdArray, NdOptions, NdStorage,
    Selection, npy,
};
use superchunk_testkit::nd_peer::{KeyPart, NdPeer, PeerArray, PeerShape};
use superchunk_testkit::peers::PeerKind;
use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;

const DTYPES: [&str; 22] = [
    "|b1",
    "|i1",
    "|u1",
    "<i2",
    ">i2",
    "<u4",
    "<i8",
    ">u8",
    "<f2",
    "<f4",
    ">f4",
    "<f8",
    "<c8",
    ">c16",
    "|S7",
    "<U5",
    "<M8[s]",
    "<m8[25us]",
    "|V5",
    "[('a', '<i4'), ('b', '<f8'), ('c', 'S3')]",
    "[('p', '<f4', (2, 3)), ('q', [('x', '?'), ('y', '>u2')])]",
    "{'names': ['a', 'b'], 'formats': ['i1', '<f8'], 'offsets': [0, 8], 'itemsize': 16, 'aligned': True}",
];

/// Bytes that are items of a type.
fn random_items(rng: &mut Rng, dtype: &DType, count: usize) -> Vec<u8> {
    let mut bytes = rng.bytes(count * dtype.item_size());
    for item in bytes.chunks_mut(dtype.item_size().max(1)) {
        tame(dtype, item);
    }
    bytes
}

/// Truths are 0 or 1, and letters are ASCII.
fn tame(dtype: &DType, item: &mut [u8]) {
    match dtype.kind() {
        DKind::Bool => item[0] &= 1,
        DKind::Unicode => {
            for letter in item.chunks_mut(4) {
                letter.copy_from_slice(&u32::from(b'a' + letter[0] % 26).to_le_bytes());
            }
        }
        DKind::Struct => {
            clear_padding(dtype, item);
            for field in dtype.fields() {
                let part = &mut item[field.offset()..field.offset() + field.byte_len()];
                part.chunks_mut(field.dtype().item_size())
                    .for_each(|item| tame(field.dtype(), item));
            }
        }
        _ => {}
    }
}

/// NumPy does not copy the padding of structures.
fn clear_padding(dtype: &DType, item: &mut [u8]) {
    let fields = dtype.fields();
    let of_a_field = |at: usize| {
        fields.iter().any(|field| (field.offset()..field.offset() + field.byte_len()).contains(&at))
    };
    let padding = (0..item.len()).filter(|at| !fields.is_empty() && !of_a_field(*at));
    padding.for_each(|at| item[at] = 0);
}

/// A case of the matrix: number 0 is 0-d, 1 is 16-d, all others have 1 to 5 dimensions.
fn random_shape(rng: &mut Rng, number: usize) -> (Vec<u64>, Vec<usize>, Vec<usize>) {
    let shape: Vec<u64> = match number {
        0 => vec![],
        1 => (0..16).map(|axis| if axis % 3 == 0 { 2 } else { 1 }).collect(),
        _ => {
            let rank = 1 + rng.index(5);
            (0..rank).map(|_| 1 + rng.below([200, 30, 12, 8, 5][rank - 1])).collect()
        }
    };
    let chunks: Vec<usize> = shape.iter().map(|side| 1 + rng.index(*side as usize)).collect();
    let blocks: Vec<usize> = chunks.iter().map(|side| 1 + rng.index(*side)).collect();
    (shape, chunks, blocks)
}

fn options(rng: &mut Rng, contiguous: bool, chunks: &[usize], blocks: &[usize]) -> NdStorage {
    let codec = [Codec::Lz4, Codec::BloscLz, Codec::Zlib, Codec::Zstd][rng.index(4)];
    let kind = if contiguous { Kind::Contiguous } else { Kind::Sparse };
    let frame = FrameOptions::new(CompressOptions::new(1).with_codec(codec)).with_kind(kind);
    let options = NdStorage::new(frame);
    match rng.index(4) {
        0 => options,
        _ => options.with_chunks(chunks).with_blocks(blocks),
    }
}

#[test]
fn our_arrays_are_equal_in_numpy() {
    let scratch = Scratch::new();
    for kind in [PeerKind::Blosc2, PeerKind::Blosc2Old] {
        let (mut peer, mut rng) = (NdPeer::spawn(kind), Rng::new(1));
        for (number, text) in DTYPES.iter().cycle().take(66).enumerate() {
            let dtype = DType::parse(text).unwrap();
            // The old one crashes on more than 8 dimensions, also on arrays of its own family.
            // It knows no structures with padding.
            let old = kind == PeerKind::Blosc2Old;
            if old && text.starts_with('{') {
                continue;
            }
            let first = if old { 2 } else { 0 };
            let (shape, chunks, blocks) = random_shape(&mut rng, number % 22 + first);
            let contiguous = number % 2 == 0;
            let options = options(&mut rng, contiguous, &chunks, &blocks);
            let path = scratch.path(&format!("{kind:?}{number}.b2nd"));
            let bytes = random_items(&mut rng, &dtype, shape.iter().product::<u64>() as usize);
            let mut array = NdArray::create(
                &path,
                &NdOptions::new(&shape, dtype.clone()).with_storage(options.clone()),
            )
            .unwrap();
            array.write_bytes(&Selection::all(&shape), &bytes).unwrap();
            array.close().unwrap();
            let found = peer
                .read(&path)
                .unwrap_or_else(|words| panic!("{kind:?} {text} {shape:?} {options:?}: {words}"));
            let expected = PeerArray { dtype: (*text).to_owned(), shape: shape.clone(), bytes };
            assert!(found == expected, "{kind:?}: {text} {shape:?} {:?}", found.dtype);
        }
    }
}

#[test]
fn the_peers_arrays_are_equal_here() {
    let scratch = Scratch::new();
    let (mut peer, mut rng) = (NdPeer::spawn(PeerKind::Blosc2), Rng::new(2));
    for (number, text) in DTYPES.iter().cycle().take(66).enumerate() {
        let dtype = DType::parse(text).unwrap();
        let (shape, chunks, blocks) = random_shape(&mut rng, number % 22);
        let given = rng.index(3) > 0;
        let made = PeerShape {
            dtype: text,
            shape: &shape,
            chunks: given.then_some(&chunks),
            blocks: given.then_some(&blocks),
            contiguous: number % 2 == 0,
        };
        let path = scratch.path(&format!("{number}.b2nd"));
        let bytes = random_items(&mut rng, &dtype, shape.iter().product::<u64>() as usize);
        peer.create(&path, made, &bytes).unwrap_or_else(|words| panic!("{made:?}: {words}"));
        let array = NdArray::open(&path).unwrap_or_else(|error| panic!("{made:?}: {error}"));
        assert_eq!(array.shape(), shape);
        // It makes structures of bytes without a meaning and of padding; other types stay as they are.
        assert_eq!(array.dtype().to_string(), peer.read(&path).unwrap().dtype);
        let plain = !text.starts_with("|V") && !text.starts_with('{');
        assert!(!plain || array.dtype().to_string() == *text, "{text}: {}", array.dtype());
        assert!(array.to_vec().unwrap() == bytes, "{made:?}");
    }
}

#[test]
fn constructors_of_either_side_mean_the_same() {
    let scratch = Scratch::new();
    let mut peer = NdPeer::spawn(PeerKind::Blosc2);
    let (shape, chunks, blocks) = ([7u64, 9], [4usize, 5], [2usize, 5]);
    let options = NdStorage::default().with_chunks(&chunks).with_blocks(&blocks);
    let dtype = DType::parse("<f8").unwrap();
    let value = 2.5f64.to_le_bytes();
    for (name, fill, item) in [
        ("zeros", FillValue::Zeros, [0; 8]),
        ("nans", FillValue::Nans, f64::NAN.to_le_bytes()),
        ("uninit", FillValue::Uninitialised, [0; 8]),
        ("full", FillValue::Value(value.to_vec()), value),
    ] {
        let path = scratch.path(&format!("{name}-ours.b2nd"));
        NdArray::create(
            &path,
            &NdOptions::new(&shape, dtype.clone()).with_fill(fill).with_storage(options.clone()),
        )
        .unwrap()
        .close()
        .unwrap();
        // What nobody has set may be anything in the peer.
        if name != "uninit" {
            let theirs = peer.read(&path).unwrap_or_else(|words| panic!("{name}: {words}"));
            assert_eq!(theirs.bytes, item.repeat(63), "{name}");
        }
        let path = scratch.path(&format!("{name}-theirs.b2nd"));
        let made = PeerShape {
            dtype: "<f8",
            shape: &shape,
            chunks: Some(&chunks),
            blocks: Some(&blocks),
            contiguous: true,
        };
        peer.fill(&path, made, name, &value).unwrap();
        assert_eq!(NdArray::open(&path).unwrap().to_vec().unwrap(), item.repeat(63), "{name}");
    }
}

#[test]
fn slices_are_those_of_numpy() {
    let scratch = Scratch::new();
    let (mut peer, mut rng) = (NdPeer::spawn(PeerKind::Blosc2), Rng::new(3));
    for number in 2..22 {
        let (shape, chunks, blocks) = random_shape(&mut rng, number);
        let dtype = DType::parse("<i4").unwrap();
        let bytes = rng.bytes(shape.iter().product::<u64>() as usize * 4);
        let path = scratch.path(&format!("{number}.b2nd"));
        let options = options(&mut rng, true, &chunks, &blocks);
        let mut array = NdArray::create(
            &path,
            &NdOptions::new(&shape, dtype.clone()).with_storage(options.clone()),
        )
        .unwrap();
        array.write_bytes(&Selection::all(&shape), &bytes).unwrap();
        array.commit().unwrap();
        let plain = PeerArray { dtype: "<i4".to_owned(), shape: shape.clone(), bytes };
        for _ in 0..20 {
            let (text, key) = random_key(&mut rng, &shape);
            let selection = Selection::parse(&text, &shape).unwrap();
            let (_, ours) = array.bytes(&selection).unwrap();
            let expected = peer.numpy_get(&plain, &key).unwrap();
            assert!(ours == expected, "{text} of {shape:?}");
            let theirs = peer.get(&path, &key).unwrap_or_else(|words| panic!("{text}: {words}"));
            assert!(theirs == expected, "{text} of {shape:?} in the peer");
        }
    }
}

/// A key as text and for the peer: indexes, slices, steps, negative numbers.
fn random_key(rng: &mut Rng, shape: &[u64]) -> (String, Vec<KeyPart>) {
    let mut texts = Vec::new();
    let mut key = Vec::new();
    for side in shape.iter().take(1 + rng.index(shape.len())) {
        let side = *side as i64;
        let mut number = |low: i64, high: i64| low + rng.below((high - low) as u64) as i64;
        if number(0, 4) == 0 {
            let index = number(-side, side);
            texts.push(index.to_string());
            key.push(KeyPart::Index(index));
            continue;
        }
        let mut maybe = |low: i64, high: i64| (number(0, 3) > 0).then(|| number(low, high));
        let (start, stop) = (maybe(-side - 2, side + 3), maybe(-side - 2, side + 3));
        let step = maybe(1, 4);
        let shown = |part: Option<i64>| part.map_or(String::new(), |part| part.to_string());
        texts.push(format!("{}:{}:{}", shown(start), shown(stop), shown(step)));
        key.push(KeyPart::Slice(start, stop, step));
    }
    (texts.join(", "), key)
}

#[test]
fn spellings_and_npy_files_are_those_of_numpy() {
    let scratch = Scratch::new();
    let (mut peer, mut rng) = (NdPeer::spawn(PeerKind::Blosc2), Rng::new(4));
    for text in DTYPES {
        let dtype = DType::parse(text).unwrap();
        assert_eq!(peer.spelling(text).unwrap(), dtype.to_string());
        for (shape, fortran) in [(vec![], false), (vec![5], false), (vec![3, 4, 2], true)] {
            let bytes = random_items(&mut rng, &dtype, shape.iter().product::<u64>() as usize);
            let plain = PeerArray { dtype: text.to_owned(), shape: shape.clone(), bytes };
            let path = scratch.path("x.npy");
            peer.npy_save(&path, &plain, fortran).unwrap();
            let file = std::fs::read(&path).unwrap();
            let header = npy::read_header(&file).unwrap();
            assert_eq!((&header.shape, header.fortran_order), (&shape, fortran));
            let mut array =
                NdArray::in_memory(&NdOptions::new(&header.shape, header.dtype.clone())).unwrap();
            array.fill_from_npy(&file).unwrap();
            let mut bytes = array.to_vec().unwrap();
            bytes.chunks_mut(dtype.item_size()).for_each(|item| clear_padding(&dtype, item));
            assert!(bytes == plain.bytes, "{text} {shape:?}");
            std::fs::write(&path, array.to_npy().unwrap()).unwrap();
            let back = peer.npy_load(&path).unwrap();
            let mut bytes = back.bytes;
            bytes.chunks_mut(dtype.item_size()).for_each(|item| clear_padding(&dtype, item));
            assert_eq!((&back.shape, &bytes), (&plain.shape, &plain.bytes), "{text}");
        }
    }
    let dates = DType::parse("<M8[s]").unwrap();
    let counts: Vec<u8> =
        (0..50).flat_map(|_| (rng.below(1 << 38) as i64 - (1 << 37)).to_le_bytes()).collect();
    let theirs = peer.items_as_text("<M8[s]", &counts).unwrap();
    let ours: Vec<String> = counts.chunks(8).map(|item| dates.format_item(item)).collect();
    assert_eq!(ours, theirs);
}
