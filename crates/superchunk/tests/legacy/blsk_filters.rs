//! Filters that `meta/storage` of a `blsk` tree asks for: applied to what is written, or refused by name.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use superchunk::blsk::{Array, ArrayOptions, Table, TableOptions, TreeOptions};
use superchunk::chunk::Header;
use superchunk::{CompressOptions, DType, ErrorKind, Filter};
use superchunk_testkit::scratch::Scratch;

fn dtype(text: &str) -> DType {
    DType::parse(text).unwrap()
}

/// Makes `meta/storage` ask for `filters`, the lines of a mapping.
fn ask_for(tree: &Path, filters: &str) {
    let path = tree.join("meta/storage");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("  filters: [shuffle]\n"), "{text}");
    std::fs::write(&path, text.replace("  filters: [shuffle]\n", filters)).unwrap();
}

/// Numbers whose mantissas use every bit.
fn numbers() -> Vec<f64> {
    (1..=1000).map(|number| 1.0 / f64::from(number)).collect()
}

/// The number with the highest `kept` bits of its mantissa.
fn kept(number: f64, kept: u32) -> f64 {
    f64::from_bits(number.to_bits() >> (52 - kept) << (52 - kept))
}

fn new_array(path: &Path) {
    Array::create(path, &ArrayOptions::new(dtype("<f8"))).unwrap().close().unwrap();
}

#[test]
fn new_chunks_have_the_shuffle_that_is_asked_for() {
    for (filters, expected) in [
        ("  filters: [shuffle]\n", vec![Filter::Shuffle]),
        ("  filters: [bitshuffle]\n", vec![Filter::BitShuffle]),
        ("  filters: []\n", vec![]),
    ] {
        let scratch = Scratch::new();
        let path = scratch.path("tree");
        new_array(&path);
        ask_for(&path, filters);
        let mut array = Array::edit(&path).unwrap();
        array.append_items(&numbers()).unwrap();
        array.close().unwrap();
        let file = std::fs::read(path.join("data/__1__.bin")).unwrap();
        let at = u64::from_le_bytes(*file.get(16..).unwrap().first_chunk().unwrap());
        let chunk = file.get(usize::try_from(at).unwrap()..).unwrap();
        assert_eq!(Header::parse(chunk).unwrap().filters(), expected, "{filters}");
    }
}

#[test]
fn truncate_clears_low_bits_of_what_is_written_and_of_nothing_else() {
    let scratch = Scratch::new();
    let path = scratch.path("tree");
    new_array(&path);
    let mut array = Array::edit(&path).unwrap();
    array.append_items(&numbers()).unwrap();
    array.close().unwrap();
    ask_for(&path, "  filters: [shuffle, truncate]  # order matters\n  truncate: 12\n");

    let mut array = Array::edit(&path).unwrap();
    array.append_items(&numbers()).unwrap();
    array.write_items(10, &[std::f64::consts::PI]).unwrap();
    array.close().unwrap();
    let array = Array::open(&path).unwrap();
    let mut expected = numbers();
    expected.extend(numbers().iter().map(|number| kept(*number, 12)));
    expected.splice(10..11, [kept(std::f64::consts::PI, 12)]);
    assert_eq!(array.read::<f64>(0..2000).unwrap(), expected);
    assert_ne!(expected.last(), numbers().last(), "a number that loses bits");
    let text = std::fs::read_to_string(path.join("meta/storage")).unwrap();
    assert!(text.contains("filters: [shuffle, truncate]\n  truncate: 12\n"), "{text}");
}

