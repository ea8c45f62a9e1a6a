//! Metalayers and attributes as values, within the limit of memory.

use superchunk::Value;

use crate::failure::Outcome;
use crate::memory::Memory;

/// Decodes the metalayers and attributes of one thing, which stay in memory together.
pub(crate) struct Decoding<'a> {
    /// What holds them.
    name: &'a str,
    memory: Memory,
    /// The bytes of those so far.
    len: u64,
}

impl<'a> Decoding<'a> {
    pub(crate) fn new(name: &'a str, memory: Memory) -> Self {
        Self { name, memory, len: 0 }
    }

    /// Decodes one more value, and refuses it beyond the limit of memory. Bytes that are not valid
    /// MessagePack stay bytes.
    pub(crate) fn value(&mut self, bytes: &[u8]) -> Outcome<Value> {
        self.len += bytes.len() as u64;
        self.memory.check_text(self.name, self.len)?;
        Ok(Value::decode(bytes).unwrap_or_else(|_| bytes.to_vec().into()))
    }
}
