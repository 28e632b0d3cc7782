//! Four plain words for a digest, to be typed by whoever read what a yes binds.
//!
//! They stand for the digest's first 32 bits. That is enough to tell that somebody looked at this card and at no
//! other; it is not what is approved. The server always gets the whole digest of the card that was shown.

/// One word for each value of a byte, none the beginning of another, all of them short and easily told apart.
const WORDS: [&str; 256] = [
    "acid", "acorn", "actor", "agent", "album", "alley", "almond", "amber", "anchor", "angle",
    "ankle", "apple", "apron", "arrow", "aspen", "atlas", "attic", "autumn", "award", "badge",
    "bagel", "baker", "bamboo", "banjo", "barley", "basil", "basket", "beach", "beaver", "bench",
    "berry", "birch", "bishop", "blanket", "blossom", "bonus", "border", "bottle", "branch",
    "brick", "bronze", "bucket", "butter", "cabin", "cactus", "camel", "candle", "canoe", "canvas",
    "carpet", "castle", "cedar", "cello", "cement", "chalk", "cherry", "chimney", "cider",
    "circus", "clover", "cobalt", "cocoa", "comet", "copper", "coral", "cotton", "cousin",
    "coyote", "cradle", "crane", "cricket", "crystal", "cumin", "curtain", "cymbal", "dagger",
    "daisy", "dancer", "denim", "desert", "dinner", "doctor", "dolphin", "donkey", "dragon",
    "drum", "eagle", "easel", "echo", "elbow", "ember", "engine", "falcon", "farmer", "feather",
    "fennel", "ferry", "fiddle", "finger", "flame", "flute", "forest", "fossil", "fountain", "fox",
    "freezer", "frost", "funnel", "galaxy", "garden", "garlic", "gazelle", "ginger", "giraffe",
    "glacier", "goblet", "gravel", "guitar", "hammer", "harbor", "harvest", "hazel", "helmet",
    "heron", "hockey", "honey", "hornet", "hotel", "igloo", "indigo", "insect", "island", "ivory",
    "jacket", "jaguar", "jelly", "jersey", "jigsaw", "jungle", "kayak", "kettle", "kitchen",
    "kiwi", "koala", "ladder", "lagoon", "lantern", "lemon", "letter", "lilac", "linen", "lion",
    "lizard", "lobster", "locket", "lotus", "lumber", "magnet", "mango", "maple", "marble",
    "market", "meadow", "melon", "mirror", "mitten", "monkey", "morning", "mosaic", "mountain",
    "muffin", "museum", "napkin", "nectar", "needle", "nettle", "nickel", "noodle", "nutmeg",
    "oasis", "ocean", "olive", "onion", "orange", "orbit", "orchid", "otter", "oyster", "paddle",
    "palace", "panda", "paper", "parrot", "pebble", "pelican", "pencil", "pepper", "piano",
    "pickle", "pigeon", "pilot", "pirate", "pocket", "pony", "poppy", "potato", "prairie",
    "pumpkin", "puzzle", "quartz", "quilt", "rabbit", "radish", "raven", "ribbon", "river",
    "robin", "rocket", "saddle", "salmon", "sandal", "saturn", "scarf", "shadow", "silver",
    "spider", "spruce", "squirrel", "stable", "sugar", "summer", "sunset", "tablet", "temple",
    "thunder", "tiger", "timber", "tomato", "trumpet", "tulip", "tunnel", "turtle", "umbrella",
    "valley", "velvet", "violin", "walnut", "whale", "window", "winter", "wizard", "yogurt",
    "zebra", "zigzag", "sofa", "tea",
];
/// How many words stand for a digest.
const COUNT: usize = 4;
const DIGEST_CHARS: usize = 64;

/// The words of a digest in hexadecimal; `None` if it is none.
pub(crate) fn words(digest: &str) -> Option<String> {
    if digest.len() != DIGEST_CHARS || !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let word = |number: usize| {
        let pair = digest.get(2 * number..2 * number + 2)?;
        let byte = u8::from_str_radix(pair, 16).ok()?;
        WORDS.get(usize::from(byte)).copied()
    };
    let words: Option<Vec<&str>> = (0..COUNT).map(word).collect();
    Some(words?.join(" "))
}

/// Whether somebody typed the words of this digest: all of them, in this order, and nothing else.
pub(crate) fn are_typed(typed: &str, digest: &str) -> bool {
    words(digest).is_some_and(|words| words == plain(typed))
}

/// Words as they may be typed: with spaces or hyphens, in any case.
fn plain(typed: &str) -> String {
    let words: Vec<String> = typed
        .split(|letter: char| letter.is_whitespace() || letter == '-')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join(" ")
}

/// Whether this is meant as words, not as a digest in hexadecimal.
pub(crate) fn are_meant(typed: &str) -> bool {
    plain(typed).contains(' ')
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const DIGEST: &str = "00ff10a7c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";

    #[test]
    fn every_byte_has_a_word_of_its_own_that_is_easily_told_from_the_others() {
        let all: BTreeSet<&str> = WORDS.into_iter().collect();
        assert_eq!(all.len(), WORDS.len());
        for word in WORDS {
            assert!((3..=8).contains(&word.len()), "{word}");
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
            let longer = WORDS
                .iter()
                .find(|other| **other != word && other.starts_with(word));
            assert_eq!(longer, None, "{word} begins another");
        }
    }

    #[test]
    fn the_words_are_the_first_bytes_in_their_order() {
        let expected = [0x00, 0xff, 0x10, 0xa7]
            .map(|byte: usize| WORDS[byte])
            .join(" ");
        assert_eq!(words(DIGEST), Some(expected));
        for bad in ["", "00ff", &"g".repeat(64), &DIGEST[1..], &"é".repeat(32)] {
            assert_eq!(words(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_the_very_words_count() {
        let right = words(DIGEST).unwrap();
        let parts: Vec<&str> = right.split(' ').collect();
        for typed in [
            right.clone(),
            format!("  {} \n", right.to_uppercase()),
            right.replace(' ', "-"),
            right.replace(' ', "  "),
        ] {
            assert!(are_typed(&typed, DIGEST) && are_meant(&typed), "{typed}");
        }
        let turned: Vec<&str> = parts.iter().rev().copied().collect();
        for typed in [
            String::new(),
            "yes".to_owned(),
            parts[..3].join(" "),
            format!("{right} zebra"),
            turned.join(" "),
            right.replace(parts[3], "zebra"),
            right.replace(' ', ""),
            right.replace(' ', "\u{200b}"),
            format!("{} {right}", parts[0]),
        ] {
            assert!(!are_typed(&typed, DIGEST), "{typed}");
        }
        assert!(!are_meant(DIGEST) && !are_typed(DIGEST, DIGEST));
        // Other digests have other words.
        assert!(!are_typed(&right, &format!("01{}", &DIGEST[2..])));
        assert!(!are_typed(&right, &DIGEST.replace("a7", "a8")));
    }
}
