//! A row that is a Python object: a chunk file of its own, whose chunk holds the pickle.

use super::attrs::Attrs;
use super::chunk_file::{HEADER, HEADER_LEN, check_header, chunk_name};
use super::home::{Home, as_damage};
use super::sizes::Sizes;
use super::storage::Storage;
use crate::chunk::{Decoder, Header};
use crate::error::{Error, MustGet, Result};
use crate::limits::Limits;
use crate::wire;

/// The pickle of row `row`.
pub(crate) fn read_object(home: &Home, row: u64, limits: &Limits) -> Result<Vec<u8>> {
    let name = chunk_name(row);
    read(home, &name, limits).map_err(|error| error.within(format!("{}/data/{name}", home.name())))
}

/// Makes a column of objects in an empty folder: a chunk for each row, with the length of its pickle.
pub(crate) fn write_objects(
    home: &Home,
    (storage, attrs): (&Storage, &Attrs),
    chunks: impl Iterator<Item = Result<(Vec<u8>, usize)>>,
) -> Result<()> {
    let root = home.root()?;
    let (meta, data) = (root.create_folder("meta")?, root.create_folder("data")?);
    home.write_new(meta.as_ref(), "storage", storage.write().as_bytes())?;
    home.write_new(root.as_ref(), Attrs::FILE, attrs.write().as_bytes())?;
    let mut sizes = Sizes { rows: 0, row_shape: Vec::new(), nbytes: 0, cbytes: 0 };
    for chunk in chunks {
        let (chunk, len) = chunk?;
        let content = [HEADER.as_slice(), &chunk].concat();
        data.create(&chunk_name(sizes.rows))?.write_at(0, &content)?;
        sizes.rows += 1;
        (sizes.nbytes, sizes.cbytes) =
            (sizes.nbytes + len as u64, sizes.cbytes + chunk.len() as u64);
    }
    data.sync_all()?;
    home.sync(root.as_ref())?;
    // Without this file the folder is nothing yet.
    home.replace(meta.as_ref(), "sizes", &sizes.write())
}

fn read(home: &Home, name: &str, limits: &Limits) -> Result<Vec<u8>> {
    let file = home.data()?.open(name).map_err(as_damage)?;
    let mut start = [0; HEADER_LEN + 16];
    let found = file.read_at(0, &mut start)?;
    let start = wire::filled(&start, found)?;
    check_header(start)?;
    let header = Header::parse(start.must_get(HEADER_LEN..)?)?;
    limits.check_decoded(header.byte_len())?;
    let len = header.compressed_len();
    // The file has to be as long as the chunk says before memory is taken for it.
    if file.len()? < (HEADER_LEN + len) as u64 {
        return Err(Error::truncated(format!("the chunk has {len} bytes, the file fewer"))
            .at("chunk", "cbytes", 12));
    }
    let mut chunk = vec![0; len];
    file.read_exact_at(HEADER_LEN as u64, &mut chunk)?;
    Decoder::new().with_limits(*limits).decompress(&chunk)
}
