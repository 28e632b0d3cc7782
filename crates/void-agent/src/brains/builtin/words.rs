//! Reading what was typed: words without case, marks and contractions, and what the marks say.
//!
//! Umlauts become two letters on both sides of every comparison, so that `könntest` and `koenntest` are
//! one word. A mark between words stays in the list as [`MARK`]: it is where one clause ends.

/// Stands where a comma, a full stop or a new line was.
pub(super) const MARK: &str = ",";
/// More than this nobody says as an order.
pub(super) const ORDER_WORDS_MAX: usize = 40;

/// What was typed, word by word.
#[derive(Debug, Clone, Default)]
pub(super) struct Sentence {
    pub words: Vec<String>,
    /// It ends like a question, or one of its clauses does.
    pub has_question_mark: bool,
    /// Part of it stands between quotation marks, or behind the mark of quoted mail.
    pub has_quotes: bool,
}

impl Sentence {
    pub(super) fn read(said: &str) -> Self {
        let said = plain_apostrophes(said);
        let mut words: Vec<String> = Vec::new();
        for line in said.lines() {
            mark(&mut words);
            for piece in line.split_whitespace() {
                read_piece(piece, &mut words);
            }
        }
        while words.last().is_some_and(|word| word == MARK) {
            words.pop();
        }
        let has_quotes = said.contains(['"', '“', '”', '„', '«', '»', '‹', '›'])
            || said.lines().any(|line| line.trim_start().starts_with('>'))
            || said.split_whitespace().any(is_in_single_quotes);
        Self {
            words,
            has_question_mark: said.contains('?'),
            has_quotes,
        }
    }

    pub(super) fn spoken(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().map(String::as_str);
        words.filter(|word| *word != MARK)
    }

    pub(super) fn has_any(&self, wanted: &[&str]) -> bool {
        self.spoken().any(|word| wanted.contains(&word))
    }

    /// Whether one of the phrases stands in it, whatever marks are between its words.
    pub(super) fn has_phrase(&self, phrases: &[&str]) -> bool {
        let spoken: Vec<&str> = self.spoken().collect();
        let sentence = format!(" {} ", spoken.join(" "));
        let mut phrases = phrases.iter();
        phrases.any(|phrase| sentence.contains(&format!(" {phrase} ")))
    }

    pub(super) fn begins_with(&self, phrases: &[&str]) -> bool {
        let spoken: Vec<&str> = self.spoken().collect();
        let sentence = format!("{} ", spoken.join(" "));
        let mut phrases = phrases.iter();
        phrases.any(|phrase| sentence.starts_with(&format!("{phrase} ")))
    }
}

/// Lower case, and umlauts as two letters.
pub(super) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars().flat_map(char::to_lowercase) {
        match character {
            'ä' => out.push_str("ae"),
            'ö' => out.push_str("oe"),
            'ü' => out.push_str("ue"),
            'ß' => out.push_str("ss"),
            other => out.push(other),
        }
    }
    out
}

fn plain_apostrophes(said: &str) -> String {
    let mut out = String::with_capacity(said.len());
    for character in said.chars() {
        out.push(match character {
            '’' | '‘' | 'ʼ' | '´' | '‚' => '\'',
            other => other,
        });
    }
    out
}

/// `'restart` or `caddy'`: an apostrophe outside a word. The plural's possessive is not one.
fn is_in_single_quotes(piece: &str) -> bool {
    let piece = piece.trim_matches([',', '.', '!', '?', ';', ':', '(', ')']);
    piece.starts_with('\'') || (piece.ends_with('\'') && !piece.ends_with("s'"))
}

fn mark(words: &mut Vec<String>) {
    if words.last().is_some_and(|word| word != MARK) {
        words.push(MARK.to_owned());
    }
}

/// One piece between blanks: its marks, and its word or words.
fn read_piece(piece: &str, words: &mut Vec<String>) {
    let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
    let (before, after) = match piece.split_once(word) {
        Some(around) if !word.is_empty() => around,
        _ => (piece, ""),
    };
    // A dash of its own and a bracket part clauses as a comma does.
    if ends_a_clause(before) || (word.is_empty() && !piece.is_empty()) {
        mark(words);
    }
    if !word.is_empty() {
        push_expanded(&folded(word), words);
    }
    if ends_a_clause(after) {
        mark(words);
    }
}

fn ends_a_clause(marks: &str) -> bool {
    marks.contains([
        ',', '.', ';', ':', '!', '?', '(', ')', '[', ']', '{', '}', '|', '&', '…', '/',
    ])
}

