-- What began a turn, where the owner's words did not; empty for all others.
ALTER TABLE messages ADD COLUMN causes TEXT;
-- Why agents with a process are to have a turn. A cause waits until a turn takes it, and goes with the end of that turn;
-- after a turn that failed it waits again.
CREATE TABLE agent_turn_causes (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  agent TEXT COLLATE "C" NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  cause TEXT NOT NULL,
  words TEXT,
  tainted_by TEXT NOT NULL,
  count BIGINT NOT NULL,
  first_at BIGINT NOT NULL,
  last_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL,
  not_before BIGINT NOT NULL,
  -- Stands for causes of other keys too, for which there was no room.
  mixed BIGINT NOT NULL CHECK (mixed IN (0, 1)),
  turn_id TEXT COLLATE "C"
);
-- Of one kind one waits, however many came.
CREATE UNIQUE INDEX agent_turn_causes_waiting ON agent_turn_causes (agent, key) WHERE turn_id IS NULL;
CREATE INDEX agent_turn_causes_by_turn ON agent_turn_causes (turn_id) WHERE turn_id IS NOT NULL;
-- What agents had read when they wrote into the folder of one: whoever reads its files has read that.
CREATE TABLE agent_file_taints (
  agent TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  tainted_by TEXT NOT NULL,
  changed_at BIGINT NOT NULL
);
