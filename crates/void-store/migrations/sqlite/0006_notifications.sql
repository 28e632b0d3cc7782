-- What the owner is told: written with what causes it, sent afterwards.
CREATE TABLE notifications (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  target TEXT NOT NULL,
  channel TEXT NOT NULL CHECK (channel IN ('telegram', 'ntfy', 'webhook')),
  -- A message is edited in place, an event is posted once, a digest stands for many messages.
  kind TEXT NOT NULL CHECK (kind IN ('message', 'event', 'digest')),
  proposal_id TEXT REFERENCES proposals (id),
  digest_id TEXT REFERENCES notifications (id),
  body TEXT,
  -- The event that caused it; 0 for a digest.
  seq INTEGER NOT NULL CHECK (seq >= 0),
  -- How often what it says has changed, and up to which change it was delivered.
  wanted INTEGER NOT NULL CHECK (wanted >= 1),
  shown INTEGER NOT NULL CHECK (shown >= 0 AND shown <= wanted),
  status TEXT NOT NULL CHECK (status IN ('waiting', 'sent', 'failed', 'digested', 'dropped')),
  held INTEGER NOT NULL CHECK (held IN (0, 1)),
  tries INTEGER NOT NULL CHECK (tries >= 0),
  next_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  sent_at INTEGER,
  message_ref TEXT,
  last_error TEXT,
  CHECK ((proposal_id IS NULL) = (kind = 'digest')),
  CHECK ((body IS NOT NULL) = (kind = 'event')),
  CHECK ((digest_id IS NOT NULL) = (status = 'digested')),
  CHECK (status <> 'digested' OR kind = 'message'),
  CHECK (status <> 'sent' OR sent_at IS NOT NULL)
) STRICT;
-- One message per proposal and place.
CREATE UNIQUE INDEX notifications_message ON notifications (proposal_id, target) WHERE kind = 'message';
CREATE INDEX notifications_by_proposal ON notifications (proposal_id);
CREATE INDEX notifications_by_digest ON notifications (digest_id);
CREATE INDEX notifications_due ON notifications (channel, next_at) WHERE status = 'waiting';
CREATE INDEX notifications_failed ON notifications (id) WHERE status = 'failed';
CREATE INDEX notifications_by_target ON notifications (target, id);

-- What a button or a link-free action stands for. Only the SHA-256 of a key is ever stored.
CREATE TABLE notification_keys (
  hash TEXT PRIMARY KEY NOT NULL CHECK (length(hash) = 64),
  target TEXT NOT NULL,
  proposal_id TEXT REFERENCES proposals (id),
  digest TEXT CHECK (length(digest) = 64),
  meaning TEXT NOT NULL CHECK (meaning IN ('ask', 'back', 'approve', 'reject', 'reject_now', 'reject_later', 'reject_wrong', 'reject_ask', 'details', 'show', 'test')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER,
  CHECK ((proposal_id IS NULL) = (meaning = 'test')),
  CHECK ((proposal_id IS NULL) = (digest IS NULL))
) STRICT;
CREATE INDEX notification_keys_by_expiry ON notification_keys (expires_at);

-- One-time codes by which an account says that it is the owner's.
CREATE TABLE notification_codes (
  hash TEXT PRIMARY KEY NOT NULL CHECK (length(hash) = 64),
  channel TEXT NOT NULL CHECK (channel IN ('telegram')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;

-- Accounts that said so.
CREATE TABLE notification_pairs (
  target TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  paired_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;

-- One row: which instance sends and listens.
CREATE TABLE notification_lease (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  holder TEXT,
  until_at INTEGER,
  CHECK ((holder IS NULL) = (until_at IS NULL))
) STRICT;
INSERT INTO notification_lease (id) VALUES (1);
