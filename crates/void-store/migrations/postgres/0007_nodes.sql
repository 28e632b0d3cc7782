-- Machines that run the pull executor: invited, waiting for the owner, or joined.
CREATE TABLE nodes (
  name TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('invited', 'waiting', 'joined')),
  invite TEXT CHECK (length(invite) = 64),
  invite_expires_at BIGINT,
  fingerprint TEXT CHECK (length(fingerprint) = 64),
  asked_at BIGINT,
  asked_from TEXT,
  token_id TEXT REFERENCES tokens (id),
  joined_at BIGINT,
  joined_by TEXT,
  version TEXT,
  list TEXT,
  generation BIGINT NOT NULL CHECK (generation >= 0),
  nonce TEXT,
  seen_at BIGINT,
  twin_at BIGINT,
  CHECK ((state = 'invited') = (invite_expires_at IS NOT NULL)),
  CHECK (state = 'joined' OR invite IS NOT NULL),
  CHECK ((state = 'invited') = (fingerprint IS NULL)),
  CHECK ((state = 'waiting') = (asked_at IS NOT NULL) AND (asked_at IS NULL) = (asked_from IS NULL)),
  CHECK ((state = 'joined') = (token_id IS NOT NULL)),
  CHECK ((state = 'joined') = (joined_at IS NOT NULL) AND (joined_at IS NULL) = (joined_by IS NULL))
);
CREATE UNIQUE INDEX nodes_by_invite ON nodes (invite);

-- Commands for a node that polls at another instance; gone when they were answered.
CREATE TABLE node_errands (
  id TEXT PRIMARY KEY NOT NULL,
  node TEXT NOT NULL,
  command TEXT NOT NULL,
  limit_ms BIGINT NOT NULL CHECK (limit_ms > 0),
  is_run BIGINT NOT NULL CHECK (is_run IN (0, 1)),
  created_at BIGINT NOT NULL,
  handed_at BIGINT,
  answer TEXT,
  CHECK (answer IS NULL OR handed_at IS NOT NULL)
);
CREATE INDEX node_errands_waiting ON node_errands (node) WHERE handed_at IS NULL;

-- What a deploy would change, in the requester's words; shown to the owner beside the reason.
ALTER TABLE proposals ADD COLUMN diff TEXT;
