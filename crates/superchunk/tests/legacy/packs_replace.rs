//! Objects of a Bloscpack file that are replaced: where they go, what becomes dead, who still reads
//! what.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;

use superchunk::bloscpack::{Checksum, Pack, PackOptions};
use superchunk::store::{Dir, MemoryFolder};
use superchunk::{ErrorKind, OpenOptions};
use superchunk_testkit::naive::varlen;
use superchunk_testkit::rng::Rng;

const NAME: &str = "a.blp";

/// Bytes that do not shrink: a chunk has 16 more.
fn noise(len: usize, seed: u64) -> Vec<u8> {
    Rng::new(seed).bytes(len)
}

/// A file with objects of these lengths.
fn folder_with(lens: &[usize], reserve: u32, slots: u64) -> Arc<MemoryFolder> {
    let folder = Arc::new(MemoryFolder::new());
    let options = PackOptions::objects("varbinary").with_reserve(reserve).with_append_slots(slots);
    let mut pack = Pack::create_in_dir(folder.clone(), NAME, &options).unwrap();
    for (number, len) in lens.iter().enumerate() {
        pack.append_object(&noise(*len, number as u64)).unwrap();
    }
    pack.close().unwrap();
    folder
}

fn edit(folder: &Arc<MemoryFolder>) -> Pack {
    Pack::edit_in_dir(folder.clone(), NAME, &OpenOptions::new()).unwrap()
}

fn open(folder: &Arc<MemoryFolder>) -> Pack {
    Pack::open_in_dir(folder.clone(), NAME, &OpenOptions::new()).unwrap()
}

fn file_of(folder: &MemoryFolder) -> Vec<u8> {
    let store = folder.open(NAME).unwrap();
    let mut file = vec![0; store.len().unwrap() as usize];
    store.read_exact_at(0, &mut file).unwrap();
    file
}

fn number_at(file: &[u8], at: usize) -> usize {
    u64::from_le_bytes(*file[at..].first_chunk().unwrap()) as usize
}

fn table_of(file: &[u8]) -> usize {
    32 + u32::from_le_bytes(*file[24..].first_chunk().unwrap()) as usize
}

/// Where the objects are, as the file says.
fn offsets(folder: &MemoryFolder) -> Vec<usize> {
    let file = file_of(folder);
    let table = table_of(&file);
    (0..number_at(&file, 16)).map(|number| number_at(&file, table + 8 * number)).collect()
}

/// Replaces an object in a handle of its own.
fn replace(folder: &Arc<MemoryFolder>, number: usize, object: &[u8]) {
    let mut pack = edit(folder);
    pack.replace_object(number as u64, object).unwrap();
    assert_eq!(pack.object(number as u64).unwrap(), object);
    pack.close().unwrap();
}

/// The free and the dead bytes, counted one by one: what follows an object up to the next one is
/// free, and from the first byte on that is not zero dead. Before the first one, all that is not −1
/// or 0 is both.
fn free_and_dead(file: &[u8]) -> (u64, u64) {
    let (table, count) = (table_of(file), number_at(file, 16));
    let digest = [0, 4, 4, 16, 20, 28, 32][usize::from(file[6])];
    let position = |number: usize| number_at(file, table + 8 * number);
    let mut before = &file[table + 8 * count..position(0)];
    while let Some(([0, 0, 0, 0, 0, 0, 0, 0] | [255, 255, 255, 255, 255, 255, 255, 255], rest)) =
        before.split_first_chunk::<8>()
    {
        before = rest;
    }
    let (mut free, mut dead) = (before.len(), before.len());
    for number in 0..count {
        let start = position(number);
        let end = start + (number_at(file, start + 8) >> 32) + digest;
        let next = if number + 1 < count { position(number + 1) } else { file.len() };
        free += next - end;
        dead += file[end..next].iter().skip_while(|byte| **byte == 0).count();
    }
    (free as u64, dead as u64)
}

#[test]
fn an_object_that_fits_stays_between_its_neighbours() {
    let folder = folder_with(&[100; 5], 100, 0);
    let (before, len) = (offsets(&folder), file_of(&folder).len());
    assert_eq!(open(&folder).free_len().unwrap(), 5 * 120);
    for (step, number) in [3, 0, 4].into_iter().enumerate() {
        replace(&folder, number, &noise(100, 70 + number as u64));
        let mut expected = before.clone();
        [3, 0, 4][..=step].iter().for_each(|moved| expected[*moved] += 120);
        assert_eq!(offsets(&folder), expected);
        assert_eq!(file_of(&folder).len(), len, "the file is as long as before");
        let pack = open(&folder);
        assert_eq!(pack.dead_len().unwrap(), 120 * (step as u64 + 1));
        assert_eq!(pack.free_len().unwrap(), 5 * 120);
    }
    // A shorter one leaves what is over free.
    replace(&folder, 1, &noise(10, 80));
    let (pack, all) = (open(&folder), varlen::objects(&file_of(&folder)).unwrap());
    assert_eq!(pack.dead_len().unwrap(), 4 * 120);
    assert_eq!(pack.free_len().unwrap(), 4 * 120 + (120 - 30) + 120);
    for (number, object) in all.iter().enumerate() {
        assert_eq!(pack.object(number as u64).unwrap(), *object);
    }
    let others = [noise(100, 70), noise(10, 80), noise(100, 2), noise(100, 73), noise(100, 74)];
    assert_eq!(all, others);
}

