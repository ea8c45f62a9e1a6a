//! One file a verb, or a folder where one would be too long. `blpk` is the verbs of another program, with a command
//! line of its own.

pub(crate) mod append;
pub(crate) mod attr;
pub(crate) mod bench;
pub(crate) mod blpk;
pub(crate) mod caps;
pub(crate) mod cat;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod demo;
pub(crate) mod demo_writer;
pub(crate) mod diff;
pub(crate) mod head;
pub(crate) mod help;
pub(crate) mod info;
pub(crate) mod inspect;
pub(crate) mod ls;
pub(crate) mod man;
pub(crate) mod pack;
pub(crate) mod recover;
pub(crate) mod repack;
pub(crate) mod salvage;
pub(crate) mod tune;
pub(crate) mod unpack;
pub(crate) mod verify;
