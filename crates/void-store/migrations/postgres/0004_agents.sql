-- What a brain that keeps its own conversation called it, to go on with it.
ALTER TABLE messages ADD COLUMN session TEXT;
-- Agents that live in Void have an identity that nobody holds a token for, until the owner makes one.
ALTER TABLE tokens ADD COLUMN resident BIGINT NOT NULL DEFAULT 0;
