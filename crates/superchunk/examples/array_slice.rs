//! Makes a three-dimensional array in a file, writes a box of it and reads slices.

#![expect(clippy::print_stdout, reason = "the example shows what it reads")]

use std::error::Error;

use superchunk::{DType, NdArray, NdOptions, NdStorage, Selection};

/// Writes and reads an array.
pub fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("cube-{}.b2nd", std::process::id()));

    // Days, latitudes, longitudes. Items that nobody writes are zero and take no space.
    let options = NdStorage::default().with_chunks(&[10, 90, 180]).with_blocks(&[1, 45, 60]);
    let dtype: DType = "float32".parse()?;
    let mut cube = NdArray::create(
        &path,
        &NdOptions::new(&[365, 180, 360], dtype.clone()).with_storage(options.clone()),
    )?;
    let day = Selection::parse("100", cube.shape())?;
    cube.write_items(&day, &vec![15.5f32; 180 * 360])?;
    cube.close()?;

    // As between NumPy's brackets; only the blocks in the selection are decoded.
    let cube = NdArray::open(&path)?;
    let part = Selection::parse("99:102, 90, ::120", cube.shape())?;
    let items: Vec<f32> = cube.read(&part)?;
    println!("[{part}] of {} has shape {:?}: {items:?}", cube.dtype(), part.shape());
    assert_eq!(items, [0.0, 0.0, 0.0, 15.5, 15.5, 15.5, 0.0, 0.0, 0.0]);

    std::fs::remove_file(path)?;
    Ok(())
}
