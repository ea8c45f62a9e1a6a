//! Folders of bcolz with any files in them.

use superchunk::bcolz::{Array, Table};
use superchunk::{DType, Json, Result};

use crate::bounds::{LIMIT, bounded, no_bug, options};
use crate::files::Files;

/// Arrays and tables; the texts of their metadata also alone.
pub(crate) fn bcolz_meta_json(input: &[u8]) {
    let folder = Files::BCOLZ.folder(input);
    let _ = bounded(8 * input.len(), || {
        no_bug(Array::open_in_dir(folder.clone(), &options())).map(look)
    });
    let _ =
        bounded(8 * input.len(), || no_bug(table(Table::open_in_dir(folder.clone(), &options()))));
    let _ = no_bug(bounded(8 * input.len(), || -> Result<()> {
        let mut array = Array::edit_in_dir(folder.clone(), &options())?;
        let before = array.row_count();
        array.append(&vec![1; 2 * array.row_size().min(LIMIT)])?;
        array.commit()?;
        assert_eq!(array.row_count(), before + 2);
        Ok(())
    }));
    if let Ok(text) = std::str::from_utf8(input) {
        bounded(200 * input.len(), || {
            let _ = Json::parse(text);
            if let Ok(dtype) = DType::parse(text) {
                let printed = dtype.to_string();
                assert_eq!(DType::parse(&printed).ok(), Some(dtype), "{printed}");
            }
        });
    }
}

fn look(array: Array) {
    let middle = array.row_count() / 2;
    let mut row = vec![0; array.row_size().min(LIMIT)];
    let _ = no_bug(array.read_rows(middle..middle.saturating_add(1), &mut row));
    if array.row_count().saturating_mul(array.row_size() as u64) <= LIMIT as u64 {
        let _ = no_bug(array.to_vec());
    }
    let _ = no_bug(array.object(0));
    let _ = no_bug(array.verify());
}

fn table(opened: Result<Table>) -> Result<()> {
    let table = opened?;
    for name in table.names().map(str::to_owned).collect::<Vec<_>>() {
        let Ok(array) = no_bug(table.array(&name)) else { continue };
        let mut row = vec![0; array.row_size().min(LIMIT)];
        let _ = no_bug(table.read_rows(&name, 0..1, &mut row));
    }
    Ok(())
}
