//! Tables of bcolz: what is in them, by rows, columns and conditions.

use std::path::Path;

use superchunk_testkit::legacy_peer::{ColumnParams, LegacyPeer};

use crate::shell::Shell;

/// A table that bcolz makes of five days.
fn quotes() -> (Shell, LegacyPeer) {
    let (shell, mut peer) = (Shell::new(), LegacyPeer::spawn());
    let day: Vec<u8> = (0..5u32).flat_map(|day| (86_400 * day).to_le_bytes()).collect();
    let bytes = |values: [f64; 5]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let (open, close) =
        (bytes([10.0, 11.5, 11.0, 12.0, 13.0]), bytes([11.5, 11.0, 12.25, 13.0, f64::NAN]));
    let volume: Vec<u8> =
        [1500i64, 900, 2_000_000, 3_000_000, 7].iter().flat_map(|v| v.to_le_bytes()).collect();
    let columns: [(&str, &str, &[u8]); 5] = [
        ("day", "<u4", &day),
        ("open", "<f8", &open),
        ("close", "<f8", &close),
        ("volume", "<i8", &volume),
        ("who", "|S4", b"ab\0\0c,d\0e\"f\0\0\0\0\0ghij"),
    ];
    peer.bcolz_make_table(&shell.path("quotes.bcolz"), 4, &columns).unwrap();
    (shell, peer)
}

#[test]
fn rows_that_meet_a_condition_are_shown_by_columns() {
    let (shell, mut peer) = quotes();
    let condition = "close > open and volume > 1e6";
    let said = shell.run_with("cat quotes.bcolz --cols day,close --where", condition);
    said.is("   day  close\n172800  12.25\n259200   13.0\n", "", 0);
    let count =
        peer.bcolz_count_where(&shell.path("quotes.bcolz"), "(close > open) & (volume > 1e6)");
    assert_eq!(count.unwrap(), 2);
    let said = shell.run_with("head -n 1 quotes.bcolz --cols day --format csv --where", condition);
    said.is("day\n172800\n", "", 0);
    let none = shell.run_with("cat quotes.bcolz --cols day --format json --where", "day > 9e9");
    none.is("[]\n", "", 0);
}

#[test]
fn rows_are_added_up_by_groups() {
    let (shell, _peer) = quotes();
    let said = shell.run("cat quotes.bcolz --agg sum(volume),mean(open),max(close) --format csv");
    said.is("count,sum(volume),mean(open),max(close)\n5,5002407,11.5,13.0\n", "", 0);
    let said = shell.run_with(
        "cat quotes.bcolz@:4 --agg count,min(day) --by who --format csv --where",
        "close > open",
    );
    said.is("who,count,min(day)\nab,1,0\n\"e\"\"f\",1,172800\n,1,259200\n", "", 0);
    let said = shell.run("cat quotes.bcolz --agg sum(volume) --cols sum(volume)/1000");
    said.is("sum(volume)\n   5002.407\n", "", 0);
    for (options, words) in [
        ("--agg median(volume)", "`median` is no measure"),
        ("--agg sum(price)", "price"),
        ("--agg sum(who)", "needs a column of numbers or times"),
        ("--by price", "price"),
    ] {
        let said = shell.run(&format!("cat quotes.bcolz {options}"));
        assert!(said.code == Some(2) && said.stderr.contains(words), "{options}: {}", said.stderr);
    }
}

#[test]
fn every_form_shows_the_same_rows() {
    let (shell, _peer) = quotes();
    let cases = [
        ("table", "day  open  close  who\n  0  10.0   11.5  ab\n86400  11.5   11.0  c,d\n"),
        ("csv", "day,open,close,who\n0,10.0,11.5,ab\n86400,11.5,11.0,\"c,d\"\n"),
        (
            "json",
            "[{\"day\": 0, \"open\": 10.0, \"close\": 11.5, \"who\": \"ab\"}, \
             {\"day\": 86400, \"open\": 11.5, \"close\": 11.0, \"who\": \"c,d\"}]\n",
        ),
        (
            "jsonl",
            "{\"day\": 0, \"open\": 10.0, \"close\": 11.5, \"who\": \"ab\"}\n\
             {\"day\": 86400, \"open\": 11.5, \"close\": 11.0, \"who\": \"c,d\"}\n",
        ),
        (
            "md",
            "| day | open | close | who |\n| ---: | ---: | ---: | --- |\n\
             | 0 | 10.0 | 11.5 | ab |\n| 86400 | 11.5 | 11.0 | c,d |\n",
        ),
    ];
    for (form, expected) in cases {
        let said =
            shell.run(&format!("cat quotes.bcolz@:2 --cols day,open,close,who --format {form}"));
        // Widths are those of the widest cell.
        let wide = expected.replace("day  open", "  day  open").replace("  0  10.0", "    0  10.0");
        said.is(if form == "table" { &wide } else { expected }, "", 0);
    }
    let said = shell.run("cat quotes.bcolz@-1 --cols close --json").succeeds();
    assert_eq!(said.text(), "[{\"close\": {\"$float\": \"nan\"}}]\n");
}

#[test]
fn numbers_are_shown_as_what_they_stand_for() {
    let (shell, _peer) = quotes();
    let cols = "day:datetime64[s],volume/1000,open*2";
    let said = shell.run_with("cat quotes.bcolz@1:3 --format csv --cols", cols);
    said.is("day,volume,open\n1970-01-02T00:00:00,0.9,23\n1970-01-03T00:00:00,2000,22\n", "", 0);
    shell.run("cat quotes.bcolz::volume@::2 --format csv").is("volume\n1500\n2000000\n7\n", "", 0);
}

