//! A super-chunk that is changed at random, compared with a plain list of byte vectors.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a model is there to fail by panicking"
)]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::rng::Rng;
use crate::samples::mixed;
use superchunk::store::MemoryFolder;
use superchunk::{Codec, CompressOptions, Fill, FrameOptions, OpenOptions, SuperChunk, chunk};

/// What a super-chunk should hold.
#[derive(Clone, Default)]
struct Model {
    chunks: Vec<Vec<u8>>,
    /// `None`: chunks of any size.
    size: Option<usize>,
    values: BTreeMap<String, Vec<u8>>,
    layers: BTreeMap<String, Vec<u8>>,
}

impl Model {
    fn bytes(&self) -> Vec<u8> {
        self.chunks.concat()
    }

    fn append(&mut self, mut bytes: &[u8]) {
        let Some(size) = self.size else {
            if !bytes.is_empty() {
                self.chunks.push(bytes.to_vec());
            }
            return;
        };
        while !bytes.is_empty() {
            if self.chunks.last().is_none_or(|last| last.len() == size) {
                self.chunks.push(Vec::new());
            }
            let last = self.chunks.last_mut().unwrap();
            let count = bytes.len().min(size - last.len());
            last.extend(&bytes[..count]);
            bytes = &bytes[count..];
        }
    }

    /// A chunk of another size makes all sizes free, unless it may stand where it is.
    fn admit(&mut self, len: usize, at: usize, appended: bool) {
        let Some(size) = self.size else { return };
        let short = self.chunks.last().is_some_and(|last| last.len() < size);
        let fits = match (self.chunks.is_empty(), appended, at + 1 == self.chunks.len()) {
            (true, ..) => {
                self.size = Some(size.max(len));
                true
            }
            (_, true, _) => len <= size && !short,
            (_, false, true) => len <= size,
            _ => len == size,
        };
        if !fits {
            self.size = None;
        }
    }

    fn rebuild(&mut self, bytes: &[u8]) {
        if let Some(size) = self.size {
            self.chunks = bytes.chunks(size).map(<[u8]>::to_vec).collect();
        }
    }
}

/// Where the super-chunk of a run lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In memory, as no frame.
    Heap,
    /// In a contiguous frame.
    Contiguous,
    /// In a sparse frame.
    Sparse,
}

/// Who decides what happens next: chance, or a fuzzer.
pub trait Choose {
    /// Any number.
    fn number(&mut self) -> u64;

    /// A number in `0..bound`; 0 when `bound` is 0.
    fn below(&mut self, bound: u64) -> u64;

    /// A position in `0..bound`; 0 when `bound` is 0.
    fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).unwrap_or(0)
    }
}

impl Choose for Rng {
    fn number(&mut self) -> u64 {
        self.next_u64()
    }

    fn below(&mut self, bound: u64) -> u64 {
        Rng::below(self, bound)
    }
}

/// A super-chunk that is changed step by step, beside its model.
pub struct Run<C> {
    place: Place,
    dir: Arc<MemoryFolder>,
    rng: C,
    item_size: usize,
    options: FrameOptions,
    subject: SuperChunk,
    model: Model,
    committed: Option<Model>,
}

const CODECS: [Codec; 4] = [Codec::Lz4, Codec::BloscLz, Codec::Zlib, Codec::Zstd];

impl<C> fmt::Debug for Run<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl<C: Choose> Run<C> {
    /// An empty super-chunk with options that `rng` chooses.
    ///
    /// # Panics
    ///
    /// When it cannot be made.
    #[must_use]
    pub fn new(place: Place, mut rng: C) -> Self {
        let item_size = [1, 2, 4, 8, 12, 300][rng.index(6)];
        let size = item_size * (1 + rng.index(40));
        let compress = CompressOptions::new(item_size)
            .with_codec(CODECS[rng.index(4)])
            .with_level(rng.below(10) as u8);
        // Not every build has every codec.
        let built_in = chunk::Encoder::new(&compress).is_ok();
        let compress = if built_in { compress } else { compress.with_codec(Codec::Lz4) };
        let mut options = FrameOptions::new(compress).with_chunk_size(size);
        let variable = rng.below(5) == 0;
        options.variable = variable;
        options.checksums = rng.below(4) > 0;
        let dir: Arc<MemoryFolder> = Arc::default();
        let subject = match place {
            Place::Heap => SuperChunk::in_memory(&options),
            Place::Contiguous => SuperChunk::create_in_dir(dir.clone(), Some("frame"), &options),
            Place::Sparse => SuperChunk::create_in_dir(dir.clone(), None, &options),
        };
        let model = Model { size: (!variable).then_some(size), ..Model::default() };
        Self {
            place,
            dir,
            rng,
            item_size,
            options,
            subject: subject.unwrap(),
            model,
            committed: None,
        }
    }

