//! The real C-Blosc2 in a process of its own, which bad bytes may crash or hang.
//!
//! It is ended by an alarm when a chunk takes it long, and started again when it has ended.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use superchunk::Filter;
use superchunk::chunk::Header;
use superchunk_testkit::peers::{Peer, PeerKind};

static PEER: Mutex<Option<Peer>> = Mutex::new(None);
static NOTED: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// How many inputs of one class are kept to look at.
const KEPT: u64 = 3;

/// What C-Blosc2 makes of a chunk. A process that has ended is an answer too.
pub(crate) fn decompress(chunk: &[u8]) -> Result<Vec<u8>, String> {
    let mut peer = PEER.lock().unwrap_or_else(PoisonError::into_inner);
    let running = peer.get_or_insert_with(|| Peer::spawn_guarded(PeerKind::Blosc2));
    let answer = running.decompress(chunk);
    if running.has_ended() {
        *peer = None;
    }
    answer
}

/// The same by a new process: one that has met bad chunks may not be what it was.
pub(crate) fn decompress_afresh(chunk: &[u8]) -> Result<Vec<u8>, String> {
    *PEER.lock().unwrap_or_else(PoisonError::into_inner) = None;
    decompress(chunk)
}

/// Whether C-Blosc2 is known to give other bytes for chunks like this one; the names are those of
/// `docs/formats/errata.md`.
pub(crate) fn is_known_difference(chunk: &[u8]) -> bool {
    let Ok(header) = Header::parse(chunk) else { return false };
    let item = header.item_size().max(1);
    let has_tail = |unit: usize| {
        let block = header.block_size();
        // Blocks of any length each have their own tail.
        !header.byte_len().is_multiple_of(unit)
            || block.is_none_or(|block| !block.is_multiple_of(unit))
    };
    let filters = header.filters();
    let leaves_tails = |filter: &Filter| {
        matches!(
            filter,
            Filter::Delta | Filter::TruncPrec(_) | Filter::IntTrunc(_) | Filter::ByteDelta(_)
        )
    };
    let is_repaired = header.repair().is_some(); // T1 and T2
    let unwritten = filters.iter().any(leaves_tails) && has_tail(item); // T6 and T9
    let stale =
        header.version() <= 2 && filters.contains(&Filter::BitShuffle) && has_tail(8 * item); // T10
    is_repaired || unwritten || stale
}

/// Counts a difference of opinion. With the variable `SUPERCHUNK_FUZZ_NOTES` the counts and the first inputs of every
/// class are written to the folder that it names.
pub(crate) fn note(who: &str, words: &str, chunk: &[u8]) {
    let Some(folder) = std::env::var_os("SUPERCHUNK_FUZZ_NOTES").map(PathBuf::from) else { return };
    // Numbers and quoted words differ from input to input.
    let class: String = words.chars().filter(|c| !c.is_ascii_digit()).collect();
    let class = format!("{who}: {class}");
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    let places = noted.len();
    let count = noted.entry(class).or_insert(0);
    *count += 1;
    if *count <= KEPT {
        let name = format!("{}-{places}-{count}.chunk", std::process::id());
        // Notes are for people; without them the fuzzer works as well.
        let _ = std::fs::write(folder.join(name), chunk);
    }
    if count.is_power_of_two() {
        let lines: String =
            noted.iter().map(|(class, count)| format!("{count} {class}\n")).collect();
        let _ = std::fs::write(folder.join(format!("{}.txt", std::process::id())), lines);
    }
}
