//! Takes the input apart, one segment after the other, as a search asks for.

use alloc::vec::Vec;

use crate::deflate::Search;
use crate::deflate::finder::Finder;
use crate::deflate::lazy::{self, BRISK, Effort, THOROUGH};
use crate::deflate::model::Model;
use crate::deflate::parsed::Parsed;
use crate::deflate::quick::Quick;
use crate::deflate::runs;
use crate::deflate::segment::{Segment, Sequence};
use crate::deflate::stats::Counts;

/// What parsers remember, allocated on first use.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pub(super) finder: Option<Finder>,
    quick: Option<Quick>,
    sequences: Vec<Sequence>,
}

/// What takes a stream apart.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it stays where it is")]
pub(super) enum Parser<'a> {
    Runs(&'a mut Vec<Sequence>),
    Quick { quick: &'a mut Quick, needs_repetitions: bool },
    Lazy { effort: Effort, finder: &'a mut Finder, model: Model, sequences: &'a mut Vec<Sequence> },
}

/// Bytes that are looked at before anything else.
const SAMPLE: usize = 1536;

/// So many symbols a segment is to have; the first one that is learned from has less.
const SYMBOLS: usize = 8192;
const FIRST_SYMBOLS: usize = 1024;

impl<'a> Parser<'a> {
    /// For the stream `src`.
    pub(super) fn new(search: Search, src: &[u8], memory: &'a mut Memory) -> Self {
        let Memory { finder, quick, sequences } = memory;
        let effort = match search {
            Search::Runs => return Parser::Runs(sequences),
            Search::Quick | Search::QuickRepetitions => {
                let quick = quick.get_or_insert_with(Quick::new);
                quick.begin();
                let needs_repetitions = search == Search::QuickRepetitions;
                return Parser::Quick { quick, needs_repetitions };
            }
            Search::Brisk => BRISK,
            Search::Thorough => THOROUGH,
        };
        let finder = finder.get_or_insert_with(Finder::new);
        finder.begin(src.len());
        let model = Model::new(src.get(..SAMPLE).unwrap_or(src));
        Parser::Lazy { effort, finder, model, sequences }
    }

    /// Adds the segment of `src` that begins at `begin` to `parsed`. Returns its end, and how often
    /// each symbol occurs; or nothing if it is to be stored as it is.
    pub(super) fn parse(
        &mut self,
        src: &[u8],
        begin: usize,
        parsed: &mut Parsed,
    ) -> (usize, Option<Counts>) {
        match self {
            Parser::Runs(sequences) => {
                let mut segment = Segment::new(src, begin, SYMBOLS, sequences);
                runs::parse(&mut segment);
                (segment.end, Some(segment.hand_over(begin, parsed)))
            }
            Parser::Quick { quick, needs_repetitions } => {
                quick.parse(src, begin, *needs_repetitions, parsed)
            }
            Parser::Lazy { effort, finder, model, sequences } => {
                let symbols = if begin == 0 { FIRST_SYMBOLS } else { SYMBOLS };
                let mut segment = Segment::new(src, begin, symbols, sequences);
                lazy::parse(*effort, finder, model, &mut segment);
                let end = segment.end;
                let counts = segment.hand_over(begin, parsed);
                if end < src.len() {
                    model.learn(&counts, end - begin);
                }
                (end, Some(counts))
            }
        }
    }
}
