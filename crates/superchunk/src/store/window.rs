//! Stores made of other stores: a part of one, and a shared one.
//!
//! ```text
//! store   ........|start ─────────── len ──────────|......
//! window          |0                            len|
//! ```

use std::sync::Arc;

use super::bytes::from;
use super::{Identity, ReadAt, WriteAt};
use crate::error::{Error, MustGet, Result};
use crate::wire;

/// Part of a store from a byte on, such as a frame inside a larger file.
#[derive(Clone, Debug)]
pub struct Window<S> {
    store: S,
    start: u64,
    len: Option<u64>,
}

impl<S> Window<S> {
    /// What `store` holds from byte `start` on: at most `len` bytes, or all up to its end.
    ///
    /// Only a window without `len` can change its length when it is written to.
    pub fn new(store: S, start: u64, len: Option<u64>) -> Self {
        Self { store, start, len }
    }

    /// The store it looks into.
    pub fn into_inner(self) -> S {
        self.store
    }

    /// How many bytes may follow `position` inside of the window.
    fn room_at(&self, position: u64) -> u64 {
        self.len.map_or(u64::MAX, |len| len.saturating_sub(position))
    }
}

impl<S: ReadAt> ReadAt for Window<S> {
    fn len(&self) -> Result<u64> {
        let behind = self.store.len()?.saturating_sub(self.start);
        Ok(self.len.map_or(behind, |len| len.min(behind)))
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        let room = usize::try_from(self.room_at(position)).unwrap_or(usize::MAX);
        let Some(inside) = self.start.checked_add(position) else { return Ok(0) };
        let len = dst.len();
        self.store.read_at(inside, dst.must_get_mut(..room.min(len))?)
    }

    fn next_data(&self, position: u64) -> Result<u64> {
        let Some(inside) = self.start.checked_add(position) else { return Ok(position) };
        Ok(self.store.next_data(inside)?.saturating_sub(self.start).min(self.len()?))
    }

    fn is_near(&self) -> bool {
        self.store.is_near()
    }

    fn identity(&self) -> Result<Option<Identity>> {
        self.store.identity()
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        let behind = from(self.store.as_bytes()?, self.start);
        let room = usize::try_from(self.room_at(0)).unwrap_or(usize::MAX);
        Some(wire::at_most(behind, room))
    }
}

impl<S: WriteAt> WriteAt for Window<S> {
    fn write_at(&self, position: u64, src: &[u8]) -> Result<()> {
        let fits = u64::try_from(src.len()).is_ok_and(|len| len <= self.room_at(position));
        match self.start.checked_add(position) {
            Some(inside) if fits => self.store.write_at(inside, src),
            _ => Err(Error::invalid(format!(
                "{} bytes at byte {position} do not fit into this part of the store",
                src.len()
            ))),
        }
    }

    fn set_len(&self, len: u64) -> Result<()> {
        match (self.len, self.start.checked_add(len)) {
            (None, Some(end)) => self.store.set_len(end),
            (Some(own), _) if own == len => Ok(()),
            _ => Err(Error::invalid(format!(
                "this part of the store cannot become {len} bytes long: other bytes follow it"
            ))),
        }
    }

    fn sync(&self) -> Result<()> {
        self.store.sync()
    }

    fn lock(&self) -> Result<()> {
        self.store.lock()
    }

    fn unlock(&self) {
        self.store.unlock();
    }
}

impl<S: ReadAt + ?Sized> ReadAt for Arc<S> {
    fn len(&self) -> Result<u64> {
        (**self).len()
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        (**self).read_at(position, dst)
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        (**self).as_bytes()
    }

    fn next_data(&self, position: u64) -> Result<u64> {
        (**self).next_data(position)
    }

    fn is_near(&self) -> bool {
        (**self).is_near()
    }

    fn identity(&self) -> Result<Option<Identity>> {
        (**self).identity()
    }

    fn is_empty(&self) -> Result<bool> {
        (**self).is_empty()
    }

    fn read_exact_at(&self, position: u64, dst: &mut [u8]) -> Result<()> {
        (**self).read_exact_at(position, dst)
    }
}

impl<S: WriteAt + ?Sized> WriteAt for Arc<S> {
    fn write_at(&self, position: u64, src: &[u8]) -> Result<()> {
        (**self).write_at(position, src)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        (**self).set_len(len)
    }

    fn sync(&self) -> Result<()> {
        (**self).sync()
    }

    fn lock(&self) -> Result<()> {
        (**self).lock()
    }

