//! A query as an expression of FTS5 or of `tsquery`. Every lexeme is quoted, and what could end a quote is left out, so what
//! a person types is never part of the expression's grammar.

use void_domain::ids::SpaceId;
use void_domain::knowledge::search_documents::{IN_TITLE, kind_lexeme, space_lexeme, tag_lexeme};
use void_domain::knowledge::{EntityKind, SearchQuery, SearchTerm};

use super::Dialect;

/// Where the words have to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    Anywhere,
    Title,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Lexeme {
    Whole(String),
    Prefix(String),
}

/// All of the first, each of which is one of several; and none of the second.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Expression {
    all: Vec<Vec<Lexeme>>,
    none: Vec<Lexeme>,
    /// It asks for what no entity is.
    is_impossible: bool,
}

impl Expression {
    pub(super) fn of(query: &SearchQuery, space: Option<SpaceId>, within: Within) -> Self {
        let mut expression = Self::default();
        let sign = match within {
            Within::Anywhere => String::new(),
            Within::Title => IN_TITLE.to_string(),
        };
        for term in &query.wanted {
            expression
                .all
                .extend(lexemes(term, &sign).map(|one| vec![one]));
        }
        let whole = |lexeme| vec![Lexeme::Whole(lexeme)];
        let tags = query.tags.iter().map(|tag| whole(tag_lexeme(tag)));
        expression.all.extend(tags);
        if !query.kinds.is_empty() || !query.unwanted_kinds.is_empty() {
            let kinds = EntityKind::ALL.into_iter();
            let kinds = kinds.filter(|kind| query.may_be((*kind).into()));
            let kinds: Vec<Lexeme> = kinds.map(|kind| Lexeme::Whole(kind_lexeme(kind))).collect();
            expression.is_impossible = kinds.is_empty();
            expression.all.push(kinds);
        }
        expression.all.extend(space.map(space_lexeme).map(whole));
        // The words of a phrase may be there if they are apart, which is looked at afterwards.
        let unwanted = query.unwanted.iter();
        let unwanted = unwanted.filter(|term| !matches!(term, SearchTerm::Phrase(_)));
        expression
            .none
            .extend(unwanted.flat_map(|term| lexemes(term, "")));
        let tags = query.unwanted_tags.iter();
        let tags = tags.map(|tag| Lexeme::Whole(tag_lexeme(tag)));
        expression.none.extend(tags);
        expression
    }

    /// `None`: nothing can be found.
    pub(super) fn text(&self, dialect: Dialect) -> Option<String> {
        if self.all.is_empty() || self.is_impossible {
            return None;
        }
        let (and, or) = match dialect {
            Dialect::Sqlite => (" AND ", " OR "),
            Dialect::Postgres => (" & ", " | "),
        };
        let any = |lexemes: &[Lexeme]| {
            let quoted: Vec<String> = lexemes.iter().map(|one| quoted(one, dialect)).collect();
            format!("({})", quoted.join(or))
        };
        let all: Vec<String> = self.all.iter().map(|one| any(one)).collect();
        let all = all.join(and);
        Some(match (self.none.is_empty(), dialect) {
            (true, _) => all,
            (false, Dialect::Sqlite) => format!("({all}) NOT {}", any(&self.none)),
            (false, Dialect::Postgres) => format!("({all}) & !{}", any(&self.none)),
        })
    }
}

fn lexemes(term: &SearchTerm, sign: &str) -> impl Iterator<Item = Lexeme> {
    let lexemes = match term {
        SearchTerm::Word(word) => vec![Lexeme::Whole(format!("{sign}{word}"))],
        SearchTerm::Prefix(prefix) => vec![Lexeme::Prefix(format!("{sign}{prefix}"))],
        SearchTerm::Phrase(words) => words
            .iter()
            .map(|word| Lexeme::Whole(format!("{sign}{word}")))
            .collect(),
    };
    lexemes.into_iter()
}

fn quoted(lexeme: &Lexeme, dialect: Dialect) -> String {
    let (Lexeme::Whole(text) | Lexeme::Prefix(text)) = lexeme;
    let is_kept = |c: &char| !matches!(c, '"' | '\'' | '\\' | '\0') && !c.is_whitespace();
    let text: String = text.chars().filter(is_kept).collect();
    match (dialect, lexeme) {
        (Dialect::Sqlite, Lexeme::Whole(_)) => format!("\"{text}\""),
        (Dialect::Sqlite, Lexeme::Prefix(_)) => format!("\"{text}\" *"),
        (Dialect::Postgres, Lexeme::Whole(_)) => format!("'{text}'"),
        (Dialect::Postgres, Lexeme::Prefix(_)) => format!("'{text}':*"),
    }
}

#[cfg(test)]
mod tests {
    use void_domain::time::Timestamp;

    use super::*;

    fn text(query: &str, dialect: Dialect) -> Option<String> {
        let query = SearchQuery::parse(query).unwrap();
        Expression::of(&query, None, Within::Anywhere).text(dialect)
    }

    #[test]
    fn a_query_is_an_expression_of_either_engine() {
        let query = "a \"b c\" de* kind:page kind:ref tag:t -x -\"y z\" -tag:u";
        assert_eq!(
            text(query, Dialect::Sqlite).unwrap(),
            "((\"a\") AND (\"b\") AND (\"c\") AND (\"de\" *) AND (\"#t\") AND (\"%page\" OR \"%ref\")) \
             NOT (\"x\" OR \"#u\")"
        );
        assert_eq!(
            text(query, Dialect::Postgres).unwrap(),
            "(('a') & ('b') & ('c') & ('de':*) & ('#t') & ('%page' | '%ref')) & !('x' | '#u')"
        );
        let space = SpaceId::new(Timestamp::from_ms(1), [1; 10]);
        let query = SearchQuery::parse("a be*").unwrap();
        assert_eq!(
            Expression::of(&query, Some(space), Within::Title).text(Dialect::Sqlite),
            Some(format!("(\"=a\") AND (\"=be\" *) AND (\"@{space}\")"))
        );
    }

    #[test]
    fn what_finds_nothing_is_not_asked() {
        for query in ["", "-a", "kind:page -kind:page", "kind:service a"] {
            assert_eq!(text(query, Dialect::Sqlite), None, "{query}");
        }
    }

    #[test]
    fn nothing_ends_a_quote() {
        let lexeme = Lexeme::Whole("a\" OR 'b\\' c\0".to_owned());
        assert_eq!(quoted(&lexeme, Dialect::Sqlite), "\"aORbc\"");
        assert_eq!(quoted(&lexeme, Dialect::Postgres), "'aORbc'");
    }
}
