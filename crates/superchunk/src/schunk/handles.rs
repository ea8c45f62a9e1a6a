//! The ways of opening a container, the same for every type.

/// Gives a container its ways of opening. Each of them ends in the container's own
/// `opened(&Place, &OpenOptions, Access)`.
macro_rules! opens {
    // A file, or a folder with a file for each chunk.
    ($container:ty: file or folder) => {
        $crate::schunk::opens!(@path $container);
        $crate::schunk::opens!(@bytes $container);
        $crate::schunk::opens!(
            @dir $container,
            "Opens the file called `name` of any folder, or the folder itself if there is no name,",
            (name: Option<&str>),
            |dir| $crate::place::Place::in_dir(dir, name)
        );
    };
    ($container:ty: file) => {
        $crate::schunk::opens!(@path $container);
        $crate::schunk::opens!(@bytes $container);
        $crate::schunk::opens!(
            @dir $container,
            "Opens the file called `name` of any folder",
            (name: &str),
            |dir| $crate::place::Place::File(dir, name)
        );
    };
    ($container:ty: folder) => {
        $crate::schunk::opens!(@path $container);
        $crate::schunk::opens!(
            @dir $container, "Opens any folder", (), |dir| $crate::place::Place::Folder(dir)
        );
    };
    (@path $container:ty) => {
        #[cfg(any(unix, windows))]
        impl $container {
            /// Opens what is at `path` for reading.
            pub fn open(path: impl AsRef<std::path::Path>) -> $crate::error::Result<Self> {
                Self::open_with(path, &$crate::schunk::OpenOptions::new())
            }

            /// Opens what is at `path` for reading, as the options say.
            pub fn open_with(
                path: impl AsRef<std::path::Path>,
                options: &$crate::schunk::OpenOptions,
            ) -> $crate::error::Result<Self> {
                let place = $crate::place::Place::Path(path.as_ref());
                Self::opened(&place, options, $crate::place::Access::Read)
            }

            /// Opens what is at `path` for reading and writing. Another writer of this kind is kept
            /// out.
            pub fn edit(path: impl AsRef<std::path::Path>) -> $crate::error::Result<Self> {
                Self::edit_with(path, &$crate::schunk::OpenOptions::new())
            }

            /// Opens what is at `path` for reading and writing, as the options say.
            pub fn edit_with(
                path: impl AsRef<std::path::Path>,
                options: &$crate::schunk::OpenOptions,
            ) -> $crate::error::Result<Self> {
                let place = $crate::place::Place::Path(path.as_ref());
                Self::opened(&place, options, $crate::place::Access::Edit)
            }
        }
    };
    (@bytes $container:ty) => {
        impl $container {
            /// Opens the file that `bytes` are: a vector, a slice, a memory map.
            pub fn from_bytes(
                bytes: impl AsRef<[u8]> + Send + Sync + 'static,
            ) -> $crate::error::Result<Self> {
                Self::open_bytes(bytes, &$crate::schunk::OpenOptions::new())
            }

            /// Opens the file that `bytes` are, as the options say.
            pub fn open_bytes(
                bytes: impl AsRef<[u8]> + Send + Sync + 'static,
                options: &$crate::schunk::OpenOptions,
            ) -> $crate::error::Result<Self> {
                Self::open_store(std::sync::Arc::new($crate::store::Bytes::new(bytes)), options)
            }

            /// Opens the file that a store holds, for reading.
            pub fn open_store(
                store: std::sync::Arc<dyn $crate::store::ReadAt>,
                options: &$crate::schunk::OpenOptions,
            ) -> $crate::error::Result<Self> {
                let place = $crate::place::Place::Store(store);
                Self::opened(&place, options, $crate::place::Access::Read)
            }
        }
    };
    (@dir $container:ty, $what:literal, ($($name:ident: $type:ty)?), |$dir:ident| $place:expr) => {
        impl $container {
            #[doc = concat!($what, " for reading.")]
            pub fn open_in_dir(
                $dir: std::sync::Arc<dyn $crate::store::Dir>,
                $($name: $type,)?
                options: &$crate::schunk::OpenOptions,
            ) -> $crate::error::Result<Self> {
                Self::opened(&$place, options, $crate::place::Access::Read)
            }

            #[doc = concat!($what, " for reading and writing.")]
            pub fn edit_in_dir(
                $dir: std::sync::Arc<dyn $crate::store::Dir>,
                $($name: $type,)?
                options: &$crate::schunk::OpenOptions,
            ) -> $crate::error::Result<Self> {
                Self::opened(&$place, options, $crate::place::Access::Edit)
            }
        }
    };
}
pub(crate) use opens;

/// Gives a container that is kept in a super-chunk the attributes of that.
macro_rules! forwards_attributes {
    ($container:ty, $frame:ident) => {
        impl $container {
            /// The names of the attributes, in order.
            pub fn attribute_names(&self) -> impl Iterator<Item = &str> {
                self.$frame.attribute_names().filter(|name| !Self::is_internal(name))
            }

            /// An attribute as python-blosc2 sees it.
            ///
            /// # Errors
            ///
            /// `NotFound` if there is none of that name.
            pub fn attribute(
                &self,
                name: &str,
            ) -> $crate::error::Result<$crate::wire::msgpack::Value> {
                self.$frame.attribute(name)
            }

            /// Adds or changes an attribute, as python-blosc2 does.
            pub fn set_attribute(
                &mut self,
                name: &str,
                value: impl Into<$crate::wire::msgpack::Value>,
            ) -> $crate::error::Result<()> {
                Self::check_name(name)?;
                self.$frame.set_attribute(name, value)
            }

            /// Removes an attribute; returns whether there was one.
            pub fn remove_attribute(&mut self, name: &str) -> $crate::error::Result<bool> {
                Self::check_name(name)?;
                self.$frame.remove_attribute(name)
            }

            fn check_name(name: &str) -> $crate::error::Result<()> {
                match Self::is_internal(name) {
                    false => Ok(()),
                    true => Err($crate::error::Error::invalid(format!(
                        "the attribute `{name}` belongs to the format"
                    ))),
                }
            }
        }
    };
}
pub(crate) use forwards_attributes;
