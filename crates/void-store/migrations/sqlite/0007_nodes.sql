-- Machines that run the pull executor: invited, waiting for the owner, or joined.
CREATE TABLE nodes (
  name TEXT PRIMARY KEY NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('invited', 'waiting', 'joined')),
  invite TEXT CHECK (length(invite) = 64),
  invite_expires_at INTEGER,
  fingerprint TEXT CHECK (length(fingerprint) = 64),
  asked_at INTEGER,
  asked_from TEXT,
  token_id TEXT REFERENCES tokens (id),
  joined_at INTEGER,
  joined_by TEXT,
  version TEXT,
  list TEXT,
  generation INTEGER NOT NULL CHECK (generation >= 0),
  nonce TEXT,
  seen_at INTEGER,
  twin_at INTEGER,
  CHECK ((state = 'invited') = (invite_expires_at IS NOT NULL)),
  CHECK (state = 'joined' OR invite IS NOT NULL),
  CHECK ((state = 'invited') = (fingerprint IS NULL)),
  CHECK ((state = 'waiting') = (asked_at IS NOT NULL) AND (asked_at IS NULL) = (asked_from IS NULL)),
  CHECK ((state = 'joined') = (token_id IS NOT NULL)),
  CHECK ((state = 'joined') = (joined_at IS NOT NULL) AND (joined_at IS NULL) = (joined_by IS NULL))
) STRICT;
CREATE UNIQUE INDEX nodes_by_invite ON nodes (invite);

-- Commands for a node that polls at another instance; gone when they were answered.
CREATE TABLE node_errands (
  id TEXT PRIMARY KEY NOT NULL,
  node TEXT NOT NULL,
  command TEXT NOT NULL,
  limit_ms INTEGER NOT NULL CHECK (limit_ms > 0),
  is_run INTEGER NOT NULL CHECK (is_run IN (0, 1)),
  created_at INTEGER NOT NULL,
  handed_at INTEGER,
  answer TEXT,
  CHECK (answer IS NULL OR handed_at IS NOT NULL)
) STRICT;
CREATE INDEX node_errands_waiting ON node_errands (node) WHERE handed_at IS NULL;

-- What a deploy would change, in the requester's words; shown to the owner beside the reason.
ALTER TABLE proposals ADD COLUMN diff TEXT;
