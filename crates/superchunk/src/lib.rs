//! Every Blosc-family format in one safe Rust library.
//!
//! ```
//! use superchunk::{chunk, Codec, CompressOptions, Filter};
//!
//! let readings: Vec<f32> = (0..10_000).map(|i| 20.0 + (i % 100) as f32).collect();
//!
//! // One call each way; the item size comes from the type.
//! let options = CompressOptions::of::<f32>().with_codec(Codec::Zstd);
//! let packed = chunk::compress_items(&readings, &options)?;
//! assert_eq!(chunk::decompress_items::<f32>(&packed)?, readings);
//!
//! // Items 500 to 502 alone: only the block that holds them is decoded.
//! let mut some = [0; 2 * 4];
//! chunk::Decoder::new().read_items(&packed, 500..502, &mut some)?;
//! assert_eq!(some[..4], 20.0f32.to_le_bytes());
//! # Ok::<(), superchunk::Error>(())
//! ```
//!
//! [`open`] opens a file or folder of any format:
//!
//! ```no_run
//! use superchunk::Opened;
//!
//! match superchunk::open("measured.b2nd")? {
//!     Opened::Array(array) => println!("{} of shape {:?}", array.dtype(), array.shape()),
//!     other => println!("it is {other}"),
//! }
//! # Ok::<(), superchunk::Error>(())
//! ```
//!
//! [`OpenOptions`] says how, for this and for every type: `SuperChunk`, `NdArray`, `Objects`, `Pack`,
//! and the arrays and tables of `bcolz` and `blsk` all have `open(path)` and `open_with(path,
//! &options)` for reading, `edit` and `edit_with` for reading and writing, `open_in_dir` and
//! `edit_in_dir` for any [`Dir`](store::Dir); those that are files have `from_bytes(bytes)` and
//! `open_store(store, &options)`, too. They are made by `create(path, …, &options)`,
//! `create_in_dir(dir, …, &options)` and, where they are files, in memory.
//!
//! | module | what it holds |
//! |---|---|
//! | [`bloscpack`] | Bloscpack files: bytes, NumPy arrays, objects of any length |
//! | [`bcolz`] | arrays and tables of compressed columns in folders |
//! | [`chunk`] | one compressed buffer: Blosc1 and Blosc2 chunks, both ways |
//! | [`compat`] | which versions of other programs read a file |
//! | [`detect`] | what a file, folder or buffer is, by content |
//! | [`recover`] | what killed writers began is completed, what they left goes |
//! | [`salvage`] | what can still be read of damaged containers |
//! | [`npy`] | the header of NumPy's own files |
//! | [`table`] | rows in columns: conditions, scans, sums, groups, orders |
//! | [`verify`] | whether containers are still what was written, level by level |
//!
//! Programs that show good use of all of it are in the folder `examples` of the crate: packing and
//! reading, single items, slices of arrays, scans of tables, a codec and a store of one's own,
//! checking and salvage, one handle and many threads.
//!
//! The crate forbids `unsafe`, has no global state, reads no environment variables, and treats
//! every input as hostile: bad bytes give an [`Error`], never a panic, and [`Limits`] bound what
//! they can make it allocate.

#![forbid(unsafe_code)]

mod b2nd;
pub mod bcolz;
mod block_shape;
#[cfg(feature = "bloscpack")]
pub mod bloscpack;
pub mod blsk;
mod carray;
pub mod chunk;
mod codecs;
#[cfg(any(unix, windows))]
pub mod columns;
pub mod compat;
mod container;
pub mod detect;
mod dtype;
mod error;
mod exec;
mod filters;
pub mod frame;
mod limits;
mod nd;
pub mod npy;
mod objects;
mod opened;
mod options;
#[cfg(feature = "bloscpack")]
mod pack;
#[cfg(any(unix, windows))]
pub mod recover;
mod registry;
pub mod salvage;
mod schunk;
mod spares;
pub mod store;
mod superfile;
pub mod table;
mod text;
pub mod verify;
mod wire;

pub use block_shape::BlockShape;
/// The crate whose trait [`Pod`](bytemuck::Pod) says which types are items.
pub use bytemuck;
pub use container::Integrity;
pub use dtype::{ByteOrder, DKind, DType, Element, Field, TimeBase, TimeUnit};
pub use error::{Error, ErrorKind, Place, Result};
pub use exec::Executor;
pub use limits::Limits;
pub use nd::{AxisIndexes, AxisSlice, ChunkBox, FillValue, NdArray, NdOptions, Selection};
pub use objects::{ObjectKind, ObjectPacking, Objects, ObjectsOptions};
#[cfg(any(unix, windows))]
pub use opened::open;
pub use opened::{NpyFile, Opened, StoredChunk};
pub use options::{ChunkFormat, Codec, CompressOptions, Filter, SplitMode};
pub use registry::{Registry, UserCodec, UserFilter};
pub use schunk::{Appender, ByteReader, Fill, FrameOptions, OpenOptions, SuperChunk, Verification};
pub use wire::json::{Json, Style as JsonStyle};
pub use wire::msgpack::Value;

/// Compiles only while threads can share every reader, scan and source, take encoders with them, and keep them.
const _: () = {
    const fn is_shared<T: Send + Sync + 'static>() {}
    const fn is_sent<T: Send + 'static>() {}
    is_shared::<SuperChunk>();
    is_shared::<NdArray>();
    is_shared::<Objects>();
    #[cfg(feature = "bloscpack")]
    is_shared::<bloscpack::Pack>();
    is_shared::<bcolz::Array>();
    is_shared::<bcolz::Table>();
    is_shared::<bcolz::TableSource>();
    is_shared::<blsk::Array>();
    is_shared::<blsk::Table>();
    is_shared::<blsk::TableSource>();
    is_shared::<frame::Frame>();
    is_shared::<chunk::LazyChunk>();
    is_shared::<table::MemoryTable>();
    is_shared::<table::Scan<'static>>();
    is_shared::<table::Batch>();
    is_shared::<CompressOptions>();
    is_sent::<ByteReader<SuperChunk>>();
    is_sent::<Appender<SuperChunk>>();
    is_sent::<chunk::Encoder>();
    is_sent::<chunk::Decoder>();
    is_shared::<table::Batches<'static>>();
    is_sent::<Error>();
};

/// The examples of the README are compiled and run like all others.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// So are those of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/chunk-and-block-shapes.md")]
struct ShapesGuide;

/// And those of the guide to objects.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/objects.md")]
struct ObjectsGuide;

/// And those of the guide to tables.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/tables.md")]
struct TablesGuide;

/// And those of the guide to bcolz data.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/bcolz-data.md")]
struct BcolzGuide;
