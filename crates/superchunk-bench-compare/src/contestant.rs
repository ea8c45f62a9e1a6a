//! What every implementation must be able to do to take part.

/// A result, or a sentence.
pub(crate) type Answer<T> = Result<T, String>;

/// One implementation, set up for one cell.
pub(crate) trait Contestant {
    /// Replaces the content of `dst` by the chunk of `src`.
    fn compress(&mut self, src: &[u8], dst: &mut Vec<u8>) -> Answer<()>;

    /// Decodes a chunk into a buffer of exactly its size.
    fn decompress(&mut self, chunk: &[u8], dst: &mut [u8]) -> Answer<()>;

    /// Decodes the items from `start` that fill `dst`.
    fn items(&mut self, chunk: &[u8], start: usize, dst: &mut [u8]) -> Answer<()>;
}
