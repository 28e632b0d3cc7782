-- What a row may say is one CHECK by its state, without lists: SQLite makes a table for each list at every write. Two indexes
-- leave out the rows that have nothing to find by them.
-- A constraint cannot be changed in place, so the table is made anew.
CREATE TABLE proposals_by_state (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  code TEXT NOT NULL CHECK (length(code) >= 4),
  epoch INTEGER NOT NULL,
  subject TEXT NOT NULL DEFAULT 'action' CHECK (subject = 'action' OR subject = 'change'),
  action_id TEXT NOT NULL,
  label TEXT NOT NULL,
  definition TEXT NOT NULL,
  params TEXT NOT NULL,
  tier TEXT NOT NULL CHECK (tier = 'safe' OR tier = 'risky'),
  risk TEXT NOT NULL CHECK (risk = 'nominal' OR risk = 'guarded' OR risk = 'critical'),
  target TEXT NOT NULL,
  digest TEXT NOT NULL CHECK (length(digest) = 64),
  exec_digest TEXT NOT NULL CHECK (length(exec_digest) = 64),
  requester_kind TEXT NOT NULL CHECK (requester_kind = 'owner' OR requester_kind = 'agent' OR requester_kind = 'viewer' OR requester_kind = 'node' OR requester_kind = 'system'),
  requester_id TEXT NOT NULL,
  requester_name TEXT NOT NULL,
  reason TEXT,
  diff TEXT,
  taint TEXT NOT NULL,
  asked_count INTEGER NOT NULL CHECK (asked_count >= 1),
  joined TEXT,
  revision INTEGER NOT NULL DEFAULT 0 CHECK (revision >= 0),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  status TEXT NOT NULL,
  approved_by TEXT,
  approved_at INTEGER,
  started_at INTEGER,
  ticket_expires_at INTEGER,
  lease_until INTEGER,
  run_instance_id TEXT,
  run_instance_name TEXT,
  ended_by TEXT,
  ended_at INTEGER,
  result TEXT,
  failure_code TEXT,
  failure_message TEXT,
  decision_reason TEXT,
  verification TEXT CHECK (verification = 'verified' OR verification = 'failed' OR verification = 'unverified'),
  verified_at INTEGER,
  verification_detail TEXT,
  CHECK ((approved_by IS NULL) = (approved_at IS NULL)),
  CHECK ((started_at IS NULL) = (lease_until IS NULL) AND (started_at IS NULL) = (ticket_expires_at IS NULL)),
  CHECK ((ended_at IS NULL) = (ended_by IS NULL)),
  CHECK ((failure_code IS NULL) = (failure_message IS NULL)),
  CHECK ((verification IS NULL) = (verified_at IS NULL) AND (verification IS NULL) = (verification_detail IS NULL)),
  CHECK (CASE status
    WHEN 'pending' THEN approved_by IS NULL AND started_at IS NULL AND ended_at IS NULL AND result IS NULL AND failure_code IS NULL AND verification IS NULL
    WHEN 'approved' THEN approved_by IS NOT NULL AND started_at IS NULL AND ended_at IS NULL AND result IS NULL AND failure_code IS NULL AND verification IS NULL
    WHEN 'running' THEN approved_by IS NOT NULL AND started_at IS NOT NULL AND ended_at IS NULL AND result IS NULL AND failure_code IS NULL AND verification IS NULL
    WHEN 'executed' THEN approved_by IS NOT NULL AND started_at IS NOT NULL AND ended_at IS NOT NULL AND result IS NOT NULL AND failure_code IS NULL
    WHEN 'failed' THEN approved_by IS NOT NULL AND started_at IS NOT NULL AND ended_at IS NOT NULL AND failure_code IS NOT NULL AND verification IS NULL
    WHEN 'unknown' THEN approved_by IS NOT NULL AND started_at IS NOT NULL AND ended_at IS NOT NULL AND failure_code IS NOT NULL AND verification IS NULL
    WHEN 'rejected' THEN approved_by IS NULL AND started_at IS NULL AND ended_at IS NOT NULL AND verification IS NULL
    WHEN 'refused' THEN approved_by IS NULL AND started_at IS NULL AND ended_at IS NOT NULL AND failure_code IS NOT NULL AND verification IS NULL
    WHEN 'cancelled' THEN started_at IS NULL AND ended_at IS NOT NULL AND failure_code IS NOT NULL AND verification IS NULL
    WHEN 'expired' THEN started_at IS NULL AND ended_at IS NOT NULL AND verification IS NULL
    ELSE FALSE END)
) STRICT;
INSERT INTO proposals_by_state (id, code, epoch, subject, action_id, label, definition, params, tier, risk, target, digest, exec_digest,
  requester_kind, requester_id, requester_name, reason, diff, taint, asked_count, joined, revision, created_at,
  expires_at, status, approved_by, approved_at, started_at, ticket_expires_at, lease_until, run_instance_id,
  run_instance_name, ended_by, ended_at, result, failure_code, failure_message, decision_reason, verification,
  verified_at, verification_detail)
  SELECT id, code, epoch, subject, action_id, label, definition, params, tier, risk, target, digest, exec_digest,
  requester_kind, requester_id, requester_name, reason, diff, taint, asked_count, joined, revision, created_at,
  expires_at, status, approved_by, approved_at, started_at, ticket_expires_at, lease_until, run_instance_id,
  run_instance_name, ended_by, ended_at, result, failure_code, failure_message, decision_reason, verification,
  verified_at, verification_detail
  FROM proposals;
DROP TABLE proposals;
ALTER TABLE proposals_by_state RENAME TO proposals;
CREATE UNIQUE INDEX proposals_code_open ON proposals (code)
  WHERE status = 'pending' OR status = 'approved' OR status = 'running' OR status = 'unknown';
-- At most one run per target.
CREATE UNIQUE INDEX proposals_target_running ON proposals (target) WHERE status = 'running';
CREATE INDEX proposals_target_unknown ON proposals (target) WHERE status = 'unknown';
-- At most one pending proposal per requester and digest: the second one joins it.
CREATE UNIQUE INDEX proposals_wish_pending ON proposals (requester_kind, requester_id, digest) WHERE status = 'pending';
CREATE INDEX proposals_by_status ON proposals (status, id);
CREATE INDEX proposals_by_requester ON proposals (requester_id, id);
CREATE INDEX proposals_by_action_start ON proposals (action_id, started_at) WHERE started_at IS NOT NULL;
CREATE INDEX proposals_by_end ON proposals (ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX proposals_pending_by_expiry ON proposals (expires_at) WHERE status = 'pending';
CREATE INDEX proposals_unchecked ON proposals (id) WHERE status = 'executed' AND verification IS NULL;
CREATE INDEX proposals_by_code ON proposals (code);
CREATE INDEX proposals_approved_risky ON proposals (id) WHERE tier = 'risky' AND approved_at IS NOT NULL;
CREATE INDEX proposals_by_policy ON proposals (requester_id, approved_at) WHERE approved_by = 'policy';
