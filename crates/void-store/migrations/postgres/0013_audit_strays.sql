-- Rows that stood beyond the head of the record, kept as they were found.
CREATE TABLE audit_strays (
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
  hash TEXT NOT NULL,
  PRIMARY KEY (noted_by, seq)
);
