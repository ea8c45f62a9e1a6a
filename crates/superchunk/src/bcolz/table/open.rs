//! Opening and making tables, and completing what a stopped writer has begun.

use std::sync::Arc;

use super::{Table, TableColumn};
use crate::bcolz::array::Array;
use crate::bcolz::load::{Access, Parts, Setup, names, read_attrs, small};
use crate::bcolz::options::{ColumnOptions, TableOptions};
use crate::carray::{Attrs, Home, Intent, Rootdirs};
use crate::error::{Error, ErrorKind, Result};
use crate::options::CompressOptions;
use crate::schunk::OpenOptions;
use crate::store::Dir;

/// How many tables may stand inside each other.
const MAX_DEPTH: usize = 16;

/// What the files of a table say, before anything is made of it.
pub(in crate::bcolz) struct Listed {
    pub(in crate::bcolz) home: Home,
    pub(in crate::bcolz) attrs: Attrs,
    pub(in crate::bcolz) columns: Vec<(String, ListedColumn)>,
}

pub(in crate::bcolz) enum ListedColumn {
    Array(Box<Parts>),
    Table(Listed),
}

impl Table {
    pub(in crate::bcolz) fn opened_in(
        dir: Arc<dyn Dir>,
        name: String,
        options: &OpenOptions,
        access: Access,
    ) -> Result<Self> {
        if access == Access::Write {
            return Self::edited(dir, name, options);
        }
        access.lock(dir.as_ref())?;
        let setup = Setup::of(options)?;
        let mut seen = None;
        loop {
            let home = Home::new(dir.clone(), name.clone(), setup.durable);
            let (mut listed, intent) = Listed::read(home, dir.as_ref(), &setup)?;
            listed.roll_forward(&intent.unwrap_or_default());
            let lens = listed.lens();
            // A writer may be between two columns: look again until nothing moves.
            if listed.is_even() || seen.as_ref() == Some(&lens) {
                return Self::from_listed(listed, &setup, &access);
            }
            seen = Some(lens);
        }
    }

    fn edited(dir: Arc<dyn Dir>, name: String, options: &OpenOptions) -> Result<Self> {
        dir.lock()?;
        let setup = Setup::of(options)?;
        let home = Home::new(dir.clone(), name, setup.durable);
        let (mut listed, intent) = Listed::read(home, dir.as_ref(), &setup)?;
        if let Some(intent) = intent {
            listed.complete(dir.as_ref(), &intent)?;
        }
        let table = Self::from_listed(listed, &setup, &Access::Write)?;
        table.keep_known_bounds();
        Ok(table)
    }

    pub(in crate::bcolz) fn created_in(
        dir: Arc<dyn Dir>,
        name: String,
        options: &TableOptions,
    ) -> Result<Self> {
        dir.lock()?;
        let compress = CompressOptions::new(1).with_check(options.checks());
        let setup = Setup::creating(options.durability, &compress);
        let home = Home::new(dir.clone(), name, setup.durable);
        let listed = Listed::create(home, dir.as_ref(), options, 0)?;
        let table = Self::from_listed(listed, &setup, &Access::Write)?;
        if options.bounds {
            table.keep_bounds();
        }
        Ok(table)
    }

    /// Refuses options before anything is made.
    pub(in crate::bcolz) fn check_options(options: &TableOptions) -> Result<()> {
        let mut names = Rootdirs::default();
        for (name, column) in &options.columns {
            names.check_new(name)?;
            names.names.push(name.clone());
            match column {
                ColumnOptions::Array(array) => drop(array.storage()?),
                ColumnOptions::Table(table) => Self::check_options(table)?,
            }
        }
        Ok(())
    }

    pub(in crate::bcolz) fn from_listed(
        mut listed: Listed,
        setup: &Setup,
        access: &Access,
    ) -> Result<Self> {
        listed.check_even()?;
        Self::from_even(listed, setup, access)
    }

