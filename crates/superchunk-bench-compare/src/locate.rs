//! Where the shared library of C-Blosc2 is.

use std::path::{Path, PathBuf};

/// `SUPERCHUNK_LIBBLOSC2`, or the library in the environment that `cargo xtask setup` makes.
pub(crate) fn libblosc2() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("SUPERCHUNK_LIBBLOSC2") {
        return Ok(path.into());
    }
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/venv/blosc2");
    let environment = std::env::var_os("SUPERCHUNK_PEER_VENV").map_or_else(default, PathBuf::from);
    let missing = || {
        let place = environment.display();
        format!(
            "no libblosc2 in {place}: run cargo xtask setup, or name it in SUPERCHUNK_LIBBLOSC2"
        )
    };
    let pythons = std::fs::read_dir(environment.join("lib")).map_err(|_| missing())?;
    let folders = pythons.flatten().map(|entry| entry.path().join("site-packages/blosc2/lib"));
    let names = ["libblosc2.so", "libblosc2.dylib"];
    let mut candidates = folders.flat_map(|folder| names.map(|name| folder.join(name)));
    candidates.find(|path| path.exists()).ok_or_else(missing)
}
