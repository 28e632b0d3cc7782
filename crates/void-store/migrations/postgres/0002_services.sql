-- What watched services have been up to: one row per change that was believed.
CREATE TABLE service_changes (
  service_id TEXT NOT NULL,
  at BIGINT NOT NULL,
  from_health TEXT NOT NULL CHECK (from_health IN ('up', 'down', 'unknown')),
  to_health TEXT NOT NULL CHECK (to_health IN ('up', 'down', 'unknown')),
  reason TEXT,
  PRIMARY KEY (service_id, at)
);
CREATE INDEX service_changes_by_time ON service_changes (at);
-- Runs whose check is not over; few at any time.
CREATE INDEX proposals_unchecked ON proposals (id) WHERE status = 'executed' AND verification IS NULL;
CREATE INDEX proposals_target_unknown ON proposals (target) WHERE status = 'unknown';
-- People say codes of what is over, too.
CREATE INDEX proposals_by_code ON proposals (code);
