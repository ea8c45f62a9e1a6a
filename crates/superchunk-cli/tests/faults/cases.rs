//! The containers, the commands that change each of them, and the files that these commands read.
//!
//! A command runs in a folder that holds the container and nothing else, and reads files of the
//! folder `../in`. In every line `{}` stands for the container.

use std::fs;
use std::path::Path;

use superchunk::bcolz::{ArrayOptions, TableOptions};
use superchunk::{DType, Result, bcolz, blsk};

use crate::peers::Library;
use crate::program::{copy_folder, shell};

/// A container and the commands that change it.
pub(crate) struct Container {
    /// Its name in the folder.
    pub(crate) name: &'static str,
    /// The line of a shell that makes it.
    pub(crate) make: &'static str,
    /// The real library that reads it, if there is one.
    pub(crate) peer: Option<Library>,
    /// Everything that the program can do to it.
    pub(crate) commands: &'static [&'static str],
}

pub(crate) static CONTAINERS: [Container; 22] = [
    Container {
        name: "data.b2frame",
        make: "superchunk pack ../in/data.f8 -t 8 -z 4K -c lz4 -m unit=K -o {}",
        peer: Some(Library::Frames),
        commands: &[
            "append {} ../in/more.f8",
            "attr set {} note 7",
            "attr rm {} unit",
            "repack {}",
            "repack {} -c zstd",
            "repack -f ../in/other.b2frame -o {}",
            "pack -f ../in/other.f8 -t 8 -o {}",
            "convert -f ../in/other.b2frame {}",
            "salvage -f ../in/other.b2frame -o {}",
            "salvage -f ../in/damaged.b2frame -o {}",
            "tune -f ../in/other.f8 -t 8 --objective size --apply {}",
        ],
    },
    // What a killed command has left.
    Container {
        name: "left.sparse",
        make: "superchunk pack ../in/data.f8 --sparse -t 8 -z 4K -c lz4 -o {}; \
               cp {}/00000000.chunk {}/000000FF.chunk",
        peer: Some(Library::Frames),
        commands: &["recover {}"],
    },
    Container {
        name: "left.bcolz",
        make: "cp -r ../in/rows.bcolz {}; cd {}/price/data; cp __0.blp __9.blp; cp __0.blp .b2new.0",
        peer: Some(Library::BcolzTable),
        commands: &["recover {}"],
    },
    Container {
        name: "data.sparse",
        make: "superchunk pack ../in/data.f8 --sparse -t 8 -z 4K -c lz4 -m unit=K -o {}",
        peer: Some(Library::Frames),
        commands: &[
            "append {} ../in/more.f8",
            "attr set {} note 7",
            "attr rm {} unit",
            "repack {}",
            "repack {} -c zstd",
            "pack -f --sparse ../in/other.f8 -t 8 -z 4K -o {}",
            "pack -f ../in/other.f8 -t 8 --to frame -o {}",
            "convert -f ../in/other.b2frame {} --to sparse",
            "salvage -f ../in/other.sparse -o {}",
            "salvage -f ../in/damaged.sparse -o {}",
        ],
    },
    Container {
        name: "array.b2nd",
        make: "superchunk pack ../in/rows.npy --chunks 64 -c lz4 -m unit=K -o {}",
        peer: Some(Library::Arrays),
        commands: &[
            "append {} ../in/more.npy",
            "attr set {} note 7",
            "attr rm {} unit",
            "repack {}",
            "repack {} -c zstd",
            "pack -f ../in/other.npy -o {}",
            "convert -f ../in/other.b2nd {}",
            "salvage -f ../in/other.b2nd -o {}",
            "salvage -f ../in/damaged.b2nd -o {}",
        ],
    },
    Container {
        name: "array.sparse",
        make: "superchunk pack ../in/rows.npy --sparse --chunks 64 -c lz4 -m unit=K -o {}",
        peer: Some(Library::Arrays),
        commands: &[
            "append {} ../in/more.npy",
            "attr set {} note 7",
            "attr rm {} unit",
            "repack {}",
            "repack {} -c zstd",
            "pack -f --sparse ../in/other.npy -o {}",
            "convert -f ../in/other.b2nd {} --to sparse",
            "salvage -f ../in/array.sparse -o {}",
            "salvage -f ../in/damaged-array.sparse -o {}",
        ],
    },
    Container {
        name: "names.b2frame",
        make: "superchunk pack ../in/names.txt --varlen -c lz4 -m unit=K -o {}",
        peer: Some(Library::Objects),
        commands: &[
            "append {} ../in/more.txt",
            "attr set {} note 7",
            "attr rm {} unit",
            "repack {}",
            "repack {} -c zstd",
            "pack -f --varlen ../in/other.txt -o {}",
            "convert -f ../in/list.blp {}",
            "salvage -f ../in/list.b2frame -o {}",
            "salvage -f ../in/damaged-list.b2frame -o {}",
        ],
    },
    Container {
        name: "data.blp",
        make: "superchunk pack ../in/data.f8 -t 8 -z 4K -c lz4 -m unit=K -o {}",
        peer: Some(Library::Bloscpack),
        commands: &[
            "append {} ../in/more.f8",
            "attr set {} note 7",
            "attr rm {} unit",
            "repack {}",
            "repack {} -c zstd",
            "pack -f ../in/other.f8 -t 8 -o {}",
            "convert -f ../in/other.b2frame {}",
            "salvage -f ../in/other.blp -o {}",
            "salvage -f ../in/damaged.blp -o {}",
            "blpk -f compress ../in/other.f8 {}",
            "blpk append {} ../in/more.f8",
        ],
    },
    // Objects that are replaced: they fit after the old ones; the last one does, whose offset is far from
    // the header; one moves; one is replaced and one appended, which takes a new file.
    Container {
        name: "roomy.blp",
        make: "superchunk pack ../in/many.txt --varlen -c lz4 --reserve 150 -o {}",
        peer: None,
        commands: &[
            "append {} ../in/more.txt --replace 1",
            "append {} ../in/one.txt --replace 89",
            "append {} ../in/long.txt --replace 88",
            "append {} ../in/more.txt --replace 89",
            "repack {}",
        ],
    },
    // bloscpack does not read version 4, in which objects have chunks of their own.
    Container {
        name: "names.blp",
        make: "superchunk pack ../in/names.txt --varlen -c lz4 -m unit=K -o {}",
        peer: None,
        commands: &[
            "append {} ../in/more.txt",
            "attr set {} note 7",
            "attr rm {} unit",
            "repack {}",
            "repack {} -c zstd",
            "pack -f --varlen ../in/other.txt -o {}",
            "convert -f ../in/list.b2frame {}",
            "salvage -f ../in/list.blp -o {}",
            "salvage -f ../in/damaged-list.blp -o {}",
        ],
    },
    Container {
        name: "table.bcolz",
        make: "cp -r ../in/rows.bcolz {}",
        peer: Some(Library::BcolzTable),
        commands: &[
            "append {} ../in/more.csv",
            "attr set {} note 7",
            "attr rm {} unit",
            "repack {}",
            "repack {} -c zstd",
            "repack -f ../in/other.bcolz -o {}",
            "convert -f ../in/other.csv {}",
            "salvage -f ../in/other.bcolz -o {}",
            "salvage -f ../in/damaged.bcolz -o {}",
        ],
    },
    Container {
        name: "array.bcolz",
        make: "cp -r ../in/values.bcolz {}",
        peer: Some(Library::BcolzArray),
        commands: &[
            "append {} ../in/values.csv",
            "attr set {} note 7",
            "attr rm {} unit",
            "repack {} -c zstd",
            "convert -f ../in/other.npy {}",
            "salvage -f ../in/array.bcolz -o {}",
            "salvage -f ../in/damaged-array.bcolz -o {}",
        ],
    },
    Container {
        name: "table.blsk",
        make: "cp -r ../in/rows.blsk {}",
        peer: None,
        commands: &[
            "append {} ../in/more.csv",
            "attr set {} note 7",
            "attr rm {} unit",
            "repack {}",
            "repack {} -c zstd",
            "repack -f ../in/other.blsk -o {}",
            "convert -f ../in/other.csv {}",
            "salvage -f ../in/other.blsk -o {}",
            "salvage -f ../in/damaged.blsk -o {}",
        ],
    },
    Container {
        name: "array.blsk",
        make: "cp -r ../in/values.blsk {}",
        peer: None,
        commands: &[
            "append {} ../in/values.csv",
            "attr set {} note 7",
            "attr rm {} unit",
            "repack {} -c zstd",
            "convert -f ../in/other.npy {}",
            "salvage -f ../in/array.blsk -o {}",
            "salvage -f ../in/damaged-array.blsk -o {}",
        ],
    },
    Container {
        name: "words.bcolz",
        make: "cp -r ../in/words.bcolz {}",
        peer: Some(Library::BcolzTable),
        commands: &["append {} ../in/longer.csv --widen"],
    },
    Container {
        name: "words.blsk",
        make: "cp -r ../in/words.blsk {}",
        peer: None,
        commands: &["append {} ../in/longer.csv --widen"],
    },
    Container {
        name: "out.raw",
        make: "cp ../in/data.f8 {}",
        peer: None,
        commands: &["unpack -f ../in/other.b2frame -o {}", "convert -f ../in/other.blp {}"],
    },
    Container {
        name: "out.npy",
        make: "cp ../in/rows.npy {}",
        peer: None,
        commands: &[
            "unpack -f ../in/other.b2nd -o {}",
            "unpack -f ../in/other.bcolz::price -o {}",
            "convert -f ../in/other.bcolz {}",
        ],
    },
    Container {
        name: "out.txt",
        make: "cp ../in/names.txt {}",
        peer: None,
        commands: &["unpack -f ../in/list.b2frame -o {}", "unpack -f ../in/list.blp -o {}"],
    },
    Container {
        name: "out.csv",
        make: "cp ../in/more.csv {}",
        peer: None,
        commands: &["convert -f ../in/other.bcolz {}", "unpack -f ../in/other.blsk -o {}"],
    },
    Container {
        name: "out.chunk",
        make: "superchunk convert ../in/data.f8 {}",
        peer: None,
        commands: &["convert -f ../in/other.b2frame {}"],
    },
    Container {
        name: "columns",
        make: "superchunk convert ../in/rows.bcolz {} --to columns",
        peer: None,
        commands: &[
            "convert -f ../in/other.bcolz {} --to columns",
            "append {} ../in/more.csv",
            "attr set {} note 7",
            "attr rm {} unit",
            "repack {}",
            "repack {}::price -c lz4",
            "salvage -f ../in/other.columns -o {}",
            "salvage -f ../in/damaged.columns -o {}",
            "unpack -f --npy ../in/other.bcolz -o {}",
        ],
    },
];

