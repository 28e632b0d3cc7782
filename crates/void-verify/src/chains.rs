//! How entries must follow each other, and what to call it when they do not.
//!
//! The rule is short: an entry follows if its seq is one more than, and its prev the hash of, the entry
//! before it. All else here gives a break its name and finds the place to go on from, so that one deed
//! is one problem and not a cascade: after a break the next line may continue from the entry that broke
//! or from the one before it. More than one such end exists only when a problem was reported already.

use crate::blocks::BlockLine;
use crate::entries::Entry;
use crate::hashes::{Hash, ZERO};
use crate::reports::{Finding, ProblemKind, Report, TailProof};

/// Problems that are kept; the rest is counted.
pub const PROBLEMS_MAX: usize = 100;

/// Where the next entry may continue from.
#[derive(Clone, Copy)]
struct End {
    seq: u64,
    hash: Hash,
}

pub(crate) struct Chain {
    head: Option<Hash>,
    /// The last line read.
    line: u64,
    /// How many lines before this one are malformed, back to the last entry.
    malformed_lines: u64,
    /// The entry before comes first.
    ends: Vec<End>,
    /// What is known so far, as if the file ended here.
    report: Report,
}

impl Chain {
    pub(crate) fn new(head: Option<Hash>) -> Self {
        let tail = head.map_or(TailProof::NotProven, |_| TailProof::Mismatched);
        Chain {
            head,
            line: 0,
            malformed_lines: 0,
            ends: vec![End { seq: 0, hash: ZERO }],
            report: Report {
                entries: 0,
                reformatted: 0,
                first_seq: None,
                last_seq: None,
                head: None,
                problems: Vec::new(),
                problems_total: 0,
                tail,
            },
        }
    }

    pub(crate) fn push(&mut self, line: BlockLine) {
        match line {
            BlockLine::Entry(entry) => {
                self.line += 1;
                self.witness(&entry);
                self.link(&entry);
                self.malformed_lines = 0;
                self.report.entries += 1;
                self.report.reformatted += u64::from(entry.reformatted);
                self.report.first_seq.get_or_insert(entry.seq);
                self.report.last_seq = Some(entry.seq);
                self.report.head = Some(entry.hash);
            }
            BlockLine::Malformed { reason, lines } => {
                self.malformed(reason, lines);
                self.line += lines;
                self.malformed_lines += lines;
            }
        }
    }

    /// Neighbouring malformed lines are one problem, also across the border of a block.
    fn malformed(&mut self, reason: String, lines: u64) {
        let is_last_kept = self.report.problems_total == self.report.problems.len() as u64;
        let last = self
            .report
            .problems
            .last_mut()
            .map(|problem| &mut problem.kind);
        match last {
            _ if self.malformed_lines == 0 => {
                let kind = ProblemKind::Malformed { reason, lines };
                self.problem(self.line + 1, None, kind);
            }
            Some(ProblemKind::Malformed { lines: before, .. }) if is_last_kept => *before += lines,
            _ => {}
        }
    }

    /// Compares what the content hashes to, not what the line claims: a claim could be copied. A prev is
    /// such a claim too, but for the first entry: what it follows is not in the file.
    fn witness(&mut self, entry: &Entry) {
        if let TailProof::Proven { following, .. } = &mut self.report.tail {
            *following += 1;
        }
        if self.head == Some(entry.content_hash) {
            self.report.tail = TailProof::Proven {
                seq: entry.seq,
                following: 0,
            };
        } else if self.head == Some(entry.prev) && self.report.entries == 0 && entry.is_intact() {
            self.report.tail = TailProof::Proven {
                seq: entry.seq - 1,
                following: 1,
            };
        }
    }

