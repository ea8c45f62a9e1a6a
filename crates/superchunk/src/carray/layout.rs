//! The chunks of a carray: one file each, named by their numbers.
//!
//! A new chunk whose number nobody looks at yet gets its name at once. Another one waits under a temporary
//! name, because the file of its number is one that readers need, and a commit places it by renaming.
//! That is safe before the new length is written, since of a last chunk only the rows count that the
//! length covers, and new rows come behind the old ones:
//!
//! ```text
//! grow     new chunks │ sync │ some renamed over the old │ sync │ sizes
//! shrink   sizes │ the shorter last chunk renamed │ chunks behind it go
//! ```

mod loose;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::chunk_file::{HEADER, HEADER_LEN, check_header, chunk_name};
use super::geometry::Geometry;
use super::home::{Home, as_damage, create, create_private};
use super::sizes::Sizes;
use super::staged::{Control, Staged};
use crate::container::{self, ChunkSize, Contents, Entry, Layout, Params, Rules};
use crate::container::{append_suffix, check_suffix};
use crate::error::{Error, ErrorKind, Result};
use crate::spare::attempt;
use crate::store::ReadAt;
use crate::wire;
use loose::Loose;

/// Slots from here on are chunks that wait for a commit.
const PENDING: u64 = 1 << 48;
/// The most bytes of the file `sizes`.
const SIZES: usize = 1 << 20;
/// Up to this many chunks a length is believed before the files are counted.
const BELIEVED: u64 = 1 << 16;

/// The chunk files of a carray.
pub(crate) struct Carray {
    home: Arc<Home>,
    control: Arc<Control>,
    /// What the folder says, as of the last commit.
    sizes: Sizes,
    geometry: Geometry,
    params: Params,
    writer: Option<Writer>,
    /// The first chunk of those that this writer may replace; it then leaves the length alone.
    shard: Option<u64>,
    /// The file that was read last: the start of a chunk and its blocks are read one by one.
    last: Mutex<Option<(u64, Arc<dyn ReadAt>)>>,
}

#[derive(Default)]
struct Writer {
    /// The numbers of chunks that wait for a commit.
    pending: BTreeSet<u64>,
    /// Numbers below the highest of these that are free again.
    free: Vec<u64>,
    /// Chunks beyond the committed length, by their numbers: they have their names already.
    beyond: BTreeSet<u64>,
    loose: Loose,
    cbytes: u64,
    poisoned: bool,
}

const PENDING_PREFIX: &str = ".b2new.";

/// The names of chunks that wait begin like this; those of a writer of some rows tell which.
fn pending_prefix(shard: Option<u64>) -> String {
    shard.map_or(PENDING_PREFIX.to_owned(), |first| format!("{PENDING_PREFIX}{first}."))
}

impl Carray {
    /// The chunks of a carray of these sizes.
    pub(crate) fn new(
        home: Arc<Home>,
        control: Arc<Control>,
        sizes: Sizes,
        geometry: Geometry,
        params: Params,
        writable: bool,
        shard: Option<u64>,
    ) -> Result<Self> {
        let writer = writable.then(|| Writer { cbytes: sizes.cbytes, ..Writer::default() });
        let last = Mutex::default();
        let this = Self { home, control, sizes, geometry, params, writer, shard, last };
        if writable {
            this.home.meta()?.take_as_model("storage")?;
            this.remove_debris()?;
        }
        Ok(this)
    }

    /// One entry for each chunk, if that many can be there.
    fn entries(&self) -> Result<Vec<Entry>> {
        let count = self.geometry.chunk_count();
        if count > BELIEVED {
            // A number of a few digits must not make us allocate more than there is on the disk.
            let files = self.home.data()?.names()?.len() as u64;
            if files < count {
                return Err(Error::truncated(format!(
                    "{} rows need {count} chunk files, there are {files}",
                    self.geometry.rows
                ))
                .at("bcolz", "sizes", 0));
            }
        }
        Ok((0..count).map(Entry::stored).collect())
    }

