//! The three flag bytes of a header as types.

/// Byte 2. Bits 0 and 2 together announce the 32-byte header; alone they name a Blosc1 filter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Flags(pub(super) u8);

impl Flags {
    pub(super) const SHUFFLE: u8 = 0x01;
    pub(super) const STORED: u8 = 0x02;
    pub(super) const BITSHUFFLE: u8 = 0x04;
    pub(super) const DELTA: u8 = 0x08;
    pub(super) const DONT_SPLIT: u8 = 0x10;
    pub(super) const EXTENDED: u8 = Self::SHUFFLE | Self::BITSHUFFLE;
    const FORMAT_SHIFT: u32 = 5;

    pub(super) fn has(self, mask: u8) -> bool {
        self.0 & mask != 0
    }

    pub(super) fn is_extended(self) -> bool {
        self.0 & Self::EXTENDED == Self::EXTENDED
    }

    pub(super) fn codec_format(self) -> u8 {
        self.0 >> Self::FORMAT_SHIFT
    }

    pub(super) fn with(self, mask: u8, wanted: bool) -> Self {
        if wanted { Self(self.0 | mask) } else { self }
    }

    pub(super) fn with_codec_format(self, format: u8) -> Self {
        Self(self.0 | format << Self::FORMAT_SHIFT)
    }
}

/// Byte 30, `blosc2_flags2`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Flags2(pub(super) u8);

impl Flags2 {
    pub(super) const VL_BLOCKS: u8 = 0x01;

    pub(super) fn has_vl_blocks(self) -> bool {
        self.0 & Self::VL_BLOCKS != 0
    }

    pub(super) fn has_reserved_bits(self) -> bool {
        self.0 & !Self::VL_BLOCKS != 0
    }
}

/// Byte 31, `blosc2_flags`. Bit 1 (big-endian writer) and bit 2 (unused) mean nothing to a reader.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Blosc2Flags(pub(super) u8);

impl Blosc2Flags {
    pub(super) const DICTIONARY: u8 = 0x01;
    pub(super) const LAZY: u8 = 0x08;
    pub(super) const INSTRUMENTED: u8 = 0x80;
    const SPECIAL_SHIFT: u32 = 4;

    pub(super) fn has(self, mask: u8) -> bool {
        self.0 & mask != 0
    }

    pub(super) fn special_id(self) -> u8 {
        (self.0 >> Self::SPECIAL_SHIFT) & 7
    }

    pub(super) fn with_special_id(self, id: u8) -> Self {
        Self(self.0 | id << Self::SPECIAL_SHIFT)
    }
}
