-- What the owner is told of services that are down: one alert, one message. Of what goes down together on a
-- host or node there is one.
CREATE TABLE alerts (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  -- What its services share: service:ID, host:NAME, node:NAME or many.
  scope TEXT NOT NULL,
  opened_at BIGINT NOT NULL,
  -- When none of its services was down any more.
  ended_at BIGINT,
  -- When one of them went down again: if it stays so, it is said once more.
  again_at BIGINT,
  -- How often a service joined: a button is good for what was shown with it.
  revision BIGINT NOT NULL CHECK (revision >= 0),
  CHECK (ended_at IS NULL OR again_at IS NULL)
);
CREATE INDEX alerts_open ON alerts (scope, opened_at) WHERE ended_at IS NULL;
CREATE INDEX alerts_by_end ON alerts (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE alert_services (
  alert_id TEXT COLLATE "C" NOT NULL REFERENCES alerts (id),
  service_id TEXT NOT NULL,
  label TEXT NOT NULL,
  -- The host, or the node of its guest.
  host TEXT,
  urgent BIGINT NOT NULL CHECK (urgent IN (0, 1)),
  first_at BIGINT NOT NULL,
  down_at BIGINT NOT NULL,
  ended_at BIGINT,
  ending TEXT CHECK (ending IN ('up', 'unwatched')),
  -- However often it flaps, it is one row.
  downs BIGINT NOT NULL CHECK (downs >= 1),
  reason TEXT,
  PRIMARY KEY (alert_id, service_id),
  CHECK ((ended_at IS NULL) = (ending IS NULL)),
  CHECK (down_at >= first_at)
);
CREATE INDEX alert_services_by_service ON alert_services (service_id, down_at);

-- The services that are believed down now; without an alert as long as nobody is to be told.
CREATE TABLE outages (
  service_id TEXT PRIMARY KEY NOT NULL,
  down_at BIGINT NOT NULL,
  reason TEXT,
  alert_id TEXT COLLATE "C" REFERENCES alerts (id)
);
CREATE INDEX outages_by_alert ON outages (alert_id);

-- What the owner is not told for a time.
CREATE TABLE mutes (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  -- service:ID or host:NAME.
  subject TEXT NOT NULL,
  reason TEXT NOT NULL,
  muted_by TEXT NOT NULL,
  at BIGINT NOT NULL,
  until_at BIGINT NOT NULL,
  ended_at BIGINT,
  ended_by TEXT,
  CHECK (until_at > at),
  CHECK ((ended_at IS NULL) = (ended_by IS NULL))
);
CREATE UNIQUE INDEX mutes_running ON mutes (subject) WHERE ended_at IS NULL;
CREATE INDEX mutes_by_end ON mutes (ended_at) WHERE ended_at IS NOT NULL;

-- The outbox carries alerts as well. A constraint cannot be changed in place, so the table is made anew.
CREATE TABLE notifications_with_alerts (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  target TEXT NOT NULL,
  channel TEXT NOT NULL CHECK (channel IN ('telegram', 'ntfy', 'webhook')),
  -- A message and an alert are edited in place, an event is posted once, a digest stands for many of them.
  kind TEXT NOT NULL CHECK (kind IN ('message', 'event', 'digest', 'alert')),
  proposal_id TEXT COLLATE "C" REFERENCES proposals (id),
  alert_id TEXT COLLATE "C" REFERENCES alerts (id),
  digest_id TEXT COLLATE "C" REFERENCES notifications_with_alerts (id),
  body TEXT,
  -- The event that caused it; 0 for a digest.
  seq BIGINT NOT NULL CHECK (seq >= 0),
  -- How often what it says has changed, and up to which change it was delivered.
  wanted BIGINT NOT NULL CHECK (wanted >= 1),
  shown BIGINT NOT NULL CHECK (shown >= 0 AND shown <= wanted),
  status TEXT NOT NULL CHECK (status IN ('waiting', 'sent', 'failed', 'digested', 'dropped')),
  held BIGINT NOT NULL CHECK (held IN (0, 1)),
  tries BIGINT NOT NULL CHECK (tries >= 0),
  next_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  sent_at BIGINT,
  message_ref TEXT,
  last_error TEXT,
  CHECK ((proposal_id IS NOT NULL) = (kind IN ('message', 'event'))),
  CHECK ((alert_id IS NOT NULL) = (kind = 'alert')),
  CHECK ((body IS NOT NULL) = (kind = 'event')),
  CHECK ((digest_id IS NOT NULL) = (status = 'digested')),
  CHECK (status <> 'digested' OR kind IN ('message', 'alert')),
  CHECK (status <> 'sent' OR sent_at IS NOT NULL)
);
INSERT INTO notifications_with_alerts (id, target, channel, kind, proposal_id, digest_id, body, seq, wanted, shown, status, held,
  tries, next_at, created_at, sent_at, message_ref, last_error)
  SELECT id, target, channel, kind, proposal_id, digest_id, body, seq, wanted, shown, status, held, tries, next_at, created_at,
  sent_at, message_ref, last_error FROM notifications;
DROP TABLE notifications;
ALTER TABLE notifications_with_alerts RENAME TO notifications;
-- One message per proposal or alert and place.
CREATE UNIQUE INDEX notifications_message ON notifications (proposal_id, target) WHERE kind = 'message';
CREATE UNIQUE INDEX notifications_alert ON notifications (alert_id, target) WHERE kind = 'alert';
CREATE INDEX notifications_by_proposal ON notifications (proposal_id);
CREATE INDEX notifications_by_digest ON notifications (digest_id);
CREATE INDEX notifications_due ON notifications (channel, next_at) WHERE status = 'waiting';
CREATE INDEX notifications_failed ON notifications (id) WHERE status = 'failed';
CREATE INDEX notifications_by_target ON notifications (target, id);

CREATE TABLE notification_keys_with_alerts (
  hash TEXT PRIMARY KEY NOT NULL CHECK (length(hash) = 64),
  target TEXT NOT NULL,
  proposal_id TEXT COLLATE "C" REFERENCES proposals (id),
  digest TEXT CHECK (length(digest) = 64),
  meaning TEXT NOT NULL CHECK (meaning IN ('ask', 'back', 'approve', 'reject', 'reject_now', 'reject_later', 'reject_wrong', 'reject_ask', 'details', 'show', 'test', 'mute_1h', 'mute_8h', 'unmute')),
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at BIGINT,
  revision BIGINT NOT NULL DEFAULT 0 CHECK (revision >= 0),
  alert_id TEXT COLLATE "C" REFERENCES alerts (id),
  CHECK ((alert_id IS NOT NULL) = (meaning IN ('mute_1h', 'mute_8h', 'unmute'))),
  CHECK ((proposal_id IS NULL) = (meaning IN ('test', 'mute_1h', 'mute_8h', 'unmute'))),
  CHECK ((proposal_id IS NULL) = (digest IS NULL))
);
INSERT INTO notification_keys_with_alerts (hash, target, proposal_id, digest, meaning, created_at, expires_at, used_at, revision)
  SELECT hash, target, proposal_id, digest, meaning, created_at, expires_at, used_at, revision FROM notification_keys;
DROP TABLE notification_keys;
ALTER TABLE notification_keys_with_alerts RENAME TO notification_keys;
CREATE INDEX notification_keys_by_expiry ON notification_keys (expires_at);
CREATE INDEX notification_keys_by_alert ON notification_keys (alert_id);
