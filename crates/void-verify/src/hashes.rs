//! SHA-256 values: the one formula of the log, and their spelling as 64 lower-case hex digits.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// A SHA-256 value.
pub type Hash = [u8; 32];

/// What seq 1 has as `prev`.
pub(crate) const ZERO: Hash = [0; 32];

/// The hash of an entry: SHA-256 of `prev` and the RFC 8785 form of the entry without `prev` and `hash`.
pub fn entry_hash(prev: &Hash, canonical_rest: &[u8]) -> Hash {
    entry_hash_of_parts(prev, canonical_rest, b"")
}

/// The same, where the rest lies in two parts around the members that are cut out.
pub(crate) fn entry_hash_of_parts(prev: &Hash, before: &[u8], after: &[u8]) -> Hash {
    let mut sha = Sha256::new();
    sha.update(prev);
    sha.update(before);
    sha.update(after);
    sha.finalize().into()
}

/// Reads exactly 64 lower-case hex digits.
pub fn parse_hash(text: &[u8]) -> Option<Hash> {
    let text: &[u8; 64] = text.try_into().ok()?;
    let mut hash = ZERO;
    let mut valid = true;
    let (pairs, _) = text.as_chunks::<2>();
    for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
        let (high, low) = (nibble(*high), nibble(*low));
        valid &= high < 16 && low < 16;
        *byte = high << 4 | low & 15;
    }
    valid.then_some(hash)
}

/// The value of a hex digit, or 255. Without branches, because hash digits cannot be predicted.
fn nibble(digit: u8) -> u8 {
    let number = digit.wrapping_sub(b'0');
    let letter = digit.wrapping_sub(b'a');
    if number < 10 {
        number
    } else if letter < 6 {
        letter + 10
    } else {
        255
    }
}

/// Spells a hash the way [`parse_hash`] reads it.
pub fn write_hash(hash: &Hash) -> String {
    hash.iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_as_it_is_written_and_in_no_other_spelling() {
        let hash: Hash = std::array::from_fn(|i| u8::try_from(i * 8).unwrap());
        let text = write_hash(&hash);
        assert_eq!(parse_hash(text.as_bytes()), Some(hash));
        assert_eq!(parse_hash(text.to_uppercase().as_bytes()), None);
        assert_eq!(parse_hash(&text.as_bytes()[1..]), None);
        for byte in (0..=255u8).filter(|b| !b"0123456789abcdef".contains(b)) {
            let mut text = text.clone().into_bytes();
            text[17] = byte;
            assert_eq!(parse_hash(&text), None, "{byte}");
        }
    }
}
