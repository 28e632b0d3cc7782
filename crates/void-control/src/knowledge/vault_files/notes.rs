//! A file's bytes as what they become here, and back. Pure: what is read is what is written, byte for byte.

use void_domain::knowledge::{
    AttachmentName, Body, Details, DueDate, Fields, InvalidField, MediaType, NotePath, PageDetails,
    RefDetails, RefUrl, Tags, TaskDetails, TaskState, Title,
};
use void_domain::limits::ATTACHMENT_BYTES_MAX;
use void_domain::time::Timestamp;
use void_vault::{
    EntryKind, Field, FrontMatter, Note, NoteFields, NoteFile, NoteKind, NoteMarks, TaskStatus,
    TextEncoding, VaultEntry, VaultPath, title_of, write_note,
};

use super::RefusedFile;

/// What is around the text of a note in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoteEdges {
    pub encoding: TextEncoding,
    /// Of tasks and refs; a page has its front matter in its text.
    pub front_matter: String,
}

impl NoteEdges {
    /// Of what was made here.
    pub(crate) const fn plain() -> Self {
        Self {
            encoding: TextEncoding::PLAIN,
            front_matter: String::new(),
        }
    }
}

/// A file of a folder, read and judged.
#[derive(Debug, Clone)]
pub(crate) enum ReadFile {
    Note {
        fields: Fields,
        edges: NoteEdges,
        /// Its front matter says that a stranger wrote it.
        is_foreign: bool,
    },
    Attachment {
        name: AttachmentName,
        path: Option<NotePath>,
        media_type: MediaType,
    },
}

impl ReadFile {
    pub(crate) const fn kind(&self) -> EntryKind {
        match self {
            Self::Attachment { .. } => EntryKind::Attachment,
            Self::Note { fields, .. } => match fields.details {
                Details::Task(_) => EntryKind::Task,
                Details::Ref(_) => EntryKind::Ref,
                Details::Page(_) | Details::Space(_) | Details::Project => EntryKind::Page,
            },
        }
    }
}

pub(crate) fn read_file(path: &VaultPath, bytes: &[u8]) -> Result<ReadFile, RefusedFile> {
    if bytes.len() > ATTACHMENT_BYTES_MAX {
        return Err(RefusedFile::TooLarge);
    }
    let note = match VaultEntry::read(path, bytes) {
        VaultEntry::Note(note) => *note,
        VaultEntry::Attachment(_) => {
            return Ok(ReadFile::Attachment {
                name: AttachmentName::of_file(path.name()),
                path: note_path(path),
                media_type: MediaType::of_file(path.name()),
            });
        }
    };
    let is_foreign = note.is_foreign;
    let (fields, edges) = note_fields(path, note)?;
    // Nothing that is not known from the file itself stands in what is written.
    if note_bytes(path, &fields, &edges, (false, None)).as_deref() != Some(bytes) {
        return Err(RefusedFile::NotExact);
    }
    Ok(ReadFile::Note {
        fields,
        edges,
        is_foreign,
    })
}

fn note_fields(path: &VaultPath, note: Note) -> Result<(Fields, NoteEdges), RefusedFile> {
    let wrong = |field| move |wrong: InvalidField| RefusedFile::Field(field, wrong);
    let tags = Tags::of_what_fits(note.fields.tags().iter().map(String::as_str));
    let mut edges = NoteEdges {
        encoding: note.file.encoding,
        front_matter: String::new(),
    };
    let (details, body) = match note.kind {
        NoteKind::Page => {
            let page = PageDetails {
                project_id: None,
                tags: Tags::default(),
                path: note_path(path),
            };
            (Details::Page(page), note.file.text())
        }
        NoteKind::Task { status, due } => {
            let due = due.map(|due| DueDate::parse(&due.to_string())).transpose();
            let task = TaskDetails {
                project_id: None,
                state: state_of(status),
                due: due.map_err(wrong("due"))?,
                tags,
            };
            edges.front_matter = note.file.front_matter;
            (Details::Task(task), note.file.body)
        }
        NoteKind::Ref { url, .. } => {
            let kept = RefDetails {
                project_id: None,
                url: RefUrl::parse(&url).map_err(wrong("url"))?,
                tags,
            };
            edges.front_matter = note.file.front_matter;
            (Details::Ref(kept), note.file.body)
        }
    };
    let fields = Fields {
        title: Title::parse(&note.title).map_err(wrong("title"))?,
        body: Body::new(body).map_err(wrong("body"))?,
        details,
    };
    Ok((fields, edges))
}

