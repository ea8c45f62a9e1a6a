//! `caps`.

use crate::shell::Shell;

#[test]
fn formats_codecs_and_filters_are_listed() {
    let shell = Shell::new();
    let text = shell.run("caps").succeeds();
    for word in ["b2frame", "sframe", "b2nd", "blp", "npy", "zstd", "bitshuffle", "threads"] {
        assert!(text.text().contains(word), "{word}");
    }
    let formats = [
        "b2frame", "sframe", "b2nd", "objects", "blp", "chunk", "bcolz", "blsk", "columns", "npy",
        "raw", "csv", "jsonl",
    ];
    let named: Vec<&str> =
        text.text().lines().skip(3).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(named[..formats.len()], formats);
    let list = shell.run("caps --json").succeeds().json();
    let list = list.get("formats").unwrap().as_slice().unwrap();
    let of = |key: &str| -> Vec<&str> {
        let is_so = |entry: &&superchunk::Value| entry.get(key).unwrap().to_json() == "true";
        list.iter()
            .filter(is_so)
            .map(|entry| entry.get("format").unwrap().as_str().unwrap())
            .collect()
    };
    assert_eq!((of("read").as_slice(), of("write").as_slice()), (&formats[..], &formats[..]));
    assert_eq!(
        of("edit"),
        ["b2frame", "sframe", "b2nd", "objects", "blp", "bcolz", "blsk", "columns"]
    );
    let json = shell.run("caps --json").succeeds().json();
    assert_eq!(
        json.get("codecs").unwrap().to_json(),
        "[\"blosclz\", \"lz4\", \"lz4hc\", \"zlib\", \"zstd\"]"
    );
    assert_eq!(json.get("version").unwrap().as_str(), Some(env!("CARGO_PKG_VERSION")));
}
