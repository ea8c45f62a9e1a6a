//! One file a verb.

pub(crate) mod append;
pub(crate) mod attr;
pub(crate) mod bench;
pub(crate) mod caps;
pub(crate) mod cat;
pub(crate) mod convert;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod info;
pub(crate) mod inspect;
pub(crate) mod ls;
pub(crate) mod manual;
pub(crate) mod pack;
pub(crate) mod recover;
pub(crate) mod repack;
pub(crate) mod salvage;
pub(crate) mod tune;
pub(crate) mod unpack;
pub(crate) mod verify;
