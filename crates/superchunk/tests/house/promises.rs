//! Every promise of `docs/testing.md` names tests that exist.

use std::fs;
use std::path::Path;

#[test]
fn every_promise_names_its_tests() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(crates.join("../docs/testing.md")).unwrap();
    let rows = page.lines().skip_while(|line| *line != "## Promises").skip(1);
    let rows =
        rows.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with('|'));
    let mut promises = 0;
    for row in rows.skip(2) {
        let tests = row.rsplit('|').nth(1).unwrap();
        let mut source = String::new();
        let mut named = 0;
        // `file: function`, then further functions of the same file.
        for name in tests.split('`').skip(1).step_by(2) {
            let function = match name.split_once(": ") {
                Some((file, function)) => {
                    let path = crates.join(file);
                    source = fs::read_to_string(path).unwrap_or_else(|e| panic!("{file}: {e}"));
                    function
                }
                None => name,
            };
            assert!(source.contains(&format!("fn {function}(")), "no test `{name}`: {row}");
            named += 1;
        }
        assert!(named > 0, "no test is named: {row}");
        promises += 1;
    }
    assert!(promises > 10, "the table is gone");
}
