-- What the owner keeps: spaces, and the projects, pages, tasks and refs in them. An entity's row is its newest revision;
-- every revision is in one table. The five tables have the same columns first, so that they are read alike: a space is in
-- itself. Lists go down an index by recency (the time of the last revision and the id), so they cost what they show.
CREATE TABLE spaces (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  space_id TEXT NOT NULL CHECK (space_id = id),
  title TEXT NOT NULL CHECK (length(title) >= 1),
  revision INTEGER NOT NULL CHECK (revision >= 1),
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  origin TEXT NOT NULL,
  reason TEXT,
  vouched_at INTEGER,
  vouched_by TEXT,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER,
  deleted_by TEXT,
  recency TEXT NOT NULL,
  agent TEXT,
  project_count INTEGER NOT NULL DEFAULT 0 CHECK (project_count >= 0),
  page_count INTEGER NOT NULL DEFAULT 0 CHECK (page_count >= 0),
  task_count INTEGER NOT NULL DEFAULT 0 CHECK (task_count >= 0),
  ref_count INTEGER NOT NULL DEFAULT 0 CHECK (ref_count >= 0),
  body TEXT NOT NULL,
  CHECK ((vouched_at IS NULL) = (vouched_by IS NULL)),
  CHECK ((deleted_at IS NULL) = (deleted_by IS NULL))
) STRICT;
CREATE INDEX spaces_by_recency ON spaces (recency) WHERE deleted_at IS NULL;
CREATE INDEX spaces_deleted ON spaces (recency) WHERE deleted_at IS NOT NULL;
CREATE TABLE projects (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  space_id TEXT NOT NULL REFERENCES spaces (id),
  title TEXT NOT NULL CHECK (length(title) >= 1),
  revision INTEGER NOT NULL CHECK (revision >= 1),
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  origin TEXT NOT NULL,
  reason TEXT,
  vouched_at INTEGER,
  vouched_by TEXT,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER,
  deleted_by TEXT,
  recency TEXT NOT NULL,
  body TEXT NOT NULL,
  CHECK ((vouched_at IS NULL) = (vouched_by IS NULL)),
  CHECK ((deleted_at IS NULL) = (deleted_by IS NULL))
) STRICT;
CREATE INDEX projects_by_recency ON projects (space_id, recency) WHERE deleted_at IS NULL;
CREATE INDEX projects_deleted ON projects (space_id, recency) WHERE deleted_at IS NOT NULL;
CREATE TABLE pages (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  space_id TEXT NOT NULL REFERENCES spaces (id),
  title TEXT NOT NULL CHECK (length(title) >= 1),
  revision INTEGER NOT NULL CHECK (revision >= 1),
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  origin TEXT NOT NULL,
  reason TEXT,
  vouched_at INTEGER,
  vouched_by TEXT,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER,
  deleted_by TEXT,
  recency TEXT NOT NULL,
  project_id TEXT REFERENCES projects (id),
  tags TEXT NOT NULL,
  path TEXT,
  title_key TEXT NOT NULL,
  body TEXT NOT NULL,
  CHECK ((vouched_at IS NULL) = (vouched_by IS NULL)),
  CHECK ((deleted_at IS NULL) = (deleted_by IS NULL))
) STRICT;
CREATE INDEX pages_by_recency ON pages (space_id, recency) WHERE deleted_at IS NULL;
CREATE INDEX pages_deleted ON pages (space_id, recency) WHERE deleted_at IS NOT NULL;
CREATE INDEX pages_by_project ON pages (project_id, recency) WHERE deleted_at IS NULL;
CREATE INDEX pages_by_title ON pages (space_id, title_key) WHERE deleted_at IS NULL;
CREATE TABLE tasks (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  space_id TEXT NOT NULL REFERENCES spaces (id),
  title TEXT NOT NULL CHECK (length(title) >= 1),
  revision INTEGER NOT NULL CHECK (revision >= 1),
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  origin TEXT NOT NULL,
  reason TEXT,
  vouched_at INTEGER,
  vouched_by TEXT,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER,
  deleted_by TEXT,
  recency TEXT NOT NULL,
  project_id TEXT REFERENCES projects (id),
  tags TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state = 'open' OR state = 'done' OR state = 'dropped'),
  due TEXT CHECK (length(due) = 10),
  due_order TEXT NOT NULL,
  body TEXT NOT NULL,
  CHECK ((vouched_at IS NULL) = (vouched_by IS NULL)),
  CHECK ((deleted_at IS NULL) = (deleted_by IS NULL))
) STRICT;
CREATE INDEX tasks_by_recency ON tasks (space_id, recency) WHERE deleted_at IS NULL;
CREATE INDEX tasks_deleted ON tasks (space_id, recency) WHERE deleted_at IS NOT NULL;
CREATE INDEX tasks_by_project ON tasks (project_id, recency) WHERE deleted_at IS NULL;
-- What is to be done next: by day, those without a day last.
CREATE INDEX tasks_open_by_due ON tasks (space_id, due_order) WHERE state = 'open' AND deleted_at IS NULL;
CREATE TABLE refs (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  space_id TEXT NOT NULL REFERENCES spaces (id),
  title TEXT NOT NULL CHECK (length(title) >= 1),
  revision INTEGER NOT NULL CHECK (revision >= 1),
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  origin TEXT NOT NULL,
  reason TEXT,
  vouched_at INTEGER,
  vouched_by TEXT,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER,
  deleted_by TEXT,
  recency TEXT NOT NULL,
  project_id TEXT REFERENCES projects (id),
  tags TEXT NOT NULL,
  url TEXT NOT NULL,
  body TEXT NOT NULL,
  CHECK ((vouched_at IS NULL) = (vouched_by IS NULL)),
  CHECK ((deleted_at IS NULL) = (deleted_by IS NULL))
) STRICT;
CREATE INDEX refs_by_recency ON refs (space_id, recency) WHERE deleted_at IS NULL;
CREATE INDEX refs_deleted ON refs (space_id, recency) WHERE deleted_at IS NOT NULL;
CREATE INDEX refs_by_project ON refs (project_id, recency) WHERE deleted_at IS NULL;
CREATE INDEX refs_by_url ON refs (space_id, url) WHERE deleted_at IS NULL;
CREATE TABLE revisions (
  kind TEXT NOT NULL CHECK (kind = 'space' OR kind = 'project' OR kind = 'page' OR kind = 'task' OR kind = 'ref'),
  entity_id TEXT NOT NULL CHECK (length(entity_id) = 36),
  number INTEGER NOT NULL CHECK (number >= 1),
  at INTEGER NOT NULL,
  by_whom TEXT NOT NULL,
  origin TEXT NOT NULL,
  reason TEXT,
  vouched_at INTEGER,
  vouched_by TEXT,
  title TEXT NOT NULL,
  details TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (kind, entity_id, number),
  CHECK ((vouched_at IS NULL) = (vouched_by IS NULL))
) STRICT;
-- What the newest revision of an entity names, each once: another entity by its id, or a page by its title.
CREATE TABLE links (
  from_kind TEXT NOT NULL,
  from_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  space_id TEXT NOT NULL,
  to_kind TEXT,
  to_id TEXT,
  to_title TEXT,
  PRIMARY KEY (from_kind, from_id, place),
  CHECK ((to_kind IS NULL) = (to_id IS NULL)),
  CHECK ((to_id IS NULL) = (to_title IS NOT NULL))
) STRICT;
CREATE INDEX links_by_id ON links (to_id, from_id) WHERE to_id IS NOT NULL;
CREATE INDEX links_by_title ON links (space_id, to_title, from_id) WHERE to_title IS NOT NULL;
-- Which services and actions a page says that it is about.
CREATE TABLE runbooks (
  kind TEXT NOT NULL CHECK (kind = 'service' OR kind = 'action'),
  name TEXT NOT NULL,
  page_id TEXT NOT NULL REFERENCES pages (id),
  PRIMARY KEY (kind, name, page_id)
) STRICT;
CREATE INDEX runbooks_by_page ON runbooks (page_id);
CREATE TABLE attachment_contents (
  hash TEXT PRIMARY KEY NOT NULL CHECK (length(hash) = 64),
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
  content BLOB NOT NULL
) STRICT;
CREATE TABLE attachments (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  space_id TEXT NOT NULL REFERENCES spaces (id),
  name TEXT NOT NULL,
  path TEXT,
  media_type TEXT NOT NULL,
  hash TEXT NOT NULL REFERENCES attachment_contents (hash),
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  deleted_at INTEGER,
  deleted_by TEXT,
  CHECK ((deleted_at IS NULL) = (deleted_by IS NULL))
) STRICT;
CREATE INDEX attachments_by_space ON attachments (space_id, id) WHERE deleted_at IS NULL;
CREATE INDEX attachments_by_name ON attachments (space_id, name) WHERE deleted_at IS NULL;
-- A conversation belongs to a space, or to something that it is about, or to neither.
ALTER TABLE conversations ADD COLUMN about_kind TEXT;
ALTER TABLE conversations ADD COLUMN about_id TEXT CHECK ((about_id IS NULL) = (about_kind IS NULL));
CREATE UNIQUE INDEX conversations_ambient ON conversations (space_id, agent) WHERE space_id IS NOT NULL AND about_kind IS NULL;
CREATE INDEX conversations_by_space ON conversations (space_id, id) WHERE space_id IS NOT NULL;
CREATE INDEX conversations_about ON conversations (about_kind, about_id, id) WHERE about_kind IS NOT NULL;
