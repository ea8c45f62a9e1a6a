//! What arrays do and refuse.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use superchunk::store::MemoryFolder;
use superchunk::{
    AxisIndexes, Codec, CompressOptions, DType, ErrorKind, Executor, FillValue, Filter,
    FrameOptions, NdArray, NdOptions, NdStorage, OpenOptions, Registry, Result, Selection,
    SuperChunk, UserCodec,
};

fn options(chunks: &[usize], blocks: &[usize]) -> NdStorage {
    NdStorage::default().with_chunks(chunks).with_blocks(blocks)
}

/// The numbers 0, 1, 2, … in any shape.
fn counted(shape: &[u64], options: &NdStorage) -> NdArray {
    let items: Vec<i32> = (0..).take(shape.iter().product::<u64>().try_into().unwrap()).collect();
    NdArray::from_items(&items, shape, options).unwrap()
}

fn all(array: &NdArray) -> Vec<i32> {
    array.read(&Selection::all(array.shape())).unwrap()
}

/// A codec that stores bytes as they are, and counts how often it is asked for them.
struct Counting(Arc<AtomicUsize>);

impl UserCodec for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn compress(&self, _meta: u8, src: &[u8], dst: &mut [u8]) -> Result<Option<usize>> {
        // Half of the bytes say it all: the test's blocks are twice the same.
        let half = src.len() / 2;
        dst[..half].copy_from_slice(&src[..half]);
        Ok(Some(half))
    }

    fn decompress(&self, _meta: u8, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let half = dst.len() / 2;
        dst[..half].copy_from_slice(src);
        dst[half..].copy_from_slice(src);
        Ok(())
    }
}

