//! Rows as text: lined up, CSV, JSON, Markdown.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use superchunk::Value;
use superchunk::table::{Batch, Column, Source, scan};

use super::objects::Objects;
use super::{ColumnView, Rows, filtered, of_condition, span_of};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::span::Span;
use crate::target::Target;
use crate::terminal;
use crate::values::{Escape, Form, no_text, quoted};

/// How many rows decide how wide the columns of a table are.
const LOOKED_AT: usize = 1000;
/// What stands between two columns.
const GAP: &str = "  ";
/// The width that a column of text has at least in a narrow terminal.
const NARROWEST: usize = 4;

/// How rows are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableForm {
    /// Lined up, with long texts cut so that lines have this many characters at most.
    Table(Option<usize>),
    /// With an escape for bytes that are no text, or none.
    Csv(Escape),
    /// One array of objects.
    Json,
    /// An object on a line.
    Jsonl,
    Markdown,
}

impl TableForm {
    /// The form that was asked for.
    pub(crate) fn of(
        form: Option<Form>,
        json: bool,
        escape: Escape,
        is_wide: bool,
    ) -> Outcome<Self> {
        Ok(match form {
            None if json => Self::Json,
            None | Some(Form::Table) if is_wide => Self::Table(None),
            None | Some(Form::Table) => Self::Table(terminal::width()),
            Some(Form::Csv) => Self::Csv(escape),
            Some(Form::Json) => Self::Json,
            Some(Form::Jsonl) => Self::Jsonl,
            Some(Form::Md) => Self::Markdown,
            Some(Form::Raw | Form::Hex) => {
                return Err(Failure::usage("a table is shown as table, csv, json, jsonl or md")
                    .with_help("`PATH::COLUMN` with `convert` gives the bytes of a column"));
            }
        })
    }
}

/// What of the rows is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) columns: Option<&'a str>,
    pub(crate) condition: Option<&'a str>,
    pub(crate) slice: Option<&'a str>,
    pub(crate) most: Option<u64>,
}

impl Wanted<'_> {
    /// The columns that are shown, and how.
    pub(super) fn views(&self, known: &[Column]) -> Outcome<Vec<ColumnView>> {
        match self.columns {
            Some(text) => ColumnView::parse(text, known),
            None => Ok(ColumnView::all(known)),
        }
    }
}

/// Prints rows.
pub(crate) fn show(rows: &Rows, wanted: Wanted<'_>, form: TableForm, context: &Context) -> Outcome {
    let span = span_of(rows, wanted.slice)?;
    let (source, objects) = (rows.source(), rows.objects());
    let views = wanted.views(rows.columns())?;
    if wanted.condition.is_none() {
        let names = scanned(&views, &objects);
        let columns = rows.columns().iter().filter(|known| names.contains(&known.name.as_str()));
        let count = span.count().min(wanted.most.unwrap_or(u64::MAX));
        rows.check_expansion(columns, count, context)?;
    }
    let shown = Shown { source: &*source, columns: rows.columns(), objects: &objects, span };
    print(&shown, &views, wanted, form, context)
}

/// Rows to print, whoever has them.
pub(super) struct Shown<'a> {
    pub(super) source: &'a dyn Source,
    /// The columns that there are to choose from.
    pub(super) columns: &'a [Column],
    pub(super) objects: &'a Objects<'a>,
    pub(super) span: Span,
}

/// Prints rows.
pub(super) fn print(
    shown: &Shown<'_>,
    views: &[ColumnView],
    wanted: Wanted<'_>,
    form: TableForm,
    context: &Context,
) -> Outcome {
    let printer = RowPrinter::new(output::text(), &Failure::stdout, form, views, shown);
    printer.print(shown, wanted, context)
}

/// Writes rows as CSV.
pub(super) fn csv_to(
    shown: &Shown<'_>,
    (target, force): (&Target, bool),
    escape: Escape,
    context: &Context,
) -> Outcome {
    let (views, form) = (ColumnView::all(shown.columns), TableForm::Csv(escape));
    let wanted = Wanted { columns: None, condition: None, slice: None, most: None };
    let failed = |error| target.failed(error);
    target.write_text((force, context), &mut |out| {
        RowPrinter::new(out, &failed, form, &views, shown).print(shown, wanted, context)
    })
}

