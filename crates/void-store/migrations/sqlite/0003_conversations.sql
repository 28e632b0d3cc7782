-- What is said between the owner and agents.
CREATE TABLE conversations (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  space_id TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX conversations_by_agent ON conversations (agent, id);
CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  conversation_id TEXT NOT NULL REFERENCES conversations (id),
  seq INTEGER NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  body TEXT NOT NULL,
  at INTEGER NOT NULL,
  status TEXT CHECK (status IN ('running', 'done', 'stopped', 'failed')),
  ended_at INTEGER,
  brain TEXT,
  model TEXT,
  trace TEXT,
  usage TEXT,
  truth TEXT,
  tainted_by TEXT,
  failure_code TEXT,
  failure_message TEXT,
  CHECK ((role = 'assistant') = (status IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX messages_by_place ON messages (conversation_id, seq);
-- One turn at a time.
CREATE UNIQUE INDEX messages_one_running ON messages (conversation_id) WHERE status = 'running';
-- What agents used, by day.
CREATE TABLE agent_usage (
  agent TEXT NOT NULL,
  day INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  PRIMARY KEY (agent, day)
) STRICT;
