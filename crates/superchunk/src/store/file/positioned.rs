//! Positioned reads and writes that go on until all is done: systems may stop anywhere in between.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::FileExt;
#[cfg(windows)]
use std::os::windows::fs::FileExt;

/// The system says that it has moved more bytes than it was asked to.
const TOO_FAR: io::ErrorKind = io::ErrorKind::InvalidData;

/// Reads until `dst` is full or the file ends.
pub(in crate::store) fn read_up_to(
    file: &File,
    position: u64,
    dst: &mut [u8],
) -> io::Result<usize> {
    let reachable = room_after(position).min(dst.len());
    let (mut at, mut rest) = (position, dst.get_mut(..reachable).ok_or(TOO_FAR)?);
    while !rest.is_empty() {
        match read_some(file, rest, at) {
            Ok(0) => break,
            Ok(count) => {
                at = advanced(at, count);
                rest = rest.get_mut(count..).ok_or(TOO_FAR)?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(reachable - rest.len())
}

/// The first position from `position` on where the file system has stored anything, as far as it
/// tells; `None` if the rest of the file is a hole. What is read of a hole is zeros.
pub(in crate::store) fn next_stored(file: &File, position: u64) -> Option<u64> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{SeekFrom, seek};
        use rustix::io::Errno;
        // This moves the file's own position, which nothing uses: all reads and writes state theirs.
        match seek(file, SeekFrom::Data(position)) {
            Ok(found) => return Some(found.max(position)),
            Err(Errno::NXIO) => return None,
            Err(_) => {}
        }
    }
    let _ = file;
    Some(position)
}

/// Writes all of `src`.
pub(in crate::store) fn write_all(file: &File, position: u64, src: &[u8]) -> io::Result<()> {
    if src.len() > room_after(position) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let (mut at, mut rest) = (position, src);
    while !rest.is_empty() {
        match write_some(file, rest, at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                at = advanced(at, count);
                rest = rest.get(count..).ok_or(TOO_FAR)?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// How many bytes a file can have from `position` on: systems count in signed 64-bit integers and
/// refuse even to read beyond.
fn room_after(position: u64) -> usize {
    let room = i64::MAX.unsigned_abs().saturating_sub(position);
    usize::try_from(room).unwrap_or(usize::MAX)
}

fn advanced(position: u64, count: usize) -> u64 {
    position.saturating_add(u64::try_from(count).unwrap_or(u64::MAX))
}

#[cfg(unix)]
fn read_some(file: &File, dst: &mut [u8], position: u64) -> io::Result<usize> {
    file.read_at(dst, position)
}

#[cfg(unix)]
fn write_some(file: &File, src: &[u8], position: u64) -> io::Result<usize> {
    file.write_at(src, position)
}

#[cfg(windows)]
fn read_some(file: &File, dst: &mut [u8], position: u64) -> io::Result<usize> {
    file.seek_read(dst, position)
}

#[cfg(windows)]
fn write_some(file: &File, src: &[u8], position: u64) -> io::Result<usize> {
    file.seek_write(src, position)
}
