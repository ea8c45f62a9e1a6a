//! Metadata: metalayers in the header, and values of any length behind the chunks.
//!
//! Bytes go in and out as they are. Programs around python-blosc2 expect them to be msgpack:
//! [`SuperChunk::value`] and [`SuperChunk::set_value`] speak it.

use super::SuperChunk;
use super::options::check_name;
use crate::block_shape::BlockShape;
use crate::chunk::{self, Decoder, Header};
use crate::container::Layer;
use crate::error::{Error, Result};
use crate::frame::LAYERS;
use crate::options::CompressOptions;
use crate::wire::msgpack::Value;

impl SuperChunk {
    /// The names of the metalayers, in order.
    pub fn metalayer_names(&self) -> impl Iterator<Item = &str> {
        self.contents.metalayers.iter().map(|layer| layer.name.as_str())
    }

    /// The bytes of a metalayer.
    #[must_use]
    pub fn metalayer(&self, name: &str) -> Option<&[u8]> {
        let layer = self.contents.metalayers.iter().find(|layer| layer.name == name);
        layer.map(|layer| layer.content.as_slice())
    }

    /// Adds a metalayer, or gives it other bytes. When there are chunks already and the length of the
    /// header changes, the next commit rewrites the file.
    pub fn set_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        check_name(name)?;
        self.change(|this| set(&mut this.contents.metalayers, name, content.to_vec()))
    }

    /// The shape of the blocks, as far as a metalayer tells it.
    pub(crate) fn stored_block_shape(&self) -> Option<BlockShape> {
        self.contents.block_shape()
    }

    /// Removes a metalayer, if there is one of this name; the next commit rewrites the file.
    pub(crate) fn remove_metalayer(&mut self, name: &str) -> Result<()> {
        self.change(|this| {
            this.contents.metalayers.retain(|layer| layer.name != name);
            Ok(())
        })
    }

    /// The names of the attributes (the *vlmetalayers*), in order.
    pub fn attribute_names(&self) -> impl Iterator<Item = &str> {
        self.contents.vlmetalayers.iter().map(|layer| layer.name.as_str())
    }

    /// The bytes of an attribute (a *vlmetalayer*).
    pub fn attribute_bytes(&self, name: &str) -> Result<Vec<u8>> {
        let layer = self.contents.vlmetalayers.iter().find(|layer| layer.name == name);
        let layer = layer.ok_or_else(|| self.no_attribute(name))?;
        let told = |error: Error| error.within(format!("{}, value `{name}`", self.layout.name()));
        let header = Header::parse(&layer.content).map_err(told)?;
        if header.compressed_len() != layer.content.len() {
            return Err(told(Error::corrupt(format!(
                "a chunk of {} bytes in a place of {}",
                header.compressed_len(),
                layer.content.len()
            ))));
        }
        self.limits.check_metadata("value", header.byte_len() as u64).map_err(told)?;
        let mut decoder = Decoder::new().with_limits(self.limits);
        decoder.decompress(&layer.content).map_err(told)
    }

    /// Adds an attribute, or gives it other bytes.
    pub fn set_attribute_bytes(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        check_name(name)?;
        let options = CompressOptions::new(1).with_filters([]).with_check(self.compress.check);
        let content = chunk::compress(bytes, &options)?;
        self.change(|this| set(&mut this.contents.vlmetalayers, name, content))
    }

    /// Removes an attribute; returns whether there was one.
    pub fn remove_attribute(&mut self, name: &str) -> Result<bool> {
        let found = self.attribute_names().any(|found| found == name);
        if found {
            self.change(|this| {
                this.contents.vlmetalayers.retain(|layer| layer.name != name);
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// An attribute as python-blosc2 sees it.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none of that name.
    pub fn attribute(&self, name: &str) -> Result<Value> {
        Value::decode(&self.attribute_bytes(name)?)
    }

    /// Adds or changes an attribute, as python-blosc2 does.
    pub fn set_attribute(&mut self, name: &str, value: impl Into<Value>) -> Result<()> {
        self.set_attribute_bytes(name, &value.into().encode()?)
    }

    fn no_attribute(&self, name: &str) -> Error {
        Error::not_found(format!("there is no attribute `{name}`")).within(self.layout.name())
    }
}

fn set(layers: &mut Vec<Layer>, name: &str, content: Vec<u8>) -> Result<()> {
    if let Some(layer) = layers.iter_mut().find(|layer| layer.name == name) {
        layer.content = content;
        return Ok(());
    }
    if layers.len() >= LAYERS {
        return Err(Error::limit(format!("`{name}` is one too many: a frame holds {LAYERS}")));
    }
    layers.push(Layer { name: name.to_owned(), content });
    Ok(())
}
