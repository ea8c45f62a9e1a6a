//! A second opinion: a plain, slow chunk decoder written from `docs/formats/chunk.md` and
//! `docs/formats/blosclz.md` alone.
//!
//! It shares no code and no codec crate with the library, so a mistake must be made twice to stay
//! unseen. Nothing here is clever: a stream is a fresh `Vec`, a filter is the formula of the
//! document, a bit is moved one at a time. Bad input gives `Err`, never a panic.
//!
//! ```text
//! bytes ─ Header::parse ┬ special ─────────────────────────────┐
//!                       ├ MEMCPYED ────────────────────────────┤
//!                       ├ VL blocks ─ decode ─ undo_filters ───┤
//!                       └ blocks ─ streams ─ decode ─ undo ────┴─ data
//! ```
//!
//! Not covered: codecs and filters that need a super-chunk around the chunk (NDLZ, ZFP, NDCELL,
//! NDMEAN), user plug-ins, and lazy chunks. They are refused by name.

#![expect(
    clippy::indexing_slicing,
    reason = "only fixed places of slices whose length was just checked; the rest uses `bytes`"
)]

mod codecs;
mod filters;
pub mod nd;
pub mod varlen;

/// The largest output this decoder produces. A test input that claims more is a hostile one.
const MAX_OUTPUT: usize = 1 << 28;

/// Decodes one complete Blosc1 or Blosc2 chunk.
///
/// # Errors
/// A sentence that says what is wrong with the chunk, or what this decoder does not support.
pub fn decompress(chunk: &[u8]) -> Result<Vec<u8>, String> {
    let header = Header::parse(chunk)?;
    let chunk = &chunk[..header.cbytes]; // `parse` checked that cbytes <= chunk.len()
    if header.special != 0 {
        special(&header, chunk)
    } else if header.memcpyed() {
        Ok(bytes(chunk, header.len, header.nbytes)?.to_vec())
    } else if header.vl {
        vl_blocks(&header, chunk)
    } else {
        blocks(&header, chunk)
    }
}

/// The 16 or 32 header bytes, checked (chunk.md, "Header" and "Checks a reader must make").
struct Header {
    version: u8,
    flags: u8,
    typesize: usize,
    nbytes: usize,
    blocksize: usize,
    cbytes: usize,
    len: usize,
    filters: [u8; 6],
    metas: [u8; 6],
    vl: bool,
    dict: bool,
    special: u8,
    instrumented: bool,
}

impl Header {
    fn parse(chunk: &[u8]) -> Result<Self, String> {
        let fixed = bytes(chunk, 0, 16)?;
        let (version, flags) = (fixed[0], fixed[2]);
        let extended = flags & 0x05 == 0x05;
        let len = if extended { 32 } else { 16 };
        let mut header = Self {
            version,
            flags,
            typesize: usize::from(fixed[3]),
            nbytes: length(chunk, 4)?,
            blocksize: length(chunk, 8)?,
            cbytes: length(chunk, 12)?,
            len,
            filters: [0; 6],
            metas: [0; 6],
            vl: false,
            dict: false,
            special: 0,
            instrumented: false,
        };
        if extended {
            header.parse_extension(bytes(chunk, 16, 16)?)?;
        } else {
            header.filters[4] = if flags & 0x08 != 0 { 3 } else { 0 };
            header.filters[5] = match flags & 0x05 {
                0x01 => 1,
                0x04 => 2,
                _ => 0,
            };
        }
        header.check(chunk.len())?;
        header.repair_blocksize();
        Ok(header)
    }

    fn parse_extension(&mut self, extension: &[u8]) -> Result<(), String> {
        let (flags2, blosc2_flags) = (extension[14], extension[15]);
        self.filters.copy_from_slice(&extension[..6]);
        self.metas.copy_from_slice(&extension[8..14]);
        self.vl = flags2 & 0x01 != 0;
        self.special = (blosc2_flags >> 4) & 0x07;
        self.dict = blosc2_flags & 0x01 != 0;
        if self.version == 3 {
            (self.filters[5], self.metas[5]) = (0, 0); // only five slots existed
        }
        self.instrumented = blosc2_flags & 0x80 != 0;
        if self.instrumented {
            self.filters = [0; 6]; // 16-byte records, never filtered
        }
        if blosc2_flags & 0x08 != 0 && self.special == 0 {
            return Err("a lazy chunk holds no data".into());
        }
        if self.version > 6 && flags2 & 0xfe != 0 {
            return Err(format!("version {} with unknown feature bits", self.version));
        }
        Ok(())
    }

