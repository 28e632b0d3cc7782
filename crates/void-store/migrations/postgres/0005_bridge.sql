-- What the file bridge has to know beside the proposals: which file a proposal came from, whether its file
-- was offered to a foreign executor, and which moves were refused.
CREATE TABLE bridge_files (
  instance_id TEXT PRIMARY KEY NOT NULL CHECK (length(instance_id) BETWEEN 1 AND 128),
  proposal_id TEXT NOT NULL REFERENCES proposals (id),
  details TEXT,
  offered_at BIGINT,
  notes TEXT NOT NULL
);
CREATE UNIQUE INDEX bridge_files_by_proposal ON bridge_files (proposal_id);
-- The few that were offered and not taken yet.
CREATE INDEX bridge_files_offered ON bridge_files (proposal_id) WHERE offered_at IS NOT NULL;
