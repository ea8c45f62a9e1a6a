//! The strings: sentences, addresses, log lines, hexadecimal numbers and nothing at all, 0 to 200 bytes.

use std::path::Path;

use superchunk_testkit::rng::Rng;

use crate::contestant::Answer;

/// The longest string.
const LONGEST: usize = 200;
/// How many different words there are.
const WORDS: usize = 20_000;

/// So many strings, always the same.
pub(super) fn make(count: usize) -> Vec<String> {
    let mut rng = Rng::new(2026);
    let words: Vec<String> = (0..WORDS).map(|_| word(&mut rng)).collect();
    (0..count).map(|number| string(&mut rng, &words, number)).collect()
}

/// Writes each string behind its length of 32 bits.
pub(super) fn save(strings: &[String], path: &Path) -> Answer<()> {
    let mut bytes = Vec::new();
    for string in strings {
        let len = u32::try_from(string.len()).map_err(|e| e.to_string())?;
        bytes.extend(len.to_le_bytes());
        bytes.extend_from_slice(string.as_bytes());
    }
    std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}

fn word(rng: &mut Rng) -> String {
    let letters = ["e", "t", "a", "o", "i", "n", "s", "h", "r", "d", "l", "u", "c", "m", "ü", "é"];
    (0..2 + rng.index(10)).filter_map(|_| letters.get(rng.index(letters.len()))).copied().collect()
}

/// A word; common ones are common.
fn common<'w>(rng: &mut Rng, words: &'w [String]) -> &'w str {
    // Zipf's law, by the inverse of its continuous distribution.
    let rank = (words.len() as f64).powf(rng.unit());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1")]
    let at = rank as usize - 1;
    words.get(at).map_or("", String::as_str)
}

fn string(rng: &mut Rng, words: &[String], number: usize) -> String {
    let len = rng.index(LONGEST + 1);
    let mut text = match rng.index(20) {
        0..10 => sentence(rng, words, len),
        10..14 => {
            let (place, page) = (common(rng, words), common(rng, words));
            let id = rng.below(10_000_000);
            format!("https://example.org/{place}/{page}?id={id}&page={}", rng.index(50))
        }
        14..17 => {
            let (hour, minute, second) =
                (number / 36_000 % 24, number / 600 % 60, number / 10 % 60);
            let (host, rest) = (rng.index(40), sentence(rng, words, len / 2));
            let millis = rng.index(1000);
            format!(
                "2026-11-16T{hour:02}:{minute:02}:{second:02}.{millis:03}Z host{host} INFO {rest}"
            )
        }
        17..19 => format!("{:016x}{:016x}", rng.next_u64(), rng.next_u64()),
        _ => String::new(),
    };
    shorten(&mut text, LONGEST);
    text
}

fn sentence(rng: &mut Rng, words: &[String], len: usize) -> String {
    let mut text = String::new();
    while text.len() < len {
        text.push_str(common(rng, words));
        text.push(' ');
    }
    shorten(&mut text, len);
    text
}

/// Cuts a text to at most so many bytes, between two letters.
fn shorten(text: &mut String, len: usize) {
    let end = (0..=len.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.truncate(end.unwrap_or(0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_have_all_lengths_and_are_always_the_same() {
        let strings = make(5000);
        assert!(strings == make(5000));
        assert!(strings.iter().any(String::is_empty));
        let longest = strings.iter().map(String::len).max().unwrap();
        assert!((195..=LONGEST).contains(&longest), "{longest}");
        let mean = strings.iter().map(String::len).sum::<usize>() / strings.len();
        assert!((60..120).contains(&mean), "{mean}");
        // Common words are common, and rare ones exist.
        let all = strings.concat();
        let different: std::collections::BTreeSet<&str> = all.split(' ').collect();
        assert!(different.len() > 5000, "{}", different.len());
    }
}
