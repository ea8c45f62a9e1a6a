//! Every input that a fuzzer has found anything with, in `findings/TARGET/NAME`: it holds now.

use std::fs;
use std::path::Path;

#[test]
fn nothing_that_was_found_happens_again() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("findings");
    let mut count = 0;
    for target in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        for finding in fs::read_dir(target.path()).unwrap().map(Result::unwrap) {
            let name = target.file_name().into_string().unwrap();
            superchunk_fuzzing::run(&name, &fs::read(finding.path()).unwrap());
            count += 1;
        }
    }
    assert!(count > 0);
}
