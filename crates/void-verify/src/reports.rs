//! What a verification found, as a value, as text and as JSON.
//!
//! Nothing of the file's own text is ever shown, only numbers read from it and hashes spelled anew; so
//! no export, however hostile, can speak to a terminal.

use std::fmt;

use crate::canonical::escape;
use crate::hashes::{Hash, write_hash};

/// The verdict over one export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Lines that are entries.
    pub entries: u64,
    /// Of these, how many are not spelled as Void spells them (key order, white space, escapes).
    pub reformatted: u64,
    /// Seq of the first entry; if above 1, what came before is not in the file.
    pub first_seq: Option<u64>,
    pub last_seq: Option<u64>,
    /// The hash the last entry states: what to note for next time.
    pub head: Option<Hash>,
    /// The first [`crate::PROBLEMS_MAX`] problems, in the order of lines.
    pub problems: Vec<Finding>,
    pub problems_total: u64,
    pub tail: TailProof,
}

/// Something wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Counted from 1.
    pub line: u64,
    /// The seq the line states.
    pub seq: Option<u64>,
    pub kind: ProblemKind,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemKind {
    /// The hash does not match the content.
    Edited,
    /// The entries from `first` to `last` are missing before this one.
    Removed { first: u64, last: u64 },
    /// Two different entries have this seq: this one and the one before it.
    Inserted,
    /// The entry stands behind `after`, where it does not belong. If it was a jump ahead, entries between
    /// stand elsewhere; whether all of them do is not said.
    Reordered { after: u64 },
    /// The entry before it, again.
    Duplicate,
    /// The seq follows, but prev is not the hash of the entry before.
    Unlinked,
    /// This line, or `lines` lines from here, are not entries.
    Malformed { reason: String, lines: u64 },
    /// No entry has the given head.
    CutTail,
}

/// What a noted head says about the end of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TailProof {
    /// No head was given, so a cut tail would not be noticed.
    NotProven,
    /// The head is the hash of entry `seq`; `following` entries stand behind it.
    Proven { seq: u64, following: u64 },
    /// No entry has this head: cut, or rewritten.
    Mismatched,
}

impl ProblemKind {
    /// The kind in one word, stable for programs.
    pub fn word(&self) -> &'static str {
        match self {
            ProblemKind::Edited => "edited",
            ProblemKind::Removed { .. } => "removed",
            ProblemKind::Inserted => "inserted",
            ProblemKind::Reordered { .. } => "reordered",
            ProblemKind::Duplicate => "duplicate",
            ProblemKind::Unlinked => "unlinked",
            ProblemKind::Malformed { .. } => "malformed",
            ProblemKind::CutTail => "cut_tail",
        }
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProblemKind::Removed { first, last } if first == last => {
                return write!(f, "entry {first} is missing before this one");
            }
            ProblemKind::Removed { first, last } => {
                return write!(f, "entries {first} to {last} are missing before this one");
            }
            ProblemKind::Reordered { after } => {
                return write!(f, "out of order, it stands behind entry {after}");
            }
            ProblemKind::Malformed { reason, lines: 1 } => reason,
            ProblemKind::Malformed { reason, lines } => {
                return write!(f, "{reason}; {lines} lines from here are not entries");
            }
            ProblemKind::Edited => "the hash does not match the content",
            ProblemKind::Inserted => "another entry before it has the same seq; one was inserted",
            ProblemKind::Duplicate => "the entry before it, again",
            ProblemKind::Unlinked => "prev is not the hash of the entry before; one was rewritten",
            ProblemKind::CutTail => "no entry has the given head; cut behind here, or rewritten",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seq = self
            .seq
            .map(|seq| format!(", seq {seq}"))
            .unwrap_or_default();
        write!(
            f,
            "line {}{seq}: {}: {}",
            self.line,
            self.kind.word(),
            self.kind
        )
    }
}