    fn unlock(&self) {
        (**self).unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::store::{Bytes, Memory};

    #[test]
    fn a_window_reads_as_the_part_of_the_slice() {
        let all: Vec<u8> = (0..20).collect();
        for start in 0..23 {
            for len in [None, Some(0), Some(1), Some(7), Some(20), Some(usize::MAX)] {
                let part: Vec<u8> =
                    all.iter().copied().skip(start).take(len.unwrap_or(usize::MAX)).collect();
                let window = Window::new(Bytes::new(&all), start as u64, len.map(|len| len as u64));
                assert_eq!(window.len().unwrap(), part.len() as u64);
                assert_eq!(window.as_bytes().unwrap(), part);
                for position in 0..9 {
                    let mut dst = [255; 9];
                    let count = window.read_at(position as u64, &mut dst).unwrap();
                    let expected: Vec<u8> = part.iter().copied().skip(position).take(9).collect();
                    assert_eq!(dst[..count], expected, "{start} {len:?} {position}");
                }
            }
        }
    }

    #[test]
    fn positions_that_overflow_are_past_the_end() {
        let window = Window::new(Memory::from(vec![1, 2, 3]), u64::MAX - 1, None);
        assert_eq!(window.len().unwrap(), 0);
        assert_eq!(window.read_at(5, &mut [0; 4]).unwrap(), 0);
        assert_eq!(window.write_at(5, &[1]).unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(window.set_len(5).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }

    #[test]
    fn an_open_window_grows_and_shrinks_its_store() {
        let store = Memory::from(vec![1, 2, 3]);
        let window = Window::new(store.clone(), 2, None);
        window.write_at(1, &[9, 9]).unwrap();
        assert_eq!(store.to_vec(), [1, 2, 3, 9, 9]);
        window.set_len(2).unwrap();
        assert_eq!(store.to_vec(), [1, 2, 3, 9]);
        window.sync().unwrap();
        window.lock().unwrap();
        assert_eq!(store.lock().unwrap_err().kind(), ErrorKind::Locked);
        window.unlock();
        store.lock().unwrap();
        store.unlock();
        window.lock().unwrap();
        drop(window.into_inner());
        store.lock().unwrap();
    }

    #[test]
    fn a_closed_window_never_touches_what_is_outside() {
        let store = Memory::from(vec![0; 6]);
        let window = Window::new(store.clone(), 2, Some(3));
        window.write_at(1, &[7, 7]).unwrap();
        for (position, len) in [(1, 3), (3, 1), (4, 1), (u64::MAX, 1)] {
            let error = window.write_at(position, &vec![8; len]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
        assert!(window.set_len(2).is_err());
        assert!(window.set_len(4).is_err());
        window.set_len(3).unwrap();
        assert_eq!(store.to_vec(), [0, 0, 0, 7, 7, 0]);
    }

    #[test]
    fn a_shared_store_is_a_store() {
        let bytes: Arc<dyn ReadAt> = Arc::new(Bytes::new(vec![1u8, 2, 3]));
        assert_eq!(Window::new(bytes.clone(), 1, None).as_bytes().unwrap(), [2, 3]);
        assert!(!bytes.is_empty().unwrap());
        assert!(bytes.read_exact_at(2, &mut [0; 2]).is_err());

        let memory = Memory::new();
        let shared: Arc<dyn WriteAt> = Arc::new(memory.clone());
        WriteAt::write_at(&shared, 0, &[5, 6]).unwrap();
        WriteAt::set_len(&shared, 1).unwrap();
        WriteAt::sync(&shared).unwrap();
        WriteAt::lock(&shared).unwrap();
        assert_eq!(memory.lock().unwrap_err().kind(), ErrorKind::Locked);
        assert_eq!(memory.to_vec(), [5]);
    }

    #[test]
    #[cfg(unix)]
    fn a_shared_store_is_the_store_itself() {
        let file = std::env::current_exe().unwrap();
        let plain = crate::store::FileReader::open(&file).unwrap();
        let shared: Arc<dyn ReadAt> = Arc::new(crate::store::FileReader::open(&file).unwrap());
        let known = plain.identity().unwrap();
        assert!(known.is_some());
        assert_eq!(shared.identity().unwrap(), known);
        assert_eq!(Window::new(shared, 5, None).identity().unwrap(), known);
        let memory = Memory::from(vec![1]);
        let shared: Arc<dyn WriteAt> = Arc::new(memory.clone());
        shared.lock().unwrap();
        shared.unlock();
        memory.lock().unwrap();
    }
}
