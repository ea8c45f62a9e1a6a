//! `--json`: every command prints exactly one document.

use superchunk::Value;

use crate::shell::{Shell, npy};

fn document(shell: &Shell, line: &str) -> Value {
    let said = shell.run(line).succeeds();
    assert_eq!(said.text().matches('\n').count(), 1, "{line}: {}", said.text());
    said.json()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_slice).unwrap()
}

#[test]
fn info_of_several_is_one_document() {
    let shell = Shell::with_frame();
    shell.write("t.csv", b"a\n1\n");
    shell.run("convert t.csv t.bcolz -q").is("", "", 0);
    let only = document(&shell, "info data.b2frame --chunks --json");
    assert_eq!((only.get("files"), list(&only, "chunk_list").len()), (None, 13));
    let all = document(&shell, "info data.b2frame t.bcolz data.f8 --chunks --json");
    assert_eq!(all.get("command").and_then(Value::as_str), Some("info"));
    let files = list(&all, "files");
    let formats: Vec<_> =
        files.iter().map(|file| file.get("format").unwrap().as_str().unwrap()).collect();
    assert_eq!(formats, ["b2frame", "bcolz table", "raw"]);
    assert_eq!(list(&files[0], "chunk_list"), list(&only, "chunk_list"));
    assert_eq!(files[0].get("schema"), None);
    // An error prints nothing else.
    let said = shell.run("info data.b2frame missing --json");
    assert_eq!((said.code, said.text()), (Some(5), ""));
}

#[test]
fn changes_of_attributes_are_documents() {
    let shell = Shell::with_frame();
    shell.write("t.csv", b"a\n1\n");
    shell.run("convert t.csv t.bcolz -q").is("", "", 0);
    shell.run("pack data.f8 -t 8 -o data.blp -q").is("", "", 0);
    for name in ["data.b2frame", "t.bcolz", "data.blp"] {
        let head = format!(
            "{{\"schema\": 1, \"command\": \"attr\", \"path\": \"{name}\", \"name\": \"n\""
        );
        let set = shell.run(&format!("attr set {name} n [1,2] --json"));
        set.is(&format!("{head}, \"value\": [1, 2]}}\n"), "", 0);
        shell.run(&format!("attr get {name} n")).is("[1, 2]\n", "", 0);
        shell.run(&format!("attr rm {name} n --json")).is(&format!("{head}}}\n"), "", 0);
        let gone = shell.run(&format!("attr rm {name} n --json"));
        assert_eq!((gone.code, gone.text()), (Some(1), ""));
    }
}

#[test]
fn a_picture_and_the_demo_are_documents() {
    let shell = Shell::new();
    shell.write("a.npy", &npy(&[4, 5]));
    let picture = "{\"schema\": 1, \"command\": \"cat\", \"path\": \"a.npy\", \"output\": \"a.png\", \
                   \"shape\": [4, 5]}\n";
    shell.run("cat a.npy --png a.png --json").is(picture, "", 0);
    assert!(shell.read("a.png").starts_with(b"\x89PNG"));
    let demo = document(&shell, "demo --json");
    let steps = list(&demo, "steps");
    assert_eq!(steps.len(), 7);
    let last = list(&steps[6], "said")[0].as_str().unwrap();
    assert!(last.contains("3172800 readings are there"), "{last}");
}

#[test]
fn another_form_than_json_is_refused() {
    let shell = Shell::new();
    shell.write("a.npy", &npy(&[2]));
    shell.write("t.csv", b"a\n1\n");
    shell.run("convert t.csv t.bcolz -q").is("", "", 0);
    shell.write("names", b"x\n");
    shell.run("pack names --varlen -q").is("", "", 0);
    for line in ["cat a.npy", "cat t.bcolz", "cat names.b2frame", "head a.npy"] {
        shell.run(&format!("{line} --json --format csv")).fails(
            2,
            "error: --json prints one document, --format csv is not one\n  help: leave one of the two out\n",
        );
        document(&shell, &format!("{line} --json --format json"));
    }
}

#[test]
fn verify_of_a_folder_has_one_shape() {
    let shell = Shell::with_frame();
    std::fs::create_dir(shell.path("d")).unwrap();
    for count in 0..3 {
        let document = document(&shell, "verify -r d --json");
        assert_eq!(list(&document, "files").len(), count);
        assert_eq!(document.get("good").and_then(Value::as_u64), Some(count as u64));
        std::fs::copy(shell.path("data.b2frame"), shell.path(&format!("d/{count}.b2frame")))
            .unwrap();
    }
    // One file that is named has its own document.
    let one = document(&shell, "verify d/0.b2frame --json");
    assert_eq!((one.get("files"), one.get("good")), (None, Some(&Value::Bool(true))));
}
