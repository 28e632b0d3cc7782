//! Secrets are told apart by type: they have no way to be printed, serialised or compared early.

use std::fmt;

/// A credential in memory. `Debug` shows nothing of it; there is no `Display` and no `Serialize`.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The only way to the text. Call it where the secret leaves for its holder, nowhere else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing() {
        assert_eq!(
            format!("{:?}", Some(Secret::new("hunter2"))),
            "Some([secret])"
        );
    }
}
