//! Wrong bytes on purpose: the program's tests need an encoder that makes mistakes.

/// Under feature `__internal-test` the environment variable `SUPERCHUNK_SPOIL` (`all`, or `checked` for
/// those that are going to be checked) changes the last byte of new chunks and reports each on stderr.
/// Otherwise does nothing.
#[cfg(feature = "__internal-test")]
pub fn spoil(chunk: &mut [u8], is_checked: bool) {
    let is_wanted = match std::env::var("SUPERCHUNK_SPOIL").as_deref() {
        Ok("all") => true,
        Ok("checked") => is_checked,
        _ => false,
    };
    if let Some(last) = chunk.last_mut().filter(|_| is_wanted) {
        *last ^= 0x10;
        std::eprintln!("superchunk: a chunk was spoilt");
    }
}

/// Does nothing: see the feature `__internal-test`.
#[cfg(not(feature = "__internal-test"))]
#[inline(always)]
pub fn spoil(_: &mut [u8], _: bool) {}