#[test]
fn an_object_that_does_not_fit_moves_with_those_after_it() {
    let folder = folder_with(&[100; 20], 0, 0);
    let (before, len) = (offsets(&folder), file_of(&folder).len());
    replace(&folder, 18, &noise(150, 50));
    let mut expected = before.clone();
    (expected[18], expected[19]) = (len, len + 170);
    assert_eq!(offsets(&folder), expected);
    let pack = open(&folder);
    assert_eq!((pack.dead_len().unwrap(), pack.free_len().unwrap()), (240, 240));
    assert_eq!(pack.object(18).unwrap(), noise(150, 50));
    assert_eq!(pack.object(19).unwrap(), noise(100, 19));
    assert_eq!(varlen::objects(&file_of(&folder)).unwrap().len(), 20);
    // Until a third of the file is dead: a new file has no dead bytes.
    let mut most = 0;
    for seed in 60..90 {
        replace(&folder, 19, &noise(100, seed));
        let pack = open(&folder);
        let file_len = file_of(&folder).len() as u64;
        most = most.max(pack.dead_len().unwrap());
        assert!(pack.dead_len().unwrap() * 3 <= file_len, "{file_len}");
        assert_eq!(pack.object(19).unwrap(), noise(100, seed));
    }
    assert!(most > 1000, "{most}");
    replace(&folder, 0, &noise(150, 51));
    assert_eq!(open(&folder).dead_len().unwrap(), 0);
    assert_ne!(offsets(&folder)[0], before[0], "a whole new file, with less room for offsets");
}

#[test]
fn an_object_goes_nowhere_where_others_have_been() {
    let folder = folder_with(&[100; 3], 250, 2);
    let base = offsets(&folder)[0];
    for step in 1..3 {
        replace(&folder, 0, &noise(100, 50 + step as u64));
        assert_eq!(offsets(&folder)[0], base + 120 * step);
    }
    // Two of its places are before it.
    assert_eq!(open(&folder).dead_len().unwrap(), 240);
    // Its first place is not room for offsets: a new file has room for 12 and those that were asked for.
    let mut pack = edit(&folder);
    (3..14).for_each(|seed| pack.append_object(&noise(9, seed)).unwrap());
    pack.close().unwrap();
    assert_eq!((offsets(&folder)[0], offsets(&folder).len()), (base + 240, 14));
    let old = open(&folder);
    let mut pack = edit(&folder);
    pack.append_object(&noise(9, 14)).unwrap();
    pack.close().unwrap();
    assert_eq!(open(&folder).dead_len().unwrap(), 0, "a whole new file");
    assert_eq!((open(&folder).object_count(), old.object_count()), (15, 14));
    assert_eq!(old.object(0).unwrap(), noise(100, 52));
}

#[test]
fn bytes_that_are_left_free_and_are_no_zeros_are_dead() {
    let folder = folder_with(&[100; 3], 200, 0);
    let places = offsets(&folder);
    // As a writer leaves it that was interrupted before its offset was written.
    folder.edit(NAME).unwrap().write_at(places[1] as u64 + 120 + 50, &[2]).unwrap();
    assert_eq!(open(&folder).dead_len().unwrap(), 240 - 50);
    replace(&folder, 1, &noise(14, 9));
    assert_eq!(offsets(&folder)[1], places[1] + 120, "34 bytes fit before it");
    replace(&folder, 1, &noise(14, 10));
    assert_ne!(offsets(&folder)[1], places[1] + 120 + 34, "and 34 more do not");
    assert_eq!(open(&folder).object(1).unwrap(), noise(14, 10));
    assert_eq!(varlen::objects(&file_of(&folder)).unwrap().len(), 3);
}