#[test]
fn a_table_tells_its_columns_and_attributes() {
    let (shell, mut peer) = quotes();
    let place = "Mars".into();
    peer.bcolz_set_attr(&shell.path("quotes.bcolz"), "place", &place).unwrap();
    let said = shell.run("info quotes.bcolz").succeeds();
    assert!(said.text().starts_with("quotes.bcolz: bcolz table"), "{}", said.text());
    for part in ["5, 5 columns", "place = \"Mars\"", "close   <f8   one value             4"] {
        assert!(said.text().contains(part), "no {part} in {}", said.text());
    }
    let document = shell.run("info --json quotes.bcolz").succeeds().json().to_json();
    for part in [
        r#""format": "bcolz table""#,
        r#""rows": 5"#,
        r#""name": "volume", "dtype": "<i8", "row_shape": [], "chunk_rows": 4"#,
        r#""metadata": {"place": "Mars"}"#,
    ] {
        assert!(document.contains(part), "no {part} in {document}");
    }
    let listed = shell.run("ls").succeeds();
    assert!(listed.text().contains("5 rows, 5 columns  quotes.bcolz"), "{}", listed.text());
}

#[test]
fn an_array_is_a_table_of_values() {
    let (shell, mut peer) = (Shell::new(), LegacyPeer::spawn());
    let params = ColumnParams {
        dtype: "<i2".to_owned(),
        row_shape: vec![2],
        chunk_len: 2,
        codec: "lz4",
        level: 5,
        shuffle: 1,
        default: 0.into(),
    };
    let bytes: Vec<u8> = (0..6i16).flat_map(i16::to_le_bytes).collect();
    peer.bcolz_make_array(&shell.path("pairs"), &params, &bytes).unwrap();
    shell.run("cat pairs@1: --format csv").is("values\n\"[2, 3]\"\n\"[4, 5]\"\n", "", 0);
    let said = shell.run("info pairs").succeeds();
    assert!(said.text().contains("3, 1 column\n"), "{}", said.text());
    assert!(said.text().contains("values  <i2     2             2"), "{}", said.text());
}

#[test]
fn what_makes_no_sense_is_said() {
    let (shell, _peer) = quotes();
    shell.run("cat quotes.bcolz --cols day,nope").fails(
        2,
        "error: there is no column `nope`\n  help: the columns are day, open, close, volume, who\n",
    );
    shell.run("cat quotes.bcolz::nope").fails(
        2,
        "error: `quotes.bcolz` has no column called `nope`\n  help: it has day, open, close, volume, \
         who\n",
    );
    let unclear = shell.run_with("cat quotes.bcolz --where", "close >");
    assert_eq!(unclear.code, Some(2), "{}", unclear.stderr);
    let unknown = shell.run_with("cat quotes.bcolz --where", "clos > 1");
    assert!(unknown.stderr.contains("`clos`"), "{}", unknown.stderr);
    assert_eq!(shell.run("cat quotes.bcolz --format hex").code, Some(2));
    shell.write("plain", b"12345678");
    shell.run("cat plain --cols a").fails(
        4,
        "error: `plain` is not a table: it has the marks of no known format\n  \
         help: `superchunk pack plain -o OUT.b2frame` makes a frame of it\n",
    );
    std::fs::remove_file(shell.path("quotes.bcolz/close/data/__0.blp")).unwrap();
    let broken = shell.run("cat quotes.bcolz");
    assert!(broken.code == Some(3) || broken.code == Some(5), "{:?}", broken.code);
    assert!(broken.stderr.contains("__0.blp"), "{}", broken.stderr);
    shell.run("cat quotes.bcolz@1 --cols day --format csv").is("day\n86400\n", "", 0);
}

#[test]
fn zipline_prices_are_shown_right() {
    let Some(vectors) = std::env::var_os("SUPERCHUNK_VECTORS") else { return };
    let bundle = Path::new(&vectors).join("legacy/wild/zipline-2016-daily_equities.bcolz");
    let shell = Shell::new();
    let line = format!("cat {}@:2 --format csv --cols", bundle.display());
    let said = shell.run_with(&line, "id,day:datetime64[s],open/1000,close/1000,volume");
    // The file holds 15100 thousandths of a dollar.
    said.is(
        "id,day,open,close,volume\n0,2004-01-02T00:00:00,15.1,14.86,8220700\n\
         0,2004-01-05T00:00:00,15.05,15.2,9156000\n",
        "",
        0,
    );
    let line = format!("cat {} --cols day:datetime64[s],close/1000 --where", bundle.display());
    let asset = shell.run_with(&line, "id == 3 and close > 0").succeeds();
    let lines: Vec<&str> = asset.text().lines().collect();
    // What NumPy finds in the arrays that bcolz gives.
    assert_eq!(lines.len(), 1 + 2494);
    let cells = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(cells(lines[1]), "2004-01-02T00:00:00 34.29");
    assert_eq!(cells(lines[2494]), "2013-10-29T00:00:00 13.86");
    let listed = shell.run(&format!("ls {}", bundle.display())).succeeds();
    assert!(listed.text().contains("24646 rows, 7 columns"), "{}", listed.text());
}
