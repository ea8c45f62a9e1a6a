//! The part of `deny.toml` that the check uses: three lists of strings.

use crate::step::Outcome;

/// What `deny.toml` allows and forbids.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    /// SPDX names of licences, some with `WITH` and an exception.
    pub(crate) allowed_licences: Vec<String>,
    /// Names of crates.
    pub(crate) denied_crates: Vec<String>,
    /// Versions that may stand beside another one of the crate, as `name@version`.
    pub(crate) skipped_versions: Vec<String>,
}

impl Rules {
    /// Reads the text of `deny.toml`.
    pub(crate) fn parse(text: &str) -> Outcome<Rules> {
        Ok(Rules {
            allowed_licences: list(text, "[licenses]", "allow")?,
            denied_crates: list(text, "[bans]", "deny")?,
            skipped_versions: list(text, "[bans]", "skip")?,
        })
    }
}

/// Reads the strings of the list `key = ["…", …]`, which may span lines. This is not a TOML parser:
/// `#` starts a comment and `]` ends the list wherever they stand; a table in the list is refused.
fn list(text: &str, section: &str, key: &str) -> Outcome<Vec<String>> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let lines = lines.skip_while(|line| *line != section).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let value_of =
        |line: &str| line.strip_prefix(key)?.trim_start().strip_prefix('=').map(String::from);
    let mut lines = lines.skip_while(|line| value_of(line).is_none());
    let missing = || format!("deny.toml: {section} has no list '{key}'");
    let mut value = lines.next().and_then(value_of).ok_or_else(missing)?;
    value.extend(lines);
    let items = value.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (items, _) = items.ok_or_else(missing)?;
    if items.contains('{') {
        return Err(format!("deny.toml: {section} {key}: expected strings only, got a table"));
    }
    Ok(items.split('"').skip(1).step_by(2).map(String::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
[graph]
deny = ["not this one"]

[licenses] # the first
allow-more = ["nor this"]
allow = ["A", "B WITH C"]

[bans]
multiple-versions = "deny"
skip = [
    # "commented" out
    "x@1.0.0", # "why"
    "y@2.0.0",
]
deny = []
"#;

    fn strings(strings: &[&str]) -> Vec<String> {
        strings.iter().map(|&string| string.to_owned()).collect()
    }

    #[test]
    fn lists_are_read() {
        let rules = Rules {
            allowed_licences: strings(&["A", "B WITH C"]),
            denied_crates: Vec::new(),
            skipped_versions: strings(&["x@1.0.0", "y@2.0.0"]),
        };
        assert_eq!(Rules::parse(TEXT), Ok(rules));
    }

    #[test]
    fn a_missing_list_is_an_error() {
        for (section, key) in [("[bans]", "allow"), ("[licenses]", "deny"), ("[none]", "allow")] {
            let reason = list(TEXT, section, key).expect_err("there is none");
            assert!(reason.contains(section) && reason.contains(key), "{reason}");
        }
        assert!(list(TEXT, "[bans]", "multiple-versions").is_err(), "not a list");
        assert!(list("[bans]\ndeny = [\n\"x\",\n", "[bans]", "deny").is_err(), "no end");
    }

    #[test]
    fn a_table_is_an_error() {
        let text = "[bans]\nskip = [{ crate = \"x\" }]\n";
        assert!(list(text, "[bans]", "skip").is_err());
    }
}
