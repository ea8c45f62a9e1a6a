//! `caps`.

use crate::shell::Shell;

#[test]
fn formats_codecs_and_filters_are_listed() {
    let shell = Shell::new();
    let text = shell.run("caps").succeeds();
    for word in ["b2frame", "sframe", "b2nd", "blp", "npy", "zstd", "bitshuffle", "threads"] {
        assert!(text.text().contains(word), "{word}");
    }
    let json = shell.run("caps --json").succeeds().json();
    assert_eq!(
        json.get("codecs").unwrap().to_json(),
        "[\"blosclz\", \"lz4\", \"lz4hc\", \"zlib\", \"zstd\"]"
    );
    assert_eq!(json.get("version").unwrap().as_str(), Some(env!("CARGO_PKG_VERSION")));
}
