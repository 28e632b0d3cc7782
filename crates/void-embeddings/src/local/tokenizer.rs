//! Words become the pieces that the model knows, and those windows of the size that it was made for.

use super::vocabulary::Vocabulary;
use super::words::words;

/// Of one pass, with the marks of start and end.
pub const TOKENS_MAX: usize = 256;
/// What is behind them has no part in the vector: a chunk of this crate needs two or three.
pub const WINDOWS_MAX: usize = 8;
/// The reference takes longer words for unknown ones.
pub(super) const WORD_CHARS_MAX: usize = 100;
const CONTINUED: &str = "##";

pub(super) struct Tokenizer {
    vocabulary: Vocabulary,
    /// Without start and end.
    window_tokens: usize,
}

impl Tokenizer {
    /// `positions`: how many tokens the model can tell apart by where they stand; at least 3.
    pub(super) fn new(vocabulary: Vocabulary, positions: usize) -> Self {
        Self {
            vocabulary,
            window_tokens: TOKENS_MAX.min(positions).saturating_sub(2).max(1),
        }
    }

    /// Each with start and end; one that is otherwise empty for a text without words.
    pub(super) fn windows(&self, text: &str) -> Vec<Vec<u32>> {
        let tokens = self.tokens(text, self.window_tokens * WINDOWS_MAX);
        if tokens.is_empty() {
            return vec![self.framed(&[])];
        }
        let windows = tokens.chunks(self.window_tokens);
        windows.map(|window| self.framed(window)).collect()
    }

    fn framed(&self, tokens: &[u32]) -> Vec<u32> {
        let mut framed = Vec::with_capacity(tokens.len() + 2);
        framed.push(self.vocabulary.start);
        framed.extend_from_slice(tokens);
        framed.push(self.vocabulary.end);
        framed
    }

    fn tokens(&self, text: &str, count_max: usize) -> Vec<u32> {
        let mut tokens = Vec::new();
        for word in words(text) {
            self.pieces(&word, &mut tokens);
            if tokens.len() >= count_max {
                break;
            }
        }
        tokens.truncate(count_max);
        tokens
    }

    /// The longest piece that is known, then the longest of the rest. If any part is unknown, all of it is.
    fn pieces(&self, word: &str, tokens: &mut Vec<u32>) {
        let before = tokens.len();
        if word.chars().nth(WORD_CHARS_MAX).is_some() {
            tokens.push(self.vocabulary.unknown);
            return;
        }
        let mut rest = word;
        while !rest.is_empty() {
            let Some((number, bytes)) = self.longest(rest, rest.len() < word.len()) else {
                tokens.truncate(before);
                tokens.push(self.vocabulary.unknown);
                return;
            };
            tokens.push(number);
            rest = rest.get(bytes..).unwrap_or_default();
        }
    }

    /// Its number, and how many bytes of `rest` it is.
    fn longest(&self, rest: &str, is_continued: bool) -> Option<(u32, usize)> {
        let prefix = if is_continued { CONTINUED } else { "" };
        let key = format!("{prefix}{rest}");
        let ends = rest.char_indices().rev().map(|(at, c)| at + c.len_utf8());
        ends.map(|end| (key.get(..prefix.len() + end), end))
            .find_map(|(key, end)| Some((self.vocabulary.number(key?)?, end)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::FolderDigest;
    use super::super::vocabulary;
    use super::*;

    fn tokenizer(positions: usize) -> Tokenizer {
        let folder = tempfile::tempdir().unwrap();
        let words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\na\n##b\n!\n";
        std::fs::write(folder.path().join("vocab.txt"), words).unwrap();
        let vocabulary = vocabulary::read(folder.path(), &mut FolderDigest::default()).unwrap();
        Tokenizer::new(vocabulary, positions)
    }

    #[test]
    fn words_become_their_longest_known_pieces() {
        let tokenizer = tokenizer(512);
        assert_eq!(tokenizer.windows("Unaffable!"), [[2, 4, 5, 6, 9, 3]]);
        assert_eq!(tokenizer.windows("abb unaffabl a"), [[2, 7, 8, 8, 1, 7, 3]]);
        assert_eq!(tokenizer.windows(" "), [[2, 3]]);
        assert_eq!(
            tokenizer.windows("[SEP]"),
            [[2, 1, 1, 1, 3]],
            "text makes no marks"
        );
    }

    #[test]
    fn a_word_has_a_largest_length() {
        let tokenizer = tokenizer(512);
        let known = format!("a{}", "b".repeat(WORD_CHARS_MAX - 1));
        assert_eq!(tokenizer.windows(&known)[0].len(), WORD_CHARS_MAX + 2);
        assert_eq!(tokenizer.windows(&format!("{known}b")), [[2, 1, 3]]);
    }

    #[test]
    fn windows_have_a_largest_size_and_number() {
        let tokens = TOKENS_MAX - 2;
        let tokenizer = tokenizer(512);
        assert_eq!(tokenizer.windows(&"a ".repeat(tokens)).len(), 1);
        let two = tokenizer.windows(&"a ".repeat(tokens + 1));
        assert_eq!((two[0].len(), two[1].len()), (TOKENS_MAX, 3));
        for count in [tokens * WINDOWS_MAX, tokens * WINDOWS_MAX + 1, 1_000_000] {
            let most = tokenizer.windows(&"a ".repeat(count));
            assert_eq!(most.len(), WINDOWS_MAX);
            assert!(most.iter().all(|window| window.len() == TOKENS_MAX));
        }
    }

    #[test]
    fn a_model_with_few_positions_gets_small_windows() {
        let windows = tokenizer(5).windows("a a a a");
        assert_eq!(windows, [vec![2, 7, 7, 7, 3], vec![2, 7, 3]]);
    }
}