    fn from_even(listed: Listed, setup: &Setup, access: &Access) -> Result<Self> {
        let columns = listed.columns.into_iter().map(|(name, column)| {
            let column = match column {
                ListedColumn::Array(parts) => {
                    TableColumn::Array(Box::new(Self::load_array(*parts, setup, access)?))
                }
                ListedColumn::Table(table) => {
                    TableColumn::Table(Box::new(Self::from_even(table, setup, access)?))
                }
            };
            Ok((name, column))
        });
        Ok(Self {
            columns: columns.collect::<Result<_>>()?,
            home: Arc::new(listed.home),
            attrs: listed.attrs,
            setup: setup.clone(),
            access: access.clone(),
            broken: false,
            unfinished: None,
        })
    }

    /// An array whose length changes only together with that of the other columns.
    pub(super) fn load_array(parts: Parts, setup: &Setup, access: &Access) -> Result<Array> {
        let array = Array::from_parts(parts, setup, access.clone())?;
        array.control.defer();
        Ok(array)
    }
}

impl Listed {
    /// Reads the files of a table, and what a writer was about to make of it.
    pub(in crate::bcolz) fn read(
        home: Home,
        root: &dyn Dir,
        setup: &Setup,
    ) -> Result<(Self, Option<Intent>)> {
        // Before the lengths: a writer that comes to its end meanwhile has written all of them.
        let intent = home.read(root, Intent::FILE, small(&setup.limits))?;
        let within = |error: Error| error.within(format!("{}/{}", home.name(), Intent::FILE));
        let intent = intent.map(|text| Intent::parse(&text)).transpose().map_err(within)?;
        let renamed = intent.as_ref().and_then(|intent| intent.rename.clone());
        Ok((Self::read_columns(home, root, setup, renamed, 0)?, intent))
    }

    fn read_columns(
        home: Home,
        root: &dyn Dir,
        setup: &Setup,
        renamed: Option<(String, String)>,
        depth: usize,
    ) -> Result<Self> {
        if depth > MAX_DEPTH {
            let words = format!("more than {MAX_DEPTH} tables inside each other");
            return Err(Error::limit(words).within(home.name()));
        }
        let text = home.read(root, Rootdirs::FILE, names(&setup.limits))?.ok_or_else(|| {
            let words = format!("this folder is no ctable: it has no file `{}`", Rootdirs::FILE);
            Error::not_found(words).within(home.name())
        })?;
        let within = |error: Error| error.within(format!("{}/{}", home.name(), Rootdirs::FILE));
        let mut rootdirs = Rootdirs::parse(&text).map_err(within)?;
        if let Some((old, new)) = renamed
            && root.open_folder(&new).is_ok()
            && let Some(name) = rootdirs.names.iter_mut().find(|name| **name == old)
        {
            *name = new;
        }
        let attrs = read_attrs(&home, root, &setup.limits)?;
        let columns = rootdirs.names.into_iter().map(|name| {
            let column = Self::read_column(home.child(&name), setup, depth)?;
            Ok((name, column))
        });
        let columns = columns.collect::<Result<_>>()?;
        Ok(Self { home, attrs, columns })
    }

