//! Pairs of commands on one container: both take effect, one after the other.

use crate::arena::Race;

const FRAME: &str = "superchunk pack ../in/data --dtype '<u4' -z 8K -c lz4 -m unit=K -o {}";

fn on_frame(other: &str) -> Race {
    // Attributes that were replaced leave dead space, which `repack` drops.
    let make = [FRAME, "superchunk attr set {} unit m", "superchunk attr set {} unit kg"];
    Race::new("data.b2frame", &make, ["append {} ../in/one", other])
}

/// Both appends succeed in at least 95 of 100 rounds: a writer waits for the other one.
#[track_caller]
fn both_append(race: &Race) {
    let (both, rounds) = race.run();
    assert!(both * 100 >= rounds * 95, "both succeeded in only {both} of {rounds} rounds");
}

#[test]
fn two_appends_to_a_frame_are_both_kept() {
    both_append(&on_frame("append {} ../in/two"));
}

#[test]
fn an_append_survives_repack() {
    on_frame("repack {}").run();
}

#[test]
fn an_append_survives_repack_with_another_codec() {
    on_frame("repack {} -c zstd").run();
}

#[test]
fn an_append_and_an_attribute_are_both_kept() {
    on_frame("attr set {} note 7").run();
}

#[test]
fn an_append_comes_before_or_after_convert() {
    on_frame("convert -f ../in/other.b2frame {}").run();
}

#[test]
fn an_append_comes_before_or_after_salvage() {
    on_frame("salvage -f ../in/damaged.b2frame -o {}").run();
}

#[test]
fn an_append_comes_before_or_after_pack() {
    on_frame("pack -f ../in/two --dtype <u4 -z 8K -o {}").run();
}

#[test]
fn two_appends_to_a_sparse_frame_are_both_kept() {
    let make = "superchunk pack ../in/data --sparse --dtype '<u4' -z 8K -o {}";
    let lines = ["append {} ../in/one", "append {} ../in/two"];
    both_append(&Race::new("data.sparse", &[make], lines));
}

#[test]
fn two_appends_to_a_bloscpack_file_are_both_kept() {
    let make = "superchunk pack ../in/data --dtype '<u4' -z 8K -o {}";
    let lines = ["append {} ../in/one", "append {} ../in/two"];
    both_append(&Race::new("data.blp", &[make], lines));
}

#[test]
fn two_appends_to_a_bcolz_table_are_both_kept() {
    let lines = ["append {} ../in/one.csv", "append {} ../in/two.csv"];
    both_append(&Race::new("rows.bcolz", &["superchunk convert ../in/rows.csv {}"], lines));
}

#[test]
fn two_appends_to_a_blsk_table_are_both_kept() {
    let lines = ["append {} ../in/one.csv", "append {} ../in/two.csv"];
    both_append(&Race::new("rows.blsk", &["superchunk convert ../in/rows.csv {}"], lines));
}

/// The commands of a race on a folder of columns.
fn on_columns(lines: [&str; 2]) -> Race {
    let make = ["superchunk convert ../in/rows.csv {} --to columns", "superchunk attr set {} a 1"];
    Race::new("columns", &make, lines)
}

#[test]
fn two_appends_to_a_folder_of_columns_are_both_kept() {
    both_append(&on_columns(["append {} ../in/one.csv", "append {} ../in/two.csv"]));
}

#[test]
fn an_append_to_a_folder_of_columns_survives_repack() {
    on_columns(["append {} ../in/one.csv", "repack {} -c zstd"]).run();
}

#[test]
fn an_append_and_an_attribute_of_a_folder_of_columns_are_both_kept() {
    on_columns(["append {} ../in/one.csv", "attr set {} note 7"]).run();
}

#[test]
fn an_append_to_a_folder_of_columns_keeps_an_attribute_of_a_column() {
    both_append(&on_columns(["append {} ../in/one.csv", "attr set {}/price.b2nd note 7"]));
}

#[test]
fn a_repack_of_a_bcolz_table_keeps_an_attribute_of_a_column() {
    let lines = ["repack {} -c zstd", "attr set {}/price note 7"];
    both_append(&Race::new("rows.bcolz", &["superchunk convert ../in/rows.csv {}"], lines));
}

#[test]
fn an_append_to_a_bcolz_table_and_an_attribute_of_a_column_are_both_kept() {
    let lines = ["append {} ../in/one.csv", "attr set {}/price note 7"];
    both_append(&Race::new("rows.bcolz", &["superchunk convert ../in/rows.csv {}"], lines));
}

#[test]
fn an_append_to_a_bcolz_table_survives_repack() {
    let lines = ["append {} ../in/one.csv", "repack {} -c zstd"];
    Race::new("rows.bcolz", &["superchunk convert ../in/rows.csv {}"], lines).run();
}

#[test]
fn an_append_to_a_blsk_table_survives_repack() {
    let lines = ["append {} ../in/one.csv", "repack {} -c zstd"];
    Race::new("rows.blsk", &["superchunk convert ../in/rows.csv {}"], lines).run();
}
