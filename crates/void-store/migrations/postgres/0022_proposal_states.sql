-- What a row may say is one CHECK by its state, without lists: SQLite makes a table for each list at every write. Two indexes
-- leave out the rows that have nothing to find by them.
-- The CHECKs have names that PostgreSQL gave them.
DO $$
DECLARE constraint_name TEXT;
BEGIN
  FOR constraint_name IN SELECT conname FROM pg_constraint WHERE conrelid = 'proposals'::regclass AND contype = 'c' LOOP
    EXECUTE format('ALTER TABLE proposals DROP CONSTRAINT %I', constraint_name);
  END LOOP;
END $$;
ALTER TABLE proposals
  ADD CHECK (length(id) = 36),
  ADD CHECK (length(code) >= 4),
  ADD CHECK (subject = 'action' OR subject = 'change'),
  ADD CHECK (tier = 'safe' OR tier = 'risky'),
  ADD CHECK (risk = 'nominal' OR risk = 'guarded' OR risk = 'critical'),
  ADD CHECK (length(digest) = 64),
  ADD CHECK (length(exec_digest) = 64),
  ADD CHECK (requester_kind = 'owner' OR requester_kind = 'agent' OR requester_kind = 'viewer' OR requester_kind = 'node' OR requester_kind = 'system'),
  ADD CHECK (asked_count >= 1),
  ADD CHECK (revision >= 0),
  ADD CHECK (verification = 'verified' OR verification = 'failed' OR verification = 'unverified'),
  ADD CHECK ((approved_by IS NULL) = (approved_at IS NULL)),
  ADD CHECK ((started_at IS NULL) = (lease_until IS NULL) AND (started_at IS NULL) = (ticket_expires_at IS NULL)),
  ADD CHECK ((ended_at IS NULL) = (ended_by IS NULL)),
  ADD CHECK ((failure_code IS NULL) = (failure_message IS NULL)),
  ADD CHECK ((verification IS NULL) = (verified_at IS NULL) AND (verification IS NULL) = (verification_detail IS NULL)),
  ADD CHECK (CASE status
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
    ELSE FALSE END);
DROP INDEX proposals_by_action_start;
CREATE INDEX proposals_by_action_start ON proposals (action_id, started_at) WHERE started_at IS NOT NULL;
DROP INDEX proposals_by_end;
CREATE INDEX proposals_by_end ON proposals (ended_at, id) WHERE ended_at IS NOT NULL;
DROP INDEX proposals_code_open;
CREATE UNIQUE INDEX proposals_code_open ON proposals (code)
  WHERE status = 'pending' OR status = 'approved' OR status = 'running' OR status = 'unknown';