    pub(super) fn read_column(home: Home, setup: &Setup, depth: usize) -> Result<ListedColumn> {
        let root = home.root().map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                Error::not_found("the folder of this column is missing").within(home.name())
            }
            _ => error,
        })?;
        let root = root.as_ref();
        if root.open(Rootdirs::FILE).is_ok() {
            return Self::read_columns(home, root, setup, None, depth + 1).map(ListedColumn::Table);
        }
        Ok(ListedColumn::Array(Box::new(Parts::read(home, root, &setup.limits)?)))
    }

    /// Makes the folders and files of a new table. The list of names comes last.
    pub(super) fn create(
        home: Home,
        root: &dyn Dir,
        options: &TableOptions,
        depth: usize,
    ) -> Result<Self> {
        if depth > MAX_DEPTH {
            return Err(Error::limit(format!("more than {MAX_DEPTH} tables inside each other")));
        }
        let mut attrs = Attrs::new();
        home.replace(root, Attrs::FILE, &attrs.write())?;
        attrs.settle();
        let columns = options.columns.iter().map(|(name, options)| {
            let (home, folder) = (home.child(name), root.create_folder(name)?);
            let column = match options {
                ColumnOptions::Array(options) => {
                    ListedColumn::Array(Box::new(Parts::create(home, folder.as_ref(), options)?))
                }
                ColumnOptions::Table(options) => {
                    ListedColumn::Table(Self::create(home, folder.as_ref(), options, depth + 1)?)
                }
            };
            Ok((name.clone(), column))
        });
        let columns: Vec<_> = columns.collect::<Result<_>>()?;
        let names = columns.iter().map(|(name, _)| name.clone()).collect();
        home.replace(root, Rootdirs::FILE, &Rootdirs { names }.write())?;
        Ok(Self { home, attrs, columns })
    }

    /// All arrays with their paths, in order.
    pub(in crate::bcolz) fn arrays(&mut self) -> Vec<(String, &mut Parts)> {
        let mut arrays = Vec::new();
        for (name, column) in &mut self.columns {
            match column {
                ListedColumn::Array(parts) => arrays.push((name.clone(), &mut **parts)),
                ListedColumn::Table(table) => {
                    let inner = table.arrays().into_iter();
                    arrays.extend(inner.map(|(path, parts)| (format!("{name}/{path}"), parts)));
                }
            }
        }
        arrays
    }

    /// The path and length of every array, in order.
    fn lens(&mut self) -> Vec<(String, u64)> {
        self.arrays().into_iter().map(|(path, parts)| (path, parts.sizes.rows)).collect()
    }

    fn is_even(&mut self) -> bool {
        self.check_even().is_ok()
    }

    fn check_even(&mut self) -> Result<()> {
        let lens = self.lens();
        let Some((first, rows)) = lens.first() else { return Ok(()) };
        match lens.iter().find(|(_, other)| other != rows) {
            None => Ok(()),
            Some((path, other)) => Err(Error::corrupt(format!(
                "column `{first}` has {rows} rows, column `{path}` has {other}: a writer was stopped \
                 between them; Table::recover keeps the rows that all columns have"
            ))
            .at("bcolz", "sizes", 0)
            .within(self.home.name())),
        }
    }

    /// Takes the lengths that a stopped writer meant, if it is clear that nobody went on since. Gives
    /// the paths of columns that are not that long yet.
    fn roll_forward(&mut self, intent: &Intent) -> Vec<String> {
        let rows_of =
            |(path, rows): (String, u64)| Some((intent.rows_of(&path, rows)?, rows, path));
        let targets: Option<Vec<_>> = self.lens().into_iter().map(rows_of).collect();
        let Some(targets) = targets else { return Vec::new() };
        let mut moved = Vec::new();
        for ((_, parts), (new, old, path)) in self.arrays().into_iter().zip(targets) {
            if new != old {
                parts.sizes.rows = new;
                parts.sizes.nbytes =
                    parts.row_size().map_or(0, |size| new.saturating_mul(size as u64));
                moved.push(path);
            }
        }
        moved
    }

    /// Does what a stopped writer left undone.
    pub(in crate::bcolz) fn complete(&mut self, root: &dyn Dir, intent: &Intent) -> Result<()> {
        let names = self.columns.iter().map(|(name, _)| name.clone()).collect();
        if intent.rename.is_some() {
            self.home.replace(root, Rootdirs::FILE, &Rootdirs { names }.write())?;
        }
        let moved = self.roll_forward(intent);
        for (path, parts) in self.arrays().into_iter().rev() {
            if moved.contains(&path) {
                parts.home.replace(parts.home.meta()?, "sizes", &parts.sizes.write())?;
            }
        }
        root.remove(Intent::FILE)?;
        self.home.sync(root)
    }
}