/// The columns that a scan reads for some views, each once.
fn scanned<'v>(views: &'v [ColumnView], objects: &Objects<'_>) -> Vec<&'v str> {
    let mut names: Vec<&str> = Vec::new();
    for name in views.iter().map(|view| view.name.as_str()) {
        if !names.contains(&name) && !objects.contain(name) {
            names.push(name);
        }
    }
    names
}

struct RowPrinter<'a, W: Write> {
    out: W,
    failed: &'a dyn Fn(io::Error) -> Failure,
    form: TableForm,
    views: &'a [ColumnView],
    objects: &'a Objects<'a>,
    /// Of each view: whether it shows numbers, which are lined up on the right.
    numbers: Vec<bool>,
    /// Rows that wait until the widths are known.
    waiting: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
    count: u64,
}

impl<'a, W: Write> RowPrinter<'a, W> {
    fn new(
        out: W,
        failed: &'a dyn Fn(io::Error) -> Failure,
        form: TableForm,
        views: &'a [ColumnView],
        shown: &'a Shown<'a>,
    ) -> Self {
        let is_number = |view: &ColumnView| {
            let column = shown.columns.iter().find(|column| column.name == view.name);
            column.is_some_and(|column| view.is_number(column))
                && !shown.objects.contain(&view.name)
        };
        let numbers = views.iter().map(is_number).collect();
        let (waiting, widths, objects) = (Vec::new(), None, shown.objects);
        Self { out, failed, form, views, objects, numbers, waiting, widths, count: 0 }
    }

    /// Prints the rows that are wanted.
    fn print(mut self, shown: &Shown<'_>, wanted: Wanted<'_>, context: &Context) -> Outcome {
        let Shown { source, objects, span, .. } = shown;
        let mut scan = scan(*source)
            .with_columns(scanned(self.views, objects))
            .with_rows(span.start..span.stop)
            .with_executor(context.executor())
            .with_limits(context.limits());
        scan = filtered(scan, wanted.condition)?;
        if span.step == 1 {
            scan = scan.with_limit(wanted.most.unwrap_or(u64::MAX));
        }
        let mut left = wanted.most.unwrap_or(u64::MAX);
        let batches = scan.batches().map_err(|error| of_condition(error, wanted.condition))?;
        for batch in batches {
            let batch = batch?;
            let stepped = |row: u64| (row - span.start).is_multiple_of(span.step);
            for (index, row) in batch.row_numbers().enumerate().filter(|(_, row)| stepped(*row)) {
                if left == 0 {
                    return self.finish();
                }
                left -= 1;
                self.row(&batch, index, row)?;
            }
        }
        self.finish()
    }

    /// Prints the row that stands in a batch at `index` and in the table at `row`.
    fn row(&mut self, batch: &Batch, index: usize, row: u64) -> Outcome {
        let cells = self.views.iter().map(|view| self.cell(view, batch, index, row));
        let cells = cells.collect::<Outcome<Vec<String>>>()?;
        self.count += 1;
        let line = match self.form {
            TableForm::Table(_) => match &self.widths {
                Some(widths) => self.line_up(&cells, widths),
                None => {
                    self.waiting.push(cells);
                    if self.waiting.len() < LOOKED_AT {
                        return Ok(());
                    }
                    return self.release();
                }
            },
            TableForm::Csv(_) => {
                let head = if self.count == 1 { self.csv_heading() } else { String::new() };
                head + &csv(cells.iter().map(String::as_str))
            }
            TableForm::Markdown => {
                let head = if self.count == 1 { self.markdown_heading() } else { String::new() };
                head + &markdown(cells.iter().map(String::as_str))
            }
            TableForm::Jsonl => self.object(&cells) + "\n",
            TableForm::Json => {
                let before = if self.count == 1 { "[" } else { ", " };
                format!("{before}{}", self.object(&cells))
            }
        };
        self.out.write_all(line.as_bytes()).map_err(self.failed)
    }

    /// What a column shows in a row.
    fn cell(&self, view: &ColumnView, batch: &Batch, index: usize, row: u64) -> Outcome<String> {
        let in_json = matches!(self.form, TableForm::Json | TableForm::Jsonl);
        let refused = |error| no_text(&format!("row {row}, column `{}`", view.name), &error);
        let data = match (self.objects.get(&view.name, row), self.form) {
            (Some(object), _) if in_json => return Ok(object?.to_json()),
            (Some(object), TableForm::Csv(escape)) => {
                return object?.to_csv(escape).map_err(refused);
            }
            (Some(object), _) => return Ok(object?.to_text()),
            (None, _) => batch.column(&view.name)?,
        };
        match self.form {
            TableForm::Json | TableForm::Jsonl => Ok(view.json(data, index)),
            TableForm::Csv(escape) => view.csv(data, index, escape).map_err(refused),
            TableForm::Table(_) | TableForm::Markdown => Ok(view.text(data, index)),
        }
    }

