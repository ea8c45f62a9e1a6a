//! The program as a shell sees it: one file a verb, real processes on real files.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod append;
mod attr;
mod bench;
mod bloscpack;
mod blpk;
mod bombs;
mod caps;
mod cat;
mod column_folders;
mod compat;
mod convert;
mod csv_round_trip;
mod demo;
mod diff;
#[cfg(unix)]
mod examples;
mod exits;
mod files;
mod fit;
mod foreign;
mod help;
mod ignored;
mod import;
mod info;
mod inspect;
mod json;
mod ls;
mod manual;
mod marks;
mod memory;
mod odd_names;
mod odd_names_in_json;
mod options;
mod outputs;
mod pack;
mod peers;
mod pipes;
mod repack;
mod replacing;
mod salvage;
mod shell;
mod table_changes;
mod table_repack;
mod table_verbs;
mod tables;
mod terminal;
mod text_values;
mod tune;
mod unpack;
mod varlen;
mod verify;
mod widen;
mod words;
