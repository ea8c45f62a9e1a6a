//! `__rootdirs__`: the columns of a table, in order. Each is the folder of that name.
//!
//! ```text
//! {"names": ["i", "f", "s"]}
//! ```
//!
//! Before bcolz 0.8, and in BLZ, a second key `dirs` held paths as the writer saw them; they are
//! ignored.

use std::collections::HashSet;

use super::sizes::{line, object, told};
use crate::error::{Error, Result};
use crate::wire::json::Json;

const FILE: &str = "__rootdirs__";

/// The names of the columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rootdirs {
    pub(crate) names: Vec<String>,
}

impl Rootdirs {
    pub(crate) const FILE: &str = FILE;

    pub(crate) fn parse(text: &str) -> Result<Self> {
        let json = object(text, FILE)?;
        let names = json.get("names").and_then(Json::as_array);
        let names = names.ok_or_else(|| corrupt("there is no list `names`".to_owned()))?;
        let mut seen = HashSet::new();
        let names = names.iter().map(|name| {
            let text = name.as_str().filter(|name| is_safe(name));
            let text = text.ok_or_else(|| {
                corrupt(format!(
                    "{} is no name of a column: it would lead out of the table",
                    told(name)
                ))
            })?;
            if !seen.insert(text) {
                return Err(corrupt(format!("two columns are called {}", told(name))));
            }
            Ok(text.to_owned())
        });
        Ok(Self { names: names.collect::<Result<_>>()? })
    }

    pub(crate) fn write(&self) -> String {
        let names = self.names.iter().map(|name| Json::from(name.as_str())).collect();
        line(&Json::Object(vec![("names".to_owned(), Json::Array(names))]))
    }

    /// Refuses a name that cannot be that of a new column.
    pub(crate) fn check_new(&self, name: &str) -> Result<()> {
        if !is_safe(name) || name.starts_with('.') || ["__attrs__", FILE].contains(&name) {
            return Err(Error::invalid(format!(
                "`{name}` cannot be the name of a column: it must be the name of a folder of its own"
            )));
        }
        let lower = name.to_lowercase();
        // Some file systems do not tell upper from lower case.
        match self.names.iter().find(|other| other.to_lowercase() == lower) {
            Some(other) => Err(Error::invalid(format!("there is a column `{other}` already"))),
            None => Ok(()),
        }
    }
}

/// Whether a name is a single folder inside of the table, on every system.
fn is_safe(name: &str) -> bool {
    let drive = name.as_bytes().get(1) == Some(&b':');
    !matches!(name, "" | "." | "..")
        && name.len() <= 255
        && !drive
        && !name.contains(['/', '\\', '\0'])
}

fn corrupt(words: String) -> Error {
    Error::corrupt(words).at("bcolz", FILE, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_order_and_paths_ignored() {
        let text = "{\"names\": [\"i\", \"meta\", \"has space\", \"\\u00e9\"]}\n";
        let rootdirs = Rootdirs::parse(text).unwrap();
        assert_eq!(rootdirs.names, ["i", "meta", "has space", "é"]);
        assert_eq!(rootdirs.write(), text);
        let old = "{\"dirs\": {\"i\": \"/home/x/t/i\"}, \"names\": [\"i\"]}";
        assert_eq!(Rootdirs::parse(old).unwrap().names, ["i"]);
        assert!(Rootdirs::parse("{\"names\": []}").unwrap().names.is_empty());
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["", ".", "..", "../evil", "/etc", "a\\\\b", "a\\u0000", "c:", &"x".repeat(256)]
        {
            assert!(Rootdirs::parse(&format!("{{\"names\": [\"{name}\"]}}")).is_err(), "{name}");
        }
        for other in ["{\"names\": [1]}", "{\"names\": \"i\"}", "{}", "{\"names\": [\"a\", \"a\"]}"]
        {
            assert!(Rootdirs::parse(other).is_err(), "{other}");
        }
    }

    #[test]
    fn a_new_column_has_a_name_of_its_own() {
        let rootdirs = Rootdirs { names: vec!["Open".to_owned()] };
        rootdirs.check_new("close").unwrap();
        for name in ["open", "", "a/b", ".b2commit", "__attrs__", "__rootdirs__"] {
            assert!(rootdirs.check_new(name).is_err(), "{name}");
        }
    }
}
