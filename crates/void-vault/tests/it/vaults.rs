//! A folder that a test fills, a Void that remembers what it imported, and chance that is the same every time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use void_vault::{
    ContentHash, EntryKind, ExportPlan, ImportPlan, NoteFields, NoteFile, NoteKind, NoteMarks,
    Scanned, StoredEntry, StoredState, VaultEntry, VaultFolder, VaultPath, plan_export,
    plan_import, write_note,
};

/// splitmix64: the same trials on every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

pub(crate) struct Disk(tempfile::TempDir);

impl Disk {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn open(&self) -> VaultFolder {
        VaultFolder::open(self.0.path()).unwrap()
    }

    pub(crate) fn scan(&self) -> Scanned {
        self.open().scan(&mut |_| true).unwrap()
    }
}

pub(crate) fn path(text: &str) -> VaultPath {
    VaultPath::parse(text).unwrap()
}

/// What is kept of a file: never its bytes, unless it is an attachment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kept {
    Note {
        encoding: String,
        front_matter: String,
        body: String,
        title: String,
        kind: NoteKind,
    },
    Attachment(Vec<u8>),
}

impl Kept {
    pub(crate) fn of(path: &VaultPath, bytes: &[u8]) -> Self {
        match VaultEntry::read(path, bytes) {
            VaultEntry::Note(note) => Self::Note {
                encoding: note.file.encoding.to_string(),
                front_matter: note.file.front_matter,
                body: note.file.body,
                title: note.title,
                kind: note.kind,
            },
            VaultEntry::Attachment(_) => Self::Attachment(bytes.to_vec()),
        }
    }

    fn write(&self, path: &VaultPath) -> Vec<u8> {
        let (encoding, front_matter, body, title, kind) = match self {
            Self::Attachment(bytes) => return bytes.clone(),
            Self::Note {
                encoding,
                front_matter,
                body,
                title,
                kind,
            } => (encoding, front_matter, body, title, kind),
        };
        let fields = match kind {
            NoteKind::Page => NoteFields::Page { title },
            NoteKind::Task { status, due } => NoteFields::Task {
                title,
                status: *status,
                due: *due,
            },
            NoteKind::Ref { url, captured_at } => NoteFields::Ref {
                title,
                url,
                captured_at: captured_at.as_deref(),
            },
        };
        let note = NoteFile {
            encoding: encoding.parse().unwrap(),
            front_matter: front_matter.clone(),
            body: body.clone(),
        };
        write_note(path, &note, &fields, &NoteMarks::default())
    }

    fn kind(&self) -> EntryKind {
        match self {
            Self::Note { kind, .. } => kind.entry(),
            Self::Attachment(_) => EntryKind::Attachment,
        }
    }
}

/// The part of Void that this crate is for: entries by number, with the hash that both sides agreed on.
#[derive(Default)]
pub(crate) struct Memory {
    next: usize,
    pub(crate) entries: BTreeMap<usize, (VaultPath, Option<ContentHash>, Kept)>,
}

impl Memory {
    pub(crate) fn stored(&self) -> Vec<StoredEntry<usize>> {
        let entry =
            |(key, (path, base, kept)): (&usize, &(VaultPath, Option<ContentHash>, Kept))| {
                StoredEntry {
                    key: *key,
                    path: path.clone(),
                    kind: kept.kind(),
                    base: *base,
                    state: StoredState::Present {
                        current: ContentHash::of(&kept.write(path)),
                    },
                }
            };
        self.entries.iter().map(entry).collect()
    }

    pub(crate) fn plan(&self, disk: &Disk) -> ImportPlan<usize> {
        plan_import(&self.stored(), &disk.scan().state()).unwrap()
    }

    /// Does what the plan says; conflicts stay.
    pub(crate) fn import(&mut self, disk: &Disk) -> ImportPlan<usize> {
        let plan = self.plan(disk);
        let folder = disk.open();
        for step in &plan.gone {
            self.entries.remove(&step.key).unwrap();
        }
        for step in &plan.rename {
            let (at, _, _) = self.entries.get_mut(&step.key).unwrap();
            assert_eq!(*at, step.from);
            *at = step.to.clone();
            self.check();
        }
        for step in &plan.create {
            let (at, hash) = (&step.file.path, step.file.hash);
            let kept = Kept::of(at, &folder.read_planned(at, hash).unwrap());
            assert_eq!(kept.kind(), step.file.kind);
            self.entries
                .insert(self.next, (at.clone(), Some(hash), kept));
            self.next += 1;
            self.check();
        }
        for step in &plan.update {
            let kept = Kept::of(
                &step.path,
                &folder.read_planned(&step.path, step.to).unwrap(),
            );
            self.entries
                .insert(step.key, (step.path.clone(), Some(step.to), kept));
        }
        for step in &plan.unchanged {
            if let Some(base) = step.new_base {
                self.entries.get_mut(&step.key).unwrap().1 = Some(base);
            }
        }
        plan
    }

    /// No path is held twice, as no database would let it.
    fn check(&self) {
        let paths: BTreeSet<&VaultPath> = self.entries.values().map(|(at, _, _)| at).collect();
        assert_eq!(paths.len(), self.entries.len());
    }

    pub(crate) fn export(&mut self, disk: &Disk) -> ExportPlan<usize> {
        let plan = plan_export(&self.stored(), &disk.scan().state()).unwrap();
        let folder = disk.open();
        for step in &plan.write {
            let (at, base, kept) = self.entries.get_mut(&step.key).unwrap();
            let bytes = kept.write(at);
            folder.write(at, &bytes, step.replaces).unwrap();
            *base = Some(ContentHash::of(&bytes));
        }
        plan
    }
}
