-- The gate: proposals with their history, the audit chain, events, credentials, the freeze.

-- One row: where the chain and the event numbers stand. Held by the writer for a whole batch.
CREATE TABLE heads (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  audit_seq BIGINT NOT NULL CHECK (audit_seq >= 0),
  audit_hash TEXT NOT NULL CHECK (length(audit_hash) = 64),
  event_seq BIGINT NOT NULL CHECK (event_seq >= 0),
  open_proposals BIGINT NOT NULL CHECK (open_proposals >= 0)
);
INSERT INTO heads (id, audit_seq, audit_hash, event_seq, open_proposals)
VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000', 0, 0);

-- One row: the epoch is raised whenever an older copy is restored, and voids what waited then.
CREATE TABLE installation (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  epoch BIGINT NOT NULL CHECK (epoch >= 1)
);
INSERT INTO installation (id, epoch) VALUES (1, 1);

CREATE TABLE proposals (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  code TEXT NOT NULL CHECK (length(code) >= 4),
  epoch BIGINT NOT NULL,
  action_id TEXT NOT NULL,
  label TEXT NOT NULL,
  definition TEXT NOT NULL,
  params TEXT NOT NULL,
  tier TEXT NOT NULL CHECK (tier IN ('safe', 'risky')),
  risk TEXT NOT NULL CHECK (risk IN ('nominal', 'guarded', 'critical')),
  target TEXT NOT NULL,
  digest TEXT NOT NULL CHECK (length(digest) = 64),
  exec_digest TEXT NOT NULL CHECK (length(exec_digest) = 64),
  requester_kind TEXT NOT NULL CHECK (requester_kind IN ('owner', 'agent', 'viewer', 'node', 'system')),
  requester_id TEXT COLLATE "C" NOT NULL,
  requester_name TEXT NOT NULL,
  reason TEXT,
  taint TEXT NOT NULL,
  asked_count BIGINT NOT NULL CHECK (asked_count >= 1),
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'running', 'executed', 'failed', 'rejected', 'expired', 'cancelled', 'unknown', 'refused')),
  approved_by TEXT,
  approved_at BIGINT,
  started_at BIGINT,
  ticket_expires_at BIGINT,
  lease_until BIGINT,
  ended_by TEXT,
  ended_at BIGINT,
  result TEXT,
  failure_code TEXT,
  failure_message TEXT,
  decision_reason TEXT,
  verification TEXT CHECK (verification IN ('verified', 'failed', 'unverified')),
  verified_at BIGINT,
  verification_detail TEXT,
  CHECK ((approved_by IS NULL) = (approved_at IS NULL)),
  CHECK ((started_at IS NULL) = (lease_until IS NULL) AND (started_at IS NULL) = (ticket_expires_at IS NULL)),
  CHECK ((ended_at IS NULL) = (ended_by IS NULL)),
  CHECK ((failure_code IS NULL) = (failure_message IS NULL)),
  CHECK ((verification IS NULL) = (verified_at IS NULL) AND (verification IS NULL) = (verification_detail IS NULL)),
  CHECK (verification IS NULL OR status = 'executed'),
  CHECK (status NOT IN ('pending', 'approved', 'running') OR (ended_at IS NULL AND failure_code IS NULL AND result IS NULL)),
  CHECK (status NOT IN ('executed', 'failed', 'rejected', 'expired', 'cancelled', 'unknown', 'refused') OR ended_at IS NOT NULL),
  CHECK (status NOT IN ('approved', 'running', 'executed', 'failed', 'unknown') OR approved_by IS NOT NULL),
  CHECK (status NOT IN ('running', 'executed', 'failed', 'unknown') OR started_at IS NOT NULL),
  CHECK (status NOT IN ('pending', 'approved', 'rejected', 'expired', 'cancelled', 'refused') OR started_at IS NULL),
  CHECK (status NOT IN ('pending', 'rejected', 'refused') OR approved_by IS NULL),
  CHECK (status NOT IN ('failed', 'unknown', 'refused', 'cancelled') OR failure_code IS NOT NULL),
  CHECK (status <> 'executed' OR (result IS NOT NULL AND failure_code IS NULL))
);
-- A code is unique while people may still say it.
CREATE UNIQUE INDEX proposals_code_open ON proposals (code) WHERE status IN ('pending', 'approved', 'running', 'unknown');
-- The database itself lets only one proposal run per target.
CREATE UNIQUE INDEX proposals_target_running ON proposals (target) WHERE status = 'running';
-- The same wish of the same requester joins the one that waits.
CREATE UNIQUE INDEX proposals_wish_pending ON proposals (requester_kind, requester_id, digest) WHERE status = 'pending';
CREATE INDEX proposals_by_status ON proposals (status, id);
CREATE INDEX proposals_by_requester ON proposals (requester_id, id);
CREATE INDEX proposals_by_action_start ON proposals (action_id, started_at);
CREATE INDEX proposals_by_end ON proposals (ended_at, id);
CREATE INDEX proposals_pending_by_expiry ON proposals (expires_at) WHERE status = 'pending';

CREATE TABLE transitions (
  proposal_id TEXT COLLATE "C" NOT NULL REFERENCES proposals (id),
  step BIGINT NOT NULL CHECK (step >= 1),
  from_status TEXT,
  to_status TEXT NOT NULL,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  PRIMARY KEY (proposal_id, step)
);

CREATE TABLE audit (
  seq BIGINT PRIMARY KEY CHECK (seq >= 1),
  at BIGINT NOT NULL,
  request_id TEXT,
  actor TEXT NOT NULL,
  verb TEXT NOT NULL,
  subject TEXT,
  detail TEXT NOT NULL,
  catalogue TEXT,
  prev TEXT NOT NULL CHECK (length(prev) = 64),
  hash TEXT NOT NULL CHECK (length(hash) = 64)
);
CREATE INDEX audit_by_subject ON audit (subject, seq);

CREATE TABLE events (
  seq BIGINT PRIMARY KEY CHECK (seq >= 1),
  at BIGINT NOT NULL,
  kind TEXT NOT NULL,
  audience TEXT NOT NULL,
  payload TEXT NOT NULL
);

CREATE TABLE tokens (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  kind TEXT NOT NULL CHECK (kind IN ('agent', 'viewer', 'node')),
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  capabilities TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT,
  revoked_at BIGINT
);
CREATE UNIQUE INDEX tokens_name_live ON tokens (kind, name) WHERE revoked_at IS NULL;

CREATE TABLE sessions (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  created_at BIGINT NOT NULL,
  authenticated_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  ended_at BIGINT
);

-- One row; all empty means thawed.
CREATE TABLE freezes (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  frozen_by TEXT,
  frozen_at BIGINT,
  reason TEXT,
  until_at BIGINT,
  CHECK ((frozen_by IS NULL) = (frozen_at IS NULL)),
  CHECK (frozen_by IS NOT NULL OR (reason IS NULL AND until_at IS NULL))
);
INSERT INTO freezes (id) VALUES (1);
