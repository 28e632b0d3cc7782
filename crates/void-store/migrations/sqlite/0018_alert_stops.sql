-- What was told to be down may have been stopped by the owner since: its message says so, and is over. A constraint
-- cannot be changed in place, so the table is made anew.
CREATE TABLE alert_services_with_stops (
  alert_id TEXT NOT NULL REFERENCES alerts (id),
  service_id TEXT NOT NULL,
  label TEXT NOT NULL,
  -- The host, or the node of its guest.
  host TEXT,
  urgent INTEGER NOT NULL CHECK (urgent IN (0, 1)),
  first_at INTEGER NOT NULL,
  down_at INTEGER NOT NULL,
  ended_at INTEGER,
  ending TEXT CHECK (ending IN ('up', 'unwatched', 'stopped')),
  -- However often it flaps, it is one row.
  downs INTEGER NOT NULL CHECK (downs >= 1),
  reason TEXT,
  PRIMARY KEY (alert_id, service_id),
  CHECK ((ended_at IS NULL) = (ending IS NULL)),
  CHECK (down_at >= first_at)
) STRICT;
INSERT INTO alert_services_with_stops (alert_id, service_id, label, host, urgent, first_at, down_at, ended_at, ending, downs, reason)
  SELECT alert_id, service_id, label, host, urgent, first_at, down_at, ended_at, ending, downs, reason FROM alert_services;
DROP TABLE alert_services;
ALTER TABLE alert_services_with_stops RENAME TO alert_services;
CREATE INDEX alert_services_by_service ON alert_services (service_id, down_at);