/// Contractions as the words that they stand for.
fn push_expanded(word: &str, words: &mut Vec<String>) {
    let whole: Option<&[&str]> = match word {
        "dont" => Some(&["do", "not"]),
        "doesnt" => Some(&["does", "not"]),
        "didnt" => Some(&["did", "not"]),
        "isnt" => Some(&["is", "not"]),
        "wasnt" => Some(&["was", "not"]),
        "wont" | "won't" => Some(&["will", "not"]),
        "cant" | "can't" | "cannot" => Some(&["can", "not"]),
        "shouldnt" => Some(&["should", "not"]),
        "wouldnt" => Some(&["would", "not"]),
        "couldnt" => Some(&["could", "not"]),
        "mustnt" => Some(&["must", "not"]),
        "ain't" | "aint" => Some(&["is", "not"]),
        "whats" => Some(&["what", "is"]),
        "hows" => Some(&["how", "is"]),
        "whos" => Some(&["who", "is"]),
        "wheres" => Some(&["where", "is"]),
        "lets" | "let's" => Some(&["let", "us"]),
        "pls" | "plz" => Some(&["please"]),
        "thx" => Some(&["thanks"]),
        "u" => Some(&["you"]),
        _ => None,
    };
    if let Some(parts) = whole {
        words.extend(parts.iter().map(|part| (*part).to_owned()));
        return;
    }
    let endings = [
        ("n't", "not"),
        ("'re", "are"),
        ("'ll", "will"),
        ("'ve", "have"),
        ("'d", "would"),
        ("'m", "am"),
    ];
    for (ending, stands_for) in endings {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| !stem.is_empty()) {
            words.extend([stem.to_owned(), stands_for.to_owned()]);
            return;
        }
    }
    if let Some(stem) = word.strip_suffix("'s").filter(|stem| !stem.is_empty()) {
        // German says `gibt's`, English `caddy's down`; a possessive is then one word too many, which asks.
        let german = ["gibt", "geht", "ist", "hat", "mach", "war", "laeuft", "wie"];
        let stands_for = if german.contains(&stem) { "es" } else { "is" };
        words.extend([stem.to_owned(), stands_for.to_owned()]);
        return;
    }
    words.push(word.replace('\'', ""));
}

/// The same but for one slip of the finger. Never for words with a digit, and never for short ones: there
/// one letter makes another name.
pub(super) fn is_slip_of(word: &str, name: &str) -> bool {
    let has_digit = |text: &str| text.chars().any(|c| c.is_ascii_digit());
    let (name, word): (Vec<char>, Vec<char>) = match has_digit(name) || has_digit(word) {
        true => return false,
        false => (name.chars().collect(), word.chars().collect()),
    };
    if name.len() <= 3 || word.len() <= 3 || name.len().abs_diff(word.len()) > 1 {
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
            assert!(is_slip_of(word, "caddy"), "{word}");
        }
        for word in ["candid", "daddyo", "cad"] {
            assert!(!is_slip_of(word, "caddy"), "{word}");
        }
    }

    #[test]
    fn a_digit_and_a_short_word_have_no_slips() {
        for (word, name) in [
            ("ct101", "ct107"),
            ("web2", "webs"),
            ("nas", "nsa"),
            ("dnss", "dns"),
        ] {
            assert!(!is_slip_of(word, name), "{word} {name}");
        }
    }

    #[test]
    fn contractions_are_what_they_stand_for() {
        for (said, words) in [
            ("Don’t restart caddy!", "do not restart caddy"),
            ("dont", "do not"),
            ("what's on pve1?", "what is on pve1"),
            ("Könntest du", "koenntest du"),
            (
                "restart caddy, then stop iventoy.",
                "restart caddy , then stop iventoy",
            ),
            (
                "restart caddy\nstop iventoy",
                "restart caddy , stop iventoy",
            ),
            ("restart caddy - no", "restart caddy , no"),
            ("...", ""),
        ] {
            assert_eq!(Sentence::read(said).words.join(" "), words, "{said}");
        }
    }

    #[test]
    fn quotes_are_seen_in_every_form() {
        for said in [
            "\"restart caddy\"",
            "he said 'restart caddy'",
            "„starte caddy neu“",
            "> restart caddy",
            "‘restart caddy’",
        ] {
            assert!(Sentence::read(said).has_quotes, "{said}");
        }
        assert!(!Sentence::read("don't restart the nodes' proxy").has_quotes);
    }
}
