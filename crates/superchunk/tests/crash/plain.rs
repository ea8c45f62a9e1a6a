//! What a super-chunk should hold, as plainly as can be, and every way of changing it.

use std::collections::BTreeMap;
use std::sync::Arc;

use superchunk::frame::Kind;
use superchunk::store::Dir;
use superchunk::{CompressOptions, Fill, FrameOptions, OpenOptions, Result, SuperChunk, chunk};
use superchunk_testkit::rng::Rng;

/// The bytes of a chunk: some sectors, so that it can be torn.
pub(crate) const CHUNK: usize = 1600;
const ITEM: usize = 4;
/// The name of a contiguous frame in its folder.
pub(crate) const FRAME: &str = "frame";

/// Bytes and metadata.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Plain {
    pub(crate) bytes: Vec<u8>,
    pub(crate) values: BTreeMap<String, Vec<u8>>,
    pub(crate) layers: BTreeMap<String, Vec<u8>>,
}

/// A change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    Append(usize),
    AppendChunk,
    Update,
    Insert,
    Delete,
    DeleteAll,
    Swap,
    WriteItems,
    Fill,
    Shorten,
    SetValue,
    RemoveValue,
    /// A metalayer gets other bytes, as many as before.
    ChangeLayer,
    /// A metalayer gets longer.
    GrowLayer,
    Compact,
    /// No change, but the frame is closed and opened again.
    Reopen,
}

/// Every change, in an order in which each finds something to change.
pub(crate) const STEPS: [Step; 26] = [
    Step::Append(3 * CHUNK + 400),
    Step::Append(100),
    Step::Update,
    Step::SetValue,
    Step::Insert,
    Step::Reopen,
    Step::Append(CHUNK),
    Step::Delete,
    Step::ChangeLayer,
    Step::WriteItems,
    Step::GrowLayer,
    Step::SetValue,
    Step::Fill,
    Step::RemoveValue,
    Step::Reopen,
    Step::Update,
    Step::Shorten,
    Step::AppendChunk,
    Step::Swap,
    Step::Compact,
    Step::WriteItems,
    Step::Append(20),
    Step::DeleteAll,
    Step::Append(2 * CHUNK),
    Step::SetValue,
    Step::Delete,
];

/// Makes the frame that is to be changed.
pub(crate) fn create(dir: &Arc<dyn Dir>, kind: Kind) -> SuperChunk {
    let compress = CompressOptions::new(ITEM);
    let options =
        FrameOptions::new(compress).with_chunk_size(CHUNK).with_metalayer("layer", [1, 2, 3]);
    match kind {
        Kind::Sparse => SuperChunk::create_in_dir(dir.clone(), None, &options).unwrap(),
        _ => SuperChunk::create_in_dir(dir.clone(), Some(FRAME), &options).unwrap(),
    }
}

pub(crate) fn edit(dir: &Arc<dyn Dir>, kind: Kind) -> Result<SuperChunk> {
    SuperChunk::edit_in_dir(dir.clone(), name_of(kind), &OpenOptions::new())
}

/// What is found in a folder.
pub(crate) fn read(dir: Arc<dyn Dir>, kind: Kind) -> Result<Plain> {
    Plain::of(&SuperChunk::open_in_dir(dir, name_of(kind), &OpenOptions::new())?)
}

fn name_of(kind: Kind) -> Option<&'static str> {
    (kind == Kind::Contiguous).then_some(FRAME)
}

impl Plain {
    /// What [`create`] makes.
    pub(crate) fn new() -> Self {
        let layers = BTreeMap::from([("layer".to_owned(), vec![1, 2, 3])]);
        Self { layers, ..Self::default() }
    }

    /// What a super-chunk holds.
    pub(crate) fn of(frame: &SuperChunk) -> Result<Self> {
        let values =
            frame.attribute_names().map(|name| Ok((name.to_owned(), frame.attribute_bytes(name)?)));
        let layer =
            |name: &str| (name.to_owned(), frame.metalayer(name).unwrap_or_default().to_vec());
        Ok(Self {
            bytes: frame.to_vec()?,
            values: values.collect::<Result<_>>()?,
            layers: frame.metalayer_names().map(layer).collect(),
        })
    }
}

