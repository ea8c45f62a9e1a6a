//! The real libraries read what we write, and we read what they write.

mod arrays;
mod arrays_in_turns;
mod bcolz;
mod chunks;
mod compat;
mod frames;
mod objects;
mod packs;
mod tables;
