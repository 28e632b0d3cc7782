//! How well a text answers a query: one function for both engines and for everything that can be found, so the same texts
//! come in the same order wherever they are stored. As in BM25, a word that is said again counts less each time, less in a
//! long text, and more if few texts have it. A word of the title counts more than any number in the text.

use super::queries::{SearchQuery, SearchTerm};
use super::search_documents::WordSequence;
use super::words::words;
use crate::limits::SEARCH_RARITY_MAX;

const TITLE_WEIGHT: f64 = 3.0;
/// Beside that of its words, for a title that is what was typed.
const WHOLE_TITLE_WEIGHT: f64 = 2.0;
/// BM25's k1 and b, and the length of an ordinary text in words.
const SATURATION: f64 = 1.2;
const LENGTH_SHARE: f64 = 0.75;
const ORDINARY_WORDS: f64 = 300.0;
/// A score is a whole number of millionths, so that it is compared and told without rounding.
const SCORE_UNITS: f64 = 1_000_000.0;

/// How much a term counts: how many texts have it, up to [`SEARCH_RARITY_MAX`].
pub fn rarity(texts: u64) -> f64 {
    let most = f64::from(SEARCH_RARITY_MAX);
    let texts = u32::try_from(texts).unwrap_or(SEARCH_RARITY_MAX);
    (1.0 + most / f64::from(texts.max(1))).ln()
}

/// What is ranked.
#[derive(Debug, Clone, Copy)]
pub struct RankedText<'a> {
    pub title: &'a str,
    pub text: &'a WordSequence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranked {
    Score(u64),
    /// It has the words of a phrase, and not beside each other.
    No,
    /// It is not told by the part of the text that was given.
    Unknown,
}

/// `rarities`: of each wanted term, in order. That the text has the words is known from the index.
pub fn rank(query: &SearchQuery, rarities: &[f64], ranked: RankedText<'_>) -> Ranked {
    let title = words(ranked.title);
    let mut is_unknown = false;
    let mut score = 0.0;
    for (place, term) in query.wanted.iter().enumerate() {
        let mut said = count(term, ranked.text);
        let in_title = is_in(term, &title);
        if let (SearchTerm::Phrase(_), 0, false) = (term, said, in_title) {
            match ranked.text.is_cut() {
                true => is_unknown = true,
                false => return Ranked::No,
            }
        }
        // The index says that it is there: in a tag, in an address, or far below.
        said = said.max(1);
        let weight = rarities.get(place).copied().unwrap_or(1.0);
        score +=
            weight * (saturated(said, ranked.text.word_count()) + in_title_score(in_title, &title));
    }
    for term in &query.unwanted {
        if let SearchTerm::Phrase(_) = term {
            if count(term, ranked.text) > 0 || is_in(term, &title) {
                return Ranked::No;
            }
            is_unknown = is_unknown || ranked.text.is_cut();
        }
    }
    if is_what_was_typed(query, &title) {
        score += WHOLE_TITLE_WEIGHT;
    }
    match is_unknown {
        true => Ranked::Unknown,
        false => Ranked::Score(units(score)),
    }
}

/// For what has a name and no text: whether the name has every wanted term, and none that is unwanted. A name is looked for
/// while it is typed, so a word is enough that begins so.
pub fn rank_name(query: &SearchQuery, name: &str) -> Option<u64> {
    let title = words(name);
    if query.wanted.is_empty() || !query.tags.is_empty() {
        return None;
    }
    let begins = |term: &SearchTerm| match term {
        SearchTerm::Word(word) => title.iter().any(|one| one.starts_with(&**word)),
        SearchTerm::Prefix(_) | SearchTerm::Phrase(_) => is_in(term, &title),
    };
    if !query.wanted.iter().all(begins) || query.unwanted.iter().any(|term| is_in(term, &title)) {
        return None;
    }
    let mut score = 0.0;
    for _ in &query.wanted {
        score += saturated(1, 0) + in_title_score(true, &title);
    }
    if is_what_was_typed(query, &title) {
        score += WHOLE_TITLE_WEIGHT;
    }
    Some(units(score))
}

fn count(term: &SearchTerm, text: &WordSequence) -> u64 {
    match term {
        SearchTerm::Word(word) => text.count_of(word),
        // Numbers do not tell how a word begins.
        SearchTerm::Prefix(_) => 0,
        SearchTerm::Phrase(words) => text.count_of_phrase(words),
    }
}

fn is_in(term: &SearchTerm, title: &[String]) -> bool {
    match term {
        SearchTerm::Word(_) | SearchTerm::Prefix(_) => title.iter().any(|word| term.has(word)),
        SearchTerm::Phrase(words) => title.windows(words.len()).any(|run| run == words),
    }
}

