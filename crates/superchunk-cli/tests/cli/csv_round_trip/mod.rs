//! Random tables go from CSV through every table format and through JSON lines, and come back.
//!
//! [`random::Table`] makes each table with the value of every cell, so that the program is compared
//! with what was made and not only with itself.

mod random;

use superchunk::Json;
use superchunk_testkit::rng::Rng;

use crate::shell::Shell;
use random::Table;

/// How many tables are made.
const TABLES: u64 = 40;
/// How many are worked on at a time.
const THREADS: usize = 4;
/// The formats, each as an output of `convert`.
const FORMATS: [&str; 4] = ["made.bcolz", "made.blsk", "made.columns --to columns", "made.npy"];

#[test]
fn random_tables_come_back_from_every_format_with_every_value() {
    let tables: Vec<Table> =
        (0..TABLES).map(|seed| Table::random(seed, &mut Rng::new(seed))).collect();
    let cells: usize = tables.iter().map(Table::cell_count).sum();
    assert!(cells > 300 * tables.len(), "only {cells} cells were made");
    // A new table waits for the disk most of the time.
    std::thread::scope(|scope| {
        for some in tables.chunks(tables.len() / THREADS) {
            scope.spawn(|| some.iter().for_each(round_trip));
        }
    });
}

fn round_trip(table: &Table) {
    let shell = Shell::new();
    shell.write("first.csv", table.csv.as_bytes());
    let types = table.type_options();
    let mut second = None;
    for made in FORMATS {
        let name = made.split(' ').next().unwrap();
        convert(&shell, &format!("first.csv {made}"), &types);
        convert(&shell, &format!("{name} second.csv --to csv"), &[]);
        let text = String::from_utf8(shell.read("second.csv")).unwrap();
        check_csv(table, &text, made);
        let first = second.get_or_insert_with(|| text.clone());
        assert_eq!(text, *first, "table {}: {made} and {} differ", table.seed, FORMATS[0]);
    }
    convert(&shell, "second.csv again.blsk", &types);
    convert(&shell, "again.blsk third.csv", &[]);
    assert_eq!(String::from_utf8(shell.read("third.csv")).unwrap(), second.unwrap());
    if table.row_count() > 0 {
        check_json_lines(&shell, table);
    }
}

/// JSON lines have every value, and make the same table.
fn check_json_lines(shell: &Shell, table: &Table) {
    let lines = shell.run("cat made.bcolz --format jsonl").succeeds();
    check_json(table, lines.text());
    shell.write("made.jsonl", &lines.stdout);
    convert(shell, "made.jsonl lines.blsk", &table.type_options());
    convert(shell, "lines.blsk fourth.csv", &[]);
    assert_eq!(shell.read("fourth.csv"), shell.read("second.csv"), "table {}", table.seed);
}

fn convert(shell: &Shell, line: &str, options: &[String]) {
    let mut command = shell.command(&format!("convert {line} -f -q"));
    let output = command.args(options).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "convert {line} {options:?}: {words}");
}

fn check_csv(table: &Table, text: &str, made: &str) {
    let records = records(text);
    let place = format!("table {}, {made}", table.seed);
    let (headings, rows) = records.split_first().unwrap();
    assert_eq!(*headings, table.names(), "{place}");
    assert_eq!(rows.len(), table.row_count(), "{place}");
    for (row, cells) in rows.iter().enumerate() {
        assert_eq!(cells.len(), headings.len(), "{place}, row {row}");
        for (column, cell) in table.columns.iter().zip(cells) {
            let made = &column.cells[row];
            assert!(
                made.value.is_text(cell),
                "{place}, row {row}, {}: {made:?}, got {cell:?}",
                column.label()
            );
        }
    }
}

fn check_json(table: &Table, text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), table.row_count());
    for (row, line) in lines.iter().enumerate() {
        let object = Json::parse(line).unwrap();
        for column in &table.columns {
            let (cell, made) = (object.get(&column.name).unwrap(), &column.cells[row]);
            let place = format!("table {}, row {row}, {}", table.seed, column.label());
            assert!(made.value.is_json(cell), "{place}: {made:?}, got {cell:?}");
        }
    }
}

/// The records of a CSV text by RFC 4180, whose lines end with a line feed here.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut letters = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => record.push(std::mem::take(&mut cell)),
            '\n' if !is_quoted => {
                record.push(std::mem::take(&mut cell));
                records.push(std::mem::take(&mut record));
            }
            other => cell.push(other),
        }
    }
    assert!(cell.is_empty() && record.is_empty() && !is_quoted, "the last line has no end");
    records
}

#[test]
fn whole_numbers_that_floats_do_not_hold_stay_text() {
    let shell = Shell::new();
    // 2^53 + 1 beside an empty cell; a negative number beside the largest of 64 bits.
    shell.write("t.csv", b"a,b,c\n9007199254740993,-1,9007199254740992\n,18446744073709551615,\n");
    shell.run("convert t.csv t.bcolz -q").is("", "", 0);
    let csv = "a,b,c\n9007199254740993,-1,9007199254740992.0\n,18446744073709551615,nan\n";
    shell.run("cat t.bcolz --format csv").is(csv, "", 0);
}

#[test]
fn json_texts_stay_text_whatever_they_look_like() {
    let shell = Shell::new();
    let lines = "{\"code\": \"1e3\", \"flag\": \"true\", \"day\": \"2024-02-29\", \"n\": 1}\n\
                 {\"code\": \"12\", \"flag\": \"False\", \"day\": \"NaT\", \"n\": null}\n";
    shell.write("t.jsonl", lines.as_bytes());
    shell.run("convert t.jsonl t.bcolz -q").is("", "", 0);
    shell.run("cat t.bcolz --format csv").is(
        "code,flag,day,n\n1e3,true,2024-02-29,1.0\n12,False,NaT,nan\n",
        "",
        0,
    );
}
