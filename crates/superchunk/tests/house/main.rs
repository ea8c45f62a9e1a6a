//! The rules of the house that a compiler cannot see: layers, file lengths, promises that name
//! their tests, examples that run.

mod architecture;
mod examples;
mod promises;
