use super::*;
use crate::options::{Codec, Filter};

const EXAMPLE: &str = "dtype: \n  col1: int8\n  col2: float32\nshape: (300,200)\n\
                       chunkshape: (30, 20)\nsuperchunksize: 10  # max. number of chunks\n\
                       endianness: big  # default: little\norder: C         # default: C\n\
                       compression:\n  library: blosclz\n  level: 5\n\
                       \x20 filters: [shuffle, truncate]  # order matters\nauthor: someone\n";

#[test]
fn the_example_of_the_proposal_means_what_it_says() {
    let storage = Storage::parse(EXAMPLE).unwrap();
    let columns: Vec<_> =
        storage.columns.iter().map(|leaf| (leaf.path.join("/"), leaf.dtype.to_string())).collect();
    let expected = [("col1", "|i1"), ("col2", ">f4")];
    assert_eq!(columns, expected.map(|(name, dtype)| (name.to_owned(), dtype.to_owned())));
    assert_eq!(
        (storage.shape.as_slice(), storage.chunkshape.as_slice()),
        (&[300, 200][..], &[30, 20][..])
    );
    assert_eq!((storage.superchunksize, storage.order), (10, ItemOrder::C));
    assert_eq!(storage.compression.filters, ["shuffle", "truncate"]);
    let options = storage.compression.to_options(4).unwrap();
    assert_eq!(
        (options.codec, options.filters.as_slice()),
        (Codec::BloscLz, &[Filter::Shuffle][..])
    );
    assert_eq!(Storage::parse(&storage.to_text()).unwrap(), storage);
}

#[test]
fn every_type_is_written_so_that_it_reads_back() {
    let types = [
        "bool",
        "int8",
        "uint64",
        "float16",
        "<f8",
        ">i4",
        "<c16",
        "S7",
        "<U4",
        ">U3",
        "V6",
        "datetime64[25us]",
        ">M8[ns]",
        "<m8[D]",
        "[('a', '<i4'), ('b', '>f8', (2,))]",
    ];
    let mut storage = Storage::parse(EXAMPLE).unwrap();
    for endianness in [ByteOrder::Little, ByteOrder::Big] {
        storage.endianness = endianness;
        storage.columns = types
            .iter()
            .enumerate()
            .map(|(number, text)| Leaf {
                path: vec![format!("group {}", number / 4), format!("c{number}")],
                dtype: DType::parse(text).unwrap(),
            })
            .collect();
        assert_eq!(Storage::parse(&storage.to_text()).unwrap(), storage, "{}", storage.to_text());
    }
}

#[test]
fn what_does_not_fit_together_is_refused_by_name() {
    let field = |from: &str, to: &str| {
        let text = EXAMPLE.replace(from, to);
        assert_ne!(text, EXAMPLE, "{from}");
        let error = Storage::parse(&text).unwrap_err();
        assert_ne!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        error.place().unwrap().field
    };
    assert_eq!(field("int8", "object"), "text");
    assert_eq!(field("col1:", "../col1:"), "dtype");
    assert_eq!(field("col1:", "__7__.bin:"), "dtype");
    assert_eq!(field("(300,200)", "(300,0)"), "shape");
    assert_eq!(field("(300,200)", "()"), "shape");
    assert_eq!(field("(300,200)", "(300,-2)"), "shape");
    assert_eq!(field("(300,200)", "(300000000000,300000000000)"), "shape");
    assert_eq!(field("(30, 20)", "(30)"), "chunkshape");
    assert_eq!(field("(30, 20)", "(30, 0)"), "chunkshape");
    assert_eq!(field("(30, 20)", "(99999, 99999)"), "chunkshape");
    assert_eq!(field("superchunksize: 10", "superchunksize: 0"), "superchunksize");
    assert_eq!(field("superchunksize: 10", "chunks: 10"), "superchunksize");
    assert_eq!(field("big", "middle"), "endianness");
    assert_eq!(field("order: C", "order: K"), "order");
    assert_eq!(field("level: 5", "level: 10"), "level");
    assert_eq!(field("library: blosclz", "library: [x]"), "library");
    assert_eq!(field("int8", "[a]"), "dtype");
}

#[test]
fn shapes_have_three_spellings() {
    for (text, shape) in [("(12,)", vec![12]), ("[5, 7]", vec![5, 7]), ("25", vec![25])] {
        let yaml = Yaml::parse(&format!("shape: {text}")).unwrap();
        assert_eq!(sides(&yaml, "shape").unwrap(), shape);
    }
}

#[test]
fn rows_are_digits() {
    assert_eq!(parse_nrows("2123244\n").unwrap(), 2_123_244);
    for text in ["", "-1", "+1", "1.5", "1e3", "99999999999999999999", "1 2"] {
        assert!(parse_nrows(text).is_err(), "{text}");
    }
}

#[test]
fn a_reserve_never_exceeds_what_a_chunk_can_need() {
    assert_eq!(Reserve::None.behind(100, 1000), 0);
    assert_eq!(Reserve::Part(8).behind(100, 1000), 13);
    assert_eq!(Reserve::Part(2).behind(1000, 1000), 16);
    assert_eq!(Reserve::Full.behind(100, 1000), 916);
    assert_eq!(Reserve::Full.behind(1016, 1000), 0);
}
