//! Reading what the owner said: words without case, marks and politeness.

/// The words of a sentence, lower-case, without punctuation.
pub(super) fn words(said: &str) -> Vec<String> {
    said.to_lowercase()
        .split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '\''))
        .map(|word| word.trim_matches(['-', '\'']).to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

pub(super) fn has_any(words: &[String], wanted: &[&str]) -> bool {
    words.iter().any(|word| wanted.contains(&word.as_str()))
}

/// Whether one of the phrases stands in the sentence.
pub(super) fn has_phrase(words: &[String], phrases: &[&str]) -> bool {
    let sentence = format!(" {} ", words.join(" "));
    phrases
        .iter()
        .any(|phrase| sentence.contains(&format!(" {phrase} ")))
}

/// How well a candidate's names fit what was said: the number of its words that were said.
pub(super) fn fit(words: &[String], names: &str) -> usize {
    const EMPTY: [&str; 14] = [
        "the",
        "a",
        "an",
        "on",
        "of",
        "and",
        "ct",
        "vm",
        "rehearsal",
        "restart",
        "stop",
        "start",
        "reboot",
        "service",
    ];
    let mut seen: Vec<&str> = Vec::new();
    for word in words {
        let hit = names
            .split(|c: char| !c.is_alphanumeric())
            .filter(|name| !EMPTY.contains(name) && !name.is_empty())
            .find(|name| *name == word || (word.len() > 3 && name.len() > 3 && close(name, word)));
        if let Some(hit) = hit
            && !seen.contains(&hit)
        {
            seen.push(hit);
        }
    }
    seen.len()
}

/// The same but for one slip of the finger.
fn close(name: &str, word: &str) -> bool {
    let (name, word): (Vec<char>, Vec<char>) = (name.chars().collect(), word.chars().collect());
    if name.len().abs_diff(word.len()) > 1 {
        return false;
    }
    let same_front = name.iter().zip(&word).take_while(|(a, b)| a == b).count();
    let same_back = name
        .iter()
        .rev()
        .zip(word.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let longest = name.len().max(word.len());
    let swapped = same_front + same_back + 2 == longest
        && name.get(same_front) == word.get(same_front + 1)
        && name.get(same_front + 1) == word.get(same_front);
    same_front + same_back + 1 >= longest || swapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_forgiven_and_two_are_not() {
        for word in ["caddy", "cady", "caddyy", "cadyd", "kaddy"] {
            assert!(close("caddy", word), "{word}");
        }
        for word in ["candid", "daddyo", "cad"] {
            assert!(!close("caddy", word), "{word}");
        }
    }
}
