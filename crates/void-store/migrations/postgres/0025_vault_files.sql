-- Where something is in the folder that it came from or went to, and what a way back without losing a byte needs. `base` is what
-- the file held when it and Void last agreed, and `agreed_revision` the revision of that moment: as long as it is the newest,
-- the file is as its base. What was deleted keeps its path, so that a folder that did not change does not bring it back.
CREATE TABLE vault_files (
  space_id TEXT NOT NULL REFERENCES spaces (id),
  path TEXT COLLATE "C" NOT NULL CHECK (length(path) >= 1),
  kind TEXT NOT NULL CHECK (kind = 'page' OR kind = 'task' OR kind = 'ref' OR kind = 'attachment'),
  item_id TEXT NOT NULL CHECK (length(item_id) = 36),
  base TEXT NOT NULL CHECK (length(base) = 64),
  agreed_revision BIGINT CHECK (agreed_revision >= 1),
  encoding TEXT NOT NULL CHECK (length(encoding) >= 1),
  front_matter TEXT NOT NULL,
  PRIMARY KEY (space_id, path)
);
CREATE UNIQUE INDEX vault_files_by_item ON vault_files (item_id, kind);