    fn link(&mut self, entry: &Entry) {
        let is_first = self.report.entries == 0;
        let before = self.ends.first().copied().filter(|_| !is_first);
        let place = self.place(entry);
        if !entry.is_intact() {
            self.problem(self.line, Some(entry.seq), ProblemKind::Edited);
        }
        // An export may begin anywhere: the first prev is then taken as given.
        let begins_later = is_first && entry.seq > 1;
        if place.is_none() && !begins_later && !self.is_due_after_malformed(entry) {
            let kind = self.name_break(entry);
            self.problem(self.line, Some(entry.seq), kind);
        }
        let seq = place.map_or(entry.seq, |(_, end)| end.seq + 1);
        self.ends.clear();
        self.ends.push(End {
            seq,
            hash: entry.hash,
        });
        if !entry.is_intact() {
            // If only the stated hash was edited, the next entry holds the true one.
            self.ends.push(End {
                seq,
                hash: entry.content_hash,
            });
        }
        if !entry.is_intact() || !matches!(place, Some((0, _))) {
            self.ends.extend(before);
        }
        self.found_late(seq);
    }

    /// The end this entry continues from. Of an edited entry prev or seq is enough.
    fn place(&self, entry: &Entry) -> Option<(usize, End)> {
        let is_edited = !entry.is_intact();
        let follows = |end: &End| end.seq + 1 == entry.seq;
        let by_prev = |end: &End| end.hash == entry.prev && (follows(end) || is_edited);
        let at = self.ends.iter().position(by_prev);
        let at = at.or_else(|| self.ends.iter().position(|end| is_edited && follows(end)))?;
        Some((at, *self.ends.get(at)?))
    }

    /// As many numbers are missing as there are malformed lines: these were the entries.
    fn is_due_after_malformed(&self, entry: &Entry) -> bool {
        let due = self
            .ends
            .first()
            .map(|end| end.seq + 1 + self.malformed_lines);
        self.malformed_lines > 0 && due == Some(entry.seq)
    }

    fn name_break(&self, entry: &Entry) -> ProblemKind {
        let newest = self.ends.first().map_or(0, |end| end.seq);
        let is_copy = self.ends.iter().any(|end| end.hash == entry.hash);
        let below = self
            .ends
            .iter()
            .map(|end| end.seq)
            .filter(|seq| *seq < entry.seq)
            .max();
        match below {
            _ if newest == entry.seq && is_copy => ProblemKind::Duplicate,
            _ if newest == entry.seq => ProblemKind::Inserted,
            None => ProblemKind::Reordered { after: newest },
            Some(below) if below + 1 == entry.seq => ProblemKind::Unlinked,
            Some(below) => {
                let (first, last) = (below + 1, entry.seq - 1);
                match self.stood_early(first, last) {
                    true => ProblemKind::Reordered { after: below },
                    false => ProblemKind::Removed { first, last },
                }
            }
        }
    }

    /// An entry of the gap was met before: out of order, or as the first of the file.
    fn stood_early(&self, first: u64, last: u64) -> bool {
        let is_reordered =
            |problem: &&Finding| matches!(problem.kind, ProblemKind::Reordered { .. });
        let reordered = self.report.problems.iter().filter(is_reordered);
        let mut early = reordered
            .filter_map(|problem| problem.seq)
            .chain(self.report.first_seq);
        early.any(|seq| (first..=last).contains(&seq))
    }

    /// An entry that was thought removed stands here: then it was the order that changed.
    fn found_late(&mut self, seq: u64) {
        for problem in &mut self.report.problems {
            match problem.kind {
                ProblemKind::Removed { first, last } if (first..=last).contains(&seq) => {
                    problem.kind = ProblemKind::Reordered { after: first - 1 };
                }
                _ => {}
            }
        }
    }

    fn problem(&mut self, line: u64, seq: Option<u64>, kind: ProblemKind) {
        self.report.problems_total += 1;
        if self.report.problems.len() < PROBLEMS_MAX {
            self.report.problems.push(Finding { line, seq, kind });
        }
    }

    pub(crate) fn finish(mut self) -> Report {
        if self.line == 0 {
            let reason = "the file is empty, which proves nothing".to_owned();
            self.problem(1, None, ProblemKind::Malformed { reason, lines: 1 });
        }
        if self.report.tail == TailProof::Mismatched {
            self.problem(self.line.max(1), self.report.last_seq, ProblemKind::CutTail);
        }
        self.report
    }
}
