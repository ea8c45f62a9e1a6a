//! A column that is opened by its own path: nobody changes it together with its table.

use superchunk::bcolz::{Array, ArrayOptions, Table, TableOptions};
use superchunk::columns::{ColumnFolder, ColumnFolderOptions};
use superchunk::store::Replacement;
use superchunk::{ErrorKind, NdArray, NdOptions, OpenOptions, Result, SuperChunk};
use superchunk_testkit::scratch::Scratch;

use std::time::Duration;

#[track_caller]
fn assert_locked<T>(result: Result<T>) {
    assert_eq!(result.err().map(|error| error.kind()), Some(ErrorKind::Locked));
}

#[test]
fn a_column_of_bcolz_has_no_writer_beside_that_of_its_table() {
    let scratch = Scratch::new();
    let path = scratch.path("table");
    let inner = TableOptions::new().with_column("x", ArrayOptions::of::<u32>());
    let options = TableOptions::new()
        .with_column("a", ArrayOptions::of::<u32>())
        .with_column("b", ArrayOptions::of::<u32>())
        .with_nested("position", inner);
    Table::create(&path, &options).unwrap().close().unwrap();
    let columns = ["a", "b", "position/x"].map(|name| path.join(name));
    for column in &columns {
        let table = Table::edit(&path).unwrap();
        assert_locked(Array::edit(column));
        assert_locked(Replacement::begin(column, Duration::ZERO));
        table.close().unwrap();
        let replacement = Replacement::begin(&path, Duration::ZERO).unwrap();
        assert_locked(Array::edit(column));
        drop(replacement);
        let array = Array::edit(column).unwrap();
        assert_locked(Table::edit(&path));
        assert_locked(Replacement::begin(&path, Duration::ZERO));
        // Others change other columns meanwhile.
        for other in columns.iter().filter(|other| *other != column) {
            Array::edit(other).unwrap().close().unwrap();
        }
        array.close().unwrap();
    }
    assert_locked(Table::edit(path.join("position")).and_then(|_inner| Table::edit(&path)));
}

#[test]
fn a_column_in_a_folder_has_no_writer_beside_that_of_the_folder() {
    let scratch = Scratch::new();
    let path = scratch.path("quotes");
    let options = ColumnFolderOptions::new().with_columns(["day", "eu/close"]);
    let mut folder = ColumnFolder::create(&path, &options).unwrap();
    for name in folder.names() {
        let options = NdOptions::of::<u32>(&[3]);
        NdArray::create(folder.place(name), &options).unwrap().close().unwrap();
    }
    folder.commit().unwrap();
    drop(folder);
    let edit = || ColumnFolder::edit(&path);
    for column in ["day.b2nd", "eu/close.b2nd"].map(|name| path.join(name)) {
        let mut folder = edit().unwrap();
        assert_locked(SuperChunk::edit(&column));
        assert_locked(Replacement::begin(&column, Duration::ZERO));
        folder.set_attribute("unit", "USD").unwrap();
        folder.close().unwrap();
        let replacement = Replacement::begin(&path, Duration::ZERO).unwrap();
        assert_locked(SuperChunk::edit(&column));
        drop(replacement);
        let frame = SuperChunk::edit(&column).unwrap();
        assert_locked(edit());
        assert_locked(Replacement::begin(&path, Duration::ZERO));
        frame.close().unwrap();
        superchunk::recover::path(&path, &OpenOptions::new()).unwrap();
    }
}