#[test]
fn a_copy_has_no_dead_bytes_and_what_is_dropped_changes_nothing() {
    let folder = folder_with(&[300; 9], 120, 0);
    let before = file_of(&folder);
    let mut pack = edit(&folder);
    pack.replace_object(5, &noise(300, 50)).unwrap();
    pack.replace_object(8, &noise(300_000, 51)).unwrap();
    drop(pack);
    assert!(file_of(&folder) == before);
    replace(&folder, 5, &noise(300, 50));
    let pack = open(&folder);
    assert_eq!(pack.dead_len().unwrap(), 320);
    let copied = pack.copy_to_dir(folder.clone(), "copy", &PackOptions::objects("varbinary"));
    assert_eq!(copied.unwrap().dead_len().unwrap(), 0);
    let mut pack = edit(&folder);
    pack.superchunk_mut().unwrap().compact().unwrap();
    assert_eq!((pack.dead_len().unwrap(), pack.free_len().unwrap()), (0, 0));
    pack.close().unwrap();
    assert_eq!(open(&folder).object(5).unwrap(), noise(300, 50));
    let bytes = Pack::from_bytes(PackOptions::new().pack(b"bytes").unwrap()).unwrap();
    assert_eq!(bytes.dead_len().unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn a_header_that_a_writer_was_faster_than_is_no_damage() {
    // The offset of the last one is far from the header, which is changed first.
    let folder = folder_with(&[100; 90], 100, 0);
    let reader = open(&folder);
    replace(&folder, 89, &noise(90, 1));
    assert_eq!(reader.object(89).unwrap(), noise(100, 89));
    assert_eq!(reader.superchunk().unwrap_err().kind(), ErrorKind::Changed);
    let pack = open(&folder);
    assert_eq!(pack.header().last_chunk, None);
    assert_eq!(pack.superchunk().unwrap().byte_len(), 89 * 100 + 90);
    // The next one who can writes it again.
    let mut pack = edit(&folder);
    pack.append_object(&noise(5, 1)).unwrap();
    pack.close().unwrap();
    assert_eq!(open(&folder).header().last_chunk, Some(5));
}

/// Everything at random, against a list; readers of all former states go on reading them.
#[test]
fn any_replacements_leave_what_a_list_says_and_old_readers_undisturbed() {
    let (mut stayed, mut whole, mut dead_seen) = (0, 0, 0);
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let checksum = [Checksum::Adler32, Checksum::None, Checksum::Sha1][rng.index(3)];
        let reserve = [0, 10, 100, 350][rng.index(4)];
        let options = PackOptions::objects("varbinary")
            .with_checksum(checksum)
            .with_append_slots(rng.below(20))
            .with_reserve(reserve);
        let folder = Arc::new(MemoryFolder::new());
        let mut pack = Pack::create_in_dir(folder.clone(), NAME, &options).unwrap();
        let most = [6, 40, 200][rng.index(3)];
        let mut list: Vec<Vec<u8>> = (0..1 + rng.index(most)).map(|_| any(&mut rng)).collect();
        list.iter().for_each(|object| pack.append_object(object).unwrap());
        pack.commit().unwrap();
        let mut readers = Vec::new();
        for _ in 0..25 {
            readers.push((open(&folder), list.clone()));
            let before = offsets(&folder);
            for _ in 0..[1, 1, 1, 2, 5][rng.index(5)] {
                let number = rng.index(list.len());
                list[number] = any(&mut rng);
                pack.replace_object(number as u64, &list[number]).unwrap();
            }
            if rng.below(5) == 0 {
                list.push(any(&mut rng));
                pack.append_object(&list[list.len() - 1]).unwrap();
            }
            pack.commit().unwrap();
            let file = file_of(&folder);
            assert!(varlen::objects(&file).as_ref() == Ok(&list), "{seed}");
            let reader = open(&folder);
            let space = (reader.free_len().unwrap(), reader.dead_len().unwrap());
            assert_eq!(space, free_and_dead(&file), "{seed}");
            assert_eq!(pack.dead_len().unwrap(), space.1, "{seed}");
            let found: Vec<Vec<u8>> = pack.objects().map(Result::unwrap).collect();
            assert!(found == list, "{seed}");
            let kept = offsets(&folder).iter().zip(&before).filter(|(a, b)| a == b).count();
            *(if kept > 0 || before.len() == 1 { &mut stayed } else { &mut whole }) += 1;
            dead_seen = dead_seen.max(space.1);
            if rng.below(4) == 0 {
                pack.close().unwrap();
                let options = OpenOptions::new().with_reserve(reserve);
                pack = Pack::edit_in_dir(folder.clone(), NAME, &options).unwrap();
            }
        }
        for (reader, list) in &readers {
            let found: Vec<Vec<u8>> = reader.objects().map(Result::unwrap).collect();
            assert!(found == *list, "{seed}: an old reader is disturbed");
        }
    }
    assert!(stayed > 300 && whole > 100 && dead_seen > 1000, "{stayed} {whole} {dead_seen}");
}

fn any(rng: &mut Rng) -> Vec<u8> {
    let len = [0, 5, 300, 300, 320, 900][rng.index(6)];
    let mut bytes = rng.bytes(len);
    if rng.below(3) == 0 {
        bytes.iter_mut().step_by(2).for_each(|byte| *byte = 0);
    }
    bytes
}
