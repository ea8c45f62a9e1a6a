//! `seeds FOLDER`: writes the seeds of every fuzz target to a folder of its name.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1);
    let folder = folder.ok_or_else(|| std::io::Error::other("say which folder"))?;
    for (target, _) in superchunk_fuzzing::TARGETS {
        superchunk_fuzzing::seeds::write(target, &Path::new(&folder).join(target))?;
    }
    Ok(())
}
