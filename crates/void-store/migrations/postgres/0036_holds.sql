-- What agents and the owner put on a request to slow it down or to end it, with their words, and whether the owner lifted it.
CREATE TABLE holds (
  proposal_id TEXT NOT NULL REFERENCES proposals (id),
  number BIGINT NOT NULL CHECK (number > 0),
  kind TEXT NOT NULL CHECK (kind IN ('hold', 'veto', 'annotation')),
  by_kind TEXT NOT NULL CHECK (by_kind IN ('agent', 'owner')),
  by_name TEXT NOT NULL,
  words TEXT NOT NULL CHECK (length(words) > 0),
  taint TEXT NOT NULL,
  at BIGINT NOT NULL,
  lifted_at BIGINT CHECK (lifted_at IS NULL OR kind = 'hold'),
  PRIMARY KEY (proposal_id, number)
);
-- Agents that are not woken and get no turn until the owner resumes them.
CREATE TABLE agent_pauses (
  name TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  paused_by TEXT NOT NULL,
  paused_at BIGINT NOT NULL
);
-- Agents that were destroyed. Their names are nobody's from then on, and their folders lie in the archive under the name that is given here.
CREATE TABLE agent_tombstones (
  name TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  destroyed_by TEXT NOT NULL,
  destroyed_at BIGINT NOT NULL,
  archive TEXT NOT NULL
);