    /// What a super-chunk over these files holds.
    pub(crate) fn contents(&self) -> Result<Contents> {
        let size = ChunkSize::Fixed(self.geometry.chunk_size);
        let entries = self.entries()?;
        let rules = Rules { longer_last: true, ..Rules::blosc1() };
        let (nbytes, params) = (self.geometry.nbytes(), self.params.clone());
        Ok(Contents {
            nbytes,
            entries,
            rules,
            ..Contents::new(self.geometry.row_size, size, params)
        })
    }

    /// Removes what a writer that was stopped has left. Its names are used from 0 on, and placed from
    /// the highest down, so what is left begins with 0; what is not found will be overwritten.
    fn remove_debris(&self) -> Result<()> {
        let data = match self.home.data() {
            // Archives and version control lose empty folders.
            Err(error) if error.kind() == ErrorKind::NotFound && self.geometry.rows == 0 => {
                self.home.root()?.create_folder("data")?;
                self.home.data()?
            }
            data => data?,
        };
        (0..).map(|number| self.pending_name(number)).find(|name| data.remove(name).is_err());
        Ok(())
    }

    /// Writes the file of a chunk, with a checksum behind it.
    fn write_chunk(&mut self, slot: u64, chunk: &mut Vec<u8>) -> Result<u64> {
        let len = chunk.len();
        append_suffix(chunk);
        let written = self.write_file(&self.file_name(slot), chunk);
        chunk.truncate(len);
        written?;
        self.keep(slot, len)
    }

    fn write_file(&self, name: &str, content: &[u8]) -> Result<()> {
        let data = self.home.data()?;
        // What is to take the place of another file must not be read by more people.
        let is_pending = name.starts_with(PENDING_PREFIX);
        let file = if is_pending { create_private(data, name)? } else { create(data, name)? };
        let written =
            file.write_at(0, &HEADER).and_then(|()| file.write_at(HEADER_LEN as u64, content));
        if written.is_err() {
            let _ = data.remove(name);
        }
        written
    }

    /// The slot of a new chunk that waits for a commit.
    fn waiting_slot(&mut self) -> Result<u64> {
        let writer = self.writer()?;
        let next = || writer.pending.last().map_or(0, |last| last + 1);
        Ok(PENDING + writer.free.last().map_or_else(next, |free| *free))
    }

    /// The slot of a new chunk of this number: its place, if nobody looks there yet, and no chunk is
    /// there that this one is going to replace.
    fn slot_behind(&mut self, number: u64) -> Result<u64> {
        let is_taken = self.writer()?.beyond.contains(&number);
        if is_taken || self.shard.is_some() || number < self.geometry.chunk_count() {
            return self.waiting_slot();
        }
        Ok(number)
    }

    /// Has a chunk counted that was written.
    fn keep(&mut self, slot: u64, len: usize) -> Result<u64> {
        let writer = self.writer()?;
        match slot.checked_sub(PENDING) {
            Some(number) => {
                writer.free.pop();
                writer.pending.insert(number)
            }
            None => writer.beyond.insert(slot),
        };
        writer.cbytes += len as u64;
        self.forget_files();
        if let Some(watch) = self.control.watcher() {
            watch.forget(slot);
        }
        Ok(slot)
    }

    fn writer(&mut self) -> Result<&mut Writer> {
        match &mut self.writer {
            Some(writer) if writer.poisoned => Err(Error::new(
                ErrorKind::Io,
                "an earlier commit failed half-way: open it again, it has its old length",
            )),
            Some(writer) => Ok(writer),
            None => Err(container::read_only()),
        }
    }

    fn file(&self, slot: u64) -> Result<Arc<dyn ReadAt>> {
        let last = attempt(&self.last).and_then(|last| last.clone());
        if let Some((_, file)) = last.filter(|(known, _)| *known == slot) {
            return Ok(file);
        }
        let file = self.home.data()?.open(&self.file_name(slot)).map_err(as_damage)?;
        attempt(&self.last).map(|mut last| last.replace((slot, file.clone())));
        Ok(file)
    }