    fn name(&self) -> Option<&'static str> {
        (self.place == Place::Contiguous).then_some("frame")
    }

    fn items(&mut self, most: usize) -> Vec<u8> {
        let count = 1 + self.rng.index(most);
        let seed = self.rng.number();
        match self.rng.below(6) {
            0 => vec![0; count * self.item_size],
            _ => mixed(count * self.item_size, self.item_size, seed),
        }
    }

    /// A chunk, mostly of the right size.
    fn chunk(&mut self) -> (Vec<u8>, Vec<u8>) {
        let bytes = match (self.model.size, self.rng.below(6)) {
            (Some(size), 1..) => {
                let seed = self.rng.number();
                mixed(size, self.item_size, seed)
            }
            _ => self.items(50),
        };
        let chunk = chunk::compress(&bytes, &self.options.compress).unwrap();
        (bytes, chunk)
    }

    /// Who decides.
    pub fn choice(&self) -> &C {
        &self.rng
    }

    /// Makes one change to both, and tells which.
    ///
    /// # Panics
    ///
    /// When the super-chunk refuses it.
    pub fn step(&mut self) -> String {
        let count = self.model.chunks.len();
        let at = self.rng.index(count.max(1));
        match self.rng.below(22) {
            0..5 => {
                let bytes = self.items(100);
                self.subject.append(&bytes).unwrap();
                self.model.append(&bytes);
                format!("append {}", bytes.len())
            }
            5 | 6 => {
                let (bytes, chunk) = self.chunk();
                self.subject.append_chunk(&chunk).unwrap();
                self.model.admit(bytes.len(), count, true);
                self.model.chunks.push(bytes);
                "append_chunk".to_owned()
            }
            7 | 8 => {
                let (bytes, chunk) = self.chunk();
                let at = self.rng.index(count + 1);
                self.subject.insert_chunk(at, &chunk).unwrap();
                if at == count {
                    self.model.admit(bytes.len(), at, true);
                } else if self.model.size.is_some_and(|size| size != bytes.len()) {
                    self.model.size = None;
                }
                self.model.chunks.insert(at, bytes);
                format!("insert {at}")
            }
            9 | 10 if count > 0 => {
                let (bytes, chunk) = self.chunk();
                self.subject.update_chunk(at, &chunk).unwrap();
                self.model.admit(bytes.len(), at, false);
                self.model.chunks[at] = bytes;
                format!("update {at}")
            }
            11 | 12 if count > 0 => {
                self.subject.delete_chunk(at).unwrap();
                self.model.chunks.remove(at);
                format!("delete {at}")
            }
            13 if count > 0 => self.reorder(),
            14 | 15 if count > 0 => self.write_items(),
            16 => self.fill(),
            17 => self.resize(),
            18 => self.metadata(),
            19 => {
                self.subject.commit().unwrap();
                self.committed = Some(self.model.clone());
                "commit".to_owned()
            }
            20 => self.reopen(),
            21 => {
                self.subject.compact().unwrap();
                self.committed = Some(self.model.clone());
                "compact".to_owned()
            }
            _ => "nothing".to_owned(),
        }
    }

    fn reorder(&mut self) -> String {
        let count = self.model.chunks.len();
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.rng.index(last + 1));
        }
        let short = self.model.size.is_some()
            && self.model.chunks[count - 1].len() != self.model.chunks[0].len();
        if short && order[count - 1] != count - 1 {
            assert!(self.subject.reorder(&order).is_err());
            return "reorder refused".to_owned();
        }
        self.subject.reorder(&order).unwrap();
        self.model.chunks = order.iter().map(|i| self.model.chunks[*i].clone()).collect();
        format!("reorder {order:?}")
    }

    fn write_items(&mut self) -> String {
        let total = self.model.bytes().len() / self.item_size;
        let start = self.rng.index(total.max(1));
        let mut bytes = self.items(60);
        bytes.truncate((total - start) * self.item_size);
        self.subject.write_bytes((start * self.item_size) as u64, &bytes).unwrap();
        let mut position = start * self.item_size;
        for chunk in &mut self.model.chunks {
            if position >= chunk.len() {
                position -= chunk.len();
                continue;
            }
            let count = bytes.len().min(chunk.len() - position);
            chunk[position..position + count].copy_from_slice(&bytes[..count]);
            bytes.drain(..count);
            position = 0;
        }
        format!("write_items from {start}")
    }

    fn fill(&mut self) -> String {
        let items = self.rng.index(100);
        let nans = matches!(self.item_size, 4 | 8) && self.rng.below(2) == 0;
        let value = match self.item_size {
            4 if nans => f32::NAN.to_le_bytes().to_vec(),
            8 if nans => f64::NAN.to_le_bytes().to_vec(),
            size => vec![0; size],
        };
        let kind = if nans { Fill::Nans } else { Fill::Zeros };
        self.subject.append_fill(kind, items as u64).unwrap();
        self.model.append(&value.repeat(items));
        format!("fill {items}")
    }

    fn resize(&mut self) -> String {
        let bytes = self.model.bytes();
        let items = self.rng.index(bytes.len() / self.item_size + 1);
        self.subject.resize(items as u64).unwrap();
        let len = items * self.item_size;
        if self.model.size.is_some() {
            self.model.rebuild(&bytes[..len]);
            return format!("resize to {items}");
        }
        let mut left = len;
        for chunk in &mut self.model.chunks {
            chunk.truncate(left);
            left -= chunk.len();
        }
        self.model.chunks.retain(|chunk| !chunk.is_empty());
        format!("resize to {items}")
    }

    fn metadata(&mut self) -> String {
        let name = format!("name{}", self.rng.below(5));
        let value = self.items(30);
        match self.rng.below(5) {
            0 if self.model.values.contains_key(&name) => {
                self.subject.remove_attribute(&name).unwrap();
                self.model.values.remove(&name);
            }
            1 => {
                self.subject.set_metalayer(&name, &value).unwrap();
                self.model.layers.insert(name, value);
            }
            _ => {
                self.subject.set_attribute_bytes(&name, &value).unwrap();
                self.model.values.insert(name, value);
            }
        }
        "metadata".to_owned()
    }

    fn reopen(&mut self) -> String {
        if self.place == Place::Heap {
            let bytes = self.subject.to_bytes().unwrap();
            let options = self.subject.frame_options();
            self.subject = SuperChunk::from_bytes(bytes).unwrap().copy_to_memory(&options).unwrap();
            return "through bytes".to_owned();
        }
        let nowhere = FrameOptions::new(CompressOptions::new(1));
        let old = std::mem::replace(&mut self.subject, SuperChunk::in_memory(&nowhere).unwrap());
        old.close().unwrap();
        self.committed = Some(self.model.clone());
        let reopened = SuperChunk::edit_in_dir(self.dir.clone(), self.name(), &OpenOptions::new());
        self.subject = reopened.unwrap();
        "reopen".to_owned()
    }

    /// Compares the super-chunk with the model, and the last commit with the model of then.
    ///
    /// # Panics
    ///
    /// When they differ.
    pub fn check(&mut self) {
        equal(&self.subject, &self.model, &mut self.rng);
        if let Some(committed) = &self.committed
            && self.place != Place::Heap
        {
            // Everyone else sees the last commit and nothing later.
            let seen = SuperChunk::open_in_dir(self.dir.clone(), self.name(), &OpenOptions::new())
                .unwrap();
            equal(&seen, committed, &mut self.rng);
        }
    }
}

