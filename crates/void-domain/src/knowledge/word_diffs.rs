//! What differs between two texts, word by word, for people to read: typed spans, and a mark on every span that shows less
//! than it changes.
//!
//! The spans are whole: put together, those that are not added are the old text and those that are not removed the new
//! one. Where comparing words would take too long they are coarser, and never fewer.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::text::{is_deceptive, told_apart};

/// How many words may differ on both sides together; finding the shortest difference of more takes too long.
const DIFFERENT_WORDS_MAX: usize = 4_000;
/// The same of lines.
const DIFFERENT_LINES_MAX: usize = 4_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SpanKind {
    Same,
    Added,
    Removed,
}

/// How a change hides from a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Hiding {
    /// It has characters that show as nothing, or control a terminal.
    Invisible,
    /// It has characters that turn the order of the text around them.
    Bidirectional,
    /// It is blanks and line ends alone.
    BlanksOnly,
    /// It has letters that are taken for others, or replaces letters by such.
    LookAlike,
}

impl Hiding {
    /// For a person, about a change that has it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Invisible => "has characters that cannot be seen",
            Self::Bidirectional => "has characters that turn the order of the text around",
            Self::BlanksOnly => "changes blanks or line ends alone in places",
            Self::LookAlike => "has letters that look like others",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WordSpan {
    pub kind: SpanKind,
    pub text: String,
    /// Of what is added or removed, how it hides.
    pub hidings: Vec<Hiding>,
}

/// What two texts are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiffGrain {
    Words,
    Lines,
    /// All that lies between the first and the last difference at once.
    Whole,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WordDiff {
    pub spans: Vec<WordSpan>,
    pub grain: DiffGrain,
    pub words_added: usize,
    pub words_removed: usize,
}

impl WordDiff {
    pub fn between(old: &str, new: &str) -> Self {
        let (before, after) = (words(old), words(new));
        let mut spans = DiffSpans::default();
        let first = same(before.iter(), after.iter());
        let before_rest = before.get(first..).unwrap_or_default();
        let after_rest = after.get(first..).unwrap_or_default();
        let last = same(before_rest.iter().rev(), after_rest.iter().rev());
        let old_middle = before_rest
            .get(..before_rest.len() - last)
            .unwrap_or_default();
        let new_middle = after_rest
            .get(..after_rest.len() - last)
            .unwrap_or_default();
        spans.extend(SpanKind::Same, before.iter().take(first));
        let grain = spans.compare(old_middle, new_middle);
        let tail = before.iter().skip(before.len() - last);
        spans.extend(SpanKind::Same, tail);
        let mut spans = spans.all;
        mark(&mut spans);
        let count = |kind: SpanKind| {
            let of_kind = spans.iter().filter(|span| span.kind == kind);
            of_kind
                .map(|span| span.text.split_whitespace().count())
                .sum()
        };
        Self {
            words_added: count(SpanKind::Added),
            words_removed: count(SpanKind::Removed),
            grain,
            spans,
        }
    }

    /// How anything of it hides, each once.
    pub fn hidings(&self) -> Vec<Hiding> {
        let all = self.spans.iter().flat_map(|span| &span.hidings);
        let all: BTreeSet<Hiding> = all.copied().collect();
        all.into_iter().collect()
    }

    /// How often a word, or what lies between two that stay, was changed.
    pub fn places(&self) -> usize {
        let is_change = |span: &WordSpan| span.kind != SpanKind::Same;
        let mut was_change = false;
        let mut places = 0;
        for span in &self.spans {
            let is_change = is_change(span);
            places += usize::from(is_change && !was_change);
            was_change = is_change;
        }
        places
    }
}

/// Runs of letters and digits, runs of blanks, line ends, and each other sign alone.
fn words(text: &str) -> Vec<&str> {
    #[derive(PartialEq, Eq, Clone, Copy)]
    enum Class {
        Word,
        Blank,
        Sign,
    }
    let class = |c: char| match c {
        // Combining signs belong to the letter before them.
        '\u{300}'..='\u{36f}' => Class::Word,
        c if c.is_alphanumeric() => Class::Word,
        '\n' => Class::Sign,
        c if c.is_whitespace() => Class::Blank,
        _ => Class::Sign,
    };
    let mut words = Vec::new();
    let mut begun: Option<(usize, Class)> = None;
    for (at, c) in text.char_indices() {
        let class = class(c);
        match begun {
            Some((_, known)) if known == class && class != Class::Sign => {}
            Some((begin, _)) => {
                words.extend(text.get(begin..at));
                begun = Some((at, class));
            }
            None => begun = Some((at, class)),
        }
    }
    if let Some((begin, _)) = begun {
        words.extend(text.get(begin..));
    }
    words
}

/// How many are equal before the first that differs.
fn same<'a>(
    left: impl Iterator<Item = &'a &'a str>,
    right: impl Iterator<Item = &'a &'a str>,
) -> usize {
    left.zip(right).take_while(|(a, b)| a == b).count()
}

#[derive(Default)]
struct DiffSpans {
    all: Vec<WordSpan>,
}

