-- What is wanted of the processes of agents, and which instance has them. An agent without a row was never started.
CREATE TABLE agent_processes (
  name TEXT PRIMARY KEY NOT NULL,
  wanted TEXT NOT NULL CHECK (wanted IN ('running', 'stopped', 'given_up')),
  instance TEXT NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT;
