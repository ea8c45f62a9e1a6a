//! The names of columns, which are those of files and folders of most tables.

use std::collections::HashSet;

use super::batch::Schema;
use super::convert::Made;
use crate::failure::{Failure, Outcome};

/// The bytes that the name of a column has at most, so that files can be called so, with an extension.
const LONGEST_NAME: usize = 250;

/// Refuses columns of `source` whose names cannot be those of files and folders of what is made.
pub(super) fn check_names(made: Made, schema: &Schema, source: &str) -> Outcome {
    let (what, others) = match made {
        _ if schema.is_array => return Ok(()),
        Made::Bcolz => {
            ("a bcolz table", ", no `.` at the start, and are not `__attrs__` or `__rootdirs__`")
        }
        Made::Blsk => ("a blsk table", ", no `:`, no control characters, and are not `__1__.bin`"),
        Made::Columns => ("a folder of columns", ", no zero byte, and are not `.` or `..`"),
        Made::Csv | Made::Npy | Made::B2nd => return Ok(()),
    };
    let is_own = |part: &str| match made {
        Made::Bcolz => {
            let is_drive = part.as_bytes().get(1) == Some(&b':');
            !part.starts_with('.') && !is_drive && !["__attrs__", "__rootdirs__"].contains(&part)
        }
        Made::Blsk => {
            let number = part.strip_prefix("__").and_then(|rest| rest.strip_suffix("__.bin"));
            let is_chunk = number.is_some_and(|number| number.bytes().all(|c| c.is_ascii_digit()));
            !part.contains(|c: char| c == ':' || c.is_control()) && !is_chunk
        }
        _ => true,
    };
    let is_allowed = |part: &str| {
        let is_file = !matches!(part, "" | "." | "..") && !part.contains(['\\', '\0']);
        is_file && part.len() <= LONGEST_NAME && is_own(part)
    };
    let mut seen = HashSet::new();
    for name in schema.columns.iter().map(|column| column.name.as_str()) {
        let shown = name.escape_debug().to_string().replace(r"\\", r"\");
        if !name.split('/').all(is_allowed) {
            let words = format!("`{source}`: `{shown}` cannot be the name of a column of {what}");
            let help = format!("names there have 1 to {LONGEST_NAME} bytes, no `\\`{others}");
            return Err(Failure::usage(words).with_help(help));
        }
        // Some file systems do not tell upper from lower case.
        let key = if made == Made::Columns { name.to_owned() } else { name.to_lowercase() };
        if !seen.insert(key) {
            let words = format!("`{source}`: there is a column `{shown}` already");
            let help = format!("the names of columns of {what} must differ");
            return Err(Failure::usage(words).with_help(help));
        }
    }
    Ok(())
}
