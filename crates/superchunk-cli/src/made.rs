//! What `pack` and `convert` say of what they have made.

use crate::context::Context;
use crate::failure::Outcome;
use crate::location::Location;
use crate::names::human;
use crate::output::{Document, ratio, rounded};
use crate::target::Target;

/// How long the data and the result are, and how fast that went.
pub(crate) struct Sizes {
    /// The bytes of the data.
    pub(crate) nbytes: u64,
    /// The bytes of the file, or of all files of the folder.
    pub(crate) stored: u64,
    /// Bytes a second; 0 where nothing was measured.
    pub(crate) rate: f64,
}

impl Sizes {
    /// Reports what `command` has made of `from`.
    pub(crate) fn report(
        &self,
        command: &str,
        from: &Location,
        target: &Target,
        context: &Context,
    ) -> Outcome {
        let Self { nbytes, stored, rate } = *self;
        let times = ratio(nbytes, stored);
        if context.json() && *target != Target::Stdout {
            return Document::new(command)
                .with("path", from.value())
                .with("output", target.value())
                .with("nbytes", nbytes)
                .with("stored", stored)
                .with("ratio", rounded(times))
                .print();
        }
        let speed = if rate > 0.0 { format!(", {:.0} MB/s", rate / 1e6) } else { String::new() };
        let (from, to, sizes) = (from.name(), target.name(), (human(nbytes), human(stored)));
        context
            .tell(&format!("{from} -> {to}: {} -> {}, ratio {times:.2}{speed}", sizes.0, sizes.1));
        Ok(())
    }
}
