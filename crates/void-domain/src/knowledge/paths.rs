//! Where a note or a file is in the folder that it came from: a relative path that never leads out of a folder.

use super::fields::{InvalidField, text_field};
use crate::limits::NOTE_PATH_BYTES_MAX;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NotePath(String);

text_field!(NotePath);

impl NotePath {
    pub fn parse(text: &str) -> Result<Self, InvalidField> {
        let is_fit = !text.is_empty()
            && text.len() <= NOTE_PATH_BYTES_MAX
            && !text.chars().any(char::is_control)
            && !text.contains('\\')
            && text.split('/').all(|part| !matches!(part, "" | "." | ".."));
        match is_fit {
            true => Ok(Self(text.to_owned())),
            false => Err(InvalidField::Path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out_of_its_folder() {
        for good in ["a.md", "Notes/Größe (1).md", ".obsidian/x", "a..b/c", "c:x"] {
            assert_eq!(NotePath::parse(good).unwrap().as_str(), good);
        }
        let long = "a".repeat(NOTE_PATH_BYTES_MAX + 1);
        for bad in [
            "",
            "/etc/passwd",
            "..",
            "a/../b",
            "a/./b",
            "a//b",
            "a/",
            "a\\b",
            "a\nb",
            "a\0",
            &long,
        ] {
            assert_eq!(NotePath::parse(bad), Err(InvalidField::Path), "{bad:?}");
        }
    }
}