impl fmt::Display for TailProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TailProof::NotProven => {
                "No head given: a cut tail would not be noticed; compare this head with one you noted."
            }
            TailProof::Proven { following: 0, .. } => {
                "The given head is the last entry: the tail is complete."
            }
            TailProof::Proven { seq, following } => {
                let follow = counted(*following, "entry follows", "entries follow");
                return write!(
                    f,
                    "The given head is entry {seq}; {follow}, where a cut would not be noticed."
                );
            }
            TailProof::Mismatched => "No entry has the given head: the tail was cut or rewritten.",
        })
    }
}

/// One paragraph, then one line for each problem.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&counted(self.entries, "entry", "entries"))?;
        if let (Some(first), Some(last)) = (self.first_seq, self.last_seq) {
            write!(f, ", {first} to {last}")?;
        }
        match self.problems_total {
            0 => f.write_str(", chain intact.")?,
            total => write!(
                f,
                ", chain BROKEN: {}.",
                counted(total, "problem", "problems")
            )?,
        }
        if let Some(first @ 2..) = self.first_seq {
            let word = if self.is_intact() { "Proven" } else { "Begins" };
            write!(
                f,
                " {word} from {first} on; earlier entries are not in this file."
            )?;
        }
        if self.reformatted > 0 {
            let lines = counted(self.reformatted, "line is", "lines are");
            write!(
                f,
                " {lines} not spelled as Void writes, which alone changes nothing."
            )?;
        }
        if let Some(head) = self.head {
            write!(f, " Head {}.", write_hash(&head))?;
        }
        writeln!(f, " {}", self.tail)?;
        for problem in &self.problems {
            writeln!(f, "{problem}")?;
        }
        match self
            .problems_total
            .saturating_sub(self.problems.len() as u64)
        {
            0 => Ok(()),
            more => writeln!(f, "and {}", counted(more, "more", "more")),
        }
    }
}

impl Report {
    pub fn is_intact(&self) -> bool {
        self.problems_total == 0
    }

    /// Whether the file begins where it should, with entry `from`. An empty file begins nowhere.
    pub fn begins_with(&self, from: u64) -> bool {
        self.first_seq == Some(from)
    }

    /// What to say of an intact file that does not begin with entry `from`.
    pub fn missing_beginning(&self, from: u64) -> String {
        match self.first_seq {
            None => "the file has no entry at all: nothing is proven".to_owned(),
            Some(first) => format!(
                "the file begins with entry {first} and not with {from}: it proves a part only; --from {first} says that this part is meant"
            ),
        }
    }

    /// One line of JSON.
    pub fn to_json(&self) -> String {
        let number = |seq: Option<u64>| seq.map_or("null".to_owned(), |seq| seq.to_string());
        let head = self
            .head
            .map_or("null".to_owned(), |head| escape(&write_hash(&head)));
        let tail = match self.tail {
            TailProof::NotProven => r#"{"state":"not_proven"}"#.to_owned(),
            TailProof::Proven { seq, following } => {
                format!(r#"{{"state":"proven","seq":{seq},"following":{following}}}"#)
            }
            TailProof::Mismatched => r#"{"state":"mismatched"}"#.to_owned(),
        };
        let problem = |Finding { line, seq, kind }: &Finding| {
            let (seq, word, message) = (number(*seq), kind.word(), escape(&kind.to_string()));
            format!(r#"{{"line":{line},"seq":{seq},"kind":"{word}","message":{message}}}"#)
        };
        let problems: Vec<String> = self.problems.iter().map(problem).collect();
        [
            format!(
                r#"{{"intact":{},"entries":{}"#,
                self.is_intact(),
                self.entries
            ),
            format!(r#""reformatted":{}"#, self.reformatted),
            format!(r#""first_seq":{}"#, number(self.first_seq)),
            format!(r#""last_seq":{},"head":{head}"#, number(self.last_seq)),
            format!(r#""tail":{tail},"problems_total":{}"#, self.problems_total),
            format!(r#""problems":[{}]}}"#, problems.join(",")),
        ]
        .join(",")
    }
}

/// `12,345 entries`.
fn counted(count: u64, one: &str, many: &str) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        text.extend((i > 0 && (digits.len() - i).is_multiple_of(3)).then_some(','));
        text.push(digit);
    }
    format!("{text} {}", if count == 1 { one } else { many })
}
