//! A new tree out of what was found: chunks as they were stored, zeros where there are none.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::input::Input;
use super::super::report::{ATTRIBUTE, Certainty, ChunkOrder, FoundAt, SalvageReport};
use super::cut::{Cut, chunk_len};
use super::survey::{Column as Files, Survey};
use super::types::Typed;
use crate::chunk::{Decoder, Encoder};
use crate::container::{Entry, Layout};
use crate::dtype::ByteOrder;
use crate::error::{Error, MustGet, Result};
use crate::frame::Durability;
use crate::limits::Limits;
use crate::nd::Geometry;
use crate::options::{ChunkFormat, CompressOptions};
use crate::store::Dir;
use crate::superfile::{Access, Column, Compression, Leaf, Reserve, Root, Storage, Yaml};

/// Makes the tree anew in `to`.
pub(super) fn rebuild(
    survey: &Survey,
    columns: Vec<Typed<'_>>,
    cut: Cut,
    to: Arc<dyn Dir>,
    limits: &Limits,
    mut report: SalvageReport,
) -> Result<SalvageReport> {
    let storage = storage(survey, &columns, &cut, &mut report)?;
    let mut empty = storage.clone();
    empty.shape.iter_mut().take(1).for_each(|rows| *rows = 0);
    let access = Access {
        limits: Limits::default(),
        durability: Durability::Full,
        writable: true,
        recover: false,
    };
    let root = Arc::new(Root::create(to, "salvage".to_owned(), &empty, access)?);
    for typed in &columns {
        let is_array = typed.leaf.path.is_empty();
        let own = SalvageReport::new("blsk array", ChunkOrder::Index);
        let part = if is_array { std::mem::replace(&mut report, own) } else { own };
        let column = Column::open(&root, &typed.leaf, &storage, 0)?;
        let geometry = cut.geometry(typed.leaf.dtype.item_size())?;
        let encoder = encoder(&storage, &typed.leaf)?;
        let zeros = Zeros { made: BTreeMap::new(), encoder, limits: *limits };
        let mut maker = Maker { survey, typed, cut: &cut, geometry, column, zeros, report: part };
        maker.run()?;
        match is_array {
            true => report = maker.report,
            false => report.columns.push((typed.leaf.path.join("/"), maker.report)),
        }
    }
    if let Some(attributes) = labelled(survey.attributes.as_deref(), &report)? {
        root.stage_meta("attributes", attributes);
    }
    root.stage_meta("storage", storage.to_text());
    root.finish(*storage.shape.must_get(0)?)?;
    Ok(report)
}

/// The file of attributes with a list of what is lost or uncertain.
fn labelled(attributes: Option<&str>, report: &SalvageReport) -> Result<Option<String>> {
    let lines = report.uncertain();
    if lines.is_empty() {
        return Ok(attributes.map(str::to_owned));
    }
    let Yaml::Map(mut entries) = Yaml::parse(attributes.unwrap_or_default())? else {
        return Ok(attributes.map(str::to_owned));
    };
    entries.retain(|(name, _)| name != ATTRIBUTE);
    let lines = lines.into_iter().map(Yaml::Quoted).collect();
    entries.push((ATTRIBUTE.to_owned(), Yaml::List(lines)));
    Ok(Some(Yaml::Map(entries).to_text()))
}

/// What the new tree says of itself.
fn storage(
    survey: &Survey,
    columns: &[Typed<'_>],
    cut: &Cut,
    report: &mut SalvageReport,
) -> Result<Storage> {
    let stated = &survey.storage;
    if stated.order.is_none() && cut.shape.len() > 1 {
        report.notes.push("the order of items is not stated: it is assumed to be C".to_owned());
    }
    let compression = match &stated.compression {
        Some(compression) => compression.clone(),
        None => Compression::from_options(&usual())?,
    };
    let storage = Storage {
        columns: columns.iter().map(|typed| typed.leaf.clone()).collect(),
        shape: cut.shape.clone(),
        chunkshape: cut.chunkshape.clone(),
        superchunksize: cut.per_file,
        endianness: stated.endianness.unwrap_or(ByteOrder::Little),
        order: stated.order.unwrap_or_default(),
        compression,
        reserve: stated.reserve.unwrap_or(Reserve::Part(8)),
        other: stated.other.clone(),
    };
    storage.check()?;
    Ok(storage)
}

/// What compresses chunks of a column that are not copied: as is stated, if that is possible here.
fn encoder(storage: &Storage, leaf: &Leaf) -> Result<Encoder> {
    let stated = storage.compression.to_options(leaf.dtype.item_size());
    let checked = |options: CompressOptions| Encoder::new(&options.with_check(true));
    stated.and_then(checked).or_else(|_| checked(usual()))
}

fn usual() -> CompressOptions {
    CompressOptions::new(1).with_format(ChunkFormat::Blosc1)
}

/// Makes one column.
struct Maker<'s> {
    survey: &'s Survey,
    typed: &'s Typed<'s>,
    cut: &'s Cut,
    geometry: Geometry,
    column: Column,
    zeros: Zeros,
    report: SalvageReport,
}

