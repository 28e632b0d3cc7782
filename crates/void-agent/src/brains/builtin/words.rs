//! Reading what was typed: words without case, marks and contractions, and what the marks say.
//!
//! Umlauts become two letters on both sides of every comparison, so that `könntest` and `koenntest` are
//! one word. A mark between words stays in the list as [`MARK`]: it is where one clause ends.

/// Stands where a comma, a full stop or a new line was.
pub(super) const MARK: &str = ",";
/// More than this nobody says as an order.
pub(super) const ORDER_WORDS_MAX: usize = 40;

/// Marks of shells, logs, configuration and quoted mail: what has one was copied from somewhere.
const PASTED: [char; 15] = [
    '$', '#', '>', '<', '|', '=', '~', '\\', '{', '}', '[', ']', '%', '^', '\t',
];

/// What was typed, word by word.
#[derive(Debug, Clone, Default)]
pub(super) struct Sentence {
    pub words: Vec<String>,
    /// It ends like a question, or one of its clauses does.
    pub has_question_mark: bool,
    /// It has marks that nobody types to her.
    pub has_marks: bool,
    /// Part of it stands between quotation marks, or it has such marks.
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
        let has_marks = said.contains(PASTED);
        let has_quotes = said.contains(['"', '“', '”', '„', '«', '»', '‹', '›'])
            || has_marks
            || said.split_whitespace().any(is_in_single_quotes);
        Self {
            words,
            has_question_mark: said.contains('?'),
            has_marks,
            has_quotes,
        }
    }

    pub(super) fn spoken(&self) -> impl Iterator<Item = &str> {
        let words = self.words.iter().map(String::as_str);
        words.filter(|word| *word != MARK)
    }

    pub(super) fn has_any(&self, list: &str) -> bool {
        self.spoken().any(|word| is_one_of(word, list))
    }

    /// The words without the marks between them.
    pub(super) fn owned(&self) -> Vec<String> {
        self.spoken().map(str::to_owned).collect()
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

/// Contractions and what is typed in a hurry, as the words that they stand for.
const SHORT_FORMS: &str = "dont=do not|doesnt=does not|didnt=did not|isnt=is not|wasnt=was not|arent=are not\
    |havent=have not|hasnt=has not|wont=will not|won't=will not|cant=can not|can't=can not|cannot=can not\
    |shouldnt=should not|wouldnt=would not|couldnt=could not|mustnt=must not|ain't=is not|aint=is not|dnt=do not\
    |whats=what is|hows=how is|whos=who is|wheres=where is|whens=when is|thats=that is|theres=there is|heres=here is\
    |somethings=something is|everythings=everything is|anythings=anything is|im=i am|ive=i have|youre=you are\
    |lets=let us|let's=let us|pls=please|plz=please|pleas=please|thx=thanks|ty=thanks|u=you|ur=your|r=are|rn=now\
    |gimme=give me|lemme=let me|wanna=want to|gonna=going to|dunno=do not know|wassup=what is up|sup=what is up\
    |gibts=gibt es|gehts=geht es|laeufts=laeuft es|hats=hat es|ists=ist es|wars=war es|siehts=sieht es|stehts=steht es\
    |schauts=schaut es|liefs=lief es|klappts=klappt es|gabs=gab es|tuts=tut es|machs=mach es|tus=tu es|kannste=kannst du|haste=hast du|biste=bist du|willste=willst du\
    |siehste=siehst du|weisste=weisst du|isses=ist es|iss=ist|wat=was|wasn=was|nich=nicht|net=nicht|ned=nicht|nit=nicht\
    |nix=nichts|nen=einen|nem=einem|ner=einer|ma=mal|grad=gerade|hab=habe|bidde=bitte|biddee=bitte|dank=danke";

fn push_expanded(word: &str, words: &mut Vec<String>) {
    let mut forms = SHORT_FORMS
        .split('|')
        .filter_map(|form| form.split_once('='));
    if let Some((_, stands_for)) = forms.find(|(short, _)| *short == word) {
        words.extend(stands_for.split(' ').map(str::to_owned));
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
        const GERMAN: &str =
            "gibt geht ist hat mach war laeuft wie sieht steht tu schaut lief klappt gab tut wenn";
        let stands_for = if is_one_of(stem, GERMAN) { "es" } else { "is" };
        words.extend([stem.to_owned(), stands_for.to_owned()]);
        return;
    }
    words.push(word.replace('\'', ""));
}

/// Whether a list of words, as one text, has this one.
pub(super) fn is_one_of(word: &str, list: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// The same but for one slip of the finger. Never for words with a digit, and never for short ones: there
/// one letter makes another name.
pub(super) fn is_slip_of(word: &str, name: &str) -> bool {
    // Most words differ in length; those are told apart without a closer look.
    if name.len().abs_diff(word.len()) > 1 || name.len() <= 3 || word.len() <= 3 {
        return false;
    }
    let has_digit = |text: &str| text.chars().any(|c| c.is_ascii_digit());
    let (name, word): (Vec<char>, Vec<char>) = match has_digit(name) || has_digit(word) {
        true => return false,
        false => (name.chars().collect(), word.chars().collect()),
    };
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
            "$ restart caddy",
            "bitte > restart caddy",
            "root@pve1:~# restart caddy",
            "TASK [restart caddy]",
            "‘restart caddy’",
        ] {
            assert!(Sentence::read(said).has_quotes, "{said}");
        }
        assert!(!Sentence::read("don't restart the nodes' proxy").has_quotes);
    }
}
