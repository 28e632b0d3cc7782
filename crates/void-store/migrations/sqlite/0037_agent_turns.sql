-- What began a turn, where the owner's words did not; empty for all others.
ALTER TABLE messages ADD COLUMN causes TEXT;
-- Why agents with a process are to have a turn. A cause waits until a turn takes it, and goes with the end of that turn;
-- after a turn that failed it waits again.
CREATE TABLE agent_turn_causes (
  id TEXT PRIMARY KEY NOT NULL,
  agent TEXT NOT NULL,
  key TEXT NOT NULL,
  cause TEXT NOT NULL,
  words TEXT,
  tainted_by TEXT NOT NULL,
  count INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  -- Stands for causes of other keys too, for which there was no room.
  mixed INTEGER NOT NULL CHECK (mixed IN (0, 1)),
  turn_id TEXT
) STRICT;
-- Of one kind one waits, however many came.
CREATE UNIQUE INDEX agent_turn_causes_waiting ON agent_turn_causes (agent, key) WHERE turn_id IS NULL;
CREATE INDEX agent_turn_causes_by_turn ON agent_turn_causes (turn_id) WHERE turn_id IS NOT NULL;
-- What agents had read when they wrote into the folder of one: whoever reads its files has read that.
CREATE TABLE agent_file_taints (
  agent TEXT PRIMARY KEY NOT NULL,
  tainted_by TEXT NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT;
