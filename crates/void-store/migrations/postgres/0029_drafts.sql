-- Which turn a draft was made in, and which draft it is asked again of. A draft that nobody made in a turn and that is new has no row.
CREATE TABLE drafts (
  proposal_id TEXT PRIMARY KEY NOT NULL REFERENCES proposals (id),
  conversation_id TEXT,
  message_id TEXT,
  again_of TEXT,
  CHECK ((conversation_id IS NULL) = (message_id IS NULL))
);
