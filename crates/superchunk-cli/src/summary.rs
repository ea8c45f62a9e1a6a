//! What something is, in a form that is printed as text and as JSON. Nothing is decoded.

use std::fmt::Write;

use superchunk::bloscpack::{Checksum, Pack};
use superchunk::detect::Format;
use superchunk::{Filter, Integrity, StoredChunk, SuperChunk, Value};

use crate::attributes;
use crate::failure::Outcome;
use crate::input::{Content, Input};
use crate::names::human;
use crate::opened::index_file;
use crate::output::{Document, numbers, ratio, rounded, texts};
use crate::parts::Envelope;

/// What is known of something without decoding it.
pub(crate) struct Summary {
    pub(crate) format: &'static str,
    storage: &'static str,
    pub(crate) nbytes: u64,
    /// The compressed chunks.
    pub(crate) cbytes: u64,
    /// All of the storage.
    pub(crate) stored: u64,
    pub(crate) typesize: u64,
    pub(crate) nchunks: u64,
    chunk_size: Option<u64>,
    block_size: Option<u64>,
    pub(crate) codec: Option<String>,
    level: Option<u8>,
    filters: Vec<String>,
    split: Option<String>,
    dictionary: bool,
    checksums: Option<&'static str>,
    /// The bits of an index entry, if they are not the usual 64.
    entry_bits: Option<u64>,
    metalayers: Vec<(String, Value)>,
    attributes: Vec<(String, Value)>,
    pub(crate) array: Option<(Vec<u64>, String)>,
    grid: Option<(Vec<u64>, Vec<u64>)>,
    /// How many objects there are, and what they are.
    pub(crate) objects: Option<(u64, &'static str)>,
    /// The bytes of a Bloscpack file of objects that belong to none of them, and how many of those
    /// did.
    free: Option<(u64, u64)>,
}

impl Summary {
    /// Looks at something that was opened.
    pub(crate) fn of(input: &Input) -> Outcome<Self> {
        let mut summary = Self::plain(input);
        match &input.content {
            Content::Frame(frame) => summary.add_frame(frame, input)?,
            Content::Chunk(chunk) => summary.add_chunk(chunk),
            Content::Array(array) => {
                summary.array = Some((array.shape().to_vec(), array.dtype()));
                summary.format = "npy";
                if let Some(frame) = array.frame() {
                    summary.format = "b2nd";
                    summary.grid = array.grid();
                    summary.add_frame(frame, input)?;
                }
            }
            Content::Objects(list) => {
                summary.objects = Some((list.count(), list.kind_name()));
                if let Some(frame) = list.frame() {
                    summary.add_frame(frame, input)?;
                }
            }
            Content::Pack(_) | Content::Raw(_) => {}
        }
        if let Some(pack) = input.pack() {
            summary.add_pack(pack)?;
        }
        Ok(summary)
    }

    fn plain(input: &Input) -> Self {
        let file_len = std::fs::metadata(&input.path).map_or(0, |found| found.len());
        Self {
            format: "raw",
            storage: "file",
            nbytes: input.len(),
            cbytes: file_len,
            stored: file_len,
            typesize: input.item_size() as u64,
            nchunks: 0,
            chunk_size: None,
            block_size: None,
            codec: None,
            level: None,
            filters: Vec::new(),
            split: None,
            dictionary: false,
            checksums: None,
            entry_bits: None,
            metalayers: Vec::new(),
            attributes: Vec::new(),
            array: None,
            grid: None,
            objects: None,
            free: None,
        }
    }

