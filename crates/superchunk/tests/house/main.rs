//! The rules of the house that a compiler cannot see: layers, file lengths, promises that name their tests.

mod architecture;
mod promises;