    fn forget_files(&mut self) {
        *self.last.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn file_name(&self, slot: u64) -> String {
        let pending = slot.checked_sub(PENDING).map(|number| self.pending_name(number));
        pending.unwrap_or_else(|| chunk_name(slot))
    }

    fn pending_name(&self, number: u64) -> String {
        format!("{}{number}", pending_prefix(self.shard))
    }

    /// The rows that the committed length needs of chunk `number`, in bytes.
    fn needed(&self, number: u64) -> u64 {
        let start = number.saturating_mul(self.geometry.chunk_size as u64);
        self.geometry.nbytes().saturating_sub(start).min(self.geometry.chunk_size as u64)
    }

    /// Places new chunks, and says what is left to do.
    fn place(&mut self, contents: &mut Contents) -> Result<Staged> {
        let rows = contents.nbytes / self.geometry.row_size as u64;
        let mut moves = Vec::new();
        for (number, entry) in (0u64..).zip(&mut contents.entries) {
            match entry.stored_slot() {
                Some(slot) if slot >= PENDING => moves.push((slot, number)),
                Some(slot) if slot == number => continue,
                _ => return Err(Error::invalid("chunks of a carray keep their places")),
            }
            *entry = Entry::stored(number);
        }
        let end = |number: u64| (number + 1).saturating_mul(self.geometry.chunk_size as u64);
        let has = |number: u64| {
            let size = self.geometry.chunk_size as u64;
            size.saturating_sub(end(number).saturating_sub(contents.nbytes))
        };
        moves.sort_unstable_by(|one, other| other.cmp(one));
        if let Some(watch) = self.control.watcher() {
            moves.iter().for_each(|(slot, number)| watch.placed(*slot, *number));
        }
        let named: Vec<(String, u64)> =
            moves.iter().map(|(slot, number)| (self.file_name(*slot), *number)).collect();
        let data = self.home.data()?;
        let beyond = self.writer.iter().flat_map(|writer| &writer.beyond);
        let beyond: Vec<String> = beyond.map(|number| chunk_name(*number)).collect();
        self.home.sync_files(data, named.iter().map(|(name, _)| name).chain(&beyond))?;
        let (shorter, placed): (Vec<_>, Vec<_>) =
            named.into_iter().partition(|(_, number)| has(*number) < self.needed(*number));
        for (name, number) in &placed {
            data.publish(name, &chunk_name(*number))?;
        }
        if !placed.is_empty() || !beyond.is_empty() {
            self.home.sync(data)?;
        }
        self.lengthen()?;
        let doomed = contents.entries.len() as u64..self.geometry.chunk_count();
        let moved = !placed.is_empty() || !shorter.is_empty() || !beyond.is_empty();
        let (mut cbytes, mut often) = (0, false);
        if let Some(writer) = &mut self.writer {
            cbytes = writer.cbytes;
            let is_full = contents.nbytes.is_multiple_of(self.geometry.chunk_size as u64);
            often = writer.loose.committed(moved || !doomed.is_empty(), !is_full);
        }
        let (nbytes, row_shape) = (contents.nbytes, self.geometry.row_shape.clone());
        Ok(Staged {
            old_rows: self.geometry.rows,
            keeps_length: self.shard.is_some(),
            sizes: Sizes { rows, row_shape, nbytes, cbytes },
            beyond,
            shorter,
            doomed,
            often,
            prepared: None,
        })
    }

    fn commit_chunks(&mut self, contents: &mut Contents) -> Result<()> {
        let mut staged = self.place(contents)?;
        let (sizes, rows) = (staged.sizes.clone(), staged.sizes.rows);
        let finished = match self.control.is_deferring() {
            true => {
                self.control.stage(staged);
                Ok(())
            }
            false => staged.prepare(&self.home).and_then(|()| staged.finish(&self.home)),
        };
        let is_in_place = match &finished {
            Ok(()) => true,
            Err(error) => error.kind() == ErrorKind::DurabilityUnknown,
        };
        if let Some(writer) = self.writer.as_mut().filter(|_| is_in_place) {
            writer.beyond.clear();
        }
        finished?;
        (self.sizes, self.geometry.rows) = (sizes, rows);
        if let Some(writer) = &mut self.writer {
            (writer.pending, writer.free) = (BTreeSet::new(), Vec::new());
        }
        Ok(())
    }
}

impl Layout for Carray {
    fn read(&self, slot: u64, start: u64, dst: &mut [u8]) -> Result<usize> {
        let read = self.file(slot).and_then(|file| {
            if start == 0 {
                let mut header = [0; HEADER_LEN];
                let found = file.read_at(0, &mut header)?;
                check_header(wire::filled(&header, found)?)?;
            }
            file.read_at(start.saturating_add(HEADER_LEN as u64), dst)
        });
        read.map_err(|error| {
            error.within(format!("{}/data/{}", self.home.name(), self.file_name(slot)))
        })
    }

