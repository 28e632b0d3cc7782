-- Who works on this database: one row per data folder. The digests of its definitions say what it would run.
CREATE TABLE instances (
  id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  catalogue TEXT NOT NULL CHECK (length(catalogue) = 64),
  definitions TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL
);
-- Which instance claimed a run: only it can ask the journal of its own machine.
ALTER TABLE proposals ADD COLUMN run_instance_id TEXT;
ALTER TABLE proposals ADD COLUMN run_instance_name TEXT;
