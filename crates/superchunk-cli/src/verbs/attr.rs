//! `attr`: small values that travel with the data.
//!
//! Attributes are the values behind the chunks (*vlmetalayers*), which python-blosc2 calls
//! `schunk.vlmeta`. Metalayers of the header are read, but not changed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use superchunk::{SuperChunk, Value};

use super::pack::json_or_text;
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::input::Input;
use crate::location::Location;
use crate::output::{self, Document};
use crate::summary::value_of;

const EXAMPLES: &str = "\
Examples:
  superchunk attr ls big.b2frame
  superchunk attr set big.b2frame range '[0, 500.5]'
  superchunk attr get big.b2frame range";

/// The options of `attr`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AttrArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List attributes and metalayers
    Ls {
        /// The frame
        location: OsString,
    },
    /// Print one, as JSON
    Get {
        /// The frame
        location: OsString,
        /// Its name
        name: String,
    },
    /// Add or change one
    Set {
        /// The frame
        frame: PathBuf,
        /// Its name
        name: String,
        /// JSON, or else text
        value: String,
    },
    /// Remove one
    Rm {
        /// The frame
        frame: PathBuf,
        /// Its name
        name: String,
    },
}

pub(crate) fn run(args: &AttrArgs, context: &Context) -> Outcome {
    match &args.action {
        Action::Ls { location } => list(location, context),
        Action::Get { location, name } => get(location, name, context),
        Action::Set { frame, name, value } => {
            let mut frame = context.edit(frame)?;
            frame.set_value(name, &json_or_text(value))?;
            Ok(frame.close()?)
        }
        Action::Rm { frame: path, name } => {
            let mut frame = context.edit(path)?;
            if !frame.value_names().any(|known| known == name) {
                return Err(missing(&path.display().to_string(), name));
            }
            frame.remove_value(name)?;
            Ok(frame.close()?)
        }
    }
}

fn list(location: &OsString, context: &Context) -> Outcome {
    let input = Input::open(&Location::parse(location), context)?;
    let frame = input.need_frame()?;
    let attributes: Vec<(String, Value)> = frame
        .value_names()
        .map(|name| Ok((name.to_owned(), attribute(frame, name)?)))
        .collect::<Outcome<_>>()?;
    let layers: Vec<(String, Value)> = frame
        .metalayer_names()
        .map(|name| (name.to_owned(), value_of(frame.metalayer(name).unwrap_or_default())))
        .collect();
    if context.json() {
        let map = |entries: Vec<(String, Value)>| {
            Value::Map(entries.into_iter().map(|(name, value)| (name.into(), value)).collect())
        };
        return Document::new("attr")
            .with("path", input.name.as_str())
            .with("attributes", map(attributes))
            .with("metalayers", map(layers))
            .print();
    }
    let line = |(name, value): &(String, Value)| format!("{name} = {}\n", value.to_json());
    let mut text: String = attributes.iter().map(line).collect();
    text.extend(
        layers.iter().map(|layer| format!("{} (metalayer)", line(layer).trim_end()) + "\n"),
    );
    output::print(&text)
}

fn get(location: &OsString, name: &str, context: &Context) -> Outcome {
    let input = Input::open(&Location::parse(location), context)?;
    let frame = input.need_frame()?;
    let value = if frame.value_names().any(|known| known == name) {
        attribute(frame, name)?
    } else {
        value_of(frame.metalayer(name).ok_or_else(|| missing(&input.name, name))?)
    };
    if context.json() {
        return Document::new("attr").with("name", name).with("value", value).print();
    }
    output::print(&format!("{}\n", value.to_json()))
}

fn attribute(frame: &SuperChunk, name: &str) -> Outcome<Value> {
    Ok(value_of(&frame.value_bytes(name)?))
}

fn missing(file: &str, name: &str) -> Failure {
    Failure::said(Exit::Failure, format!("`{file}` has no attribute `{name}`"))
        .with_help("`superchunk attr ls` lists them")
}
