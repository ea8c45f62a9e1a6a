//! `__attrs__`: the user's values, a JSON object. bcolz needs the file, we do not.

use super::home::Home;
use super::sizes::{line, object};
use crate::error::Result;
use crate::wire::json::Json;

/// The name of the file.
const FILE: &str = "__attrs__";

/// The values, and whether they were changed.
#[derive(Clone, Debug)]
pub(crate) struct Attrs {
    json: Json,
    changed: bool,
}

impl Attrs {
    pub(crate) const FILE: &str = FILE;

    /// None. The file must still be written: bcolz refuses a folder without it.
    pub(crate) fn new() -> Self {
        Self { json: Json::Object(Vec::new()), changed: true }
    }

    /// The values of a file; one that is missing or blank has none.
    pub(crate) fn parse(text: Option<&str>) -> Result<Self> {
        let text = text.filter(|text| !text.trim().is_empty());
        let json = match text {
            Some(text) => object(text, FILE)?,
            None => Json::Object(Vec::new()),
        };
        Ok(Self { json, changed: false })
    }

    pub(crate) fn write(&self) -> String {
        line(&self.json)
    }

    pub(crate) fn json(&self) -> &Json {
        &self.json
    }

    pub(crate) fn set(&mut self, name: &str, value: Json) -> Result<()> {
        self.json.set(name, value)?;
        self.changed = true;
        Ok(())
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<Json> {
        let old = self.json.remove(name);
        self.changed |= old.is_some();
        old
    }

    pub(crate) fn has_changed(&self) -> bool {
        self.changed
    }

    /// Writes changed values beside the file, so that there is room for them.
    pub(crate) fn prepare(&self, home: &Home) -> Result<()> {
        match self.changed {
            true => home.write_aside(home.root()?.as_ref(), FILE, self.write().as_bytes()),
            false => Ok(()),
        }
    }

    /// Makes the prepared values those of the file.
    pub(crate) fn publish(&mut self, home: &Home) -> Result<()> {
        if self.changed {
            home.publish(home.root()?.as_ref(), FILE)?;
            self.changed = false;
        }
        Ok(())
    }

    /// Gives up what was prepared.
    pub(crate) fn cancel(&self, home: &Home) {
        if let (true, Ok(root)) = (self.changed, home.root()) {
            home.forget_aside(root.as_ref(), FILE);
        }
    }

    /// The file is written.
    pub(crate) fn settle(&mut self) {
        self.changed = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_python_are_kept_as_they_are() {
        let text = "{\"x\": NaN, \"big\": 1180591620717411303424, \"\\u00e9\": [1, -Infinity]}\n";
        let mut attrs = Attrs::parse(Some(text)).unwrap();
        assert_eq!(attrs.write(), text);
        assert!(!attrs.changed);
        attrs.set("y", Json::Bool(true)).unwrap();
        assert!(attrs.changed);
        assert_eq!(attrs.remove("x"), Some(Json::Number("NaN".to_owned())));
        assert_eq!(attrs.remove("x"), None);
    }

    #[test]
    fn a_missing_or_blank_file_has_no_values() {
        for text in [None, Some(""), Some(" \n")] {
            assert_eq!(Attrs::parse(text).unwrap().write(), "{}\n");
        }
        assert!(Attrs::parse(Some("[1]")).is_err());
        assert!(Attrs::parse(Some("{")).is_err());
    }
}