/// Makes the files that the commands read.
pub(crate) fn make_inputs(folder: &Path) {
    fs::create_dir(folder).unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    write("data.f8", &prices(0..2000));
    write("more.f8", &prices(2000..2700));
    write("other.f8", &prices(5000..6500));
    let lines = |count: u32| (0..count).map(|line| format!("name {line}\n")).collect::<String>();
    write("names.txt", lines(40).as_bytes());
    write("more.txt", b"last but one\nlast\n");
    write("one.txt", b"another\n");
    write("long.txt", lines(60).replace('\n', " ").as_bytes());
    write("many.txt", lines(90).as_bytes());
    write("other.txt", lines(9).replace("name", "other").as_bytes());
    let row = |row: i64| format!("{row},{}.5\n", row * 3);
    let csv = |rows: std::ops::Range<i64>| {
        "number,price\n".to_owned() + &rows.map(row).collect::<String>()
    };
    write("more.csv", csv(150..250).as_bytes());
    write("other.csv", csv(1000..1090).as_bytes());
    let values: String = (0..100).map(|value| format!("{value}.25\n")).collect();
    write("values.csv", format!("values\n{values}").as_bytes());
    write("words.csv", b"number,word\n1,one\n2,two\n");
    write("longer.csv", b"number,word\n3,three\n4,four\n");
    make_tables(folder).unwrap();
    for line in [
        "superchunk convert rows.bcolz::price rows.npy",
        "superchunk convert values.csv more.bcolz; superchunk convert more.bcolz::values more.npy",
        "superchunk convert other.csv other.bcolz; superchunk convert other.bcolz::price other.npy",
        "superchunk convert other.csv other.blsk",
        "superchunk convert words.csv words.bcolz; superchunk convert words.csv words.blsk",
        "superchunk convert other.bcolz other.columns --to columns",
        "superchunk convert other.npy array.bcolz; superchunk convert other.npy array.blsk",
        "superchunk pack other.f8 -t 8 -z 4K -m unit=F -o other.b2frame",
        "superchunk pack other.f8 -t 8 -z 4K -m unit=F -o other.blp",
        "superchunk convert other.b2frame other.sparse --to sparse",
        "superchunk pack other.npy --chunks 40 -o other.b2nd",
        "superchunk convert other.b2nd array.sparse --to sparse",
        "superchunk pack other.txt --varlen -o list.b2frame",
        "superchunk pack other.txt --varlen -o list.blp",
    ] {
        shell(folder, line);
    }
    make_damaged(folder);
}