/// The table of the proposal: `truncate` for all columns, of which one has no mantissas, in big endian.
#[test]
fn truncate_is_for_floats_of_any_size_and_byte_order() {
    let types =
        [("small", "|i1"), ("half", "<f2"), ("big", ">f4"), ("pair", "<c8"), ("all", "<f8")];
    let scratch = Scratch::new();
    let path = scratch.path("tree");
    let compress = CompressOptions::new(1).with_filters([Filter::TruncPrec(11), Filter::Shuffle]);
    let columns = types.map(|(name, text)| (name, dtype(text)));
    let mut table = Table::create(
        &path,
        &TableOptions::new()
            .with_columns(columns.clone())
            .with_tree(TreeOptions::default().with_compress(compress)),
    )
    .unwrap();
    let third = 1.0f32 / 3.0;
    let infinite_or_not = f32::from_bits(0x7f80_0001);
    let big = [third.to_be_bytes(), infinite_or_not.to_be_bytes()].concat();
    let pair = [third, -third, f32::INFINITY, infinite_or_not].map(f32::to_le_bytes).concat();
    let (small, half, all) =
        ([0x7f, 0x55], [0x55, 0x35, 0x01, 0x7c], [0.1f64, 1.0].map(f64::to_le_bytes).concat());
    let parts: [(&str, &[u8]); 5] =
        [("small", &small), ("half", &half), ("big", &big), ("pair", &pair), ("all", &all)];
    table.append(&parts).unwrap();
    table.close().unwrap();

    let table = Table::open(&path).unwrap();
    let read = |column: &str| {
        let mut bytes = vec![0; 2 * table.row_size(column).unwrap()];
        table.read_rows(column, 0..2, &mut bytes).unwrap();
        bytes
    };
    assert_eq!(read("small"), small, "no mantissa");
    assert_eq!(read("half"), half, "a mantissa of ten bits");
    let short = f32::from_bits(third.to_bits() >> 12 << 12);
    assert_ne!(short, third);
    // What is no number stays what it is.
    assert_eq!(read("big"), [short.to_be_bytes(), infinite_or_not.to_be_bytes()].concat());
    let expected = [short, -short, f32::INFINITY, infinite_or_not].map(f32::to_le_bytes);
    assert_eq!(read("pair"), expected.concat());
    assert_eq!(read("all"), [kept(0.1, 11), 1.0].map(f64::to_le_bytes).concat());
}

#[test]
fn what_cannot_be_applied_is_refused_by_name_and_can_be_read() {
    let cases = [
        ("<f8", "  filters: [shuffle, truncate]\n", "`truncate: BITS`"),
        ("<f8", "  filters: [shuffle, delta]\n", "filtered by `delta`"),
        ("<f8", "  filters: [shuffle, bitshuffle]\n", "`bitshuffle` is another"),
        ("<f8", "  filters: zigzag\n", "filtered by `zigzag`"),
        ("<f16", "  filters: [truncate]\n  truncate: 9\n", "`truncate` of `<f16`"),
        (
            "[('a', '<f8'), ('b', '<i4')]",
            "  filters: [truncate]\n  truncate: 9\n",
            "`truncate` of structured items",
        ),
    ];
    for (text, filters, expected) in cases {
        let scratch = Scratch::new();
        let path = scratch.path("tree");
        let items = vec![7; 10 * dtype(text).item_size()];
        let mut array = Array::create(&path, &ArrayOptions::new(dtype(text))).unwrap();
        array.append(&items).unwrap();
        array.close().unwrap();
        ask_for(&path, filters);
        let error = Array::edit(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        let mut found = vec![0; items.len()];
        Array::open(&path).unwrap().read_rows(0..10, &mut found).unwrap();
        assert_eq!(found, items, "{filters}");
    }
}

#[test]
fn bits_outside_of_every_mantissa_are_damage() {
    let scratch = Scratch::new();
    let path = scratch.path("tree");
    new_array(&path);
    ask_for(&path, "  filters: [truncate]\n  truncate: 53\n");
    let error = Array::open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("is 53, 1 to 52 exist"), "{error}");
    let cases = [vec![Filter::TruncPrec(-3)], vec![Filter::Shuffle, Filter::BitShuffle]];
    for (number, filters) in cases.into_iter().enumerate() {
        let compress = CompressOptions::new(1).with_filters(filters);
        let options = TreeOptions::default().with_compress(compress);
        let made = Array::create(
            scratch.path(&format!("{number}")),
            &ArrayOptions::new(dtype("<f8")).with_tree(options.clone()),
        );
        assert_eq!(made.unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}
