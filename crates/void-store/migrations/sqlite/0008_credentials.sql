-- How the owner signs in. Of what opens a session only a hash or a public key is ever stored.
ALTER TABLE sessions ADD COLUMN method TEXT NOT NULL DEFAULT 'token' CHECK (method IN ('token', 'password', 'setup', 'passkey'));
ALTER TABLE sessions ADD COLUMN device TEXT NOT NULL DEFAULT 'an unknown device';
-- When it was last used, give or take an hour. Sessions from before stay what they were.
ALTER TABLE sessions ADD COLUMN last_seen_at INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET last_seen_at = created_at;
CREATE INDEX sessions_open ON sessions (id) WHERE ended_at IS NULL;

-- One row at most: the owner's password, as a PHC string.
CREATE TABLE passwords (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  hash TEXT NOT NULL CHECK (hash LIKE '$argon2id$%'),
  set_at INTEGER NOT NULL
) STRICT;

CREATE TABLE passkeys (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  -- The name of the site that it was made for; it is good nowhere else.
  relying_party TEXT NOT NULL,
  -- What authenticators call the owner; the same in all of them.
  user_handle TEXT NOT NULL CHECK (length(user_handle) = 36),
  -- Its id as the authenticator says it, and its public key with what is known of it.
  credential_id TEXT NOT NULL,
  credential TEXT NOT NULL,
  -- How often the authenticator has signed, if it counts; it never goes back.
  counter INTEGER NOT NULL CHECK (counter >= 0),
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;
CREATE UNIQUE INDEX passkeys_by_credential ON passkeys (credential_id);

-- One-time codes that open a session.
CREATE TABLE setup_links (
  hash TEXT PRIMARY KEY NOT NULL CHECK (length(hash) = 64),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;

-- What an authenticator was asked to sign; gone when it was answered, rightly or not.
CREATE TABLE challenges (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  purpose TEXT NOT NULL CHECK (purpose IN ('login', 'confirm', 'register')),
  session_id TEXT REFERENCES sessions (id),
  state TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  CHECK ((session_id IS NULL) = (purpose = 'login'))
) STRICT;
CREATE INDEX challenges_by_purpose ON challenges (purpose, id);