    fn check(&self, available: usize) -> Result<(), String> {
        let max_block = if self.len == 16 { 715_827_542 } else { 536_866_816 };
        let wrong = [
            (self.version == 0, "version 0"),
            (self.typesize == 0, "typesize 0"),
            (self.blocksize == 0 || self.blocksize > max_block, "blocksize out of range"),
            (self.cbytes < self.len, "cbytes is smaller than the header"),
            (self.cbytes > available, "cbytes is past the end of the buffer"),
            (self.nbytes > MAX_OUTPUT, "nbytes is more than this decoder produces"),
            (self.memcpyed() && self.cbytes != self.nbytes + self.len, "MEMCPYED size"),
            (self.vl && (self.memcpyed() || self.special != 0), "VL with MEMCPYED or special"),
        ];
        match wrong.iter().find(|(is_wrong, _)| *is_wrong) {
            Some((_, what)) => Err(format!("bad header: {what}")),
            None => Ok(()),
        }
    }

    /// Clamps to nbytes, then undoes the reference's habit of storing a size that the data do not
    /// use (errata T1). In a VL chunk the field is a block count and stays as it is.
    fn repair_blocksize(&mut self) {
        if self.vl || self.nbytes == 0 {
            return;
        }
        self.blocksize = self.blocksize.min(self.nbytes);
        if self.blocksize > self.typesize && !self.instrumented {
            self.blocksize -= self.blocksize % self.typesize;
        }
    }

    fn memcpyed(&self) -> bool {
        self.flags & 0x02 != 0
    }
}

fn special(header: &Header, chunk: &[u8]) -> Result<Vec<u8>, String> {
    let nbytes = header.nbytes;
    let value: &[u8] = match (header.special, header.typesize) {
        (1, _) => return Ok(vec![0; nbytes]),
        (2, 4) => &[0, 0, 0xc0, 0x7f],
        (2, 8) => &[0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
        (3, _) => &chunk[header.len..],
        (4, typesize) if nbytes.is_multiple_of(typesize) => return Ok(vec![0; nbytes]),
        (id, typesize) => return Err(format!("special value {id} with typesize {typesize}")),
    };
    if value.is_empty()
        || !nbytes.is_multiple_of(value.len())
        || (header.special == 3 && nbytes == 0)
    {
        return Err("nbytes is no multiple of the repeated value".into());
    }
    Ok(value.repeat(nbytes / value.len()))
}

/// The offsets after the header, and the dictionary behind them (empty if there is none).
fn sections<'a>(
    header: &Header,
    chunk: &'a [u8],
    count: usize,
) -> Result<(Vec<usize>, &'a [u8]), String> {
    let mut data = header.len + 4 * count;
    bytes(chunk, header.len, 4 * count)?;
    let mut dict: &[u8] = &[];
    if header.dict {
        let size = length(chunk, data)?;
        if !(1..=32768).contains(&size) {
            return Err(format!("dictionary of {size} bytes"));
        }
        dict = bytes(chunk, data + 4, size)?;
        data += 4 + size;
    }
    let starts: Result<Vec<usize>, String> =
        (0..count).map(|j| length(chunk, header.len + 4 * j)).collect();
    let starts = starts?;
    if starts.iter().any(|start| *start < data) {
        return Err("a block starts before the data".into());
    }
    Ok((starts, dict))
}

fn blocks(header: &Header, chunk: &[u8]) -> Result<Vec<u8>, String> {
    let (nbytes, blocksize) = (header.nbytes, header.blocksize);
    let (starts, dict) = sections(header, chunk, nbytes.div_ceil(blocksize))?;
    let mut physical = starts.clone();
    physical.sort_unstable();
    let mut out: Vec<u8> = Vec::new();
    for start in &starts {
        let size = blocksize.min(nbytes - out.len());
        let after = physical.partition_point(|other| other <= start);
        let next = physical.get(after).copied().unwrap_or(chunk.len());
        let streams = stream_count(header, chunk, size, *start, next)?;
        if !size.is_multiple_of(streams) {
            return Err(format!("a block of {size} bytes cannot be {streams} streams"));
        }
        let (mut at, mut block) = (*start, Vec::new());
        for _ in 0..streams {
            let (data, end) = stream(header, chunk, at, size / streams, dict)?;
            block.extend_from_slice(&data);
            at = end;
        }
        let reference = if out.is_empty() { None } else { Some(&out[..size]) };
        let block = filters::undo(header, block, reference)?;
        out.extend_from_slice(&block);
    }
    Ok(out)
}

/// How many streams a block has, in all eras (chunk.md, "Splitting").
fn stream_count(
    header: &Header,
    chunk: &[u8],
    size: usize,
    start: usize,
    next: usize,
) -> Result<usize, String> {
    let typesize = header.typesize;
    if header.flags & 0x10 != 0 || size < header.blocksize {
        return Ok(1);
    }
    let legacy = header.version <= 2 && header.len == 16;
    if legacy && (typesize > 16 || size / typesize < 128) {
        // Writers of both habits exist. One stream must reach exactly to the next block.
        let csize = length(chunk, start).unwrap_or(usize::MAX);
        if csize.checked_add(start + 4) == Some(next) {
            return Ok(1);
        }
    }
    if size < typesize {
        return Err(format!("a block of {size} bytes split by typesize {typesize}"));
    }
    Ok(typesize)
}

