//! Looking at chunks one by one.

use super::options::VerifyOptions;
use super::report::{Level, Verdict, VerifyReport};
use crate::container::Integrity;
use crate::detect::Format;
use crate::error::{Error, ErrorKind, Result};
use crate::exec::{Executor, Work};
use crate::schunk::{Depth, SuperChunk};

/// A verification that goes on.
pub(super) struct Walk<'a> {
    pub(super) options: &'a VerifyOptions,
    /// Who is asked before each chunk.
    observer: &'a Executor,
    pub(super) report: VerifyReport,
    /// Why it goes on no longer.
    stopped: Option<Error>,
    /// The decoded bytes of all that is to be looked at.
    total: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(options: &'a VerifyOptions, format: Format) -> Self {
        let report = VerifyReport::new(format, options.level);
        Self { options, observer: &options.open.executor, report, stopped: None, total: 0 }
    }

    /// The same walk, which asks another executor's observer.
    #[cfg(any(unix, windows))]
    pub(super) fn asking(self, observer: &'a Executor) -> Self {
        Self { observer, ..self }
    }

    /// What was found, unless the observer has stopped it.
    pub(super) fn finish(self) -> Result<VerifyReport> {
        match self.stopped {
            Some(error) => Err(error),
            None => Ok(self.report),
        }
    }

    /// Says that so many decoded bytes in so many chunks will be looked at.
    pub(super) fn expect(&mut self, len: u64, chunks: u64) {
        let chosen = self.options.sample.count(chunks);
        let share = u128::from(len) * u128::from(chosen) / u128::from(chunks.max(1));
        self.total += u64::try_from(share).unwrap_or(u64::MAX);
    }

    /// Whether this many decoded bytes are to be looked at now: the observer is asked.
    pub(super) fn goes_on(&mut self, len: usize) -> bool {
        if self.stopped.is_none() {
            self.stopped = self.observer.begin(Work::Verify, len, Some(self.total)).err();
        }
        self.stopped.is_none()
    }

    /// The numbers of the chunks to look at, of so many that there are.
    pub(super) fn choose(&mut self, chunks: u64) -> Vec<u64> {
        let numbers: Vec<u64> = self.options.sample.numbers(chunks).collect();
        self.report.chunks += chunks;
        self.report.chosen += numbers.len() as u64;
        numbers
    }

    /// Looks at the chunks of a super-chunk; tells which of those that were chosen are damaged.
    pub(super) fn chunks(&mut self, data: &SuperChunk) -> Vec<u64> {
        let depth = match self.options.level {
            Level::Structure => return Vec::new(),
            Level::Index => Depth::Header,
            Level::Checksums => Depth::Checksum,
            Level::Decode | Level::Files => Depth::Decode,
        };
        let (mut decoded, mut damaged) = (Vec::new(), Vec::new());
        for chunk in self.choose(data.chunk_count() as u64) {
            let number = usize::try_from(chunk).unwrap_or(usize::MAX);
            if !self.goes_on(data.likely_len(number)) {
                break;
            }
            let mut looked = data.look(number, depth, &mut decoded);
            if let Some(error) =
                looked.error.take_if(|error| error.kind() == ErrorKind::Interrupted)
            {
                self.stopped = Some(error);
                break;
            }
            let stages =
                [(Depth::Header, Level::Index), (Depth::Checksum, Level::Checksums)].into_iter();
            for (stage, level) in stages.chain([(Depth::Decode, Level::Decode)]) {
                match &looked.error {
                    Some(error) if stage == looked.stage => {
                        let verdict = verdict_of(error, stage, data.integrity());
                        self.report.tell(level, verdict, Some(chunk), error);
                        damaged.push(chunk);
                    }
                    _ if stage < looked.stage || (stage == looked.stage && stage <= depth) => {
                        let vouched = stage != Depth::Checksum || looked.compared;
                        let verdict = if vouched { Verdict::Verified } else { Verdict::Unverified };
                        self.report.count(level, verdict);
                    }
                    _ => {}
                }
            }
            match (&looked.error, looked.compared) {
                (None, true) => self.report.by_checksum += 1,
                (None, false) if depth == Depth::Decode => self.report.by_decoding += 1,
                _ => {}
            }
        }
        damaged
    }

    /// Looks at values, checksums and chunks of a super-chunk; tells which chunks are damaged.
    pub(super) fn frame(&mut self, frame: &SuperChunk) -> Vec<u64> {
        self.expect(frame.byte_len(), frame.chunk_count() as u64);
        self.expected_frame(frame)
    }

    /// The same for one of several frames, whose bytes are [expected](Self::expect) already.
    pub(super) fn expected_frame(&mut self, frame: &SuperChunk) -> Vec<u64> {
        self.vouch(frame);
        for name in frame.attribute_names() {
            let value = frame.attribute_bytes(name);
            let value = value.map_err(|error| error.within(format!("value `{name}`")));
            self.report.result(Level::Structure, value);
        }
        self.chunks(frame)
    }

    /// Says what vouches for header, index and metadata of a super-chunk.
    fn vouch(&mut self, data: &SuperChunk) {
        let (name, verdict) = match data.integrity() {
            Integrity::None => ("none", None),
            Integrity::Sealed => ("sealed", Some(Verdict::Verified)),
            Integrity::Digests => ("digests", None),
            Integrity::Unverified => ("unverified", Some(Verdict::Unverified)),
        };
        self.report.checksums = name;
        match verdict {
            Some(Verdict::Unverified) if self.report.wants(Level::Checksums) => self.report.tell(
                Level::Checksums,
                Verdict::Unverified,
                None,
                "nothing vouches for header, index and metadata: there never were checksums, or \
                 another program has changed something since",
            ),
            Some(verdict) => self.report.count(Level::Checksums, verdict),
            None => {}
        }
    }
}

/// What an error of a chunk says of it.
pub(super) fn verdict_of(error: &Error, stage: Depth, integrity: Integrity) -> Verdict {
    let vouched = matches!(integrity, Integrity::Sealed | Integrity::Digests);
    match error.kind() {
        // A chunk that does not even come to its checksum is not the one that was written.
        ErrorKind::Unsupported if vouched && stage < Depth::Decode => Verdict::Corrupt,
        ErrorKind::LimitExceeded | ErrorKind::Unsupported | ErrorKind::Bug => Verdict::Unchecked,
        _ => Verdict::Corrupt,
    }
}
