//! The real Blosc libraries, as processes spoken to over pipes.
//!
//! A peer is a Python process that runs `peer.py` in a virtual environment with pinned versions, made by
//! `cargo xtask setup`. A request is a fixed head and a payload; the reply is bytes or a sentence. Many
//! requests may be under way at once, so ten thousand small calls take seconds, and a peer that crashes
//! takes nothing of ours with it.
//!
//! A peer that is not installed fails the test that asks for it: a test that silently skips proves
//! nothing.

use std::io::{self, Read, Write};

use crate::process::{Input, Output, Process, not_started};

/// Which library to speak to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerKind {
    /// C-Blosc2 of today, every knob passed to the C functions.
    Blosc2,
    /// C-Blosc2 of 2024 (python-blosc2 2.7.1).
    Blosc2Old,
    /// C-Blosc 1 through python-blosc.
    Blosc1,
    /// C-Blosc 1 through numcodecs; also answers `getitem`.
    Numcodecs,
    /// bloscpack and bcolz, which speak through [`crate::legacy_peer`] only.
    Legacy,
}

/// How a peer shall compress; codecs, filters and split modes are the numbers of the C interface.
#[derive(Clone, Debug)]
pub struct PeerParams {
    /// 0 blosclz, 1 lz4, 2 lz4hc, 3 snappy, 4 zlib, 5 zstd.
    pub codec: u8,
    /// 0 to 9.
    pub level: u8,
    /// Bytes per item.
    pub item_size: u32,
    /// Bytes per block, or 0 for the library's choice.
    pub block_size: u32,
    /// 1 always, 2 never, 3 automatic, 4 forward compatible (Blosc2 only).
    pub split: u8,
    /// Up to six filters with their meta bytes, in the order in which they run.
    pub filters: Vec<(u8, u8)>,
    /// Whether to train and store a dictionary (Blosc2 only).
    pub dictionary: bool,
    /// Worker threads.
    pub threads: u16,
}

impl PeerParams {
    /// LZ4, level 5, byte shuffle, everything else automatic, one thread.
    #[must_use]
    pub fn new(item_size: u32) -> Self {
        Self {
            codec: 1,
            level: 5,
            item_size,
            block_size: 0,
            split: 3,
            filters: vec![(1, 0)],
            dictionary: false,
            threads: 1,
        }
    }
}

