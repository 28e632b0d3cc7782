//! Patterns over the words of a sentence, for what is only looked at, answered or asked: never for what is
//! done. `wait*` is a beginning, `is/are` is either, `..` is up to three words, `@` is a word that looks
//! like an action's id, `^` in front binds it to the beginning and `$` at the end to the end.

use super::verbs;

const GAP_MAX: usize = 3;

#[derive(Debug, Clone)]
pub(super) struct Pattern {
    is_first: bool,
    parts: Vec<PatternPart>,
}

#[derive(Debug, Clone)]
enum PatternPart {
    Gap,
    Id,
    End,
    /// Words, or beginnings of words.
    Word(Vec<(&'static str, bool)>),
}

impl Pattern {
    pub(super) fn parse(text: &'static str) -> Self {
        let text = text.trim();
        let (is_first, text) = match text.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let parts = text.split(' ').map(|part| match part {
            ".." => PatternPart::Gap,
            "@" => PatternPart::Id,
            "$" => PatternPart::End,
            words => PatternPart::Word(words.split('/').map(beginning).collect()),
        });
        Self {
            is_first,
            parts: parts.collect(),
        }
    }

    /// Several in one text, parted by bars.
    pub(super) fn parse_all(texts: &'static str) -> impl Iterator<Item = Self> {
        texts.split('|').map(Self::parse)
    }

    pub(super) fn is_in(&self, words: &[&str]) -> bool {
        let starts = if self.is_first { 1 } else { words.len() };
        (0..starts).any(|start| fits(&self.parts, words.get(start..).unwrap_or_default()))
    }

    /// The words that it is made of, whole ones only.
    pub(super) fn vocabulary(&self) -> impl Iterator<Item = &'static str> {
        let words = self.parts.iter().filter_map(|part| match part {
            PatternPart::Word(words) => Some(words),
            PatternPart::Gap | PatternPart::Id | PatternPart::End => None,
        });
        words.flatten().map(|(word, _)| *word)
    }
}

fn beginning(word: &'static str) -> (&'static str, bool) {
    match word.strip_suffix('*') {
        Some(stem) => (stem, true),
        None => (word, false),
    }
}

fn fits(parts: &[PatternPart], words: &[&str]) -> bool {
    let Some((part, rest)) = parts.split_first() else {
        return true;
    };
    if matches!(part, PatternPart::Gap) {
        return (0..=GAP_MAX.min(words.len()))
            .any(|skipped| fits(rest, words.get(skipped..).unwrap_or_default()));
    }
    let Some((word, after)) = words.split_first() else {
        return matches!(part, PatternPart::End);
    };
    let is_here = match part {
        PatternPart::Id => verbs::is_like_an_id(word),
        PatternPart::Word(known) => known.iter().any(|(known, is_stem)| match is_stem {
            true => word.starts_with(known),
            false => word == known,
        }),
        PatternPart::Gap | PatternPart::End => false,
    };
    is_here && fits(rest, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_found_where_it_says_and_nowhere_else() {
        for (pattern, said, is_in) in [
            ("wait*", "what waits for me", true),
            ("wait*", "await", false),
            ("take .. back", "take that back", true),
            ("take .. back", "take back", true),
            ("take .. back", "take one two three four back", false),
            ("^who", "who did it", true),
            ("^who", "tell me who", false),
            ("is/are up", "they are up", true),
            ("what .. @", "what is restart-caddy", true),
            ("what .. @", "what is well-known", false),
            ("is up", "is", false),
            ("is", "", false),
            ("^and $", "and", true),
            ("^and $", "and now", false),
        ] {
            let words: Vec<&str> = said.split_whitespace().collect();
            assert_eq!(
                Pattern::parse(pattern).is_in(&words),
                is_in,
                "{pattern}: {said}"
            );
        }
    }
}
