//! SHA-256 digests, always shown as 64 lower-case hexadecimal characters.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 lower-case hexadecimal characters")]
pub struct InvalidDigest;

impl Digest {
    /// What stands before the first entry of a chain.
    pub const ZERO: Self = Self([0; 32]);

    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of several parts, one after the other.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// 64 hexadecimal characters in any case, with or without colons, as browsers, openssl and Proxmox
    /// show a certificate's fingerprint.
    pub fn parse_fingerprint(text: &str) -> Option<Self> {
        text.replace(':', "").to_ascii_lowercase().parse().ok()
    }

    /// The same, as Proxmox and openssl print it.
    pub fn to_fingerprint(self) -> String {
        let pairs: Vec<String> = self.0.iter().map(|byte| format!("{byte:02X}")).collect();
        pairs.join(":")
    }

    /// The 64 characters.
    fn spell(self, text: &mut [u8; 64]) -> &str {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or_default();
        let (pairs, _) = text.as_chunks_mut::<2>();
        for (pair, byte) in pairs.iter_mut().zip(self.0) {
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// The first characters, for people to compare at a glance. Never used to decide anything.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(12);
        text
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; 64];
        f.write_str(self.spell(&mut text))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        if text.len() != 64 {
            return Err(InvalidDigest);
        }
        let mut bytes = [0_u8; 32];
        for (slot, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let &[high, low] = pair else {
                return Err(InvalidDigest);
            };
            *slot = nibble(high)? << 4 | nibble(low)?;
        }
        Ok(Self(bytes))
    }
}

fn nibble(character: u8) -> Result<u8, InvalidDigest> {
    match character {
        b'0'..=b'9' => Ok(character - b'0'),
        b'a'..=b'f' => Ok(character - b'a' + 10),
        _ => Err(InvalidDigest),
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_it_prints_and_nothing_else() {
        let digest = Digest::of(b"abc");
        assert_eq!(
            digest.to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for bad in [
            "",
            "BA78",
            &"0".repeat(63),
            &"g".repeat(64),
            &"A".repeat(64),
            &"é".repeat(32),
        ] {
            assert_eq!(bad.parse::<Digest>(), Err(InvalidDigest), "{bad}");
        }
        assert_eq!(Digest::of_parts(&[b"a", b"bc"]), digest);
        let shown = digest.to_fingerprint();
        assert!(shown.starts_with("BA:78:16:"), "{shown}");
        assert_eq!(Digest::parse_fingerprint(&shown), Some(digest));
        assert_eq!(
            Digest::parse_fingerprint(&shown.to_lowercase().replace(':', "")),
            Some(digest)
        );
    }
}
