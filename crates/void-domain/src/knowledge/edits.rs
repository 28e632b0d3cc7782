//! Edits by find and replace. Each has to mean exactly one place of the text: one that means none or several is refused with
//! what a writer needs to do better, and nothing of the draft is made.

use std::collections::HashSet;

use crate::limits::EDITS_MAX;
use crate::text;

/// Lines that are looked through for one that was meant.
const NEAR_LINES_MAX: usize = 20_000;
/// How much of that line is told.
const NEAR_BYTES_MAX: usize = 200;
/// How many places are named where several match.
const PLACES_TOLD_MAX: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    pub find: String,
    pub replace: String,
}

/// Where a text says nearly what was to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMatch {
    /// From 1.
    pub line: usize,
    pub text: String,
    /// Only blanks or capitals differ.
    pub is_folded: bool,
}

/// Edits are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEdit {
    #[error("there are more than {EDITS_MAX} edits; draft them in parts")]
    TooMany,
    #[error("edit {edit} looks for nothing")]
    Empty { edit: usize },
    #[error("edit {edit} is found nowhere{}", near_words(.near.as_ref()))]
    NotFound {
        edit: usize,
        near: Option<NearMatch>,
    },
    #[error("edit {edit} is found in several places (lines {}); find more of the text around it", listed(.lines))]
    Several { edit: usize, lines: Vec<usize> },
}

fn near_words(near: Option<&NearMatch>) -> String {
    match near {
        None => String::new(),
        Some(near) => format!(
            "; line {} is near{}: {}",
            near.line,
            if near.is_folded {
                ", only blanks or capitals differ"
            } else {
                ""
            },
            text::value_in_quotes(&near.text)
        ),
    }
}

fn listed(lines: &[usize]) -> String {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.join(", ")
}

/// The text after all edits, each of which is looked for in what the ones before it left.
pub fn apply(text: &str, edits: &[TextEdit]) -> Result<String, InvalidEdit> {
    if edits.len() > EDITS_MAX {
        return Err(InvalidEdit::TooMany);
    }
    let mut edited = text.to_owned();
    for (edit, one) in (1..).zip(edits) {
        let begin = place(&edited, edit, &one.find)?;
        edited.replace_range(begin..begin + one.find.len(), &one.replace);
    }
    Ok(edited)
}

fn place(text: &str, edit: usize, find: &str) -> Result<usize, InvalidEdit> {
    let Some(width) = find.chars().next().map(char::len_utf8) else {
        return Err(InvalidEdit::Empty { edit });
    };
    let mut places = Vec::new();
    let mut from = 0;
    // Places that overlap are several too.
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(find)) {
        places.push(from + at);
        if places.len() == PLACES_TOLD_MAX {
            break;
        }
        from += at + width;
    }
    match places[..] {
        [] => Err(InvalidEdit::NotFound {
            edit,
            near: near(text, find),
        }),
        [one] => Ok(one),
        _ => Err(InvalidEdit::Several {
            edit,
            lines: places.iter().map(|at| line_of(text, *at)).collect(),
        }),
    }
}

fn line_of(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    1 + before.matches('\n').count()
}

/// The line that is nearest to the first line that was looked for, if any is.
fn near(text: &str, find: &str) -> Option<NearMatch> {
    let wanted = find.lines().find(|line| !line.trim().is_empty())?;
    let wanted = folded(wanted);
    let words: HashSet<&str> = wanted.split(' ').collect();
    let mut best: Option<(usize, NearMatch)> = None;
    for (line, said) in (1..).zip(text.lines().take(NEAR_LINES_MAX)) {
        let seen = folded(said);
        let is_folded = seen.contains(&wanted);
        let shared = seen
            .split(' ')
            .collect::<HashSet<&str>>()
            .intersection(&words)
            .count();
        let score = if is_folded { usize::MAX } else { shared };
        // Half of the words, or it is another line.
        let is_near = is_folded || shared * 2 >= words.len();
        if is_near && best.as_ref().is_none_or(|(known, _)| score > *known) {
            let text = text::cut(said.trim(), NEAR_BYTES_MAX).to_owned();
            let near = NearMatch {
                line,
                text,
                is_folded,
            };
            best = Some((score, near));
        }
    }
    best.map(|(_, near)| near)
}

fn folded(line: &str) -> String {
    let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(find: &str, replace: &str) -> TextEdit {
        TextEdit {
            find: find.to_owned(),
            replace: replace.to_owned(),
        }
    }

    const TEXT: &str = "# Caddy\n\nRestart it with care.\nThen look at the log.\nThen wait.\n";

    #[test]
    fn edits_follow_each_other_and_each_means_one_place() {
        let edits = [
            edit("with care", "gently"),
            edit("gently.", "gently!"),
            edit("Then wait.\n", ""),
        ];
        let edited = apply(TEXT, &edits).unwrap();
        assert_eq!(
            edited,
            "# Caddy\n\nRestart it gently!\nThen look at the log.\n"
        );
        assert_eq!(apply("größe", &[edit("ö", "o")]), Ok("große".to_owned()));
        assert_eq!(apply(TEXT, &[]), Ok(TEXT.to_owned()));
    }

    #[test]
    fn an_edit_that_means_nothing_or_several_says_where_to_look() {
        let wrong = |find: &str| apply(TEXT, &[edit(find, "x")]).unwrap_err();
        assert_eq!(wrong(""), InvalidEdit::Empty { edit: 1 });
        assert_eq!(
            wrong("Then"),
            InvalidEdit::Several {
                edit: 1,
                lines: vec![4, 5]
            }
        );
        let near = |find: &str| match wrong(find) {
            InvalidEdit::NotFound { near, .. } => near.map(|near| (near.line, near.is_folded)),
            other => panic!("{other:?}"),
        };
        assert_eq!(near("restart  IT with care"), Some((3, true)));
        assert_eq!(near("\nThen look at that log.\nmore"), Some((4, false)));
        assert_eq!(near("nothing like it"), None);
        assert!(wrong("restart it with").to_string().contains("line 3"));
        assert!(matches!(
            apply("aaa", &[edit("aa", "b")]),
            Err(InvalidEdit::Several { .. })
        ));
        // The second edit of a draft is named as such, and the first is not made.
        let second = apply(TEXT, &[edit("care", "x"), edit("care", "y")]).unwrap_err();
        assert!(matches!(second, InvalidEdit::NotFound { edit: 2, .. }));
    }

    #[test]
    fn there_are_so_many_edits_and_no_more() {
        let text = "a".to_owned();
        let many = vec![edit("a", "a"); EDITS_MAX];
        assert!(apply(&text, &many).is_ok());
        assert_eq!(
            apply(&text, &vec![edit("a", "a"); EDITS_MAX + 1]),
            Err(InvalidEdit::TooMany)
        );
    }
}
