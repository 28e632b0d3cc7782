//! Several ranked lists become one: reciprocal rank fusion.
//!
//! Only ranks count, so lists whose scores mean different things (words, vectors) can be merged. The sum is
//! of whole numbers: it does not depend on the order of the lists, and ties are real ones, broken by the id.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How much the first ranks stand out; 60 is what the method's authors found and everybody uses.
const RANK_OFFSET: u64 = 60;
/// One, as a fixed-point number: ranks up to a million stay distinct, and a sum over any number of lists that
/// fits memory stays far from the end of `u64`.
const ONE: u64 = 1_000_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fused<Id> {
    pub id: Id,
    points: u64,
}

impl<Id> Fused<Id> {
    /// The score as the whole number that it is, to be told and compared without rounding.
    pub const fn points(&self) -> u64 {
        self.points
    }

    /// Above 0; up to `1 / 61` for each list.
    pub fn score(&self) -> f64 {
        self.points as f64 / ONE as f64
    }
}

/// The best `limit` of all lists, each of which begins with its best. An id that a list repeats counts there
/// once, by its first rank.
pub fn fuse<Id: Ord + Clone>(lists: &[&[Id]], limit: usize) -> Vec<Fused<Id>> {
    // By id: its points, and the last list that gave any.
    let mut points: BTreeMap<&Id, (u64, usize)> = BTreeMap::new();
    for (list_number, list) in lists.iter().enumerate() {
        for (id, rank) in list.iter().zip(1_u64..) {
            let (sum, last_list) = points.entry(id).or_insert((0, usize::MAX));
            if *last_list != list_number {
                *last_list = list_number;
                *sum = sum.saturating_add(ONE / (RANK_OFFSET + rank));
            }
        }
    }
    let fused = points.into_iter().map(|(id, (points, _))| (points, id));
    let mut fused: Vec<(u64, &Id)> = fused.collect();
    // Stable, and the map was sorted by id.
    fused.sort_by_key(|(points, _)| Reverse(*points));
    fused.truncate(limit);
    let owned = fused.into_iter().map(|(points, id)| Fused {
        id: id.clone(),
        points,
    });
    owned.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(lists: &[&[&'static str]], limit: usize) -> Vec<&'static str> {
        fuse(lists, limit).into_iter().map(|one| one.id).collect()
    }

    #[test]
    fn what_both_lists_name_comes_first() {
        let text = ["a", "b", "c"];
        let vectors = ["d", "c", "e"];
        assert_eq!(order(&[&text, &vectors], 10), ["c", "a", "d", "b", "e"]);
    }

    #[test]
    fn ties_are_broken_by_id_and_not_by_list() {
        let (one, two) = (["b", "d"], ["a", "c"]);
        assert_eq!(order(&[&one, &two], 10), ["a", "b", "c", "d"]);
        assert_eq!(order(&[&two, &one], 10), ["a", "b", "c", "d"]);
    }

    #[test]
    fn the_order_of_the_lists_changes_no_score() {
        let lists: [&[u32]; 3] = [&[1, 2, 3, 4, 5, 6, 7], &[7, 3, 9], &[4, 7, 1, 8]];
        let expected = fuse(&lists, 20);
        for turned in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let turned = turned.map(|at: usize| lists[at]);
            assert_eq!(fuse(&turned, 20), expected);
        }
        assert_eq!(expected.len(), 9);
        assert_eq!(expected[0].id, 7);
        let score = 1.0 / 67.0 + 1.0 / 61.0 + 1.0 / 62.0;
        assert!((expected[0].score() - score).abs() < 1e-9);
    }

    #[test]
    fn an_id_counts_once_in_a_list_by_its_first_rank() {
        assert_eq!(order(&[&["a", "b", "b", "b"]], 10), ["a", "b"]);
        let repeated = fuse(&[&["b", "a", "b"], &["b"]], 10);
        assert!((repeated[0].score() - 2.0 / 61.0).abs() < 1e-9);
    }

    #[test]
    fn far_ranks_still_differ() {
        let long: Vec<u32> = (0..200_000).rev().collect();
        let ids: Vec<u32> = fuse(&[&long], long.len())
            .iter()
            .map(|one| one.id)
            .collect();
        assert_eq!(ids, long);
    }

    #[test]
    fn nothing_gives_nothing_and_the_limit_holds() {
        assert!(order(&[], 10).is_empty());
        assert!(order(&[&[], &[]], 10).is_empty());
        assert_eq!(order(&[&["a", "b"]], 1), ["a"]);
        assert!(order(&[&["a", "b"]], 0).is_empty());
    }
}
