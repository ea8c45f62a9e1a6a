//! `attr`: small values that travel with the data.
//!
//! Attributes are the values behind the chunks (*vlmetalayers*), which python-blosc2 calls
//! `schunk.vlmeta`. Metalayers of the header are read, but not changed. Those of a Bloscpack file are
//! the keys of its metadata.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use superchunk::{ErrorKind, Json, Value};

use crate::attributes::{self, json_of, json_or_text};
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::input::Input;
use crate::interrupt;
use crate::location::Location;
use crate::opened::{Edited, Found};
use crate::output::{self, Document};
use crate::tables::{Rows, Sink};
use crate::write;

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
        #[arg(allow_negative_numbers = true)]
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
        Action::Set { frame: path, name, value } => {
            Location::check_whole(path.as_os_str(), "attr set")?;
            let value = json_or_text(value);
            set(path, name, &value, context)?;
            report(path, name, Some(value), context)
        }
        Action::Rm { frame: path, name } => {
            Location::check_whole(path.as_os_str(), "attr rm")?;
            remove(path, name, context)?;
            report(path, name, None, context)
        }
    }
}

fn set(path: &Path, name: &str, value: &Value, context: &Context) -> Outcome {
    match Found::at_path(path)?.edit(context)? {
        Edited::Table(table) => {
            let mut sink = Sink::of(table)?;
            interrupt::hold();
            sink.set_attr(name, &json_of(value)?)?;
            sink.close()
        }
        Edited::Pack(pack) => {
            let value = json_of(value)?;
            write::pack::change(*pack, |json| Ok(json.set(name, value)?))
        }
        Edited::Frame(mut frame) => {
            frame.set_attribute(name, value.clone()).map_err(|error| match error.kind() {
                ErrorKind::LimitExceeded => Failure::said(Exit::Limit, error.to_string())
                    .with_help("`superchunk attr rm` removes another one"),
                _ => error.into(),
            })?;
            interrupt::finally(|| frame.close())
        }
    }
}

fn remove(path: &Path, name: &str, context: &Context) -> Outcome {
    let missing = || missing(&path.display().to_string(), name);
    match Found::at_path(path)?.edit(context)? {
        Edited::Table(table) => {
            let mut sink = Sink::of(table)?;
            interrupt::hold();
            if sink.remove_attr(name)? { sink.close() } else { Err(missing()) }
        }
        Edited::Pack(pack) => {
            let remove = |json: &mut Json| json.remove(name).map(drop).ok_or_else(missing);
            write::pack::change(*pack, remove)
        }
        Edited::Frame(mut frame) => {
            if !frame.attribute_names().any(|known| known == name) {
                return Err(missing());
            }
            frame.remove_attribute(name)?;
            interrupt::finally(|| frame.close())
        }
    }
}

/// The document of a change; in words nothing is said.
fn report(path: &Path, name: &str, value: Option<Value>, context: &Context) -> Outcome {
    if !context.json() {
        return Ok(());
    }
    let document = Document::new("attr").with("path", path.display().to_string());
    document.with("name", name).with_some("value", value).print()
}

/// Attributes and metalayers.
type Named = Vec<(String, Value)>;

fn named(input: &Input) -> Outcome<(Named, Named)> {
    let frame = if input.pack().is_some() { None } else { Some(input.need_frame()?) };
    let (mut decoding, mut layers) = (input.decoding(), Vec::new());
    for (frame, name) in
        frame.iter().flat_map(|frame| frame.metalayer_names().map(move |n| (frame, n)))
    {
        let bytes = frame.metalayer(name).unwrap_or_default();
        layers.push((name.to_owned(), decoding.value(bytes)?));
    }
    Ok((input.attributes()?, layers))
}

fn list(location: &OsString, context: &Context) -> Outcome {
    let location = Location::parse(location);
    location.check_unsliced("attr ls")?;
    let found = Found::at(&location)?;
    if found.is_table() {
        let rows = Rows::of(&found, context)?;
        return tell(&rows.value, rows.attribute_values(), Vec::new(), context);
    }
    let input = Input::of(found, context)?;
    let (attributes, layers) = named(&input)?;
    tell(&input.value, attributes, layers, context)
}

fn tell(path: &Value, attributes: Named, layers: Named, context: &Context) -> Outcome {
    if context.json() {
        let map = |entries: Named| {
            Value::Map(entries.into_iter().map(|(name, value)| (name.into(), value)).collect())
        };
        return Document::new("attr")
            .with("path", path.clone())
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
    let location = Location::parse(location);
    location.check_unsliced("attr get")?;
    let missing = || missing(&location.name(), name);
    let found = Found::at(&location)?;
    if found.is_table() {
        let attributes = Rows::of(&found, context)?.attribute_values();
        let value = attributes.into_iter().find(|(known, _)| known == name);
        return print_value(name, value.ok_or_else(missing)?.1, context);
    }
    let input = Input::of(found, context)?;
    let value = if let Some(pack) = input.pack() {
        let found = attributes::of_pack(pack).into_iter().find(|(known, _)| known == name);
        found.ok_or_else(missing)?.1
    } else {
        let frame = input.need_frame()?;
        let mut decoding = input.decoding();
        match frame.attribute_names().any(|known| known == name) {
            true => decoding.value(&frame.attribute_bytes(name)?)?,
            false => decoding.value(frame.metalayer(name).ok_or_else(missing)?)?,
        }
    };
    print_value(name, value, context)
}

fn print_value(name: &str, value: Value, context: &Context) -> Outcome {
    if context.json() {
        return Document::new("attr").with("name", name).with("value", value).print();
    }
    output::print(&format!("{}\n", value.to_json()))
}

fn missing(file: &str, name: &str) -> Failure {
    Failure::said(Exit::Failure, format!("`{file}` has no attribute `{name}`"))
        .with_help("`superchunk attr ls` lists them")
}
