//! What a salvage may take, and who may stop it.

use crate::exec::Executor;
use crate::limits::Limits;

/// What a salvage may take, and who is asked whether it goes on. [`Limits`] alone will do.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct SalvageOptions {
    /// What it may take.
    pub limits: Limits,
    /// Its [observer](Executor::with_observer) is asked before each read. The search itself is the
    /// work of one thread.
    pub executor: Executor,
}

impl SalvageOptions {
    /// Default limits, and nobody who is asked.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same with the observer of this executor.
    #[must_use]
    pub fn with_executor(mut self, executor: Executor) -> Self {
        self.executor = executor;
        self
    }
}

impl From<&Limits> for SalvageOptions {
    fn from(limits: &Limits) -> Self {
        Self::new().with_limits(*limits)
    }
}

impl From<&SalvageOptions> for SalvageOptions {
    fn from(options: &SalvageOptions) -> Self {
        options.clone()
    }
}
