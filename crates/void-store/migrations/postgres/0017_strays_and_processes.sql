-- Rows that stood beyond the head of the record, kept as they were found. They have no key: whoever moves the head
-- back twice puts the same numbers there twice, and what cannot be kept would stop the record.
CREATE TABLE audit_strays_kept (
  set_aside_at BIGINT NOT NULL,
  noted_by BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  at BIGINT NOT NULL,
  request_id TEXT,
  actor TEXT NOT NULL,
  verb TEXT NOT NULL,
  subject TEXT,
  detail TEXT NOT NULL,
  catalogue TEXT,
  prev TEXT NOT NULL,
  hash TEXT NOT NULL
);
INSERT INTO audit_strays_kept (set_aside_at, noted_by, seq, at, request_id, actor, verb, subject, detail, catalogue, prev, hash)
  SELECT 0, noted_by, seq, at, request_id, actor, verb, subject, detail, catalogue, prev, hash FROM audit_strays;
DROP TABLE audit_strays;
ALTER TABLE audit_strays_kept RENAME TO audit_strays;
-- Which process works under an instance's id, and by which connection it said so last. A copy of its data folder has
-- the same id and is another process.
ALTER TABLE instances ADD COLUMN process TEXT NOT NULL DEFAULT '';
ALTER TABLE instances ADD COLUMN backend BIGINT;
ALTER TABLE instances ADD COLUMN backend_since BIGINT;
