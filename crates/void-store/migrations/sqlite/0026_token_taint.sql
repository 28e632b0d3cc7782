-- What the holder of an agent's token has been given that a stranger could have written. It stays until the owner clears it.
CREATE TABLE token_taints (
  token_id TEXT NOT NULL REFERENCES tokens (id) CHECK (length(token_id) = 36),
  source TEXT NOT NULL CHECK (length(source) > 0),
  at INTEGER NOT NULL,
  PRIMARY KEY (token_id, source)
) STRICT;
