//! Where a file is in its vault, and when two names are the same to some file system.
//!
//! A `VaultPath` never leads out of its folder nor to anything hidden: no empty name, none that begins with a
//! dot, no NUL. So a path that was stored can be written to on export without being judged again.

use std::fmt;

use unicode_normalization::UnicodeNormalization;

use crate::limits::{DEPTH_MAX, NAME_BYTES_MAX, PATH_BYTES_MAX};

/// A file's path below the vault's folder, with `/` between the names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VaultPath(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("a path has no empty name")]
    EmptyName,
    #[error("a name that begins with a dot is hidden, or leads out of the folder")]
    Hidden,
    #[error("a path has no NUL")]
    Nul,
    #[error("a name has more than {NAME_BYTES_MAX} bytes")]
    NameTooLong,
    #[error("a path has more than {PATH_BYTES_MAX} bytes")]
    TooLong,
    #[error("a path has more than {DEPTH_MAX} names")]
    TooDeep,
}

impl VaultPath {
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text.len() > PATH_BYTES_MAX {
            return Err(PathError::TooLong);
        }
        if text.split('/').count() > DEPTH_MAX {
            return Err(PathError::TooDeep);
        }
        for name in text.split('/') {
            check_name(name)?;
        }
        Ok(Self(text.to_owned()))
    }

    /// The path of what has this name in this folder, `None` being the vault's own.
    pub fn in_folder(folder: Option<&str>, name: &str) -> Result<Self, PathError> {
        match folder {
            Some(folder) => Self::parse(&format!("{folder}/{name}")),
            None => Self::parse(name),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// The file's own name.
    pub fn name(&self) -> &str {
        match self.0.rsplit_once('/') {
            Some((_, name)) => name,
            None => &self.0,
        }
    }

    pub fn folder(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(folder, _)| folder)
    }

    /// Whether the name is that of Markdown; what is in the file is another question.
    pub fn is_markdown(&self) -> bool {
        self.without_extension().is_some()
    }

    /// The path without `.md`, if it ends so.
    pub fn without_extension(&self) -> Option<&str> {
        let at = self.0.len().checked_sub(".md".len())?;
        let (stem, extension) = self.0.split_at_checked(at)?;
        let has_name = !stem.is_empty() && !stem.ends_with('/');
        (has_name && extension.eq_ignore_ascii_case(".md")).then_some(stem)
    }

    /// The file's name without `.md`: what a note is called whose front matter says nothing else.
    pub fn stem(&self) -> &str {
        let stem = self.without_extension().unwrap_or(&self.0);
        match stem.rsplit_once('/') {
            Some((_, name)) => name,
            None => stem,
        }
    }

    pub fn folded(&self) -> String {
        folded(&self.0)
    }
}

/// As a person may see it: what would change the display of the words around it is escaped.
impl fmt::Display for VaultPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.0))
    }
}

fn check_name(name: &str) -> Result<(), PathError> {
    if name.is_empty() {
        return Err(PathError::EmptyName);
    }
    if name.starts_with('.') {
        return Err(PathError::Hidden);
    }
    if name.contains('\0') {
        return Err(PathError::Nul);
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(PathError::NameTooLong);
    }
    Ok(())
}

/// Equal for names that are one name to a file system without case or with normalised names (Windows, macOS).
pub fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lower: String = text.nfc().flat_map(char::to_lowercase).collect();
    lower.nfc().collect()
}

/// The text with everything escaped that is no visible character: names of files are a stranger's words.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_visible(character) {
            out.push(character);
        } else {
            out.extend(character.escape_unicode());
        }
    }
    out
}

/// Whether the character shows as itself. Format characters, controls and separators are what the standard
/// library escapes; the rest of the list shows as nothing, or as a variant of the character before.
pub(crate) fn is_visible(character: char) -> bool {
    if matches!(character, ' ' | '\'' | '"' | '\\') {
        return true;
    }
    let is_blank = matches!(
        character,
        '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    // A combining mark is escaped by `escape_debug` for standing alone; here it stands in a word.
    let is_printed = character.escape_debug().count() == 1 || character.is_alphabetic();
    let is_mark = unicode_normalization::char::is_combining_mark(character);
    !is_blank && (is_printed || is_mark)
}

#[cfg(test)]
mod tests;