/// Makes copies of which `salvage` saves a part: some bytes of a file are overwritten, or a file of a
/// folder is missing.
fn make_damaged(folder: &Path) {
    // A chunk of several, an index that follows the only chunk, a header.
    for (from, to, quarters) in [
        ("other.b2frame", "damaged.b2frame", 2),
        ("other.b2nd", "damaged.b2nd", 2),
        ("other.blp", "damaged.blp", 2),
        ("list.b2frame", "damaged-list.b2frame", 3),
        ("list.blp", "damaged-list.blp", 0),
    ] {
        let mut bytes = fs::read(folder.join(from)).unwrap();
        let start = bytes.len() * quarters / 4;
        bytes.iter_mut().skip(start).take(16).for_each(|byte| *byte = 0x55);
        fs::write(folder.join(to), bytes).unwrap();
    }
    for (from, to, lost) in [
        ("other.sparse", "damaged.sparse", "00000001.chunk"),
        ("array.sparse", "damaged-array.sparse", "00000001.chunk"),
        ("rows.bcolz", "damaged.bcolz", "price/data/__1.blp"),
        ("values.bcolz", "damaged-array.bcolz", "data/__1.blp"),
        ("rows.blsk", "damaged.blsk", "data/price/__1__.bin"),
        ("values.blsk", "damaged-array.blsk", "data/__1__.bin"),
        ("other.columns", "damaged.columns", "price.b2nd"),
    ] {
        copy_folder(&folder.join(from), &folder.join(to)).unwrap();
        fs::remove_file(folder.join(to).join(lost)).unwrap();
    }
}

