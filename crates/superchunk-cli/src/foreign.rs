//! Input of another format than a command takes: what it is, and the command that takes it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use superchunk::detect::{Detected, Format};

use crate::failure::{Exit, Failure};
use crate::names::is_packed_name;
use crate::text_form::TextForm;

/// Formats of other programs: the first bytes, what it is, what to do with it.
const FORMATS: [(&[u8], &str, &str); 8] = [
    (b"PK\x03\x04", "it is a ZIP archive", "take its files out first, as with `unzip`"),
    (b"PAR1", "it is a Parquet file", "Parquet is not read: write it as CSV or .npy first"),
    (b"ARROW1", "it is an Arrow file", "Arrow is not read: write it as CSV or .npy first"),
    (b"\x89HDF\r\n\x1a\n", "it is an HDF5 file", "HDF5 is not read: write it as CSV or .npy first"),
    (b"\x1f\x8b", "it is compressed by gzip", "decompress it first, as with `gzip -dk`"),
    (b"\x28\xb5\x2f\xfd", "it is compressed by zstd", "decompress it first, as with `zstd -d`"),
    (b"\xfd7zXZ\0", "it is compressed by xz", "decompress it first, as with `xz -dk`"),
    (b"BZh", "it is compressed by bzip2", "decompress it first, as with `bzip2 -dk`"),
];

/// Refuses what is at `path`, because the command takes `wanted`; `name` is how the user calls it.
pub(crate) fn refuse(name: &str, path: &Path, detected: &Detected, wanted: &str) -> Failure {
    let known = if detected.format == Format::Raw { known_by_start(path) } else { None };
    let (reason, help) = match known {
        Some((reason, help)) => (reason, help.to_owned()),
        None => (detected.reason, command_for(name, detected.format)),
    };
    let words = format!("`{name}` is not {wanted}: {reason}");
    Failure::said(Exit::Unsupported, words).with_help(help)
}

/// Refuses what is at `path`, because the command takes a table.
pub(crate) fn refuse_as_table(name: &str, path: &Path, detected: &Detected) -> Failure {
    let failure = refuse(name, path, detected, "a table");
    let is_no_array = matches!(
        detected.format,
        Format::Raw | Format::BlskFile | Format::Blosc2Folder | Format::Blosc2Zip
    );
    if is_no_array {
        return failure;
    }
    failure.with_help(format!(
        "`superchunk convert {} OUT.bcolz` makes a table of an array",
        typed(name)
    ))
}

/// Whether a file is of a format that holds no chunks, whatever may be found in it.
pub(crate) fn is_other(path: &Path, detected: &Detected) -> bool {
    match detected.format {
        Format::Raw | Format::Blosc2Zip => {
            known_by_start(path).is_some() || TextForm::of_name(path).is_some()
        }
        format => format == Format::Npy,
    }
}

/// Why bytes are thought to be of a format of another program, as half a sentence.
pub(crate) fn reason(path: &Path) -> Option<&'static str> {
    known_by_start(path).map(|(reason, _)| reason)
}

/// Whether the first bytes of a file are those of a known format, or not text.
pub(crate) fn is_binary(path: &Path) -> bool {
    let start = start_of(path, 4096).unwrap_or_default();
    let is_text = match std::str::from_utf8(&start) {
        Ok(text) => !text.contains('\0'),
        // A letter may be cut by the end of what was read.
        Err(error) => error.error_len().is_none(),
    };
    !is_text || known_by_start(path).is_some()
}

fn typed(name: &str) -> &str {
    if name == "stdin" { "-" } else { name }
}

/// The command that makes something useful of a file or folder.
fn command_for(name: &str, format: Format) -> String {
    if matches!(format, Format::Blosc2Folder | Format::Blosc2Zip) {
        return "stores of python-blosc2 are not read yet: `blosc2.open` in Python reads them"
            .to_owned();
    }
    let typed = typed(name);
    let (command, result) = match format {
        Format::Raw if TextForm::of_name(Path::new(typed)).is_some() => {
            (format!("convert {typed} OUT.bcolz"), "makes a table of it")
        }
        Format::Raw if is_packed_name(Path::new(typed)) => {
            (format!("salvage {typed} -o OUT"), "looks for chunks in it, if its start is damaged")
        }
        Format::Raw => (format!("pack {typed} -o OUT.b2frame"), "makes a frame of it"),
        Format::Npy => (format!("pack {typed} -o OUT.b2nd"), "makes an array in a frame of it"),
        Format::BcolzTable | Format::Blsk => {
            (format!("convert {typed} OUT --to columns"), "makes an array of each column")
        }
        Format::Columns => {
            (format!("info {typed}"), "lists its columns, each of which is an array in a file")
        }
        Format::BcolzArray => (format!("convert {typed} OUT.b2nd"), "makes an array in a frame"),
        Format::Frame | Format::SparseFrame => {
            (format!("unpack {typed} -o OUT"), "writes the bytes that it holds")
        }
        Format::BlskFile => ("info FOLDER".to_owned(), "shows the tree that the file belongs to"),
        _ => (format!("convert {typed} OUT.b2frame"), "makes a frame of it"),
    };
    format!("`superchunk {command}` {result}")
}

fn start_of(path: &Path, len: u64) -> Option<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path).ok()?.take(len).read_to_end(&mut start).ok()?;
    Some(start)
}

fn known_by_start(path: &Path) -> Option<(&'static str, &'static str)> {
    let start = start_of(path, 8)?;
    let known = FORMATS.iter().find(|(magic, ..)| start.starts_with(magic));
    known.map(|(_, reason, help)| (*reason, *help))
}
