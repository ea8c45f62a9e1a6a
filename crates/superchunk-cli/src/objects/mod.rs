//! Texts, bytes and values of any length: objects in batches in a frame, or one in each chunk of a
//! Bloscpack file. Everything of the program that handles them passes through here.

mod records;
mod show;

pub(crate) use records::{Framing, PackingArgs, RecordArgs, json_value, read};
pub(crate) use show::{print, unpack};

use superchunk::bloscpack::Pack;
use superchunk::{Json, ObjectKind, ObjectPacking, Objects, SuperChunk, Value};

use crate::failure::Outcome;
use crate::span::Span;

/// The key of the metadata of a Bloscpack file that says that every object is a JSON text.
pub(crate) const FORMAT: &str = "format";
pub(crate) const JSON: &str = "json";
/// Objects that are opened for reading.
pub(crate) enum ObjectList {
    /// In a Bloscpack file.
    Pack(Box<Pack>),
    /// In a frame.
    Frame(Box<Objects>),
}

/// Whether a frame holds objects.
pub(crate) fn is_list(frame: &SuperChunk) -> bool {
    Objects::are_in(frame)
}

impl ObjectList {
    pub(crate) fn pack(&self) -> Option<&Pack> {
        if let Self::Pack(pack) = self { Some(pack) } else { None }
    }

    pub(crate) fn frame(&self) -> Option<&SuperChunk> {
        if let Self::Frame(objects) = self { Some(objects.superchunk()) } else { None }
    }

    /// All bytes that the chunks hold.
    pub(crate) fn data(&self) -> Outcome<&SuperChunk> {
        match self {
            Self::Pack(pack) => Ok(pack.superchunk()?),
            Self::Frame(objects) => Ok(objects.superchunk()),
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Pack(pack) => pack.object_count(),
            Self::Frame(objects) => objects.len(),
        }
    }

    /// About how many bytes this many of them have.
    pub(crate) fn len_of(&self, count: u64) -> Outcome<u64> {
        let all = u128::from(self.count().max(1));
        let len = u128::from(self.data()?.byte_len()) * u128::from(count) / all;
        Ok(u64::try_from(len).unwrap_or(u64::MAX))
    }

    /// What they are.
    pub(crate) fn kind(&self) -> ObjectKind {
        match self {
            Self::Pack(pack) => kind_of_pack(pack),
            Self::Frame(objects) => objects.kind(),
        }
    }

    /// How the blocks of a frame hold them.
    pub(crate) fn packing(&self) -> Option<ObjectPacking> {
        if let Self::Frame(objects) = self { Some(objects.packing()) } else { None }
    }

    /// What they are, in a word.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self.kind() {
            ObjectKind::Text => "text",
            ObjectKind::Bytes => "bytes",
            _ => "values",
        }
    }

    /// One of them.
    pub(crate) fn value(&self, number: u64) -> Outcome<Value> {
        match self {
            Self::Frame(objects) => Ok(objects.value(number)?),
            Self::Pack(pack) => Ok(self.understood(pack.object(number)?)),
        }
    }

    /// Calls `take` with some of them.
    pub(crate) fn each(&self, span: Span, take: &mut dyn FnMut(Value) -> Outcome) -> Outcome {
        if let (Self::Frame(objects), 1) = (self, span.step) {
            for value in objects.values(span.start..span.stop)? {
                take(value?)?;
            }
            return Ok(());
        }
        let mut at = span.start;
        while at < span.stop {
            take(self.value(at)?)?;
            at = at.saturating_add(span.step);
        }
        Ok(())
    }

    /// The objects that a slice names, or all.
    pub(crate) fn span(&self, slice: Option<&str>) -> Outcome<Span> {
        match slice {
            Some(slice) => Span::parse(slice, self.count()),
            None => Ok(Span::all(self.count())),
        }
    }

    /// What the bytes of an object in a Bloscpack file are.
    fn understood(&self, bytes: Vec<u8>) -> Value {
        match (self.kind(), String::from_utf8(bytes)) {
            (ObjectKind::Values, Ok(text)) => {
                Value::from_json(&text).unwrap_or_else(|_| text.into())
            }
            (ObjectKind::Text, Ok(text)) => text.into(),
            (_, Ok(text)) => text.into_bytes().into(),
            (_, Err(error)) => error.into_bytes().into(),
        }
    }
}

/// What the metadata of a Bloscpack file says its objects are.
pub(crate) fn kind_of_pack(pack: &Pack) -> ObjectKind {
    let word = |key| pack.metadata().and_then(|json: &Json| json.get(key)?.as_str());
    match (word("dtype"), word(FORMAT)) {
        (_, Some(JSON)) => ObjectKind::Values,
        (Some("varchar"), _) => ObjectKind::Text,
        _ => ObjectKind::Bytes,
    }
}