/// Does one step to a frame and to its model, without a commit.
pub(crate) fn change(
    step: Step,
    seed: u64,
    frame: &mut SuperChunk,
    plain: &mut Plain,
) -> Result<()> {
    let mut rng = Rng::new(seed);
    let full = plain.bytes.len() / CHUNK;
    let at = rng.index(full.max(1));
    let here = at * CHUNK..((at + 1) * CHUNK).min(plain.bytes.len());
    let fresh = some_bytes(CHUNK, &mut rng);
    let packed = chunk::compress(&fresh, &CompressOptions::new(ITEM))?;
    match step {
        Step::Append(len) => {
            let bytes = some_bytes(len, &mut rng);
            frame.append(&bytes)?;
            plain.bytes.extend(bytes);
        }
        Step::AppendChunk => {
            frame.resize((full * CHUNK / ITEM) as u64)?;
            frame.append_chunk(&packed)?;
            plain.bytes.truncate(full * CHUNK);
            plain.bytes.extend(fresh);
        }
        Step::Update => {
            frame.update_chunk(at, &packed)?;
            plain.bytes.splice(here, fresh);
        }
        Step::Insert => {
            frame.insert_chunk(at, &packed)?;
            plain.bytes.splice(here.start..here.start, fresh);
        }
        Step::Delete => {
            frame.delete_chunk(at)?;
            plain.bytes.drain(here);
        }
        Step::DeleteAll => {
            while frame.chunk_count() > 0 {
                frame.delete_chunk(0)?;
            }
            plain.bytes.clear();
        }
        Step::Swap => {
            let mut order: Vec<usize> = (0..frame.chunk_count()).collect();
            order.swap(0, full - 1);
            frame.reorder(&order)?;
            let chunks: Vec<Vec<u8>> = plain.bytes.chunks(CHUNK).map(<[u8]>::to_vec).collect();
            plain.bytes = order.iter().flat_map(|i| chunks[*i].clone()).collect();
        }
        _ => return change_rest(step, &mut rng, frame, plain),
    }
    Ok(())
}

fn change_rest(step: Step, rng: &mut Rng, frame: &mut SuperChunk, plain: &mut Plain) -> Result<()> {
    match step {
        Step::WriteItems => {
            let start = plain.bytes.len() / ITEM / 3;
            let bytes = some_bytes(plain.bytes.len() / 3 / ITEM * ITEM, rng);
            frame.write_bytes((start * ITEM) as u64, &bytes)?;
            plain.bytes.splice(start * ITEM..start * ITEM + bytes.len(), bytes);
        }
        Step::Fill => {
            frame.append_fill(Fill::Zeros, 700)?;
            plain.bytes.extend([0; 700 * ITEM]);
        }
        Step::Shorten => {
            let items = plain.bytes.len() / ITEM * 2 / 3;
            frame.resize(items as u64)?;
            plain.bytes.truncate(items * ITEM);
        }
        Step::SetValue => {
            let name = format!("value{}", rng.below(3));
            let len = 100 + rng.index(900);
            let value = some_bytes(len, rng);
            frame.set_attribute_bytes(&name, &value)?;
            plain.values.insert(name, value);
        }
        Step::RemoveValue => {
            let name = plain.values.keys().next().unwrap().clone();
            frame.remove_attribute(&name)?;
            plain.values.remove(&name);
        }
        Step::ChangeLayer | Step::GrowLayer => {
            let layer = plain.layers.get_mut("layer").unwrap();
            let more = if step == Step::GrowLayer { 700 } else { 0 };
            *layer = rng.bytes(layer.len() + more);
            frame.set_metalayer("layer", layer)?;
        }
        Step::Compact => frame.compact()?,
        _ => {}
    }
    Ok(())
}

/// Bytes that a codec can do something with, but not much.
fn some_bytes(len: usize, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = rng.bytes(len);
    bytes.iter_mut().step_by(3).for_each(|byte| *byte = 7);
    bytes
}
