//! One small example of every container that is no plain frame, and every way of changing it.

use std::sync::Arc;

use superchunk::bcolz::{Array, ArrayOptions, Table, TableOptions};
use superchunk::bloscpack::{Pack, PackOptions};
use superchunk::blsk;
use superchunk::store::Dir;
use superchunk::{
    CompressOptions, DType, Error, FrameOptions, Json, JsonStyle, NdArray, NdOptions, NdStorage,
    Objects, ObjectsOptions, OpenOptions, Result, SuperChunk,
};
use superchunk_testkit::rng::Rng;

/// All that a container holds, piece by piece.
pub(crate) type State = Vec<Vec<u8>>;

/// A container.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    /// How many changes there are; each can be the first, and they can follow one another.
    pub(crate) steps: usize,
    /// Makes it, with something in it, and commits.
    pub(crate) create: fn(&Arc<dyn Dir>),
    /// Opens it, makes one change, commits. If that fails and the last argument says so, the same is
    /// tried once more with the same handle; the error is [`WORKS_ON`] if that works.
    pub(crate) change: fn(&Arc<dyn Dir>, usize, bool) -> Result<()>,
    pub(crate) read: fn(Arc<dyn Dir>) -> Result<State>,
    /// Whether digests vouch for all of it.
    pub(crate) has_digests: bool,
}

pub(crate) const SUBJECTS: [Subject; 7] = [
    Subject {
        name: "Bloscpack files",
        steps: 4,
        create: create_pack,
        change: change_pack,
        read: read_pack,
        has_digests: true,
    },
    Subject {
        name: "Bloscpack objects",
        steps: 8,
        create: create_pack_objects,
        change: change_pack_objects,
        read: read_pack_objects,
        has_digests: false,
    },
    Subject {
        name: "bcolz arrays",
        steps: 6,
        create: create_array,
        change: change_array,
        read: read_array,
        has_digests: false,
    },
    Subject {
        name: "bcolz tables",
        steps: 9,
        create: create_table,
        change: change_table,
        read: read_table,
        has_digests: false,
    },
    Subject {
        name: "blsk trees",
        steps: 7,
        create: create_tree,
        change: change_tree,
        read: read_tree,
        has_digests: false,
    },
    Subject {
        name: "objects",
        steps: 5,
        create: create_objects,
        change: change_objects,
        read: read_objects,
        has_digests: false,
    },
    Subject {
        name: "N-d arrays",
        steps: 4,
        create: create_nd,
        change: change_nd,
        read: read_nd,
        has_digests: false,
    },
];

/// What a handle says that works on after an error.
pub(crate) const WORKS_ON: &str = "the second time it worked";

/// Does the work; whoever fails may get a second try.
fn attempt<H>(mut handle: H, again: bool, work: impl Fn(&mut H) -> Result<()>) -> Result<()> {
    let done = work(&mut handle);
    if done.is_err() {
        let works_on = again && work(&mut handle).is_ok();
        // Dropped without a commit that could work by now.
        std::mem::forget(handle);
        return if works_on { Err(Error::invalid(WORKS_ON)) } else { done };
    }
    done
}

/// Bytes that a codec can do something with, but not much.
fn some(len: usize, seed: u64) -> Vec<u8> {
    let mut bytes = Rng::new(seed).bytes(len);
    bytes.iter_mut().step_by(3).for_each(|byte| *byte = 7);
    bytes
}

fn text(json: &Json) -> Vec<u8> {
    json.to_text(JsonStyle::Compact).into_bytes()
}

const PACK: &str = "data.blp";

fn create_pack(dir: &Arc<dyn Dir>) {
    let options = PackOptions::new()
        .with_compress(CompressOptions::new(4))
        .with_chunk_size(1600)
        .with_append_slots(3)
        .with_metadata(Json::from("begun"));
    let mut pack = Pack::create_in_dir(dir.clone(), PACK, &options).unwrap();
    pack.append(&some(5000, 1)).unwrap();
    pack.close().unwrap();
}

fn change_pack(dir: &Arc<dyn Dir>, step: usize, again: bool) -> Result<()> {
    attempt(Pack::edit_in_dir(dir.clone(), PACK, &OpenOptions::new())?, again, |pack| {
        match step {
            0 => pack.append(&some(100, 2))?,
            1 => pack.set_metadata(Some(Json::from("other words")))?,
            2 => pack.append(&some(2 * 1600, 3))?,
            // There is no room for so many positions: the file is written anew.
            _ => pack.append(&some(9 * 1600, 4))?,
        }
        pack.commit()
    })
}

fn read_pack(dir: Arc<dyn Dir>) -> Result<State> {
    let pack = Pack::open_in_dir(dir, PACK, &OpenOptions::new())?;
    Ok(vec![pack.superchunk()?.to_vec()?, pack.metadata().map(text).unwrap_or_default()])
}

