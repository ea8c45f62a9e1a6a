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
