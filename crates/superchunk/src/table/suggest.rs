//! Names that are spelled alike, for errors that help.

/// The longest name that is compared.
const LONGEST: usize = 64;

/// "; did you mean `close`?", or how to see what there is.
pub(crate) fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.take(10_000).collect();
    let lower = name.to_lowercase();
    let measured = known.iter().filter_map(|word| {
        let distance = distance(&lower, &word.to_lowercase())?;
        (distance <= lower.chars().count().min(9) / 3 + 1).then_some((distance, *word))
    });
    if let Some((_, word)) = measured.min_by_key(|(distance, _)| *distance) {
        return format!("; did you mean `{word}`?");
    }
    match known.as_slice() {
        [] => String::new(),
        few if few.len() <= 12 => format!("; there are {}", few.join(", ")),
        many => format!("; there are {} others", many.len()),
    }
}

/// How many letters must be put in, taken out, exchanged or swapped with their neighbour to make
/// one word of the other. `None` for words that are too long to be compared.
fn distance(a: &str, b: &str) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().max(b.len()) > LONGEST {
        return None;
    }
    let mut older: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (row, letter) in a.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other) in b.iter().enumerate() {
            let at = |line: &[usize], place: usize| line.get(place).copied();
            let changed = at(&above, column)? + usize::from(letter != other);
            let mut best = changed.min(at(&above, column + 1)? + 1).min(at(&line, column)? + 1);
            let swapped = row > 0
                && column > 0
                && a.get(row - 1) == Some(other)
                && b.get(column - 1) == Some(letter);
            if swapped {
                best = best.min(at(&older, column - 1)? + 1);
            }
            line.push(best);
        }
        (older, above) = (above, line);
    }
    above.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_told_and_a_far_one_is_not() {
        let names = ["open", "close", "volume"];
        assert_eq!(hint("clsoe", names.into_iter()), "; did you mean `close`?");
        assert_eq!(hint("Close", names.into_iter()), "; did you mean `close`?");
        assert_eq!(hint("x", names.into_iter()), "; there are open, close, volume");
        assert_eq!(hint("x", std::iter::empty()), "");
    }

    #[test]
    fn distances_count_changed_letters() {
        assert_eq!(distance("kitten", "sitting"), Some(3));
        assert_eq!(distance("ab", "ba"), Some(1));
        assert_eq!(distance("", "abc"), Some(3));
        assert_eq!(distance(&"x".repeat(100), "x"), None);
    }
}