#[test]
fn a_slice_decodes_only_the_blocks_it_touches() {
    let count = Arc::new(AtomicUsize::new(0));
    let registry = Registry::new().with_codec(200, Counting(count.clone())).unwrap();
    let compress = CompressOptions::new(4)
        .with_codec(Codec::Registered { id: 200, meta: 0 })
        .with_filters([])
        .with_registry(registry);
    let options = NdStorage::new(FrameOptions::new(compress))
        .with_chunks(&[16, 16, 16])
        .with_blocks(&[8, 8, 8]);
    let mut array =
        NdArray::in_memory(&NdOptions::of::<u32>(&[32, 32, 32]).with_storage(options.clone()))
            .unwrap();
    array
        .fill_with(|at| u32::try_from(at[0] % 4 * 64 + at[1] % 8 * 8 + at[2] % 8).unwrap())
        .unwrap();
    let decoded = |text: &str| {
        count.store(0, Ordering::Relaxed);
        array.read::<u32>(&Selection::parse(text, array.shape()).unwrap()).unwrap();
        count.load(Ordering::Relaxed)
    };
    assert_eq!(decoded("3, 4, 5"), 1);
    assert_eq!(decoded("0:8, 8:16, 16:24"), 1);
    assert_eq!(decoded("7:9, 7:9, 7:9"), 8);
    assert_eq!(decoded("5, :, :"), 16);
    assert_eq!(decoded(":, :, 31"), 16);
    assert_eq!(decoded("::31, ::31, ::31"), 8);
    assert_eq!(decoded(":, :, :"), 64);
    count.store(0, Ordering::Relaxed);
    let mut points = [0; 12];
    array.read_points(&[1, 1, 1, 31, 0, 9, 2, 3, 4], &mut points).unwrap();
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

/// What a selection of a [`counted`] array of three axes holds.
fn selected(selection: &Selection, shape: [i64; 3]) -> Vec<i32> {
    let indexes = |axis: usize| {
        let axis = selection.axes()[axis];
        let start = i64::try_from(axis.start).unwrap();
        (0..i64::try_from(axis.count).unwrap()).map(move |n| start + n * axis.step)
    };
    let mut numbers = Vec::new();
    for (i, j) in indexes(0).flat_map(|i| indexes(1).map(move |j| (i, j))) {
        let row = (i * shape[1] + j) * shape[2];
        numbers.extend(indexes(2).map(|k| i32::try_from(row + k).unwrap()));
    }
    numbers
}

#[test]
fn boxes_too_large_for_the_caches_arrive_as_small_ones_do() {
    let ways = [
        (Codec::Lz4, Filter::Shuffle, 1),
        (Codec::Lz4, Filter::Shuffle, 2),
        (Codec::Lz4, Filter::BitShuffle, 1),
        (Codec::Zlib, Filter::Shuffle, 2),
    ];
    for (codec, filter, threads) in ways {
        let compress = CompressOptions::new(4).with_codec(codec).with_filters([filter]);
        let executor = if threads > 1 { Executor::threads(threads) } else { Executor::inline() };
        // Rows of blocks have 64 bytes, those at the far edges fewer; they begin anywhere in a cache line.
        let options = NdStorage::new(FrameOptions::new(compress.with_executor(executor)))
            .with_chunks(&[32, 40, 48])
            .with_blocks(&[8, 16, 16]);
        let array = counted(&[70, 90, 130], &options);
        for text in [":, :, :", "1:70, 3:90, 5:123", ":, ::-1, 2:", ":, :, ::2", "::2, :, :"] {
            let selection = Selection::parse(text, array.shape()).unwrap();
            let found: Vec<i32> = array.read(&selection).unwrap();
            let wanted = selected(&selection, [70, 90, 130]);
            assert!(found == wanted, "{text}: {codec:?}, {filter:?}, {threads} threads");
        }
    }
}

#[test]
fn thin_boxes_are_put_together_from_stretches_of_blocks() {
    let array = counted(&[64, 64, 64], &options(&[32, 32, 32], &[32, 32, 32]));
    for text in
        ["::3, 40, :", "5:60, 7, 3:50", "5:60, 7:9, 20:31", ":, 31:33, 8:40:2", "9, 3:60:5, :"]
    {
        let selection = Selection::parse(text, array.shape()).unwrap();
        assert_eq!(array.read::<i32>(&selection).unwrap(), selected(&selection, [64; 3]), "{text}");
    }
}

#[test]
fn points_that_threads_share_are_those_that_one_reads() {
    // Some of all blocks, in no order, the first 100 of them twice, and one block that has more than its share.
    let scattered =
        (0..1100u64).map(|n| [n % 100 * 37 + n / 100 * 4391, n * 7, n * n].map(|at| at % 64));
    let points: Vec<Vec<u64>> =
        scattered.chain((0..900).map(|n| [n % 16, n / 16 % 16, 9])).map(Vec::from).collect();
    let number =
        |point: &Vec<u64>| i32::try_from((point[0] * 64 + point[1]) * 64 + point[2]).unwrap();
    let wanted: Vec<i32> = points.iter().map(number).collect();
    // Many chunks, and one whose blocks are shared.
    for chunks in [[32; 3], [64; 3]] {
        for threads in [1, 2, 3, 8] {
            let compress = CompressOptions::new(4).with_executor(Executor::threads(threads));
            let options = NdStorage::new(FrameOptions::new(compress));
            let mut array =
                counted(&[64; 3], &options.with_chunks(&chunks).with_blocks(&[16, 16, 16]));
            let (mut found, points) = (vec![0; points.len()], points.concat());
            array.read_points(&points, bytemuck::cast_slice_mut(&mut found)).unwrap();
            assert!(found == wanted, "chunks {chunks:?}, {threads} threads");
            let last = array.superchunk().chunk_count() - 1;
            let mut chunk = array.superchunk().compressed_chunk(last).unwrap();
            chunk[300..].fill(0xff);
            array.superchunk_mut().update_chunk(last, &chunk).unwrap();
            let error = array.read_points(&points, &mut vec![0; 4 * points.len() / 3]).unwrap_err();
            assert!(error.to_string().contains(&format!("chunk {last}")), "{error}");
        }
    }
}

#[test]
fn a_chunk_that_is_written_in_full_is_not_decoded() {
    let dir = Arc::new(MemoryFolder::default());
    let options = options(&[4, 4], &[2, 2]);
    let dtype = DType::of::<i32>();
    let make = |shape: &[u64]| {
        NdArray::create_in_dir(
            dir.clone(),
            Some("a"),
            &NdOptions::new(shape, dtype.clone()).with_storage(options.clone()),
        )
    };
    let mut array = make(&[6, 6]).unwrap();
    array.fill_with(|at| i32::try_from(at[0] * 6 + at[1]).unwrap()).unwrap();
    // A chunk that nobody can decode: its place is taken by a chunk of nonsense.
    let mut chunk = array.superchunk().compressed_chunk(3).unwrap();
    chunk[33..].fill(0xff);
    array.superchunk_mut().update_chunk(3, &chunk).unwrap();
    assert!(array.read::<i32>(&Selection::parse("5, 5", &[6, 6]).unwrap()).is_err());
    array.write_box(&[4, 4], &[6, 6], bytemuck::cast_slice(&[1i32, 2, 3, 4])).unwrap();
    assert_eq!(
        array.read::<i32>(&Selection::parse("4:, 4:", &[6, 6]).unwrap()).unwrap(),
        [1, 2, 3, 4]
    );
}

#[test]
fn arrays_of_one_value_take_no_space() {
    let dtype = DType::parse("<f8").unwrap();
    let shape = [1_000_000, 1_000_000];
    let seven = 7f64.to_le_bytes();
    for (value, first) in
        [(FillValue::Zeros, 0.0), (FillValue::Nans, f64::NAN), (FillValue::Uninitialised, 0.0)]
    {
        let options = options(&[100_000, 2000], &[1000, 8]);
        let array = NdArray::in_memory(
            &NdOptions::new(&shape, dtype.clone()).with_fill(value).with_storage(options.clone()),
        )
        .unwrap();
        assert!(array.superchunk().to_bytes().unwrap().len() < 1000);
        let item: Vec<f64> =
            array.read(&Selection::parse("999999, 999999", &shape).unwrap()).unwrap();
        assert!(item == [first] || (item[0].is_nan() && first.is_nan()));
        // All of it is more than anybody should take by accident.
        assert_eq!(array.to_vec().unwrap_err().kind(), ErrorKind::LimitExceeded);
    }
    let full = NdArray::in_memory(
        &NdOptions::new(&[100, 100], dtype.clone()).with_fill(FillValue::Value(seven.to_vec())),
    );
    let mut full = full.unwrap();
    assert!(full.superchunk().to_bytes().unwrap().len() < 1000);
    let all = Selection::all(&[100, 100]);
    full.fill(&all, &9f64.to_le_bytes()).unwrap();
    assert_eq!(full.read::<f64>(&all).unwrap(), [9.0; 10_000]);
    assert!(full.superchunk().to_bytes().unwrap().len() < 1000);
    full.fill(&all, &seven).unwrap();
    assert_eq!(
        full.read::<f64>(&Selection::parse("5, ::50", &[100, 100]).unwrap()).unwrap(),
        [7.0, 7.0]
    );
    let wrong = |dtype: &str, value| {
        NdArray::in_memory(&NdOptions::new(&[3], DType::parse(dtype).unwrap()).with_fill(value))
            .is_err()
    };
    assert!(wrong("<i8", FillValue::Nans) && wrong(">f8", FillValue::Nans));
    assert!(wrong("<i4", FillValue::Value(seven.to_vec())) && wrong("|S0", FillValue::Zeros));
}

#[test]
fn typed_reads_check_the_type_and_the_byte_order() {
    let dtype = DType::parse(">i4").unwrap();
    let mut array = NdArray::in_memory(&NdOptions::new(&[3], dtype.clone())).unwrap();
    let all = Selection::all(&[3]);
    array.write_items(&all, &[1i32, -2, 3]).unwrap();
    assert_eq!(array.read::<i32>(&all).unwrap(), [1, -2, 3]);
    assert_eq!(array.to_vec().unwrap()[..8], [0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe]);
    assert!(array.read::<u32>(&all).is_err());
    assert!(array.read::<f32>(&all).is_err());
    assert!(array.read::<i64>(&all).is_err());
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let mut array = counted(&[4, 5], &options(&[2, 2], &[2, 1]));
    let mut dst = [0; 80];
    assert!(array.read_box(&[0, 0], &[4, 6], &mut dst).is_err());
    assert!(array.read_box(&[0], &[4], &mut dst).is_err());
    assert!(array.read_box(&[0, 0], &[4, 4], &mut dst).is_err(), "the buffer is too long");
    assert!(array.read_box_strided(&[0, 0], &[4, 5], &mut dst, &[20, 5]).is_err());
    assert!(array.write_box(&[0, 0], &[1, 1], &[0; 3]).is_err());
    assert!(array.read_orthogonal(&[AxisIndexes::List(&[4]), AxisIndexes::List(&[0])]).is_err());
    assert!(array.read_points(&[0, 5], &mut [0; 4]).is_err());
    assert!(array.append(2, &[0; 20]).is_err());
    assert!(array.append(0, &[0; 19]).is_err());
    assert!(array.insert(0, 5, &[0; 20]).is_err());
    assert!(array.delete(1, 3, 3).is_err());
    assert!(array.resize(&[4]).is_err());
    assert!(array.resize(&[u64::MAX, u64::MAX]).is_err());
    assert_eq!(all(&array), (0..20).collect::<Vec<_>>(), "nothing has changed");
    let too_many = NdArray::in_memory(&NdOptions::of::<u8>(&[1; 17]));
    assert!(too_many.is_err());
}

#[test]
fn a_resize_is_seen_with_its_data_or_not_at_all() {
    let dir = Arc::new(MemoryFolder::default());
    let made = NdArray::create_in_dir(
        dir.clone(),
        Some("a"),
        &NdOptions::of::<i32>(&[4, 4]).with_storage(options(&[2, 2], &[2, 2])),
    );
    let mut array = made.unwrap();
    array.fill_with(|at| i32::try_from(at[0] * 4 + at[1]).unwrap()).unwrap();
    array.commit().unwrap();
    let seen = || {
        let frame = SuperChunk::open_in_dir(dir.clone(), Some("a"), &OpenOptions::new()).unwrap();
        let array = NdArray::from_superchunk(frame).unwrap();
        (array.shape().to_vec(), all(&array).iter().sum::<i32>())
    };
    // The growth of a trailing axis renumbers chunks: a reader in between must not mix them up.
    array.insert(1, 4, &[1, 0, 0, 0].repeat(8)).unwrap();
    assert_eq!(seen(), (vec![4, 4], 120));
    array.commit().unwrap();
    assert_eq!(seen(), (vec![4, 6], 128));
    array.resize(&[2, 2]).unwrap();
    assert_eq!(seen(), (vec![4, 6], 128));
    array.close().unwrap();
    assert_eq!(seen(), (vec![2, 2], 1 + 4 + 5));
}

#[test]
fn arrays_are_put_together_and_turned() {
    let small = options(&[2, 2], &[1, 2]);
    let (a, b) = (counted(&[2, 3], &small), counted(&[4, 3], &small));
    let joined = NdArray::concatenate(&[&a, &b], 0, &small).unwrap();
    assert_eq!(joined.shape(), [6, 3]);
    assert_eq!(all(&joined), (0..6).chain(0..12).collect::<Vec<_>>());
    let wide = NdArray::concatenate(&[&a, &a], 1, &small).unwrap();
    assert_eq!(all(&wide), [0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]);
    assert!(NdArray::concatenate(&[&a, &b], 1, &small).is_err());

    let stacked = NdArray::stack(&[&a, &a, &a], 1, &NdStorage::default()).unwrap();
    assert_eq!(stacked.shape(), [2, 3, 3]);
    assert_eq!(all(&stacked)[..9], [0, 1, 2, 0, 1, 2, 0, 1, 2]);

    let turned = a.transpose(&[1, 0], &small).unwrap();
    assert_eq!((turned.shape(), all(&turned)), (&[3, 2][..], vec![0, 3, 1, 4, 2, 5]));
    assert!(a.transpose(&[0, 0], &small).is_err());
    let cube = counted(&[2, 3, 4], &NdStorage::default());
    let cube = cube.transpose(&[2, 0, 1], &options(&[3, 1, 2], &[2, 1, 2])).unwrap();
    assert_eq!(cube.shape(), [4, 2, 3]);
    assert_eq!(all(&cube)[..6], [0, 4, 8, 12, 16, 20]);

    let flat = counted(&[1, 3, 1, 2], &NdStorage::default());
    let squeezed = flat.squeeze(&NdStorage::default()).unwrap();
    assert_eq!((squeezed.shape(), all(&squeezed)), (&[3, 2][..], (0..6).collect()));
    let more = squeezed.expand(1, &NdStorage::default()).unwrap();
    assert_eq!((more.shape(), all(&more)), (&[3, 1, 2][..], (0..6).collect()));
}

#[test]
fn a_copy_may_be_cut_otherwise_and_keeps_what_belongs_to_it() {
    let mut array = counted(&[30, 40], &options(&[7, 9], &[3, 4]));
    array.superchunk_mut().set_metalayer("unit", b"metre").unwrap();
    array.superchunk_mut().set_attribute_bytes("note", b"text").unwrap();
    let copy = array.copy_to_memory(&options(&[10, 40], &[5, 5])).unwrap();
    assert_eq!((copy.chunk_shape(), all(&copy)), (&[10, 40][..], all(&array)));
    assert_eq!(copy.superchunk().metalayer_names().collect::<Vec<_>>(), ["b2nd", "unit"]);
    assert_eq!(copy.superchunk().attribute_bytes("note").unwrap(), b"text");
    let same = array.copy_to_memory(&array.options()).unwrap();
    assert_eq!((same.block_shape(), all(&same)), (&[3, 4][..], all(&array)));
}

#[test]
fn the_old_metalayer_reads_and_is_changed_in_its_own_form() {
    let array = counted(&[5, 6], &options(&[2, 4], &[2, 2]));
    let modern = array.superchunk().metalayer("b2nd").unwrap();
    let mut old = modern[..modern.len() - 9].to_vec();
    old[0] = 0x95;
    let frame = array.superchunk().frame_options().with_metalayer("caterva", old);
    let mut chunks = SuperChunk::in_memory(&frame).unwrap();
    chunks.append_from(array.superchunk()).unwrap();
    let mut caterva = NdArray::from_superchunk(chunks).unwrap();
    assert_eq!(caterva.dtype().to_string(), "|S4");
    assert_eq!(caterva.to_vec().unwrap(), array.to_vec().unwrap());
    caterva.resize(&[5, 7]).unwrap();
    let again = NdArray::from_superchunk(caterva.into_superchunk()).unwrap();
    assert_eq!(again.shape(), [5, 7]);
    let (_, bytes) = again.bytes(&Selection::parse("4, 5:", &[5, 7]).unwrap()).unwrap();
    assert_eq!(bytes, [29, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn metalayers_that_contradict_the_frame_are_refused() {
    let array = counted(&[5, 6], &options(&[2, 4], &[2, 2]));
    let layer = array.superchunk().metalayer("b2nd").unwrap().to_vec();
    let field = |at: usize, byte: u8| {
        let mut bad = layer.clone();
        bad[at] = byte;
        let frame = array.superchunk().frame_options().with_metalayer("b2nd", bad);
        let mut chunks = SuperChunk::in_memory(&frame).unwrap();
        chunks.append_from(array.superchunk()).unwrap();
        let error = NdArray::from_superchunk(chunks).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        error.place().unwrap().field
    };
    // One chunk row more, another chunk, another block, an item of another size.
    assert_eq!(field(12, 7), "shape");
    assert_eq!(field(27, 9), "chunksize");
    assert_eq!(field(38, 5), "blockshape");
    assert_eq!(field(layer.len() - 1, b'8'), "dtype");
    let plain = SuperChunk::in_memory(&FrameOptions::new(CompressOptions::new(4))).unwrap();
    assert_eq!(NdArray::from_superchunk(plain).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn scalars_and_empty_arrays_are_arrays() {
    let mut scalar = NdArray::in_memory(&NdOptions::of::<i64>(&[])).unwrap();
    scalar.write_items(&Selection::all(&[]), &[42i64]).unwrap();
    assert_eq!(scalar.read::<i64>(&Selection::parse("", &[]).unwrap()).unwrap(), [42]);
    assert_eq!(scalar.chunks().count(), 1);
    let mut empty = NdArray::in_memory(&NdOptions::of::<u8>(&[0, 3])).unwrap();
    assert!(empty.to_vec().unwrap().is_empty());
    empty.append(0, &[1, 2, 3, 4, 5, 6]).unwrap();
    assert_eq!((empty.shape(), empty.to_vec().unwrap()), (&[2, 3][..], vec![1, 2, 3, 4, 5, 6]));
    empty.delete(1, 0, 3).unwrap();
    assert_eq!((empty.shape(), empty.item_count()), (&[2, 0][..], 0));
}

#[cfg(feature = "ndarray")]
#[test]
fn arrays_of_the_crate_ndarray_go_in_and_out() {
    let array = counted(&[3, 4], &options(&[2, 3], &[1, 2]));
    let part = array.read_ndarray::<i32>(&Selection::parse("1:, ::2", &[3, 4]).unwrap()).unwrap();
    assert_eq!(part.shape(), [2, 2]);
    assert_eq!(part.iter().copied().collect::<Vec<_>>(), [4, 6, 8, 10]);
    // A view whose items do not lie in C order.
    let back = NdArray::from_ndarray(part.t(), &NdStorage::default()).unwrap();
    assert_eq!((back.shape(), all(&back)), (&[2, 2][..], vec![4, 8, 6, 10]));
}
