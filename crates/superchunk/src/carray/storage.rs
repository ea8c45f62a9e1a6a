//! `meta/storage`: what the rows are, and how they are compressed. Written once, never changed.
//!
//! ```text
//! {"dtype": "int32",
//!  "cparams": {"clevel": 5, "shuffle": 1, "cname": "lz4", "quantize": 0},
//!  "chunklen": 25, "expectedlen": 60, "dflt": 0}
//! ```
//!
//! | key | notes |
//! |---|---|
//! | `dtype` | NumPy's `str(dtype)`; without a mark of byte order it is little endian |
//! | `cparams` | `bparams` in BLZ |
//! | `clevel` | 0 to 9 |
//! | `shuffle` | 0 none, 1 bytes, 2 bits; `true` or `false` before 1.1 |
//! | `cname` | absent before 1.1: BloscLZ. Chunks tell for themselves, this is for new ones |
//! | `quantize` | absent before 1.1: 0. Digits that floats were rounded to before |
//! | `chunklen` | rows of a chunk |
//! | `expectedlen` | what chunklen was chosen for; any number |
//! | `dflt` | the value of rows that nobody has set |

use super::Origin;
use super::sizes::{line, object, told};
use crate::dtype::{ByteOrder, DKind, DType};
use crate::error::{Error, Result};
use crate::options::{Codec, CompressOptions, Filter};
use crate::wire::json::Json;

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Storage {
    pub(crate) item_type: ItemType,
    pub(crate) clevel: u8,
    pub(crate) filter: Option<Filter>,
    /// The codec of new chunks, as it is named.
    pub(crate) cname: Option<String>,
    pub(crate) quantize: i64,
    pub(crate) chunk_len: u64,
    pub(crate) expected_len: i64,
    pub(crate) default: Json,
    pub(crate) origin: Origin,
}

/// What the items are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ItemType {
    /// Bytes of a fixed size.
    Plain(DType),
    /// Python objects, each pickled into a file of its own.
    Object,
}

/// Codecs by the names that C-Blosc gives them. Snappy is missing: it is only read.
const CODECS: [(&str, Codec); 5] = [
    ("blosclz", Codec::BloscLz),
    ("lz4", Codec::Lz4),
    ("lz4hc", Codec::Lz4Hc),
    ("zlib", Codec::Zlib),
    ("zstd", Codec::Zstd),
];

impl Storage {
    /// How a new carray is stored.
    pub(crate) fn new(
        dtype: DType,
        compress: &CompressOptions,
        chunk_len: u64,
        expected_len: i64,
        default: Json,
    ) -> Result<Self> {
        let cname = CODECS.iter().find(|(_, codec)| *codec == compress.codec);
        let (cname, _) = cname.ok_or_else(|| Error::invalid("bcolz has no name for this codec"))?;
        let filter = match compress.filters.as_slice() {
            [] => None,
            [filter @ (Filter::Shuffle | Filter::BitShuffle)] => Some(*filter),
            _ => return Err(Error::invalid("bcolz takes no filter, Shuffle, or BitShuffle")),
        };
        Ok(Self {
            item_type: ItemType::Plain(dtype),
            clevel: compress.level,
            filter,
            cname: Some((*cname).to_owned()),
            quantize: 0,
            chunk_len,
            expected_len,
            default,
            origin: Origin::Modern,
        })
    }

