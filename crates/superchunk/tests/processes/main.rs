//! Processes that fork, are killed, or work on the same files at the same time.

mod bcolz_killed;
mod blsk_killed;
mod dropping;
mod fork;
mod hammer;
mod packs_killed;
