-- What is said between the owner and agents.
CREATE TABLE conversations (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  space_id TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX conversations_by_agent ON conversations (agent, id);
CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  conversation_id TEXT NOT NULL REFERENCES conversations (id),
  seq BIGINT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  body TEXT NOT NULL,
  at BIGINT NOT NULL,
  status TEXT CHECK (status IN ('running', 'done', 'stopped', 'failed')),
  ended_at BIGINT,
  brain TEXT,
  model TEXT,
  trace TEXT,
  usage TEXT,
  truth TEXT,
  tainted_by TEXT,
  failure_code TEXT,
  failure_message TEXT,
  CHECK ((role = 'assistant') = (status IS NOT NULL))
);
CREATE UNIQUE INDEX messages_by_place ON messages (conversation_id, seq);
-- One turn at a time.
CREATE UNIQUE INDEX messages_one_running ON messages (conversation_id) WHERE status = 'running';
-- What agents used, by day.
CREATE TABLE agent_usage (
  agent TEXT NOT NULL,
  day BIGINT NOT NULL,
  tokens BIGINT NOT NULL,
  cost_micros BIGINT NOT NULL,
  PRIMARY KEY (agent, day)
);
