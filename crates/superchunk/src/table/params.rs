//! Values that are given beside an expression.

use super::expr::Const;
use super::suggest;
use crate::error::{Error, Result};

/// The parameters of an expression: `:name` or `$1`. A value that comes from elsewhere is safe here,
/// whatever is in it; pasted into the text it would be part of the expression.
///
/// ```
/// use superchunk::table::{self, MemoryTable, Params};
///
/// let table = MemoryTable::new().with_values("x", &[1, 5, 9])?;
/// let params = Params::new().with("low", 4);
/// assert_eq!(table::scan(&table).with_condition("x > :low")?.with_params(params).count()?, 2);
/// # Ok::<(), superchunk::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params {
    values: Vec<(String, Const)>,
}

impl Params {
    /// No parameters.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same parameters with one more; one of the same name is replaced. `$1` has the name `1`.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Const>) -> Self {
        let name = name.into();
        self.values.retain(|(known, _)| *known != name);
        self.values.push((name, value.into()));
        self
    }

    /// The value of a parameter that stands at byte `at` of an expression.
    pub(crate) fn get(&self, name: &str, at: usize) -> Result<&Const> {
        let found = self.values.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value).ok_or_else(|| {
            let hint = suggest::hint(name, self.values.iter().map(|(known, _)| known.as_str()));
            let sign = if name.starts_with(|c: char| c.is_ascii_digit()) { '$' } else { ':' };
            Error::invalid(format!("the parameter `{sign}{name}` has no value{hint}")).at(
                "expression",
                "text",
                at,
            )
        })
    }
}

impl<S: Into<String>, C: Into<Const>> FromIterator<(S, C)> for Params {
    fn from_iter<I: IntoIterator<Item = (S, C)>>(pairs: I) -> Self {
        pairs.into_iter().fold(Self::new(), |params, (name, value)| params.with(name, value))
    }
}
