-- Agents are kept for good: a name is one agent's also after it was withdrawn. What an agent may do is said here, and
-- its tokens have it from here.
CREATE TABLE agents (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  name TEXT COLLATE "C" NOT NULL,
  capabilities TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  withdrawn_at BIGINT
);
CREATE UNIQUE INDEX agents_name ON agents (name);

-- One agent per name that tokens were made under, known by the id of the live token, or of the newest: that is the id
-- in the rows that it asked for.
INSERT INTO agents (id, name, capabilities, created_at, withdrawn_at)
  SELECT t.id, t.name, t.capabilities, t.created_at, t.revoked_at FROM tokens t
  WHERE t.kind = 'agent' AND NOT EXISTS (
    SELECT 1 FROM tokens o WHERE o.kind = 'agent' AND o.name = t.name AND o.id <> t.id
      AND (CASE WHEN o.revoked_at IS NULL THEN 1 ELSE 0 END > CASE WHEN t.revoked_at IS NULL THEN 1 ELSE 0 END
        OR (CASE WHEN o.revoked_at IS NULL THEN 1 ELSE 0 END = CASE WHEN t.revoked_at IS NULL THEN 1 ELSE 0 END AND o.id > t.id))
  );

ALTER TABLE tokens ADD COLUMN agent_id TEXT COLLATE "C" REFERENCES agents (id) CHECK (agent_id IS NULL OR kind = 'agent');
UPDATE tokens SET agent_id = (SELECT agents.id FROM agents WHERE agents.name = tokens.name), capabilities = '[]'
  WHERE kind = 'agent';
CREATE INDEX tokens_by_agent ON tokens (agent_id) WHERE agent_id IS NOT NULL;
-- An agent has any number of tokens, all of them under its name.
DROP INDEX tokens_name_live;
CREATE UNIQUE INDEX tokens_name_live ON tokens (kind, name) WHERE revoked_at IS NULL AND kind <> 'agent';