    fn extent(&self, _slot: u64, _next: Option<u64>) -> Result<u64> {
        // Asking the file would cost as much as reading it.
        Ok(u64::MAX)
    }

    fn check(&self, _slot: u64, chunk: &[u8], behind: &[u8]) -> Option<Result<()>> {
        check_suffix(chunk, behind)
    }

    fn put(&mut self, chunk: &mut Vec<u8>) -> Result<u64> {
        let slot = self.waiting_slot()?;
        self.write_chunk(slot, chunk)
    }

    fn put_behind(&mut self, chunk: &mut Vec<u8>, number: u64) -> Result<u64> {
        let slot = self.slot_behind(number)?;
        self.write_chunk(slot, chunk)
    }

    fn put_tail(
        &mut self,
        rows: &[u8],
        number: u64,
        kept: Option<(u64, usize)>,
        item_size: usize,
    ) -> Result<Option<(u64, usize)>> {
        self.put_loose(rows, number, kept, item_size)
    }

    fn is_loose(&self, number: u64) -> bool {
        self.writer.as_ref().is_some_and(|writer| writer.loose.is(number))
    }

    fn noted(&self, slot: u64, decoded: &[u8], chunk: &[u8]) {
        if let Some(watch) = self.control.watcher() {
            watch.stored(slot, decoded, chunk);
        }
    }

    fn release(&mut self, slot: u64, len: usize) {
        let name = self.file_name(slot);
        self.forget_files();
        let Some(writer) = &mut self.writer else { return };
        writer.cbytes = writer.cbytes.saturating_sub(len as u64);
        if writer.beyond.remove(&slot) {
            let _ = self.home.data().and_then(|data| data.remove(&name));
        }
        let pending = slot.checked_sub(PENDING).filter(|number| writer.pending.remove(number));
        if let Some(number) = pending {
            let last = writer.pending.last();
            match last.is_some_and(|last| *last > number) {
                true => writer.free.push(number),
                // The highest number is found by itself.
                false => writer.free.clear(),
            }
            let _ = self.home.data().and_then(|data| data.remove(&name));
        }
    }

    fn begin(&mut self, _contents: &Contents) -> Result<Option<Contents>> {
        self.writer().map(|_| None)
    }

    fn commit(&mut self, contents: &mut Contents) -> Result<()> {
        self.writer()?;
        let committed = self.commit_chunks(contents);
        self.forget_files();
        if committed.is_err()
            && let Some(writer) = &mut self.writer
        {
            writer.poisoned = true;
        }
        committed
    }

    fn discard(&mut self) {
        let Some(writer) = self.writer.as_mut() else { return };
        let (pending, beyond) =
            (std::mem::take(&mut writer.pending), std::mem::take(&mut writer.beyond));
        let pending = pending.into_iter().map(|number| self.pending_name(number));
        for name in pending.chain(beyond.into_iter().map(chunk_name)) {
            let _ = self.home.data().and_then(|data| data.remove(&name));
        }
    }

    fn refresh(&mut self) -> Result<Option<Contents>> {
        self.forget_files();
        if self.writer.is_some() {
            return Ok(None);
        }
        let sizes = Sizes::parse(&self.home.read_sizes(self.home.meta()?, SIZES)?)?;
        if sizes.row_shape != self.sizes.row_shape {
            return Err(Error::new(
                ErrorKind::Changed,
                "this is another array by now: open it again",
            ));
        }
        let unchanged = sizes.rows == self.geometry.rows;
        self.geometry.rows = sizes.rows;
        self.sizes = sizes;
        if unchanged { Ok(None) } else { self.contents().map(Some) }
    }

    fn stored_len(&self) -> Result<u64> {
        let data = self.home.data()?;
        let lens =
            (0..self.geometry.chunk_count()).map(|number| data.open(&chunk_name(number))?.len());
        lens.sum()
    }

    fn name(&self) -> String {
        self.home.name().to_owned()
    }
}
