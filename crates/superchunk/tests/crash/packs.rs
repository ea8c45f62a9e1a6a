//! Bloscpack files: appended to, given other metadata, and with objects that are replaced.

use std::sync::Arc;

use superchunk::bloscpack::{Checksum, Pack, PackOptions};
use superchunk::store::Dir;
use superchunk::{CompressOptions, Json, OpenOptions, Result};
use superchunk_testkit::crash::{Disk, Effort, Findings, Image, explore, seeds};
use superchunk_testkit::legacy_peer::LegacyPeer;
use superchunk_testkit::naive::varlen;
use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;

const PACK: &str = "data.blp";

/// The bytes, and the metadata as text.
type Plain = (Vec<u8>, String);

/// Appends and changes of metadata, a commit after each; one in four closes the file and opens it
/// again.
fn write_states(disk: &Disk, seed: u64) -> Vec<Plain> {
    let mut rng = Rng::new(seed);
    let checksum = [Checksum::Adler32, Checksum::None, Checksum::Sha256][rng.index(3)];
    let options = PackOptions::new()
        .with_compress(CompressOptions::new(4))
        .with_chunk_size(1600)
        .with_checksum(checksum)
        // Sometimes there is no room for them all, and the file must be written anew.
        .with_append_slots(rng.below(40))
        .with_metadata(Json::from("begun"));
    let mut pack = Pack::create_in_dir(disk.root(), PACK, &options).unwrap();
    let (mut plain, mut states) = ((Vec::new(), Json::from("begun")), Vec::new());
    for step in 0..16 {
        if step % 5 == 3 {
            plain.1 = Json::from("x".repeat(rng.index(700)));
            pack.set_metadata(Some(plain.1.clone())).unwrap();
        } else {
            let len = 4 * (1 + rng.index(900));
            let mut bytes = rng.bytes(len);
            bytes.iter_mut().step_by(3).for_each(|byte| *byte = 7);
            pack.append(&bytes).unwrap();
            plain.0.extend(bytes);
        }
        pack.commit().unwrap();
        disk.reached(states.len());
        states.push((plain.0.clone(), text_of(Some(&plain.1))));
        if step % 4 == 2 {
            pack.close().unwrap();
            pack = Pack::edit_in_dir(disk.root(), PACK, &OpenOptions::new()).unwrap();
        }
    }
    pack.close().unwrap();
    states
}

fn text_of(metadata: Option<&Json>) -> String {
    metadata.map_or(String::new(), |json| json.to_text(superchunk::JsonStyle::Compact))
}

fn read(dir: Arc<dyn Dir>) -> Result<Plain> {
    let pack = Pack::open_in_dir(dir, PACK, &OpenOptions::new())?;
    Ok((pack.superchunk()?.to_vec()?, text_of(pack.metadata())))
}

fn search(seed: u64, images: usize, mut look: impl FnMut(&Image, &Plain)) -> Findings {
    let disk = Disk::new();
    let states = write_states(&disk, seed);
    let look = |image: &Image, state: usize| look(image, &states[state]);
    explore(&disk.history(), &states, Effort::new(images, seed), read, look)
}

#[test]
fn a_pack_has_its_old_state_or_its_new_one() {
    let mut all = Findings::default();
    for seed in seeds(24) {
        all.join(search(seed, 60, |_, _| {}));
    }
    all.must_be_good("Bloscpack files", 10_000);
}

#[test]
fn bloscpack_reads_the_same_state() {
    let mut peer = LegacyPeer::spawn();
    let scratch = Scratch::new();
    let (mut read, mut rng) = (0, Rng::new(1));
    for seed in 0..6 {
        search(seed, 20, |image, state| {
            if rng.below(12) > 0 {
                return;
            }
            image.write_to(&scratch.path("image")).unwrap();
            let found = peer.unpack_bytes(&scratch.path("image").join(PACK)).unwrap();
            assert!(found == state.0, "{:?}", image.listing());
            read += 1;
        });
    }
    assert!(read >= 50, "only {read}");
}

/// Replaces objects, some of them together with others, and appends some, a commit after each; one
/// in four closes the file and opens it again.
fn write_object_states(disk: &Disk, seed: u64) -> Vec<Vec<Vec<u8>>> {
    let mut rng = Rng::new(seed);
    let reserve = [0, 30, 150, 400][rng.index(4)];
    // The offsets of many do not lie in the sector of the header.
    let most = [9, 150][rng.index(2)];
    let mut plain: Vec<Vec<u8>> = (0..1 + rng.index(most)).map(|_| object(&mut rng)).collect();
    let options = PackOptions::objects("varbinary")
        .with_checksum([Checksum::Adler32, Checksum::None][rng.index(2)])
        .with_append_slots(rng.below(12))
        .with_reserve(reserve);
    let mut pack = Pack::create_in_dir(disk.root(), PACK, &options).unwrap();
    plain.iter().for_each(|object| pack.append_object(object).unwrap());
    pack.commit().unwrap();
    disk.reached(0);
    let mut states = vec![plain.clone()];
    for step in 0..14 {
        let first = [rng.index(plain.len()), plain.len() - 1][rng.index(2)];
        for number in (first..plain.len()).take([1, 1, 3][rng.index(3)]) {
            plain[number] = object(&mut rng);
            pack.replace_object(number as u64, &plain[number]).unwrap();
        }
        if step % 4 == 3 {
            plain.push(object(&mut rng));
            pack.append_object(&plain[plain.len() - 1]).unwrap();
        }
        pack.commit().unwrap();
        disk.reached(states.len());
        states.push(plain.clone());
        if step % 4 == 2 {
            pack.close().unwrap();
            let options = OpenOptions::new().with_reserve(reserve);
            pack = Pack::edit_in_dir(disk.root(), PACK, &options).unwrap();
        }
    }
    pack.close().unwrap();
    states
}

fn object(rng: &mut Rng) -> Vec<u8> {
    let len = rng.index(700);
    let mut bytes = rng.bytes(len);
    bytes.iter_mut().step_by(3).for_each(|byte| *byte = 7);
    bytes
}

fn read_objects(dir: Arc<dyn Dir>) -> Result<Vec<Vec<u8>>> {
    let pack = Pack::open_in_dir(dir, PACK, &OpenOptions::new())?;
    pack.superchunk()?.to_vec()?;
    pack.objects().collect()
}

#[test]
fn objects_that_are_replaced_are_the_old_ones_or_the_new_ones() {
    let mut all = Findings::default();
    for seed in seeds(16) {
        let disk = Disk::new();
        let states = write_object_states(&disk, seed);
        let effort = Effort::new(40, seed);
        all.join(explore(&disk.history(), &states, effort, read_objects, |image, state| {
            // Another reader, written from the document alone, agrees.
            let file = file_of(image);
            assert!(varlen::objects(&file).as_ref() == Ok(&states[state]), "{:?}", image.listing());
        }));
    }
    all.must_be_good("Bloscpack files of objects", 5_000);
}

fn file_of(image: &Image) -> Vec<u8> {
    let store = image.to_memory().unwrap().open(PACK).unwrap();
    let mut file = vec![0; store.len().unwrap() as usize];
    store.read_exact_at(0, &mut file).unwrap();
    file
}
