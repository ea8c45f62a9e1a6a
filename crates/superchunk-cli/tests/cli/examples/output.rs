//! Compares an output that a document shows with the one of the program.
//!
//! Both have the same text. Only sizes (`2.52 MB`, `100 bytes`, `ratio 3.17`), which change with
//! every better encoder, may differ by a tenth, and the speed that long work reports at the end of
//! a line (`, 16 MB/s`) is left out.

/// Whether an output is what a document shows, except for sizes.
pub(super) fn is_alike(shown: &str, said: &str) -> bool {
    let (shown_text, shown_sizes) = without_sizes(shown.trim_end());
    let (said_text, said_sizes) = without_sizes(&without_speeds(said.trim_end()));
    let is_near = |(shown, said): (&f64, &f64)| (shown - said).abs() <= 0.1 * shown.abs();
    shown_text == said_text && shown_sizes.iter().zip(&said_sizes).all(is_near)
}

fn without_speeds(text: &str) -> String {
    let line = |line: &str| match line.strip_suffix(" MB/s").and_then(|line| line.rsplit_once(", "))
    {
        Some((before, speed)) if digits(speed) == speed.len() => before.to_owned(),
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A text with `#` in the place of each size, and the sizes.
fn without_sizes(text: &str) -> (String, Vec<f64>) {
    let words: Vec<&str> = text.split(' ').collect();
    let mut sizes = Vec::new();
    let mut kept = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let is_size = ["B", "kB", "MB", "GB", "bytes"].contains(&first_word(next))
            || (at > 0 && words[at - 1] == "ratio");
        let (number, rest) = word.split_at(digits(word));
        match number.parse::<f64>() {
            Ok(size) if is_size => {
                sizes.push(size);
                kept.push(format!("#{rest}"));
            }
            _ => kept.push((*word).to_owned()),
        }
    }
    (kept.join(" "), sizes)
}

/// A word up to a comma or the end of its line.
fn first_word(word: &str) -> &str {
    word.split([',', '\n', ';', ')']).next().unwrap_or_default()
}

fn digits(word: &str) -> usize {
    word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len())
}

#[test]
fn only_sizes_may_differ_by_a_tenth() {
    let shown = "a -> b: 8.00 MB -> 2.52 MB, ratio 3.17\n2 of 4 good\n";
    assert!(is_alike(shown, "a -> b: 8.00 MB -> 2.40 MB, ratio 3.33\n2 of 4 good\n"));
    assert!(is_alike(shown, "a -> b: 8.00 MB -> 2.52 MB, ratio 3.17, 16 MB/s\n2 of 4 good\n"));
    for other in [
        "a -> b: 8.00 MB -> 2.20 MB, ratio 3.17\n2 of 4 good\n",
        "a -> b: 8.00 MB -> 2.52 MB, ratio 2.17\n2 of 4 good\n",
        "a -> b: 8.00 MB -> 2.52 kB, ratio 3.17\n2 of 4 good\n",
        "a -> b: 8.00 MB -> 2.52 MB, ratio 3.17\n3 of 4 good\n",
        "a -> b: 8.00 MB -> 2.52 MB, ratio 3.17\n",
    ] {
        assert!(!is_alike(shown, other), "{other}");
    }
}
