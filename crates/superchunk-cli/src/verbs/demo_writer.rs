//! `demo-writer`: the writer that `demo` kills. One commit, and then bytes for ever.

use std::path::PathBuf;

use clap::Args;

use super::demo::temperatures;
use crate::context::Context;
use crate::failure::Outcome;
use crate::opened::Found;
use crate::output;

/// The options of the writer that the demo kills.
#[derive(Debug, Args)]
pub(crate) struct DemoWriterArgs {
    /// The frame to write to
    frame: PathBuf,
}

pub(crate) fn run(args: &DemoWriterArgs, context: &Context) -> Outcome {
    let mut frame = Found::at_path(&args.frame)?.edit_frame(context)?;
    let day = temperatures(86_400);
    frame.append(&day)?;
    frame.commit()?;
    output::print(&format!("{} readings committed\n", frame.item_count()))?;
    for days in 0u64.. {
        frame.append(&day)?;
        if days == 3 {
            output::print("writing more, nothing of it committed\n")?;
        }
    }
    Ok(())
}
