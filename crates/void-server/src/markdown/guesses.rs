//! The end of a text that is being written as it will most likely be, so that half a mark is not seen for
//! a moment.

/// Closes marks that are open in the last line, and leaves out half a target.
pub(super) fn completed(tail: &str) -> String {
    let from = tail.rfind('\n').map_or(0, |at| at + 1);
    let (before, line) = tail.split_at(from);
    let mut line = without_half_target(line).to_owned();
    if line.matches('`').count() % 2 == 1 {
        if line.ends_with('`') {
            line.pop();
        } else {
            line.push('`');
        }
    } else if line.matches("**").count() % 2 == 1 {
        line.truncate(line.trim_end().len());
        if line.ends_with("**") {
            line.truncate(line.len() - 2);
        } else {
            line.push_str("**");
        }
    } else if is_in_emphasis(&line) {
        line.push('*');
    }
    format!("{before}{line}")
}

/// `[words](https://exam` as `[words]`.
fn without_half_target(line: &str) -> &str {
    let Some((at, _)) = line.rmatch_indices("](").next() else {
        return line;
    };
    let is_open =
        |rest: &str| !rest.contains(|one: char| one.is_whitespace() || "()".contains(one));
    match (line.get(..=at), line.get(at + 2..)) {
        (Some(before), Some(rest)) if is_open(rest) => before,
        _ => line,
    }
}

/// Whether a single asterisk before a word is open at the end of the line.
fn is_in_emphasis(line: &str) -> bool {
    let Some((before, inside)) = line.rsplit_once('*') else {
        return false;
    };
    let begins_word = before
        .chars()
        .last()
        .is_none_or(|one| one.is_whitespace() || one == '(');
    begins_word
        && !inside.is_empty()
        && !inside.starts_with(char::is_whitespace)
        && !inside.ends_with(char::is_whitespace)
}
