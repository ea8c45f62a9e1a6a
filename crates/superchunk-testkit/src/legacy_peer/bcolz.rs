//! The calls of bcolz-zipline.

use std::path::Path;

use serde_json::{Value, json};

use super::LegacyPeer;
use crate::talk::{Reply, text_of};

/// How bcolz shall make an array.
#[derive(Clone, Debug)]
pub struct ColumnParams {
    /// NumPy's word for the type.
    pub dtype: String,
    /// The shape of a row; empty for plain values.
    pub row_shape: Vec<usize>,
    /// The rows of a chunk.
    pub chunk_len: u64,
    /// The name of the codec.
    pub codec: &'static str,
    /// 0 to 9.
    pub level: u8,
    /// 0 none, 1 bytes, 2 bits.
    pub shuffle: u8,
    /// The value of new rows, if another than zero.
    pub default: Value,
}

/// An array as bcolz sees it.
#[derive(Clone, Debug)]
pub struct PeerArray {
    /// `dtype.str`.
    pub dtype: String,
    /// Rows, then the shape of a row.
    pub shape: Vec<u64>,
    /// The rows of a chunk.
    pub chunk_len: u64,
    /// The attributes.
    pub attrs: Value,
    /// All rows.
    pub bytes: Vec<u8>,
}

/// A table as bcolz sees it.
#[derive(Clone, Debug)]
pub struct PeerTable {
    /// The names of the columns.
    pub names: Vec<String>,
    /// The rows of the first column.
    pub len: u64,
    /// The attributes.
    pub attrs: Value,
    /// That many rows of each column.
    pub columns: Vec<Vec<u8>>,
}

#[expect(clippy::missing_errors_doc, reason = "an error is always the peer's words for refusing")]
impl LegacyPeer {
    /// The versions of bcolz and of NumPy.
    pub fn bcolz_version(&mut self) -> Reply<String> {
        let (value, _) = self.talk.ask("bcolz_version", json!({}), &[])?;
        value.as_str().map(str::to_owned).ok_or_else(|| format!("not a version: {value}"))
    }

    /// Makes an array of these rows.
    pub fn bcolz_make_array(
        &mut self,
        path: &Path,
        params: &ColumnParams,
        bytes: &[u8],
    ) -> Reply<()> {
        let arguments = json!({
            "path": text_of(path)?, "dtype": params.dtype, "row_shape": params.row_shape,
            "chunk_len": params.chunk_len, "codec": params.codec, "level": params.level,
            "shuffle": params.shuffle, "dflt": params.default,
        });
        self.talk.ask("bcolz_make_array", arguments, &[bytes]).map(drop)
    }

    /// Makes a table of columns: name, type, all rows.
    pub fn bcolz_make_table(
        &mut self,
        path: &Path,
        chunk_len: u64,
        columns: &[(&str, &str, &[u8])],
    ) -> Reply<()> {
        let names: Vec<&str> = columns.iter().map(|(name, ..)| *name).collect();
        let dtypes: Vec<&str> = columns.iter().map(|(_, dtype, _)| *dtype).collect();
        let bytes: Vec<&[u8]> = columns.iter().map(|(.., bytes)| *bytes).collect();
        let path = text_of(path)?;
        let arguments =
            json!({"path": path, "names": names, "dtypes": dtypes, "chunk_len": chunk_len});
        self.talk.ask("bcolz_make_table", arguments, &bytes).map(drop)
    }

    /// All that an array holds.
    pub fn bcolz_read_array(&mut self, path: &Path) -> Reply<PeerArray> {
        let mut parts = self.talk.ask("bcolz_read_array", json!({"path": text_of(path)?}), &[])?.1;
        let [facts, bytes] = parts.as_mut_slice() else { return Err("not two parts".to_owned()) };
        let facts: Value = serde_json::from_slice(facts).map_err(|error| error.to_string())?;
        Ok(PeerArray {
            dtype: field(&facts, "dtype").as_str().unwrap_or_default().to_owned(),
            shape: numbers(field(&facts, "shape")),
            chunk_len: field(&facts, "chunk_len").as_u64().unwrap_or(0),
            attrs: field(&facts, "attrs").clone(),
            bytes: std::mem::take(bytes),
        })
    }

