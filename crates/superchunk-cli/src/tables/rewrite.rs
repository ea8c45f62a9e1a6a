//! A table written anew in its own format, with other chunks.

use std::collections::HashMap;
use std::path::Path;

use superchunk::bcolz::{Array, ArrayOptions};
use superchunk::{Codec, Filter, FrameOptions, Work, blsk};

use super::array::VALUES;
use super::info::data_len;
use super::{Kept, Rows};
use crate::context::Context;
use crate::encoding::EncodingArgs;
use crate::failure::{Failure, Outcome};
use crate::target::Named;

/// The options of a blsk tree with another codec or other filters.
type OptionsOver<'a> =
    dyn Fn(Option<Codec>, Option<&[Filter]>) -> superchunk::Result<blsk::TreeOptions> + 'a;

impl Rows {
    /// Makes a table at `path` with the same columns, rows and attributes. `encoding` says what
    /// changes in a column, by its name; a blsk table has one encoding, that of its first column.
    pub(crate) fn rewrite(
        &self,
        path: &Path,
        encoding: &dyn Fn(&str) -> EncodingArgs,
        context: &Context,
    ) -> Outcome {
        self.check_expansion(self.columns(), self.rows(), context)?;
        let watched = context.watched("repacking", Work::Copy, Some(data_len(self)));
        match &self.kept {
            Kept::Table(table) => {
                let options = table.arrays().into_iter().map(|(name, array)| {
                    let mut options = array_options(&name, array, &encoding(&name), context)?;
                    options.compress.executor = watched.clone();
                    Ok((name, options))
                });
                let options: HashMap<String, ArrayOptions> = options.collect::<Outcome<_>>()?;
                table.copy_to(path, |name| options.get(name).cloned())?;
            }
            Kept::Array(array) => {
                let mut options = array_options(&self.name, array, &encoding(VALUES), context)?;
                options.compress.executor = watched;
                array.copy_to(path, &options)?;
            }
            Kept::BlskTable(table) => {
                let mut options =
                    self.tree_options(&|c, f| table.options_over(c, f), encoding, context)?;
                options.compress.executor = watched;
                table.copy_to(path, &options)?;
            }
            Kept::BlskArray(array) => {
                let mut options =
                    self.tree_options(&|c, f| array.options_over(c, f), encoding, context)?;
                options.compress.executor = watched;
                array.copy_to(path, &options)?;
            }
            Kept::Files(files) => {
                let mut folder = files.new_folder(path)?;
                for (column, array) in files.frames() {
                    let mut options = array.options();
                    options.frame = encoding(&column.name).over(options.frame, context)?;
                    options.frame.compress.executor = watched.clone();
                    array.copy_to(folder.place(&column.name), &options)?.close()?;
                }
                folder.commit()?;
            }
        }
        Ok(())
    }

    /// Whether all columns have one encoding.
    pub(crate) fn encodes_alike(&self) -> bool {
        matches!(self.kept, Kept::BlskTable(_) | Kept::BlskArray(_))
    }

    /// Whether its columns are frames, which take any filters.
    pub(crate) fn has_frames(&self) -> bool {
        matches!(self.kept, Kept::Files(_))
    }

    /// Refuses options that chunks of this format do not have.
    pub(crate) fn check_encoding(&self, encoding: &EncodingArgs) -> Outcome {
        let are_frames = self.has_frames();
        let wrong = [
            ("--sparse", encoding.sparse),
            ("--no-checksums", encoding.no_checksums && !are_frames),
            ("--dict", encoding.dict && !are_frames),
            ("--chunk-size", encoding.chunk_size.is_some() && are_frames),
            ("--block-size", encoding.block_size.is_some()),
            ("--split", encoding.split.is_some() && !are_frames),
        ];
        let taken = match are_frames {
            true => "its chunks take -c, -l, --filters, --split, --dict and --no-checksums",
            false => "its chunks take -c, -l, --filters and -z",
        };
        match wrong.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => {
                Err(Failure::usage(format!("a {} has no use for {option}", self.kind()))
                    .with_help(taken))
            }
            None => Ok(()),
        }
    }

    /// Refuses an output whose name is that of another format.
    pub(crate) fn check_name(&self, output: &Path) -> Outcome {
        let own: &[Named] = match &self.kept {
            Kept::Table(_) | Kept::Array(_) => &[Named::Bcolz],
            Kept::BlskTable(_) | Kept::BlskArray(_) => &[Named::Blsk],
            Kept::Files(_) => &[],
        };
        let help = format!("a {} stays one here; `convert` makes other formats", self.kind());
        Named::check(output.as_os_str(), own, &help)
    }

    fn tree_options(
        &self,
        base: &OptionsOver<'_>,
        encoding: &dyn Fn(&str) -> EncodingArgs,
        context: &Context,
    ) -> Outcome<blsk::TreeOptions> {
        let all = self.source();
        let first = all.columns().first().map_or(VALUES, |column| column.name.as_str());
        let widest = all.columns().iter().map(|column| column.row_size()).max();
        let encoding = encoding(first);
        let filters = encoding.filters.as_ref().map(|given| given.0.as_slice());
        let base = base(encoding.codec, filters)?;
        let chosen = encoding.over(FrameOptions::new(base.compress.clone()), context)?;
        let widest = widest.unwrap_or(1).max(1);
        let mut options = base.with_compress(chosen.compress);
        if let Some(size) = encoding.chunk_size {
            options = options.with_chunk_rows((size / widest).max(1));
        }
        // A chunk is compressed when all of it is there.
        let rows = (options.chunk_rows.unwrap_or(0) as u64).min(self.rows());
        context.memory().check(&self.name, rows.saturating_mul(widest as u64))?;
        Ok(options)
    }
}

fn array_options(
    name: &str,
    array: &Array,
    encoding: &EncodingArgs,
    context: &Context,
) -> Outcome<ArrayOptions> {
    let base = array.options();
    let chosen = encoding.over(FrameOptions::new(base.compress.clone()), context)?;
    let mut options = base.with_compress(chosen.compress);
    if let Some(size) = encoding.chunk_size {
        options = options.with_chunk_rows((size / array.row_size().max(1)).max(1) as u64);
    }
    // A chunk is compressed when all of it is there.
    let rows = options.chunk_rows.unwrap_or(0).min(array.row_count());
    context.memory().check(name, rows.saturating_mul(array.row_size() as u64))?;
    Ok(options)
}
