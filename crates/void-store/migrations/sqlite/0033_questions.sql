-- Questions: an agent asks the owner or another agent, the owner asks an agent. Each ends once.
CREATE TABLE questions (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  code TEXT NOT NULL CHECK (length(code) >= 6),
  asker_kind TEXT NOT NULL CHECK (asker_kind IN ('owner', 'agent')),
  -- Of an agent; a name is never another's.
  asker_name TEXT,
  asker_id TEXT,
  asked_kind TEXT NOT NULL CHECK (asked_kind IN ('owner', 'agent')),
  asked_name TEXT,
  text TEXT NOT NULL,
  options TEXT NOT NULL,
  -- What the asker had read.
  taint TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('open', 'answered', 'cancelled', 'expired')),
  reply TEXT,
  reply_option INTEGER CHECK (reply_option BETWEEN 1 AND 8),
  -- What whoever answered had read.
  reply_taint TEXT,
  ended_by TEXT,
  ended_at INTEGER,
  why TEXT CHECK (why IN ('withdrawn', 'gone', 'older_copy')),
  CHECK ((asker_kind = 'agent') = (asker_name IS NOT NULL)),
  CHECK ((asked_kind = 'agent') = (asked_name IS NOT NULL)),
  CHECK (asker_kind = 'agent' OR asker_id IS NULL),
  CHECK (asker_kind = 'agent' OR asked_kind = 'agent'),
  CHECK (expires_at > asked_at),
  CHECK ((status = 'open') = (ended_at IS NULL)),
  CHECK ((status IN ('answered', 'cancelled')) = (ended_by IS NOT NULL)),
  CHECK ((status = 'answered') = (reply IS NOT NULL)),
  CHECK ((status = 'answered') = (reply_taint IS NOT NULL)),
  CHECK (reply_option IS NULL OR status = 'answered'),
  CHECK ((status = 'cancelled') = (why IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX questions_by_code ON questions (code) WHERE status = 'open';
CREATE INDEX questions_open ON questions (expires_at) WHERE status = 'open';
CREATE INDEX questions_by_asker ON questions (asker_name, asked_at);
CREATE INDEX questions_by_asked ON questions (asked_name, asked_at);
CREATE INDEX questions_by_end ON questions (ended_at) WHERE ended_at IS NOT NULL;

-- The outbox carries questions as well. A constraint cannot be changed in place, so the table is made anew.
CREATE TABLE notifications_with_questions (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  target TEXT NOT NULL,
  channel TEXT NOT NULL CHECK (channel IN ('telegram', 'ntfy', 'webhook')),
  -- A message, an alert and a question are edited in place, an event is posted once, a digest stands for many of them.
  kind TEXT NOT NULL CHECK (kind IN ('message', 'event', 'digest', 'alert', 'question')),
  proposal_id TEXT REFERENCES proposals (id),
  alert_id TEXT REFERENCES alerts (id),
  question_id TEXT REFERENCES questions (id),
  digest_id TEXT REFERENCES notifications_with_questions (id),
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
  CHECK ((proposal_id IS NOT NULL) = (kind IN ('message', 'event'))),
  CHECK ((alert_id IS NOT NULL) = (kind = 'alert')),
  CHECK ((question_id IS NOT NULL) = (kind = 'question')),
  CHECK ((body IS NOT NULL) = (kind = 'event')),
  CHECK ((digest_id IS NOT NULL) = (status = 'digested')),
  CHECK (status <> 'digested' OR kind IN ('message', 'alert')),
  CHECK (status <> 'sent' OR sent_at IS NOT NULL)
) STRICT;
INSERT INTO notifications_with_questions (id, target, channel, kind, proposal_id, alert_id, digest_id, body, seq, wanted, shown,
  status, held, tries, next_at, created_at, sent_at, message_ref, last_error)
  SELECT id, target, channel, kind, proposal_id, alert_id, digest_id, body, seq, wanted, shown, status, held, tries, next_at, created_at,
  sent_at, message_ref, last_error FROM notifications;
DROP TABLE notifications;
ALTER TABLE notifications_with_questions RENAME TO notifications;
-- One message per proposal, alert or question and place.
CREATE UNIQUE INDEX notifications_message ON notifications (proposal_id, target) WHERE kind = 'message';
CREATE UNIQUE INDEX notifications_alert ON notifications (alert_id, target) WHERE kind = 'alert';
CREATE UNIQUE INDEX notifications_question ON notifications (question_id, target) WHERE kind = 'question';
CREATE INDEX notifications_by_proposal ON notifications (proposal_id);
CREATE INDEX notifications_by_digest ON notifications (digest_id);
CREATE INDEX notifications_due ON notifications (channel, next_at) WHERE status = 'waiting';
CREATE INDEX notifications_failed ON notifications (id) WHERE status = 'failed';
CREATE INDEX notifications_by_target ON notifications (target, id);

CREATE TABLE notification_keys_with_questions (
  hash TEXT PRIMARY KEY NOT NULL CHECK (length(hash) = 64),
  target TEXT NOT NULL,
  proposal_id TEXT REFERENCES proposals (id),
  digest TEXT CHECK (length(digest) = 64),
  meaning TEXT NOT NULL CHECK (meaning IN ('ask', 'back', 'approve', 'reject', 'reject_now', 'reject_later', 'reject_wrong', 'reject_ask', 'details', 'show', 'test', 'mute_1h', 'mute_8h', 'unmute',
    'option_1', 'option_2', 'option_3', 'option_4', 'option_5', 'option_6', 'option_7', 'option_8')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER,
  revision INTEGER NOT NULL DEFAULT 0 CHECK (revision >= 0),
  alert_id TEXT REFERENCES alerts (id),
  question_id TEXT REFERENCES questions (id),
  CHECK ((alert_id IS NOT NULL) = (meaning IN ('mute_1h', 'mute_8h', 'unmute'))),
  CHECK ((question_id IS NOT NULL) = (meaning LIKE 'option_%')),
  CHECK ((proposal_id IS NULL) = (meaning LIKE 'option_%' OR meaning IN ('test', 'mute_1h', 'mute_8h', 'unmute'))),
  CHECK ((proposal_id IS NULL) = (digest IS NULL))
) STRICT;
INSERT INTO notification_keys_with_questions (hash, target, proposal_id, digest, meaning, created_at, expires_at, used_at, revision, alert_id)
  SELECT hash, target, proposal_id, digest, meaning, created_at, expires_at, used_at, revision, alert_id FROM notification_keys;
DROP TABLE notification_keys;
ALTER TABLE notification_keys_with_questions RENAME TO notification_keys;
CREATE INDEX notification_keys_by_expiry ON notification_keys (expires_at);
CREATE INDEX notification_keys_by_alert ON notification_keys (alert_id);
CREATE INDEX notification_keys_by_question ON notification_keys (question_id);
