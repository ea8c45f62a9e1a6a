//! Versions of programs, as `2.10.0`.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// A version of a program: what is not stated counts as 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

impl Version {
    /// The version with these three numbers.
    #[must_use]
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong =
            || Error::invalid(format!("expected a version like 2.10 or 3.3.5, got `{text}`"));
        let mut numbers = [0; 3];
        let mut parts = text.split('.');
        for number in &mut numbers {
            let Some(part) = parts.next() else { break };
            *number = part.parse().map_err(|_| wrong())?;
        }
        let [major, minor, patch] = numbers;
        if parts.next().is_some() { Err(wrong()) } else { Ok(Self { major, minor, patch }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_compared_and_printed() {
        let version = |text: &str| text.parse::<Version>().unwrap();
        assert_eq!(version("2.10"), Version::new(2, 10, 0));
        assert!(version("2.9.9") < version("2.10") && version("3") > version("2.99.99"));
        assert_eq!(version("1.21.7").to_string(), "1.21.7");
        for wrong in ["", "x", "1.", "1.2.3.4", "-1", "1..2"] {
            assert!(wrong.parse::<Version>().is_err(), "{wrong}");
        }
    }
}