    /// All that a table holds: as many rows of each column as the first has.
    pub fn bcolz_read_table(&mut self, path: &Path) -> Reply<PeerTable> {
        let mut parts = self.talk.ask("bcolz_read_table", json!({"path": text_of(path)?}), &[])?.1;
        let columns = parts.split_off(parts.len().min(1));
        let facts = parts.first().ok_or("no facts")?;
        let facts: Value = serde_json::from_slice(facts).map_err(|error| error.to_string())?;
        let names = field(&facts, "names").as_array().into_iter().flatten();
        Ok(PeerTable {
            names: names.map(|name| name.as_str().unwrap_or_default().to_owned()).collect(),
            len: field(&facts, "len").as_u64().unwrap_or(u64::MAX),
            attrs: field(&facts, "attrs").clone(),
            columns,
        })
    }

    /// How many rows of a table an expression of bcolz selects.
    pub fn bcolz_count_where(&mut self, path: &Path, expression: &str) -> Reply<u64> {
        let arguments = json!({"path": text_of(path)?, "expression": expression});
        let (value, _) = self.talk.ask("bcolz_sum_where", arguments, &[])?;
        value.as_u64().ok_or_else(|| format!("not a number: {value}"))
    }

    /// Appends rows to an array, or columns of rows to a table.
    pub fn bcolz_append(&mut self, path: &Path, columns: &[&[u8]]) -> Reply<()> {
        self.talk.ask("bcolz_append", json!({"path": text_of(path)?}), columns).map(drop)
    }

    /// Cuts rows off an array or a table.
    pub fn bcolz_trim(&mut self, path: &Path, count: u64) -> Reply<()> {
        self.talk.ask("bcolz_trim", json!({"path": text_of(path)?, "count": count}), &[]).map(drop)
    }

    /// Changes the length of an array or a table.
    pub fn bcolz_resize(&mut self, path: &Path, rows: u64) -> Reply<()> {
        self.talk.ask("bcolz_resize", json!({"path": text_of(path)?, "rows": rows}), &[]).map(drop)
    }

    /// Overwrites rows of an array.
    pub fn bcolz_write(&mut self, path: &Path, start: u64, bytes: &[u8]) -> Reply<()> {
        let arguments = json!({"path": text_of(path)?, "start": start});
        self.talk.ask("bcolz_write", arguments, &[bytes]).map(drop)
    }

    /// Gives an attribute of an array or a table a value.
    pub fn bcolz_set_attr(&mut self, path: &Path, name: &str, value: &Value) -> Reply<()> {
        let arguments = json!({"path": text_of(path)?, "name": name, "value": value});
        self.talk.ask("bcolz_set_attr", arguments, &[]).map(drop)
    }

    /// Adds a column to a table.
    pub fn bcolz_add_column(
        &mut self,
        path: &Path,
        name: &str,
        dtype: &str,
        bytes: &[u8],
    ) -> Reply<()> {
        let arguments = json!({"path": text_of(path)?, "name": name, "dtype": dtype});
        self.talk.ask("bcolz_add_column", arguments, &[bytes]).map(drop)
    }

    /// Adds a column of Python objects to a table, those of a list in JSON; `{"date": "2024-02-29"}` becomes a date.
    pub fn bcolz_add_objects(&mut self, path: &Path, name: &str, json: &str) -> Reply<()> {
        let objects: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let arguments = json!({"path": text_of(path)?, "name": name, "objects": objects});
        self.talk.ask("bcolz_add_objects", arguments, &[]).map(drop)
    }

    /// The list of Python objects that an array, or a column of a table, holds, as it is given to
    /// [`bcolz_add_objects`](Self::bcolz_add_objects).
    pub fn bcolz_read_objects(&mut self, path: &Path, name: &str) -> Reply<Vec<Value>> {
        let arguments = json!({"path": text_of(path)?, "name": name});
        let (value, _) = self.talk.ask("bcolz_read_objects", arguments, &[])?;
        let list = field(&value, "objects").as_array().cloned();
        list.ok_or_else(|| format!("not a list: {value}"))
    }

    /// Removes a column of a table.
    pub fn bcolz_remove_column(&mut self, path: &Path, name: &str) -> Reply<()> {
        let arguments = json!({"path": text_of(path)?, "name": name});
        self.talk.ask("bcolz_remove_column", arguments, &[]).map(drop)
    }
}

/// What an object holds under a key.
fn field<'v>(facts: &'v Value, key: &str) -> &'v Value {
    facts.get(key).unwrap_or(&Value::Null)
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array()
        .into_iter()
        .flatten()
        .map(|number| number.as_u64().unwrap_or(u64::MAX))
        .collect()
}
