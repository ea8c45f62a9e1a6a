//! Colours, where they are wanted.

use std::io::IsTerminal;

use crate::args::When;

/// Whether text is coloured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    colour: bool,
}

impl Style {
    /// No colours.
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { colour: false }
    }

    /// The style for a stream: as asked for, or by itself where a person looks at it and `NO_COLOR`
    /// is not set.
    pub(crate) fn of(stream: &impl IsTerminal, when: When) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let colour = match when {
            When::Always => true,
            When::Never => false,
            When::Auto => !set("NO_COLOR") && (set("CLICOLOR_FORCE") || stream.is_terminal()),
        };
        Self { colour }
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.wrap("1;33", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.wrap("1;32", text)
    }

    pub(crate) fn blue(self, text: &str) -> String {
        self.wrap("1;34", text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