/// The path as a page and an attachment show it; an odd one is kept in the table of files alone.
pub(crate) fn note_path(path: &VaultPath) -> Option<NotePath> {
    NotePath::parse(path.as_str()).ok()
}

const fn state_of(status: TaskStatus) -> TaskState {
    match status {
        TaskStatus::Open => TaskState::Open,
        TaskStatus::Done => TaskState::Done,
        TaskStatus::Dropped => TaskState::Dropped,
    }
}

const fn status_of(state: TaskState) -> TaskStatus {
    match state {
        TaskState::Open => TaskStatus::Open,
        TaskState::Done => TaskStatus::Done,
        TaskState::Dropped => TaskStatus::Dropped,
    }
}

/// What its file's path says that it is called, if its front matter says nothing else.
pub(crate) fn title_at(path: &VaultPath, fields: &Fields, edges: &NoteEdges) -> Option<Title> {
    let head = match fields.details {
        Details::Page(_) => fields.body.as_str(),
        Details::Task(_) | Details::Ref(_) | Details::Space(_) | Details::Project => {
            &edges.front_matter
        }
    };
    let (_, read) = FrontMatter::split(head);
    Title::parse(&title_of(path, &read)).ok()
}

/// The bytes of its file. What is foreign says so, and what was captured here says when, unless the file came from
/// elsewhere. A space and a project have no file.
pub(crate) fn note_bytes(
    path: &VaultPath,
    fields: &Fields,
    edges: &NoteEdges,
    (is_foreign, captured_at): (bool, Option<Timestamp>),
) -> Option<Vec<u8>> {
    let title = fields.title.as_str();
    let (note, read) = match &fields.details {
        Details::Page(_) => NoteFile::of_text(edges.encoding, fields.body.as_str().to_owned()),
        Details::Task(_) | Details::Ref(_) => {
            let (_, read) = FrontMatter::split(&edges.front_matter);
            let note = NoteFile {
                encoding: edges.encoding,
                front_matter: edges.front_matter.clone(),
                body: fields.body.as_str().to_owned(),
            };
            (note, read)
        }
        Details::Space(_) | Details::Project => return None,
    };
    let said = Tags::of_what_fits(read.tags().iter().map(String::as_str));
    let is_from_here = edges.front_matter.is_empty();
    let captured_here = captured_at
        .filter(|_| is_from_here)
        .map(|at| at.to_string());
    let (note_fields, tags) = match &fields.details {
        Details::Page(page) => (NoteFields::Page { title }, beside(&page.tags, &said, &read)),
        Details::Task(task) => {
            let status = status_of(task.state);
            let due = task.due.and_then(|due| due.to_string().parse().ok());
            let tags = (task.tags != said).then(|| listed(&task.tags));
            (NoteFields::Task { title, status, due }, tags)
        }
        Details::Ref(kept) => {
            let captured_at = match is_from_here {
                true => captured_here.as_deref(),
                false => read.words(Field::CapturedAt),
            };
            let url = kept.url.as_str();
            let tags = (kept.tags != said).then(|| listed(&kept.tags));
            let note_fields = NoteFields::Ref {
                title,
                url,
                captured_at,
            };
            (note_fields, tags)
        }
        Details::Space(_) | Details::Project => return None,
    };
    let marks = NoteMarks {
        tags: tags.as_deref(),
        is_foreign,
    };
    Some(write_note(path, &note, &note_fields, &marks))
}

fn listed(tags: &Tags) -> Vec<String> {
    tags.iter().map(str::to_owned).collect()
}

/// The tags of a page are those of its front matter and its own; nothing if the front matter has them all.
fn beside(own: &Tags, said: &Tags, read: &FrontMatter) -> Option<Vec<String>> {
    let missing: Vec<&str> = own.iter().filter(|tag| !said.contains(tag)).collect();
    if missing.is_empty() {
        return None;
    }
    let all = read.tags().iter().map(String::as_str).chain(missing);
    Some(all.map(str::to_owned).collect())
}
