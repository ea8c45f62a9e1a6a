//! What is written of one thing: arrays, objects of any length, Bloscpack files. Plain bytes need no more than
//! a frame takes, and tables have a module of their own.

pub(crate) mod array;
pub(crate) mod object;
pub(crate) mod pack;
