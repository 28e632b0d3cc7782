//! Every form of a query, and texts that mean harm.

use super::*;

fn parsed(text: &str) -> SearchQuery {
    SearchQuery::parse(text).unwrap()
}

fn word(text: &str) -> SearchTerm {
    SearchTerm::Word(text.to_owned())
}

fn prefix(text: &str) -> SearchTerm {
    SearchTerm::Prefix(text.to_owned())
}

fn phrase(text: &str) -> SearchTerm {
    SearchTerm::Phrase(text.split(' ').map(str::to_owned).collect())
}

#[test]
fn a_query_has_words_phrases_prefixes_and_filters() {
    let query = parsed(
        "Größe \"the old NAS\" back* kind:page tag:#Net/DNS -draft -\"of no\" -kind:ref -tag:old -do*",
    );
    assert_eq!(
        query,
        SearchQuery {
            wanted: vec![word("grosse"), phrase("the old nas"), prefix("back")],
            unwanted: vec![word("draft"), phrase("of no"), prefix("do")],
            kinds: vec![SearchKind::Page],
            unwanted_kinds: vec![SearchKind::Ref],
            tags: vec!["net/dns".to_owned()],
            unwanted_tags: vec!["old".to_owned()],
        }
    );
    assert!(query.has_phrase());
    assert!(query.may_be(SearchKind::Page) && !query.may_be(SearchKind::Task));
}

#[test]
fn what_is_no_word_is_nothing_and_what_joins_words_is_a_phrase() {
    for (text, expected) in [
        ("192.168.1.1", vec![phrase("192 168 1 1")]),
        ("a-b", vec![phrase("a b")]),
        ("\"one\"", vec![word("one")]),
        ("\"never closed", vec![phrase("never closed")]),
        ("foo-ba*", vec![word("foo"), prefix("ba")]),
        ("b*", vec![word("b")]),
        ("foo.*", vec![word("foo")]),
        ("twice twice", vec![word("twice")]),
        ("日本", vec![phrase("日 本")]),
        ("kind:nothing", vec![phrase("kind nothing")]),
        ("kind:", vec![word("kind")]),
        ("tag:", vec![word("tag")]),
        ("* ** \"\" - -- -\"\" ()", vec![]),
    ] {
        assert_eq!(parsed(text).wanted, expected, "{text}");
    }
    for text in ["", "  ", "-only", "-tag:x", "\0\u{202e}", "***"] {
        assert!(parsed(text).is_empty(), "{text:?}");
    }
}

/// The grammars of both engines, told as words.
#[test]
fn no_text_is_an_expression() {
    for text in [
        "a AND b OR NOT c NEAR(d, 2)",
        "title:x {a b}: ^c + d",
        "'); DROP TABLE pages; --",
        "a & b | !c <-> d:*A",
        "\\'\\\\ \"a\"\"b\"",
        "^\"x\" * ",
    ] {
        let query = parsed(text);
        let mut all = Vec::new();
        for term in query.wanted.iter().chain(&query.unwanted) {
            match term {
                SearchTerm::Word(word) | SearchTerm::Prefix(word) => all.push(word),
                SearchTerm::Phrase(words) => all.extend(words),
            }
        }
        assert!(!all.is_empty(), "{text}");
        for word in all {
            assert!(word.chars().all(char::is_alphanumeric), "{text}: {word}");
        }
    }
    assert_eq!(parsed("tag:a\"b'c|d").tags, ["abcd"]);
}

#[test]
fn a_query_is_bounded() {
    let many = |count: usize| (0..count).map(|n| format!("w{n} ")).collect::<String>();
    assert!(SearchQuery::parse(&many(SEARCH_QUERY_WORDS_MAX)).is_ok());
    let error = SearchQuery::parse(&many(SEARCH_QUERY_WORDS_MAX + 1)).unwrap_err();
    assert_eq!(error, InvalidQuery::TooManyWords);
    let long = "x".repeat(SEARCH_QUERY_BYTES_MAX);
    assert!(SearchQuery::parse(&long).is_ok());
    let error = SearchQuery::parse(&format!("{long}x")).unwrap_err();
    assert_eq!(error, InvalidQuery::TooLong);
}

#[test]
fn every_kind_has_its_word() {
    for kind in SearchKind::ALL {
        assert_eq!(SearchKind::parse(kind.as_str()), Some(kind));
        let entity = kind.entity_kind();
        assert_eq!(entity, EntityKind::parse(kind.as_str()));
        assert!(entity.is_none_or(|entity| SearchKind::from(entity) == kind));
    }
}
