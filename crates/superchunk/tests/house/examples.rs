//! The programs in the folder `examples` do what they say: each checks its own results, and here
//! all of them are modules of one program, which is compiled and linked once.

use std::fs;
use std::path::Path;

/// A module and a test for each example.
macro_rules! examples {
    ($($name:ident = $path:literal;)*) => {
        $(
            #[allow(unreachable_pub, reason = "where the example is a program, `main` is its root")]
            #[path = $path]
            mod $name;

            #[test]
            fn $name() {
                $name::main().unwrap();
            }
        )*

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

examples! {
    array_slice = "../../examples/array_slice.rs";
    bcolz_scan = "../../examples/bcolz_scan.rs";
    many_threads = "../../examples/many_threads.rs";
    own_codec = "../../examples/own_codec.rs";
    own_store = "../../examples/own_store.rs";
    pack_and_read = "../../examples/pack_and_read.rs";
    random_items = "../../examples/random_items.rs";
    verify_and_salvage = "../../examples/verify_and_salvage.rs";
}

#[test]
fn every_example_is_run_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut files: Vec<String> = files.map(|name| name.into_string().unwrap()).collect();
    files.sort();
    let expected: Vec<String> = NAMES.iter().map(|name| format!("{name}.rs")).collect();
    assert_eq!(files, expected);
}
