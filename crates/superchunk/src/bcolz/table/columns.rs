//! Adding, removing and renaming columns.

use super::open::{Listed, ListedColumn};
use super::{Table, TableColumn};
use crate::bcolz::array::Array;
use crate::bcolz::load::{Access, Parts, names};
use crate::bcolz::options::{ArrayOptions, TableOptions};
use crate::carray::{Intent, Rootdirs};
use crate::error::{Error, MustGet, Result};
use crate::store::Dir;

impl Table {
    /// Adds a column behind the others, with the bytes of all its rows. It is in the table when this
    /// returns; other changes must be committed before.
    pub fn add_column(&mut self, name: &str, options: &ArrayOptions, bytes: &[u8]) -> Result<()> {
        let place = self.columns.len();
        self.add_column_at(place, name, options, bytes)
    }

    /// Adds a column before the one at `place`.
    pub fn add_column_at(
        &mut self,
        place: usize,
        name: &str,
        options: &ArrayOptions,
        bytes: &[u8],
    ) -> Result<()> {
        self.check_settled()?;
        self.rootdirs().check_new(name)?;
        options.storage()?;
        if place > self.columns.len() {
            return Err(Error::invalid(format!("there are only {} columns", self.columns.len())));
        }
        let row_size = options.dtype.item_size() * options.row_shape.iter().product::<usize>();
        let rows = bytes.len().checked_div(row_size).unwrap_or(0) as u64;
        let whole = bytes.len().is_multiple_of(row_size.max(1));
        if !whole || (!self.columns.is_empty() && rows != self.row_count()) {
            return Err(Error::invalid(format!(
                "{} bytes for column `{name}`: the table has {} rows, and each takes {row_size}",
                bytes.len(),
                self.row_count()
            )));
        }
        let root = self.home.root()?;
        let folder = root.create_folder(name).map_err(|error| {
            Error::invalid(
                "a folder of that name is in the table, though it is no column: remove it first",
            )
            .because(error)
            .within(format!("{}/{name}", self.home.name()))
        })?;
        let array = self.fill_column(name, folder.as_ref(), options, bytes).and_then(|array| {
            // The column is complete, and its folder has its name, before the table names it.
            self.home.sync(root.as_ref())?;
            let mut rootdirs = self.rootdirs();
            rootdirs.names.insert(place, name.to_owned());
            self.home.replace(root.as_ref(), Rootdirs::FILE, &rootdirs.write())?;
            Ok(array)
        });
        let array = array.inspect_err(|_| self.forget_folder(root.as_ref(), name))?;
        self.columns.insert(place, (name.to_owned(), TableColumn::Array(Box::new(array))));
        Ok(())
    }

    /// Removes the folder of a column that could not be added, so that it is not in the way of the next
    /// try; unless the table names it, for then only a sync has failed.
    fn forget_folder(&self, root: &dyn Dir, name: &str) {
        let most = names(&self.setup.limits);
        let listed = self.home.need(root, Rootdirs::FILE, most);
        let listed = listed.and_then(|text| Rootdirs::parse(&text));
        if listed.is_ok_and(|listed| !listed.names.iter().any(|known| known == name)) {
            let _ = root.remove_folder(name);
        }
    }

    /// A new array in an empty folder, with all its rows.
    fn fill_column(
        &self,
        name: &str,
        folder: &dyn Dir,
        options: &ArrayOptions,
        bytes: &[u8],
    ) -> Result<Array> {
        let mut setup = self.setup.clone();
        setup.compress.executor = options.compress.executor.clone();
        setup.compress.check |= options.compress.check;
        let parts = Parts::create(self.home.child(name), folder, options)?;
        let mut array = Array::from_parts(parts, &setup, Access::Write)?;
        array.append(bytes)?;
        array.commit()?;
        array.control.defer();
        Ok(array)
    }

    /// Adds a column that has columns itself, with rows of their default values. It is in the table when
    /// this returns; other changes must be committed before. bcolz cannot open such a table.
    pub fn add_nested(&mut self, name: &str, options: &TableOptions) -> Result<()> {
        self.check_settled()?;
        self.rootdirs().check_new(name)?;
        Self::check_options(options)?;
        let root = self.home.root()?;
        let folder = root.create_folder(name)?;
        let listed = Listed::create(self.home.child(name), folder.as_ref(), options, 1)?;
        let mut table = Self::from_listed(listed, &self.setup, &Access::Write)?;
        table.resize(self.row_count())?;
        table.commit()?;
        self.home.sync(root.as_ref())?;
        let mut rootdirs = self.rootdirs();
        rootdirs.names.push(name.to_owned());
        self.home.replace(root.as_ref(), Rootdirs::FILE, &rootdirs.write())?;
        self.columns.push((name.to_owned(), TableColumn::Table(Box::new(table))));
        Ok(())
    }

    /// Removes a column and its data. It is gone when this returns; other changes must be committed
    /// before.
    pub fn remove_column(&mut self, name: &str) -> Result<()> {
        self.check_settled()?;
        let place = self.place(name)?;
        let mut rootdirs = self.rootdirs();
        rootdirs.names.remove(place);
        let root = self.home.root()?;
        // From here on it is a folder that nobody looks at.
        self.home.replace(root.as_ref(), Rootdirs::FILE, &rootdirs.write())?;
        drop(self.columns.remove(place));
        root.remove_folder(name)?;
        self.home.sync(root.as_ref())
    }

    /// Gives a column another name. It has it when this returns; other changes must be committed
    /// before.
    pub fn rename_column(&mut self, name: &str, new: &str) -> Result<()> {
        self.check_settled()?;
        let place = self.place(name)?;
        self.rootdirs().check_new(new)?;
        let mut rootdirs = self.rootdirs();
        *rootdirs.names.must_get_mut(place)? = new.to_owned();
        let root = self.home.root()?;
        if root.open_folder(new).is_ok() {
            return Err(Error::invalid(format!(
                "a folder `{new}` is in the table, though it is no column: remove it first"
            )));
        }
        let rename = Some((name.to_owned(), new.to_owned()));
        let intent = Intent { columns: Vec::new(), rename };
        self.broken = true;
        drop(self.columns.remove(place));
        self.home.replace(root.as_ref(), Intent::FILE, &intent.write())?;
        root.rename_folder(name, new)?;
        self.home.sync(root.as_ref())?;
        self.home.replace(root.as_ref(), Rootdirs::FILE, &rootdirs.write())?;
        root.remove(Intent::FILE)?;
        self.home.sync(root.as_ref())?;
        let column = Listed::read_column(self.home.child(new), &self.setup, 1)?;
        let column = match column {
            ListedColumn::Array(parts) => {
                TableColumn::Array(Box::new(Self::load_array(*parts, &self.setup, &Access::Write)?))
            }
            ListedColumn::Table(table) => {
                TableColumn::Table(Box::new(Self::from_listed(table, &self.setup, &Access::Write)?))
            }
        };
        self.columns.insert(place, (new.to_owned(), column));
        self.broken = false;
        Ok(())
    }

    /// Refuses a change of the columns, which is made at once, while others wait for a commit.
    fn check_settled(&self) -> Result<()> {
        self.check_whole()?;
        match self.is_dirty() {
            true => Err(Error::invalid("commit the changes first").within(self.home.name())),
            false => Ok(()),
        }
    }

    fn place(&self, name: &str) -> Result<usize> {
        let place = self.names().position(|known| known == name);
        place.ok_or_else(|| self.no_column(name))
    }

    fn rootdirs(&self) -> Rootdirs {
        Rootdirs { names: self.names().map(str::to_owned).collect() }
    }
}
