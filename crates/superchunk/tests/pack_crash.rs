//! A process that is killed before any write, sync or rename of an append leaves a file of which the
//! real bloscpack and we read the old state or the new one.
//!
//! The test runs itself as the child: there, a folder counts what is done to it and kills the process
//! when its number has come.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use superchunk::bloscpack::{Checksum, Pack, PackArray, PackOptions, PackReader};
use superchunk::store::{Dir, Folder, ReadAt, WriteAt};
use superchunk::{CompressOptions, DType, Json, Result};
use superchunk_testkit::legacy_peer::LegacyPeer;
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;

const FOLDER: &str = "SUPERCHUNK_CRASH_FOLDER";
const MOMENT: &str = "SUPERCHUNK_CRASH_MOMENT";
const SCENE: &str = "SUPERCHUNK_CRASH_SCENE";
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
}

const SCENES: [Scene; 5] =
    [Scene::Append, Scene::Full, Scene::Array, Scene::LongMetadata, Scene::Objects];

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
            Self::Objects => PackOptions::objects("varbinary"),
        }
    }

    fn prepare(self, path: &Path) {
        let mut pack = Pack::create(path, &self.options()).unwrap();
        match self {
            Self::Objects => {
                (0..10u8).for_each(|i| pack.append_object(&vec![i; usize::from(i) * 9]).unwrap());
            }
            _ => pack.append(&mixed(2500, 4, 1)).unwrap(),
        }
        pack.close().unwrap();
    }

    fn change(self, pack: &mut Pack) -> Result<()> {
        match self {
            Self::Objects => (10..13u8).try_for_each(|i| pack.append_object(&[i; 99]))?,
            _ => pack.append(&mixed(1700, 4, 2))?,
        }
        if self == Self::LongMetadata {
            pack.set_metadata(Some(Json::from("others")))?;
        }
        pack.commit()
    }
}

/// A folder that ends the process.
struct Deadly {
    folder: Arc<dyn Dir>,
    left: Arc<AtomicU64>,
}

struct DeadlyFile {
    file: Arc<dyn WriteAt>,
    left: Arc<AtomicU64>,
}

/// Counts down, and kills this process at the end.
fn tick(left: &AtomicU64) {
    if left.fetch_sub(1, Ordering::SeqCst) == 0 {
        let this = std::process::id().to_string();
        Command::new("kill").args(["-KILL", &this]).status().unwrap();
        unreachable!("the signal cannot be ignored");
    }
}

impl Deadly {
    fn file(&self, file: Arc<dyn WriteAt>) -> Arc<dyn WriteAt> {
        Arc::new(DeadlyFile { file, left: self.left.clone() })
    }
}

impl Dir for Deadly {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadAt>> {
        self.folder.open(name)
    }

    fn edit(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        self.folder.edit(name).map(|file| self.file(file))
    }

    fn create(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        tick(&self.left);
        self.folder.create(name).map(|file| self.file(file))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        tick(&self.left);
        self.folder.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.folder.remove(name)
    }

    fn names(&self) -> Result<Vec<String>> {
        self.folder.names()
    }

    fn sync(&self) -> Result<()> {
        tick(&self.left);
        self.folder.sync()
    }
}

impl ReadAt for DeadlyFile {
    fn len(&self) -> Result<u64> {
        self.file.len()
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        self.file.read_at(position, dst)
    }
}

impl WriteAt for DeadlyFile {
    fn write_at(&self, position: u64, src: &[u8]) -> Result<()> {
        tick(&self.left);
        self.file.write_at(position, src)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        tick(&self.left);
        self.file.set_len(len)
    }

    fn sync(&self) -> Result<()> {
        tick(&self.left);
        self.file.sync()
    }

    fn lock(&self) -> Result<()> {
        self.file.lock()
    }
}

/// The child's part; without its variables, as in an ordinary run, there is nothing to do.
#[test]
fn the_child_changes_a_file_until_it_is_killed() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let scene = std::env::var(SCENE).unwrap();
    let scene = SCENES.into_iter().find(|known| format!("{known:?}") == scene).unwrap();
    let moment: u64 = std::env::var(MOMENT).unwrap().parse().unwrap();
    let left = Arc::new(AtomicU64::new(moment));
    let folder: Arc<dyn Dir> = Arc::new(Folder::open(Path::new(&folder)).unwrap());
    let deadly = Arc::new(Deadly { folder, left });
    let mut pack = PackReader::new().edit_in_dir(deadly, NAME).unwrap();
    scene.change(&mut pack).unwrap();
}

/// Everything that a reader sees.
fn seen(path: &Path) -> (Vec<Vec<u8>>, Option<Json>, Option<Vec<u64>>) {
    let pack = Pack::open(path).unwrap();
    let bytes = match pack.has_objects() {
        true => pack.objects().map(Result::unwrap).collect(),
        false => vec![pack.data().unwrap().to_vec().unwrap()],
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
            let status = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "the_child_changes_a_file_until_it_is_killed", "--quiet"])
                .env(FOLDER, folder.folder())
                .env(SCENE, format!("{scene:?}"))
                .env(MOMENT, moment.to_string())
                .stdout(std::process::Stdio::null())
                .status()
                .unwrap();
            let killed = status.signal() == Some(KILLED);
            assert!(killed || status.success(), "{scene:?} at {moment}: {status}");
            let found = seen(&path);
            assert!(found == old || found == new, "{scene:?} at {moment}: neither old nor new");
            if scene != Scene::Objects {
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