fn create_pack_objects(dir: &Arc<dyn Dir>) {
    let options = PackOptions::objects("varbinary").with_append_slots(4).with_reserve(110);
    let mut pack = Pack::create_in_dir(dir.clone(), PACK, &options).unwrap();
    (0..5).for_each(|number| pack.append_object(&some(900, number)).unwrap());
    // The offsets of the last ones are not in the first sector.
    (5..70).for_each(|number| pack.append_object(&some(20, number)).unwrap());
    pack.close().unwrap();
}

fn change_pack_objects(dir: &Arc<dyn Dir>, step: usize, again: bool) -> Result<()> {
    attempt(Pack::edit_in_dir(dir.clone(), PACK, &OpenOptions::new())?, again, |pack| {
        let replaced: &[(usize, usize)] = match step {
            0 | 1 => &[],
            // They fit into what is left free, also together with one that is appended.
            2 => &[(0, 800), (4, 950)],
            3 => &[(2, 900)],
            // The last one fits, or is too long.
            4 => &[(69, 18)],
            5 => &[(69, 200)],
            // It moves, and others with it.
            6 => &[(66, 90)],
            // They are too far from each other.
            _ => &[(1, 30), (68, 10)],
        };
        for (number, len) in replaced {
            pack.replace_object(*number as u64, &some(*len, 40 + step as u64))?;
        }
        let appended = [2, 20, 0, 1, 0, 0, 0, 0][step];
        (0..appended).try_for_each(|number| pack.append_object(&some(700, 30 + number)))?;
        pack.commit()
    })
}

fn read_pack_objects(dir: Arc<dyn Dir>) -> Result<State> {
    Pack::open_in_dir(dir, PACK, &OpenOptions::new())?.objects().collect()
}

fn create_array(dir: &Arc<dyn Dir>) {
    let options = ArrayOptions::of::<i32>().with_chunk_rows(128).with_default(7u64);
    let mut array = Array::create_in_dir(dir.clone(), &options).unwrap();
    array.append(&some(4 * 300, 1)).unwrap();
    array.set_attribute("unit", "m").unwrap();
    array.close().unwrap();
}

fn change_array(dir: &Arc<dyn Dir>, step: usize, again: bool) -> Result<()> {
    attempt(Array::edit_in_dir(dir.clone(), &OpenOptions::new())?, again, |array| {
        match step {
            0 => array.append(&some(4 * 333, 2))?,
            1 => array.write_rows(130, &some(4 * 50, 3))?,
            2 => array.truncate(array.row_count() - 100)?,
            3 => array.resize(array.row_count() + 210)?,
            4 => array.set_attribute("note", "some words")?,
            _ => drop(array.remove_attribute("unit")?),
        }
        array.commit()
    })
}

fn read_array(dir: Arc<dyn Dir>) -> Result<State> {
    let array = Array::open_in_dir(dir, &OpenOptions::new())?;
    Ok(vec![array.to_vec()?, text(array.attributes())])
}

fn create_table(dir: &Arc<dyn Dir>) {
    let column = |options: ArrayOptions| options.with_chunk_rows(64);
    let options = TableOptions::new()
        .with_column("a", column(ArrayOptions::of::<i32>()))
        .with_column("b", column(ArrayOptions::of::<f64>()))
        .with_column("c", column(ArrayOptions::of::<i16>()));
    let mut table = Table::create_in_dir(dir.clone(), &options).unwrap();
    append_rows(&mut table, 150, 1).unwrap();
    table.set_attribute("unit", "m").unwrap();
    table.close().unwrap();
}

/// Appends rows to all columns there are.
fn append_rows(table: &mut Table, count: usize, seed: u64) -> Result<()> {
    let columns: Vec<(String, Vec<u8>)> = table
        .arrays()
        .into_iter()
        .map(|(name, array)| (name, some(count * array.row_size(), seed)))
        .collect();
    let columns: Vec<(&str, &[u8])> =
        columns.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    table.append(&columns)
}

fn change_table(dir: &Arc<dyn Dir>, step: usize, again: bool) -> Result<()> {
    attempt(Table::edit_in_dir(dir.clone(), &OpenOptions::new())?, again, |table| {
        let rows = table.row_count();
        match step {
            0 => append_rows(table, 90, 2)?,
            1 => table.write_rows("a", 3, &some(4 * 40, 3))?,
            2 => table.truncate(table.row_count() - 31)?,
            3 => table.resize(rows + 80)?,
            4 => table.set_attribute("note", "some words")?,
            5 => drop(table.remove_attribute("unit")?),
            6 => {
                let options = ArrayOptions::of::<i32>().with_chunk_rows(64);
                table.add_column("d", &options, &some(4 * rows as usize, 5))?;
            }
            7 => table.remove_column("c")?,
            _ => table.rename_column("b", "beta")?,
        }
        table.commit()
    })
}

fn read_table(dir: Arc<dyn Dir>) -> Result<State> {
    let table = Table::open_in_dir(dir, &OpenOptions::new())?;
    let mut state = vec![text(table.attributes())];
    for (name, array) in table.arrays() {
        state.extend([name.into_bytes(), array.to_vec()?]);
    }
    Ok(state)
}