fn equal(subject: &SuperChunk, model: &Model, rng: &mut impl Choose) {
    let bytes = model.bytes();
    assert_eq!(subject.byte_len(), bytes.len() as u64);
    assert_eq!(subject.chunk_count(), model.chunks.len());
    assert_eq!(subject.to_vec().unwrap(), bytes);
    if !model.chunks.is_empty() {
        let number = rng.index(model.chunks.len());
        assert_eq!(subject.read_chunk(number).unwrap(), model.chunks[number]);
        let chunk = subject.compressed_chunk(number).unwrap();
        assert_eq!(chunk::decompress(&chunk).unwrap(), model.chunks[number]);
    }
    let start = rng.index(bytes.len() + 1);
    let end = start + rng.index(bytes.len() - start + 1);
    let mut part = vec![0; end - start];
    subject.read_bytes(start as u64..end as u64, &mut part).unwrap();
    assert_eq!(part, bytes[start..end]);
    let size = subject.item_size();
    let items = bytes.len() / size;
    let picked: Vec<u64> = (0..rng.index(40).min(items)).map(|_| rng.index(items) as u64).collect();
    let mut gathered = vec![0; picked.len() * size];
    subject.gather(&picked, &mut gathered).unwrap();
    for (item, found) in picked.iter().zip(gathered.chunks(size)) {
        let at = *item as usize * size;
        assert_eq!(found, &bytes[at..at + size]);
    }
    let values: Vec<&str> = subject.attribute_names().collect();
    assert_eq!(values.len(), model.values.len());
    for (name, value) in &model.values {
        assert_eq!(subject.attribute_bytes(name).unwrap(), *value);
    }
    assert_eq!(subject.metalayer_names().count(), model.layers.len());
    for (name, value) in &model.layers {
        assert_eq!(subject.metalayer(name), Some(value.as_slice()));
    }
    assert!(subject.verify().unwrap().is_good());
}
