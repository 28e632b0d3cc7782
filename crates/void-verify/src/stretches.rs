//! Finding the few bytes that matter in long stretches of others, eight at a time.
//!
//! Each word is looked at as a whole; only in one that may hold what is looked for are the bytes looked at. What is
//! found is what a look at every byte finds, and a test holds it to that.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
/// Words that are looked at together: most stretches are long.
const WORD: usize = 8;

/// Marks at least the lowest of the bytes that are less than `n`, if there is one; `n` is at most 128.
const fn less(word: u64, n: u64) -> u64 {
    word.wrapping_sub(ONES * n) & !word & HIGHS
}

const fn equal(word: u64, byte: u8) -> u64 {
    less(word ^ (ONES * byte as u64), 1)
}

fn position(
    text: &[u8],
    may_hold: impl Fn(u64) -> bool,
    is_wanted: impl Fn(u8) -> bool,
) -> Option<usize> {
    let (words, rest) = text.as_chunks::<WORD>();
    for (number, word) in words.iter().enumerate() {
        if may_hold(u64::from_le_bytes(*word))
            && let Some(at) = word.iter().position(|byte| is_wanted(*byte))
        {
            return Some(number * WORD + at);
        }
    }
    let at = rest.iter().position(|byte| is_wanted(*byte))?;
    Some(text.len() - rest.len() + at)
}

/// The first byte that does not stand for itself in a string of JSON.
pub(crate) fn special(text: &[u8]) -> Option<usize> {
    position(
        text,
        |word| less(word, 0x20) | equal(word, b'"') | equal(word, b'\\') != 0,
        |byte| matches!(byte, 0..0x20 | b'"' | b'\\'),
    )
}

pub(crate) fn newline(text: &[u8]) -> Option<usize> {
    position(text, |word| equal(word, b'\n') != 0, |byte| byte == b'\n')
}

/// The lines, each with its end; the last may lack it.
pub(crate) fn lines(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let end = newline(text).map_or(text.len(), |at| at + 1);
        let (line, rest) = text.split_at_checked(end)?;
        text = rest;
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slowly(text: &[u8]) -> (Option<usize>, Option<usize>) {
        (
            text.iter()
                .position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')),
            text.iter().position(|byte| *byte == b'\n'),
        )
    }

    /// Every byte at every place, behind and before every kind of neighbour.
    #[test]
    fn every_byte_is_found_where_a_look_at_each_finds_it() {
        let fillers = [b'a', 0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f, 0x80, 0xff];
        for filler in fillers {
            for length in 0..26 {
                for at in 0..length {
                    for byte in 0..=255 {
                        let mut text = vec![filler; length];
                        text[at] = byte;
                        assert_eq!((special(&text), newline(&text)), slowly(&text), "{text:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn any_text_is_cut_as_a_look_at_each_byte_cuts_it() {
        let mut state = 7_u64;
        for length in 0..3_000 {
            let mut text = vec![0; length % 67];
            for byte in &mut text {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let [.., random] = (state >> 33).to_be_bytes();
                *byte = if state >> 60 == 0 {
                    b"\n\"\\\x1f"[usize::from(random % 4)]
                } else {
                    random
                };
            }
            assert_eq!((special(&text), newline(&text)), slowly(&text), "{text:?}");
            let cut: Vec<&[u8]> = lines(&text).collect();
            let slow: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
            assert_eq!(cut, slow);
        }
    }
}