    fn add_frame(&mut self, frame: &SuperChunk, input: &Input) -> Outcome {
        if self.format == "raw" {
            self.format = "b2frame";
        }
        let is_sparse = input.detected.format == Format::SparseFrame;
        self.storage = if is_sparse { "sparse" } else { "contiguous" };
        let file = index_file(&input.path, input.detected.format);
        self.cbytes = Envelope::open(&file, input.memory)?.cbytes();
        self.stored = frame.stored_len()?;
        self.nchunks = frame.chunk_count() as u64;
        self.chunk_size = frame.chunk_size().map(|size| size as u64);
        let options = frame.options();
        self.block_size = options.block_size.map(|size| size as u64);
        self.codec = Some(options.codec.to_string());
        self.level = Some(options.level);
        self.filters = names_of(&options.filters);
        self.split = Some(options.split.to_string());
        self.dictionary = options.dictionary;
        self.checksums = Some(match frame.integrity() {
            Integrity::None => "none",
            Integrity::Sealed => "sealed",
            _ => "unverified",
        });
        self.entry_bits = unusual_entry_bits(frame);
        let mut decoding = input.decoding();
        for name in frame.metalayer_names() {
            let bytes = frame.metalayer(name).unwrap_or_default();
            self.metalayers.push((name.to_owned(), decoding.value(bytes)?));
        }
        for name in frame.attribute_names() {
            let value = match frame.attribute_bytes(name) {
                Ok(bytes) => decoding.value(&bytes)?,
                Err(error) => format!("(damaged: {error})").into(),
            };
            self.attributes.push((name.to_owned(), value));
        }
        Ok(())
    }

    fn add_pack(&mut self, pack: &Pack) -> Outcome {
        let header = pack.header();
        let data = pack.superchunk()?;
        self.format = "blp";
        self.storage = match header.version {
            1 => "version 1",
            2 => "version 2",
            3 => "version 3",
            _ => "version 4",
        };
        self.nbytes = data.byte_len();
        self.stored = data.stored_len()?;
        self.nchunks = data.chunk_count() as u64;
        self.chunk_size = header.chunk_size.map(|size| size as u64);
        let options = data.options();
        self.codec = Some(options.codec.to_string());
        self.filters = names_of(&options.filters);
        let checksum = header.checksum;
        self.checksums = Some(if checksum == Checksum::None { "none" } else { checksum.name() });
        self.attributes = attributes::of_pack(pack);
        if pack.has_objects() {
            self.free = Some((pack.free_len()?, pack.dead_len()?));
        }
        Ok(())
    }

    fn add_chunk(&mut self, chunk: &StoredChunk) {
        let header = chunk.header();
        self.format = "chunk";
        self.storage = if header.version() <= 2 { "blosc1" } else { "blosc2" };
        self.nchunks = 1;
        self.chunk_size = Some(header.byte_len() as u64);
        self.block_size = header.block_size().map(|size| size as u64);
        self.codec = Some(header.codec().map_or("unknown".to_owned(), |codec| codec.to_string()));
        self.filters = names_of(&header.filters());
        self.dictionary = header.has_dictionary();
    }

    /// The document that `info --json` prints.
    pub(crate) fn document(&self, input: &Input) -> Document {
        let named = |layers: &[(String, Value)]| texts(layers.iter().map(|(name, _)| name.clone()));
        let mut metadata: Vec<(Value, Value)> = Vec::new();
        for (name, value) in self.attributes.iter().chain(&self.metalayers) {
            if !metadata.iter().any(|(known, _)| known.as_str() == Some(name)) {
                metadata.push((name.as_str().into(), value.clone()));
            }
        }
        let document = Document::new("info")
            .with("path", input.value.clone())
            .with("format", self.format)
            .with("reason", input.detected.reason)
            .with("storage", self.storage)
            .with("nbytes", self.nbytes)
            .with("cbytes", self.cbytes)
            .with("stored", self.stored)
            .with("ratio", rounded(ratio(self.nbytes, self.stored)))
            .with("typesize", self.typesize)
            .with("nchunks", self.nchunks)
            .with_or_null("chunksize", self.chunk_size)
            .with_or_null("blocksize", self.block_size)
            .with_or_null("codec", self.codec.clone())
            .with_or_null("level", self.level)
            .with("filters", texts(self.filters.iter().cloned()))
            .with_or_null("split", self.split.as_deref())
            .with("dictionary", self.dictionary)
            .with_or_null("checksums", self.checksums)
            .with("metadata", metadata)
            .with("metalayers", named(&self.metalayers))
            .with("attributes", named(&self.attributes));
        let (chunks, blocks) = self.grid.clone().unzip();
        let (shape, dtype) = self.array.clone().unzip();
        document
            .with_some("shape", shape.map(numbers))
            .with_some("dtype", dtype)
            .with_some("index_entry_bits", self.entry_bits)
            .with_some("objects", self.objects.map(|(count, _)| count))
            .with_some("free", self.free.map(|(free, _)| free))
            .with_some("dead", self.free.map(|(_, dead)| dead))
            .with_some("kind", self.objects.map(|(_, kind)| kind))
            .with_some("chunks", chunks.map(numbers))
            .with_some("blocks", blocks.map(numbers))
    }