impl Maker<'_> {
    fn run(&mut self) -> Result<()> {
        let count = self.geometry.chunk_count;
        let mut entries = Vec::new();
        for file in 0..count.div_ceil(self.cut.per_file) as u64 {
            self.file(file, count, &mut entries)?;
        }
        let files = self.typed.files.map(|files| &files.files);
        let beyond = count.div_ceil(self.cut.per_file) as u64;
        let beyond = files.map_or(0, |files| files.range(beyond..).count());
        if beyond > 0 {
            self.report.notes.push(format!("{beyond} files lie beyond the last row"));
        }
        self.column.stage_commit(&mut entries)
    }

    /// Makes the chunks of a file.
    fn file(&mut self, file: u64, count: usize, entries: &mut Vec<Entry>) -> Result<()> {
        let here = self.cut.count_in(file, count);
        let name = Files::file_name(&self.typed.leaf.path, file);
        let files = self.typed.files;
        let remains = files.and_then(|files| Some((files, files.files.get(&file)?)));
        let Some((files, remains)) = remains else {
            let reason = "the file of the chunk is missing or cannot be read";
            return (0..here).try_for_each(|_| {
                self.hole(entries, FoundAt::File(name.clone()), reason.to_owned())
            });
        };
        let store = files.open(&self.survey.root, file)?;
        let mut input = Input::new(store.as_ref())?;
        if let Err(error) = &remains.head {
            self.report.lose(FoundAt::File(name.clone()), error.to_string());
        }
        let placed = remains.place(here, self.cut.per_file);
        if !placed.is_certain {
            self.report.order = ChunkOrder::Storage;
            let words = format!("some chunks of {name} may be in the places of others");
            self.report.notes.push(words);
        }
        self.report.superseded += placed.left;
        for (slot, number) in placed.slots.iter().enumerate() {
            let source = remains.source(slot, *number, &name);
            let found = number.and_then(|number| remains.found.get(number));
            let missing = || Error::corrupt("no chunk that decodes is where it should be");
            let read = found.ok_or_else(missing).and_then(|found| {
                Ok((input.whole(&found.range())?, found.decoded_len, found.certainty))
            });
            match read {
                Ok((chunk, len, certainty)) => {
                    self.chunk(entries, source, chunk, len, certainty)?
                }
                Err(error) if error.is_no_damage() => return Err(error),
                Err(error) => self.hole(entries, source, error.message().to_owned())?,
            }
        }
        Ok(())
    }

    /// Adds a chunk that was found.
    fn chunk(
        &mut self,
        entries: &mut Vec<Entry>,
        source: FoundAt,
        chunk: &[u8],
        len: usize,
        certainty: Certainty,
    ) -> Result<()> {
        let (number, full) = (entries.len(), self.geometry.chunk_bytes);
        let wanted = chunk_len(&self.geometry, number);
        if len > full {
            let reason = format!("it holds {len} bytes, {wanted} belong here");
            return self.hole(entries, source, reason);
        }
        let mut chunk = chunk.to_vec();
        if len != wanted && len != full {
            let mut items = Decoder::new().with_limits(self.zeros.limits).decompress(&chunk)?;
            items.resize(wanted, 0);
            chunk = self.zeros.encoder.compress(&items)?;
            if len < wanted {
                let reason = format!("of {wanted} bytes {len} are here");
                self.report.miss(number as u64, source.clone(), reason);
            }
        }
        self.report.keep(number as u64, source, len.min(wanted), certainty);
        entries.push(Entry::stored(self.column.put(&mut chunk)?));
        Ok(())
    }

    /// Adds zeros in the place of a chunk.
    fn hole(&mut self, entries: &mut Vec<Entry>, source: FoundAt, reason: String) -> Result<()> {
        let number = entries.len();
        let mut chunk = self.zeros.get(chunk_len(&self.geometry, number))?;
        self.report.miss(number as u64, source, reason);
        entries.push(Entry::stored(self.column.put(&mut chunk)?));
        Ok(())
    }
}

/// Chunks of zeros.
struct Zeros {
    made: BTreeMap<usize, Vec<u8>>,
    encoder: Encoder,
    limits: Limits,
}

impl Zeros {
    fn get(&mut self, len: usize) -> Result<Vec<u8>> {
        if let Some(made) = self.made.get(&len) {
            return Ok(made.clone());
        }
        self.limits.check_decoded(len).map_err(|error: Error| error.within("salvage"))?;
        let made = self.encoder.compress(&vec![0; len])?;
        self.made.insert(len, made.clone());
        Ok(made)
    }
}