    pub(crate) fn parse(text: &str) -> Result<Self> {
        let json = object(text, "storage")?;
        let need = |key| json.get(key).ok_or_else(|| corrupt(format!("there is no `{key}`")));
        let (origin, params) = match (json.get("cparams"), json.get("bparams")) {
            (Some(params), _) if params.get("cname").is_some() => (Origin::Modern, params),
            (Some(params), _) => (Origin::Early, params),
            (None, Some(params)) => (Origin::Blz, params),
            (None, None) => return Err(corrupt("there is no `cparams`".to_owned())),
        };
        let chunk_len = need("chunklen")?;
        let chunk_len = chunk_len.as_u64().filter(|len| *len > 0).ok_or_else(|| {
            corrupt(format!("chunklen is {}, a chunk has at least one row", told(chunk_len)))
        })?;
        Ok(Self {
            item_type: parse_item_type(need("dtype")?)?,
            clevel: parse_level(params)?,
            filter: parse_shuffle(params)?,
            cname: params.get("cname").and_then(Json::as_str).map(str::to_owned),
            quantize: params.get("quantize").and_then(Json::as_i64).unwrap_or(0),
            chunk_len,
            expected_len: json.get("expectedlen").and_then(Json::as_i64).unwrap_or(0),
            default: json.get("dflt").cloned().unwrap_or(Json::Null),
            origin,
        })
    }

    /// The file as bcolz 1.1 and later write it.
    pub(crate) fn write(&self) -> String {
        let text = match &self.item_type {
            ItemType::Plain(dtype) => dtype_text(dtype),
            ItemType::Object => "object".to_owned(),
        };
        let shuffle = match self.filter {
            None => 0u64,
            Some(Filter::BitShuffle) => 2,
            Some(_) => 1,
        };
        let params = Json::Object(vec![
            ("clevel".to_owned(), u64::from(self.clevel).into()),
            ("shuffle".to_owned(), shuffle.into()),
            ("cname".to_owned(), self.cname.as_deref().unwrap_or("blosclz").into()),
            ("quantize".to_owned(), self.quantize.into()),
        ]);
        line(&Json::Object(vec![
            ("dtype".to_owned(), text.into()),
            ("cparams".to_owned(), params),
            ("chunklen".to_owned(), self.chunk_len.into()),
            ("expectedlen".to_owned(), self.expected_len.into()),
            ("dflt".to_owned(), self.default.clone()),
        ]))
    }

    /// How new chunks are compressed. Snappy, and names that nobody knows, become LZ4: every chunk
    /// says which codec it needs.
    pub(crate) fn codec(&self) -> Codec {
        let name = self.cname.as_deref().unwrap_or("blosclz");
        CODECS.iter().find(|(known, _)| *known == name).map_or(Codec::Lz4, |(_, codec)| *codec)
    }
}

fn parse_item_type(text: &Json) -> Result<ItemType> {
    let text = text.as_str().ok_or_else(|| corrupt(format!("dtype {} is no text", told(text))))?;
    if matches!(text.trim(), "object" | "|O" | "O" | "|O4" | "|O8") {
        return Ok(ItemType::Object);
    }
    let dtype = DType::parse(text)?;
    let marked = text.trim().starts_with(['<', '>', '[', '{']);
    // What a big-endian machine wrote cannot be told apart; nobody has seen such a file.
    Ok(ItemType::Plain(if marked { dtype } else { dtype.with_order(ByteOrder::Little) }))
}

fn parse_level(params: &Json) -> Result<u8> {
    let level = params.get("clevel").unwrap_or(&Json::Null);
    let number = if level.is_null() { Some(5) } else { level.as_u64() };
    let number = number.ok_or_else(|| corrupt(format!("clevel {} is no level", told(level))))?;
    Ok(u8::try_from(number).unwrap_or(9).min(9))
}

fn parse_shuffle(params: &Json) -> Result<Option<Filter>> {
    let shuffle = params.get("shuffle").unwrap_or(&Json::Bool(true));
    match (shuffle.as_bool(), shuffle.as_u64()) {
        (Some(false), _) | (_, Some(0)) => Ok(None),
        (Some(true), _) | (_, Some(1)) => Ok(Some(Filter::Shuffle)),
        (_, Some(2)) => Ok(Some(Filter::BitShuffle)),
        _ => Err(corrupt(format!("shuffle {} is none of 0, 1 and 2", told(shuffle)))),
    }
}