/// One request to a peer.
#[derive(Clone, Debug)]
pub enum Request<'a> {
    /// Compress these bytes.
    Compress(PeerParams, &'a [u8]),
    /// Decompress this chunk.
    Decompress(&'a [u8]),
    /// Decode `count` items of `item_size` bytes from item `start` of this chunk.
    Items {
        /// The whole chunk.
        chunk: &'a [u8],
        /// Bytes per item.
        item_size: u32,
        /// First item.
        start: u32,
        /// Number of items.
        count: u32,
    },
    /// Say what library this is.
    Version,
}

/// What a peer answers: bytes, or its own words for refusing.
pub type Answer = Result<Vec<u8>, String>;

/// A running peer; it ends when dropped.
#[derive(Debug)]
pub struct Peer {
    process: Process,
}

impl Peer {
    /// Starts a peer.
    ///
    /// # Panics
    ///
    /// When it is not installed or does not start, with a sentence that says what to run.
    #[must_use]
    #[expect(clippy::panic, reason = "a missing peer must fail the test that needs it")]
    pub fn spawn(kind: PeerKind) -> Self {
        Self::start(kind, &[]).unwrap_or_else(|error| panic!("{}", not_started(kind, &error)))
    }

    /// Starts a peer for bytes that may crash it or make it hang: it says nothing of its end on the error output, takes
    /// no more than two gigabytes, and is ended by an alarm when a request takes it two seconds.
    ///
    /// # Panics
    ///
    /// When it is not installed or does not start, with a sentence that says what to run.
    #[must_use]
    #[expect(clippy::panic, reason = "a missing peer must fail the test that needs it")]
    pub fn spawn_guarded(kind: PeerKind) -> Self {
        let started = Self::start(kind, &["guarded"]);
        started.unwrap_or_else(|error| panic!("{}", not_started(kind, &error)))
    }

    /// Whether its process is gone: crashed, or ended by its alarm.
    pub fn has_ended(&mut self) -> bool {
        self.process.has_ended()
    }

    /// Compresses.
    ///
    /// # Errors
    ///
    /// The peer's words when it refuses.
    pub fn compress(&mut self, bytes: &[u8], params: &PeerParams) -> Answer {
        self.ask(Request::Compress(params.clone(), bytes))
    }

    /// Decompresses.
    ///
    /// # Errors
    ///
    /// The peer's words when it refuses.
    pub fn decompress(&mut self, chunk: &[u8]) -> Answer {
        self.ask(Request::Decompress(chunk))
    }

    /// Decodes a range of items.
    ///
    /// # Errors
    ///
    /// The peer's words when it refuses.
    pub fn items(&mut self, chunk: &[u8], item_size: u32, start: u32, count: u32) -> Answer {
        self.ask(Request::Items { chunk, item_size, start, count })
    }

    /// One request, one answer.
    ///
    /// # Errors
    ///
    /// The peer's words when it refuses.
    pub fn ask(&mut self, request: Request<'_>) -> Answer {
        self.ask_all(&[request]).pop().unwrap_or_else(|| Err("no answer".to_owned()))
    }

    /// Many requests at once; the answers come in the same order.
    pub fn ask_all(&mut self, requests: &[Request<'_>]) -> Vec<Answer> {
        let Some((input, output, mut ending)) = self.process.pipes() else { return Vec::new() };
        // The peer answers while later requests are still being written, so a pipe must be drained at
        // both ends. One request alone is read in full before it is answered.
        if let [request] = requests {
            let answer = send(input, request).and_then(|()| receive(output));
            return vec![answer.unwrap_or_else(|error| Err(ending.words(&error)))];
        }
        std::thread::scope(|scope| {
            scope.spawn(|| requests.iter().try_for_each(|request| send(input, request)));
            let mut read = || receive(output).unwrap_or_else(|error| Err(ending.words(&error)));
            requests.iter().map(|_| read()).collect()
        })
    }

    fn start(kind: PeerKind, further: &[&str]) -> io::Result<Self> {
        let name = match kind {
            PeerKind::Blosc2 | PeerKind::Blosc2Old => "blosc2",
            PeerKind::Blosc1 => "blosc",
            PeerKind::Numcodecs => "numcodecs",
            PeerKind::Legacy => return Err(io::Error::other("use LegacyPeer")),
        };
        let mut peer =
            Self { process: Process::start(kind, "peer.py", &[&[name], further].concat())? };
        peer.ask(Request::Version).map_err(io::Error::other)?;
        Ok(peer)
    }
}

fn send(input: &mut Input, request: &Request<'_>) -> io::Result<()> {
    let mut params = PeerParams { filters: Vec::new(), ..PeerParams::new(0) };
    let (op, payload, start, count): (u8, &[u8], u32, u32) = match request {
        Request::Version => (0, &[], 0, 0),
        Request::Compress(asked, bytes) => {
            params = asked.clone();
            (1, bytes, 0, 0)
        }
        Request::Decompress(chunk) => (2, chunk, 0, 0),
        Request::Items { chunk, item_size, start, count } => {
            params.item_size = *item_size;
            (3, chunk, *start, *count)
        }
    };
    let (mut filters, mut metas) = ([0u8; 6], [0u8; 6]);
    let places = filters.iter_mut().zip(&mut metas);
    for ((filter, meta), asked) in places.zip(&params.filters) {
        (*filter, *meta) = *asked;
    }
    let count_of_filters = u8::try_from(params.filters.len()).map_err(io::Error::other)?;
    let PeerParams { codec, level, split, dictionary, .. } = params;
    input.write_all(&[op, codec, level, split, dictionary.into(), count_of_filters])?;
    input.write_all(&params.threads.to_le_bytes())?;
    for number in [params.item_size, params.block_size, start, count] {
        input.write_all(&number.to_le_bytes())?;
    }
    input.write_all(&filters)?;
    input.write_all(&metas)?;
    input.write_all(&u32::try_from(payload.len()).map_err(io::Error::other)?.to_le_bytes())?;
    input.write_all(payload)?;
    input.flush()
}

fn receive(output: &mut Output) -> io::Result<Answer> {
    let (mut status, mut length) = ([0u8; 1], [0u8; 4]);
    output.read_exact(&mut status)?;
    output.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_le_bytes(length)).map_err(io::Error::other)?;
    let mut payload = vec![0; length];
    output.read_exact(&mut payload)?;
    if status == [0] {
        return Ok(Ok(payload));
    }
    Ok(Err(String::from_utf8_lossy(&payload).into_owned()))
}