/// One stream at `at`: its `size` bytes, and the position after it.
fn stream(
    header: &Header,
    chunk: &[u8],
    at: usize,
    size: usize,
    dict: &[u8],
) -> Result<(Vec<u8>, usize), String> {
    let csize = int(chunk, at)?;
    let at = at + 4;
    if csize <= 0 && header.len == 16 {
        return Err("runs exist behind 32-byte headers only".into());
    }
    if csize == 0 {
        return Ok((vec![0; size], at));
    }
    if csize < 0 {
        let value = u8::try_from(csize.unsigned_abs()).map_err(|_| "run value".to_string())?;
        if bytes(chunk, at, 1)?[0] & 0x01 == 0 {
            return Err("unknown run token".into());
        }
        return Ok((vec![value; size], at + 1));
    }
    let csize = length(chunk, at - 4)?;
    Ok((codecs::decode(header.flags >> 5, bytes(chunk, at, csize)?, size, dict)?, at + csize))
}

fn vl_blocks(header: &Header, chunk: &[u8]) -> Result<Vec<u8>, String> {
    let (mut starts, dict) = sections(header, chunk, header.blocksize)?;
    starts.push(chunk.len());
    let mut out = Vec::new();
    for pair in starts.windows(2) {
        let span = pair[1].checked_sub(pair[0]).filter(|span| *span > 4);
        let span = span.ok_or("VL blocks must stand in order and hold something")?;
        let size = length(chunk, pair[0])?;
        if size == 0 || size > header.nbytes - out.len() {
            return Err(format!("VL block of {size} bytes"));
        }
        let block =
            codecs::decode(header.flags >> 5, bytes(chunk, pair[0] + 4, span - 4)?, size, dict)?;
        out.extend_from_slice(&filters::undo(header, block, None)?);
    }
    if out.len() != header.nbytes {
        return Err("VL blocks do not add up to nbytes".into());
    }
    Ok(out)
}

/// `len` bytes at `at`, or an error.
fn bytes(data: &[u8], at: usize, len: usize) -> Result<&[u8], String> {
    let end = at.checked_add(len).filter(|end| *end <= data.len());
    let end = end.ok_or_else(|| format!("{len} bytes at {at} are past the end {}", data.len()))?;
    Ok(&data[at..end])
}

fn int(data: &[u8], at: usize) -> Result<i32, String> {
    let mut four = [0; 4];
    four.copy_from_slice(bytes(data, at, 4)?);
    Ok(i32::from_le_bytes(four))
}

/// A stored integer that must not be negative.
fn length(data: &[u8], at: usize) -> Result<usize, String> {
    let value = int(data, at)?;
    usize::try_from(value).map_err(|_| format!("negative size {value} at byte {at}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hexadecimal digits, blanks ignored.
    pub(super) fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
        let pair = |p: &[char]| u8::from_str_radix(&p.iter().collect::<String>(), 16).unwrap();
        digits.chunks(2).map(pair).collect()
    }

    #[test]
    fn split_streams_raw_and_zero_runs_of_the_document_decode() {
        let mut chunk =
            hex("05010504 00010000 00010000 74000000 00000000 00010000 00000000 00000000
             24000000 40000000");
        chunk.extend(0..64);
        chunk.extend([0; 12]);
        let expected: Vec<u8> = (0u32..64).flat_map(u32::to_le_bytes).collect();
        assert_eq!(decompress(&chunk).unwrap(), expected);
    }

    #[test]
    fn a_byte_run_stores_the_negated_value() {
        let chunk = hex("05010501 64000000 64000000 29000000 00000000 00010000 00000000 00000000
             24000000 f9ffffff 01");
        assert_eq!(decompress(&chunk).unwrap(), [7; 100]);
    }

    #[test]
    fn an_unsplit_blosc1_block_of_125_elements_decodes() {
        let chunk = hex(
            "02013108 e8030000 e8030000 26000000 14000000 0e000000 1f000100 ffffffd2 50000000 0000",
        );
        assert_eq!(decompress(&chunk).unwrap(), [0; 1000]);
    }

    #[test]
    fn every_truncation_is_an_error() {
        let chunk = hex("05011501 a0000000 a0000000 38000000 00000000 00000000 00000000 00000000
             24000000 10000000 27616263 64656667 68e08c07 02666768");
        assert_eq!(decompress(&chunk).unwrap(), b"abcdefgh".repeat(20));
        for len in 0..chunk.len() {
            assert!(decompress(&chunk[..len]).is_err(), "{len} bytes");
        }
    }

    #[test]
    fn special_values_repeat() {
        let head = "05010504 e8030000 e8030000 24000000 000000000000000000000000000000 30";
        let chunk = hex(&format!("{head} 01020304"));
        assert_eq!(decompress(&chunk).unwrap(), [1, 2, 3, 4].repeat(250));
    }
}