/// The type as NumPy's `str(dtype)` says it: names for little-endian numbers, codes for all else.
fn dtype_text(dtype: &DType) -> String {
    let bits = 8 * dtype.item_size();
    let swapped = dtype.byte_order() == ByteOrder::Big;
    match dtype.kind() {
        DKind::Bool => "bool".to_owned(),
        DKind::Int if !swapped => format!("int{bits}"),
        DKind::Uint if !swapped => format!("uint{bits}"),
        DKind::Float if !swapped => format!("float{bits}"),
        DKind::Datetime { unit } if !swapped => format!("datetime64{unit}"),
        DKind::Timedelta { unit } if !swapped => format!("timedelta64{unit}"),
        _ => dtype.to_string(),
    }
}

fn corrupt(words: String) -> Error {
    Error::corrupt(words).at("bcolz", "storage", 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    const MODERN: &str = "{\"dtype\": \"int32\", \"cparams\": {\"clevel\": 5, \"shuffle\": 1, \
        \"cname\": \"lz4\", \"quantize\": 0}, \"chunklen\": 25, \"expectedlen\": 60, \"dflt\": 0}\n";

    #[test]
    fn storage_is_written_as_bcolz_writes_it() {
        let storage = Storage::parse(MODERN).unwrap();
        assert_eq!((storage.origin, storage.chunk_len), (Origin::Modern, 25));
        assert_eq!(storage.write(), MODERN);
        let own = Storage::new(
            DType::parse("<i4").unwrap(),
            &CompressOptions::new(4),
            25,
            60,
            Json::from(0u64),
        );
        assert_eq!(own.unwrap().write(), MODERN);
    }

    #[test]
    fn every_dialect_is_read() {
        let early = MODERN.replace(", \"cname\": \"lz4\", \"quantize\": 0", "");
        let storage = Storage::parse(&early.replace("1}", "true}")).unwrap();
        assert_eq!((storage.origin, storage.codec()), (Origin::Early, Codec::BloscLz));
        assert_eq!(storage.filter, Some(Filter::Shuffle));
        let blz = Storage::parse(&early.replace("cparams", "bparams")).unwrap();
        assert_eq!(blz.origin, Origin::Blz);
        let odd = MODERN.replace("60", "-1").replace("lz4", "snappy").replace("\": 1,", "\": 2,");
        let odd = Storage::parse(&odd).unwrap();
        assert_eq!((odd.expected_len, odd.filter), (-1, Some(Filter::BitShuffle)));
        assert_eq!(odd.codec(), Codec::Lz4);
    }

    #[test]
    fn types_are_spelled_as_numpy_spells_them() {
        for text in [
            "bool",
            "int8",
            "uint64",
            "float16",
            ">i4",
            ">f8",
            "|S7",
            "<U4",
            ">U4",
            "|V6",
            "datetime64[ns]",
            "datetime64[25s]",
            ">M8[ns]",
            "timedelta64[ns]",
            "[('a', '<i4'), ('b', '<f8')]",
        ] {
            let ItemType::Plain(dtype) = parse_item_type(&Json::from(text)).unwrap() else {
                panic!("{text}")
            };
            assert_eq!(dtype_text(&dtype), text);
        }
        assert_eq!(parse_item_type(&"object".into()).unwrap(), ItemType::Object);
    }

    #[test]
    fn what_is_impossible_is_refused() {
        for (from, to) in [
            ("25", "0"),
            ("25", "-3"),
            ("25", "\"x\""),
            ("\"int32\"", "\"quadfloat\""),
            ("\"int32\"", "4"),
            ("\"cparams\"", "\"other\""),
            ("\"clevel\": 5", "\"clevel\": -1"),
            ("\"shuffle\": 1", "\"shuffle\": 3"),
        ] {
            let error = Storage::parse(&MODERN.replace(from, to)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{to}: {error}");
        }
        assert_eq!(Storage::parse("").unwrap_err().kind(), ErrorKind::Truncated);
    }
}
