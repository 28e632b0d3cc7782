//! Which file of a vault something is, and what a way back without losing a byte needs beside its words.

use super::entities::{EntityId, EntityKind};
use crate::digests::Digest;
use crate::ids::{AttachmentId, SpaceId};

/// What has a file: something with a text, or a file as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VaultItem {
    Entity(EntityId),
    Attachment(AttachmentId),
}

impl VaultItem {
    pub const ATTACHMENT: &'static str = "attachment";

    /// `page`, `task`, `ref` or `attachment`.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Entity(id) => id.kind().as_str(),
            Self::Attachment(_) => Self::ATTACHMENT,
        }
    }

    /// Spaces and projects are no files.
    pub fn parse(kind: &str, id: &str) -> Option<Self> {
        if kind == Self::ATTACHMENT {
            return id.parse().ok().map(Self::Attachment);
        }
        let kind = EntityKind::parse(kind)?;
        match kind {
            EntityKind::Page | EntityKind::Task | EntityKind::Ref => {
                EntityId::parse(kind, id).ok().map(Self::Entity)
            }
            EntityKind::Space | EntityKind::Project => None,
        }
    }

    pub fn id(self) -> String {
        match self {
            Self::Entity(id) => id.to_string(),
            Self::Attachment(id) => id.to_string(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultFile {
    pub space_id: SpaceId,
    /// Any that a file system has: whoever writes there judges it by the vault's own rules.
    pub path: String,
    pub item: VaultItem,
    /// What the file held when it and Void last agreed.
    pub base: Digest,
    /// The revision of that moment. As long as it is the newest, nobody has to write the file to know its bytes.
    pub agreed_revision: Option<u64>,
    /// How the file begins and how its lines end.
    pub encoding: String,
    /// As it is written, where it is no part of the text: of tasks and refs.
    pub front_matter: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[test]
    fn what_has_a_file_is_named_by_a_word_and_an_id() {
        let id = AttachmentId::new(Timestamp::from_ms(1), [1; 10]).to_string();
        for kind in ["page", "task", "ref", "attachment"] {
            let item = VaultItem::parse(kind, &id).unwrap();
            assert_eq!((item.kind(), item.id()), (kind, id.clone()));
        }
        for (kind, id) in [
            ("space", id.as_str()),
            ("project", &id),
            ("", &id),
            ("page", "x"),
            ("attachment", "x"),
        ] {
            assert_eq!(VaultItem::parse(kind, id), None, "{kind} {id}");
        }
    }
}
