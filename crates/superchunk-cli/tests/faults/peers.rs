//! What the real libraries find in a container.

use std::path::Path;

use superchunk_testkit::frame_peer::FramePeer;
use superchunk_testkit::legacy_peer::LegacyPeer;
use superchunk_testkit::nd_peer::NdPeer;
use superchunk_testkit::objects_peer::ObjectsPeer;
use superchunk_testkit::peers::PeerKind;

/// What a peer calls the kind of a container.
#[derive(Clone, Copy)]
pub(crate) enum Library {
    /// Super-chunks of python-blosc2.
    Frames,
    /// Arrays of python-blosc2.
    Arrays,
    /// Lists of objects of python-blosc2.
    Objects,
    /// Files of bloscpack.
    Bloscpack,
    /// Tables of bcolz.
    BcolzTable,
    /// Arrays of bcolz.
    BcolzArray,
}

/// The parts of a container as a peer has read them.
pub(crate) type View = Vec<Vec<u8>>;

/// The processes of the peers.
pub(crate) struct Peers {
    frames: FramePeer,
    arrays: NdPeer,
    objects: ObjectsPeer,
    legacy: LegacyPeer,
}

impl Peers {
    pub(crate) fn start() -> Self {
        Self {
            frames: FramePeer::spawn(PeerKind::Blosc2),
            arrays: NdPeer::spawn(PeerKind::Blosc2),
            objects: ObjectsPeer::spawn(),
            legacy: LegacyPeer::spawn(),
        }
    }

    /// Reads data and metadata of a container; the error is the words of the peer.
    pub(crate) fn read(&mut self, library: Library, path: &Path) -> Result<View, String> {
        match library {
            Library::Frames => self.read_frame(path),
            Library::Arrays => {
                let array = self.arrays.read(path)?;
                Ok(vec![format!("{} {:?}", array.dtype, array.shape).into_bytes(), array.bytes])
            }
            Library::Objects => Ok(vec![self.objects.read(path)?]),
            Library::Bloscpack => {
                let metadata = self.legacy.unpack_metadata(path)?.to_string().into_bytes();
                Ok(vec![metadata, self.legacy.unpack_bytes(path)?])
            }
            Library::BcolzTable => {
                let table = self.legacy.bcolz_read_table(path)?;
                let head = format!("{:?} {} {}", table.names, table.len, table.attrs);
                Ok([vec![head.into_bytes()], table.columns].concat())
            }
            Library::BcolzArray => {
                let array = self.legacy.bcolz_read_array(path)?;
                let head = format!("{} {:?} {}", array.dtype, array.shape, array.attrs);
                Ok(vec![head.into_bytes(), array.bytes])
            }
        }
    }

    fn read_frame(&mut self, path: &Path) -> Result<View, String> {
        let frame = self.frames.open(path)?;
        let mut view = self.frames.read_chunks(frame)?;
        for name in self.frames.info(frame)?.vlmetas {
            view.push(self.frames.vlmeta_raw(frame, &name)?);
            view.push(name.into_bytes());
        }
        self.frames.close(frame)?;
        Ok(view)
    }
}
