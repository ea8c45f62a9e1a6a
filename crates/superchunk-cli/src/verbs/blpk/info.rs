//! `blpk info`: header, positions, metadata, and the first chunk.

use std::path::Path;

use superchunk::bloscpack::{Checksum, MetadataHeader, Pack, PackHeader};
use superchunk::detect::{self, Format};
use superchunk::store::{FileReader, ReadAt};

use super::words::double_pretty;
use super::{refuse, say, show_metadata};
use crate::context::Context;
use crate::failure::{Failure, Outcome};

/// How many positions are shown.
const SHOWN: usize = 5;
/// The codecs by their number in a chunk.
const CODECS: [&str; 5] = ["blosclz", "lz4", "snappy", "zlib", "zstd"];

/// Prints what a file is.
pub(super) fn show(path: &Path, context: &Context) -> Outcome {
    if !path.exists() {
        return Err(refuse(format!("file '{}' does not exist!", path.display())));
    }
    if let Ok(found) = detect::path(path)
        && !matches!(found.format, Format::Bloscpack | Format::Raw)
    {
        return Err(refuse(format!(
            "'{}' is {}\nThis might not be a bloscpack compressed file.",
            path.display(),
            found.format.description()
        )));
    }
    let pack = Pack::open_with(path, &context.open_options()).map_err(|error| {
        refuse(format!("{error}\nThis might not be a bloscpack compressed file."))
    })?;
    let mut text = header_lines(&pack.header());
    if pack.header().offsets {
        let positions = (0..SHOWN).map_while(|number| pack.chunk_position(number));
        let positions: Vec<String> = positions.map(|position| position.to_string()).collect();
        text.push_str(&format!("'offsets':\n[{},...]\n", positions.join(",")));
    }
    say(&text)?;
    show_metadata(&pack)?;
    if let Some(header) = pack.metadata_header() {
        say(&metadata_lines(header))?;
    }
    first_chunk(path, &pack)
}

fn header_lines(header: &PackHeader) -> String {
    let truth = |is: bool| if is { "True" } else { "False" };
    let size = |size: Option<usize>| match size {
        Some(size) => double_pretty(size as u64),
        None => "-1".to_owned(),
    };
    let count = header.chunk_count.map_or("-1".to_owned(), |count| count.to_string());
    let mut lines = vec![
        "BloscpackHeader:".to_owned(),
        format!("    format_version: {}", header.version),
        format!("    offsets: {}", truth(header.offsets)),
        format!("    metadata: {}", truth(header.metadata)),
        format!("    checksum: '{}'", header.checksum.name()),
        format!("    typesize: {}", header.item_size),
        format!("    chunk_size: {}", size(header.chunk_size)),
        format!("    last_chunk: {}", size(header.last_chunk)),
        format!("    nchunks: {count}"),
        format!("    max_app_chunks: {}\n", header.append_slots),
    ];
    if header.varlen {
        lines.insert(4, "    variable_length: True".to_owned());
    }
    lines.join("\n")
}

fn metadata_lines(header: &MetadataHeader) -> String {
    let checksum = if header.checksum == Checksum::None { "None" } else { header.checksum.name() };
    let sizes = [header.len, header.room, header.stored_len].map(|len| double_pretty(len.into()));
    let [len, room, stored] = sizes;
    [
        "MetadataHeader:".to_owned(),
        "    magic_format: b'JSON'".to_owned(),
        "    meta_options: '00000000'".to_owned(),
        format!("    meta_checksum: '{checksum}'"),
        format!("    meta_codec: '{}'", if header.compressed { "zlib" } else { "None" }),
        format!("    meta_level: {}", header.level),
        format!("    meta_size: {len}"),
        format!("    max_meta_size: {room}"),
        format!("    meta_comp_size: {stored}"),
        "    user_codec: b''".to_owned(),
    ]
    .join("\n")
}

/// The header of the first chunk, as Python prints it.
fn first_chunk(path: &Path, pack: &Pack) -> Outcome {
    let Some(position) = pack.chunk_position(0) else { return Ok(()) };
    let mut start = [0; 16];
    FileReader::open(path)
        .and_then(|file| file.read_exact_at(position, &mut start))
        .map_err(Failure::from)?;
    let [version, versionlz, flags, typesize, sizes @ ..] = start;
    let (words, _) = sizes.as_chunks::<4>();
    let sizes = words.iter().map(|word| u32::from_le_bytes(*word).to_string());
    let bytes = [version, versionlz, flags, typesize].map(|byte| byte.to_string());
    let names = ["version", "versionlz", "flags", "typesize", "nbytes", "blocksize", "ctbytes"];
    let header = dictionary(names.into_iter().zip(bytes.into_iter().chain(sizes)));
    let truth = |bit: u8| if flags & bit != 0 { "True" } else { "False" }.to_owned();
    let codec = CODECS.get(usize::from(flags >> 5)).unwrap_or(&"unknown");
    let flags = dictionary([
        ("byte_shuffle", truth(1)),
        ("pure_memcpy", truth(2)),
        ("bit_shuffle", truth(4)),
        ("split_blocks", truth(16)),
        ("codec", format!("'{codec}'")),
    ]);
    say(&format!("First chunk blosc header:\n{header}\nFirst chunk blosc flags: \n{flags}"))
}

fn dictionary<'a>(entries: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let entries = entries.into_iter().map(|(name, value)| format!("('{name}', {value})"));
    format!("OrderedDict([{}])", entries.collect::<Vec<_>>().join(", "))
}
