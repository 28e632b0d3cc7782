-- A space has one conversation with each agent that goes on; what was said in those before it stays.
ALTER TABLE conversations ADD COLUMN ended_at INTEGER;
DROP INDEX conversations_ambient;
CREATE UNIQUE INDEX conversations_ambient ON conversations (space_id, agent) WHERE space_id IS NOT NULL AND about_kind IS NULL AND ended_at IS NULL;
