//! Tags: words to find things by, in one spelling, sorted, each once.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::fields::InvalidField;
use crate::limits::{TAG_CHARS_MAX, TAGS_MAX};

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Tags(Vec<String>);

impl Tags {
    /// A `#` before a tag is how people write it and no part of it.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, InvalidField> {
        let mut tags = Vec::new();
        for text in texts {
            tags.push(tag(text).ok_or(InvalidField::Tags)?);
            if tags.len() > TAGS_MAX {
                return Err(InvalidField::Tags);
            }
        }
        tags.sort_unstable();
        tags.dedup();
        Ok(Self(tags))
    }

    /// Of what somebody else wrote, as far as it is a tag and fits.
    pub fn of_what_fits<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut tags: Vec<String> = texts.into_iter().filter_map(tag).take(TAGS_MAX).collect();
        tags.sort_unstable();
        tags.dedup();
        Self(tags)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, tag: &str) -> bool {
        self.0.iter().any(|known| known == tag)
    }

    /// Those of both. They are looked at and not stored, so there may be more of them than one may write.
    pub fn with(&self, other: &Self) -> Self {
        let mut tags = self.0.clone();
        tags.extend(other.0.iter().cloned());
        tags.sort_unstable();
        tags.dedup();
        Self(tags)
    }

    /// As one line.
    pub fn joined(&self) -> String {
        self.0.join(", ")
    }
}

fn tag(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix('#').unwrap_or(text);
    let is_fit = |c: char| c.is_alphanumeric() || "-_/".contains(c);
    let tag: String = text.chars().flat_map(char::to_lowercase).collect();
    let count = tag.chars().take(TAG_CHARS_MAX + 1).count();
    ((1..=TAG_CHARS_MAX).contains(&count) && tag.chars().all(is_fit)).then_some(tag)
}

impl Serialize for Tags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Tags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        Self::parse(texts.iter().map(String::as_str)).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_one_spelling_and_one_place() {
        let tags = Tags::parse(["#Net/DNS", "b", "B", "größe_1"]).unwrap();
        assert_eq!(tags.joined(), "b, größe_1, net/dns");
        let json = serde_json::to_string(&tags).unwrap();
        assert_eq!(serde_json::from_str::<Tags>(&json).unwrap(), tags);
        for bad in [
            "",
            "#",
            "a b",
            "a,b",
            "a\nb",
            "\u{202e}a",
            &"a".repeat(TAG_CHARS_MAX + 1),
        ] {
            assert_eq!(Tags::parse([bad]), Err(InvalidField::Tags), "{bad:?}");
        }
        assert!(Tags::parse([&*"a".repeat(TAG_CHARS_MAX)]).is_ok());
    }

    #[test]
    fn there_are_so_many_and_no_more() {
        let many: Vec<String> = (0..=TAGS_MAX).map(|n| format!("t{n}")).collect();
        let texts = || many.iter().map(String::as_str);
        assert!(Tags::parse(texts()).is_err());
        assert_eq!(
            Tags::parse(texts().take(TAGS_MAX)).unwrap().iter().len(),
            TAGS_MAX
        );
        assert_eq!(Tags::of_what_fits(texts()).iter().len(), TAGS_MAX);
        assert_eq!(Tags::of_what_fits(["a b", "c"]).joined(), "c");
    }
}
