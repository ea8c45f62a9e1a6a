//! A process that is killed before any write, sync or rename of an append leaves a file of which the
//! real bloscpack and we read the old state or the new one.
//!
//! In a forked child, a folder counts what is done to it and kills the process when its number has
//! come.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use superchunk::bloscpack::{Checksum, Pack, PackArray, PackOptions};
use superchunk::store::Folder;
use superchunk::{CompressOptions, DType, Json, OpenOptions, Result};
use superchunk_testkit::crash::{Killer, Moment};
use superchunk_testkit::fork::{Outcome, in_child};
use superchunk_testkit::legacy_peer::LegacyPeer;
use superchunk_testkit::naive::varlen;
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;

const NAME: &str = "a.blp";
const KILLED: i32 = 9;

/// What is changed, and what must be there before.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scene {
    /// Chunks go behind a short one.
    Append,
    /// There is no room for more positions.
    Full,
    /// The shape of an array changes with its bytes.
    Array,
    /// The metadata does not fit one sector.
    LongMetadata,
    /// Objects, which the real tool does not read.
    Objects,
    /// Some of them are replaced by longer and by shorter ones.
    Replace,
    /// The last of many is replaced, and fits into what is left free after it.
    Fits,
    /// One of the last is replaced and moves, and those after it, too.
    Moves,
}

const SCENES: [Scene; 8] = [
    Scene::Append,
    Scene::Full,
    Scene::Array,
    Scene::LongMetadata,
    Scene::Objects,
    Scene::Replace,
    Scene::Fits,
    Scene::Moves,
];

impl Scene {
    fn options(self) -> PackOptions {
        let small = PackOptions::new().with_compress(CompressOptions::new(4)).with_chunk_size(1000);
        match self {
            Self::Append => small.with_checksum(Checksum::Sha1),
            Self::Full => small.with_append_slots(0).with_expected_len(2500),
            Self::Array => {
                let array = PackArray::new(DType::parse("<u4").unwrap(), [125, 5]);
                small.with_array(&array)
            }
            Self::LongMetadata => {
                let words: Vec<Json> = (0..300u64).map(|i| Json::from(i * 7919 % 997)).collect();
                small.with_metadata(words)
            }
            Self::Objects | Self::Replace => PackOptions::objects("varbinary"),
            Self::Fits | Self::Moves => PackOptions::objects("varbinary").with_reserve(200),
        }
    }

    fn prepare(self, path: &Path) {
        let mut pack = Pack::create(path, &self.options()).unwrap();
        match self {
            Self::Objects | Self::Replace => {
                (0..10u8).for_each(|i| pack.append_object(&vec![i; usize::from(i) * 9]).unwrap());
            }
            Self::Fits | Self::Moves => {
                (0..100).for_each(|i| pack.append_object(&mixed(300, 1, i)).unwrap());
            }
            _ => pack.append(&mixed(2500, 4, 1)).unwrap(),
        }
        pack.close().unwrap();
    }

    fn change(self, pack: &mut Pack) -> Result<()> {
        match self {
            Self::Objects => (10..13u8).try_for_each(|i| pack.append_object(&[i; 99]))?,
            Self::Replace => {
                let others = [(0, vec![7; 99]), (4, mixed(500, 1, 3)), (9, Vec::new())];
                others
                    .iter()
                    .try_for_each(|(number, object)| pack.replace_object(*number, object))?;
            }
            Self::Fits => pack.replace_object(99, &mixed(500, 1, 2))?,
            Self::Moves => pack.replace_object(97, &mixed(2000, 1, 3))?,
            _ => pack.append(&mixed(1700, 4, 2))?,
        }
        if self == Self::LongMetadata {
            pack.set_metadata(Some(Json::from("others")))?;
        }
        pack.commit()
    }
}

/// Changes the file of a folder, in a child that is killed at a moment.
fn change_in_child(scene: Scene, folder: &Path, moment: usize) -> Outcome {
    in_child(|| {
        let folder = Arc::new(Folder::open(folder).unwrap());
        let deadly = Killer::new(Moment::Before(moment)).folder(folder);
        let pack = Pack::edit_in_dir(deadly, NAME, &OpenOptions::new());
        pack.and_then(|mut pack| scene.change(&mut pack)).is_ok()
    })
}

/// Everything that a reader sees.
fn seen(path: &Path) -> (Vec<Vec<u8>>, Option<Json>, Option<Vec<u64>>) {
    let pack = Pack::open(path).unwrap();
    let bytes = match pack.has_objects() {
        true => pack.objects().map(Result::unwrap).collect(),
        false => vec![pack.superchunk().unwrap().to_vec().unwrap()],
    };
    let shape = pack.array().map(|array| array.shape.clone());
    (bytes, pack.metadata().cloned(), shape)
}

#[test]
fn a_writer_killed_anywhere_leaves_the_old_state_or_the_new() {
    let mut peer = LegacyPeer::spawn();
    for scene in SCENES {
        let models = Scratch::new();
        let (old_path, new_path) = (models.path("old.blp"), models.path("new.blp"));
        scene.prepare(&old_path);
        scene.prepare(&new_path);
        scene.change(&mut Pack::edit(&new_path).unwrap()).unwrap();
        let (old, new) = (seen(&old_path), seen(&new_path));
        assert!(old != new);
        let (mut olds, mut news) = (0, 0);
        for moment in 0.. {
            let folder = Scratch::new();
            let path = folder.path(NAME);
            scene.prepare(&path);
            let end = change_in_child(scene, folder.folder(), moment);
            let killed = end == Outcome::Killed(KILLED);
            assert!(killed || end == Outcome::Passed, "{scene:?} at {moment}: {end:?}");
            let found = seen(&path);
            assert!(found == old || found == new, "{scene:?} at {moment}: neither old nor new");
            if scene.options().varlen {
                assert!(varlen::objects(&std::fs::read(&path).unwrap()).unwrap() == found.0);
            } else {
                // An old reader agrees with us, byte by byte.
                let theirs = peer.unpack_bytes(&path).unwrap();
                assert!(found.0 == [theirs], "{scene:?} at {moment}: bloscpack reads other bytes");
            }
            if scene == Scene::Array {
                assert_eq!(Some(peer.unpack_array(&path).unwrap().shape), found.2);
            }
            *(if found == new { &mut news } else { &mut olds }) += 1;
            // Whoever comes next can write.
            scene.change(&mut Pack::edit(&path).unwrap()).unwrap();
            if !killed {
                break;
            }
        }
        assert!(olds >= 3 && news >= 1, "{scene:?}: {olds} old states, {news} new");
    }
}