impl DiffSpans {
    fn extend<'a>(&mut self, kind: SpanKind, words: impl Iterator<Item = &'a &'a str>) {
        for word in words {
            self.push(kind, word);
        }
    }

    fn push(&mut self, kind: SpanKind, text: &str) {
        match self.all.last_mut() {
            Some(last) if last.kind == kind => last.text.push_str(text),
            _ if text.is_empty() => {}
            _ => self.all.push(WordSpan {
                kind,
                text: text.to_owned(),
                hidings: Vec::new(),
            }),
        }
    }

    fn compare(&mut self, old: &[&str], new: &[&str]) -> DiffGrain {
        if old.len() + new.len() <= DIFFERENT_WORDS_MAX {
            self.diff(old, new);
            return DiffGrain::Words;
        }
        let (old, new) = (old.concat(), new.concat());
        let lines = |text: &'_ str| text.split_inclusive('\n').count();
        if lines(&old) + lines(&new) <= DIFFERENT_LINES_MAX {
            let before: Vec<&str> = old.split_inclusive('\n').collect();
            let after: Vec<&str> = new.split_inclusive('\n').collect();
            self.diff(&before, &after);
            return DiffGrain::Lines;
        }
        self.push(SpanKind::Removed, &old);
        self.push(SpanKind::Added, &new);
        DiffGrain::Whole
    }

    fn diff(&mut self, old: &[&str], new: &[&str]) {
        let diff = TextDiff::configure().diff_slices(old, new);
        for change in diff.iter_all_changes() {
            let kind = match change.tag() {
                ChangeTag::Equal => SpanKind::Same,
                ChangeTag::Delete => SpanKind::Removed,
                ChangeTag::Insert => SpanKind::Added,
            };
            self.push(kind, change.value());
        }
    }
}

fn mark(spans: &mut [WordSpan]) {
    for span in spans.iter_mut() {
        if span.kind != SpanKind::Same {
            span.hidings = hidings(&span.text);
        }
    }
    let mut rest = spans;
    while let [one, others @ ..] = rest {
        let is_pair = |other: &WordSpan| {
            one.kind != SpanKind::Same && other.kind != SpanKind::Same && one.kind != other.kind
        };
        let is_blank = one.hidings.contains(&Hiding::BlanksOnly);
        if let Some(other) = others.first_mut().filter(|other| is_pair(other))
            && !is_blank
            && skeleton(&one.text) == skeleton(&other.text)
        {
            for span in [&mut *one, other] {
                if !span.hidings.contains(&Hiding::LookAlike) {
                    span.hidings.push(Hiding::LookAlike);
                }
            }
        }
        rest = others;
    }
}

/// How a text hides something of itself.
pub fn hidings(text: &str) -> Vec<Hiding> {
    let mut found = Vec::new();
    let is_turning = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_unseen = |c: char| {
        (is_deceptive(c) && !is_turning(c)) || (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
    };
    if text.contains(is_unseen) {
        found.push(Hiding::Invisible);
    }
    if text.contains(is_turning) {
        found.push(Hiding::Bidirectional);
    }
    if text.chars().all(char::is_whitespace) {
        found.push(Hiding::BlanksOnly);
    }
    let plain: String = text
        .chars()
        .filter(|c| !c.is_control() && !is_deceptive(*c))
        .collect();
    let has_combining = plain.contains(|c| matches!(c, '\u{300}'..='\u{36f}'));
    if has_combining || told_apart(&plain) != plain {
        found.push(Hiding::LookAlike);
    }
    found
}

/// The text as a hurried reader takes it: one letter for all that look like it, nothing that shows as nothing, and one blank
/// for all blanks in a row.
fn skeleton(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_whitespace() => {
                if !seen.ends_with(' ') {
                    seen.push(' ');
                }
            }
            '\u{300}'..='\u{36f}' => {}
            c if is_deceptive(c) || c.is_control() => {}
            c => seen.push(latin_twin(c)),
        }
    }
    seen
}

/// The Latin letter or the sign that a letter of another script is taken for.
const fn latin_twin(c: char) -> char {
    match c {
        'а' | 'α' => 'a',
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'с' | 'ϲ' => 'c',
        'С' | 'Ϲ' => 'C',
        'ԁ' => 'd',
        'е' => 'e',
        'Е' | 'Ε' => 'E',
        'һ' => 'h',
        'Н' | 'Η' => 'H',
        'і' | 'ι' | 'ı' | 'l' | '1' | '|' => 'i',
        'І' | 'Ι' => 'I',
        'ј' => 'j',
        'Ј' => 'J',
        'К' | 'Κ' => 'K',
        'М' | 'Μ' => 'M',
        'Ν' => 'N',
        'о' | 'ο' | 'օ' | '0' => 'o',
        'О' | 'Ο' => 'O',
        'р' | 'ρ' => 'p',
        'Р' | 'Ρ' => 'P',
        'ԛ' => 'q',
        'ѕ' => 's',
        'Ѕ' => 'S',
        'Т' | 'Τ' => 'T',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' => 'w',
        'х' | 'χ' => 'x',
        'Х' | 'Χ' => 'X',
        'у' | 'γ' => 'y',
        'У' | 'Υ' => 'Y',
        'Ζ' => 'Z',
        '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
        '‘' | '’' | '′' => '\'',
        '“' | '”' | '″' => '"',
        '\u{ff01}'..='\u{ff5e}' => match char::from_u32(c as u32 - 0xfee0) {
            Some(narrow) => narrow,
            None => c,
        },
        other => other,
    }
}
