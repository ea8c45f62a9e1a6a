//! Fewer combinations of options that still hold every pair (or triple) of values.
//!
//! Faults of a codec usually depend on two or three options at a time. Of a full matrix, [`covering`] keeps
//! combinations until every group of `strength` values that occurs together in the matrix occurs
//! together in what is kept. [`is_full`] asks for the whole matrix instead.

use std::collections::BTreeSet;

use crate::rng::Rng;

/// Returns whether the variable `SUPERCHUNK_MATRIX` asks for whole matrices (`full`), as `cargo xtask
/// interop` does.
#[must_use]
pub fn is_full() -> bool {
    std::env::var_os("SUPERCHUNK_MATRIX").is_some_and(|value| value == "full")
}

/// Keeps combinations that cover all groups of `strength` values; `values` returns the value of
/// each option of a combination as a number. Keeps all if [`is_full`].
pub fn covering<T>(
    combinations: Vec<T>,
    strength: usize,
    values: impl Fn(&T) -> Vec<usize>,
) -> Vec<T> {
    if is_full() { combinations } else { thinned(combinations, strength, values) }
}

/// Keeps each combination that has a group of values which none before it has, in random order.
fn thinned<T>(combinations: Vec<T>, strength: usize, values: impl Fn(&T) -> Vec<usize>) -> Vec<T> {
    let mut rng = Rng::new(strength as u64);
    let mut shuffled: Vec<(u64, T)> =
        combinations.into_iter().map(|combination| (rng.next_u64(), combination)).collect();
    shuffled.sort_by_key(|(order, _)| *order);
    let mut covered = BTreeSet::new();
    let mut adds_a_group = |combination: &T| {
        let groups = groups(&values(combination), strength);
        groups.into_iter().filter(|group| covered.insert(group.clone())).count() > 0
    };
    shuffled.into_iter().map(|(_, combination)| combination).filter(|c| adds_a_group(c)).collect()
}

/// Returns every choice of `size` of the values, each with the number of its option.
fn groups(values: &[usize], size: usize) -> Vec<Vec<(usize, usize)>> {
    let mut groups = vec![Vec::new()];
    for (option, value) in values.iter().enumerate() {
        let with_value = groups.clone().into_iter().filter(|group| group.len() < size);
        let with_value: Vec<Vec<(usize, usize)>> = with_value
            .map(|mut group: Vec<(usize, usize)>| {
                group.push((option, *value));
                group
            })
            .collect();
        groups.extend(with_value);
    }
    groups.retain(|group| group.len() == size);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix() -> Vec<Vec<usize>> {
        let mut combinations = vec![Vec::new()];
        for count in [7, 5, 4, 3] {
            let longer = |start: Vec<usize>| (0..count).map(move |v| [&start[..], &[v]].concat());
            combinations = combinations.into_iter().flat_map(longer).collect();
        }
        combinations
    }

    #[test]
    fn every_group_of_the_matrix_is_covered_by_fewer_combinations() {
        for strength in [1, 2, 3] {
            let all = matrix();
            let kept = thinned(all.clone(), strength, Clone::clone);
            let of = |list: &[Vec<usize>]| -> BTreeSet<_> {
                list.iter().flat_map(|values| groups(values, strength)).collect()
            };
            assert_eq!(of(&kept), of(&all), "strength {strength}");
            assert!(kept.len() * 2 < all.len() * strength, "strength {strength}: {}", kept.len());
        }
    }

    #[test]
    fn groups_are_all_choices() {
        assert_eq!(groups(&[5, 6, 7], 2).len(), 3);
        assert_eq!(groups(&[5, 6], 2), [[(0, 5), (1, 6)]]);
        assert_eq!(groups(&[5], 2).len(), 0);
    }
}