fn is_what_was_typed(query: &SearchQuery, title: &[String]) -> bool {
    let typed: usize = query.wanted.iter().map(word_count).sum();
    typed == title.len()
        && !query.wanted.is_empty()
        && query.wanted.iter().all(|term| is_in(term, title))
}

const fn word_count(term: &SearchTerm) -> usize {
    match term {
        SearchTerm::Word(_) | SearchTerm::Prefix(_) => 1,
        SearchTerm::Phrase(words) => words.len(),
    }
}

/// From 0 to 1.
fn saturated(said: u64, words: u64) -> f64 {
    let (said, words) = (lossy(said), lossy(words));
    let length = 1.0 - LENGTH_SHARE + LENGTH_SHARE * words / ORDINARY_WORDS;
    said / (said + SATURATION * length)
}

/// A short title is more about its words than a long one.
fn in_title_score(is_in_title: bool, title: &[String]) -> f64 {
    match is_in_title {
        true => TITLE_WEIGHT * (1.0 + 1.0 / lossy(title.len() as u64)),
        false => 0.0,
    }
}

/// Counts of words are far below what a float holds exactly.
fn lossy(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a sum of a few positive numbers, each below a hundred"
)]
fn units(score: f64) -> u64 {
    (score * SCORE_UNITS).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(query: &str, title: &str, text: &str) -> Ranked {
        let query = SearchQuery::parse(query).unwrap();
        let rarities = vec![1.0; query.wanted.len()];
        let text = &WordSequence::of_all(text);
        rank(&query, &rarities, RankedText { title, text })
    }

    fn better(query: &str, one: (&str, &str), other: (&str, &str)) {
        let (Ranked::Score(a), Ranked::Score(b)) =
            (score(query, one.0, one.1), score(query, other.0, other.1))
        else {
            panic!("{query}: {one:?} {other:?}");
        };
        assert!(a > b, "{query}: {one:?} {a}, {other:?} {b}");
    }

    #[test]
    fn what_is_about_it_comes_first() {
        let filler = "word ".repeat(500);
        let again = "dns ".repeat(50);
        better("dns", ("x", "dns and dns"), ("x", "dns and more"));
        better("dns", ("DNS", ""), ("x", &again));
        better("dns", ("DNS", "dns"), ("The DNS of the lab", "dns"));
        better("dns", ("x", "dns"), ("x", &format!("dns {filler}")));
        better("d\u{14d}ns*", ("Donsol", ""), ("x", "donsol donsol"));
        better("\"a b\"", ("x", "a b a b"), ("x", "a b"));
        assert!(rarity(1) > rarity(10) && rarity(10) > rarity(1_000));
        assert!((rarity(0) - rarity(1)).abs() < f64::EPSILON);
        assert!(
            (rarity(5_000_000_000) - rarity(u64::from(SEARCH_RARITY_MAX))).abs() < f64::EPSILON
        );
    }

    #[test]
    fn a_phrase_is_beside_each_other_or_not_at_all() {
        assert_eq!(score("\"a b\"", "x", "b a"), Ranked::No);
        assert_eq!(score("x -\"a b\"", "x", "x a b"), Ranked::No);
        assert_eq!(score("x -\"a b\"", "a b", "x"), Ranked::No);
        assert!(matches!(score("x -\"a b\"", "x", "b a"), Ranked::Score(_)));
        let query = SearchQuery::parse("\"a b\"").unwrap();
        let text = &WordSequence::stored(
            vec![7; crate::limits::SEARCH_SEQUENCE_WORDS_MAX * 4],
            1_000_000,
        )
        .unwrap();
        let cut = RankedText { title: "x", text };
        assert_eq!(rank(&query, &[1.0], cut), Ranked::Unknown);
        assert!(matches!(
            rank(&query, &[1.0], RankedText { title: "a b", text }),
            Ranked::Score(_)
        ));
    }

    #[test]
    fn a_name_is_found_while_it_is_typed() {
        let find =
            |query: &str| rank_name(&SearchQuery::parse(query).unwrap(), "Jellyfin media-server");
        assert!(find("jelly").is_some() && find("media serv").is_some());
        assert!(find("jellyfin media server") > find("jellyfin"));
        for query in [
            "fin",
            "jelly -media",
            "tag:jelly",
            "kind:service",
            "tag:a jelly",
            "\"jelly fin\"",
        ] {
            assert_eq!(find(query), None, "{query}");
        }
    }
}
