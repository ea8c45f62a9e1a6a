//! Wrong bytes on purpose: the program's tests need an encoder that makes mistakes.

/// Under feature `__internal-test`, and with the environment variable `SUPERCHUNK_SPOIL`, changes the
/// last byte of a new chunk and reports that on stderr. Otherwise does nothing.
#[cfg(feature = "__internal-test")]
pub fn spoil(chunk: &mut [u8]) {
    let is_wanted = std::env::var_os("SUPERCHUNK_SPOIL").is_some();
    if let Some(last) = chunk.last_mut().filter(|_| is_wanted) {
        *last ^= 0x10;
        std::eprintln!("superchunk: a chunk was spoilt");
    }
}

/// Does nothing: see the feature `__internal-test`.
#[cfg(not(feature = "__internal-test"))]
#[inline(always)]
pub fn spoil(_: &mut [u8]) {}
