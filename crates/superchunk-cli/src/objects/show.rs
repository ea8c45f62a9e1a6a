//! Objects as text, and as the stream that they came from.

use std::io::Write;

use superchunk::{ObjectKind, Value};

use super::ObjectList;
use super::records::{self, Framing};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::span::Span;
use crate::target::Target;
use crate::values::{Escape, Form, csv_value, hex_line, no_text, quoted};

/// Prints some objects, one on a line unless the form says otherwise.
pub(crate) fn print(list: &ObjectList, span: Span, form: Form, escape: Escape) -> Outcome {
    if form == Form::Raw {
        drop(output::binary()?);
    }
    let mut out = output::text();
    let mut first = true;
    let (mut number, mut position) = (span.start, 0);
    list.each(span, &mut |value| {
        let text = match form {
            // Markdown is refused before.
            Form::Table | Form::Md => format!("{}\n", plain(&value)),
            Form::Csv => {
                let cell = csv_value(&value, escape);
                let cell = cell.map_err(|error| no_text(&format!("object {number}"), &error))?;
                format!("{}\n", quoted(&cell))
            }
            Form::Json => format!("{}{}", if first { "[" } else { ", " }, value.to_json()),
            Form::Jsonl => format!("{}\n", value.to_json()),
            Form::Hex => dump(&value, &mut position),
            Form::Raw => {
                first = false;
                return raw(&mut out, &value);
            }
        };
        first = false;
        number = number.saturating_add(span.step);
        out.write_all(text.as_bytes()).map_err(Failure::stdout)
    })?;
    let end = match (form, first) {
        (Form::Json, true) => "[]\n",
        (Form::Json, false) => "]\n",
        _ => "",
    };
    out.write_all(end.as_bytes()).and_then(|()| out.flush()).map_err(Failure::stdout)
}

/// Writes objects as the stream that they can be packed from again; returns its length.
pub(crate) fn unpack(
    list: &ObjectList,
    slice: Option<&str>,
    framing: Framing,
    (target, force): (&Target, bool),
    context: &Context,
) -> Outcome<u64> {
    let span = list.span(slice)?;
    let cannot_tell = list.kind() == ObjectKind::Values && framing == Framing::Lines;
    // Values of all kinds come back as what they were only in JSON.
    let framing = if cannot_tell { Framing::Jsonl } else { framing };
    let mut progress = context.progress("unpacking", None);
    target.write(force, context, |out| {
        let mut written = 0;
        list.each(span, &mut |value| {
            let len = records::write(out, framing, &value)?;
            written += len;
            progress.add(usize::try_from(len).unwrap_or(0));
            Ok(())
        })?;
        Ok(written)
    })
}

/// A text as it is, bytes with what is no text escaped, everything else as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::Str(text) => text.clone(),
        Value::Bin(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.escape_ascii().to_string(),
        },
        other => other.to_json(),
    }
}

fn raw(out: &mut impl Write, value: &Value) -> Outcome {
    let bytes = match value {
        Value::Bin(bytes) => bytes.clone(),
        other => plain(other).into_bytes(),
    };
    out.write_all(&bytes).map_err(Failure::stdout)
}

/// Sixteen bytes on a line, each object from a new line on.
fn dump(value: &Value, position: &mut u64) -> String {
    let bytes = match value {
        Value::Bin(bytes) => bytes.clone(),
        other => plain(other).into_bytes(),
    };
    let mut text = String::new();
    for line in bytes.chunks(16) {
        hex_line(*position, line, &mut text);
        *position += line.len() as u64;
    }
    text
}