    /// The same for people.
    pub(crate) fn text(&self, input: &Input) -> String {
        let mut text = format!("{}: {} ({})\n", input.name, self.kind(), input.detected.reason);
        let mut line = |key: &str, value: String| {
            let _ = writeln!(text, "  {key:<10} {value}");
        };
        if let Some((shape, dtype)) = &self.array {
            line("array", format!("{} of {dtype}", sides(shape)));
        }
        let items = self.nbytes / self.typesize.max(1);
        let data = match self.objects {
            Some((count, kind)) => format!("{count} objects ({kind})"),
            None => format!("{items} items of {} bytes", self.typesize),
        };
        line("data", format!("{}, {data}", human(self.nbytes)));
        let times = ratio(self.nbytes, self.stored);
        line("stored", format!("{}, ratio {times:.2}", human(self.stored)));
        if let Some(free) = self.free {
            line("free", free_words(free));
        }
        if let Some(codec) = &self.codec {
            line("chunks", self.chunks());
            let level = self.level.map_or(String::new(), |level| format!(", level {level}"));
            let dictionary = if self.dictionary { ", dictionary" } else { "" };
            line("codec", format!("{codec}{level}{dictionary}"));
            let filters = self.filters.join(", ");
            line("filters", if filters.is_empty() { "none".to_owned() } else { filters });
        }
        if let Some(checksums) = self.checksums {
            line("checksums", checksums.to_owned());
        }
        if let Some(bits) = self.entry_bits {
            line("index", format!("entries of {bits} bits"));
        }
        for (name, value) in &self.metalayers {
            line("metalayer", format!("{name} = {}", value.to_json()));
        }
        for (name, value) in &self.attributes {
            line("attribute", format!("{name} = {}", value.to_json()));
        }
        text
    }

    fn kind(&self) -> String {
        match self.format {
            "b2nd" => format!("array in a {} frame", self.storage),
            "b2frame" if self.objects.is_some() => format!("objects in a {} frame", self.storage),
            "b2frame" => format!("{} frame", self.storage),
            "blp" => format!("Bloscpack file, {}", self.storage),
            "chunk" => format!("{} chunk", self.storage),
            "npy" => "NumPy array".to_owned(),
            _ => "plain bytes".to_owned(),
        }
    }

    fn chunks(&self) -> String {
        let blocks = match (&self.grid, self.block_size) {
            (Some((_, blocks)), _) => format!(", blocks of {}", sides(blocks)),
            (None, Some(size)) => format!(", blocks of {}", human(size)),
            (None, None) => String::new(),
        };
        let size = match (&self.grid, self.chunk_size) {
            (Some((chunks, _)), _) => sides(chunks),
            (None, Some(size)) => human(size),
            (None, None) => "any size".to_owned(),
        };
        format!("{} of {size}{blocks}", self.nchunks)
    }
}

/// The bits of an index entry, if they are not the usual 64.
pub(crate) fn unusual_entry_bits(frame: &SuperChunk) -> Option<u64> {
    frame.index_entry_bits().filter(|bits| *bits != 64).map(|bits| bits as u64)
}

/// The lengths of the axes with crosses between.
pub(crate) fn sides(shape: &[u64]) -> String {
    match shape {
        [] => "one value".to_owned(),
        _ => shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" x "),
    }
}

fn names_of(filters: &[Filter]) -> Vec<String> {
    filters.iter().map(Filter::to_string).collect()
}

fn free_words((free, dead): (u64, u64)) -> String {
    match dead {
        0 => format!("{} after objects", human(free)),
        _ => {
            format!("{} after objects, {} of it dead: `repack` drops it", human(free), human(dead))
        }
    }
}
