//! A row as a list has it: a page of fifty drafts is no multiple of the largest draft. Long texts are shortened there, and
//! what is missing is counted; the row's own read and its card have every text whole, and a yes is given on the card.

use void_api::proposals::{LeftOutResponse, RowResponse};
use void_control::proposals::Listed;
use void_domain::proposals::Sight;
use void_domain::text;

use super::row_response;

/// How much of a change, of its requester's diff and of each later request's words a list holds.
pub(crate) const LISTED_TEXT_BYTES_MAX: usize = 1_024;
/// How many sentences about a change.
pub(crate) const LISTED_SENTENCES_MAX: usize = 8;

/// The row as a reader with this sight gets it among others.
pub(crate) fn listed_response(listed: &Listed, sight: Sight) -> RowResponse {
    shortened(row_response(listed, sight))
}

/// The row without what its requester said after it had read a stranger's text; how much that is stands in it.
pub(super) fn without_words(mut row: RowResponse) -> RowResponse {
    let mut left_out = LeftOutResponse::default();
    if let Some(change) = &mut row.change {
        left_out.sentences = number(change.summary.len());
        let named = change.about.as_mut().into_iter();
        let named = named.map(|about| {
            about.space = None;
            std::mem::take(&mut about.title)
        });
        let texts = change.summary.drain(..).chain(named);
        let texts = texts.chain([std::mem::take(&mut change.diff)]);
        left_out.bytes += texts.map(|text| number(text.len())).sum::<u64>();
    }
    let joined = row
        .joined
        .drain(..)
        .flat_map(|words| [words.reason, words.diff]);
    let words = [row.reason.take(), row.diff.take()]
        .into_iter()
        .chain(joined);
    left_out.bytes += words.flatten().map(|text| number(text.len())).sum::<u64>();
    row.left_out = (left_out.bytes > 0).then_some(left_out);
    row
}

fn shortened(mut row: RowResponse) -> RowResponse {
    let mut left_out = row.left_out.take().unwrap_or_default();
    if let Some(change) = &mut row.change {
        let starts = |sign| change.diff.lines().filter(move |line| is_of(line, sign));
        left_out.added_lines += number(starts('+').count());
        left_out.removed_lines += number(starts('-').count());
        left_out.bytes += cut_lines(&mut change.diff);
        let kept = change.summary.len().min(LISTED_SENTENCES_MAX);
        for sentence in change.summary.drain(kept..) {
            left_out.sentences += 1;
            left_out.bytes += number(sentence.len());
        }
    }
    if let Some(diff) = &mut row.diff {
        left_out.bytes += cut_lines(diff);
    }
    for words in &mut row.joined {
        for text in [&mut words.reason, &mut words.diff].into_iter().flatten() {
            left_out.bytes += cut_lines(text);
        }
    }
    row.left_out = (left_out.bytes > 0).then_some(left_out);
    row
}

/// A line of a unified diff that adds or removes, and not one of the two that name the file.
fn is_of(line: &str, sign: char) -> bool {
    let is_name = line.starts_with("+++ ") || line.starts_with("--- ");
    line.starts_with(sign) && !is_name
}

/// Keeps whole lines as far as they fit, or the beginning of a first line that is too long. How many bytes are gone.
fn cut_lines(text: &mut String) -> u64 {
    let before = text.len();
    if before > LISTED_TEXT_BYTES_MAX {
        let kept = text::cut(text, LISTED_TEXT_BYTES_MAX);
        let end = kept.rfind('\n').map_or(kept.len(), |at| at + 1);
        text.truncate(end);
    }
    number(before - text.len())
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> (String, u64) {
        let mut text = text.to_owned();
        let gone = cut_lines(&mut text);
        (text, gone)
    }

    #[test]
    fn what_fits_stays_and_of_the_rest_whole_lines_do() {
        let exact = "x".repeat(LISTED_TEXT_BYTES_MAX);
        assert_eq!(cut(&exact), (exact.clone(), 0));
        assert_eq!(cut(&format!("{exact}y")), (exact.clone(), 1));
        assert_eq!(
            cut(&format!("first\n{exact}")),
            ("first\n".to_owned(), 1_024)
        );
        // No character is cut in two.
        let wide = "ü".repeat(LISTED_TEXT_BYTES_MAX);
        let (kept, gone) = cut(&format!("x{wide}"));
        assert_eq!(kept.len() as u64 + gone, 2 * 1_024 + 1);
        assert!(kept.len() < LISTED_TEXT_BYTES_MAX && kept.ends_with('ü'));
        assert_eq!(cut(""), (String::new(), 0));
    }

    #[test]
    fn the_names_of_the_file_are_no_lines_of_the_change() {
        let diff = "--- a\n+++ b\n@@ -1 +1,2 @@\n-one\n+two\n+\n ++x\n";
        let count = |sign| diff.lines().filter(|line| is_of(line, sign)).count();
        assert_eq!((count('+'), count('-')), (2, 1));
    }
}