/// Makes tables and arrays of several chunks, which the program would put into one.
fn make_tables(folder: &Path) -> Result<()> {
    const ROWS: i64 = 150;
    const CHUNK_ROWS: u64 = 64;
    let numbers: Vec<u8> = (0..ROWS).flat_map(i64::to_le_bytes).collect();
    let prices = prices(0..150);
    let number = ArrayOptions::of::<i64>().with_chunk_rows(CHUNK_ROWS);
    let price = ArrayOptions::of::<f64>().with_chunk_rows(CHUNK_ROWS);
    let options =
        TableOptions::new().with_column("number", number).with_column("price", price.clone());
    let mut table = bcolz::Table::create(folder.join("rows.bcolz"), &options)?;
    table.append(&[("number", &numbers), ("price", &prices)])?;
    table.set_attribute("unit", "K")?;
    table.close()?;
    let mut array = bcolz::Array::create(folder.join("values.bcolz"), &price)?;
    array.append(&prices)?;
    array.set_attribute("unit", "K")?;
    array.close()?;
    // Two chunks in a file, so that appended rows fill one and begin another.
    let options = blsk::TreeOptions::default().with_chunk_rows(64).with_superchunk_size(2);
    let columns = [("number", DType::of::<i64>()), ("price", DType::of::<f64>())];
    let mut table = blsk::Table::create(
        folder.join("rows.blsk"),
        &blsk::TableOptions::new().with_columns(columns.clone()).with_tree(options.clone()),
    )?;
    table.append(&[("number", &numbers), ("price", &prices)])?;
    table.set_attribute("unit", "K")?;
    table.close()?;
    let dtype = DType::of::<f64>();
    let mut array = blsk::Array::create(
        folder.join("values.blsk"),
        &blsk::ArrayOptions::new(dtype.clone()).with_tree(options.clone()),
    )?;
    array.append(&prices)?;
    array.set_attribute("unit", "K")?;
    array.close()
}

/// Numbers as 64-bit floats with two decimals.
fn prices(numbers: std::ops::Range<u32>) -> Vec<u8> {
    let price = |number: u32| (f64::from(number * 7919 % 10_007) / 100.0).to_le_bytes();
    numbers.flat_map(price).collect()
}
