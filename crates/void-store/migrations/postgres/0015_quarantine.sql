-- Credentials that came back with an older copy of the database. They open nothing until the owner confirms
-- each: what was revoked after the copy was made looks live in it.
CREATE TABLE quarantine (
  kind TEXT NOT NULL CHECK (kind IN ('token', 'passkey', 'password', 'pair')),
  id TEXT NOT NULL,
  since_at BIGINT NOT NULL,
  PRIMARY KEY (kind, id)
);