    fn finish(mut self) -> Outcome {
        self.release()?;
        let rest = match (self.form, self.count) {
            (TableForm::Json, 0) => "[]\n".to_owned(),
            (TableForm::Json, _) => "]\n".to_owned(),
            (TableForm::Csv(_), 0) => self.csv_heading(),
            (TableForm::Markdown, 0) => self.markdown_heading(),
            _ => String::new(),
        };
        self.out.write_all(rest.as_bytes()).and_then(|()| self.out.flush()).map_err(self.failed)
    }

    /// Prints the heading and the rows that wait, now that the widths can be told.
    fn release(&mut self) -> Outcome {
        let TableForm::Table(limit) = self.form else { return Ok(()) };
        if self.widths.is_some() {
            return Ok(());
        }
        let heading: Vec<String> = self.views.iter().map(|view| view.heading.clone()).collect();
        let waiting = std::mem::take(&mut self.waiting);
        let width = |at: usize| {
            let cells = std::iter::once(&heading).chain(&waiting).filter_map(|row| row.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..heading.len()).map(width).collect();
        if let Some(limit) = limit {
            narrow(&mut widths, &self.numbers, limit);
        }
        let mut text = self.line_up(&heading, &widths);
        waiting.iter().for_each(|row| text.push_str(&self.line_up(row, &widths)));
        self.widths = Some(widths);
        self.out.write_all(text.as_bytes()).map_err(self.failed)
    }

    fn line_up(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, width), is_number) in cells.iter().zip(widths).zip(&self.numbers) {
            let gap = if line.is_empty() { "" } else { GAP };
            let _ = match (is_number, self.form) {
                (true, _) => write!(line, "{gap}{cell:>width$}"),
                (false, TableForm::Table(Some(_))) => {
                    write!(line, "{gap}{:<width$}", shortened(cell, *width))
                }
                (false, _) => write!(line, "{gap}{cell:<width$}"),
            };
        }
        format!("{}\n", line.trim_end())
    }

    fn csv_heading(&self) -> String {
        csv(self.views.iter().map(|view| view.heading.as_str()))
    }

    fn markdown_heading(&self) -> String {
        let names = markdown(self.views.iter().map(|view| view.heading.as_str()));
        let rule = |is_number: &bool| if *is_number { "---:" } else { "---" };
        names + &markdown(self.numbers.iter().map(rule))
    }

    fn object(&self, cells: &[String]) -> String {
        let fields = self.views.iter().zip(cells).map(|(view, cell)| {
            format!("{}: {cell}", Value::from(view.heading.as_str()).to_json())
        });
        format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
    }
}

/// Makes the widest columns narrower until a line has at most `limit` characters. Columns of numbers
/// keep their widths: digits that are cut off make another number.
fn narrow(widths: &mut [usize], numbers: &[bool], limit: usize) {
    let gaps = GAP.len() * widths.len().saturating_sub(1);
    let fits = |most: usize| {
        let narrowed = widths.iter().zip(numbers);
        let width = |(width, is_number): (&usize, &bool)| match is_number {
            true => *width,
            false => (*width).min(most),
        };
        narrowed.map(width).sum::<usize>() + gaps <= limit
    };
    let most = (NARROWEST..=limit).rev().find(|most| fits(*most)).unwrap_or(NARROWEST);
    for (width, _) in widths.iter_mut().zip(numbers).filter(|(_, is_number)| !**is_number) {
        *width = (*width).min(most);
    }
}

/// A text of at most this many characters.
fn shortened(text: &str, width: usize) -> Cow<'_, str> {
    if text.chars().count() <= width {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().take(width.saturating_sub(1)).chain(['…']).collect())
}

fn csv<'c>(cells: impl Iterator<Item = &'c str>) -> String {
    let fields: Vec<String> = cells.map(quoted).collect();
    match fields.as_slice() {
        // An empty line would be no row.
        [only] if only.is_empty() => "\"\"\n".to_owned(),
        fields => format!("{}\n", fields.join(",")),
    }
}

fn markdown<'c>(cells: impl Iterator<Item = &'c str>) -> String {
    let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}
