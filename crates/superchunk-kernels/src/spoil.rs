//! Wrong bytes on purpose: the program's tests need an encoder that makes mistakes.

/// Under feature `__internal-test` the environment variable `SUPERCHUNK_SPOIL` has the last byte of a
/// new chunk changed, which is reported on stderr: of the chunk of this number in the process, or with
/// `checked` of every chunk that is going to be checked. Otherwise does nothing.
#[cfg(feature = "__internal-test")]
pub fn spoil(chunk: &mut [u8], is_checked: bool) {
    use core::sync::atomic::{AtomicUsize, Ordering};
    static MADE: AtomicUsize = AtomicUsize::new(0);

    let Ok(wanted) = std::env::var("SUPERCHUNK_SPOIL") else { return };
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let is_wanted = match wanted.parse::<usize>() {
        Ok(wanted) => wanted == number,
        Err(_) => is_checked,
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