fn create_tree(dir: &Arc<dyn Dir>) {
    let columns = [("a", DType::parse("<i4").unwrap()), ("g/b", DType::parse("<f8").unwrap())];
    let options = blsk::TreeOptions::default().with_chunk_rows(25).with_superchunk_size(3);
    let mut table = blsk::Table::create_in_dir(
        dir.clone(),
        &blsk::TableOptions::new().with_columns(columns.clone()).with_tree(options.clone()),
    )
    .unwrap();
    table.append(&[("a", &some(4 * 110, 1)), ("g/b", &some(8 * 110, 2))]).unwrap();
    table.set_attribute("unit", "m").unwrap();
    table.close().unwrap();
}

fn change_tree(dir: &Arc<dyn Dir>, step: usize, again: bool) -> Result<()> {
    attempt(blsk::Table::edit_in_dir(dir.clone(), &OpenOptions::new())?, again, |table| {
        let rows = table.row_count();
        match step {
            0 => table.append(&[("a", &some(4 * 70, 3)), ("g/b", &some(8 * 70, 4))])?,
            1 => table.write_rows("a", 3, &some(4 * 60, 5))?,
            2 => table.truncate(table.row_count() - rows / 3)?,
            3 => table.resize(rows + 40)?,
            4 => table.set_attribute("note", "some words")?,
            5 => drop(table.remove_attribute("unit")?),
            // Both or none.
            _ => {
                table.set_attribute("rows", rows + 30)?;
                table.append(&[("a", &some(4 * 30, 6)), ("g/b", &some(8 * 30, 7))])?;
            }
        }
        table.commit()
    })
}

fn read_tree(dir: Arc<dyn Dir>) -> Result<State> {
    let table = blsk::Table::open_in_dir(dir, &OpenOptions::new())?;
    let names: Vec<String> = table.names().map(str::to_owned).collect();
    let mut state: State = table
        .attributes()
        .map(|(name, value)| format!("{name}: {:?}", value.as_text()).into_bytes())
        .collect();
    for name in names {
        let mut bytes = vec![0; table.row_count() as usize * table.row_size(&name)?];
        table.read_rows(&name, 0..table.row_count(), &mut bytes)?;
        state.push(bytes);
    }
    Ok(state)
}

const FRAME: &str = "frame";

fn create_objects(dir: &Arc<dyn Dir>) {
    let options = ObjectsOptions::bytes().with_block_len(1000);
    let mut objects = Objects::create_in_dir(dir.clone(), Some(FRAME), &options).unwrap();
    (0..30).for_each(|number| objects.append(&some(90, number)).unwrap());
    objects.close().unwrap();
}

fn change_objects(dir: &Arc<dyn Dir>, step: usize, again: bool) -> Result<()> {
    let frame = SuperChunk::edit_in_dir(dir.clone(), Some(FRAME), &OpenOptions::new())?;
    attempt(Objects::from_superchunk(frame)?, again, |objects| {
        match step {
            0 => (0..25).try_for_each(|number| objects.append(&some(120, 50 + number)))?,
            1 => objects.replace(3, b"another one")?,
            2 => objects.insert(9, b"one more")?,
            3 => objects.remove(0)?,
            _ => objects.truncate(11)?,
        }
        objects.commit()
    })
}

fn read_objects(dir: Arc<dyn Dir>) -> Result<State> {
    let objects = Objects::open_in_dir(dir, Some(FRAME), &OpenOptions::new())?;
    objects.range(0..objects.len())?.collect()
}

fn create_nd(dir: &Arc<dyn Dir>) {
    let frame = FrameOptions::new(CompressOptions::new(2));
    let options = NdStorage::new(frame).with_chunks(&[20, 30]).with_blocks(&[10, 10]);
    let dtype = DType::parse("<u2").unwrap();
    let array = NdArray::create_in_dir(
        dir.clone(),
        Some(FRAME),
        &NdOptions::new(&[30, 40], dtype.clone()).with_storage(options.clone()),
    );
    let mut array = array.unwrap();
    array.write_box(&[2, 3], &[27, 23], &some(2 * 25 * 20, 1)).unwrap();
    array.close().unwrap();
}

fn change_nd(dir: &Arc<dyn Dir>, step: usize, again: bool) -> Result<()> {
    let frame = SuperChunk::edit_in_dir(dir.clone(), Some(FRAME), &OpenOptions::new())?;
    attempt(NdArray::from_superchunk(frame)?, again, |array| {
        match step {
            0 => array.resize(&[50, 70])?,
            1 => array.write_box(&[1, 1], &[29, 31], &some(2 * 28 * 30, 2))?,
            2 => array.append(0, &some(2 * 15 * array.shape()[1] as usize, 3))?,
            _ => array.resize(&[21, 33])?,
        }
        array.commit()
    })
}

fn read_nd(dir: Arc<dyn Dir>) -> Result<State> {
    let array = NdArray::open_in_dir(dir, Some(FRAME), &OpenOptions::new())?;
    let shape = array.shape().iter().flat_map(|side| side.to_le_bytes()).collect();
    Ok(vec![shape, array.to_vec()?])
}
