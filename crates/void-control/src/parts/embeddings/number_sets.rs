//! Sets of the numbers of documents, a bit for each: numbers are given out one after the other.

/// Further ones are in no set: so many texts are never written.
const NUMBER_MAX: u64 = 1 << 28;
const BITS: u64 = u64::BITS as u64;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NumberSet {
    words: Vec<u64>,
    count: usize,
}

impl NumberSet {
    pub(crate) fn insert(&mut self, number: u64) {
        let Some((word, bit)) = place(number) else {
            return;
        };
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        if let Some(word) = self.words.get_mut(word) {
            self.count += usize::from(*word & bit == 0);
            *word |= bit;
        }
    }

    pub(crate) fn remove(&mut self, number: u64) {
        let place = place(number);
        if let Some((word, bit)) = place
            && let Some(word) = self.words.get_mut(word)
        {
            self.count -= usize::from(*word & bit != 0);
            *word &= !bit;
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    /// What is in this set and in no other of these, in order.
    pub(crate) fn without(&self, others: &[&Self]) -> Vec<u64> {
        let mut rest = Vec::new();
        for (at, word) in (0_u64..).zip(&self.words) {
            let place = usize::try_from(at).unwrap_or(usize::MAX);
            let taken = others.iter().filter_map(|other| other.words.get(place));
            let mut left = word & !taken.fold(0, |all, one| all | one);
            while left != 0 {
                rest.push(at * BITS + u64::from(left.trailing_zeros()));
                left &= left - 1;
            }
        }
        rest
    }
}

fn place(number: u64) -> Option<(usize, u64)> {
    let word = usize::try_from(number / BITS).ok()?;
    (number < NUMBER_MAX).then_some((word, 1 << (number % BITS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u64]) -> NumberSet {
        let mut set = NumberSet::default();
        for number in numbers {
            set.insert(*number);
        }
        set
    }

    #[test]
    fn a_number_is_in_it_once_and_is_taken_out_once() {
        let mut numbers = set(&[5, 64, 5, 1_000, 0]);
        assert_eq!(numbers.len(), 4);
        numbers.remove(64);
        numbers.remove(64);
        numbers.remove(1 << 27);
        assert_eq!(numbers.without(&[]), [0, 5, 1_000]);
        assert_eq!(numbers.len(), 3);
    }

    #[test]
    fn what_is_left_is_in_no_other() {
        let all = set(&[1, 2, 63, 64, 65, 900]);
        assert_eq!(
            all.without(&[&set(&[2, 64]), &set(&[1, 4_000])]),
            [63, 65, 900]
        );
        assert_eq!(set(&[]).without(&[&all]), [] as [u64; 0]);
    }

    #[test]
    fn numbers_beyond_all_texts_are_in_no_set() {
        let mut numbers = set(&[NUMBER_MAX - 1, NUMBER_MAX, u64::MAX]);
        assert_eq!(numbers.len(), 1);
        numbers.remove(u64::MAX);
        assert_eq!(numbers.without(&[]), [NUMBER_MAX - 1]);
    }
}
